#include "sat/segments.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "env/crash_points.h"
#include "env/faulty_file_system.h"
#include "env/memory_file_system.h"
#include "env/random.h"

namespace meguri::sat {
namespace {

constexpr std::uint64_t kSegmentBytes = 50'000;
constexpr Slot kSlots = 5;

std::string text_of(env::Random& random) {
  return std::string(random.below(9000), static_cast<char>('a' + random.below(26)));
}

struct WrittenExtent {
  Slot slot = 0;
  Extent extent;
  std::string text;
};

// What is in segments.
struct Written {
  std::vector<WrittenExtent> extents;

  base::Status append(Segments& segments, env::Random& random) {
    const auto slot = static_cast<Slot>(random.below(kSlots));
    std::string text = text_of(random);
    ASSIGN_OR_RETURN(const Extent extent, segments.append(slot, text, 1));
    extents.push_back({slot, extent, std::move(text)});
    return {};
  }
  void release(Segments& segments, std::size_t at) {
    segments.release(extents[at].extent);
    extents.erase(extents.begin() + static_cast<std::ptrdiff_t>(at));
  }
  std::vector<Extent> live() const {
    std::vector<Extent> list;
    for (const auto& each : extents) list.push_back(each.extent);
    return list;
  }
};

void expect_all_there(Segments& segments, const Written& written) {
  std::string bytes;
  for (const auto& [slot, extent, text] : written.extents) {
    const auto read = segments.read(slot, extent, &bytes);
    ASSERT_TRUE(read) << read.error().message();
    ASSERT_EQ(*read, text);
  }
}

// In one file after another, in one for each slot, or in that at whole blocks.
enum class Files : std::uint8_t { kInTurn, kOfEachSlot, kOfEachSlotAligned };

class SegmentsOf : public testing::TestWithParam<Files> {
 protected:
  static base::Result<std::unique_ptr<Segments>> open(env::FileSystem& files,
                                                      std::string_view state,
                                                      const std::vector<Extent>& live) {
    SegmentOptions options;
    options.bytes_max = kSegmentBytes;
    options.has_one_per_slot = GetParam() != Files::kInTurn;
    options.aligns_extents = GetParam() == Files::kOfEachSlotAligned;
    options.punch_bytes_min = Segments::kBlockBytes;
    return Segments::open(files, "/seg", options, state, live);
  }
};
INSTANTIATE_TEST_SUITE_P(
    Files, SegmentsOf,
    testing::Values(Files::kInTurn, Files::kOfEachSlot, Files::kOfEachSlotAligned),
    [](const auto& each) {
      if (each.param == Files::kInTurn) return std::string("InTurn");
      return std::string(each.param == Files::kOfEachSlot ? "OfEachSlot" : "OfEachSlotAligned");
    });

TEST_P(SegmentsOf, GiveBackWhatWasAppendedUntilItIsFreed) {
  env::MemoryFileSystem files;
  auto segments = open(files, "", {}).value();
  env::Random random(1);
  Written written;
  std::string state;
  for (int i = 0; i < 2000; ++i) {
    ASSERT_TRUE(written.append(*segments, random));
    if (written.extents.size() > 40) {
      written.release(*segments, random.below(written.extents.size()));
    }
    if (i % 10 == 0) {
      state = segments->mark().value();
      ASSERT_TRUE(segments->forget());
      expect_all_there(*segments, written);
    }
    if (i % 100 == 0) {
      segments.reset();
      segments = open(files, state, written.live()).value();
      expect_all_there(*segments, written);
    }
  }
  EXPECT_LT(segments->bytes_on_disk(), segments->bytes_live() + 60 * 4096 + kSegmentBytes);
}

// Small pieces wait for something beside them, but only so many.
TEST(Segments, KeepSmallFreePiecesForAWhile) {
  env::MemoryFileSystem files;
  SegmentOptions options;
  options.punch_bytes_min = 8 * Segments::kBlockBytes;
  auto segments = Segments::open(files, "/seg", options, "", {}).value();
  const std::string bytes(2 * Segments::kBlockBytes - Segments::kHeaderBytes, 'x');
  std::vector<Extent> extents;
  for (int i = 0; i < 1024; ++i) extents.push_back(segments->append(7, bytes, 1).value());
  const std::uint64_t all = segments->bytes_on_disk();
  const auto release = [&](std::size_t from, std::size_t until, std::size_t step) {
    for (std::size_t i = from; i < until; i += step) segments->release(extents[i]);
    EXPECT_TRUE(segments->mark());
    EXPECT_TRUE(segments->forget());
    return all - segments->bytes_on_disk();
  };
  EXPECT_EQ(release(0, 8, 2), 0U);
  // With what was released before, the first five are enough together; the two behind them are too
  // few again.
  EXPECT_EQ(release(1, 7, 2), 5 * 2 * Segments::kBlockBytes);
  // The rest in pieces, more of them than may be kept.
  EXPECT_EQ(release(9, 1024, 2), (7 + 508) * 2 * Segments::kBlockBytes);
}

TEST_P(SegmentsOf, FreeNothingThatTheLastDurableMarkNeeds) {
  env::MemoryFileSystem files;
  auto segments = open(files, "", {}).value();
  env::Random random(2);
  Written written;
  for (int i = 0; i < 30; ++i) {
    ASSERT_TRUE(written.append(*segments, random));
  }
  const std::string state = segments->mark().value();
  ASSERT_TRUE(segments->forget());
  for (const Extent& extent : written.live()) segments->release(extent);
  (void)segments->mark().value();  // and the power goes before it is durable
  segments.reset();
  segments = open(files, state, written.live()).value();
  expect_all_there(*segments, written);
}

TEST_P(SegmentsOf, KnowDamageAndTheWrongSlot) {
  env::MemoryFileSystem files;
  auto segments = open(files, "", {}).value();
  const Extent extent = segments->append(7, "some bytes", 1).value();
  std::string bytes;
  ASSERT_TRUE(segments->read(7, extent, &bytes));
  EXPECT_EQ(segments->read(8, extent, &bytes).error().code(), base::ErrorCode::kCorrupt);
  for (std::uint64_t bit = 0; bit < (Segments::kHeaderBytes + 10) * 8; ++bit) {
    ASSERT_TRUE(files.flip_bit("/seg/0000000000000001.seg", bit));
    EXPECT_FALSE(segments->read(7, extent, &bytes)) << bit;
    ASSERT_TRUE(files.flip_bit("/seg/0000000000000001.seg", bit));
  }
  EXPECT_TRUE(segments->read(7, extent, &bytes));
}

TEST_P(SegmentsOf, BeginAtWholeBlocksIfTheyAreAligned) {
  env::MemoryFileSystem files;
  auto segments = open(files, "", {}).value();
  env::Random random(4);
  Written written;
  for (int i = 0; i < 50; ++i) ASSERT_TRUE(written.append(*segments, random));
  const auto live = written.live();
  const bool all = std::ranges::all_of(
      live, [](const Extent& extent) { return extent.offset % Segments::kBlockBytes == 0; });
  EXPECT_EQ(all, GetParam() == Files::kOfEachSlotAligned);
}

// Whatever write the power is cut at, the last mark that was durable can be gone back to.
TEST_P(SegmentsOf, AreWholeAfterACrashAtAnyWrite) {
  for (std::uint64_t n = 0;; ++n) {
    env::FaultyFileSystem files(n);
    files.cut_power_after(n);
    env::Random random(3);
    Written durable;
    std::string state;
    const auto work = [&]() -> base::Status {
      ASSIGN_OR_RETURN(auto segments, open(files, "", {}));
      Written written;
      for (int i = 0; i < 60; ++i) {
        RETURN_IF_ERROR(written.append(*segments, random));
        if (written.extents.size() > 15) written.release(*segments, 0);
        if (i % 7 != 0) continue;
        ASSIGN_OR_RETURN(state, segments->mark());
        durable = written;
        RETURN_IF_ERROR(segments->forget());
      }
      return {};
    };
    const base::Status status = work();
    const bool was_cut = files.power_is_off();
    ASSERT_EQ(status.has_value(), !was_cut);
    env::Random loss(n);
    files.crash(&loss);
    auto segments = open(files, state, durable.live());
    ASSERT_TRUE(segments) << segments.error().message();
    expect_all_there(**segments, durable);
    if (!was_cut) break;
  }
}

}  // namespace
}  // namespace meguri::sat
