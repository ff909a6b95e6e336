#include "crawl/wheel_schedule.h"

#include <algorithm>
#include <bit>

#include "base/check.h"

namespace meguri::crawl {

namespace {

constexpr std::uint32_t kTurnOfOthers = 8;
constexpr std::int64_t kMsMax = std::int64_t{1} << 44U;  // 557 years; holds every time in the wheel

std::int64_t bounded_ms(base::Ticks time) { return std::clamp<std::int64_t>(time.ms(), 0, kMsMax); }

// The first slot that begins at this time or later.
std::uint64_t slot_from(std::int64_t ms) {
  const std::int64_t slot_ms = AccessSchedule::kSlotMs;
  return static_cast<std::uint64_t>((std::min(ms, kMsMax) + slot_ms - 1) / slot_ms);
}

// The slot in which a wait from `ms` on is over; no wait is over at once.
std::uint64_t slot_after(std::int64_t ms, std::int64_t wait_ms) {
  if (wait_ms > 0) return slot_from(ms + wait_ms);
  return static_cast<std::uint64_t>(std::clamp<std::int64_t>(ms, 0, kMsMax) /
                                    AccessSchedule::kSlotMs);
}

// Which of the levels in the bit set `levels`, which is not empty, has its turn.
std::size_t choose_level(std::uint32_t levels, std::uint32_t turn) {
  const auto best = static_cast<std::size_t>(std::countr_zero(levels));
  if (best == 0 || turn % kTurnOfOthers != kTurnOfOthers - 1) return best;
  for (std::size_t i = 0;; ++i) {
    const std::size_t level = 1 + (turn / kTurnOfOthers + i) % (kPriorities - 1);
    if ((levels >> level & 1U) != 0) return level;
  }
}

}  // namespace

WheelSchedule::WheelSchedule(const AccessLimits& limits) : limits_(limits) {
  CHECK(limits.server_requests_max > 0);
}

bool WheelSchedule::add(const Job& job) {
  if (jobs_.size() >= limits_.jobs_max) return false;
  const Index known = find_host(job.host);
  const std::uint32_t waiting = known == kNoIndex ? 0 : hosts_[known].jobs;
  if (waiting >= limits_.jobs_per_host_max) return false;
  const Index index =
      known != kNoIndex ? known : find_or_make_host(job.host, job.wait_ms, job.is_wait_whole);
  Host& host = hosts_[index];
  set_wait(index, job.wait_ms, job.is_wait_whole);
  if (host.jobs == 0 && host.place != Place::kInFlight) pin(index, job.server);
  push_job(host, job);
  settle_host(index);
  return true;
}

std::optional<Job> WheelSchedule::next(base::Ticks now) {
  advance(now);
  std::uint32_t levels = 0;
  for (std::size_t i = 0; i < kPriorities; ++i) levels |= ready_[i].empty() ? 0U : 1U << i;
  if (levels == 0) return {};
  const std::size_t server_level = choose_level(levels, turns_++);
  const Index server_index = ready_[server_level].front();
  Server& server = servers_[server_index];
  const Index host_index = server.ready[choose_level(levels_of(server), server.turns++)].front();
  Host& host = hosts_[host_index];
  const std::size_t level = choose_level(levels_of(host), host.turns++);

  Job job{.host = host.id, .server = server.key, .wait_ms = host.wait_ms};
  job.priority = static_cast<Priority>(level);
  job.is_wait_whole = host.is_wait_whole;
  job.payload = pop_job(host, level);
  server.ready[host.level].erase(hosts_, host_index);
  host.place = Place::kInFlight;
  server.in_flight = (server.in_flight + 1U) & 0xffffU;
  ++in_flight_;
  leave_list(server_index);  // to the end of the line, should it stay ready
  settle_server(server_index);
  fetch_ahead(ready_[server_level]);
  return job;
}

// Nothing but hints to the processor: those who leave next have not been touched for seconds.
void WheelSchedule::fetch_ahead(const IndexList& line) const {
  if (line.empty()) return;
  const Server& server = servers_[line.front()];
  __builtin_prefetch(&servers_[servers_[server.next].next]);
  const std::uint32_t levels = levels_of(servers_[server.next]);
  if (levels == 0) return;
  const auto best = static_cast<std::size_t>(std::countr_zero(levels));
  __builtin_prefetch(&hosts_[servers_[server.next].ready[best].front()]);
}

base::Ticks WheelSchedule::next_ready() const {
  if (servers_ready_ > 0) return base::Ticks::from_ms(now_ms_);
  if (jobs_.size() == 0) return base::Ticks::never();
  const std::uint64_t none = ~std::uint64_t{0};
  const std::uint64_t slot =
      std::min(host_wheel_.next().value_or(none), server_wheel_.next().value_or(none));
  if (slot == none) return base::Ticks::never();
  return base::Ticks::from_ms(static_cast<std::int64_t>(slot * kSlotMs));
}

void WheelSchedule::finish(std::uint64_t id, base::Ticks now, base::Duration duration) {
  advance(now);
  const Index index = find_host(id);
  CHECK(index != kNoIndex && hosts_[index].place == Place::kInFlight);
  Host& host = hosts_[index];
  const auto factor = std::int64_t{limits_.duration_factor};
  const std::int64_t longest = kMsMax / std::max<std::int64_t>(1, factor);
  const std::int64_t rest = std::clamp<std::int64_t>(duration.ms(), 0, longest) * factor;
  const std::int64_t least = least_wait_ms(host);
  host.place = Place::kNowhere;
  host.ended_ms = now_ms_;
  // A hold() meanwhile may reach further.
  set_ready(index, std::max(host.ready_slot, slot_after(now_ms_, std::max(least, rest))));

  Server& server = servers_[host.server];
  const Index server_index = host.server;
  server.in_flight = (server.in_flight - 1U) & 0xffffU;
  --in_flight_;
  leave_list(server_index);  // its moment in the wheel changes
  const std::uint64_t gate = slot_after(now_ms_, limits_.server_gap_ms);
  server.gate_slot = std::max<std::uint64_t>(server.gate_slot, gate) & ((1ULL << 48U) - 1);
  settle_server(server_index);
  settle_host(index);  // the last, because it may forget both
}

void WheelSchedule::call_off(std::uint64_t id) {
  const Index index = find_host(id);
  CHECK(index != kNoIndex && hosts_[index].place == Place::kInFlight);
  Host& host = hosts_[index];
  const Index server_index = host.server;
  Server& server = servers_[server_index];
  host.place = Place::kNowhere;
  set_wait(index, host.wait_ms, host.is_wait_whole);  // it may have grown while the request was out
  server.in_flight = (server.in_flight - 1U) & 0xffffU;
  --in_flight_;
  settle_server(server_index);
  settle_host(index);  // the last, because it may forget both
}

std::vector<std::uint64_t> WheelSchedule::remove(std::uint64_t id) {
  std::vector<std::uint64_t> payloads;
  const Index index = find_host(id);
  if (index == kNoIndex) return payloads;
  Host& host = hosts_[index];
  payloads.reserve(host.jobs);
  for (std::size_t level = 0; level < kPriorities; ++level) {
    while (host.last_jobs[level] != kNoIndex) payloads.push_back(pop_job(host, level));
  }
  settle_host(index);
  return payloads;
}

void WheelSchedule::set_host_wait(std::uint64_t id, std::uint32_t wait_ms) {
  const Index index = find_host(id);
  if (index == kNoIndex) return;
  set_wait(index, wait_ms, hosts_[index].is_wait_whole);
  settle_host(index);
}

void WheelSchedule::hold(std::uint64_t id, base::Ticks until) {
  const Index index = find_or_make_host(id, 0, false);
  set_ready(index, std::max(hosts_[index].ready_slot, slot_from(bounded_ms(until))));
  settle_host(index);
}

void WheelSchedule::restart(base::Ticks now) {
  advance(now);
  restarted_ms_ = now_ms_;
}

AccessSummary WheelSchedule::summary() const {
  return {.jobs_waiting = jobs_.size(),
          .jobs_in_flight = in_flight_,
          .hosts = hosts_.size(),
          .servers = servers_.size(),
          .hosts_delayed = hosts_delayed_,
          .servers_gap = blocked_[static_cast<std::size_t>(Block::kGap)],
          .servers_busy = blocked_[static_cast<std::size_t>(Block::kBusy)],
          .servers_ready = servers_ready_,
          .now = base::Ticks::from_ms(now_ms_),
          .next_ready = next_ready()};
}

std::optional<HostAccess> WheelSchedule::look(std::uint64_t id) const {
  const Index index = find_host(id);
  if (index == kNoIndex) return std::nullopt;
  const Host& host = hosts_[index];
  const auto ticks_of = [](std::uint64_t slot) {
    return base::Ticks::from_ms(static_cast<std::int64_t>(slot * kSlotMs));
  };
  HostAccess access{.host = id, .waiting = host.jobs};
  access.is_in_flight = host.place == Place::kInFlight;
  if (access.is_in_flight) {
    access.waits_for = AccessWait::kAnswer;
  } else if (host.place == Place::kWheel) {
    access.waits_for = AccessWait::kDelay;
    access.until = ticks_of(host.ready_slot);
  } else if (host.place == Place::kReady) {
    const Server& server = servers_[host.server];
    if (server.block == Block::kBusy) access.waits_for = AccessWait::kServerBusy;
    if (server.block == Block::kGap) {
      access.waits_for = AccessWait::kServerGap;
      access.until = ticks_of(server.gate_slot);
    }
  }
  return access;
}

std::size_t WheelSchedule::memory_bytes() const {
  return sizeof(*this) + jobs_.memory_bytes() + hosts_.memory_bytes() + servers_.memory_bytes() +
         host_table_.memory_bytes() + server_table_.memory_bytes();
}

std::uint32_t WheelSchedule::levels_of(const Host& host) {
  std::uint32_t levels = 0;
  for (std::size_t i = 0; i < kPriorities; ++i) {
    levels |= host.last_jobs[i] == kNoIndex ? 0U : 1U << i;
  }
  return levels;
}

std::uint32_t WheelSchedule::levels_of(const Server& server) {
  std::uint32_t levels = 0;
  for (std::size_t i = 0; i < kPriorities; ++i) levels |= server.ready[i].empty() ? 0U : 1U << i;
  return levels;
}

Index WheelSchedule::find_host(std::uint64_t id) const {
  return host_table_.find(id, [this](Index i) { return hosts_[i].id; });
}

std::uint32_t WheelSchedule::least_wait_ms(const Host& host) const {
  return host.is_wait_whole ? host.wait_ms : std::max(limits_.host_wait_ms_min, host.wait_ms);
}

Index WheelSchedule::find_or_make_host(std::uint64_t id, std::uint32_t wait_ms,
                                       bool is_wait_whole) {
  Index index = find_host(id);
  if (index != kNoIndex) return index;
  index = hosts_.make();
  host_table_.insert(id, index);
  Host& host = hosts_[index];
  host.id = id;
  host.wait_ms = wait_ms;
  host.is_wait_whole = is_wait_whole;
  host.ended_ms = -kMsMax;
  if (restarted_ms_) {
    host.ended_ms = *restarted_ms_;
    host.ready_slot = slot_after(*restarted_ms_, least_wait_ms(host));
  }
  return index;
}

Index WheelSchedule::find_or_make_server(std::uint64_t key) {
  Index index = server_table_.find(key, [this](Index i) { return servers_[i].key; });
  if (index != kNoIndex) return index;
  index = servers_.make();
  server_table_.insert(key, index);
  ++blocked_[static_cast<std::size_t>(Block::kNothing)];
  Server& server = servers_[index];
  server.key = key;
  if (restarted_ms_) {
    const std::uint64_t gate = slot_after(*restarted_ms_, limits_.server_gap_ms);
    server.gate_slot = gate & ((1ULL << 48U) - 1);
  }
  return index;
}

// Of a host without jobs, which is therefore in no list of its server.
void WheelSchedule::pin(Index index, std::uint64_t server_key) {
  Host& host = hosts_[index];
  if (host.server != kNoIndex && servers_[host.server].key == server_key) return;
  const Index server = find_or_make_server(server_key);
  const Index before = host.server;
  host.server = server;
  ++servers_[server].hosts;
  if (before == kNoIndex) return;
  --servers_[before].hosts;
  settle_server(before);
}

void WheelSchedule::set_wait(Index index, std::uint32_t wait_ms, bool is_whole) {
  Host& host = hosts_[index];
  host.wait_ms = wait_ms;
  host.is_wait_whole = is_whole;
  if (host.place == Place::kInFlight) return;  // finish() will see to it
  const std::int64_t wait = least_wait_ms(host);
  if (host.ended_ms + wait <= 0) return;
  set_ready(index, std::max(host.ready_slot, slot_after(host.ended_ms, wait)));
}

// The caller settles the host afterwards.
void WheelSchedule::set_ready(Index index, std::uint64_t slot) {
  Host& host = hosts_[index];
  if (slot == host.ready_slot) return;
  if (host.place == Place::kWheel) leave(index);
  host.ready_slot = slot;
}

void WheelSchedule::push_job(Host& host, const Job& job) {
  const Index index = jobs_.make();
  QueuedJob& queued = jobs_[index];
  queued.payload_high = static_cast<std::uint32_t>(job.payload >> 32U);
  queued.payload_low = static_cast<std::uint32_t>(job.payload & 0xffffffffU);
  Index& last = host.last_jobs[static_cast<std::size_t>(job.priority)];
  if (last == kNoIndex) {
    queued.next = index;
  } else {
    queued.next = jobs_[last].next;
    jobs_[last].next = index;
  }
  last = index;
  ++host.jobs;
}

std::uint64_t WheelSchedule::pop_job(Host& host, std::size_t level) {
  Index& last = host.last_jobs[level];
  const Index first = jobs_[last].next;
  const QueuedJob queued = jobs_[first];
  if (first == last) {
    last = kNoIndex;
  } else {
    jobs_[last].next = queued.next;
  }
  jobs_.free(first);
  --host.jobs;
  return std::uint64_t{queued.payload_high} << 32U | queued.payload_low;
}

void WheelSchedule::settle_host(Index index) {
  Host& host = hosts_[index];
  const bool in_flight = host.place == Place::kInFlight;
  const bool waits = !in_flight && host.ready_slot > now_slot_;
  const bool ready = !in_flight && !waits && host.jobs > 0;
  const auto level =
      static_cast<std::uint8_t>(host.jobs > 0 ? std::countr_zero(levels_of(host)) : 0);
  const Place place = in_flight ? Place::kInFlight
                      : waits   ? Place::kWheel
                      : ready   ? Place::kReady
                                : Place::kNowhere;
  const bool delayed = waits && host.jobs > 0;
  if (delayed != host.delayed) {
    host.delayed = delayed;
    hosts_delayed_ += delayed ? 1 : ~std::uint64_t{0};
  }
  const bool moves = place != host.place || (ready && level != host.level);
  if (moves) leave(index);
  if (place == Place::kNowhere) return free_host(index);
  if (!moves) return;
  host.place = place;
  host.level = level;
  if (place == Place::kWheel) return host_wheel_.insert(index);
  servers_[host.server].ready[level].push_back(hosts_, index);
  settle_server(host.server);
}

// Takes the host out of the list it is in.
void WheelSchedule::leave(Index index) {
  Host& host = hosts_[index];
  const Place place = host.place;
  host.place = Place::kNowhere;
  if (place == Place::kWheel) host_wheel_.erase(index);
  if (place != Place::kReady) return;
  servers_[host.server].ready[host.level].erase(hosts_, index);
  settle_server(host.server);
}

void WheelSchedule::settle_server(Index index) {
  Server& server = servers_[index];
  const std::uint32_t levels = levels_of(server);
  const bool open = server.gate_slot <= now_slot_;
  const bool busy = server.in_flight >= limits_.server_requests_max;
  if (levels == 0 && server.hosts == 0 && open) return free_server(index);

  Place place = Place::kNowhere;
  Block block = Block::kNothing;
  if (levels != 0 && busy) {
    block = Block::kBusy;
  } else if (levels != 0 && open) {
    place = Place::kReady;
  } else if (levels != 0 || server.hosts == 0) {
    place = Place::kWheel;
    if (levels != 0) block = Block::kGap;
  }
  if (block != server.block) {
    --blocked_[static_cast<std::size_t>(server.block)];
    ++blocked_[static_cast<std::size_t>(block)];
    server.block = block;
  }
  const auto level = static_cast<std::uint8_t>(levels != 0 ? std::countr_zero(levels) : 0);
  if (place == server.place && (place != Place::kReady || level == server.level)) return;
  leave_list(index);
  server.place = place;
  server.level = level;
  if (place == Place::kWheel) server_wheel_.insert(index);
  if (place != Place::kReady) return;
  ready_[level].push_back(servers_, index);
  ++servers_ready_;
}

void WheelSchedule::leave_list(Index index) {
  Server& server = servers_[index];
  if (server.place == Place::kWheel) server_wheel_.erase(index);
  if (server.place == Place::kReady) {
    ready_[server.level].erase(servers_, index);
    --servers_ready_;
  }
  server.place = Place::kNowhere;
}

void WheelSchedule::free_host(Index index) {
  const Host& host = hosts_[index];
  const Index server = host.server;
  host_table_.erase(host.id, [this](Index i) { return hosts_[i].id; });
  hosts_.free(index);
  if (server == kNoIndex) return;
  --servers_[server].hosts;
  settle_server(server);
}

void WheelSchedule::free_server(Index index) {
  leave_list(index);
  --blocked_[static_cast<std::size_t>(servers_[index].block)];
  server_table_.erase(servers_[index].key, [this](Index i) { return servers_[i].key; });
  servers_.free(index);
}

void WheelSchedule::advance(base::Ticks now) {
  now_ms_ = std::max(now_ms_, bounded_ms(now));
  const std::uint64_t slot = static_cast<std::uint64_t>(now_ms_) / kSlotMs;
  if (slot == now_slot_) return;
  now_slot_ = slot;
  host_wheel_.advance(slot, [this](Index i) {
    hosts_[i].place = Place::kNowhere;
    settle_host(i);
  });
  server_wheel_.advance(slot, [this](Index i) {
    servers_[i].place = Place::kNowhere;
    settle_server(i);
  });
}

}  // namespace meguri::crawl
