#include "crawl/timing_wheel.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "crawl/index_table.h"
#include "env/random.h"

namespace meguri::crawl {
namespace {

struct Timer {
  std::uint64_t when = 0;
  Index prev = kNoIndex;
  Index next = kNoIndex;
  std::uint64_t due() const { return when; }
};

TEST(TimingWheel, FiresEveryTimerOnceInItsOrder) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    env::Random random(seed);
    Slab<Timer> slab;
    TimingWheel<Timer> wheel(slab);
    std::multimap<std::uint64_t, Index> model;
    for (int step = 0; step < 300; ++step) {
      const std::uint64_t reach = std::uint64_t{1} << random.between(1, 36);
      if (random.chance(0.6)) {
        const Index i = slab.make();
        slab[i].when = wheel.now() + 1 + random.below(reach);
        wheel.insert(i);
        model.emplace(slab[i].when, i);
      } else if (!model.empty() && random.chance(0.3)) {
        const auto victim =
            std::next(model.begin(), static_cast<std::ptrdiff_t>(random.below(model.size())));
        wheel.erase(victim->second);
        slab.free(victim->second);
        model.erase(victim);
      } else {
        const std::uint64_t to = wheel.now() + random.below(reach);
        std::vector<std::uint64_t> fired;
        wheel.advance(to, [&](Index i) {
          fired.push_back(slab[i].when);
          slab.free(i);
        });
        std::vector<std::uint64_t> expected;
        while (!model.empty() && model.begin()->first <= to) {
          expected.push_back(model.begin()->first);
          model.erase(model.begin());
        }
        ASSERT_EQ(fired, expected) << "seed " << seed;
        ASSERT_EQ(wheel.now(), to);
      }
      ASSERT_EQ(wheel.next().has_value(), !model.empty());
      if (!model.empty()) {
        ASSERT_LE(*wheel.next(), model.begin()->first);
        ASSERT_GT(*wheel.next(), wheel.now());
      }
    }
  }
}

TEST(IndexTable, IsAMapFromKeysToIndices) {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    env::Random random(seed);
    IndexTable table;
    std::vector<std::uint64_t> keys;  // by index
    std::map<std::uint64_t, Index> model;
    const auto key_of = [&](Index i) { return keys[i]; };
    const std::uint64_t range = random.between(1, 2000);
    for (int step = 0; step < 3000; ++step) {
      const std::uint64_t key = random.below(range);
      const auto at = model.find(key);
      ASSERT_EQ(table.find(key, key_of), at == model.end() ? kNoIndex : at->second);
      if (at == model.end()) {
        keys.push_back(key);
        const auto index = static_cast<Index>(keys.size() - 1);
        table.insert(key, index);
        model.emplace(key, index);
      } else if (random.chance(0.5)) {
        table.erase(key, key_of);
        model.erase(at);
      }
      ASSERT_EQ(table.size(), model.size());
    }
  }
}

}  // namespace
}  // namespace meguri::crawl
