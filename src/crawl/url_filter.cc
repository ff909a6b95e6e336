#include "crawl/url_filter.h"

#include <chrono>
#include <utility>

#include "crawl/host_aliases.h"
#include "web/canonical.h"
#include "web/url.h"

namespace meguri::crawl {

namespace {

int year_of(base::Instant instant) {
  const std::chrono::sys_time<std::chrono::milliseconds> time(
      std::chrono::milliseconds(instant.ms()));
  return int(std::chrono::year_month_day(std::chrono::floor<std::chrono::days>(time)).year());
}

constexpr char kAliasEntry = '=';

// Each has one writer, so it needs no atomic addition.
void add_one(std::atomic<std::uint64_t>& count) {
  count.store(count.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
}

}  // namespace

UrlFilter::UrlFilter(ScopeOptions options, std::vector<std::string> seeds,
                     std::shared_ptr<ExclusionFile> exclusions)
    : options_(std::move(options)), seeds_(std::move(seeds)), exclusions_(std::move(exclusions)) {}

base::Status UrlFilter::restore(flow::EpochId /*epoch*/, std::string_view state) {
  restored_ = state;
  return {};
}

base::Status UrlFilter::start() {
  if (instance_count() > 1) {
    return base::fail(base::ErrorCode::kInvalid, "{} cannot be divided into instances", name());
  }
  ASSIGN_OR_RETURN(rules_, UrlRules::make(options_, seeds_));
  if (exclusions_) RETURN_IF_ERROR(exclusions_->open(files()));
  ASSIGN_OR_RETURN(places_, DurableMap::open(files(), state_dir() + "/" + name(), restored_));
  places_->for_each([this](std::string_view place, std::string_view /*value*/) {
    if (const auto url = web::Url::parse(place)) rules_->widen(*url);
  });
  places_->for_each([this](std::string_view key, std::string_view kept) {
    if (key.starts_with(kAliasEntry)) aliases_.emplace(key.substr(1), kept);
  });
  return {};
}

base::Result<std::string> UrlFilter::commit(flow::EpochId epoch) { return places_->commit(epoch); }

void UrlFilter::on_durable(flow::EpochId epoch) {
  if (const auto status = places_->on_durable(epoch); !status) fail(status.error());
}

std::optional<UrlReason> UrlFilter::check(Candidate& item) const {
  if (const auto reason = rules_->check(item, year_of(clock().utc()))) return reason;
  if (!exclusions_) return std::nullopt;
  const auto url = web::Url::parse(item.url);
  return url && exclusions_->list()->excludes(*url) ? std::optional(UrlReason::kListed)
                                                    : std::nullopt;
}

void UrlFilter::widen(const Candidate& item) {
  const auto url = web::Url::parse(item.url);
  if (!url) return;
  const std::string place = rules_->place_of(*url);
  if (place.empty() || places_->find(place)) return;
  rules_->widen(*url);
  places_->put(place, {});
}

void UrlFilter::on_alias(AliasChange&& change) {
  const std::string key = kAliasEntry + change.host;
  if (change.kept.empty()) {
    places_->erase(key);
    aliases_.erase(change.host);
    return;
  }
  places_->put(key, change.kept);
  aliases_[std::move(change.host)] = std::move(change.kept);
}

// Nullopt: it is to be taken as it is.
std::optional<Candidate> UrlFilter::on_kept_host(const Candidate& item) const {
  if (aliases_.empty() || item.is_seed()) return std::nullopt;
  const auto url = web::Url::parse(item.url);
  const auto alias = url ? aliases_.find(std::string(url->host())) : aliases_.end();
  if (alias == aliases_.end()) return std::nullopt;
  Candidate renamed = item;
  renamed.url = url_on(alias->second, *url);
  return check(renamed) == UrlReason::kScope ? std::nullopt : std::optional(std::move(renamed));
}

void UrlFilter::on_candidate(Candidate&& item) {
  if (auto renamed = on_kept_host(item)) {
    item = *std::move(renamed);
    add_one(counts_.renamed);
  }
  if (const auto reason = check(item)) {
    add_one(counts_.refused[static_cast<std::size_t>(*reason)]);
    return;
  }
  if (item.is_seed()) widen(item);
  add_one(counts_.accepted);
  accepted.emit(std::move(item));
}

void UrlFilter::on_question(FilterQuestion&& question) {
  answers.emit({question.ticket, rules_->check(question.candidate, year_of(clock().utc()))});
}

}  // namespace meguri::crawl
