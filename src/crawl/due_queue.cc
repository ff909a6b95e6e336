#include "crawl/due_queue.h"

#include "base/check.h"

namespace meguri::crawl {

Index DueQueue::find_host(std::uint64_t hash) const {
  return by_hash_.find(hash, [this](Index i) { return hosts_[i].hash; });
}

Index DueQueue::host(std::uint64_t hash) {
  const Index known = find_host(hash);
  if (known != kNoIndex) return known;
  CHECK(hosts_.size() < kNoIndex);
  const auto made = static_cast<Index>(hosts_.size());
  hosts_.emplace_back().hash = hash;
  by_hash_.insert(hash, made);
  return made;
}

void DueQueue::push(Index host, std::size_t lane, const base::Id& id) {
  const Index page = pages_.make();
  pages_[page].id = id;
  hosts_[host].lanes[lane].push_back(pages_, page);
  ++hosts_[host].waiting[lane == kKnownLane];
  enlist(host);
}

std::optional<DueQueue::Due> DueQueue::pop() {
  std::optional<Due> due;
  if (is_known_next_) due = pop_from(kKnownLane);
  for (std::size_t lane = 0; lane < kLanes && !due; ++lane) due = pop_from(lane);
  return due;
}

std::optional<DueQueue::Due> DueQueue::pop_from(std::size_t lane) {
  std::deque<Index>& ring = rings_[lane];
  while (!ring.empty()) {
    const Index index = ring.front();
    ring.pop_front();
    Host& host = hosts_[index];
    host.in_ring[lane] = false;
    if (!may_leave(host)) continue;
    const Index page = host.lanes[lane].pop_front(pages_);
    const Due due{pages_[page].id, index};
    pages_.free(page);
    --host.waiting[lane == kKnownLane];
    ++host.out;
    enlist(index);
    is_known_next_ = lane != kKnownLane;
    return due;
  }
  return std::nullopt;
}

void DueQueue::came_back(Index host) {
  CHECK(hosts_[host].out > 0, "a page came back that was not out");
  --hosts_[host].out;
  enlist(host);
}

bool DueQueue::rest(Index host) {
  if (hosts_[host].rests) return false;
  hosts_[host].rests = true;
  return true;
}

void DueQueue::wake(Index host) {
  hosts_[host].rests = false;
  enlist(host);
}

void DueQueue::enlist(Index index) {
  Host& host = hosts_[index];
  if (!may_leave(host)) return;
  for (std::size_t lane = 0; lane < kLanes; ++lane) {
    if (host.in_ring[lane] || host.lanes[lane].empty()) continue;
    host.in_ring[lane] = true;
    rings_[lane].push_back(index);
  }
}

}  // namespace meguri::crawl
