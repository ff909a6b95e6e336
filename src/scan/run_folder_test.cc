#include "scan/run_folder.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/testing.h"
#include "env/crash_points.h"
#include "env/faulty_file_system.h"
#include "env/memory_file_system.h"
#include "env/random.h"

namespace meguri::scan {
namespace {

using base::ErrorCode;

constexpr std::string_view kPath = "/out/x.scan";
constexpr std::string_view kDescription = R"({"what":"all"})";
constexpr std::string_view kFront = "front:";
constexpr std::uint64_t kDocuments = 14;
constexpr std::uint64_t kBetweenCommits = 3;

std::string path(std::string_view name = "") { return std::string(kPath) + std::string(name); }

// Documents come to their end in another order than that of their numbers.
std::uint64_t number_of(std::uint64_t step) { return step * 5 % kDocuments; }
bool is_skipped(std::uint64_t number) { return number % 4 == 3; }
std::string result_of(std::uint64_t number) {
  // One is larger than what is held back until a commit; one is empty.
  const std::size_t size = number == 6 ? 300'000 : number * 3;
  return number == 0 ? "" : fmt::format("<{}{}>", number, std::string(size, 'r'));
}
std::string line_of(std::uint64_t number) { return fmt::format(R"({{"number":{}}})", number); }

// What the files hold after the first `steps`.
struct Contents {
  std::string results;
  std::string skipped;
  RunCounts counts;
};
Contents contents_of(std::uint64_t steps) {
  Contents contents;
  contents.results = kFront;
  for (std::uint64_t step = 0; step < steps; ++step) {
    const std::uint64_t number = number_of(step);
    if (is_skipped(number)) {
      contents.skipped += line_of(number) + "\n";
      ++contents.counts.skipped;
    } else {
      contents.results += result_of(number);
      ++contents.counts.results;
    }
  }
  return contents;
}

base::Status add(RunFolder& run, std::uint64_t number) {
  return is_skipped(number) ? run.add_skipped(number, line_of(number))
                            : run.add_result(number, env::SpooledBytes(result_of(number)));
}

// Does steps up to `end`, with commits. `acknowledged` is how many survive a crash by now.
base::Status go_on(RunFolder& run, std::uint64_t end, std::uint64_t* acknowledged) {
  for (std::uint64_t step = run.done().size(); step < end; ++step) {
    RETURN_IF_ERROR(add(run, number_of(step)));
    if ((step + 1) % kBetweenCommits != 0) continue;
    RETURN_IF_ERROR(run.commit());
    *acknowledged = step + 1;
  }
  return {};
}

base::Status go_to_end(RunFolder& run, std::uint64_t* acknowledged) {
  RETURN_IF_ERROR(go_on(run, kDocuments, acknowledged));
  RETURN_IF_ERROR(run.commit());
  *acknowledged = kDocuments;
  return {};
}

// A new run, up to begin().
base::Result<std::unique_ptr<RunFolder>> start(env::FileSystem& fs) {
  RETURN_IF_ERROR(fs.make_dirs("/out"));
  ASSIGN_OR_RETURN(auto run, RunFolder::create(fs, path(), kDescription));
  RETURN_IF_ERROR(env::write_file_atomically(fs, run->list_path(), "the list"));
  RETURN_IF_ERROR(run->begin(kDocuments, kFront));
  return run;
}

// The folder holds the first `steps`, and nothing else.
void check_contents(env::FileSystem& fs, const RunFolder& run, std::uint64_t steps) {
  const Contents contents = contents_of(steps);
  EXPECT_EQ(run.description(), kDescription);
  EXPECT_EQ(run.documents(), kDocuments);
  EXPECT_EQ(run.counts(), contents.counts);
  EXPECT_EQ(run.result_bytes(), contents.results.size());
  EXPECT_EQ(run.done().size(), steps);
  for (std::uint64_t step = 0; step < kDocuments; ++step) {
    EXPECT_EQ(run.done().contains(number_of(step)), step < steps) << step;
  }
  EXPECT_TRUE(env::read_file(fs, run.results_path()).value() == contents.results);
  EXPECT_EQ(env::read_file(fs, run.skipped_path()).value(), contents.skipped);
  EXPECT_EQ(env::read_file(fs, run.list_path()).value(), "the list");
}

// After a crash: at least what was acknowledged is there, whole commits only; and the rest can be
// done.
void check_and_end(env::FileSystem& fs, std::uint64_t acknowledged) {
  {
    const auto run = RunFolder::open(fs, path()).value();
    const std::uint64_t steps = run->done().size();
    EXPECT_GE(steps, acknowledged);
    EXPECT_TRUE(steps % kBetweenCommits == 0 || steps == kDocuments) << steps;
    check_contents(fs, *run, steps);
    std::uint64_t ignored = 0;
    ASSERT_TRUE(go_to_end(*run, &ignored));
    check_contents(fs, *run, kDocuments);
  }
  check_contents(fs, *RunFolder::open(fs, path()).value(), kDocuments);
}

TEST(DoneSet, IsASet) {
  env::Random random(1);
  DoneSet done;
  std::set<std::uint64_t> model;
  for (int i = 0; i < 3000; ++i) {
    const std::uint64_t number = random.below(2000);
    EXPECT_EQ(done.contains(number), model.contains(number));
    done.add(number);
    model.insert(number);
    EXPECT_EQ(done.size(), model.size());
  }
  EXPECT_FALSE(done.contains(1'000'000'000'000));
}

// The worked bytes of docs/formats/scan-run.md.
TEST(RunFolder, WritesTheDocumentedBytes) {
  env::MemoryFileSystem fs;
  const auto run = RunFolder::create(fs, path(), kDescription).value();
  ASSERT_TRUE(run->begin(3, "front"));
  ASSERT_TRUE(run->add_result(2, env::SpooledBytes(std::string("two\n"))));
  ASSERT_TRUE(run->add_result(0, env::SpooledBytes(std::string("no\n"))));
  ASSERT_TRUE(run->commit());
  EXPECT_EQ(base::hex_of(env::read_file(fs, path("/journal")).value()),
            "4d47534a"
            "00000000"
            "0300000000000000"
            "0000000000000000"
            "1c24ea15242afa52"
            "083a69f8ab89f9ff"
            "010305"
            "4d47534a"
            "02000000"
            "0700000000000000"
            "0100000000000000"
            "c7f6cd7c65b00735"
            "1483ac78bf805d04"
            "000c000200"
            "0002");
}

TEST(RunFolder, GoesOnWhereItWasCommitted) {
  env::MemoryFileSystem fs;
  std::uint64_t acknowledged = 0;
  {
    const auto run = start(fs).value();
    EXPECT_EQ(run->documents(), kDocuments);
    ASSERT_TRUE(go_on(*run, 8, &acknowledged));
    EXPECT_EQ(acknowledged, 6U);
    EXPECT_EQ(run->done().size(), 8U);
  }
  check_and_end(fs, acknowledged);
}

TEST(RunFolder, SurvivesACrashAtEveryChange) {
  bool is_begun = false;
  std::uint64_t acknowledged = 0;
  const std::uint64_t changes = env::for_each_crash_point(
      {},
      [&](env::FaultyFileSystem&) {
        is_begun = false;
        acknowledged = 0;
      },
      [&](env::FaultyFileSystem& fs) {
        const auto run = start(fs);
        is_begun = run.has_value();
        if (is_begun) std::ignore = go_to_end(**run, &acknowledged);
      },
      [&](env::FaultyFileSystem& fs, env::CrashPoint point) {
        SCOPED_TRACE(fmt::format("change {}, outcome {}", point.change, point.outcome));
        if (!is_begun) {
          const auto run = RunFolder::open(fs, path());
          if (!run) {
            EXPECT_EQ(run.error().code(), ErrorCode::kNotFound);
            ASSERT_TRUE(start(fs));
          }
        }
        check_and_end(fs, acknowledged);
      });
  EXPECT_GT(changes, 20U);
}

TEST(RunFolder, SurvivesACrashAtEveryChangeOfARunThatGoesOn) {
  std::uint64_t acknowledged = 0;
  const std::uint64_t changes = env::for_each_crash_point(
      {.seed = 2},
      [&](env::FaultyFileSystem& fs) {
        acknowledged = 0;
        // The large result lies behind the last commit.
        ASSERT_TRUE(go_on(*start(fs).value(), 5, &acknowledged));
        ASSERT_GT(fs.size(path("/results")).value(), 300'000U);
        fs.restart();
      },
      [&](env::FaultyFileSystem& fs) {
        const auto run = RunFolder::open(fs, path());
        if (run) std::ignore = go_to_end(**run, &acknowledged);
      },
      [&](env::FaultyFileSystem& fs, env::CrashPoint point) {
        SCOPED_TRACE(fmt::format("change {}, outcome {}", point.change, point.outcome));
        check_and_end(fs, acknowledged);
      });
  EXPECT_GT(changes, 10U);
}

TEST(RunFolder, IsThereOrNotAfterACrashWhileItIsRemoved) {
  bool is_removed = false;
  env::for_each_crash_point(
      {.seed = 3},
      [&](env::FaultyFileSystem& fs) {
        is_removed = false;
        std::uint64_t ignored = 0;
        ASSERT_TRUE(go_to_end(*start(fs).value(), &ignored));
      },
      [&](env::FaultyFileSystem& fs) { is_removed = RunFolder::remove(fs, path()).has_value(); },
      [&](env::FaultyFileSystem& fs, env::CrashPoint point) {
        SCOPED_TRACE(fmt::format("change {}, outcome {}", point.change, point.outcome));
        {
          const auto run = RunFolder::open(fs, path());
          if (run) {
            EXPECT_FALSE(is_removed);
            check_contents(fs, **run, kDocuments);
            return;
          }
          EXPECT_EQ(run.error().code(), ErrorCode::kNotFound);
        }
        EXPECT_TRUE(fs.list(path()).value().empty());
        EXPECT_TRUE(start(fs));
      });
}

// As a caller ends a run, whatever of it was done before.
base::Status finish(env::FileSystem& fs, RunFolder& run) {
  RETURN_IF_ERROR(run.end());
  for (const auto& [from, to] : {std::pair(run.skipped_path(), std::string("/out/skipped")),
                                 std::pair(run.results_path(), std::string("/out/results"))}) {
    if (fs.exists(from).value_or(false)) RETURN_IF_ERROR(fs.rename(from, to));
  }
  RETURN_IF_ERROR(fs.sync_dir("/out"));
  run.close();
  return RunFolder::remove(fs, path());
}

TEST(RunFolder, ARunThatHasEndedIsFinishedOnceAfterAnyCrash) {
  bool has_ended = false;
  env::for_each_crash_point(
      {.seed = 4},
      [&](env::FaultyFileSystem& fs) {
        has_ended = false;
        std::uint64_t ignored = 0;
        ASSERT_TRUE(go_on(*start(fs).value(), kDocuments, &ignored));
      },
      [&](env::FaultyFileSystem& fs) {
        const auto run = RunFolder::open(fs, path());
        std::uint64_t ignored = 0;
        if (!run || !go_on(**run, kDocuments, &ignored) || !(*run)->end()) return;
        has_ended = true;
        std::ignore = finish(fs, **run);
      },
      [&](env::FaultyFileSystem& fs, env::CrashPoint point) {
        SCOPED_TRACE(fmt::format("change {}, outcome {}", point.change, point.outcome));
        const auto run = RunFolder::open(fs, path());
        if (run) {
          EXPECT_TRUE(!has_ended || (*run)->has_ended());
          std::uint64_t ignored = 0;
          if (!(*run)->has_ended()) {
            ASSERT_TRUE(go_on(**run, kDocuments, &ignored));
          }
          EXPECT_EQ((*run)->done().size(), kDocuments);
          ASSERT_TRUE(finish(fs, **run));
        } else {
          EXPECT_EQ(run.error().code(), ErrorCode::kNotFound);
        }
        const Contents contents = contents_of(kDocuments);
        EXPECT_TRUE(env::read_file(fs, "/out/results").value() == contents.results);
        EXPECT_EQ(env::read_file(fs, "/out/skipped").value(), contents.skipped);
        EXPECT_TRUE(fs.list(path()).value().empty());
      });
}

TEST(RunFolder, DamageOfTheJournalCountsNothingTwice) {
  env::MemoryFileSystem fs;
  std::uint64_t acknowledged = 0;
  ASSERT_TRUE(go_on(*start(fs).value(), 9, &acknowledged));
  const std::string journal = env::read_file(fs, path("/journal")).value();
  const std::string results = env::read_file(fs, path("/results")).value();
  const std::string skipped = env::read_file(fs, path("/skipped.jsonl")).value();
  for (std::size_t byte = 0; byte < journal.size(); ++byte) {
    SCOPED_TRACE(byte);
    std::string damaged = journal;
    damaged[byte] = static_cast<char>(damaged[byte] ^ 0x10);
    ASSERT_TRUE(env::write_file_atomically(fs, path("/journal"), damaged));
    ASSERT_TRUE(env::write_file_atomically(fs, path("/results"), results));
    ASSERT_TRUE(env::write_file_atomically(fs, path("/skipped.jsonl"), skipped));
    const auto run = RunFolder::open(fs, path());
    if (!run) {
      EXPECT_EQ(run.error().code(), ErrorCode::kCorrupt);
      continue;
    }
    EXPECT_LT((*run)->done().size(), acknowledged);
    check_contents(fs, **run, (*run)->done().size());
  }
}

TEST(RunFolder, ResultsThatAreMissingAreTold) {
  env::MemoryFileSystem fs;
  std::uint64_t ignored = 0;
  ASSERT_TRUE(go_to_end(*start(fs).value(), &ignored));
  ASSERT_TRUE(fs.truncate(path("/results"), 100));
  EXPECT_EQ(RunFolder::open(fs, path()).error().code(), ErrorCode::kCorrupt);
}

TEST(RunFolder, TwoAreNeverAtOne) {
  env::MemoryFileSystem fs;
  auto run = start(fs).value();
  EXPECT_EQ(RunFolder::open(fs, path()).error().code(), ErrorCode::kBusy);
  EXPECT_EQ(RunFolder::create(fs, path(), kDescription).error().code(), ErrorCode::kBusy);
  run.reset();
  run = RunFolder::open(fs, path()).value();
  EXPECT_EQ(RunFolder::open(fs, path()).error().code(), ErrorCode::kBusy);
}

TEST(RunFolder, ARunThatWasBegunIsNotReplaced) {
  env::MemoryFileSystem fs;
  {
    const auto run = start(fs).value();
  }
  EXPECT_EQ(RunFolder::create(fs, path(), kDescription).error().code(), ErrorCode::kExists);
  check_and_end(fs, 0);
}

TEST(RunFolder, ARunThatWasNeverBegunIsNone) {
  env::MemoryFileSystem fs;
  EXPECT_EQ(RunFolder::open(fs, path()).error().code(), ErrorCode::kNotFound);
  ASSERT_TRUE(fs.make_dirs("/out"));
  {
    const auto run = RunFolder::create(fs, path(), "old").value();
    ASSERT_TRUE(env::write_file_atomically(fs, run->list_path(), "old"));
    EXPECT_EQ(run->result_bytes(), 0U);
  }
  EXPECT_EQ(RunFolder::open(fs, path()).error().code(), ErrorCode::kNotFound);
  EXPECT_TRUE(fs.list(path()).value().empty());
  {
    const auto run = RunFolder::create(fs, path(), "old").value();
  }
  {
    const auto run = start(fs).value();
  }  // in its place
  check_and_end(fs, 0);
}

TEST(RunFolder, FilesOfOthersAreLeftAlone) {
  env::MemoryFileSystem fs;
  ASSERT_TRUE(fs.make_dirs(path()));
  ASSERT_TRUE(env::write_file_atomically(fs, path("/results"), "mine"));
  ASSERT_TRUE(env::write_file_atomically(fs, path("/thesis.tex"), "mine"));
  EXPECT_EQ(RunFolder::create(fs, path(), kDescription).error().code(), ErrorCode::kExists);
  EXPECT_EQ(RunFolder::open(fs, path()).error().code(), ErrorCode::kNotFound);
  EXPECT_EQ(fs.list(path()).value(), (std::vector<std::string>{"results", "thesis.tex"}));
}

TEST(RunFolder, ATemporaryFileThatACrashLeftIsNoStranger) {
  env::MemoryFileSystem fs;
  {
    const auto run = start(fs).value();
  }
  ASSERT_TRUE(env::write_file_atomically(fs, path("/meguri-a1b2c3"), ""));
  check_and_end(fs, 0);
  ASSERT_TRUE(RunFolder::remove(fs, path()));
  EXPECT_TRUE(fs.list(path()).value().empty());
}

TEST(RunFolder, AfterAFailureItHasToBeOpenedAgain) {
  env::FaultyFileSystem fs;
  std::uint64_t acknowledged = 0;
  {
    const auto run = start(fs).value();
    ASSERT_TRUE(go_on(*run, 5, &acknowledged));
    fs.fail_change_after(0, ErrorCode::kNoSpace);
    EXPECT_EQ(run->commit().error().code(), ErrorCode::kNoSpace);
    EXPECT_EQ(run->commit().error().code(), ErrorCode::kNoSpace);
    EXPECT_EQ(add(*run, number_of(5)).error().code(), ErrorCode::kNoSpace);
  }
  check_and_end(fs, acknowledged);
}

TEST(RunFolder, OfNothingIsDoneAtOnce) {
  env::MemoryFileSystem fs;
  ASSERT_TRUE(fs.make_dirs("/out"));
  {
    const auto run = RunFolder::create(fs, path(), kDescription).value();
    ASSERT_TRUE(env::write_file_atomically(fs, run->list_path(), "the list"));
    ASSERT_TRUE(run->begin(0));
    ASSERT_TRUE(run->commit());
  }
  const auto run = RunFolder::open(fs, path()).value();
  EXPECT_EQ(run->documents(), 0U);
  EXPECT_EQ(run->counts(), RunCounts());
}

}  // namespace
}  // namespace meguri::scan
