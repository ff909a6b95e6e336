#include "sat/known_ids.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>

#include "env/faulty_file_system.h"
#include "env/memory_file_system.h"
#include "env/random.h"
#include "sat/known_ids_testing.h"

namespace meguri::sat {
namespace {

using base::Id;

TEST(KnownIds, KnowWhatWasAddedAndNothingElse) {
  env::MemoryFileSystem files;
  const auto known = open_at(files, "");
  for (Seq i = 0; i < 1000; ++i) ASSERT_TRUE(known->add(id_of(i), i));
  for (Seq i = 0; i < 1000; ++i) {
    ASSERT_EQ(seq_of(*known, id_of(i)), i);
    ASSERT_EQ(known->find(id_of(i)).value(), i);
  }
  for (Seq i = 1000; i < 3000; ++i) {
    ASSERT_EQ(seq_of(*known, id_of(i)), std::nullopt);
    ASSERT_EQ(known->find(id_of(i)).value(), std::nullopt);
  }
  EXPECT_GT(known->counts().merges, 0U);
}

TEST(KnownIds, TellApartIdsThatDifferInOneHalfOnly) {
  env::MemoryFileSystem files;
  const auto known = open_at(files, "");
  for (std::uint64_t i = 0; i < 100; ++i) {
    ASSERT_TRUE(known->add({7, 2 * i}, static_cast<Seq>(i)));
    ASSERT_TRUE(known->add({2 * i, 7}, static_cast<Seq>(1000 + i)));
  }
  for (std::uint64_t i = 0; i < 100; ++i) {
    ASSERT_EQ(seq_of(*known, {7, 2 * i}), i);
    ASSERT_EQ(seq_of(*known, {7, 2 * i + 1}), std::nullopt);
    ASSERT_EQ(seq_of(*known, {2 * i, 7}), 1000 + i);
    ASSERT_EQ(seq_of(*known, {2 * i + 1, 7}), std::nullopt);
  }
}

TEST(KnownIds, ForgetWhatWasRemovedAlsoFromOldRuns) {
  env::MemoryFileSystem files;
  auto known = open_at(files, "");
  for (Seq i = 0; i < 200; ++i) ASSERT_TRUE(known->add(id_of(i), i));
  for (Seq i = 0; i < 200; i += 2) ASSERT_TRUE(known->remove(id_of(i)));
  for (Seq i = 0; i < 200; ++i) {
    ASSERT_EQ(seq_of(*known, id_of(i)), i % 2 == 0 ? std::nullopt : std::optional(i));
  }
  for (Seq i = 0; i < 200; i += 4) ASSERT_TRUE(known->add(id_of(i), 1000 + i));
  const std::string position = known->commit().value();
  known.reset();
  known = open_at(files, position);
  for (Seq i = 0; i < 200; ++i) {
    const std::optional<Seq> expected = i % 2 == 1   ? std::optional(i)
                                        : i % 4 == 0 ? std::optional(1000 + i)
                                                     : std::nullopt;
    ASSERT_EQ(seq_of(*known, id_of(i)), expected) << i;
  }
}

TEST(KnownIds, GiveAnswersThatAreRightWhenTheyAreGiven) {
  env::MemoryFileSystem files;
  KnownIdsOptions options = small();
  options.filter_bits = 1;  // which decides little
  const auto known = open_at(files, "", options);
  for (Seq i = 0; i < 200; ++i) ASSERT_TRUE(known->add(id_of(i), i));
  // The same new id twice: added after the first answer, it is known at the second.
  Id id;
  std::uint64_t i = 1000;
  do {
    id = id_of(++i);
  } while (known->ask(id, 1));
  ASSERT_FALSE(known->ask(id, 2));
  known->settle();
  const auto first = known->next_answer().value();
  ASSERT_TRUE(first);
  EXPECT_FALSE(first->is_known);
  ASSERT_TRUE(known->add(id, 500));
  const auto second = known->next_answer().value();
  ASSERT_TRUE(second);
  EXPECT_TRUE(second->is_known);
  EXPECT_EQ(second->seq, 500U);
  EXPECT_NE(first->tag, second->tag);
  EXPECT_FALSE(known->next_answer().value());
  // And one that is removed between.
  for (Seq n = 5000; n < 5200; ++n) ASSERT_TRUE(known->add(id_of(n), n));
  ASSERT_FALSE(known->ask(id_of(3), 1));
  ASSERT_FALSE(known->ask(id_of(3), 2));
  known->settle();
  EXPECT_TRUE(known->next_answer().value()->is_known);
  ASSERT_TRUE(known->remove(id_of(3)));
  EXPECT_FALSE(known->next_answer().value()->is_known);
}

TEST(KnownIds, SieveWhenABatchHasCome) {
  env::MemoryFileSystem files;
  const auto known = open_at(files, "");
  for (Seq i = 0; i < 1000; ++i) ASSERT_TRUE(known->add(id_of(i), i));
  std::map<std::uint64_t, Seq> answers;
  Seq i = 0;
  while (!known->has_full_batch()) {
    EXPECT_FALSE(known->next_answer().value());
    const auto answer = known->ask(id_of(i), i);
    if (answer) answers[answer->tag] = answer->seq;
    ++i;
  }
  while (const auto answer = known->next_answer().value()) {
    EXPECT_TRUE(answer->is_known);
    answers[answer->tag] = answer->seq;
  }
  EXPECT_EQ(answers.size(), i);
  for (const auto& [tag, seq] : answers) EXPECT_EQ(tag, seq);
  EXPECT_EQ(known->counts().sieves, 1U);
}

TEST(KnownIds, WithoutTheSieveLoseAFewNewIdsAndNoKnownOne) {
  env::MemoryFileSystem files;
  KnownIdsOptions options = small();
  options.is_exact = false;
  options.filter_bits = 16;
  options.block_ids = 100;
  options.fresh_min = 500;
  const auto known = open_at(files, "", options);
  for (Seq i = 0; i < 20'000; ++i) ASSERT_TRUE(known->add(id_of(i), i));
  for (Seq i = 0; i < 20'000; ++i) ASSERT_TRUE(known->ask(id_of(i), i)->is_known);
  int lost = 0;
  for (Seq i = 20'000; i < 40'000; ++i) lost += known->ask(id_of(i), i)->is_known ? 1 : 0;
  EXPECT_GT(lost, 0);
  EXPECT_LT(lost, 300);
  EXPECT_EQ(known->counts().waited, 0U);
}

TEST(KnownIds, TakeTwoAndAHalfBytesForEachIdBesidesTheCache) {
  env::MemoryFileSystem files;
  KnownIdsOptions options;
  options.cache_bytes = std::size_t{1} << 20U;
  const auto known = open_at(files, "", options);
  constexpr Seq kIds = 2'000'000;
  double worst = 0;
  env::Random random(1);
  for (Seq i = 0; i < kIds; ++i) {
    ASSERT_TRUE(known->add(id_of(i), i));
    if (i % 1000 == 0 && i > kIds * 3 / 4) {
      // With the whole of a batch waiting.
      while (!known->has_full_batch()) known->ask(id_of(random.below(i)), 0);
      const double bytes = static_cast<double>(known->memory().besides_cache());
      worst = std::max(worst, bytes / i);
      if (i % 100'000 == 0) {
        while (known->next_answer().value()) {
        }
      }
    }
  }
  EXPECT_LE(worst, 2.5);
  EXPECT_GE(worst, 1);
  EXPECT_LE(known->memory().cache, std::size_t{1} << 20U);
}

TEST(KnownIds, CanBeTriedAgainWhenAReadFailed) {
  env::FaultyFileSystem files;
  const auto known = open_at(files, "");
  for (Seq i = 0; i < 1000; ++i) ASSERT_TRUE(known->add(id_of(i), i));
  std::uint64_t waiting = 0;
  for (Seq i = 0; i < 500; ++i) waiting += known->ask(id_of(i), i) ? 0 : 1;
  known->settle();
  for (const std::uint64_t reads : {0U, 0U, 1U}) {
    files.fail_read_after(reads, base::ErrorCode::kIo);
    const auto answer = known->next_answer();
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error().code(), base::ErrorCode::kIo);
  }
  for (; waiting > 0; --waiting) {
    const auto answer = known->next_answer().value();
    ASSERT_TRUE(answer);
    EXPECT_TRUE(answer->is_known);
    EXPECT_EQ(answer->seq, answer->tag);
  }
  EXPECT_FALSE(known->next_answer().value());
}

TEST(KnownIds, ComeBackAtThePositionBeforeTheLast) {
  env::MemoryFileSystem files;
  auto known = open_at(files, "");
  std::string before;
  std::string last;
  for (Seq i = 0; i < 400; ++i) {
    ASSERT_TRUE(known->add(id_of(i), i));
    if (i == 199) {
      before = known->commit().value();
      ASSERT_TRUE(known->on_durable());
    }
  }
  last = known->commit().value();
  EXPECT_NE(before, last);
  known.reset();
  known = open_at(files, before);
  for (Seq i = 0; i < 400; ++i) {
    ASSERT_EQ(seq_of(*known, id_of(i)), i < 200 ? std::optional(i) : std::nullopt);
  }
}

TEST(KnownIds, LeaveNoFilesThatNobodyNeeds) {
  env::MemoryFileSystem files;
  const auto known = open_at(files, "");
  for (Seq i = 0; i < 5000; ++i) {
    ASSERT_TRUE(known->add(id_of(i), i));
    if (i % 50 != 49) continue;
    ASSERT_TRUE(known->commit());
    ASSERT_TRUE(known->on_durable());
    // A manifest, a log, the runs, and one that is being written.
    ASSERT_LE(files.list(kDir).value().size(), known->counts().runs + 3);
  }
  EXPECT_LT(files.used(), 5000 * (20 + 8 + 3) * 2);
}

}  // namespace
}  // namespace meguri::sat
