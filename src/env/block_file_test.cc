#include "env/block_file.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/testing.h"
#include "env/memory_file_system.h"

namespace meguri::env {
namespace {

constexpr BlockKind kKind = block_kind("TEST");
constexpr auto kPath = "d/0000000000000001.test";

std::string block_of(std::string_view payload, std::uint32_t count = 1, std::uint64_t number = 0) {
  Block block;
  block.out() += payload;
  return std::string(block.seal(kKind, count, number));
}

// What a file of these bytes reads as: the payloads of whole blocks, "damaged" for each other one
// that can be passed over, and at last what ended it.
std::vector<std::string> read_all(std::string_view bytes) {
  MemoryFileSystem files;
  EXPECT_TRUE(files.make_dirs("d"));
  EXPECT_TRUE(write_file_atomically(files, kPath, bytes));
  const auto file = files.open_read(kPath);
  std::vector<std::string> found;
  std::uint64_t offset = 0;
  Block block;
  BlockView view;
  while (true) {
    const auto state = block.read(**file, kKind, offset, bytes.size(), view);
    BlockView same;
    EXPECT_EQ(state.value(), read_block(bytes.substr(offset), kKind, same));
    EXPECT_EQ(view.payload, same.payload);
    if (state != BlockState::kWhole && state != BlockState::kDamaged) {
      EXPECT_TRUE(block.empty());
      found.emplace_back(describe(*state));
      return found;
    }
    found.emplace_back(state == BlockState::kWhole ? view.payload : "damaged");
    EXPECT_EQ(view.payload, block.payload());
    offset += block.size();
  }
}

using Found = std::vector<std::string>;
constexpr auto kEndText = "there is no further block";
constexpr auto kTornText = "the block is cut off";
constexpr auto kNoBlockText = "no block begins there";

// The worked bytes of docs/formats/blocks.md.
TEST(Block, HasTheDocumentedBytes) {
  EXPECT_EQ(base::hex_of(block_of("hi", 1, 7)),
            "54455354"
            "01000000"
            "0200000000000000"
            "0700000000000000"
            "9a6eead7bb00232a"
            "15a5b5979680da0f"
            "6869");
}

TEST(Block, ReturnsWhatWasSealed) {
  BlockView view;
  const std::string bytes = block_of("payload", 3, 1ULL << 40U);
  EXPECT_EQ(read_block(bytes, kKind, view), BlockState::kWhole);
  EXPECT_EQ(view.payload, "payload");
  EXPECT_EQ(view.count, 3U);
  EXPECT_EQ(view.number, 1ULL << 40U);
  EXPECT_EQ(read_block(bytes, block_kind("ELSE"), view), BlockState::kNoBlock);
  EXPECT_EQ(read_all(bytes + block_of("") + bytes), (Found{"payload", "", "payload", kEndText}));
}

TEST(Block, CanBeFilledAndSealedAgain) {
  Block block;
  block.out() += "first";
  block.seal(kKind, 1, 1);
  block.out() += " and more";
  EXPECT_EQ(block.seal(kKind, 2, 5), block_of("first and more", 2, 5));
  block.clear();
  EXPECT_TRUE(block.empty());
  EXPECT_EQ(block.seal(kKind, 1, 0), block_of(""));
}

TEST(Block, TellsATornTailFromTheEnd) {
  const std::string one = block_of("one");
  const std::string two = block_of("two");
  for (std::size_t cut = 1; cut < two.size(); ++cut) {
    EXPECT_EQ(read_all(one + two.substr(0, cut)), (Found{"one", kTornText})) << cut;
  }
  EXPECT_EQ(read_all(one), (Found{"one", kEndText}));
  EXPECT_EQ(read_all(""), Found{kEndText});
  EXPECT_EQ(read_all(one + std::string(100, '\0')), (Found{"one", kNoBlockText}));
}

TEST(Block, FindsEveryFlippedBitAndGoesOnBehindADamagedPayload) {
  const std::string one = block_of("one");
  for (std::size_t bit = 0; bit < 8 * one.size(); ++bit) {
    std::string bytes = one;
    bytes[bit / 8] = static_cast<char>(bytes[bit / 8] ^ static_cast<char>(1U << bit % 8));
    const Found expected =
        bit / 8 < Block::kHeaderBytes ? Found{kNoBlockText} : Found{"damaged", "two", kEndText};
    EXPECT_EQ(read_all(bytes + block_of("two")), expected) << bit;
  }
}

TEST(Block, IsReadUpToTheBytesThatCount) {
  MemoryFileSystem files;
  ASSERT_TRUE(files.make_dirs("d"));
  const std::string one = block_of("one");
  ASSERT_TRUE(write_file_atomically(files, kPath, one));
  const auto file = files.open_read(kPath);
  Block block;
  BlockView view;
  EXPECT_EQ(block.read(**file, kKind, 0, 0, view), BlockState::kEnd);
  EXPECT_EQ(block.read(**file, kKind, 0, one.size() - 1, view), BlockState::kTorn);
  EXPECT_EQ(block.read(**file, kKind, 0, one.size(), view), BlockState::kWhole);
  EXPECT_EQ(block.read(**file, kKind, one.size(), one.size(), view), BlockState::kEnd);
  // More bytes should be there than are.
  EXPECT_EQ(block.read(**file, kKind, one.size(), one.size() + 1, view), BlockState::kTorn);
  EXPECT_EQ(block.read(**file, kKind, one.size() + 9, one.size(), view), BlockState::kEnd);
}

TEST(NumberedPath, IsReadAgain) {
  EXPECT_EQ(numbered_path("d", 42, ".spill"), "d/000000000000002a.spill");
  EXPECT_EQ(number_of_name("000000000000002a.spill", ".spill"), 42U);
  EXPECT_EQ(number_of_name("ffffffffffffffff.map", ".map"), ~std::uint64_t{0});
  for (const char* const name :
       {"", ".map", "2a.map", "000000000000002a.spill", "-00000000000002a.map",
        "000000000000002g.map", "0000000000000002a.map"}) {
    EXPECT_EQ(number_of_name(name, ".map"), std::nullopt) << name;
  }
}

}  // namespace
}  // namespace meguri::env
