#include "crawl/crawl_log.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <tuple>
#include <vector>

#include "archive/warc_record.h"
#include "crawl/archive_writer.h"
#include "crawl/crawl_log_line.h"
#include "crawl/warc_testing.h"
#include "env/crash_points.h"
#include "env/faulty_file_system.h"
#include "flow/simulation_engine.h"
#include "web/http_head.h"

namespace meguri::crawl {
namespace {

using nlohmann::json;
using testing::read_records;
using Numbers = std::vector<std::uint64_t>;

constexpr base::Instant kDate = base::Instant::from_ms(1'767'225'600'123);  // 2026-01-01

json line_of(const auto& note) {
  std::string line;
  append_line(note, &line);
  EXPECT_EQ(std::ranges::count(line, '\n'), 1);
  EXPECT_EQ(line.back(), '\n');
  return json::parse(line);
}

TEST(CrawlLogLine, TellsOfAnAnswer) {
  VisitNote note;
  note.date = kDate;
  note.url = "http://example.org/a";
  note.via = "http://example.org/";
  note.host = "example.org";
  note.offer = Offer::kEmbed;
  note.depth = 2;
  note.outcome = VisitOutcome::kChanged;
  note.address = fetch::Endpoint{.address = fetch::IpAddress::v4(0x7F000001), .port = 8080};
  note.status = 200;
  note.mime = "text/html";
  note.bytes = 1234;
  note.duration = base::Duration::from_ms(83);
  note.digest = archive::Digest();
  note.truncation = fetch::Truncation::kLength;
  note.links = 7;
  note.warc_file = "meguri-20260101000000-00000-0.warc.gz";
  note.warc_offset = 99;
  EXPECT_EQ(line_of(note), json::parse(R"({
      "time": "2026-01-01T00:00:00.123Z", "type": "page", "url": "http://example.org/a",
      "status": 200, "outcome": "changed", "mime": "text/html", "bytes": 1234, "ms": 83,
      "links": 7, "host": "example.org", "address": "127.0.0.1:8080", "offer": "embed",
      "depth": 2, "via": "http://example.org/",
      "digest": "sha1:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA", "truncated": "length",
      "warc": "meguri-20260101000000-00000-0.warc.gz", "offset": 99})"));
}

TEST(CrawlLogLine, TellsOfAFailureAndOfARobotsTxt) {
  VisitNote note;
  note.url = "http://example.org/robots.txt";
  note.purpose = Purpose::kRobots;
  note.fetch = fetch::FetchOutcome::kConnectTimeout;
  note.error = "nobody answered";
  const json line = line_of(note);
  EXPECT_EQ(line["type"], "robots");
  EXPECT_EQ(line["failure"], "connect_timeout");
  EXPECT_EQ(line["error"], "nobody answered");
  EXPECT_FALSE(line.contains("status"));
  EXPECT_FALSE(line.contains("outcome"));
  EXPECT_FALSE(line.contains("depth"));
}

TEST(CrawlLogLine, TellsOfARefusal) {
  RefusalNote note;
  note.date = kDate;
  note.candidate.url = "http://example.org/private";
  note.candidate.depth = 1;
  note.candidate.offer = Offer::kLink;
  note.candidate.via = "http://example.org/";
  note.reason = Refusal::kRobots;
  EXPECT_EQ(line_of(note), json::parse(R"({
      "time": "2026-01-01T00:00:00.123Z", "type": "refusal", "url": "http://example.org/private",
      "reason": "robots", "host": "example.org", "offer": "link", "depth": 1,
      "via": "http://example.org/"})"));
}

TEST(CrawlLogLine, IsOneLineWhateverAServerSays) {
  VisitNote note;
  note.url = "http://example.org/\"\\\n\r\x01\xff";
  note.mime = "text/\u2028\u202e\"";
  note.error = std::string("zero \0 within", 13);
  const json line = line_of(note);
  EXPECT_EQ(line["url"], "http://example.org/\"\\\n\r\x01\uFFFD");
  EXPECT_EQ(line["mime"], "text/\u2028\u202e\"");
  EXPECT_EQ(line["error"], std::string("zero \0 within", 13));
}

TEST(VisitTally, CountsAndKeepsTheLastAndTheWorst) {
  VisitTally tally;
  for (int i = 0; i < 20; ++i) {
    VisitNote note;
    note.url = fmt::format("http://h{}.test/", i);
    note.host = fmt::format("h{}.test", i % 7);
    note.status = i < 4 ? 503 : 200;
    note.bytes = 10;
    note.duration = base::Duration::from_ms(i);
    tally.add(note);
  }
  VisitNote failed;
  failed.host = "h0.test";
  failed.fetch = fetch::FetchOutcome::kReset;
  failed.duration = base::Duration::seconds(60);
  tally.add(failed);
  const VisitTotals totals = tally.totals();
  EXPECT_EQ(totals.pages, 21U);
  EXPECT_EQ(totals.bytes_received, 200U);
  EXPECT_EQ(totals.by_status[2], 16U);
  EXPECT_EQ(totals.by_status[5], 4U);
  EXPECT_EQ(totals.by_fetch[static_cast<std::size_t>(fetch::FetchOutcome::kReset)], 1U);
  EXPECT_EQ(totals.by_duration[0], 6U) << "up to 5 ms, the bound included";
  EXPECT_EQ(totals.by_duration.back(), 1U);
  ASSERT_EQ(totals.last.size(), VisitTally::kLast);
  EXPECT_EQ(totals.last[1].url, "http://h19.test/");
  ASSERT_EQ(totals.failing.size(), 4U);
  EXPECT_EQ(totals.failing.front(), (std::pair<std::string, std::uint64_t>("h0.test", 2)));
  ASSERT_EQ(totals.slowest.size(), VisitTally::kHostsTold);
  EXPECT_EQ(totals.slowest[0].first, "h0.test");
  EXPECT_EQ(totals.slowest[1].second, base::Duration::from_ms(19));
}

// --- With an archive: what stands for the crawl hands out findings and refusals until it has heard
// that each is durable. Of the numbers below `count` every third is refused.

bool is_refused(std::uint64_t number) { return number % 3 == 2; }

Finding finding_of(archive::RecordMaker& maker, std::uint64_t number) {
  const std::string url = fmt::format("http://example.org/{}", number);
  const auto head = web::HttpHead::make_response(200, "OK");
  env::Random random(number);
  Finding finding;
  finding.records = maker
                        .response({.visit = {.target_uri = url,
                                             .date = kDate,
                                             .fetch_time = {},
                                             .ip_address = {},
                                             .via = {},
                                             .depth = 0,
                                             .purpose = {}},
                                   .request_head = {},
                                   .head = head,
                                   .body = url,
                                   .payload_digest = archive::Sha1().of(url),
                                   .truncation = archive::Truncation::kNone,
                                   .protocol = {}},
                                  archive::VisitIds::draw(random))
                        .value();
  finding.host.host = fmt::format("{}", number);
  finding.note.url = url;
  return finding;
}

class Ledger final : public flow::Module {
 public:
  explicit Ledger(std::uint64_t count) : count_(count) {}

  flow::In<HostNews> news = in<&Ledger::on_news>("news");
  flow::Out<Finding> findings = out<Finding>("findings");
  flow::Out<RefusalNote> refusals = out<RefusalNote>("refusals");

  Numbers known;  // told of, or refused

 private:
  void on_news(HostNews&& item) {
    known.push_back(std::stoull(item.host));
    findings.give_back();
  }
  bool produce() override {
    for (; next_ < count_ && findings.credits() > 0 && !draining(); ++next_) {
      if (std::ranges::find(before_, next_) != before_.end()) continue;
      if (!is_refused(next_)) {
        findings.emit(finding_of(maker_, next_));
        continue;
      }
      RefusalNote note;
      note.candidate.url = fmt::format("http://example.org/{}", next_);
      refusals.emit(std::move(note));
      known.push_back(next_);
    }
    return false;
  }
  base::Result<std::string> commit(flow::EpochId) override {
    std::string state;
    for (const std::uint64_t number : known) flow::put_fixed(state, number);
    return state;
  }
  base::Status restore(flow::EpochId, std::string_view state) override {
    for (std::uint64_t number = 0; flow::take_fixed(state, number);) known.push_back(number);
    before_ = known;
    return {};
  }

  const std::uint64_t count_;
  archive::RecordMaker maker_;
  Numbers before_;
  std::uint64_t next_ = 0;
};

struct Crawl {
  flow::Graph graph(std::uint64_t count) {
    CrawlOptions options;
    options.warc.series.dir = "warc";
    options.warc.file_bytes_max = 3000;
    options.log = log_options;
    flow::Graph result;
    ledger = result.add<Ledger>("ledger", {}, count);
    const auto writer = result.add<ArchiveWriter>("archive", {.kind = flow::Kind::kBlocking},
                                                  options, ArchiveLimits{.findings_max = 4});
    log = result.add<CrawlLog>("log", {.kind = flow::Kind::kBlocking}, options.log);
    result.connect(ledger, &Ledger::findings, writer, &ArchiveWriter::findings,
                   flow::Edge::credit(6));
    result.connect(writer, &ArchiveWriter::news, ledger, &Ledger::news);
    result.connect(writer, &ArchiveWriter::notes, log, &CrawlLog::visits);
    result.connect(ledger, &Ledger::refusals, log, &CrawlLog::refusals);
    return result;
  }

  CrawlLogOptions log_options{.dir = "logs", .file_bytes_max = 1000};
  flow::Node<Ledger> ledger;
  flow::Node<CrawlLog> log;
};

std::uint64_t number_in(const std::string& url) {
  return std::stoull(url.substr(url.rfind('/') + 1));
}

struct Logged {
  Numbers visits, refusals;
};

Logged logged(env::FileSystem& files) {
  Logged found;
  const std::vector<std::string> names = files.list("logs").value();
  for (const std::string& name : names) {
    std::istringstream lines(env::read_file(files, "logs/" + name).value());
    for (std::string text; std::getline(lines, text);) {
      const json line = json::parse(text);
      const std::uint64_t number = number_in(line["url"]);
      (line["type"] == "refusal" ? found.refusals : found.visits).push_back(number);
    }
  }
  std::ranges::sort(found.visits);
  std::ranges::sort(found.refusals);
  return found;
}

Numbers archived(env::FileSystem& files) {
  Numbers numbers;
  const std::vector<std::string> names = files.list("warc").value();
  for (const std::string& name : names) {
    for (const auto& record : read_records(files, "warc/" + name)) {
      if (record.type == "response") numbers.push_back(number_in(record.url));
    }
  }
  std::ranges::sort(numbers);
  return numbers;
}

flow::EpochId live(env::FileSystem& files, std::uint64_t count, std::uint64_t seed) {
  Crawl crawl;
  env::VirtualClock clock;
  flow::SimulationEngine engine(crawl.graph(count),
                                {.files = &files, .state_dir = "state", .seed = seed}, clock);
  if (!engine.start()) return flow::kNoEpoch;
  if (engine.run_until_quiet()) std::ignore = engine.drain();
  return engine.durable_epoch();
}

// Starts again and does nothing: what is there now is what was durable.
void expect_agreement(env::FileSystem& files) {
  Crawl crawl;
  env::VirtualClock clock;
  flow::SimulationEngine engine(crawl.graph(0), {.files = &files, .state_dir = "state"}, clock);
  const auto started = engine.start();
  ASSERT_TRUE(started) << started.error().message();
  const Logged found = logged(files);
  EXPECT_EQ(found.visits, archived(files));
  Numbers known = engine.module(crawl.ledger).known;
  std::ranges::sort(known);
  Numbers all = found.visits;
  all.insert(all.end(), found.refusals.begin(), found.refusals.end());
  std::ranges::sort(all);
  EXPECT_EQ(all, known);
}

Numbers up_to(std::uint64_t count, bool refused) {
  Numbers numbers;
  for (std::uint64_t i = 0; i < count; ++i) {
    if (is_refused(i) == refused) numbers.push_back(i);
  }
  return numbers;
}

TEST(CrawlLog, TellsOfEveryVisitAndRefusalOnceOverManyFiles) {
  env::MemoryFileSystem files;
  live(files, 40, 1);
  EXPECT_EQ(logged(files).visits, up_to(40, false));
  EXPECT_EQ(logged(files).refusals, up_to(40, true));
  const auto names = *files.list("logs");
  EXPECT_GT(names.size(), 2U);
  EXPECT_EQ(names.back(), "crawl.jsonl");
  EXPECT_EQ(names.front(), "crawl-20260101000000-00001.jsonl");
  expect_agreement(files);
}

TEST(CrawlLog, SaysWhereAVisitIsInTheArchive) {
  env::MemoryFileSystem files;
  live(files, 2, 1);
  std::istringstream lines(*env::read_file(files, "logs/crawl.jsonl"));
  std::size_t found = 0;
  for (std::string text; std::getline(lines, text); ++found) {
    const json line = json::parse(text);
    const auto file = files.open_read("warc/" + line["warc"].get<std::string>());
    ASSERT_TRUE(file);
    archive::WarcReader reader(**file, line["offset"].get<std::uint64_t>());
    ASSERT_TRUE(reader.next().value());
    EXPECT_EQ(reader.record().target_uri(), line["url"].get<std::string>());
  }
  EXPECT_EQ(found, 2U);
}

TEST(CrawlLog, WritesNothingWithoutAFolderButCounts) {
  env::MemoryFileSystem files;
  Crawl crawl;
  crawl.log_options = {};
  env::VirtualClock clock;
  flow::SimulationEngine engine(crawl.graph(9), {.files = &files, .state_dir = "state"}, clock);
  ASSERT_TRUE(engine.start());
  ASSERT_TRUE(engine.run_until_quiet());
  EXPECT_EQ(engine.module(crawl.log).totals().pages, 6U);
  EXPECT_FALSE(*files.exists("logs"));
}

TEST(CrawlLog, KeepsLinesOfACrawlWhoseStateIsGone) {
  env::MemoryFileSystem files;
  live(files, 12, 1);
  const std::vector<std::string> names = *files.list("state");
  for (const std::string& name : names) ASSERT_TRUE(files.remove("state/" + name));
  live(files, 12, 2);
  EXPECT_EQ(logged(files).visits.size(), 16U);
  EXPECT_EQ(*files.list("state"), std::vector<std::string>{"checkpoint"});
}

TEST(CrawlLog, GoesOnWhenSomebodyTookTheFileAway) {
  env::MemoryFileSystem files;
  live(files, 3, 1);
  ASSERT_TRUE(files.remove("logs/crawl.jsonl"));
  EXPECT_GT(live(files, 6, 2), 0U);
  EXPECT_EQ(logged(files).visits, (Numbers{3, 4}));
}

TEST(CrawlLogAfterACrash, AgreesWithTheArchive) {
  constexpr std::uint64_t kCount = 30;
  const std::uint64_t changes = env::for_each_crash_point(
      {.seed = 3, .outcomes = 2}, [](env::FaultyFileSystem&) {},
      [](env::FaultyFileSystem& files) { live(files, kCount, 1); },
      [](env::FaultyFileSystem& files, env::CrashPoint point) {
        SCOPED_TRACE(fmt::format("change {} outcome {}", point.change, point.outcome));
        expect_agreement(files);
        files.restart();
        live(files, kCount, point.change);
        files.restart();
        EXPECT_EQ(archived(files), up_to(kCount, false));
        EXPECT_EQ(logged(files).visits, up_to(kCount, false));
        EXPECT_EQ(logged(files).refusals, up_to(kCount, true));
      });
  EXPECT_GT(changes, 80U);
}

TEST(CrawlLogAfterACrash, AgreesWithTheArchiveWhenCutAgainAndAgain) {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE(seed);
    env::Random random(seed);
    env::FaultyFileSystem files(seed);
    for (int cuts = 0; cuts < 4; ++cuts) {
      files.cut_power_after(random.below(70));
      live(files, 40, random.next());
      files.crash(&random);
      expect_agreement(files);
      files.restart();
    }
    live(files, 40, seed);
    EXPECT_EQ(logged(files).visits, up_to(40, false));
    EXPECT_EQ(logged(files).refusals, up_to(40, true));
  }
}

}  // namespace
}  // namespace meguri::crawl
