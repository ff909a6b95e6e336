#include "archive/pointer_queue.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "archive/record_source.h"
#include "env/memory_file_system.h"
#include "env/random.h"

namespace meguri::archive {
namespace {

struct ToldPlaces {
  void will_read(const RecordPlace& place) { told.push_back(place); }

  std::vector<RecordPlace> told;
};

std::vector<RecordPlace> random_places(std::uint64_t seed, std::size_t count,
                                       std::uint64_t length_max) {
  env::Random random(seed);
  std::vector<RecordPlace> places(count);
  for (RecordPlace& place : places) {
    place.file = static_cast<std::uint32_t>(random.below(5));
    place.offset = random.below(std::uint64_t{1} << 40U);
    place.length = random.below(length_max);
  }
  return places;
}

// Takes all; what was told ahead of each is within the bounds.
std::vector<RecordPlace> take_all(ExternalSort<RecordPlace>& sorted, ToldPlaces& source) {
  PointerQueue queue(sorted, source);
  std::vector<RecordPlace> taken;
  std::uint64_t bytes_taken = 0;
  for (;;) {
    const auto place = queue.next();
    if (!place || !*place) {
      EXPECT_TRUE(place);
      return taken;
    }
    taken.push_back(**place);
    EXPECT_GE(source.told.size(), taken.size());
    EXPECT_LE(source.told.size() - taken.size(),
              (PointerQueue<RecordPlace, ToldPlaces>::kAheadMax));
    std::uint64_t bytes_told = 0;
    for (const RecordPlace& told : source.told) bytes_told += told.length;
    bytes_taken += taken.back().length;
    const std::uint64_t last = source.told.back().length;
    EXPECT_LE(bytes_told - bytes_taken,
              (PointerQueue<RecordPlace, ToldPlaces>::kAheadBytes) + last);
  }
}

TEST(PointerQueue, TellsOfEachRecordOnceAndInOrderBeforeItIsTaken) {
  for (const std::uint64_t length_max :
       {std::uint64_t{1}, std::uint64_t{9000}, std::uint64_t{30} << 20U}) {
    env::MemoryFileSystem files;
    std::vector<RecordPlace> places = random_places(length_max, 1500, length_max);
    ASSERT_TRUE(files.make_dirs("/scratch"));
    ExternalSort<RecordPlace> sorted(files, "/scratch", 4096);
    ASSERT_TRUE(sorted.add(places));
    ASSERT_TRUE(sorted.finish());
    ToldPlaces source;
    const std::vector<RecordPlace> taken = take_all(sorted, source);
    std::ranges::sort(places);
    EXPECT_EQ(taken, places);
    EXPECT_EQ(source.told, places);
  }
}

TEST(PointerQueue, TellsOfManySmallRecordsBeforeTheFirst) {
  env::MemoryFileSystem files;
  ExternalSort<RecordPlace> sorted(files, "/");
  ASSERT_TRUE(sorted.add(random_places(1, 10'000, 20)));
  ASSERT_TRUE(sorted.finish());
  ToldPlaces source;
  PointerQueue queue(sorted, source);
  ASSERT_TRUE(queue.next());
  EXPECT_EQ(source.told.size(), queue.kAheadMax);
}

TEST(PointerQueue, FilesThatAreNotThereDoNotMatter) {
  env::MemoryFileSystem files;
  const std::map<std::uint32_t, IndexFile> known;
  RecordSource source(files, known, "/archive");
  std::vector<RecordPlace> places = random_places(7, 100, 100);
  ExternalSort<RecordPlace> sorted(files, "/");
  ASSERT_TRUE(sorted.add(places));
  ASSERT_TRUE(sorted.finish());
  PointerQueue queue(sorted, source);
  for (std::size_t i = 0; i < places.size(); ++i) {
    const auto place = queue.next();
    ASSERT_TRUE(place && *place);
    EXPECT_FALSE(source.open(**place));
  }
  EXPECT_EQ(queue.next().value(), std::nullopt);
}

}  // namespace
}  // namespace meguri::archive
