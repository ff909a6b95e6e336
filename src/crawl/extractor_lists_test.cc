// What the Extractor makes of robots.txt, sitemaps and feeds.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "archive/gzip_writer.h"
#include "crawl/extractor_testing.h"
#include "crawl/warc_testing.h"

namespace meguri::crawl {
namespace {

using namespace testing;  // NOLINT(google-build-using-namespace): this file is about nothing else

using base::Duration;

TEST(ExtractorLists, ReadsSitemapsThatAreFilesOfGzip) {
  std::string packed;
  archive::GzipWriter().append_member("<urlset><url><loc>http://example.org/a</loc></url></urlset>",
                                      {}, {}, &packed);
  Answer answer = answer_of(200, "Content-Type: application/x-gzip\r\n", packed);
  answer.visit.page.candidate.offer = Offer::kSitemap;
  answer.visit.page.candidate.depth = 0;
  const Finding finding = extract(answer);
  ASSERT_EQ(finding.candidates.size(), 1U);
  EXPECT_EQ(finding.candidates[0].url, "http://example.org/a");
  EXPECT_EQ(finding.candidates[0].depth, 1U);
  const auto records = read_records(finding.records.bytes);
  EXPECT_TRUE(records[0].block.ends_with(packed)) << "it is stored as it came";
}

TEST(ExtractorLists, OffersTheSitemapsOfRobotsTxt) {
  Answer answer = robots_answer(200, "", "User-agent: *\nSitemap: http://cdn.example.net/s.xml\n");
  const Finding finding = extract(answer);
  ASSERT_EQ(finding.candidates.size(), 1U);
  EXPECT_EQ(finding.candidates[0].url, "http://cdn.example.net/s.xml");
  EXPECT_EQ(finding.candidates[0].via, "http://example.org/robots.txt");
  EXPECT_EQ(finding.candidates[0].offer, Offer::kSitemap);
  CrawlOptions options;
  options.hints.sitemaps = false;
  EXPECT_TRUE(extract(answer, options).candidates.empty());
}

TEST(ExtractorLists, OffersTheWellKnownSitemapWhereRobotsTxtNamesNone) {
  for (const int status : {200, 404, 410}) {
    const Answer answer = robots_answer(status, "", "User-agent: *\nDisallow: /x\n");
    const Finding finding = extract(answer);
    ASSERT_EQ(finding.candidates.size(), 1U) << status;
    EXPECT_EQ(finding.candidates[0].url, "http://example.org/sitemap.xml");
    EXPECT_EQ(finding.candidates[0].via, "http://example.org/robots.txt");
    EXPECT_EQ(finding.candidates[0].offer, Offer::kSitemap);
    CrawlOptions options;
    options.hints.well_known = false;
    EXPECT_TRUE(extract(answer, options).candidates.empty());
  }
  for (const int status : {301, 403, 429, 503}) {
    EXPECT_TRUE(extract(robots_answer(status, "", "")).candidates.empty()) << status;
  }
}

std::string sitemap_of(std::string_view lastmod) {
  return fmt::format(
      "<urlset><url><loc>http://example.org/a</loc><lastmod>{}</lastmod></url></urlset>", lastmod);
}

TEST(ExtractorLists, OffersTheEntriesOfSitemapsWithTheirDates) {
  const Finding finding = extract(answer_of(200, "", sitemap_of("2025-12-30T12:00:00Z")));
  ASSERT_EQ(finding.candidates.size(), 1U);
  EXPECT_EQ(finding.candidates[0].modified, kNow - Duration::hours(36));
  EXPECT_TRUE(finding.report->is_list);
  EXPECT_FALSE(extract(answer_of(200, "", "<a href=/x>x</a>")).report->is_list);
}

TEST(ExtractorLists, TakesAListForChangedWhenItSaysSomethingElse) {
  const auto counts = [](const std::string& before, const std::string& after) {
    Answer first = answer_of(200, "", before);
    Answer second = answer_of(200, "", after);
    second.fetched.times.started_utc = kNow + Duration::hours(1);
    second.visit.page.prior = extract(first).report->version;
    const Finding finding = extract(second);
    EXPECT_EQ(finding.report->outcome, VisitOutcome::kChanged);
    return finding.report->counts;
  };
  const std::string old = sitemap_of("2025-12-30T12:00:00Z");
  EXPECT_TRUE(counts(old, sitemap_of("2025-12-30T13:00:00Z")));
  EXPECT_FALSE(counts(old, old + "<!-- made anew -->"));
  // "Now" at both times.
  EXPECT_FALSE(
      counts(sitemap_of(kNow.to_rfc3339()), sitemap_of((kNow + Duration::hours(1)).to_rfc3339())));
}

TEST(ExtractorLists, TakesARobotsTxtThatWasCutForNoAnswer) {
  Answer answer = robots_answer(200, "", "User-agent: *\nDisallow: /a\nDisa");
  answer.fetched.truncation = fetch::Truncation::kDisconnect;
  const Finding cut = extract(answer);
  EXPECT_EQ(cut.host.status, 0);
  EXPECT_EQ(cut.host.robots, "");
  EXPECT_EQ(read_records(cut.records.bytes)[0].type, "response");
  answer.fetched.truncation = fetch::Truncation::kUnspecified;  // chunks that cannot be read
  EXPECT_EQ(extract(answer).host.status, 0);
  answer.fetched.truncation = fetch::Truncation::kLength;  // at the limit of what counts
  EXPECT_EQ(extract(answer).host.status, 200);
  answer = robots_answer(200, "Content-Encoding: gzip\r\n", "User-agent: *\nDisallow: /\n");
  const Finding false_coding = extract(answer);
  EXPECT_EQ(false_coding.host.status, 0);
  EXPECT_EQ(false_coding.note.error, "its content coding was not undone to the end: corrupt");
}

TEST(ExtractorLists, HandsOnTheTextOfRobotsTxt) {
  std::string packed;
  archive::GzipWriter().append_member("User-agent: *\nDisallow: /x\n", {}, {}, &packed);
  const Finding finding = extract(robots_answer(200, "Content-Encoding: gzip\r\n", packed));
  EXPECT_FALSE(finding.report);
  EXPECT_EQ(finding.host.purpose, Purpose::kRobots);
  EXPECT_EQ(finding.host.robots, "User-agent: *\nDisallow: /x\n");
  EXPECT_EQ(finding.host.redirect, "");
  EXPECT_EQ(read_records(finding.records.bytes)[0].purpose, "robots");
}

TEST(ExtractorLists, HandsOnNoTextOfARobotsTxtThatIsNotThere) {
  const Finding finding = extract(robots_answer(404, "", "Disallow: /"));
  EXPECT_FALSE(finding.report);
  EXPECT_EQ(finding.host.robots, "");
  EXPECT_EQ(finding.host.status, 404);
}

TEST(ExtractorLists, SaysWhereRobotsTxtWasRedirectedTo) {
  const Finding finding =
      extract(robots_answer(301, "Location: https://example.org/robots.txt\r\n", ""));
  EXPECT_FALSE(finding.report);
  EXPECT_TRUE(finding.candidates.empty());
  EXPECT_EQ(finding.host.redirect, "https://example.org/robots.txt");
}

}  // namespace
}  // namespace meguri::crawl
