#include "sat/bucket_buffers.h"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "env/random.h"

namespace meguri::sat {
namespace {

TEST(BucketBuffers, KeepTheBytesOfEverySlotInTheOrderTheyCame) {
  constexpr std::uint32_t kSlots = 20;
  BucketBuffers buffers(kSlots, 64, 300);
  std::vector<std::string> model(kSlots);
  env::Random random(4);
  std::size_t full = 0;
  for (int i = 0; i < 50'000; ++i) {
    const auto slot = static_cast<Slot>(random.below(kSlots));
    const std::string body(random.below(20) == 0 ? random.below(500) : random.below(60),
                           static_cast<char>('a' + i % 26));
    const Record record{
        .id = {1, random.next()}, .seq = static_cast<Seq>(i), .due = {}, .body = body};
    if (buffers.has_room(slot, encoded_size(record))) {
      buffers.append(slot, record);
      append(record, model[slot]);
    } else {
      ++full;
      const auto other = static_cast<Slot>(random.below(kSlots));
      buffers.clear(other);
      model[other].clear();
    }
    std::string copied;
    buffers.copy(slot, copied);
    ASSERT_EQ(copied, model[slot]);
    std::size_t pages = 0;
    for (Slot s = 0; s < kSlots; ++s) {
      ASSERT_EQ(buffers.bytes(s), model[s].size());
      ASSERT_EQ(buffers.pages(s), (model[s].size() + 63) / 64);
      pages += buffers.pages(s);
    }
    ASSERT_EQ(buffers.pages_free(), 300 - pages);
    std::set<Slot> filled;
    std::set<Slot> more;
    for (Slot s = 0; s < kSlots; ++s) {
      if (buffers.pages(s) > 0) filled.insert(s);
      if (buffers.pages(s) > 1) more.insert(s);
    }
    ASSERT_EQ(buffers.filled().size(), filled.size());
    ASSERT_EQ(buffers.filled_more().size(), more.size());
    ASSERT_EQ(std::set<Slot>(buffers.filled().begin(), buffers.filled().end()), filled);
    ASSERT_EQ(std::set<Slot>(buffers.filled_more().begin(), buffers.filled_more().end()), more);
  }
  EXPECT_GT(full, 100U);
}

TEST(BucketBuffers, SayBeforehandWhetherARecordFits) {
  BucketBuffers buffers(2, 64, 2);
  const std::string body(64, 'x');
  const Record record{.id = {1, 2}, .due = {}, .body = body};  // 91 bytes
  EXPECT_TRUE(buffers.has_room(0, encoded_size(record)));
  buffers.append(0, record);
  EXPECT_TRUE(buffers.has_room(0, 128 - 91));
  EXPECT_FALSE(buffers.has_room(0, 128 - 91 + 1));
  EXPECT_FALSE(buffers.has_room(1, 1));
  buffers.clear(0);
  EXPECT_TRUE(buffers.has_room(1, 128));
}

}  // namespace
}  // namespace meguri::sat
