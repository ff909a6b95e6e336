#include "archive/line_sorter.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "env/memory_file_system.h"
#include "env/random.h"

namespace meguri::archive {
namespace {

std::vector<std::string> sorted(env::FileSystem& fs, const std::vector<std::string>& lines,
                                std::size_t bytes_max) {
  LineSorter sorter(fs, "tmp", bytes_max);
  for (const std::string& line : lines) EXPECT_TRUE(sorter.add(line));
  EXPECT_EQ(sorter.size(), lines.size());
  std::vector<std::string> out;
  EXPECT_TRUE(sorter.take_all([&](std::string_view line) -> base::Status {
    out.emplace_back(line);
    return {};
  }));
  return out;
}

class LineSorterTest : public testing::Test {
 protected:
  LineSorterTest() { EXPECT_TRUE(fs_.make_dirs("tmp")); }
  env::MemoryFileSystem fs_;
};

TEST_F(LineSorterTest, NoLines) { EXPECT_TRUE(sorted(fs_, {}, 1).empty()); }

TEST_F(LineSorterTest, SortsByBytes) {
  const std::vector<std::string> lines = {"b", "\xff", "", "a b", "a", "a!", "b"};
  const std::vector<std::string> expected = {"", "a", "a b", "a!", "b", "b", "\xff"};
  EXPECT_EQ(sorted(fs_, lines, 1 << 20), expected);
  EXPECT_EQ(sorted(fs_, lines, 1), expected);  // a run for each
}

TEST_F(LineSorterTest, SortsWhateverItHoldsInAnyMemory) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    env::Random random(seed);
    std::vector<std::string> lines;
    const std::uint64_t count = random.below(3000);
    for (std::uint64_t i = 0; i < count; ++i) {
      std::string line;
      // Now and then one that is longer than what is read of a run at a time.
      const std::uint64_t size = random.below(random.chance(0.002) ? 30'000 : 40);
      while (line.size() < size) line += static_cast<char>(random.below(5) * 63);
      lines.push_back(std::move(line));
    }
    std::vector<std::string> expected = lines;
    std::ranges::sort(expected);
    const std::size_t bytes_max = std::size_t{1} << random.below(20);
    ASSERT_EQ(sorted(fs_, lines, bytes_max), expected) << seed << " in " << bytes_max;
  }
}

TEST_F(LineSorterTest, EndsWithTheErrorOfTheTaker) {
  LineSorter sorter(fs_, "tmp", 1);
  for (int i = 0; i < 10; ++i) ASSERT_TRUE(sorter.add(fmt::format("{}", i)));
  int taken = 0;
  const base::Status status = sorter.take_all([&](std::string_view) -> base::Status {
    if (++taken == 3) return base::fail(base::ErrorCode::kNoSpace, "the disk is full");
    return {};
  });
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code(), base::ErrorCode::kNoSpace);
  EXPECT_EQ(taken, 3);
}

}  // namespace
}  // namespace meguri::archive
