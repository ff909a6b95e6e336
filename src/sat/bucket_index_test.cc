#include "sat/bucket_index.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "env/random.h"

namespace meguri::sat {
namespace {

TEST(BucketIndex, AgreesWithAPlainTable) {
  for (const std::uint32_t slots : {1U, 2U, 100U, 4095U, 4096U, 9700U, 1'048'576U}) {
    BucketIndex index(slots);
    env::Random random(slots);
    std::vector<std::optional<Place>> model;
    const auto draw = [&] {
      const auto slot = static_cast<Slot>(random.below(slots));
      return Place{slot, static_cast<std::uint32_t>(random.below(index.generations()))};
    };
    for (int i = 0; i < 3000; ++i) {
      const Place place = draw();
      const std::uint64_t choice = random.below(10);
      if (model.empty() || choice < 3) {
        EXPECT_EQ(index.add(place.slot, place.generation), model.size());
        model.emplace_back(place);
        continue;
      }
      const auto seq = static_cast<Seq>(random.below(model.size()));
      ASSERT_EQ(index.has(seq), model[seq].has_value());
      if (!model[seq]) continue;
      if (choice == 3) {
        index.remove(seq);
        model[seq].reset();
      } else {
        index.move(seq, place.slot, place.generation);
        model[seq] = place;
      }
    }
    std::vector<std::uint64_t> live(slots);
    for (std::size_t i = 0; i < model.size(); ++i) {
      const auto seq = static_cast<Seq>(i);
      if (!model[i]) continue;
      ++live[model[i]->slot];
      EXPECT_EQ(index.slot_of(seq), model[i]->slot);
      EXPECT_TRUE(index.counts(seq, model[i]->slot, model[i]->generation));
      EXPECT_FALSE(index.counts(seq, model[i]->slot, model[i]->generation + 1) &&
                   index.generations() > 1);
    }
    for (Slot slot = 0; slot < slots; ++slot) ASSERT_EQ(index.live(slot), live[slot]);

    BucketIndex again(slots);
    for (std::size_t i = 0; i < index.parts(); ++i) ASSERT_TRUE(again.append_part(index.part(i)));
    ASSERT_EQ(again.parts(), index.parts());
    for (std::size_t i = 0; i < index.parts(); ++i) EXPECT_EQ(again.part(i), index.part(i));
    EXPECT_EQ(again.records(), index.records());
  }
}

TEST(BucketIndex, TakesThreeBytesForARecord) {
  BucketIndex index(TimeLayout::mixed().slots());
  constexpr std::size_t kRecords = 1'000'000;
  for (std::size_t i = 0; i < kRecords; ++i) index.add(static_cast<Slot>(i % 2000), 0);
  EXPECT_EQ(index.byte_count(), 3 * kRecords);
  // Not much more when the last chunk has just begun.
  EXPECT_LE(index.memory_bytes(), 3 * kRecords + (std::size_t{2} << 20U));
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < index.parts(); ++i) bytes += index.part(i).size();
  EXPECT_EQ(bytes, index.byte_count());
  EXPECT_EQ(index.slot_of(999'999), 1999U);
  EXPECT_GE(index.generations(), 4096U);
}

TEST(BucketIndex, RefusesBytesThatAreNone) {
  BucketIndex index(100);
  EXPECT_FALSE(index.append_part("abcd"));
  EXPECT_FALSE(index.append_part("\xfe\xff\xff"));
}

}  // namespace
}  // namespace meguri::sat
