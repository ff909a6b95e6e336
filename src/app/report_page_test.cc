#include "app/report_page.h"

#include <gtest/gtest.h>

#include <string>

#include "app/report_figures.h"

namespace meguri::app {
namespace {

using base::Duration;

bool holds(const std::string& text, const std::string& what) {
  return text.find(what) != std::string::npos;
}

CrawlReport report_with_host(const std::string& name) {
  CrawlReport report;
  report.archive = "example";
  report.hosts = HostFigures(1, 1024);
  report.hosts.add({.name = name,
                    .pages = 3,
                    .visits_a_day = 86'400,
                    .access = Duration::seconds(6),
                    .download = Duration::seconds(1)});
  report.host_wait = Duration::seconds(5);
  return report;
}

TEST(ReportPage, KeepsMarkupOfStrangersText) {
  CrawlReport report = report_with_host("<script>alert(\"1\")</script>&amp;\x1b[2J\xff");
  report.archive = "/a/</title><b onclick=\"x\">";
  report.notes.emplace_back("<i>note</i>");
  const std::string page = report_page(report);
  EXPECT_FALSE(holds(page, "<script"));
  EXPECT_FALSE(holds(page, "<b onclick"));
  EXPECT_FALSE(holds(page, "<i>"));
  EXPECT_FALSE(holds(page, "\x1b"));
  EXPECT_FALSE(holds(page, "\xff"));
  EXPECT_TRUE(holds(page, "&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt;&amp;amp;"));
  EXPECT_TRUE(
      holds(page, "<title>Crawl of /a/&lt;/title&gt;&lt;b onclick=&quot;x&quot;&gt;</title>"));
}

TEST(ReportPage, NeedsNothingFromElsewhere) {
  const std::string page = report_page(report_with_host("example.org"));
  for (const char* what : {" src=", "href=", "url(", "@import", "<script", "<link"}) {
    EXPECT_FALSE(holds(page, what)) << what;
  }
}

TEST(ReportPage, SaysWhereThereIsNothingToShow) {
  CrawlReport report;
  report.archive = "empty";
  report.pages.emplace();
  report.visits.emplace();
  const std::string page = report_page(report);
  EXPECT_TRUE(holds(page, "There is nothing to show yet."));
  EXPECT_FALSE(holds(page, "<svg"));
  EXPECT_FALSE(holds(page, "nan"));
}

TEST(ReportFigures, OfHostsShowWhoIsAskedForTooMuch) {
  const auto figures = report_figures(report_with_host("example.org"));
  ASSERT_EQ(figures.size(), 3U);  // pages could not be read
  const ReportFigure& between = figures[0];
  EXPECT_TRUE(holds(between.text, "0 of 1 host bear"));
  ASSERT_EQ(between.plot.lines.size(), 1U);
  EXPECT_EQ(between.plot.lines[0].at, 5);
  ASSERT_EQ(between.table.rows.size(), 2U);  // 1/L is a second: not below one, but below two
  EXPECT_EQ(between.table.rows[0], (std::vector<std::string>{"1 s", "0", "0.0 %"}));
  EXPECT_EQ(between.table.rows[1], (std::vector<std::string>{"2 s", "1", "100.0 %"}));
}

TEST(ReportTables, NameTheHostsWithTheLeastRoom) {
  const auto tables = report_tables(report_with_host("example.org"));
  ASSERT_EQ(tables.size(), 1U);  // the others have nothing to say
  EXPECT_EQ(tables[0].rows, (std::vector<std::vector<std::string>>{
                                {"example.org", "3", "86,400", "1 s", "6 s", "1", "no"}}));
}

}  // namespace
}  // namespace meguri::app
