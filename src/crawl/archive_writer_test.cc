#include "crawl/archive_writer.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "archive/warc_record.h"
#include "crawl/warc_testing.h"
#include "env/crash_points.h"
#include "env/faulty_file_system.h"
#include "flow/testing.h"
#include "web/http_head.h"

namespace meguri::crawl {
namespace {

using flow::testing::AnyEngine;
using flow::testing::EngineKind;
using testing::read_records;
using Numbers = std::vector<std::uint64_t>;

constexpr std::uint64_t kRobotsEvery = 7;  // every so many findings are of a robots.txt

std::string url_of(std::uint64_t number) { return fmt::format("http://example.org/{}", number); }

Finding finding_of(archive::RecordMaker& maker, std::uint64_t number) {
  const std::string url = url_of(number);
  auto head = web::HttpHead::make_response(200, "OK");
  const std::string body = fmt::format("page {}", number);
  env::Random random(number);
  Finding finding;
  finding.records = maker
                        .response({.visit = {.target_uri = url,
                                             .date = base::Instant::from_ms(1'767'225'600'000),
                                             .fetch_time = {},
                                             .ip_address = {},
                                             .via = {},
                                             .depth = 0,
                                             .purpose = {}},
                                   .request_head = {},
                                   .head = head,
                                   .body = body,
                                   .payload_digest = archive::Sha1().of(body),
                                   .truncation = archive::Truncation::kNone,
                                   .protocol = {}},
                                  archive::VisitIds::draw(random))
                        .value();
  finding.host.host = fmt::format("{}", number);
  if (number % kRobotsEvery == kRobotsEvery - 1) {
    finding.host.purpose = Purpose::kRobots;
    return finding;
  }
  finding.report.emplace();
  finding.report->status = static_cast<int>(number);
  finding.candidates.push_back({.url = url + "/next",
                                .via = url,
                                .depth = static_cast<std::uint32_t>(number),
                                .hops = 0,
                                .offer = Offer::kLink});
  return finding;
}

// Stands for the rest of the crawl: hands out findings 0 .. count-1 until it has heard that each is
// durable, and keeps all it hears. That is its state.
class Ledger final : public flow::Module {
 public:
  explicit Ledger(std::uint64_t count) : count_(count) {}

  flow::In<Report> reports = in<&Ledger::on_report>("reports");
  flow::In<Candidate> candidates = in<&Ledger::on_candidate>("candidates");
  flow::In<HostNews> news = in<&Ledger::on_news>("news");
  flow::Out<Finding> findings = out<Finding>("findings");

  Numbers reported, offered, told;

 private:
  void on_report(Report&& report) { reported.push_back(static_cast<std::uint64_t>(report.status)); }
  void on_candidate(Candidate&& candidate) { offered.push_back(candidate.depth); }
  void on_news(HostNews&& item) {
    told.push_back(std::stoull(item.host));
    findings.give_back();
  }
  bool produce() override {
    for (; next_ < count_ && findings.credits() > 0 && !draining(); ++next_) {
      if (!std::ranges::binary_search(known_, next_)) findings.emit(finding_of(maker_, next_));
    }
    return false;
  }
  base::Result<std::string> commit(flow::EpochId) override {
    std::string state;
    for (const Numbers* numbers : {&reported, &offered, &told}) {
      flow::put_fixed(state, std::uint64_t{numbers->size()});
      for (const std::uint64_t number : *numbers) flow::put_fixed(state, number);
    }
    return state;
  }
  base::Status restore(flow::EpochId, std::string_view state) override {
    for (Numbers* numbers : {&reported, &offered, &told}) {
      std::uint64_t size = 0;
      flow::take_fixed(state, size);
      numbers->resize(size);
      for (std::uint64_t& number : *numbers) flow::take_fixed(state, number);
    }
    known_ = told;
    std::ranges::sort(known_);
    return {};
  }

  const std::uint64_t count_;
  archive::RecordMaker maker_;
  Numbers known_;  // in earlier lives, sorted
  std::uint64_t next_ = 0;
};

struct Crawl {
  flow::Graph graph(std::uint64_t findings, std::size_t writers = 1) {
    options.warc.series.dir = "warc";
    options.warc.file_bytes_max = 3000;
    flow::Graph result;
    ledger = result.add<Ledger>("ledger", {}, findings);
    writer = result.add<ArchiveWriter>(
        "archive", {.kind = flow::Kind::kBlocking, .instances = writers}, options, limits);
    result.connect(ledger, &Ledger::findings, writer, &ArchiveWriter::findings,
                   flow::Edge::credit(credits));
    result.connect(writer, &ArchiveWriter::reports, ledger, &Ledger::reports);
    result.connect(writer, &ArchiveWriter::candidates, ledger, &Ledger::candidates);
    result.connect(writer, &ArchiveWriter::news, ledger, &Ledger::news);
    return result;
  }

  CrawlOptions options;
  ArchiveLimits limits;
  std::size_t credits = 10;
  flow::Node<Ledger> ledger;
  flow::Node<ArchiveWriter> writer;
};

// The numbers of the pages in all WARC files, sorted.
Numbers archived(env::FileSystem& files) {
  Numbers numbers;
  const auto names = files.list("warc");
  if (!names) return numbers;
  for (const std::string& name : *names) {
    for (const auto& record : read_records(files, "warc/" + name)) {
      if (record.type != "response") continue;
      numbers.push_back(std::stoull(record.url.substr(record.url.rfind('/') + 1)));
    }
  }
  std::ranges::sort(numbers);
  return numbers;
}

Numbers sorted(Numbers numbers) {
  std::ranges::sort(numbers);
  return numbers;
}

Numbers up_to(std::uint64_t count) {
  Numbers numbers;
  for (std::uint64_t i = 0; i < count; ++i) numbers.push_back(i);
  return numbers;
}

Numbers without_robots(Numbers numbers) {
  std::erase_if(numbers, [](std::uint64_t n) { return n % kRobotsEvery == kRobotsEvery - 1; });
  return numbers;
}

// What the crawl knows is what the archive holds, each once.
void expect_agreement(const Ledger& ledger, env::FileSystem& files) {
  const Numbers stored = archived(files);
  EXPECT_TRUE(std::ranges::adjacent_find(stored) == stored.end()) << "stored twice";
  EXPECT_EQ(sorted(ledger.told), stored);
  EXPECT_EQ(sorted(ledger.reported), without_robots(stored));
  EXPECT_EQ(sorted(ledger.offered), without_robots(stored));
}

// A life of the crawl until it ends, the power goes, or nothing happens any more.
flow::EpochId live(env::FileSystem& files, std::uint64_t findings, std::uint64_t seed) {
  Crawl crawl;
  env::VirtualClock clock;
  flow::SimulationEngine engine(crawl.graph(findings),
                                {.files = &files, .state_dir = "state", .seed = seed}, clock);
  if (!engine.start()) return flow::kNoEpoch;
  if (engine.run_until_quiet()) std::ignore = engine.drain();
  return engine.durable_epoch();
}

// Starts again and does nothing: what is there now is what was durable.
void expect_sound_restart(env::FileSystem& files, flow::EpochId declared) {
  Crawl crawl;
  env::VirtualClock clock;
  flow::SimulationEngine engine(crawl.graph(0), {.files = &files, .state_dir = "state"}, clock);
  const auto started = engine.start();
  ASSERT_TRUE(started) << started.error().message();
  EXPECT_GE(engine.durable_epoch(), declared);
  expect_agreement(engine.module(crawl.ledger), files);
}

TEST(ArchiveWriter, TellsOfWhatItStoredInAnyOrderOfRuns) {
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    env::MemoryFileSystem files;
    Crawl crawl;
    crawl.limits.findings_max = 1 + seed % 5;
    AnyEngine engine(EngineKind::kSimulation, crawl.graph(60),
                     {.files = &files, .state_dir = "state", .seed = seed});
    ASSERT_TRUE(engine->start());
    ASSERT_TRUE(engine->run_until_quiet());
    EXPECT_EQ(archived(files), up_to(60));
    expect_agreement(engine->module(crawl.ledger), files);
    ASSERT_TRUE(engine->drain());
  }
}

TEST(ArchiveWriterThreads, TellsOfWhatItStored) {
  env::MemoryFileSystem files;
  Crawl crawl;
  crawl.limits.findings_max = 3;
  AnyEngine engine(EngineKind::kThreads, crawl.graph(300, 2),
                   {.files = &files, .state_dir = "state"});
  ASSERT_TRUE(engine->start());
  ASSERT_TRUE(engine->run_until_quiet());
  ASSERT_TRUE(engine->drain());
  EXPECT_EQ(archived(files), up_to(300));
  expect_agreement(engine->module(crawl.ledger), files);
}

TEST(ArchiveWriter, TellsNothingBeforeTheEpochEnds) {
  env::MemoryFileSystem files;
  Crawl crawl;
  AnyEngine engine(EngineKind::kSimulation, crawl.graph(5),
                   {.files = &files, .state_dir = "state"});
  ASSERT_TRUE(engine->start());
  ASSERT_TRUE(engine->run_for(base::Duration::from_ms(999)));
  EXPECT_EQ(archived(files), up_to(5)) << "appended";
  EXPECT_TRUE(engine->module(crawl.ledger).told.empty());
  ASSERT_TRUE(engine->run_for(base::Duration::from_ms(2))) << "no finding waits for longer";
  EXPECT_EQ(engine->module(crawl.ledger).told.size(), 5U);
  EXPECT_EQ(engine->durable_epoch(), 1U);
}

TEST(ArchiveWriter, EndsTheEpochForARobotsTxtOrABound) {
  const auto told_at_once = [](std::uint64_t findings, ArchiveLimits limits) {
    env::MemoryFileSystem files;
    Crawl crawl;
    crawl.limits = limits;
    AnyEngine engine(EngineKind::kSimulation, crawl.graph(findings),
                     {.files = &files, .state_dir = "state"});
    EXPECT_TRUE(engine->start());
    EXPECT_TRUE(engine->run_for(base::Duration::from_ms(1)));
    return !engine->module(crawl.ledger).told.empty();
  };
  EXPECT_FALSE(told_at_once(6, {}));
  EXPECT_TRUE(told_at_once(7, {})) << "the last is a robots.txt";
  EXPECT_TRUE(told_at_once(4, {.findings_max = 4}));
  EXPECT_TRUE(told_at_once(4, {.bytes_max = 500}));
}

TEST(ArchiveWriter, StopsTheCrawlWhenAppendingFails) {
  env::MemoryFileSystem files;
  files.set_capacity(2000);
  Crawl crawl;
  AnyEngine engine(EngineKind::kSimulation, crawl.graph(100),
                   {.files = &files, .state_dir = "state"});
  ASSERT_TRUE(engine->start());
  const auto status = engine->run_until_quiet();
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code(), base::ErrorCode::kNoSpace);
}

void forget_state(env::FileSystem& files) {
  const std::vector<std::string> names = *files.list("state");
  for (const std::string& name : names) ASSERT_TRUE(files.remove("state/" + name));
}

TEST(ArchiveWriter, KeepsFilesOfACrawlWhoseStateIsGone) {
  env::MemoryFileSystem files;
  live(files, 20, 1);
  const auto before = *files.list("warc");
  forget_state(files);
  // A life that ends before its first epoch leaves nothing, and one that goes on adds to them.
  {
    Crawl crawl;
    AnyEngine engine(EngineKind::kSimulation, crawl.graph(5),
                     {.files = &files, .state_dir = "state"});
    ASSERT_TRUE(engine->start());
    ASSERT_TRUE(engine->run_for(base::Duration::from_ms(1)));
    EXPECT_EQ(archived(files).size(), 25U);
  }
  Crawl crawl;
  AnyEngine engine(EngineKind::kSimulation, crawl.graph(3),
                   {.files = &files, .state_dir = "state"});
  ASSERT_TRUE(engine->start());
  EXPECT_EQ(*files.list("warc"), before);
  ASSERT_TRUE(engine->drain());
  EXPECT_EQ(archived(files).size(), 20U) << "draining hands out nothing";
  EXPECT_EQ(*files.list("state"), std::vector<std::string>{"checkpoint"});
}

TEST(ArchiveWriter, KeepsThemWhenTheFirstEpochWasEmpty) {
  env::MemoryFileSystem files;
  live(files, 20, 1);
  forget_state(files);
  live(files, 0, 2);
  live(files, 0, 3);
  EXPECT_EQ(archived(files).size(), 20U);
}

TEST(ArchiveWriterAfterACrash, HoldsWhatTheCrawlKnows) {
  constexpr std::uint64_t kFindings = 30;
  flow::EpochId declared = flow::kNoEpoch;
  flow::EpochId epochs = 0;
  const std::uint64_t changes = env::for_each_crash_point(
      {.seed = 5, .outcomes = 2}, [&](env::FaultyFileSystem&) { declared = flow::kNoEpoch; },
      [&](env::FaultyFileSystem& files) {
        declared = live(files, kFindings, 1);
        epochs = std::max(epochs, declared);
      },
      [&](env::FaultyFileSystem& files, env::CrashPoint point) {
        SCOPED_TRACE(fmt::format("change {} outcome {}", point.change, point.outcome));
        expect_sound_restart(files, declared);
        files.restart();
        live(files, kFindings, point.change);
        files.restart();
        expect_sound_restart(files, declared);
        EXPECT_EQ(archived(files), up_to(kFindings)) << "nothing is lost in the end";
      });
  EXPECT_GT(changes, 50U);
  EXPECT_GT(epochs, 3U);
}

TEST(ArchiveWriterAfterACrash, HoldsWhatTheCrawlKnowsWhenCutAgainAndAgain) {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE(seed);
    env::Random random(seed);
    env::FaultyFileSystem files(seed);
    flow::EpochId declared = flow::kNoEpoch;
    for (int cuts = 0; cuts < 4; ++cuts) {
      files.cut_power_after(random.below(60));
      declared = std::max(declared, live(files, 40, random.next()));
      files.crash(&random);
      expect_sound_restart(files, declared);
      files.restart();
    }
    live(files, 40, seed);
    EXPECT_EQ(archived(files), up_to(40));
  }
}

TEST(ArchiveWriterAfterACrash, TellsNothingAfterAFailedSync) {
  for (std::uint64_t n = 0; n < 20; ++n) {
    SCOPED_TRACE(n);
    env::FaultyFileSystem files(n);
    files.fail_sync_after(n);
    const flow::EpochId declared = live(files, 40, n);
    files.crash();
    expect_sound_restart(files, declared);
  }
}

}  // namespace
}  // namespace meguri::crawl
