#include "crawl/list_schedule.h"

#include <algorithm>

#include "base/check.h"

namespace meguri::crawl {

namespace {

// Takes the jobs of a host out of a list, in their order.
void remove_from(std::vector<Job>& list, std::uint64_t host, std::vector<std::uint64_t>& payloads) {
  std::erase_if(list, [&](const Job& job) {
    if (job.host != host) return false;
    payloads.push_back(job.payload);
    return true;
  });
}

}  // namespace

ListSchedule::ListSchedule(const AccessLimits& limits)
    : limits_(limits), lists_(limits.lists), table_(limits.list_table, 0) {
  CHECK(limits.lists >= 2 && limits.list_table > 0 && limits.list_ms > 0);
}

bool ListSchedule::add(const Job& job) {
  if (waiting_ >= limits_.jobs_max) return false;
  const std::uint64_t wait_ms = std::max(job.wait_ms, limits_.list_ms);
  const auto steps = static_cast<std::int64_t>((wait_ms + limits_.list_ms - 1) / limits_.list_ms);
  const auto count = static_cast<std::int64_t>(lists_.size());
  std::int64_t& slot = table_[job.server % table_.size()];
  if (slot <= step_) slot = step_ + steps;
  if (slot >= step_ + count) return false;
  lists_[static_cast<std::size_t>(slot % count)].push_back(job);
  slot += steps;
  ++waiting_;
  // The search for a list had ended without one: a new job starts it again.
  if (unfinished_ == 0 && passed_ >= limits_.lists - 1) passed_ = 0;
  return true;
}

std::optional<Job> ListSchedule::next(base::Ticks now) {
  now_ = std::max(now_, now);
  if (unfinished_ == 0) go_next();
  if (current_.empty() || wake_ > now_) return {};
  const Job job = current_.back();
  current_.pop_back();
  --waiting_;
  return job;
}

// Sleeps that ended before now are done with; the one that has not is waited for in wake_.
void ListSchedule::go_next() {
  const base::Duration pause = base::Duration::from_ms(limits_.list_ms);
  while (passed_ < limits_.lists - 1 && wake_ <= now_) {
    ++step_;
    std::vector<Job>& list = lists_[static_cast<std::size_t>(step_) % lists_.size()];
    if (!list.empty()) return take_list(list);
    ++passed_;
    wake_ = std::max(wake_, base::Ticks()) + pause;
  }
  // Nothing is left and nobody sleeps: the next search begins when something comes.
  if (passed_ >= limits_.lists - 1) wake_ = std::max(wake_, now_);
}

void ListSchedule::take_list(std::vector<Job>& list) {
  current_.clear();
  current_.swap(list);
  std::ranges::reverse(current_);
  unfinished_ = current_.size();
  passed_ = 0;
  wake_ = std::max(wake_, now_) + base::Duration::from_ms(limits_.list_ms);
}

base::Ticks ListSchedule::next_ready() const {
  if (waiting_ == 0 || (unfinished_ > 0 && current_.empty())) return base::Ticks::never();
  return std::max(wake_, now_);
}

void ListSchedule::finish(std::uint64_t /*host*/, base::Ticks now, base::Duration /*duration*/) {
  now_ = std::max(now_, now);
  CHECK(unfinished_ > current_.size());
  if (--unfinished_ > 0) return;
  wake_ = now_;
  go_next();
}

// A list is over when all of its jobs are, however they ended.
void ListSchedule::call_off(std::uint64_t host) { finish(host, now_, {}); }

std::vector<std::uint64_t> ListSchedule::remove(std::uint64_t host) {
  std::vector<std::uint64_t> payloads;
  std::ranges::reverse(current_);
  remove_from(current_, host, payloads);
  std::ranges::reverse(current_);
  const bool was_running = unfinished_ > 0;
  unfinished_ -= payloads.size();
  for (std::vector<Job>& list : lists_) remove_from(list, host, payloads);
  waiting_ -= payloads.size();
  if (was_running && unfinished_ == 0) go_next();
  return payloads;
}

AccessSummary ListSchedule::summary() const {
  AccessSummary summary;
  summary.jobs_waiting = waiting_;
  summary.jobs_in_flight = unfinished_ - current_.size();
  summary.hosts_delayed = waiting_ - current_.size();
  summary.servers_ready = wake_ <= now_ ? current_.size() : 0;
  summary.servers_gap = current_.size() - summary.servers_ready;
  summary.now = now_;
  summary.next_ready = next_ready();
  return summary;
}

// Looks through all lists. Which jobs are in flight is not known here.
std::optional<HostAccess> ListSchedule::look(std::uint64_t host) const {
  const auto count_in = [host](const std::vector<Job>& list) {
    return static_cast<std::uint64_t>(std::ranges::count(list, host, &Job::host));
  };
  HostAccess access{.host = host, .waiting = count_in(current_)};
  for (const std::vector<Job>& list : lists_) access.waiting += count_in(list);
  if (access.waiting == 0) return std::nullopt;
  if (wake_ > now_) {
    access.waits_for = AccessWait::kDelay;
    access.until = wake_;
  }
  return access;
}

std::size_t ListSchedule::memory_bytes() const {
  std::size_t bytes = sizeof(*this) + table_.capacity() * sizeof(std::int64_t) +
                      lists_.capacity() * sizeof(std::vector<Job>) +
                      current_.capacity() * sizeof(Job);
  for (const std::vector<Job>& list : lists_) bytes += list.capacity() * sizeof(Job);
  return bytes;
}

}  // namespace meguri::crawl
