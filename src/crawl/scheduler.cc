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
  if (state_dir().empty()) return {};
  ASSIGN_OR_RETURN(const PauseState pauses, load_pauses(files(), state_dir()));
  paused_all_ = pauses.all;
  for (const std::string& host : pauses.hosts) paused_hosts_.insert(host_hash_of(host));
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
  if (draining()) {
    if (visit.purpose == Purpose::kRobots) return;
    ++counts_.interrupted;
    refused.emit({visit.page.id, Refusal::kInterrupted});
    return;
  }
  ++held_;
  if (paused_hosts_.contains(visit.host)) {
    aside_[visit.host].push_back(std::move(visit));
    return;
  }
  admit(std::move(visit));
}

// One that is held already.
void Scheduler::admit(Visit&& visit) {
  if (visit.purpose == Purpose::kRobots) {
    if (overflow_.empty() && add(visit)) return;
    overflow_.push_back(std::move(visit));
    return;
  }
  if (add(visit)) return;
  --held_;
  ++counts_.refused_full;
  refused.emit({visit.page.id, Refusal::kFull});
}

// --- Pauses and questions.

void Scheduler::on_question(SchedulerQuestion&& question) {
  if (question.order) obey(*question.order);
  SchedulerAnswer answer{.ticket = question.ticket};
  for (const std::uint64_t host : question.hosts) {
    auto access = schedule_->look(host);
    const auto aside = aside_.find(host);
    if (aside != aside_.end()) {
      if (!access) access = HostAccess{.host = host};
      access->paused = aside->second.size();
    }
    if (access) answer.hosts.push_back(*access);
  }
  answer.holds_page = question.page && holds(*question.page);
  answers.emit(std::move(answer));
}

void Scheduler::obey(const PauseOrder& order) {
  paused_all_ = order.all;
  paused_by_disk_ = order.disk;
  const std::unordered_set<std::uint64_t> hosts(order.hosts.begin(), order.hosts.end());
  const std::unordered_set<std::uint64_t> before = std::exchange(paused_hosts_, hosts);
  for (const std::uint64_t host : order.hosts) {
    if (!before.contains(host)) set_aside(host);
  }
  std::vector<std::uint64_t> resumed;
  for (const std::uint64_t host : before) {
    if (!hosts.contains(host)) resumed.push_back(host);
  }
  std::ranges::sort(resumed);  // so that equal runs are equal
  for (const std::uint64_t host : resumed) take_up(host);
  // Who asked for it looks at once whether it is so.
  summary_at_ = {};
  summary_waits_ = false;
}

// A schedule knows no pauses: what waits for the host is taken out of it.
void Scheduler::set_aside(std::uint64_t host) {
  for (const std::uint64_t payload : schedule_->remove(host)) {
    aside_[host].push_back(std::exchange(slab_[payload], {}));
    free_.push_back(static_cast<std::uint32_t>(payload));
    unpin(host);
  }
  const auto of_host = [host](const Visit& visit) { return visit.host == host; };
  for (auto it = overflow_.begin();
       (it = std::find_if(it, overflow_.end(), of_host)) != overflow_.end();) {
    aside_[host].push_back(std::move(*it));
    it = overflow_.erase(it);
  }
}

void Scheduler::take_up(std::uint64_t host) {
  auto aside = aside_.extract(host);
  if (aside.empty()) return;
  for (Visit& visit : aside.mapped()) admit(std::move(visit));
}

// Looks through all that waits: at most as many as there are credits.
bool Scheduler::holds(const base::Id& page) const {
  const auto is_it = [&page](const Visit& visit) {
    return visit.purpose == Purpose::kPage && visit.page.id == page;
  };
  return std::ranges::any_of(slab_, is_it) || std::ranges::any_of(aside_, [&](const auto& host) {
           return std::ranges::any_of(host.second, is_it);
         });
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
                .priority = visit.priority,
                .is_wait_whole = visit.is_wait_whole};
  if (visit.not_before > clock().ticks()) schedule_->hold(visit.host, visit.not_before);
  if (!schedule_->add(job)) return false;
  ++counts_.added;
  Pin& pin = known == pins_.end() ? pins_[visit.host] : known->second;
  pin.address = address;
  ++pin.visits;
  pin.ignores_duration = visit.ignores_duration;
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
    const auto pin = pins_.find(end.host);
    const bool ignores_duration = pin != pins_.end() && pin->second.ignores_duration;
    schedule_->finish(end.host, clock().ticks(),
                      ignores_duration ? base::Duration() : end.duration);
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
  if (is_paused()) return;
  const base::Ticks now = clock().ticks();
  while (!overflow_.empty() && add(overflow_.front())) overflow_.pop_front();
  while (const auto job = schedule_->next(now)) {
    const auto payload = static_cast<std::uint32_t>(job->payload);
    ++counts_.left;
    ++out_;
    leaving.emit(std::exchange(slab_[payload], {}));
    free_.push_back(payload);
    if (!overflow_.empty() && add(overflow_.front())) overflow_.pop_front();
  }
}

void Scheduler::give_all_back() {
  std::vector<std::uint64_t> aside;
  aside.reserve(aside_.size());
  for (const auto& [host, visits_of] : aside_) aside.push_back(host);
  std::ranges::sort(aside);  // so that equal runs are equal
  for (const std::uint64_t host : aside) {
    for (const Visit& visit : aside_[host]) give_back(visit);
  }
  aside_.clear();
  held_ -= overflow_.size();
  overflow_.clear();
  if (held_ == out_) return;
  std::vector<std::uint64_t> hosts;
  hosts.reserve(pins_.size());
  for (const auto& [host, pin] : pins_) hosts.push_back(host);
  std::ranges::sort(hosts);  // so that equal runs are equal
  for (const std::uint64_t host : hosts) {
    for (const std::uint64_t payload : schedule_->remove(host)) {
      const Visit visit = std::exchange(slab_[payload], {});
      free_.push_back(static_cast<std::uint32_t>(payload));
      unpin(host);
      give_back(visit);
    }
  }
}

void Scheduler::give_back(const Visit& visit) {
  --held_;
  if (visit.purpose == Purpose::kRobots) return;
  ++counts_.interrupted;
  refused.emit({visit.page.id, Refusal::kInterrupted});
}

void Scheduler::wake_for_next() {
  if (is_paused()) return;
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
  summary_.paused = !paused_by_disk_.empty() ? paused_by_disk_ : paused_all_ ? "by hand" : "";
  summary_.hosts_paused = paused_hosts_.size();
  for (const auto& [host, visits_of] : aside_) summary_.jobs_waiting += visits_of.size();
  counts_told_ = counts_;
}

}  // namespace meguri::crawl
