// AccessSchedule: which request may leave now without troubling anybody. Two implementations: the
// one we use, and the list scheduler of paper 004 to compare it with.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"

namespace meguri::crawl {

// Lower leaves first. Jobs of equal priority on one host leave in the order they came.
enum class Priority : std::uint8_t {
  kUrgent,   // robots.txt: the host's other jobs need its answer
  kShallow,  // seeds and pages near them
  kEmbed,    // what a page that was just fetched is made of
  kOther,
};
inline constexpr std::size_t kPriorities = 4;

struct Job {
  std::uint64_t payload = 0;  // the caller's; not looked at
  std::uint64_t host = 0;     // the hash of its name
  // Its address: an IPv4 address as a number, an IPv6 address hashed. Should two addresses meet
  // here, they share one gate, which only makes us politer.
  std::uint64_t server = 0;
  std::uint32_t wait_ms = 0;  // what the host asks for between requests (Crawl-delay); 0: nothing
  Priority priority = Priority::kOther;
  bool is_wait_whole = false;  // wait_ms holds instead of the minimum, not besides it

  friend bool operator==(const Job&, const Job&) = default;
};

struct AccessLimits {
  std::uint32_t host_wait_ms_min = 5000;  // from the end of an answer to the host's next request
  std::uint32_t duration_factor = 10;     // ... and at least this many times that answer's duration
  std::uint32_t server_gap_ms = 1000;     // from the end of an answer to the server's next request
  std::uint16_t server_requests_max = 1;  // at a time to one server
  std::uint32_t jobs_per_host_max = 1024;
  std::uint64_t jobs_max = 20'000'000;

  // Of the list scheduler alone: the paper's L and H, and the time it gives each list.
  std::uint32_t lists = 1024;
  std::uint32_t list_table = 1U << 20U;
  std::uint32_t list_ms = 5000;
};

// Why nothing leaves, in numbers. Hosts and servers are counted when a job of theirs waits.
struct AccessSummary {
  std::uint64_t jobs_waiting = 0;
  std::uint64_t jobs_in_flight = 0;
  std::uint64_t hosts = 0;          // known: with jobs, or still within their wait
  std::uint64_t servers = 0;        // known likewise
  std::uint64_t hosts_delayed = 0;  // within their wait
  std::uint64_t servers_gap = 0;    // with hosts that are ready, within the server's gap
  std::uint64_t servers_busy = 0;  // with hosts that are ready, and as many requests as it may have
  std::uint64_t servers_ready = 0;  // from which a job may leave now
  base::Ticks now;                  // up to which time is known here
  base::Ticks next_ready = base::Ticks::never();

  // What holds visits back besides politeness; filled in by the Scheduler.
  std::string paused = {};         // why nothing at all leaves; empty: something may
  std::uint64_t hosts_paused = 0;  // by hand

  // One sentence: "12 jobs wait: 3 hosts for their delay, 1 server for its gap; next in 4.2s".
  std::string to_string() const;
};

// What a host's next job waits for.
enum class AccessWait : std::uint8_t {
  kNothing,     // it may leave now, or there is none
  kDelay,       // the host's own wait
  kAnswer,      // to the host's request in flight
  kServerGap,   // after an answer of its server
  kServerBusy,  // with requests for other hosts
};

// How a host stands in a schedule.
struct HostAccess {
  std::uint64_t host = 0;
  std::uint64_t waiting = 0;  // jobs
  std::uint64_t paused = 0;   // jobs held back by hand, beside those; filled in by the Scheduler
  bool is_in_flight = false;
  AccessWait waits_for = AccessWait::kNothing;
  base::Ticks until = {};  // of kDelay and kServerGap
};

// Holds jobs by host, and hosts by the server they are pinned to, and lets them out through two
// gates. Host: one request at a time, and from the end of its answer a wait of max(minimum, what
// the host asks for, factor x the answer's duration); where a job's wait is the whole one, without
// that minimum. Server: at most server_requests_max at a time, none within the gap after
// an answer. Waits are rounded up to kSlotMs, never down; none is none.
//
// A host stays with the server of its first job for as long as it has any; next() says which. Time
// is what the calls with `now` bring: it may stand still or jump ahead, and a smaller one counts as
// the last. Thread-compatible; no call invalidates anything.
class AccessSchedule {
 public:
  static constexpr std::uint32_t kSlotMs = 8;

  virtual ~AccessSchedule() = default;

  // False: refused, because the host or the schedule is full. The host's wait becomes the job's; a
  // longer one counts from the host's last answer on, a shorter one after its next.
  [[nodiscard]] virtual bool add(const Job& job) = 0;

  // A job that may leave now and has left with this call, its server being the one it goes to.
  // nullopt: none may, see next_ready().
  virtual std::optional<Job> next(base::Ticks now) = 0;

  // Not later than the time at which next() will return a job; never() if no call of next() alone
  // will. It can be too early, and is later after a call of next() then.
  virtual base::Ticks next_ready() const = 0;

  // The answer to the host's request has ended, well or badly, after `duration`. Requires that one
  // was in flight.
  virtual void finish(std::uint64_t host, base::Ticks now, base::Duration duration) = 0;

  // The host's request was called off before anything was sent: as if it had not left, except that
  // its job is gone. Requires that one was in flight.
  virtual void call_off(std::uint64_t host) = 0;

  // Takes out all jobs of a host that have not left, and returns their payloads.
  virtual std::vector<std::uint64_t> remove(std::uint64_t host) = 0;

  // What the host asks for between requests, as in add(). Nothing if the host is not known.
  virtual void set_host_wait(std::uint64_t host, std::uint32_t wait_ms) = 0;

  // Nothing leaves for the host before `until` (Retry-After; a delay that was on disk).
  virtual void hold(std::uint64_t host, base::Ticks until) = 0;

  // We do not know when hosts were last asked before we started: from now on a host that is seen
  // for the first time waits as if it had just answered.
  virtual void restart(base::Ticks now) = 0;

  virtual AccessSummary summary() const = 0;
  // Nullopt: the host is not known, so that it has no jobs and nothing to wait for.
  virtual std::optional<HostAccess> look(std::uint64_t host) const = 0;
  virtual std::size_t memory_bytes() const = 0;
};

enum class AccessScheduleKind : std::uint8_t { kWheel, kLists };

std::unique_ptr<AccessSchedule> make_access_schedule(AccessScheduleKind kind,
                                                     const AccessLimits& limits);

}  // namespace meguri::crawl
