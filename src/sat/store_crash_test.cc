// What becomes of a store when the power, the disk or its reads fail.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "env/crash_points.h"
#include "env/faulty_file_system.h"
#include "env/memory_file_system.h"
#include "env/random.h"
#include "sat/store_testing.h"

namespace meguri::sat {
namespace {

using base::ErrorCode;

class StoreCrashes : public testing::TestWithParam<StoreKind> {};

// Nothing is lost, and if `until_empty` everything is handed out once with its messages.
void expect_all_is_well(StoreWork& work, bool until_empty = true) {
  base::Status status = work.open();
  ASSERT_TRUE(status) << status.error().message();
  status = work.check_all_there();
  ASSERT_TRUE(status) << status.error().message();
  if (!until_empty) return;
  status = work.finish();
  ASSERT_TRUE(status) << status.error().message();
}

// One long run, cut at each of its changes in turn: appends, syncs, new and removed files.
TEST_P(StoreCrashes, LoseNothingWhereverOneRunIsCut) {
  std::unique_ptr<StoreWork> work;
  const std::uint64_t changes = env::for_each_crash_point(
      {.seed = 1, .outcomes = 1},
      [&](env::FaultyFileSystem& files) {
        work = std::make_unique<StoreWork>(files, GetParam(), 77);
        ASSERT_TRUE(work->open());
        ASSERT_TRUE(work->commit());
        for (int i = 0; i < 200; ++i) ASSERT_TRUE(work->step());
      },
      [&](env::FaultyFileSystem& files) {
        const std::uint64_t end = files.changes() + 100;
        base::Status status;
        while (status && files.changes() < end) status = work->step();
        if (status) status = work->commit();
        work->lose();
      },
      [&](env::FaultyFileSystem&, env::CrashPoint point) {
        if (testing::Test::HasFailure()) return;
        SCOPED_TRACE(point.change);
        // The default layout has half a million buckets until all is handed out.
        const bool is_short = GetParam().page_bytes < 4096;
        expect_all_is_well(*work, is_short || point.change % 16 == 0);
      });
  EXPECT_GE(changes, 100U);
}

// Many lives, each cut somewhere; some while the store is opened.
void cut_again_and_again(const StoreKind& kind, std::uint64_t first_seed, std::uint64_t seeds,
                         int lives) {
  env::Random cuts(first_seed + 9);
  for (std::uint64_t seed = first_seed; seed < first_seed + seeds; ++seed) {
    SCOPED_TRACE(seed);
    env::FaultyFileSystem files(seed);
    StoreWork work(files, kind, seed);
    ASSERT_TRUE(work.open());
    ASSERT_TRUE(work.commit());
    for (int life = 0; life < lives; ++life) {
      SCOPED_TRACE(life);
      files.cut_power_after(cuts.below(cuts.below(4) == 0 ? 8 : 80));
      base::Status status;
      for (int i = 0; i < 3000 && status && !files.power_is_off(); ++i) status = work.step();
      work.lose();
      cuts.below(4) == 0 ? files.restart() : files.crash(&cuts);
      // The power may go again while it is opened.
      files.cut_power_after(cuts.below(12));
      status = work.open();
      if (!status) {
        ASSERT_TRUE(files.power_is_off()) << status.error().message();
      }
      work.lose();
      files.crash(&cuts);
      status = work.open();
      ASSERT_TRUE(status) << status.error().message();
      status = work.check_all_there();
      ASSERT_TRUE(status) << status.error().message();
      if (testing::Test::HasFailure()) return;
    }
    const base::Status status = work.finish();
    ASSERT_TRUE(status) << status.error().message();
    if (testing::Test::HasFailure()) return;
  }
}

TEST_P(StoreCrashes, LoseNothingOverManyCuts) { cut_again_and_again(GetParam(), 1000, 10, 8); }

class LongStoreCrashes : public testing::TestWithParam<StoreKind> {};

TEST_P(LongStoreCrashes, LoseNothingOverThousandsOfCuts) {
  cut_again_and_again(GetParam(), 2000, 250, 16);
}

// --- A full disk.

TEST_P(StoreCrashes, FailClearlyOnAFullDiskAndGoOnOnceThereIsRoom) {
  env::Random random(4);
  for (std::uint64_t seed = 0; seed < 25; ++seed) {
    SCOPED_TRACE(seed);
    env::MemoryFileSystem files;
    StoreWork work(files, GetParam(), seed);
    ASSERT_TRUE(work.open());
    ASSERT_TRUE(work.commit());
    for (std::uint64_t i = 0; i < 60 * seed; ++i) ASSERT_TRUE(work.step());
    files.set_capacity(files.used() + random.below(60'000));
    base::Status status;
    for (int i = 0; status && i < 30'000; ++i) status = work.step();
    ASSERT_FALSE(status);
    EXPECT_EQ(status.error().code(), ErrorCode::kNoSpace) << status.error().message();
    EXPECT_TRUE(status.error().message().contains("/store/")) << status.error().message();
    // What was done by half is never acknowledged.
    const auto after = work.store().commit();
    ASSERT_FALSE(after);
    EXPECT_EQ(after.error().code(), ErrorCode::kNoSpace) << after.error().message();
    EXPECT_TRUE(after.error().message().contains("opened again")) << after.error().message();
    EXPECT_FALSE(work.store().next_due(work.now()));
    work.lose();
    // Without room it opens, or says why not and breaks nothing.
    status = work.open();
    if (!status) {
      EXPECT_EQ(status.error().code(), ErrorCode::kNoSpace) << status.error().message();
    }
    work.lose();
    files.set_capacity(std::uint64_t{1} << 30U);
    status = work.open();
    ASSERT_TRUE(status) << status.error().message();
    ASSERT_TRUE(work.check_all_there());
    for (int i = 0; i < 200; ++i) ASSERT_TRUE(work.step());
    ASSERT_TRUE(work.commit());
    status = work.finish();
    ASSERT_TRUE(status) << status.error().message();
    if (HasFailure()) return;
  }
}

// --- Reads, writes and syncs that fail while the machine goes on.

enum class Failing : std::uint8_t { kRead, kWrite, kSync };

void fail_and_go_on(const StoreKind& kind, Failing failing) {
  env::Random random(5);
  int failed = 0;
  for (std::uint64_t seed = 0; seed < 25; ++seed) {
    SCOPED_TRACE(seed);
    env::FaultyFileSystem files(seed);
    StoreWork work(files, kind, seed);
    ASSERT_TRUE(work.open());
    for (int i = 0; i < 400; ++i) ASSERT_TRUE(work.step());
    ASSERT_TRUE(work.commit());
    switch (failing) {
      case Failing::kRead: files.fail_read_after(random.below(40), ErrorCode::kIo); break;
      case Failing::kWrite: files.fail_change_after(random.below(40), ErrorCode::kIo); break;
      case Failing::kSync: files.fail_sync_after(random.below(10)); break;
    }
    base::Status status;
    for (int i = 0; status && i < 3000; ++i) status = work.step();
    if (!status) {
      ++failed;
      EXPECT_EQ(status.error().code(), ErrorCode::kIo) << status.error().message();
      EXPECT_TRUE(status.error().message().contains("/store")) << status.error().message();
    }
    // The process ends, and another one starts.
    work.lose();
    files.restart();
    status = work.open();
    ASSERT_TRUE(status) << status.error().message();
    ASSERT_TRUE(work.check_all_there());
    status = work.finish();
    ASSERT_TRUE(status) << status.error().message();
    if (testing::Test::HasFailure()) return;
  }
  // The pool of the default kind never overflows, so that nothing is read.
  EXPECT_TRUE(failed > 5 || (failing == Failing::kRead && kind.page_bytes == 4096)) << failed;
}

TEST_P(StoreCrashes, GoOnAfterAFailedRead) { fail_and_go_on(GetParam(), Failing::kRead); }
TEST_P(StoreCrashes, GoOnAfterAFailedWrite) { fail_and_go_on(GetParam(), Failing::kWrite); }
TEST_P(StoreCrashes, GoOnAfterAFailedSync) { fail_and_go_on(GetParam(), Failing::kSync); }

TEST_P(StoreCrashes, OpenAgainAfterAnyReadOfOpeningHasFailed) {
  env::FaultyFileSystem files;
  StoreWork work(files, GetParam(), 3);
  ASSERT_TRUE(work.open());
  for (int i = 0; i < 1500; ++i) ASSERT_TRUE(work.step());
  ASSERT_TRUE(work.commit());
  work.lose();
  for (std::uint64_t read = 0;; ++read) {
    SCOPED_TRACE(read);
    files.restart();
    files.fail_read_after(read, ErrorCode::kIo);
    const base::Status status = work.open();
    work.lose();
    if (status) {
      EXPECT_GT(read, 3U);
      break;
    }
    ASSERT_EQ(status.error().code(), ErrorCode::kIo) << status.error().message();
    EXPECT_TRUE(status.error().message().contains("/store/")) << status.error().message();
  }
  files.restart();
  expect_all_is_well(work);
}

// A store that lost its files, or was told a wrong position, keeps what it has.
TEST(StorePositions, ThatAreWrongChangeNothing) {
  env::MemoryFileSystem files;
  StoreWork work(files, kStoreKinds[2], 3);
  ASSERT_TRUE(work.open());
  for (int i = 0; i < 500; ++i) ASSERT_TRUE(work.step());
  ASSERT_TRUE(work.commit());
  const std::string position = work.position();
  work.lose();
  const auto names = files.list("/store").value();
  const std::string layout = position.substr(position.find(' ', position.find(' ') + 1) + 1);
  for (const std::string& wrong :
       {std::string("x"), std::string("1"), std::string("1 2"), "0 0 " + layout, "-1 0 " + layout,
        "999 0 " + layout, "1,0," + layout, std::string("1 0 60x")}) {
    const auto store = Store::open(files, "/store", {}, wrong, kStart);
    EXPECT_FALSE(store) << wrong;
    EXPECT_EQ(files.list("/store").value(), names) << wrong;
  }
  expect_all_is_well(work);
}

constexpr auto kNameOfKind = [](const auto& kind) { return std::string(kind.param.name); };
INSTANTIATE_TEST_SUITE_P(Kinds, StoreCrashes, testing::ValuesIn(kStoreKinds), kNameOfKind);
INSTANTIATE_TEST_SUITE_P(Kinds, LongStoreCrashes, testing::ValuesIn(kStoreKinds), kNameOfKind);

}  // namespace
}  // namespace meguri::sat
