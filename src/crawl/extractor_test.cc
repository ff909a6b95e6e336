#include <fmt/format.h>
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "archive/gzip_writer.h"
#include "crawl/extractor_testing.h"
#include "crawl/warc_testing.h"
#include "env/faulty_file_system.h"
#include "env/memory_file_system.h"
#include "env/spool_testing.h"
#include "flow/testing.h"

namespace meguri::crawl {
namespace {

using base::Duration;
using fetch::FetchOutcome;
using flow::testing::EngineKind;
using testing::answer_of;
using testing::extract;
using testing::extract_all;
using testing::kNow;
using testing::kUrl;
using testing::prior_of;
using testing::read_records;

TEST(Extractor, StoresAPageAndOffersItsLinks) {
  const Answer answer =
      answer_of(200, "Content-Type: text/html\r\nETag: \"e\"\r\nLast-Modified: then\r\n",
                "<a href=/next>n</a>");
  const Finding finding = extract(answer);
  ASSERT_TRUE(finding.report);
  EXPECT_EQ(finding.report->id, page_id_of(kUrl));
  EXPECT_EQ(finding.report->outcome, VisitOutcome::kChanged);
  EXPECT_EQ(finding.report->status, 200);
  EXPECT_EQ(finding.report->date, kNow);
  ASSERT_EQ(finding.candidates.size(), 1U);
  EXPECT_EQ(finding.candidates[0].url, "http://example.org/next");
  EXPECT_EQ(finding.candidates[0].depth, 3U);
  const auto records = read_records(finding.records.bytes);
  ASSERT_EQ(records.size(), 2U);
  EXPECT_EQ(records[0].type, "response");
  EXPECT_EQ(records[0].url, kUrl);
  EXPECT_TRUE(records[0].block.ends_with("<a href=/next>n</a>"));
  EXPECT_EQ(records[1].type, "request");
  const PriorVersion expected{.etag = "\"e\"",
                              .last_modified = "then",
                              .digest = archive::Sha1().of(answer.fetched.body.memory()),
                              .record = finding.records.first_id,
                              .date = kNow};
  EXPECT_EQ(finding.report->version, expected);
  EXPECT_EQ(records[0].id, finding.records.first_id.to_string());
}

// The second is stored as a reference to the first, also for those who come back to it later.
TEST(Extractor, StoresABodyOnce) {
  const std::string body(StoredPayloads::kBodyBytesMin, 'x');
  constexpr std::string_view kOther = "http://other.example/copy";
  Answer later = answer_of(200, "", body, kOther);
  later.fetched.times.started_utc = kNow + Duration::seconds(1);
  const auto findings =
      extract_all(EngineKind::kSimulation, {answer_of(200, "", body), later, later});
  ASSERT_EQ(findings.size(), 3U);
  const std::string first = findings[0].records.first_id.to_string();
  EXPECT_EQ(read_records(findings[0].records.bytes)[0].type, "response");
  for (const std::size_t i : {std::size_t{1}, std::size_t{2}}) {
    const auto records = read_records(findings[i].records.bytes);
    EXPECT_EQ(records[0].type, "revisit");
    EXPECT_EQ(records[0].url, kOther);
    EXPECT_EQ(records[0].refers_to, first);
    EXPECT_EQ(records[1].type, "request");
    EXPECT_EQ(findings[i].report->outcome, VisitOutcome::kChanged);
    ASSERT_TRUE(findings[i].report->version);
    EXPECT_EQ(findings[i].report->version->record, findings[0].records.first_id);
    EXPECT_EQ(findings[i].report->version->date, kNow);
    EXPECT_EQ(findings[i].report->version->url, kUrl);
  }

  // A visit that finds it unchanged refers to the first page too.
  Answer again = later;
  again.visit.page.prior = findings[1].report->version;
  const auto records = read_records(extract(again).records.bytes);
  EXPECT_EQ(records[0].type, "revisit");
  EXPECT_EQ(records[0].refers_to, first);
}

TEST(Extractor, StoresSmallAndCutBodiesEveryTime) {
  const std::string body(StoredPayloads::kBodyBytesMin, 'x');
  Answer cut = answer_of(200, "", body);
  cut.fetched.truncation = fetch::Truncation::kLength;
  Answer small = answer_of(200, "", body.substr(1));
  for (const Answer& answer : {cut, small}) {
    Answer other = answer;
    other.visit.page.candidate.url = "http://other.example/copy";
    const auto findings = extract_all(EngineKind::kSimulation, {answer, other});
    ASSERT_EQ(findings.size(), 2U);
    EXPECT_EQ(read_records(findings[1].records.bytes)[0].type, "response");
    EXPECT_EQ(findings[1].report->version->url, "");
  }
}

TEST(Extractor, TellsOfTheHost) {
  const HostNews news = extract(answer_of(503, "", "busy")).host;
  EXPECT_EQ(news.host, "example.org");
  EXPECT_EQ(news.purpose, Purpose::kPage);
  EXPECT_EQ(news.fetch, FetchOutcome::kAnswered);
  EXPECT_EQ(news.status, 503);
  EXPECT_EQ(news.duration, Duration::from_ms(250));
  EXPECT_EQ(news.finished, kNow + Duration::from_ms(250));
  EXPECT_EQ(news.robots, "");
}

TEST(Extractor, ReadsThroughContentCodings) {
  std::string packed;
  archive::GzipWriter().append_member("<a href=/next>n</a>", {}, {}, &packed);
  const Finding finding =
      extract(answer_of(200, "Content-Type: text/html\r\nContent-Encoding: gzip\r\n", packed));
  EXPECT_EQ(finding.candidates.size(), 1U);
  EXPECT_TRUE(read_records(finding.records.bytes)[0].block.ends_with(packed))
      << "stored as it came";
}

// What is stored is what came, whatever it holds.
TEST(Extractor, ReadsOfABombWhatTheLimitsAllowAndSaysSo) {
  std::string bomb;
  archive::GzipWriter().append_member("<a href=/before>b</a>" + std::string(8'000'000, ' '), {}, {},
                                      &bomb);
  CrawlOptions strict;
  strict.decode.ratio_max = 20;
  const Answer answer =
      answer_of(200, "Content-Type: text/html\r\nContent-Encoding: gzip\r\n", bomb);
  const Finding finding = extract(answer, strict);
  EXPECT_EQ(finding.report->outcome, VisitOutcome::kChanged);
  EXPECT_EQ(finding.note.error, "its content coding was not undone to the end: bomb");
  ASSERT_EQ(finding.candidates.size(), 1U);
  EXPECT_EQ(finding.candidates[0].url, "http://example.org/before");
  EXPECT_EQ(finding.note.digest, archive::Sha1().of(bomb));
  CrawlOptions loose;
  loose.decode.ratio_max = 10'000;
  EXPECT_EQ(extract(answer, loose).note.error, "");
}

TEST(Extractor, ReadsSoManyLinksAsItMay) {
  std::string page;
  for (int i = 0; i < 30; ++i) page += fmt::format("<a href=/{}>x</a>", i);
  const Answer answer = answer_of(200, "Content-Type: text/html\r\n", page);
  EXPECT_EQ(extract(answer).candidates.size(), 30U);
  CrawlOptions options;
  options.links_max = 7;
  EXPECT_EQ(extract(answer, options).candidates.size(), 7U);
}

TEST(Extractor, ConfirmsThePriorVersionByA304) {
  Answer answer = answer_of(304, "ETag: \"new\"\r\n", "");
  answer.visit.page.prior = prior_of("<a href=/x>");
  const Finding finding = extract(answer);
  EXPECT_EQ(finding.report->outcome, VisitOutcome::kUnchanged);
  PriorVersion expected = prior_of("<a href=/x>");
  expected.etag = "\"new\"";
  EXPECT_EQ(finding.report->version, expected);
  const auto records = read_records(finding.records.bytes);
  EXPECT_EQ(records[0].type, "revisit");
  EXPECT_EQ(records[0].refers_to, expected.record.to_string());
}

TEST(Extractor, ConfirmsThePriorVersionByItsDigest) {
  Answer answer = answer_of(200, "Content-Type: text/html\r\n", "<a href=/x>");
  answer.visit.page.prior = prior_of("<a href=/x>");
  const Finding finding = extract(answer);
  EXPECT_EQ(finding.report->outcome, VisitOutcome::kUnchanged);
  EXPECT_EQ(finding.report->version->record, prior_of("").record);
  EXPECT_EQ(finding.report->version->etag, "") << "the server names none any more";
  EXPECT_TRUE(finding.candidates.empty()) << "they were offered with that version";
  EXPECT_EQ(read_records(finding.records.bytes)[0].type, "revisit");
}

// What was seen before this crawl is nowhere in the archive yet, and nobody followed its links.
TEST(Extractor, StoresWhatWasSeenBeforeThisCrawl) {
  Answer answer = answer_of(200, "Content-Type: text/html\r\nETag: \"e\"\r\n", "<a href=/x>");
  answer.visit.page.prior = prior_of("<a href=/x>");
  answer.visit.page.prior->record = {};
  answer.visit.page.prior->sketch = web::sketch_of("a text");
  const Finding finding = extract(answer);
  EXPECT_EQ(finding.report->outcome, VisitOutcome::kUnchanged);
  EXPECT_EQ(finding.report->version->record, finding.records.first_id);
  EXPECT_EQ(finding.report->version->date, kNow);
  EXPECT_EQ(finding.report->version->etag, "\"e\"");
  EXPECT_EQ(finding.report->version->sketch, web::sketch_of("a text"));
  EXPECT_EQ(finding.candidates.size(), 1U);
  EXPECT_EQ(read_records(finding.records.bytes)[0].type, "response");
}

TEST(Extractor, WritesNoRevisitOfTheSameSecond) {
  Answer answer = answer_of(200, "Content-Type: text/html\r\n", "<a href=/x>");
  answer.visit.page.prior = prior_of("<a href=/x>");
  answer.visit.page.prior->date = kNow;
  const Finding finding = extract(answer);
  EXPECT_EQ(finding.report->outcome, VisitOutcome::kUnchanged);
  EXPECT_EQ(read_records(finding.records.bytes)[0].type, "response");
}

TEST(Extractor, StoresANewVersion) {
  Answer answer = answer_of(200, "", "new");
  answer.visit.page.prior = prior_of("old");
  const Finding finding = extract(answer);
  EXPECT_EQ(finding.report->outcome, VisitOutcome::kChanged);
  EXPECT_EQ(finding.report->version->record, finding.records.first_id);
}

TEST(Extractor, OffersTheTargetOfARedirect) {
  const Finding finding = extract(answer_of(302, "Location: //example.net/x#y\r\n", "<a href=/n>"));
  EXPECT_EQ(finding.report->outcome, VisitOutcome::kRedirected);
  EXPECT_FALSE(finding.report->version);
  ASSERT_EQ(finding.candidates.size(), 1U);
  const Candidate expected = {.url = "http://example.net/x",
                              .via = std::string(kUrl),
                              .depth = 2,
                              .hops = 2,
                              .offer = Offer::kRedirect};
  EXPECT_EQ(finding.candidates[0], expected);
}

TEST(Extractor, KnowsTheOtherOutcomes) {
  const auto outcome = [](int status, std::string_view fields = "") {
    const Finding finding = extract(answer_of(status, fields, "<a href=/x>"));
    EXPECT_TRUE(finding.candidates.empty());
    EXPECT_FALSE(finding.report->version);
    EXPECT_EQ(read_records(finding.records.bytes)[0].type, "response");
    return finding.report->outcome;
  };
  EXPECT_EQ(outcome(404), VisitOutcome::kGone);
  EXPECT_EQ(outcome(410), VisitOutcome::kGone);
  EXPECT_EQ(outcome(301), VisitOutcome::kError) << "to nowhere";
  EXPECT_EQ(outcome(301, "Location: mailto:a@b.c\r\n"), VisitOutcome::kRedirected);
  EXPECT_EQ(outcome(304), VisitOutcome::kError) << "nothing was known before";
  EXPECT_EQ(outcome(500), VisitOutcome::kError);
}

TEST(Extractor, KeepsNoValidatorsOfABodyThatWasCut) {
  Answer answer = answer_of(200, "ETag: \"e\"\r\nLast-Modified: then\r\n", "half");
  answer.fetched.truncation = fetch::Truncation::kDisconnect;
  const Finding finding = extract(answer);
  EXPECT_EQ(finding.report->outcome, VisitOutcome::kChanged);
  EXPECT_EQ(finding.report->version->etag, "");
  EXPECT_EQ(finding.report->version->last_modified, "");
}

TEST(Extractor, KeepsNoValidatorThatIsTooLong) {
  const std::string tag(kValidatorBytesMax + 1, 'e');
  const Finding finding = extract(answer_of(200, fmt::format("ETag: {}\r\n", tag), "x"));
  EXPECT_EQ(finding.report->version->etag, "");
}

TEST(Extractor, RecordsWhyAFetchFailed) {
  Answer answer = answer_of(0, "", "");
  answer.fetched.outcome = FetchOutcome::kConnectTimeout;
  answer.fetched.error = "no answer in 10 s";
  answer.fetched.response_head.clear();
  answer.fetched.connected.reset();
  const Finding finding = extract(answer);
  EXPECT_EQ(finding.report->outcome, VisitOutcome::kError);
  EXPECT_EQ(finding.report->fetch, FetchOutcome::kConnectTimeout);
  EXPECT_EQ(finding.host.fetch, FetchOutcome::kConnectTimeout);
  const auto records = read_records(finding.records.bytes);
  ASSERT_EQ(records.size(), 1U);
  EXPECT_EQ(records[0].type, "metadata");
  EXPECT_NE(records[0].block.find("connect_timeout"), std::string::npos);
  EXPECT_NE(records[0].block.find("no answer in 10 s"), std::string::npos);
}

TEST(Extractor, TakesAHeadWithoutAStatusForNoAnswer) {
  Answer answer = answer_of(200, "", "<html>");
  answer.fetched.response_head = "hello\r\n\r\n";
  const Finding finding = extract(answer);
  EXPECT_EQ(finding.report->fetch, FetchOutcome::kBadResponse);
  EXPECT_EQ(finding.report->status, 0);
  EXPECT_EQ(read_records(finding.records.bytes)[0].type, "metadata");
}

TEST(Extractor, KeepsNoarchivePagesOnlyIfItMay) {
  const Answer answer = answer_of(200, "Content-Type: text/html\r\n",
                                  "<meta name=robots content=noarchive><a href=/x>secret</a>");
  EXPECT_EQ(read_records(extract(answer).records.bytes)[0].type, "response");
  CrawlOptions options;
  options.stores_noarchive = false;
  const Finding finding = extract(answer, options);
  EXPECT_EQ(finding.report->outcome, VisitOutcome::kChanged);
  EXPECT_FALSE(finding.report->version);
  EXPECT_EQ(finding.candidates.size(), 1U);
  const auto records = read_records(finding.records.bytes);
  ASSERT_EQ(records.size(), 1U);
  EXPECT_EQ(records[0].type, "metadata");
  EXPECT_EQ(records[0].block.find("secret"), std::string::npos);
}

TEST(Extractor, KeepsNoindexPagesOnlyIfItMay) {
  CrawlOptions options;
  options.stores_noindex = false;
  const Answer meta = answer_of(200, "Content-Type: text/html\r\n",
                                "<meta name=meguri content=noindex><a href=/x>x</a>");
  EXPECT_EQ(read_records(extract(meta).records.bytes)[0].type, "response");
  EXPECT_EQ(read_records(extract(meta, options).records.bytes)[0].type, "metadata");
  // Of any format, by its header.
  const Answer image = answer_of(200, "Content-Type: image/png\r\nX-Robots-Tag: noindex\r\n",
                                 std::string("\x89PNG\0\0", 6));
  EXPECT_EQ(read_records(extract(image).records.bytes)[0].type, "response");
  const Finding finding = extract(image, options);
  EXPECT_EQ(read_records(finding.records.bytes)[0].type, "metadata");
  EXPECT_FALSE(finding.report->version);
  options.stores_noindex = true;
  options.stores_noarchive = false;
  EXPECT_EQ(read_records(extract(image, options).records.bytes)[0].type, "response");
  const Answer other = answer_of(200, "X-Robots-Tag: otherbot: noarchive\r\n", "text");
  EXPECT_EQ(read_records(extract(other, options).records.bytes)[0].type, "response");
}

TEST(Extractor, FollowsNofollowPagesOnlyIfItMay) {
  const Answer answer = answer_of(200, "Content-Type: text/html\r\nX-Robots-Tag: nofollow\r\n",
                                  "<a href=/x>x</a><img src=/i>");
  EXPECT_EQ(extract(answer).candidates.size(), 1U);
  CrawlOptions options;
  options.obeys_nofollow = false;
  EXPECT_EQ(extract(answer, options).candidates.size(), 2U);
}

TEST(Extractor, SaysWhatMayPass) {
  const auto report_of = [](const Answer& answer) { return *extract(answer).report; };
  EXPECT_FALSE(report_of(answer_of(200, "", "x")).may_pass);
  EXPECT_FALSE(report_of(answer_of(404, "", "x")).may_pass);
  EXPECT_TRUE(report_of(answer_of(500, "", "x")).may_pass);
  const Finding busy = extract(answer_of(503, "Retry-After: 120\r\n", "x"));
  EXPECT_TRUE(busy.report->may_pass);
  EXPECT_EQ(busy.report->hold, Duration::minutes(2));
  EXPECT_EQ(busy.host.hold, Duration::minutes(2));
  Answer reset = answer_of(200, "", "x");
  reset.fetched.outcome = FetchOutcome::kReset;
  EXPECT_TRUE(report_of(reset).may_pass);
  // A body that was cut; cut at the same place again, that is how it is.
  Answer cut = answer_of(200, "", "half of");
  cut.fetched.truncation = fetch::Truncation::kDisconnect;
  EXPECT_TRUE(report_of(cut).may_pass);
  cut.visit.page.prior = prior_of("half of");
  EXPECT_FALSE(report_of(cut).may_pass);
  cut.visit.page.prior = prior_of("half");
  EXPECT_TRUE(report_of(cut).may_pass);
  cut.fetched.truncation = fetch::Truncation::kLength;
  EXPECT_FALSE(report_of(cut).may_pass);
}

// As extract(), with a spool.
Finding extract_with(const std::shared_ptr<env::Spool>& spool, const Answer& answer) {
  auto findings = extract_all(EngineKind::kSimulation, {answer}, {}, 1, spool);
  EXPECT_EQ(findings.size(), 1U);
  return findings.empty() ? Finding() : std::move(findings.front());
}

TEST(Extractor, FindsTheSameInABodyOnDisk) {
  env::MemoryFileSystem fs;
  const std::shared_ptr<env::Spool> spool = env::disk_spool(fs);
  std::string body = "<a href=/first>";
  while (body.size() < 900'000) body += "some words and some more ";
  body += "<a href=/last>";
  Answer answer = answer_of(200, "Content-Type: text/html\r\n", body);
  const Finding memory = extract(answer);
  answer.fetched.body = env::spooled(*spool, body);
  const Finding disk = extract_with(spool, answer);
  EXPECT_EQ(disk.report->version, memory.report->version);
  EXPECT_EQ(disk.candidates, memory.candidates);
  EXPECT_EQ(disk.candidates.size(), 2U);
  EXPECT_EQ(disk.note.digest, memory.note.digest);
  EXPECT_EQ(disk.note.bytes, memory.note.bytes);
  const auto records = read_records(disk.records.bytes);
  ASSERT_EQ(records.size(), 2U);
  EXPECT_EQ(records[0].type, "response");
  EXPECT_TRUE(records[0].block == read_records(memory.records.bytes)[0].block);
}

TEST(Extractor, MakesOurFailureOfADiskThatFails) {
  env::FaultyFileSystem fs;
  env::FaultyFileSystem reads;  // both outlive the answer
  const std::shared_ptr<env::Spool> spool = env::disk_spool(fs);
  Answer answer = answer_of(200, "Content-Type: text/html\r\n", "");
  answer.fetched.body = env::spooled(*spool, "<a href=/next>");
  fs.fail_changes_from(0, base::ErrorCode::kNoSpace);  // nothing can be written: no records
  const auto check = [](const Finding& finding) {
    ASSERT_TRUE(finding.report);
    EXPECT_EQ(finding.report->outcome, VisitOutcome::kError);
    EXPECT_EQ(finding.report->fetch, FetchOutcome::kLocalFailure);
    EXPECT_TRUE(finding.report->may_pass);
    EXPECT_FALSE(finding.report->version);
    EXPECT_EQ(finding.host.status, 0);
    EXPECT_EQ(finding.note.fetch, FetchOutcome::kLocalFailure);
    EXPECT_FALSE(finding.note.digest);
    EXPECT_TRUE(finding.note.error.starts_with("its body cannot be kept: ")) << finding.note.error;
    const auto records = read_records(finding.records.bytes);
    ASSERT_EQ(records.size(), 1U);
    EXPECT_EQ(records[0].type, "metadata");
    EXPECT_TRUE(records[0].block.contains("reason: local_failure\r\n")) << records[0].block;
  };
  check(extract_with(spool, answer));

  const std::shared_ptr<env::Spool> other = env::disk_spool(reads);
  answer.fetched.body = env::spooled(*other, "<a href=/next>");
  for (std::uint64_t read = 0; read < 4; ++read) {
    reads.fail_read_after(read, base::ErrorCode::kIo);
    SCOPED_TRACE(read);
    check(extract_with(other, answer));
  }
}

TEST(Extractor, MakesEqualFindingsOfEqualSeeds) {
  const Answer answer = answer_of(200, "Content-Type: text/html\r\n", "x");
  EXPECT_EQ(env::text_of(extract(answer).records.bytes),
            env::text_of(extract(answer).records.bytes));
}

TEST(ExtractorThreads, FindsSomethingInEveryAnswerOnce) {
  std::vector<Answer> answers;
  for (int i = 0; i < 200; ++i) {
    const int status = i % 3 == 0 ? 404 : 200;
    answers.push_back(answer_of(status, "Content-Type: text/html\r\n", "<a href=/x>",
                                fmt::format("http://example.org/{}", i)));
  }
  const auto findings = extract_all(EngineKind::kThreads, answers, {}, 3);
  std::set<base::Id> ids;
  std::set<archive::RecordId> records;
  for (const Finding& finding : findings) {
    ids.insert(finding.report->id);
    records.insert(finding.records.first_id);
  }
  EXPECT_EQ(findings.size(), 200U);
  EXPECT_EQ(ids.size(), 200U);
  EXPECT_EQ(records.size(), 200U) << "every instance draws ids of its own";
}

}  // namespace
}  // namespace meguri::crawl
