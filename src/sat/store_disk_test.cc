// How much disk a store takes that has been updated for long.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>

#include "env/memory_file_system.h"
#include "env/random.h"
#include "sat/store.h"

namespace meguri::sat {
namespace {

using base::Duration;
using base::Instant;

constexpr Instant kStart = Instant::from_ms(1'767'225'600'000);
constexpr std::uint32_t kRecords = 60'000;
constexpr std::size_t kBodyBytes = 170;

// Each record has a period of its own, and is never looked at for longer than the layout reaches.
Duration period_of(Seq seq) {
  env::Random random(seq);
  return Duration::minutes(static_cast<std::int64_t>(10 + random.below(380)));
}

base::Status update_until(Store& store, Instant now) {
  for (;;) {
    ASSIGN_OR_RETURN(const auto due, store.next_due(now));
    if (!due) return {};
    const std::string body(due->record.body);
    RETURN_IF_ERROR(store.reschedule(due->record, 0, body, now + period_of(due->record.seq)));
  }
}

TEST(Store, TakesLittleMoreDiskThanItsRecordsHoweverLongItIsUpdated) {
  env::MemoryFileSystem files;
  StoreOptions options;
  options.layout = TimeLayout::uniform(Duration::minutes(1), 400).value();
  options.pool_bytes = std::size_t{3} << 20U;
  options.log_bytes_max = std::uint64_t{1} << 20U;
  options.segments.bytes_max = std::uint64_t{4} << 20U;
  options.segments.punch_bytes_min = std::uint64_t{16} << 10U;
  auto store = Store::open(files, "/store", options, "", kStart).value();
  const std::string body(kBodyBytes, 'x');
  Record sample;
  sample.body = body;
  const std::uint64_t live = kRecords * encoded_size(sample);
  for (Seq seq = 0; seq < kRecords; ++seq) {
    ASSERT_TRUE(store->add({seq, seq}, 0, body, kStart + period_of(seq)));
  }
  std::uint64_t most = 0;
  for (int minute = 1; minute <= 1600; ++minute) {
    const base::Status status = update_until(*store, kStart + Duration::minutes(minute));
    ASSERT_TRUE(status) << status.error().message();
    ASSERT_TRUE(store->commit());
    ASSERT_TRUE(store->on_durable());
    if (minute < 800) continue;
    std::uint64_t bytes = store->segments().bytes_on_disk();
    const auto names = files.list("/store").value();
    for (const std::string& name : names) {
      if (const auto size = files.size("/store/" + name)) bytes += *size;
    }
    most = std::max(most, bytes);
  }
  // Buffers: the pool, in memory and in a checkpoint; the log; and what a checkpoint has freed only
  // after the next one.
  const std::uint64_t buffers = 2 * options.pool_bytes + 2 * options.log_bytes_max;
  EXPECT_LE(most, live * 13 / 10 + buffers)
      << static_cast<double>(most) / static_cast<double>(live) << " times";
  EXPECT_EQ(store->counts().records, kRecords);
}

}  // namespace
}  // namespace meguri::sat
