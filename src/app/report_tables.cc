#include <fmt/format.h>

#include <cmath>
#include <numeric>
#include <utility>

#include "app/figures.h"
#include "app/report_figures.h"
#include "crawl/host_load.h"

namespace meguri::app {

namespace {

std::uint64_t sum_of(const auto& counts) {
  return std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
}

void add_count(std::string_view name, std::uint64_t count, std::uint64_t all, ReportTable& table) {
  if (count > 0) table.rows.push_back({std::string(name), grouped(count), percent(count, all)});
}

ReportTable refusal_table(const CrawlStanding& standing) {
  ReportTable table{"Pages that were refused", {"reason", "pages", "share"}};
  const std::uint64_t all = sum_of(standing.refused);
  for (std::size_t i = 0; i < standing.refused.size(); ++i) {
    add_count(crawl::name_of(static_cast<crawl::Refusal>(i)), standing.refused[i], all, table);
  }
  return table;
}

ReportTable reason_table(const PageFigures& pages) {
  ReportTable table{"Why pages are visited when they are", {"reason", "pages", "share"}};
  std::uint64_t all = 0;
  for (const auto& [reason, count] : pages.reasons) all += count;
  for (const auto& [reason, count] : pages.reasons) {
    add_count(revisit::name_of(reason), count, all, table);
  }
  return table;
}

ReportTable outcome_table(const CrawlReport& report) {
  ReportTable table{"What came of it",
                    {"outcome", "pages, last visit", "share", "all visits", "share"}};
  const auto& pages = report.standing.visited;
  const std::uint64_t all_pages = sum_of(pages);
  for (std::size_t i = 0; i < pages.size(); ++i) {
    std::vector<std::string> row = {
        std::string(crawl::name_of(static_cast<crawl::VisitOutcome>(i))), grouped(pages[i]),
        percent(pages[i], all_pages), "–", "–"};
    const std::uint64_t visits = report.visits ? report.visits->outcomes[i] : 0;
    if (report.visits) {
      row[3] = grouped(visits);
      row[4] = percent(visits, report.visits->pages);
    }
    if (pages[i] + visits > 0) table.rows.push_back(std::move(row));
  }
  return table;
}

ReportTable tightest_table(const HostFigures& hosts) {
  ReportTable table{"Hosts with the least room",
                    {"host", "pages", "visits a day", "1/L", "wait and answer", "R", "bears it"}};
  for (const HostBurden& host : hosts.tightest) {
    const double ratio = crawl::feasibility(host.visits_a_day, host.download);
    table.rows.push_back(
        {host.name, grouped(host.pages), rate_text(host.visits_a_day),
         duration_name(host.seconds_between()), duration_name(host.access.in_seconds()),
         std::isfinite(ratio) ? plot_number(ratio) : "–", host.is_feasible() ? "yes" : "no"});
  }
  return table;
}

std::string span_text(const PageFigures& pages) {
  if (!pages.first_visit) return "–";
  return (*pages.last_visit - *pages.first_visit).to_string();
}

void add_page_numbers(const PageFigures& pages, std::vector<ReportNumber>& numbers) {
  numbers.push_back({"visits", grouped(pages.visits), "tries that failed included"});
  numbers.push_back({"versions", grouped(pages.versions),
                     fmt::format("{} visited again", counted(pages.seen_again, "page", "pages"))});
  std::string from_to;
  if (pages.first_visit) {
    from_to = fmt::format("{} to {}", pages.first_visit->to_rfc3339().substr(0, 16),
                          pages.last_visit->to_rfc3339().substr(0, 16));
  }
  numbers.push_back({"time span", span_text(pages), std::move(from_to)});
}

}  // namespace

std::vector<ReportTable> report_tables(const CrawlReport& report) {
  std::vector<ReportTable> tables = {outcome_table(report)};
  tables.push_back(refusal_table(report.standing));
  if (report.pages) tables.push_back(reason_table(*report.pages));
  tables.push_back(tightest_table(report.hosts));
  std::erase_if(tables, [](const ReportTable& table) { return table.rows.empty(); });
  return tables;
}

std::vector<ReportNumber> report_numbers(const CrawlReport& report) {
  const CrawlStanding& standing = report.standing;
  std::vector<ReportNumber> numbers;
  numbers.push_back(
      {"pages", grouped(standing.known),
       fmt::format("{} done, {} waiting", grouped(standing.done), grouped(standing.left()))});
  if (report.pages) add_page_numbers(*report.pages, numbers);
  numbers.push_back({"hosts", grouped(report.hosts.hosts),
                     fmt::format("{} of {} bear their load", grouped(report.hosts.feasible),
                                 grouped(report.hosts.loaded))});
  numbers.push_back({"asked for", fmt::format("{} a day", rate_text(report.hosts.visits_a_day)),
                     "visits, by the pages' own paces"});
  if (report.visits) {
    const VisitFigures& visits = *report.visits;
    numbers.push_back({"not modified", percent(visits.not_modified, visits.pages),
                       fmt::format("{} answers of 304", grouped(visits.not_modified))});
    numbers.push_back(
        {"received", bytes_text(visits.bytes),
         fmt::format("{} in the crawl log", counted(visits.pages, "visit", "visits"))});
  }
  return numbers;
}

}  // namespace meguri::app
