// DueQueue: the pages that wait to be handed out, by host and by lane.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "base/hash.h"
#include "crawl/index_table.h"
#include "crawl/slab.h"

namespace meguri::crawl {

// Each host has a queue for each lane, and each lane a ring of the hosts with work in it. pop()
// takes the first lane with work, and of its hosts one after the other; but pages that were visited
// before have a lane of their own, and while there are such and others they take turns. A host that
// is at its limit, or rests, leaves the rings until that ends, so it never stands before others.
// All calls are O(1) amortised, but for the growing of tables. Thread-compatible.
//
// Invariant: a host is in the ring of a lane only if it has work there, and always if it has and
// may hand it out.
class DueQueue {
 public:
  static constexpr std::size_t kNewLanes = 6;
  static constexpr std::size_t kKnownLane = kNewLanes;  // of pages that were visited before
  static constexpr std::size_t kLanes = kNewLanes + 1;

  struct Due {
    base::Id id;
    Index host = kNoIndex;
  };

  // At most `out_max` pages of one host are out at a time.
  explicit DueQueue(std::size_t out_max) : out_max_(out_max) {}

  // The host with this hash, made if it is new. Indices count from 0 and stay.
  Index host(std::uint64_t hash);
  // kNoIndex: never seen.
  Index find_host(std::uint64_t hash) const;
  std::size_t hosts() const { return hosts_.size(); }
  std::uint64_t hash_of(Index host) const { return hosts_[host].hash; }

  // Behind all that waits in that lane of that host.
  void push(Index host, std::size_t lane, const base::Id& id);
  // The next page; it is out from now on. Nullopt: none may leave.
  std::optional<Due> pop();
  // A page of the host is out no more.
  void came_back(Index host);

  // Nothing of a resting host leaves until wake(). False: it rested already.
  bool rest(Index host);
  void wake(Index host);

  std::size_t waiting() const { return pages_.size(); }
  // Of these, of a host; known are those that were visited before.
  std::size_t new_waiting_of(Index host) const { return hosts_[host].waiting[0]; }
  std::size_t known_waiting_of(Index host) const { return hosts_[host].waiting[1]; }
  std::size_t out_of(Index host) const { return hosts_[host].out; }
  bool rests(Index host) const { return hosts_[host].rests; }

 private:
  struct Page {
    base::Id id;
    Index prev = kNoIndex;
    Index next = kNoIndex;
  };
  struct Host {
    std::uint64_t hash = 0;
    std::array<std::size_t, 2> waiting{};  // new, known
    std::size_t out = 0;
    std::array<IndexList, kLanes> lanes;
    std::array<bool, kLanes> in_ring{};
    bool rests = false;
  };

  bool may_leave(const Host& host) const { return !host.rests && host.out < out_max_; }
  void enlist(Index index);  // in all rings where it belongs
  std::optional<Due> pop_from(std::size_t lane);

  const std::size_t out_max_;
  std::vector<Host> hosts_;
  IndexTable by_hash_;
  Slab<Page> pages_;
  std::array<std::deque<Index>, kLanes> rings_;
  bool is_known_next_ = false;
};

}  // namespace meguri::crawl
