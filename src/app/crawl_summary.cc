#include "app/crawl_summary.h"

#include <fmt/format.h>

#include <iterator>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>
#include <vector>

#include "app/figures.h"
#include "app/output.h"
#include "archive/warc_name.h"

namespace meguri::app {

namespace {

// "12 reset, 3 head_timeout"; empty: all were answered.
std::string failures_of(const crawl::VisitTotals& visits) {
  std::string text;
  for (std::size_t i = 0; i < visits.by_fetch.size(); ++i) {
    const auto kind = static_cast<fetch::FetchOutcome>(i);
    if (kind == fetch::FetchOutcome::kAnswered || visits.by_fetch[i] == 0) continue;
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", grouped(visits.by_fetch[i]),
                        fetch::name_of(kind));
  }
  return text;
}

void add_line(std::string_view name, std::string_view value, std::string& out) {
  if (!value.empty()) fmt::format_to(std::back_inserter(out), "  {:<9} {}\n", name, value);
}

template <typename Hosts, typename ToText>
std::string hosts_text(const Hosts& hosts, ToText to_text) {
  std::string text;
  for (const auto& [host, value] : hosts) {
    text += fmt::format("{}{} ({})", text.empty() ? "" : ", ", printable(host), to_text(value));
  }
  return text;
}

double rate_of(const CrawlSnapshot& end) {
  const double seconds = end.running.in_seconds();
  return seconds > 0 ? static_cast<double>(end.visits.pages) / seconds : 0;
}

}  // namespace

base::Result<CrawlSummary> CrawlSummary::of(CrawlSnapshot end, env::FileSystem& files,
                                            const std::string& dir, bool is_finished) {
  CrawlSummary summary;
  summary.end = std::move(end);
  summary.dir = dir;
  summary.is_finished = is_finished;
  ASSIGN_OR_RETURN(const std::vector<std::string> names, files.list(dir + "/warc"));
  for (const std::string& name : names) {
    if (!archive::WarcName::parse(name)) continue;
    ASSIGN_OR_RETURN(const std::uint64_t size, files.size(dir + "/warc/" + name));
    ++summary.warc_files;
    summary.warc_bytes += size;
  }
  return summary;
}

std::string CrawlSummary::to_string() const {
  const crawl::VisitTotals& visits = end.visits;
  std::string text = end.standing.to_string() + "\n";
  add_line(
      "visits",
      fmt::format("{} and {} robots.txt in {}, {} pages/s", counted(visits.pages, "page", "pages"),
                  grouped(visits.robots), end.running.to_string(), rate_text(rate_of(end))),
      text);
  if (end.from_history > 0) {
    add_line("history", counted(end.from_history, "page was", "pages were") + " archived before",
             text);
  }
  add_line("received",
           fmt::format("{}, {} in the archive", bytes_text(visits.bytes_received),
                       bytes_text(visits.bytes_archived)),
           text);
  add_line("failures", failures_of(visits), text);
  add_line("failing", hosts_text(visits.failing, [](std::uint64_t n) { return grouped(n); }), text);
  add_line("slowest",
           hosts_text(visits.slowest, [](base::Duration time) { return time.to_string(); }), text);
  add_line("archive",
           fmt::format("{}/warc: {}, {}", dir, counted(warc_files, "WARC file", "WARC files"),
                       bytes_text(warc_bytes)),
           text);
  add_line("log", dir + "/logs/crawl.jsonl", text);
  if (!is_finished) {
    text += end.goes_on ? std::string("stopped; the same command goes on\n")
                        : fmt::format("stopped before the end, {} left; the same command goes on\n",
                                      counted(end.standing.left(), "page is", "pages are"));
  }
  return text;
}

nlohmann::json CrawlSummary::to_json() const {
  const crawl::VisitTotals& visits = end.visits;
  nlohmann::json result = end.standing.to_json();
  nlohmann::json failures = nlohmann::json::object();
  for (std::size_t i = 0; i < visits.by_fetch.size(); ++i) {
    const auto kind = static_cast<fetch::FetchOutcome>(i);
    if (kind == fetch::FetchOutcome::kAnswered || visits.by_fetch[i] == 0) continue;
    failures[std::string(fetch::name_of(kind))] = visits.by_fetch[i];
  }
  result["finished"] = is_finished;
  result["seconds"] = end.running.in_seconds();
  result["visits"] = {{"pages", visits.pages}, {"robots", visits.robots}};
  result["from_history"] = end.from_history;
  result["failures"] = failures;
  result["bytes_received"] = visits.bytes_received;
  result["bytes_archived"] = visits.bytes_archived;
  result["warc"] = {{"dir", dir + "/warc"}, {"files", warc_files}, {"bytes", warc_bytes}};
  result["log"] = dir + "/logs/crawl.jsonl";
  return result;
}

}  // namespace meguri::app
