#include "flow/spill_log.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/testing.h"
#include "env/faulty_file_system.h"
#include "env/memory_file_system.h"
#include "env/random.h"

namespace meguri::flow {
namespace {

SpillBlock block_of(std::uint64_t first, std::uint64_t count) {
  SpillBlock block(first);
  for (std::uint64_t i = 0; i < count; ++i) block.add("record " + std::to_string(first + i));
  return block;
}

base::Status append(SpillLog& log, SpillBlock block) { return log.append(block); }
base::Status append_read(SpillLog& log, SpillBlock block) { return log.append_read(block); }

// Numbers of all records from the reader's place on; checks that each holds what it should.
std::vector<std::uint64_t> read_all(SpillLog& log) {
  std::vector<std::uint64_t> numbers;
  for (;;) {
    auto block = log.read_next();
    EXPECT_TRUE(block);
    if (!block || !*block) return numbers;
    EXPECT_TRUE((*block)->for_each([&](std::uint64_t number, std::string_view record) {
      EXPECT_EQ(record, "record " + std::to_string(number));
      numbers.push_back(number);
    }));
  }
}

std::vector<std::uint64_t> range(std::uint64_t from, std::uint64_t to) {
  std::vector<std::uint64_t> numbers;
  for (; from < to; ++from) numbers.push_back(from);
  return numbers;
}

TEST(SpillLog, ReturnsRecordsInOrderOverSegments) {
  env::MemoryFileSystem files;
  auto log = SpillLog::open(files, "d", std::nullopt, /*segment_bytes=*/200);
  ASSERT_TRUE(log);
  for (std::uint64_t n = 0; n < 100; n += 5) ASSERT_TRUE(append(**log, block_of(n, 5)));
  EXPECT_GT(files.list("d")->size(), 5U);
  EXPECT_EQ(read_all(**log), range(0, 100));
  EXPECT_TRUE((*log)->drained());
  ASSERT_TRUE(append(**log, block_of(100, 3)));
  EXPECT_FALSE((*log)->drained());
  EXPECT_EQ(read_all(**log), range(100, 103));
}

// The worked bytes of docs/formats/spill.md.
TEST(SpillLog, WritesTheDocumentedBytes) {
  env::MemoryFileSystem files;
  auto log = SpillLog::open(files, "d", std::nullopt);
  ASSERT_TRUE(log);
  SpillBlock block(7);
  block.add("hi");
  ASSERT_TRUE((*log)->append(block));
  const auto bytes = env::read_file(files, "d/0000000000000007.spill");
  ASSERT_TRUE(bytes);
  EXPECT_EQ(base::hex_of(*bytes),
            "4d47534c"
            "01000000"
            "0600000000000000"
            "0700000000000000"
            "03e327a47148a1da"
            "7883f5e642ea7397"
            "02000000"
            "6869");
}

TEST(SpillLog, PassesOverBlocksThatWereNeverUnread) {
  env::MemoryFileSystem files;
  auto log = SpillLog::open(files, "d", std::nullopt, 200);
  ASSERT_TRUE(log);
  ASSERT_TRUE(append_read(**log, block_of(0, 5)));
  ASSERT_TRUE(append_read(**log, block_of(5, 5)));
  EXPECT_TRUE((*log)->drained());
  ASSERT_TRUE(append(**log, block_of(12, 5)));  // 10 and 11 went by in memory
  EXPECT_EQ(read_all(**log), range(12, 17));
}

TEST(SpillLog, RemovesFilesWhoseRecordsAreReleased) {
  env::MemoryFileSystem files;
  auto log = SpillLog::open(files, "d", std::nullopt, 200);
  ASSERT_TRUE(log);
  for (std::uint64_t n = 0; n < 100; n += 5) ASSERT_TRUE(append(**log, block_of(n, 5)));
  EXPECT_EQ(read_all(**log), range(0, 100));
  const std::size_t before = files.list("d")->size();
  ASSERT_TRUE((*log)->release_before(50));
  EXPECT_LT(files.list("d")->size(), before);
  ASSERT_TRUE((*log)->release_before(100));
  EXPECT_EQ(files.list("d")->size(), 0U);
  EXPECT_EQ((*log)->mark(100, 100), (SpillMark{100, 100, 0, 0}));
  ASSERT_TRUE(append(**log, block_of(100, 5)));
  EXPECT_EQ(read_all(**log), range(100, 105));
}

TEST(SpillLog, ReopensAtItsMarkAndCutsWhatCameAfter) {
  env::MemoryFileSystem files;
  SpillMark mark;
  {
    auto log = SpillLog::open(files, "d", std::nullopt, 200);
    ASSERT_TRUE(log);
    for (std::uint64_t n = 0; n < 50; n += 5) ASSERT_TRUE(append(**log, block_of(n, 5)));
    ASSERT_TRUE((*log)->sync());
    mark = (*log)->mark(22, 50);
    for (std::uint64_t n = 50; n < 80; n += 5) ASSERT_TRUE(append(**log, block_of(n, 5)));
    ASSERT_TRUE((*log)->sync());
  }
  files.restart();
  auto log = SpillLog::open(files, "d", SpillMark::decode(mark.encode()), 200);
  ASSERT_TRUE(log) << log.error().message();
  EXPECT_GT((*log)->damage().bytes_cut, 0U);
  const auto numbers = read_all(**log);  // from the block that holds record 22
  ASSERT_FALSE(numbers.empty());
  EXPECT_LE(numbers.front(), 22U);
  EXPECT_EQ(numbers, range(numbers.front(), 50));
  ASSERT_TRUE(append(**log, block_of(50, 5)));
  EXPECT_EQ(read_all(**log), range(50, 55));
}

TEST(SpillLog, SaysWhenAcknowledgedBytesAreMissing) {
  env::MemoryFileSystem files;
  SpillMark mark;
  {
    auto log = SpillLog::open(files, "d", std::nullopt);
    ASSERT_TRUE(log);
    ASSERT_TRUE(append(**log, block_of(0, 5)));
    ASSERT_TRUE((*log)->sync());
    mark = (*log)->mark(0, 5);
  }
  files.restart();
  const std::string path = "d/" + files.list("d")->front();
  ASSERT_TRUE(files.truncate(path, mark.segment_bytes - 1));
  EXPECT_EQ(SpillLog::open(files, "d", mark).error().code(), base::ErrorCode::kCorrupt);
  ASSERT_TRUE(files.remove(path));
  EXPECT_EQ(SpillLog::open(files, "d", mark).error().code(), base::ErrorCode::kCorrupt);
}

// Every bit of a file flipped in turn: the records of the block, or of the rest of the file, are
// counted as damaged, and all others are served.
TEST(SpillLog, FindsEveryFlippedBitAndServesTheRest) {
  env::MemoryFileSystem files;
  auto log = SpillLog::open(files, "d", std::nullopt, /*segment_bytes=*/1);
  ASSERT_TRUE(log);
  for (std::uint64_t n = 0; n < 9; n += 3) ASSERT_TRUE(append(**log, block_of(n, 3)));
  ASSERT_TRUE((*log)->sync());
  const SpillMark mark = (*log)->mark(0, 9);
  const std::string path = "d/" + files.list("d")->at(1);
  const std::uint64_t bits = 8 * *files.size(path);
  for (std::uint64_t bit = 0; bit < bits; ++bit) {
    ASSERT_TRUE(files.flip_bit(path, bit));
    auto damaged = SpillLog::open(files, "d", mark, 1);
    ASSERT_TRUE(damaged) << damaged.error().message();
    EXPECT_EQ(read_all(**damaged), (std::vector<std::uint64_t>{0, 1, 2, 6, 7, 8})) << bit;
    EXPECT_EQ((*damaged)->damage().records_damaged, 3U) << bit;
    ASSERT_TRUE(files.flip_bit(path, bit));
  }
}

struct Acknowledged {
  std::optional<SpillMark> mark;
};

// Appends, reads, commits and releases until the power goes.
base::Status churn(env::FileSystem& files, Acknowledged& acknowledged) {
  ASSIGN_OR_RETURN(auto log, SpillLog::open(files, "d", std::nullopt, 150));
  std::uint64_t read = 0;
  for (std::uint64_t n = 0; n < 60; n += 3) {
    RETURN_IF_ERROR(append(*log, block_of(n, 3)));
    if (n % 2 == 0) {
      ASSIGN_OR_RETURN(const auto block, log->read_next());
      if (block) read = block->end();
    }
    if (n % 9 == 0) {
      RETURN_IF_ERROR(log->sync());
      acknowledged.mark = log->mark(read, n + 3);
      RETURN_IF_ERROR(log->release_before(read));
    }
  }
  return {};
}

TEST(SpillLog, ReopensWithAllThatWasAcknowledgedAfterACutAtEveryWrite) {
  std::uint64_t cuts = 0;
  for (std::uint64_t n = 0;; ++n) {
    env::Random random(n);
    env::FaultyFileSystem files(n);
    files.cut_power_after(n);
    Acknowledged acknowledged;
    const auto status = churn(files, acknowledged);
    const bool was_cut = files.power_is_off();
    EXPECT_EQ(status.has_value(), !was_cut);
    files.crash(n % 2 == 0 ? nullptr : &random);
    auto log = SpillLog::open(files, "d", acknowledged.mark, 150);
    ASSERT_TRUE(log) << n << ": " << log.error().message();
    const SpillMark mark = acknowledged.mark.value_or(SpillMark{});
    auto numbers = read_all(**log);
    std::erase_if(numbers, [&](std::uint64_t number) { return number < mark.read; });
    EXPECT_EQ(numbers, range(mark.read, mark.write)) << n;
    EXPECT_EQ((*log)->damage().records_damaged, 0U);
    if (!was_cut) break;
    ++cuts;
  }
  EXPECT_GT(cuts, 40U);
}

}  // namespace
}  // namespace meguri::flow
