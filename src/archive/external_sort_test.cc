#include "archive/external_sort.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <compare>
#include <cstdint>
#include <optional>
#include <thread>
#include <vector>

#include "env/memory_file_system.h"
#include "env/random.h"

namespace meguri::archive {
namespace {

struct Value {
  std::uint64_t first = 0;
  std::uint32_t second = 0;

  friend auto operator<=>(const Value&, const Value&) = default;
};

class ExternalSortTest : public ::testing::Test {
 protected:
  ExternalSortTest() { EXPECT_TRUE(files_.make_dirs("/t")); }

  static std::vector<Value> take_all(ExternalSort<Value>& sort) {
    std::vector<Value> values;
    for (;;) {
      const std::optional<Value> value = sort.next().value();
      if (!value) return values;
      values.push_back(*value);
    }
  }

  env::MemoryFileSystem files_;
};

TEST_F(ExternalSortTest, NothingAddedIsNothingTaken) {
  ExternalSort<Value> sort(files_, "/t");
  ASSERT_TRUE(sort.finish());
  EXPECT_TRUE(take_all(sort).empty());
}

TEST_F(ExternalSortTest, SortsAsMemoryWouldWhateverItMayHold) {
  env::Random random(11);
  for (int round = 0; round < 200; ++round) {
    const std::size_t memory = 1 + random.below(40 * sizeof(Value));
    ExternalSort<Value> sort(files_, "/t", memory);
    std::vector<Value> expected;
    const std::uint64_t batches = random.below(30);
    for (std::uint64_t batch = 0; batch < batches; ++batch) {
      std::vector<Value> values(random.below(50));
      for (Value& value : values) {
        value = {.first = random.below(20), .second = static_cast<std::uint32_t>(random.below(20))};
      }
      ASSERT_TRUE(sort.add(values));
      expected.insert(expected.end(), values.begin(), values.end());
    }
    EXPECT_EQ(sort.size(), expected.size());
    ASSERT_TRUE(sort.finish());
    std::ranges::sort(expected);
    ASSERT_EQ(take_all(sort), expected) << "round " << round << ", memory " << memory;
  }
}

TEST_F(ExternalSortTest, RunsLargerThanWhatIsReadAtATimeAreMerged) {
  constexpr std::size_t kValues = 20'000;  // 320 KB, in runs of 8 KB that are read in halves
  ExternalSort<Value> sort(files_, "/t", 8192);
  env::Random random(3);
  std::vector<Value> expected;
  for (std::size_t i = 0; i < kValues; ++i) expected.push_back({.first = random.below(1'000'000)});
  ASSERT_TRUE(sort.add(expected));
  EXPECT_GT(files_.used(), 300'000);
  ASSERT_TRUE(sort.finish());
  std::ranges::sort(expected);
  EXPECT_EQ(take_all(sort), expected);
}

TEST_F(ExternalSortTest, TakesFromThreads) {
  ExternalSort<Value> sort(files_, "/t", 1000);
  std::vector<std::thread> threads;
  for (std::uint32_t thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&sort, thread] {
      for (std::uint64_t i = 0; i < 1000; ++i) {
        const Value value{.first = i, .second = thread};
        ASSERT_TRUE(sort.add({&value, 1}));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  ASSERT_TRUE(sort.finish());
  const std::vector<Value> values = take_all(sort);
  ASSERT_EQ(values.size(), 4000);
  EXPECT_TRUE(std::ranges::is_sorted(values));
  EXPECT_EQ(values.back(), (Value{.first = 999, .second = 3}));
}

TEST_F(ExternalSortTest, FullDiskIsAnError) {
  ExternalSort<Value> sort(files_, "/t", 1000);
  files_.set_capacity(5000);
  const std::vector<Value> values(1000);
  const auto status = sort.add(values);
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code(), base::ErrorCode::kNoSpace);
}

TEST_F(ExternalSortTest, ItsFileGoesWithIt) {
  {
    ExternalSort<Value> sort(files_, "/t", 1);
    ASSERT_TRUE(sort.add(std::vector<Value>(100)));
    EXPECT_GT(files_.used(), 0);
  }
  EXPECT_EQ(files_.used(), 0);
}

}  // namespace
}  // namespace meguri::archive
