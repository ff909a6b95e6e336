#include "sat/id_cache.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <list>
#include <utility>

#include "env/random.h"

namespace meguri::sat {
namespace {

// One set, against a list.
TEST(IdCache, KeepsTheLastUsedSix) {
  IdCache cache(1);
  std::list<std::pair<base::Id, Seq>> model;
  env::Random random(3);
  const auto find = [&](const base::Id& id) {
    return std::ranges::find(model, id, &std::pair<base::Id, Seq>::first);
  };
  for (int i = 0; i < 20'000; ++i) {
    const base::Id id{random.below(3), random.below(4)};
    const auto found = find(id);
    switch (random.below(5)) {
      case 0: {
        const auto seq = static_cast<Seq>(random.below(100));
        cache.put(id, seq);
        if (found != model.end()) model.erase(found);
        model.emplace_front(id, seq);
        if (model.size() > 6) model.pop_back();
        break;
      }
      case 1:
        if (random.below(4) != 0) break;
        cache.erase(id);
        if (found != model.end()) model.erase(found);
        break;
      default: {
        const std::optional<Seq> seq = cache.find(id);
        ASSERT_EQ(seq.has_value(), found != model.end()) << i;
        if (!seq) break;
        ASSERT_EQ(*seq, found->second);
        model.splice(model.begin(), model, found);
      }
    }
  }
}

TEST(IdCache, TakesTheMemoryItWasGiven) {
  IdCache cache(1'000'000);
  EXPECT_LE(cache.memory_bytes(), 1'000'000U);
  EXPECT_GT(cache.memory_bytes(), 990'000U);
  // Two thirds of what fits in all find their places.
  const std::uint64_t ids = cache.memory_bytes() / 128 * 4;
  for (std::uint64_t i = 0; i < ids; ++i) cache.put({i, ~i}, static_cast<Seq>(i));
  std::uint64_t there = 0;
  for (std::uint64_t i = 0; i < ids; ++i) {
    const auto seq = cache.find({i, ~i});
    if (!seq) continue;
    EXPECT_EQ(*seq, i);
    ++there;
  }
  EXPECT_GT(there, ids * 85 / 100);
}

}  // namespace
}  // namespace meguri::sat
