#include "crawl/due_queue.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "env/random.h"

namespace meguri::crawl {
namespace {

base::Id id_of(std::uint64_t number) { return {number, 0}; }

TEST(DueQueue, TakesLowerLanesFirstAndHostsInTurn) {
  DueQueue queue(100);
  const Index a = queue.host(1);
  const Index b = queue.host(2);
  for (std::uint64_t n = 0; n < 3; ++n) queue.push(a, 1, id_of(n));
  queue.push(b, 1, id_of(10));
  queue.push(b, 1, id_of(11));
  queue.push(b, 0, id_of(20));
  std::vector<std::uint64_t> order;
  while (const auto due = queue.pop()) order.push_back(due->id.high);
  EXPECT_EQ(order, (std::vector<std::uint64_t>{20, 0, 10, 1, 11, 2}));
  EXPECT_EQ(queue.waiting(), 0U);
}

TEST(DueQueue, AHostAtItsLimitBlocksNobody) {
  DueQueue queue(2);
  const Index a = queue.host(1);
  const Index b = queue.host(2);
  for (std::uint64_t n = 0; n < 1000; ++n) queue.push(a, 0, id_of(n));
  queue.push(b, 4, id_of(2000));
  EXPECT_EQ(queue.pop()->id.high, 0U);
  EXPECT_EQ(queue.pop()->id.high, 1U);
  EXPECT_EQ(queue.pop()->id.high, 2000U);
  EXPECT_FALSE(queue.pop());
  queue.came_back(a);
  EXPECT_EQ(queue.pop()->id.high, 2U);
  EXPECT_FALSE(queue.pop());
}

TEST(DueQueue, NothingOfARestingHostLeaves) {
  DueQueue queue(2);
  const Index a = queue.host(1);
  queue.push(a, 0, id_of(1));
  EXPECT_TRUE(queue.rest(a));
  EXPECT_FALSE(queue.rest(a));
  queue.push(a, 1, id_of(2));
  EXPECT_FALSE(queue.pop());
  queue.wake(a);
  EXPECT_EQ(queue.pop()->id.high, 1U);
}

// Against the plain form of the rules: the first lane in which a host that may has work, and of
// each host's lane the oldest page.
TEST(DueQueue, AgreesWithItsModel) {
  constexpr std::uint64_t kHosts = 7;
  constexpr std::size_t kOutMax = 3;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE(seed);
    env::Random random(seed);
    DueQueue queue(kOutMax);
    std::map<std::pair<std::size_t, Index>, std::deque<std::uint64_t>> model;
    std::uint64_t number = 0;
    bool was_new = false;  // what left last
    for (int step = 0; step < 3000; ++step) {
      const Index host = queue.host(random.below(kHosts) * 1000);
      const std::uint64_t what = random.below(8);
      if (what < 3) {
        const std::size_t lane = random.below(DueQueue::kLanes);
        queue.push(host, lane, id_of(number));
        model[{lane, host}].push_back(number++);
      } else if (what < 6) {
        std::optional<std::size_t> first;  // lane with work that may leave
        bool has_known = false;
        for (const auto& [place, pages] : model) {
          const bool may = !queue.rests(place.second) && queue.out_of(place.second) < kOutMax;
          if (!may || pages.empty()) continue;
          if (!first) first = place.first;
          has_known |= place.first == DueQueue::kKnownLane;
        }
        if (has_known && was_new) first = DueQueue::kKnownLane;
        const auto due = queue.pop();
        ASSERT_EQ(due.has_value(), first.has_value());
        if (!due) continue;
        was_new = first != DueQueue::kKnownLane;
        auto& pages = model.at({*first, due->host});
        ASSERT_FALSE(pages.empty());
        EXPECT_EQ(due->id.high, pages.front());
        pages.pop_front();
        EXPECT_LE(queue.out_of(due->host), kOutMax);
      } else if (what == 6) {
        if (queue.out_of(host) > 0) queue.came_back(host);
      } else {
        if (!queue.rest(host)) queue.wake(host);
      }
    }
    std::size_t left = 0;
    for (const auto& [place, pages] : model) left += pages.size();
    EXPECT_EQ(queue.waiting(), left);
  }
}

}  // namespace
}  // namespace meguri::crawl
