#include "crawl/scheduler.h"

#include <algorithm>
#include <string>
#include <utility>

#include "base/check.h"
#include "base/hash.h"

namespace meguri::crawl {

std::uint64_t Scheduler::key_of_visit(const Visit& visit) {
  return base::mix64(server_key_of(visit.address.address));
}

std::uint64_t Scheduler::key_of_end(const AccessEnd& end) { return base::mix64(end.server); }

AccessSummary Scheduler::summary() const {
  const base::MutexLock lock(mutex_);
  return summary_;
}

SchedulerCounts Scheduler::counts() const {
  const base::MutexLock lock(mutex_);
  return counts_told_;
}

base::Status Scheduler::start() {
  schedule_ = make_access_schedule(kind_, limits_);
  ASSIGN_OR_RETURN(const bool before, was_started_before());
  if (before || is_restored_) schedule_->restart(clock().ticks());
  return {};
}

// A crawl that is killed before its first checkpoint has asked hosts too.
base::Result<bool> Scheduler::was_started_before() {
  if (state_dir().empty()) return false;
  const std::string path = state_dir() + "/" + name() + ".started";
  ASSIGN_OR_RETURN(const bool exists, files().exists(path));
  if (exists) return true;
  RETURN_IF_ERROR(files().make_dirs(state_dir()));
  RETURN_IF_ERROR(env::write_file_atomically(files(), path, "started\n"));
  return false;
}

base::Result<std::string> Scheduler::commit(flow::EpochId /*epoch*/) { return "1"; }

base::Status Scheduler::restore(flow::EpochId /*epoch*/, std::string_view /*state*/) {
  is_restored_ = true;
  return {};
}

void Scheduler::on_visit(Visit&& visit) {
  if (visit.purpose == Purpose::kRobots) {
    if (draining()) return;
    ++held_;
    if (overflow_.empty() && add(visit)) return;
    overflow_.push_back(std::move(visit));
    return;
  }
  if (draining()) {
    ++counts_.interrupted;
    refused.emit({visit.page.id, Refusal::kInterrupted});
    return;
  }
  if (add(visit)) {
    ++held_;
    return;
  }
  ++counts_.refused_full;
  refused.emit({visit.page.id, Refusal::kFull});
}

// False: the schedule is full, and the visit is as it was.
bool Scheduler::add(Visit& visit) {
  const auto known = pins_.find(visit.host);
  const fetch::IpAddress address =
      known == pins_.end() ? visit.address.address : known->second.address;
  const auto payload = free_.empty() ? static_cast<std::uint32_t>(slab_.size()) : free_.back();
  const Job job{.payload = payload,
                .host = visit.host,
                .server = server_key_of(address),
                .wait_ms = visit.wait_ms,
                .priority = visit.priority};
  if (visit.not_before > clock().ticks()) schedule_->hold(visit.host, visit.not_before);
  if (!schedule_->add(job)) return false;
  ++counts_.added;
  Pin& pin = known == pins_.end() ? pins_[visit.host] : known->second;
  pin.address = address;
  ++pin.visits;
  visit.address.address = address;
  if (free_.empty()) {
    slab_.push_back(std::move(visit));
  } else {
    free_.pop_back();
    slab_[payload] = std::move(visit);
  }
  return true;
}

void Scheduler::unpin(std::uint64_t host) {
  const auto pin = pins_.find(host);
  CHECK(pin != pins_.end(), "a visit ended that had not left");
  if (--pin->second.visits == 0) pins_.erase(pin);
}

void Scheduler::on_end(AccessEnd&& end) {
  if (end.happened) {
    schedule_->finish(end.host, clock().ticks(), end.duration);
    if (end.hold > base::Duration()) schedule_->hold(end.host, clock().ticks() + end.hold);
  } else {
    schedule_->call_off(end.host);
    ++counts_.called_off;
  }
  unpin(end.host);
  --held_;
  --out_;
}

void Scheduler::on_timer(std::uint64_t tag) {
  if (tag == kReady) timer_at_ = base::Ticks::never();
  if (tag == kSummary) summary_waits_ = false;
}

// Once for all that came in: so the best of them leaves first.
bool Scheduler::produce() {
  if (draining()) {
    give_all_back();
  } else {
    let_out();
    wake_for_next();
  }
  tell_summary();
  return false;
}

void Scheduler::let_out() {
  const base::Ticks now = clock().ticks();
  while (!overflow_.empty() && add(overflow_.front())) overflow_.pop_front();
  while (const auto job = schedule_->next(now)) {
    const auto payload = static_cast<std::uint32_t>(job->payload);
    ++counts_.left;
    ++out_;
    leaving.emit(std::move(slab_[payload]));
    free_.push_back(payload);
    if (!overflow_.empty() && add(overflow_.front())) overflow_.pop_front();
  }
}

void Scheduler::give_all_back() {
  held_ -= overflow_.size();
  overflow_.clear();
  if (held_ == out_) return;
  std::vector<std::uint64_t> hosts;
  hosts.reserve(pins_.size());
  for (const auto& [host, pin] : pins_) hosts.push_back(host);
  std::ranges::sort(hosts);  // so that equal runs are equal
  for (const std::uint64_t host : hosts) {
    for (const std::uint64_t payload : schedule_->remove(host)) {
      const Visit visit = std::move(slab_[payload]);
      free_.push_back(static_cast<std::uint32_t>(payload));
      unpin(host);
      --held_;
      if (visit.purpose == Purpose::kRobots) continue;
      ++counts_.interrupted;
      refused.emit({visit.page.id, Refusal::kInterrupted});
    }
  }
}

void Scheduler::wake_for_next() {
  const base::Ticks next = schedule_->next_ready();
  if (next == base::Ticks::never() || next >= timer_at_) return;
  timer_at_ = next;
  set_timer(next, kReady);
}

void Scheduler::tell_summary() {
  const base::Ticks now = clock().ticks();
  if (summary_waits_) return;
  if (now < summary_at_) {
    summary_waits_ = true;
    set_timer(summary_at_, kSummary);
    return;
  }
  summary_at_ = now + kSummaryEvery;
  const base::MutexLock lock(mutex_);
  summary_ = schedule_->summary();
  counts_told_ = counts_;
}

}  // namespace meguri::crawl
