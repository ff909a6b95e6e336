#include "sat/segments.h"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "env/crash_points.h"
#include "env/faulty_file_system.h"
#include "env/memory_file_system.h"
#include "env/random.h"

namespace meguri::sat {
namespace {

constexpr std::uint64_t kSegmentBytes = 50'000;

std::string text_of(env::Random& random) {
  return std::string(random.below(9000), static_cast<char>('a' + random.below(26)));
}

// Segments, and what is in them.
struct Written {
  std::vector<std::pair<Extent, std::string>> extents;  // slot 7 for all

  std::vector<Extent> live() const {
    std::vector<Extent> list;
    for (const auto& [extent, text] : extents) list.push_back(extent);
    return list;
  }
};

void expect_all_there(Segments& segments, const Written& written) {
  std::string bytes;
  for (const auto& [extent, text] : written.extents) {
    const auto read = segments.read(7, extent, &bytes);
    ASSERT_TRUE(read) << read.error().message();
    ASSERT_EQ(*read, text);
  }
}

TEST(Segments, GiveBackWhatWasAppendedUntilItIsFreed) {
  env::MemoryFileSystem files;
  auto segments = Segments::open(files, "/seg", kSegmentBytes, "", {}).value();
  env::Random random(1);
  Written written;
  std::string state;
  for (int i = 0; i < 2000; ++i) {
    const std::string text = text_of(random);
    written.extents.emplace_back(segments->append(7, text, 1).value(), text);
    if (written.extents.size() > 40) {
      const auto at = static_cast<std::ptrdiff_t>(random.below(written.extents.size()));
      segments->release(written.extents[static_cast<std::size_t>(at)].first);
      written.extents.erase(written.extents.begin() + at);
    }
    if (i % 10 == 0) {
      state = segments->mark().value();
      ASSERT_TRUE(segments->forget());
      expect_all_there(*segments, written);
    }
    if (i % 100 == 0) {
      segments.reset();
      segments = Segments::open(files, "/seg", kSegmentBytes, state, written.live()).value();
      expect_all_there(*segments, written);
    }
  }
  EXPECT_LT(segments->bytes_on_disk(), segments->bytes_live() + 60 * 4096 + kSegmentBytes);
}

TEST(Segments, FreeNothingThatTheLastDurableMarkNeeds) {
  env::MemoryFileSystem files;
  auto segments = Segments::open(files, "/seg", kSegmentBytes, "", {}).value();
  env::Random random(2);
  Written written;
  for (int i = 0; i < 30; ++i) {
    const std::string text = text_of(random);
    written.extents.emplace_back(segments->append(7, text, 1).value(), text);
  }
  const std::string state = segments->mark().value();
  ASSERT_TRUE(segments->forget());
  for (const auto& [extent, text] : written.extents) segments->release(extent);
  (void)segments->mark().value();  // and the power goes before it is durable
  segments.reset();
  segments = Segments::open(files, "/seg", kSegmentBytes, state, written.live()).value();
  expect_all_there(*segments, written);
}

TEST(Segments, KnowDamageAndTheWrongSlot) {
  env::MemoryFileSystem files;
  auto segments = Segments::open(files, "/seg", kSegmentBytes, "", {}).value();
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

// Whatever write the power is cut at, the last mark that was durable can be gone back to.
TEST(Segments, AreWholeAfterACrashAtAnyWrite) {
  for (std::uint64_t n = 0;; ++n) {
    env::FaultyFileSystem files(n);
    files.cut_power_after(n);
    env::Random random(3);
    Written durable;
    std::string state;
    const auto work = [&]() -> base::Status {
      ASSIGN_OR_RETURN(auto segments, Segments::open(files, "/seg", kSegmentBytes, "", {}));
      Written written;
      for (int i = 0; i < 60; ++i) {
        const std::string text = text_of(random);
        ASSIGN_OR_RETURN(const Extent extent, segments->append(7, text, 1));
        written.extents.emplace_back(extent, text);
        if (written.extents.size() > 15) {
          segments->release(written.extents.front().first);
          written.extents.erase(written.extents.begin());
        }
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
    auto segments = Segments::open(files, "/seg", kSegmentBytes, state, durable.live());
    ASSERT_TRUE(segments) << segments.error().message();
    expect_all_there(**segments, durable);
    if (!was_cut) break;
  }
}

}  // namespace
}  // namespace meguri::sat
