#include "sat/id_run.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "env/memory_file_system.h"
#include "env/random.h"
#include "sat/id_merge.h"

namespace meguri::sat {
namespace {

using base::Id;

class IdRuns : public testing::Test {
 protected:
  void SetUp() override { ASSERT_TRUE(files_.make_dirs("/runs")); }

  std::unique_ptr<IdRunWriter> writer(std::uint64_t number, std::uint64_t ids_max,
                                      std::uint32_t block_ids = 7) {
    return IdRunWriter::create(files_, "/runs", number, ids_max, 8, block_ids, traffic_).value();
  }

  std::unique_ptr<IdRun> write(std::uint64_t number, const std::map<Id, Seq>& ids,
                               std::uint32_t block_ids = 7) {
    const auto run = writer(number, ids.size(), block_ids);
    for (const auto& [id, seq] : ids) EXPECT_TRUE(run->add({id, seq}));
    return run->finish().value();
  }

  static std::map<Id, Seq> draw(env::Random& random, std::size_t count, std::uint64_t bound) {
    std::map<Id, Seq> ids;
    while (ids.size() < count) {
      ids[{random.below(bound), random.below(bound)}] = static_cast<Seq>(random.below(1000));
    }
    return ids;
  }

  static std::map<Id, Seq> read(const IdRun& run) {
    std::map<Id, Seq> ids;
    IdRunCursor cursor(run);
    while (cursor.next().value()) {
      EXPECT_TRUE(ids.empty() || std::prev(ids.end())->first < cursor.now().id);
      ids[cursor.now().id] = cursor.now().seq;
    }
    return ids;
  }

  env::MemoryFileSystem files_;
  IdTraffic traffic_;
};

// Ids in a grid, so that many have the same half, across the borders of blocks too.
TEST_F(IdRuns, FindWhatWasWrittenAndNothingElse) {
  env::Random random(1);
  for (const std::uint32_t block_ids : {1U, 2U, 7U, 100U, 5000U}) {
    SCOPED_TRACE(block_ids);
    const auto ids = draw(random, 1000, 60);
    auto run = write(block_ids, ids, block_ids);
    const RunMark mark = run->mark();
    EXPECT_EQ(mark.ids, ids.size());
    for (int opened = 0; opened < 2; ++opened) {
      EXPECT_EQ(read(*run), ids);
      std::vector<Lookup> lookups;
      for (std::uint64_t i = 0; i < 61 * 61; ++i) {
        const Id id{i / 61, i % 61};
        const auto found = ids.find(id);
        const auto expected = found == ids.end() ? std::nullopt : std::optional<Seq>(found->second);
        ASSERT_EQ(run->find(id).value(), expected);
        // Some twice, some not at all.
        for (auto times = random.below(3); times > 0; --times) lookups.push_back({id});
      }
      LookupScratch scratch;
      ASSERT_TRUE(run->look_up(lookups, scratch));
      for (const Lookup& lookup : lookups) {
        const auto found = ids.find(lookup.id);
        ASSERT_EQ(lookup.is_found, found != ids.end());
        if (lookup.is_found) {
          ASSERT_EQ(lookup.seq, found->second);
        }
      }
      ASSERT_TRUE(run->sync());
      run = IdRun::open(files_, "/runs", mark, traffic_).value();
    }
  }
}

TEST_F(IdRuns, AreNotLookedThroughForWhatWasFoundBefore) {
  const auto run = write(1, {{{1, 1}, 10}, {{2, 2}, 20}});
  std::vector<Lookup> lookups = {{{1, 1}, 5, true}, {{2, 2}}};
  LookupScratch scratch;
  ASSERT_TRUE(run->look_up(lookups, scratch));
  EXPECT_EQ(lookups[0].seq, 5U);
  EXPECT_EQ(lookups[1].seq, 20U);
}

TEST_F(IdRuns, AreReadOnlyWhereSomethingMayBe) {
  env::Random random(2);
  const auto run = write(1, draw(random, 50'000, ~std::uint64_t{0}), 100);
  std::vector<Lookup> lookups = {{{random.next(), 1}}, {{random.next(), 2}}, {{random.next(), 3}}};
  std::ranges::sort(lookups, {}, &Lookup::id);
  LookupScratch scratch;
  const std::uint64_t before = traffic_.read_bytes;
  ASSERT_TRUE(run->look_up(lookups, scratch));
  EXPECT_LE(traffic_.read_bytes - before, 3U * (100 * 20 + 40));
}

TEST_F(IdRuns, ThatAreNotWhatTheirMarkSaysAreDamaged) {
  env::Random random(3);
  const auto run = write(1, draw(random, 100, 1000));
  const auto open = [&](auto change) {
    RunMark mark = run->mark();
    change(mark);
    return IdRun::open(files_, "/runs", mark, traffic_);
  };
  ASSERT_TRUE(open([](RunMark&) {}));
  for (const auto& opened :
       {open([](RunMark& mark) { ++mark.size; }), open([](RunMark& mark) { --mark.ids; }),
        open([](RunMark& mark) { ++mark.ids; }), open([](RunMark& mark) { ++mark.block_ids; }),
        open([](RunMark& mark) { mark.block_ids = 1; })}) {
    ASSERT_FALSE(opened);
    EXPECT_EQ(opened.error().code(), base::ErrorCode::kCorrupt);
  }
  ASSERT_TRUE(files_.rename("/runs/0000000000000001.ids", "/runs/0000000000000002.ids"));
  const auto other = open([](RunMark& mark) { mark.number = 2; });
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().code(), base::ErrorCode::kCorrupt);
}

TEST_F(IdRuns, MergeSoThatTheYoungestCounts) {
  env::Random random(4);
  for (std::uint64_t round = 0; round < 40; ++round) {
    SCOPED_TRACE(round);
    std::vector<std::unique_ptr<IdRun>> runs;
    std::vector<const IdRun*> inputs;
    std::map<Id, Seq> expected;
    for (std::uint64_t i = 0; i <= random.below(5); ++i) {
      auto ids = draw(random, 1 + random.below(60), 12);
      for (auto& [id, seq] : ids) {
        if (random.below(4) == 0) seq = kRemovedSeq;
        expected[id] = seq;
      }
      runs.push_back(write(100 * round + i, ids, static_cast<std::uint32_t>(1 + random.below(9))));
      inputs.push_back(runs.back().get());
    }
    const bool has_oldest = random.below(2) == 0;
    if (has_oldest)
      std::erase_if(expected, [](const auto& id) { return id.second == kRemovedSeq; });
    const auto merge =
        IdMerge::begin(inputs, has_oldest, writer(100 * round + 99, expected.size())).value();
    while (!merge->step(random.below(20)).value()) {
    }
    EXPECT_EQ(read(*merge->finish().value()), expected);
  }
}

}  // namespace
}  // namespace meguri::sat
