#include "crawl/block_pool.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "env/random.h"

namespace meguri::crawl {
namespace {

TEST(BlockPool, SizesAreAtLeastWhatIsAskedForAndLittleMore) {
  std::size_t last = 0;
  for (std::size_t bytes = 1; bytes < 70'000; ++bytes) {
    const std::size_t size = BlockPool::size_for(bytes);
    ASSERT_GE(size, bytes);
    ASSERT_EQ(size % BlockPool::kAlignment, 0U) << bytes;
    ASSERT_LE(size, std::max(bytes + 15, bytes + bytes / 8)) << bytes;
    ASSERT_EQ(BlockPool::size_for(size), size) << bytes;
    ASSERT_GE(size, last);
    last = size;
  }
}

// No piece overlaps another: each keeps what was written to all of it.
TEST(BlockPool, PiecesAreTheirOwners) {
  struct Piece {
    char* memory;
    std::size_t bytes;
    char mark;
  };
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    env::Random random(seed);
    BlockPool pool;
    std::vector<Piece> pieces;
    std::size_t most = 0;
    std::size_t used = 0;
    for (int step = 0; step < 60'000; ++step) {
      // Now more of them, now fewer.
      const bool grows = step / 10'000 % 2 == 0;
      if (pieces.empty() || random.below(10) < (grows ? 7U : 3U)) {
        const std::size_t bytes = 1 + random.below(std::uint64_t{1} << random.below(15));
        char* const memory = pool.take(bytes);
        ASSERT_EQ(reinterpret_cast<std::uintptr_t>(memory) % BlockPool::kAlignment, 0U);
        const auto mark = static_cast<char>(random.below(256));
        std::memset(memory, mark, BlockPool::size_for(bytes));
        pieces.push_back({memory, bytes, mark});
        used += bytes;
        most = std::max(most, used);
      } else {
        std::swap(pieces[random.below(pieces.size())], pieces.back());
        const Piece piece = pieces.back();
        pieces.pop_back();
        const std::size_t size = BlockPool::size_for(piece.bytes);
        ASSERT_EQ(std::string_view(piece.memory, size), std::string(size, piece.mark));
        pool.give_back(piece.memory, piece.bytes);
        used -= piece.bytes;
      }
      ASSERT_GE(pool.memory_bytes(), used);
    }
    // What is not given back goes with the pool.
    for (std::size_t i = 0; i < pieces.size() / 2; ++i) {
      pool.give_back(pieces[i].memory, pieces[i].bytes);
    }
    EXPECT_LT(pool.memory_bytes(), 2 * most + (std::size_t{4} << 20U));
  }
}

// Sheets of small pieces become sheets of large ones.
TEST(BlockPool, EmptySheetsServeOtherSizes) {
  BlockPool pool;
  std::size_t after_first = 0;
  for (std::size_t bytes = 16; bytes <= 8192; bytes *= 2) {
    std::vector<char*> pieces;
    for (std::size_t all = 0; all < (std::size_t{8} << 20U); all += bytes) {
      pieces.push_back(pool.take(bytes));
    }
    for (char* const piece : pieces) pool.give_back(piece, bytes);
    if (after_first == 0) after_first = pool.memory_bytes();
  }
  EXPECT_LE(pool.memory_bytes(), after_first + (std::size_t{3} << 20U));
}

TEST(BlockPool, MovesWithItsPieces) {
  BlockPool a;
  char* const piece = a.take(100);
  std::memset(piece, 'x', 100);
  BlockPool b;
  a.swap(b);
  EXPECT_EQ(a.memory_bytes(), 0U);
  EXPECT_EQ(std::string_view(piece, 100), std::string(100, 'x'));
  b.give_back(piece, 100);
}

}  // namespace
}  // namespace meguri::crawl
