#include "sat/store.h"

#include <gtest/gtest.h>

#include <string>

#include "env/faulty_file_system.h"
#include "env/memory_file_system.h"
#include "env/random.h"
#include "sat/store_testing.h"

namespace meguri::sat {
namespace {

using base::Duration;

class Stores : public testing::TestWithParam<StoreKind> {};

void do_what_the_oracle_does(const StoreKind& kind, std::uint64_t seed) {
  SCOPED_TRACE(seed);
  env::MemoryFileSystem files;
  StoreWork run(files, kind, seed);
  ASSERT_TRUE(run.open());
  for (int i = 0; i < 6000; ++i) {
    const base::Status status = run.step();
    ASSERT_TRUE(status) << status.error().message();
    if (testing::Test::HasFailure()) FAIL() << "at step " << i;
  }
  const base::Status status = run.finish();
  ASSERT_TRUE(status) << status.error().message();
  EXPECT_GT(run.visits(), 1000U);
}

TEST_P(Stores, DoWhatTheOracleDoes) {
  for (std::uint64_t seed = 0; seed < 4; ++seed) do_what_the_oracle_does(GetParam(), seed);
}

// Millions of steps.
class LongStores : public testing::TestWithParam<StoreKind> {};

TEST_P(LongStores, DoWhatTheOracleDoes) {
  for (std::uint64_t seed = 100; seed < 160 && !HasFailure(); ++seed) {
    do_what_the_oracle_does(GetParam(), seed);
  }
}

TEST_P(Stores, ComeBackAsTheyWereCommitted) {
  for (std::uint64_t seed = 0; seed < 4; ++seed) {
    SCOPED_TRACE(seed);
    env::MemoryFileSystem files;
    env::Random random(seed);
    StoreWork run(files, GetParam(), seed);
    ASSERT_TRUE(run.open());
    ASSERT_TRUE(run.commit());
    for (int life = 0; life < 12; ++life) {
      for (auto n = random.below(800); n > 0; --n) {
        const base::Status status = run.step();
        ASSERT_TRUE(status) << status.error().message();
        if (HasFailure()) FAIL() << "in life " << life;
      }
      if (random.below(2) == 0) {
        ASSERT_TRUE(run.commit());
      }
      run.lose();
      if (random.below(2) == 0) {
        files.crash(&random);
      } else {
        files.restart();
      }
      base::Status status = run.open();
      ASSERT_TRUE(status) << status.error().message();
      status = run.check_all_there();
      ASSERT_TRUE(status) << status.error().message();
      if (HasFailure()) FAIL() << "after life " << life;
    }
    const base::Status status = run.finish();
    ASSERT_TRUE(status) << status.error().message();
  }
}

// The power is cut at every so many changes of the disk.
TEST_P(Stores, LoseNothingThatWasCommittedWhereverThePowerIsCut) {
  env::Random cuts(9);
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE(seed);
    env::FaultyFileSystem files(seed);
    StoreWork run(files, GetParam(), seed);
    ASSERT_TRUE(run.open());
    ASSERT_TRUE(run.commit());
    for (int life = 0; life < 4; ++life) {
      files.cut_power_after(cuts.below(60));
      base::Status status;
      for (int i = 0; i < 3000 && status && !files.power_is_off(); ++i) status = run.step();
      run.lose();
      files.crash(&cuts);
      files.disk().restart();
      status = run.open();
      ASSERT_TRUE(status) << status.error().message();
      status = run.check_all_there();
      ASSERT_TRUE(status) << status.error().message();
      if (HasFailure()) FAIL() << "after life " << life;
    }
  }
}

TEST(Store, ComesBackWithASmallerPool) {
  env::MemoryFileSystem files;
  StoreOptions options;
  options.layout = TimeLayout::uniform(Duration::minutes(1), 100).value();
  options.body_bytes_max = 1000;
  auto store = Store::open(files, "/store", options, "", kStart).value();
  for (int n = 0; n < 500; ++n) {
    ASSERT_TRUE(store->add({}, 0, std::string(100, 'x'), kStart + Duration::minutes(n % 50)));
  }
  EXPECT_FALSE(store->add({}, 0, std::string(1001, 'x'), kStart));
  store->request_checkpoint();
  const std::string position = store->commit().value();
  EXPECT_EQ(store->counts().flushes, 0U);
  options.pool_bytes = 4096;
  store = Store::open(files, "/store", options, position, kStart).value();
  EXPECT_GT(store->counts().flushes, 0U);
  std::size_t found = 0;
  for (;;) {
    const auto due = store->next_due(kStart + Duration::hours(1)).value();
    if (!due) break;
    EXPECT_EQ(due->record.body, std::string(100, 'x'));
    ASSERT_TRUE(store->remove(due->record.seq));
    ++found;
  }
  EXPECT_EQ(found, 500U);
}

std::string name_of(const testing::TestParamInfo<StoreKind>& kind) { return kind.param.name; }
INSTANTIATE_TEST_SUITE_P(Kinds, Stores, testing::ValuesIn(kStoreKinds), name_of);
INSTANTIATE_TEST_SUITE_P(Kinds, LongStores, testing::ValuesIn(kStoreKinds), name_of);

}  // namespace
}  // namespace meguri::sat
