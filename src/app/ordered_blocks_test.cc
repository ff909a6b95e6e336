#include "app/ordered_blocks.h"

#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

namespace meguri::app {
namespace {

std::string text_of(std::size_t piece) {
  std::string text;
  for (std::size_t i = 0; i < piece % 7 * 100; ++i) text += std::to_string(piece) + ' ';
  return text;
}

TEST(OrderedBlocksThreads, PutTogetherWhatThreadsMakeInTheOrderOfThePieces) {
  constexpr std::size_t kPieces = 500;
  std::string written;
  OrderedBlocks blocks(
      [&](std::string_view bytes) -> base::Status {
        written += bytes;
        return {};
      },
      4);
  const std::atomic<bool> is_stopped = false;
  std::atomic<std::size_t> next = 0;
  const auto work = [&] {
    for (std::size_t piece = next++; piece < kPieces; piece = next++) {
      ASSERT_TRUE(blocks.begin(piece, is_stopped));
      const std::string text = text_of(piece);
      for (std::size_t at = 0; at < text.size(); at += 64) {
        std::string block = text.substr(at, 64);
        ASSERT_TRUE(blocks.append(piece, block, is_stopped));
        EXPECT_TRUE(block.empty());
      }
      ASSERT_TRUE(blocks.end(piece));
    }
  };
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) threads.emplace_back(work);
  for (std::thread& thread : threads) thread.join();
  std::string expected;
  for (std::size_t piece = 0; piece < kPieces; ++piece) expected += text_of(piece);
  EXPECT_EQ(written, expected);
  EXPECT_EQ(blocks.bytes(), expected.size());
}

TEST(OrderedBlocks, WaitsForThePiecesBeforeAndEndsWhenEverythingDoes) {
  std::string written;
  OrderedBlocks blocks(
      [&](std::string_view bytes) -> base::Status {
        written += bytes;
        return {};
      },
      1);
  std::atomic<bool> is_stopped = false;
  ASSERT_TRUE(blocks.begin(0, is_stopped));
  ASSERT_TRUE(blocks.begin(1, is_stopped));
  std::string block(OrderedBlocks::kHeldBytesMax, 'b');
  ASSERT_TRUE(blocks.append(1, block, is_stopped));
  EXPECT_EQ(written, "");
  is_stopped = true;
  block = "more";
  EXPECT_EQ(blocks.append(1, block, is_stopped).error().code(), base::ErrorCode::kStopped);
  EXPECT_EQ(blocks.begin(2, is_stopped).error().code(), base::ErrorCode::kStopped);
  is_stopped = false;
  ASSERT_TRUE(blocks.end(0));
  ASSERT_TRUE(blocks.append(1, block, is_stopped));
  EXPECT_EQ(written.size(), OrderedBlocks::kHeldBytesMax + 4);
}

TEST(OrderedBlocks, PassesOnThatNothingCanBeWritten) {
  OrderedBlocks blocks(
      [](std::string_view) -> base::Status {
        return base::fail(base::ErrorCode::kNoSpace, "the disk is full");
      },
      1);
  const std::atomic<bool> is_stopped = false;
  ASSERT_TRUE(blocks.begin(0, is_stopped));
  std::string block = "a";
  EXPECT_EQ(blocks.append(0, block, is_stopped).error().code(), base::ErrorCode::kNoSpace);
}

}  // namespace
}  // namespace meguri::app
