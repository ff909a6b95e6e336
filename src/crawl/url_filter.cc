#include "crawl/url_filter.h"

#include <chrono>
#include <utility>

namespace meguri::crawl {

namespace {

int year_of(base::Instant instant) {
  const std::chrono::sys_time<std::chrono::milliseconds> time(
      std::chrono::milliseconds(instant.ms()));
  return int(std::chrono::year_month_day(std::chrono::floor<std::chrono::days>(time)).year());
}

// Each has one writer, so it needs no atomic addition.
void add_one(std::atomic<std::uint64_t>& count) {
  count.store(count.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
}

}  // namespace

UrlFilter::UrlFilter(ScopeOptions options, std::vector<std::string> seeds)
    : options_(std::move(options)), seeds_(std::move(seeds)) {}

base::Status UrlFilter::start() {
  ASSIGN_OR_RETURN(rules_, UrlRules::make(options_, seeds_));
  return {};
}

void UrlFilter::on_candidate(Candidate&& item) {
  if (const auto reason = rules_->check(item, year_of(clock().utc()))) {
    add_one(counts_.refused[static_cast<std::size_t>(*reason)]);
    return;
  }
  add_one(counts_.accepted);
  accepted.emit(std::move(item));
}

}  // namespace meguri::crawl
