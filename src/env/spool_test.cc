#include "env/spool.h"

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "env/faulty_file_system.h"
#include "env/memory_file_system.h"
#include "env/posix_file_system.h"
#include "env/random.h"
#include "env/spool_testing.h"
#include "env/testing.h"

namespace meguri::env {
namespace {

using base::ErrorCode;

constexpr SpoolLimits kSmall{
    .value_memory_max = 10'000, .memory_max = 30'000, .bytes_max = 100'000};

std::string noise(std::size_t size) {
  Random random(size);
  std::string bytes;
  while (bytes.size() < size) bytes += static_cast<char>(random.below(256));
  return bytes;
}

std::string joined(const SpooledBytes& bytes) {
  std::string text;
  EXPECT_TRUE(bytes.for_each_piece([&text](std::string_view piece) -> base::Status {
    EXPECT_FALSE(piece.empty());
    text += piece;
    return {};
  }));
  return text;
}

class SpoolTest : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_TRUE(spool_.open()); }

  FaultyFileSystem fs_;
  Spool spool_{fs_, "state/spool", kSmall};
};

TEST_F(SpoolTest, WhatIsSmallIsInMemoryAndWhatIsLargeOnDisk) {
  for (const std::size_t size : {0UL, 1UL, 9'999UL, 10'000UL, 10'001UL, 600'000UL}) {
    const std::string text = noise(size);
    const SpooledBytes bytes = spooled(spool_, text);
    EXPECT_EQ(bytes.is_on_disk(), size > 10'000) << size;
    EXPECT_EQ(bytes.size(), size);
    EXPECT_EQ(bytes.empty(), size == 0);
    EXPECT_TRUE(joined(bytes) == text) << size;
    EXPECT_TRUE(bytes == text);
    EXPECT_FALSE(bytes == text + "x");
    std::string other = text;
    if (!other.empty()) other.back() = static_cast<char>(other.back() ^ 1);
    EXPECT_EQ(bytes == other, size == 0) << size;
    std::string part;
    ASSERT_TRUE(bytes.read_at(size / 2, 100, &part));
    EXPECT_EQ(part, text.substr(size / 2, 100));
    ASSERT_TRUE(bytes.read_at(size + 5, 100, &part));
    EXPECT_EQ(part, "");
    EXPECT_EQ(*bytes.read(50), text.substr(0, 50));
  }
  EXPECT_EQ(fs_.list("state/spool")->size(), 0U) << "files without names";
}

TEST_F(SpoolTest, ComesToTheSameHoweverItWasCut) {
  const std::string text = noise(50'000);
  for (const std::size_t step : {1UL, 777UL, 9'999UL, 20'000UL}) {
    SpoolWriter writer(&spool_);
    for (std::size_t at = 0; at < text.size(); at += step) {
      ASSERT_TRUE(writer.append(std::string_view(text).substr(at, step)));
      EXPECT_EQ(writer.size(), std::min(at + step, text.size()));
    }
    EXPECT_TRUE(writer.finish() == text);
    EXPECT_EQ(writer.size(), 0U);
  }
}

TEST_F(SpoolTest, WhatIsExpectedToBeLargeIsOnDiskFromTheStart) {
  SpoolWriter writer(&spool_);
  writer.expect(1'000'000);
  ASSERT_TRUE(writer.append("short"));
  EXPECT_EQ(spool_.memory_bytes(), 0U);
  EXPECT_EQ(spool_.disk_bytes(), 5U);
  EXPECT_TRUE(writer.finish() == "short");
  ASSERT_TRUE(writer.append("another"));
  EXPECT_FALSE(writer.finish().is_on_disk()) << "of which nothing was said";
}

TEST_F(SpoolTest, SmallerOnesGoToDiskTooWhenAllTakeTooMuchMemory) {
  std::vector<SpooledBytes> held;
  for (int i = 0; i < 10; ++i) held.push_back(spooled(spool_, noise(8'000)));
  EXPECT_EQ(spool_.memory_bytes(), 24'000U);
  EXPECT_EQ(spool_.disk_bytes(), 56'000U);
  EXPECT_FALSE(held[2].is_on_disk());
  EXPECT_TRUE(held[3].is_on_disk());
  EXPECT_FALSE(spooled(spool_, noise(Spool::kSmallBytes)).is_on_disk()) << "not worth a file";
  held.clear();
  EXPECT_FALSE(spooled(spool_, noise(8'000)).is_on_disk());
}

TEST_F(SpoolTest, TellsWhetherThereIsRoom) {
  EXPECT_TRUE(spool_.has_room(100'000));
  EXPECT_FALSE(spool_.has_room(100'001));
  std::optional<SpooledBytes> large = spooled(spool_, noise(95'000));
  const SpooledBytes small = spooled(spool_, noise(4'000));
  EXPECT_TRUE(spool_.has_room(1'000));
  EXPECT_FALSE(spool_.has_room(1'001));
  large.reset();
  EXPECT_TRUE(spool_.has_room(96'000));
}

TEST_F(SpoolTest, CopiesShareAndTheLastGivesBack) {
  for (const std::size_t size : {5'000UL, 50'000UL}) {
    std::optional<SpooledBytes> first = spooled(spool_, noise(size));
    SpooledBytes copy = *first;
    first.reset();
    EXPECT_EQ(spool_.memory_bytes() + spool_.disk_bytes(), size);
    EXPECT_TRUE(copy == noise(size));
    copy = {};
    EXPECT_EQ(spool_.memory_bytes() + spool_.disk_bytes(), 0U);
  }
  EXPECT_EQ(fs_.disk().used(), 0U);
}

TEST_F(SpoolTest, AWriterThatEndsOrIsClearedGivesBack) {
  {
    SpoolWriter writer(&spool_);
    ASSERT_TRUE(writer.append(noise(50'000)));
    writer.clear();
    EXPECT_EQ(spool_.disk_bytes(), 0U);
    ASSERT_TRUE(writer.append(noise(5'000)));
  }
  EXPECT_EQ(spool_.memory_bytes(), 0U);
}

TEST_F(SpoolTest, ValuesMayOutliveIt) {
  auto spool = std::make_unique<Spool>(fs_, "state/spool", kSmall);
  const SpooledBytes small = spooled(*spool, "small");
  const SpooledBytes large = spooled(*spool, noise(50'000));
  spool.reset();
  EXPECT_TRUE(small == "small");
  EXPECT_TRUE(large == noise(50'000));
}

TEST_F(SpoolTest, AFullDiskLosesTheValueAndNothingElse) {
  const SpooledBytes before = spooled(spool_, noise(20'000));
  fs_.disk().set_capacity(50'000);
  SpoolWriter writer(&spool_);
  ASSERT_TRUE(writer.append(noise(20'000)));
  const auto full = writer.append(noise(20'000));
  ASSERT_FALSE(full);
  EXPECT_EQ(full.error().code(), ErrorCode::kNoSpace);
  EXPECT_EQ(writer.size(), 0U);
  EXPECT_EQ(spool_.disk_bytes(), 20'000U);
  EXPECT_EQ(fs_.disk().used(), 20'000U);
  EXPECT_TRUE(writer.finish().empty());
  ASSERT_TRUE(writer.append(noise(25'000)));
  EXPECT_TRUE(writer.finish() == noise(25'000));
  EXPECT_TRUE(before == noise(20'000));
}

TEST_F(SpoolTest, EveryFailedChangeIsToldAndLeavesNothing) {
  for (std::uint64_t change = 0; change < 3; ++change) {
    SpoolWriter writer(&spool_);
    ASSERT_TRUE(writer.append(noise(8'000)));
    fs_.fail_change_after(change, ErrorCode::kIo);  // the file, what was in memory, what came
    base::Status status = writer.append(noise(8'000));
    ASSERT_FALSE(status) << change;
    EXPECT_EQ(status.error().code(), ErrorCode::kIo);
    EXPECT_EQ(spool_.memory_bytes() + spool_.disk_bytes(), 0U);
    EXPECT_EQ(fs_.disk().used(), 0U);
  }
}

TEST_F(SpoolTest, WhatFitsIntoMemoryStaysThereIfTheDiskFails) {
  std::vector<SpooledBytes> held;
  for (int i = 0; i < 3; ++i) held.push_back(spooled(spool_, noise(9'000)));
  fs_.fail_changes_from(0, ErrorCode::kNoSpace);
  const SpooledBytes bytes = spooled(spool_, noise(9'000));
  EXPECT_FALSE(bytes.is_on_disk());
  EXPECT_TRUE(bytes == noise(9'000));
}

TEST_F(SpoolTest, AFailedReadIsTold) {
  const SpooledBytes bytes = spooled(spool_, noise(600'000));
  fs_.fail_read_after(1, ErrorCode::kIo);
  std::size_t read = 0;
  const auto status = bytes.for_each_piece([&read](std::string_view piece) -> base::Status {
    read += piece.size();
    return {};
  });
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code(), ErrorCode::kIo);
  EXPECT_EQ(read, SpooledBytes::kPieceBytes);
}

TEST(Spool, LeavesTheDiskItsFloor) {
  MemoryFileSystem fs;
  SpoolLimits limits = kSmall;
  limits.disk_free_min = 1'000'000;
  Spool spool(fs, "spool", limits);
  ASSERT_TRUE(spool.open());
  fs.set_capacity(Spool::kLookBytes + 3'000'000);
  SpoolWriter writer(&spool);
  std::uint64_t most = 0;
  base::Status status;
  while (status) {
    most = writer.size();
    status = writer.append(std::string(500'000, 'x'));
  }
  EXPECT_EQ(status.error().code(), ErrorCode::kNoSpace);
  EXPECT_GE(most, Spool::kLookBytes - 1'000'000) << "looked at now and then";
  EXPECT_EQ(fs.used(), 0U);
  fs.set_capacity(999'999);
  EXPECT_FALSE(writer.append(noise(20'000)));
  EXPECT_TRUE(writer.append(noise(5'000))) << "memory";
}

TEST(Spool, RemovesWhatWasLeft) {
  MemoryFileSystem fs;
  ASSERT_TRUE(fs.make_dirs("state/spool"));
  ASSERT_TRUE(fs.create("state/spool/meguri-abcdef"));
  Spool spool(fs, "state/spool", kSmall);
  ASSERT_TRUE(spool.open());
  EXPECT_TRUE(fs.list("state/spool")->empty());
}

TEST(Spool, WithoutAFolderKeepsAllInMemory) {
  Spool spool(1'000'000);
  ASSERT_TRUE(spool.open());
  const SpooledBytes bytes = spooled(spool, noise(3'000'000));
  EXPECT_FALSE(bytes.is_on_disk());
  EXPECT_TRUE(bytes.memory() == noise(3'000'000));
  EXPECT_FALSE(spool.has_room(1));
}

TEST(SpoolWriter, KeepsBytesThatAreThereInMemory) {
  MemoryFileSystem fs;
  Spool spool(fs, "spool", kSmall);
  SpoolWriter writer(&spool);
  const SpooledBytes bytes = writer.keep(noise(50'000));
  EXPECT_FALSE(bytes.is_on_disk());
  EXPECT_EQ(spool.memory_bytes(), 50'000U);
  SpoolWriter free(nullptr);
  ASSERT_TRUE(free.append(noise(50'000)));
  EXPECT_TRUE(free.finish() == bytes.memory());
}

TEST(SpoolThreads, ThreadsWriteAndPassOnCopies) {
  const TempDir dir;
  PosixFileSystem fs;
  Spool spool(fs, dir.path("spool"), kSmall);
  ASSERT_TRUE(spool.open());
  {
    std::vector<std::jthread> threads;
    for (std::size_t i = 1; i <= 4; ++i) {
      threads.emplace_back([&spool, i] {
        for (std::size_t round = 0; round < 50; ++round) {
          const SpooledBytes mine = spooled(spool, noise(i * 5'000));
          std::jthread([copy = mine, i] { EXPECT_TRUE(copy == noise(i * 5'000)); });
        }
      });
    }
  }
  EXPECT_EQ(spool.memory_bytes() + spool.disk_bytes(), 0U);
}

// Writes a value to disk and waits.
void hold_value(const std::string& dir) {
  PosixFileSystem fs;
  Spool spool(fs, dir, kSmall);
  if (!spool.open()) return;
  const SpooledBytes bytes = spooled(spool, noise(50'000));
  ChildProgram::say(bytes.is_on_disk() ? "on disk" : "in memory");
  ::pause();
}
const ChildProgram value_holder("hold_value", hold_value);

TEST(Spool, Kill9LeavesNothing) {
  const TempDir dir;
  ChildProcess child(value_holder, dir.path("spool"));
  ASSERT_EQ(child.read_line(), "on disk");
  child.kill();
  PosixFileSystem fs;
  EXPECT_TRUE(fs.list(dir.path("spool"))->empty());
}

}  // namespace
}  // namespace meguri::env
