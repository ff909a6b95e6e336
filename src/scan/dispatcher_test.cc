#include "scan/dispatcher.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "scan/sinks.h"
#include "scan/workers_testing.h"

namespace meguri::scan {
namespace {

using base::ErrorCode;

// A record of so many bytes, which may stop coming at some place.
class PlayedRecord final : public RecordBytes {
 public:
  PlayedRecord(std::uint64_t size, std::uint64_t readable) : size_(size), readable_(readable) {}
  std::uint64_t size() const override { return size_; }
  base::Status read(std::size_t length, std::string& out) override {
    read_ += length;
    if (read_ > readable_) return base::fail(ErrorCode::kCorrupt, "the file ends before it");
    out.append(length, 'x');
    return {};
  }

 private:
  const std::uint64_t size_;
  const std::uint64_t readable_;
  std::uint64_t read_ = 0;
};

struct PlayedDocuments {
  std::vector<std::uint64_t> sizes;
  std::set<std::uint64_t> missing = {};  // cannot be opened
  std::set<std::uint64_t> broken = {};   // cannot be read to their end
};

class PlayedFeed final : public DocumentFeed {
 public:
  PlayedFeed(PlayedDocuments documents, std::size_t parts)
      : documents_(std::move(documents)), next_(parts), ends_(parts) {
    for (std::size_t i = 0; i < parts; ++i) {
      next_[i] = documents_.sizes.size() * i / parts;
      ends_[i] = documents_.sizes.size() * (i + 1) / parts;
    }
  }
  base::Result<std::optional<DocumentPointer>> next(std::size_t part) override {
    if (next_[part] == ends_[part]) return std::nullopt;
    DocumentPointer pointer;
    pointer.facts.number = next_[part]++;
    return pointer;
  }
  base::Result<std::shared_ptr<RecordBytes>> open(const DocumentPointer& pointer) override {
    const std::uint64_t number = pointer.facts.number;
    if (documents_.missing.contains(number)) {
      return base::fail(ErrorCode::kCorrupt, "the archive does not have its content");
    }
    const std::uint64_t size = documents_.sizes[number];
    const std::uint64_t readable = documents_.broken.contains(number) ? size / 2 : size;
    return std::make_shared<PlayedRecord>(size, readable);
  }

 private:
  const PlayedDocuments documents_;
  std::vector<std::uint64_t> next_;
  std::vector<std::uint64_t> ends_;
};

// What came, and how often.
class KeptResults final : public DispatchSink {
 public:
  base::Status result(std::uint64_t number, const env::SpooledBytes& result) override {
    EXPECT_TRUE(results.emplace(number, result.read(1000).value()).second) << number;
    EXPECT_FALSE(skips.contains(number)) << number;
    order.push_back(number);
    return {};
  }
  base::Status skipped(const SkippedDocument& document) override {
    const std::uint64_t number = document.pointer.facts.number;
    EXPECT_TRUE(skips.emplace(number, document).second) << number;
    EXPECT_FALSE(results.contains(number)) << number;
    order.push_back(number);
    return {};
  }

  std::map<std::uint64_t, std::string> results;
  std::map<std::uint64_t, SkippedDocument> skips;
  std::vector<std::uint64_t> order;
};

struct Play {
  DispatchSettings settings = {};
  PlayedFaults faults = {};
  PlayedDocuments documents = {};
  bool is_ordered = false;
};

struct Outcome {
  std::string message() const { return status ? std::string() : status.error().message(); }

  base::Status status;
  KeptResults kept;
  DispatchCounts counts;
  std::vector<WorkerRecord> records;
  std::map<std::uint64_t, std::uint64_t> failures;
  std::uint64_t starts = 0;
};

Outcome perform(const Play& play, std::uint64_t seed) {
  Outcome outcome;
  env::VirtualClock clock;
  PlayedWorkers workers(play.settings.workers, play.faults, seed, clock);
  const bool is_static = play.settings.mode == DispatchMode::kStatic;
  PlayedFeed feed(play.documents, is_static ? play.settings.workers : 1);
  env::Spool spool(std::uint64_t{1} << 30U);
  const DoneSet done;
  OrderedSink ordered(outcome.kept, done);
  DispatchSink& sink = play.is_ordered ? static_cast<DispatchSink&>(ordered) : outcome.kept;
  Dispatcher dispatcher(play.settings, workers, feed, sink, clock, spool);
  outcome.status = dispatcher.run([] { return false; });
  outcome.counts = dispatcher.counts();
  outcome.records = dispatcher.records();
  outcome.starts = workers.starts();
  for (std::uint64_t i = 0; i < play.documents.sizes.size(); ++i) {
    outcome.failures[i] = workers.failures_at(i);
  }
  return outcome;
}

Play some_documents(std::size_t count, std::size_t workers) {
  Play play;
  play.settings.workers = workers;
  play.documents.sizes.assign(count, 1000);
  return play;
}

TEST(Dispatcher, EveryDocumentHasItsResult) {
  const Outcome outcome = perform(some_documents(100, 3), 1);
  ASSERT_EQ(outcome.message(), "");
  EXPECT_EQ(outcome.kept.results.size(), 100U);
  EXPECT_EQ(outcome.kept.results.at(7), played_result(7, 1000));
  EXPECT_EQ(outcome.counts.results, 100U);
  EXPECT_EQ(outcome.counts.failures, 0U);
  EXPECT_EQ(outcome.starts, 3U);
}

TEST(Dispatcher, NoDocuments) {
  const Outcome outcome = perform(some_documents(0, 2), 1);
  ASSERT_EQ(outcome.message(), "");
  EXPECT_TRUE(outcome.kept.order.empty());
}

TEST(Dispatcher, LargeAndEmptyDocuments) {
  Play play = some_documents(6, 2);
  play.documents.sizes = {0, 3'000'000, 1, kFrameBytesMax, kFrameBytesMax + 1, 0};
  const Outcome outcome = perform(play, 1);
  ASSERT_EQ(outcome.message(), "");
  for (std::uint64_t i = 0; i < 6; ++i) {
    EXPECT_EQ(outcome.kept.results.at(i), played_result(i, play.documents.sizes[i]));
  }
}

TEST(Dispatcher, PoisonIsSkippedAndOthersAreNot) {
  Play play = some_documents(300, 3);
  play.faults.poison = {5, 6, 100, 299};
  const Outcome outcome = perform(play, 1);
  ASSERT_EQ(outcome.message(), "");
  EXPECT_EQ(outcome.kept.results.size(), 296U);
  ASSERT_EQ(outcome.kept.skips.size(), 4U);
  for (const auto& [number, skip] : outcome.kept.skips) {
    EXPECT_TRUE(play.faults.poison.contains(number));
    EXPECT_EQ(skip.tries, 3U);
    EXPECT_EQ(skip.reason, "it was ended by signal 11 (SIGSEGV)");
    EXPECT_EQ(skip.said, "its last words");
  }
}

TEST(Dispatcher, AHangIsEndedByTheTimeout) {
  Play play = some_documents(20, 2);
  play.faults.hang = 10'000;
  play.settings.hopeless_after = 1000;
  const Outcome outcome = perform(play, 1);
  ASSERT_EQ(outcome.message(), "");
  ASSERT_EQ(outcome.kept.skips.size(), 20U);
  EXPECT_EQ(outcome.kept.skips.begin()->second.reason, "no result came within 1m");
}

TEST(Dispatcher, WhatCannotBeReadIsSkippedAtOnce) {
  Play play = some_documents(50, 2);
  play.documents.missing = {3};
  play.documents.broken = {4, 10};
  play.documents.sizes[10] = 2'000'000;  // after some of it was sent
  play.faults.lost = {7};
  const Outcome outcome = perform(play, 1);
  ASSERT_EQ(outcome.message(), "");
  EXPECT_EQ(outcome.kept.results.size(), 46U);
  EXPECT_EQ(outcome.kept.skips.at(3).reason, "the archive does not have its content");
  EXPECT_EQ(outcome.kept.skips.at(4).reason, "the file ends before it");
  EXPECT_EQ(outcome.kept.skips.at(10).reason, "the file ends before it");
  EXPECT_EQ(outcome.kept.skips.at(7).reason, "the record is damaged");
  EXPECT_EQ(outcome.kept.skips.at(7).tries, 0U);
}

TEST(Dispatcher, WorkersAreRestarted) {
  Play play = some_documents(100, 2);
  play.settings.restart_after = 7;
  const Outcome outcome = perform(play, 1);
  ASSERT_EQ(outcome.message(), "");
  EXPECT_EQ(outcome.kept.results.size(), 100U);
  EXPECT_GE(outcome.starts, 100U / 7);
  EXPECT_GT(outcome.counts.restarts, 10U);
  EXPECT_EQ(outcome.counts.failures, 0U);
}

TEST(Dispatcher, WorkersThatDoNotEndAreEnded) {
  Play play = some_documents(50, 2);
  play.settings.restart_after = 5;
  play.faults.no_end = 10'000;
  const Outcome outcome = perform(play, 1);
  ASSERT_EQ(outcome.message(), "");
  EXPECT_EQ(outcome.kept.results.size(), 50U);
  EXPECT_EQ(outcome.counts.failures, 0U);
}

TEST(Dispatcher, AnAnalyserThatAlwaysFailsEndsTheRun) {
  Play play = some_documents(1000, 2);
  play.faults.crash = 10'000;
  const Outcome outcome = perform(play, 1);
  EXPECT_EQ(outcome.message(),
            "the analyser failed at each of the first 20 documents: it was ended by signal 11 "
            "(SIGSEGV); it said: its last words");
}

TEST(Dispatcher, WorkersThatCannotStartEndTheRun) {
  Play play = some_documents(10, 2);
  play.faults.bad_start = 10'000;
  const Outcome outcome = perform(play, 1);
  EXPECT_EQ(outcome.message(),
            "no worker can be started: it ended with exit status 1; it said: its last words");
}

TEST(Dispatcher, OrderedResultsAreInOrder) {
  Play play = some_documents(500, 4);
  play.is_ordered = true;
  play.faults.crash = 300;
  play.faults.poison = {0, 77};
  const Outcome outcome = perform(play, 9);
  ASSERT_EQ(outcome.message(), "");
  ASSERT_EQ(outcome.kept.order.size(), 500U);
  for (std::uint64_t i = 0; i < 500; ++i) EXPECT_EQ(outcome.kept.order[i], i);
}

Play random_play(std::uint64_t seed) {
  env::Random random(seed);
  Play play = some_documents(random.below(150), 1 + random.below(4));
  for (std::uint64_t i = 0; i < play.documents.sizes.size(); ++i) {
    play.documents.sizes[i] = random.below(20) == 0 ? random.below(600'000) : random.below(5000);
    if (random.below(50) == 0) play.documents.missing.insert(i);
    if (random.below(50) == 0) play.documents.broken.insert(i);
    if (random.below(50) == 0) play.faults.lost.insert(i);
    if (random.below(50) == 0) play.faults.poison.insert(i);
  }
  play.settings.mode = static_cast<DispatchMode>(random.below(3));
  play.settings.restart_after = random.below(2) == 0 ? 0 : 1 + random.below(20);
  play.settings.tries_max = static_cast<std::uint32_t>(1 + random.below(4));
  play.settings.hopeless_after = 1000;
  play.is_ordered = random.below(2) == 0;
  const std::uint64_t chance = random.below(3) * 150;
  play.faults.crash = play.faults.crash_within_result = play.faults.hang = chance;
  play.faults.rubbish = play.faults.wrong_number = play.faults.failed = chance;
  play.faults.early_end = chance;
  play.faults.bad_start = random.below(2) * 200;
  play.faults.no_end = random.below(2) * 2000;
  return play;
}

// Whatever analysers do, each document has one result or is skipped, for a reason.
TEST(DispatcherProperty, ExactlyOnceOverAllFaults) {
  for (std::uint64_t seed = 0; seed < 1000; ++seed) {
    SCOPED_TRACE(seed);
    const Play play = random_play(seed);
    const Outcome outcome = perform(play, seed);
    ASSERT_EQ(outcome.message(), "");
    const std::size_t documents = play.documents.sizes.size();
    ASSERT_EQ(outcome.kept.results.size() + outcome.kept.skips.size(), documents);
    for (const auto& [number, result] : outcome.kept.results) {
      EXPECT_EQ(result, played_result(number, play.documents.sizes[number]));
      EXPECT_FALSE(play.faults.poison.contains(number));
    }
    for (const auto& [number, skip] : outcome.kept.skips) {
      if (skip.tries == 0) continue;
      EXPECT_GE(skip.tries, play.settings.tries_max);
      EXPECT_GE(outcome.failures.at(number), 1U) << "an innocent document was given up";
    }
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace meguri::scan
