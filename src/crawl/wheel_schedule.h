// WheelSchedule: the AccessSchedule the crawler uses, O(1) in every call.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "crawl/access_schedule.h"
#include "crawl/index_table.h"
#include "crawl/slab.h"
#include "crawl/timing_wheel.h"

namespace meguri::crawl {

// A host is in one place: in flight, in the wheel of hosts until its wait is over, or in its
// server's list of ready hosts. A server is in one place: in the list of ready servers, in the
// wheel of servers until its gap is over, or nowhere because it is busy or has no ready host.
// settle() puts each where its numbers say, after whatever changed them; nothing else moves them.
// Hosts and servers are forgotten when they have no jobs and all waits are over.
//
// Among ready servers, ready hosts and a host's jobs the better priority goes first, and within one
// the one that has waited longest; but every eighth turn belongs to another priority, so that none
// starves. Only kUrgent is not made to wait by that.
//
// About 150 bytes for a server with one host and one job. A call of next() after a long pause takes
// in all waits that ended meanwhile.
class WheelSchedule final : public AccessSchedule {
 public:
  explicit WheelSchedule(const AccessLimits& limits);
  WheelSchedule(const WheelSchedule&) = delete;
  WheelSchedule& operator=(const WheelSchedule&) = delete;

  bool add(const Job& job) override;
  std::optional<Job> next(base::Ticks now) override;
  base::Ticks next_ready() const override;
  void finish(std::uint64_t id, base::Ticks now, base::Duration duration) override;
  void call_off(std::uint64_t id) override;
  std::vector<std::uint64_t> remove(std::uint64_t id) override;
  void set_host_wait(std::uint64_t id, std::uint32_t wait_ms) override;
  void hold(std::uint64_t id, base::Ticks until) override;
  void restart(base::Ticks now) override;
  AccessSummary summary() const override;
  std::optional<HostAccess> look(std::uint64_t id) const override;
  std::size_t memory_bytes() const override;

 private:
  // Where a host or a server is.
  enum class Place : std::uint8_t { kNowhere, kWheel, kReady, kInFlight };
  // What a server with ready hosts waits for; kNothing also when it has none.
  enum class Block : std::uint8_t { kNothing, kGap, kBusy };

  struct QueuedJob {
    std::uint32_t payload_high = 0;  // two halves, so that a job takes twelve bytes
    std::uint32_t payload_low = 0;
    Index next = kNoIndex;
  };

  // 64 bytes: one cache line.
  struct Host {
    std::uint64_t id = 0;
    std::uint64_t ready_slot = 0;  // when its wait is over
    std::int64_t ended_ms = 0;     // when its last answer ended, or what counts as that
    std::uint32_t wait_ms = 0;     // what it asks for
    Index server = kNoIndex;       // none only without jobs
    std::array<Index, kPriorities> last_jobs{kNoIndex, kNoIndex, kNoIndex, kNoIndex};  // of rings
    std::uint32_t jobs = 0;
    Index prev = kNoIndex;
    Index next = kNoIndex;
    Place place = Place::kNowhere;
    std::uint8_t level = 0;  // of the list it is in
    std::uint8_t turns = 0;
    bool delayed : 1 = false;        // counted as such
    bool is_wait_whole : 1 = false;  // wait_ms holds instead of the minimum

    std::uint64_t due() const { return ready_slot; }
  };

  struct Server {
    std::uint64_t key = 0;
    std::uint64_t gate_slot : 48 = 0;  // when its gap is over
    std::uint64_t in_flight : 16 = 0;
    std::array<IndexList, kPriorities> ready{};  // hosts, by their best job
    std::uint32_t hosts = 0;                     // that are pinned here
    Index prev = kNoIndex;
    Index next = kNoIndex;
    Place place = Place::kNowhere;
    std::uint8_t level = 0;  // of the list it is in
    std::uint8_t turns = 0;
    Block block = Block::kNothing;

    std::uint64_t due() const { return gate_slot; }
  };
  static_assert(sizeof(QueuedJob) == 12 && sizeof(Host) == 64 && sizeof(Server) == 48);

  static std::uint32_t levels_of(const Host& host);
  static std::uint32_t levels_of(const Server& server);

  Index find_host(std::uint64_t id) const;
  Index find_or_make_host(std::uint64_t id, std::uint32_t wait_ms, bool is_wait_whole);
  std::uint32_t least_wait_ms(const Host& host) const;
  Index find_or_make_server(std::uint64_t key);
  void pin(Index index, std::uint64_t server_key);
  void set_wait(Index index, std::uint32_t wait_ms, bool is_whole);
  void set_ready(Index index, std::uint64_t slot);

  void push_job(Host& host, const Job& job);
  std::uint64_t pop_job(Host& host, std::size_t level);

  void settle_host(Index index);
  void settle_server(Index index);
  void leave(Index index);
  void leave_list(Index index);
  void free_host(Index index);
  void free_server(Index index);
  void advance(base::Ticks now);
  void fetch_ahead(const IndexList& line) const;

  const AccessLimits limits_;
  std::int64_t now_ms_ = 0;
  std::uint64_t now_slot_ = 0;
  std::optional<std::int64_t> restarted_ms_;
  std::uint32_t turns_ = 0;

  Slab<QueuedJob> jobs_;
  Slab<Host> hosts_;
  Slab<Server> servers_;
  IndexTable host_table_;
  IndexTable server_table_;
  TimingWheel<Host> host_wheel_{hosts_};
  TimingWheel<Server> server_wheel_{servers_};
  std::array<IndexList, kPriorities> ready_{};  // servers, by their best ready host

  std::uint64_t in_flight_ = 0;
  std::uint64_t hosts_delayed_ = 0;
  std::uint64_t servers_ready_ = 0;
  std::array<std::uint64_t, 3> blocked_{};  // servers, by Block
};

}  // namespace meguri::crawl
