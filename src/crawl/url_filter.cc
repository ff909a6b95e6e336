#include "crawl/url_filter.h"

#include <chrono>
#include <utility>

#include "web/canonical.h"
#include "web/url.h"

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
  if (item.offer == Offer::kSeed) {
    if (const auto url = web::Url::parse(item.url)) rules_->add_seed(web::canonical(*url));
  }
  if (const auto reason = rules_->check(item, year_of(clock().utc()))) {
    add_one(counts_.refused[static_cast<std::size_t>(*reason)]);
    return;
  }
  add_one(counts_.accepted);
  accepted.emit(std::move(item));
}

void UrlFilter::on_question(FilterQuestion&& question) {
  answers.emit({question.ticket, rules_->check(question.candidate, year_of(clock().utc()))});
}

}  // namespace meguri::crawl
