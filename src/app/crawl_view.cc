#include "app/crawl_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>

#include "app/figures.h"
#include "base/text.h"

namespace meguri::app {

using base::LiveLine;
using base::LiveStyle;

namespace {

constexpr std::string_view kBetween = " · ";
// Shorter waits come and go faster than people read.
constexpr base::Duration kWorthTelling = base::Duration::from_ms(500);

std::string in_whole_seconds(base::Duration duration) {
  return base::Duration::seconds(duration.ms() / 1000).to_string();
}

// As many lines as the parts need; each part stays whole.
void add_folded(const std::vector<std::string>& parts, std::size_t columns, LiveStyle style,
                std::vector<LiveLine>& lines) {
  std::string line;
  for (const std::string& part : parts) {
    const std::size_t width =
        base::display_columns(line) + base::display_columns(kBetween) + base::display_columns(part);
    if (!line.empty() && width > columns) {
      lines.push_back({std::exchange(line, {}), style});
    }
    if (!line.empty()) line += kBetween;
    line += part;
  }
  if (!line.empty()) lines.push_back({std::move(line), style});
}

// A sentence in as many lines as it needs, broken between words.
void add_wrapped(std::string_view sentence, std::size_t columns, std::vector<LiveLine>& lines) {
  std::string line;
  while (!sentence.empty()) {
    const std::size_t blank = std::min(sentence.find(' '), sentence.size());
    const std::string_view word = sentence.substr(0, blank);
    if (!line.empty() && base::display_columns(line) + 1 + base::display_columns(word) > columns) {
      lines.push_back({std::exchange(line, {}), LiveStyle::kPlain});
    }
    if (!line.empty()) line += ' ';
    line += word;
    sentence.remove_prefix(std::min(blank + 1, sentence.size()));
  }
  if (!line.empty()) lines.push_back({std::move(line), LiveStyle::kPlain});
}

std::vector<std::string> outcomes_of(const CrawlStanding& standing) {
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < standing.visited.size(); ++i) {
    if (standing.visited[i] == 0) continue;
    const auto outcome = static_cast<crawl::VisitOutcome>(i);
    const bool is_error = outcome == crawl::VisitOutcome::kError;
    parts.push_back(is_error
                        ? counted(standing.visited[i], "error", "errors")
                        : fmt::format("{} {}", grouped(standing.visited[i]), name_of(outcome)));
  }
  for (std::size_t i = 0; i < standing.refused.size(); ++i) {
    if (standing.refused[i] == 0) continue;
    parts.push_back(fmt::format("{} refused ({})", grouped(standing.refused[i]),
                                name_of(static_cast<crawl::Refusal>(i))));
  }
  return parts;
}

// Failures and answers that are no good, the most frequent first.
std::vector<std::string> troubles_of(const crawl::VisitTotals& visits) {
  std::vector<std::pair<std::uint64_t, std::string>> kinds;
  for (std::size_t i = 0; i < visits.by_fetch.size(); ++i) {
    const auto kind = static_cast<fetch::FetchOutcome>(i);
    if (kind == fetch::FetchOutcome::kAnswered || visits.by_fetch[i] == 0) continue;
    kinds.emplace_back(visits.by_fetch[i], fetch::name_of(kind));
  }
  if (visits.by_status[5] > 0) kinds.emplace_back(visits.by_status[5], "status 5xx");
  if (visits.by_status[4] > 0) kinds.emplace_back(visits.by_status[4], "status 4xx");
  if (visits.truncated > 0) kinds.emplace_back(visits.truncated, "cut short");
  std::ranges::sort(kinds, [](const auto& a, const auto& b) {
    return a.first != b.first ? a.first > b.first : a.second < b.second;
  });
  std::vector<std::string> parts;
  for (const auto& [count, kind] : kinds) {
    parts.push_back(fmt::format("{} {}", grouped(count), kind));
  }
  return parts;
}

std::string line_of(const crawl::VisitTotals::Visit& visit) {
  const bool is_answered = visit.fetch == fetch::FetchOutcome::kAnswered;
  return fmt::format("{:>15}  {:>8}  {:>8}  {}",
                     is_answered ? fmt::format("{}", visit.status) : fetch::name_of(visit.fetch),
                     bytes_text(visit.bytes), visit.duration.to_string(), visit.url);
}

// The same where there is no room for more.
std::string short_line_of(const crawl::VisitTotals::Visit& visit) {
  const bool is_answered = visit.fetch == fetch::FetchOutcome::kAnswered;
  return fmt::format("{} {}",
                     is_answered ? fmt::format("{}", visit.status) : fetch::name_of(visit.fetch),
                     visit.url);
}

// "3 hosts wait for their delay", and behind the first "3 servers for their gap".
void add_waiting(std::string& text, std::uint64_t count, std::string_view one,
                 std::string_view many, std::string_view what_one, std::string_view what_many) {
  if (count == 0) return;
  const std::string_view verb = !text.empty() ? "" : count == 1 ? "waits " : "wait ";
  if (!text.empty()) text += ", ";
  text += fmt::format("{} {}for {}", counted(count, one, many), verb,
                      count == 1 ? what_one : what_many);
}

std::string others_waiting(const CrawlSnapshot& now) {
  if (const std::uint64_t held = now.backlog_of("writer"); held > 0) {
    return fmt::format("{} to be safe on disk", counted(held, "visit waits", "visits wait"));
  }
  std::uint64_t queued = 0;
  for (const flow::EdgeMetrics& edge : now.graph.edges) queued += edge.depth;
  if (queued > 0)
    return fmt::format("{} under way inside", counted(queued, "item is", "items are"));
  const std::uint64_t due = now.standing.left() + now.standing.again;
  if (due > 0) return counted(due, "page is about to be visited", "pages are about to be visited");
  return now.goes_on ? "no page is due" : "nothing is left to visit";
}

}  // namespace

std::string what_it_waits_for(const CrawlSnapshot& now) {
  if (!now.held.empty()) return now.held;
  std::string text;
  const std::uint64_t open = now.backlog_of("fetcher");
  add_waiting(text, open, "request", "requests", "its answer", "their answers");
  add_waiting(text, now.schedule.hosts_delayed, "host", "hosts", "its delay", "their delay");
  add_waiting(text, now.schedule.servers_gap, "server", "servers", "its gap", "their gap");
  add_waiting(text, now.directory.robots_awaited, "host", "hosts", "its robots.txt",
              "their robots.txt");
  add_waiting(text, now.backlog_of("resolver"), "host", "hosts", "its address", "their addresses");
  if (text.empty()) return others_waiting(now);
  const base::Ticks next = now.schedule.next_ready;
  const bool is_far = next != base::Ticks::never() && next - now.crawl_now >= kWorthTelling;
  if (open == 0 && is_far) {
    text += "; next in " + (next - now.crawl_now).to_string();
  }
  return text;
}

void CrawlView::add(CrawlSnapshot now) {
  now_ = std::move(now);
  samples_.push_back({.at = now_.real_now,
                      .done = now_.standing.done,
                      .known = now_.standing.known,
                      .bytes = now_.visits.bytes_received});
  while (samples_.size() > 2 && now_.real_now - samples_[1].at >= kEstimateWindow) {
    samples_.pop_front();
  }
}

const CrawlView::Sample& CrawlView::first_within(base::Duration window) const {
  const auto first = std::ranges::find_if(
      samples_, [&](const Sample& sample) { return samples_.back().at - sample.at <= window; });
  return *first;  // the last one always is
}

double CrawlView::rate_of(std::uint64_t Sample::* count) const {
  const Sample& first = first_within(kRateWindow);
  const Sample& last = samples_.back();
  const double seconds = (last.at - first.at).in_seconds();
  // Right after the start, and should a count go back, there is no rate.
  if (seconds <= 0 || last.*count < first.*count) return 0;
  return static_cast<double>(last.*count - first.*count) / seconds;
}

std::optional<base::Duration> CrawlView::least_remaining() const {
  const Sample& first = first_within(kEstimateWindow);
  const Sample& last = samples_.back();
  const base::Duration passed = last.at - first.at;
  if (passed < kEstimateAfter || last.done <= first.done || last.known <= last.done) return {};
  const std::uint64_t done = last.done - first.done;
  const std::uint64_t found = last.known - std::min(last.known, first.known);
  if (found * 2 > done) return {};
  const double left = static_cast<double>(last.known - last.done) / static_cast<double>(done);
  return base::Duration::from_ms(
      static_cast<std::int64_t>(left * static_cast<double>(passed.ms())));
}

std::vector<LiveLine> CrawlView::lines(std::size_t columns) const {
  const CrawlStanding& pages = now_.standing;
  std::vector<LiveLine> lines;
  std::vector<std::string> head = {
      fmt::format("{} of {} done", grouped(pages.done), counted(pages.known, "page", "pages"))};
  if (pages.known > 0) head.push_back(fmt::format("{} %", pages.done * 100 / pages.known));
  head.push_back("running for " + in_whole_seconds(now_.running));
  if (const auto left = least_remaining())
    head.push_back(fmt::format("at least {} left", in_whole_seconds(*left)));
  add_folded(head, columns, LiveStyle::kStrong, lines);
  add_folded({rate_text(pages_per_second()) + " pages/s",
              bytes_text(static_cast<std::uint64_t>(bytes_per_second())) + "/s",
              counted(now_.backlog_of("fetcher"), "request open", "requests open"),
              counted(pages.left(), "page left", "pages left"),
              counted(now_.hosts, "host known", "hosts known")},
             columns, LiveStyle::kPlain, lines);
  if (now_.goes_on) {
    add_folded({counted(pages.revisits, "revisit", "revisits"),
                counted(pages.again, "page due again", "pages due again")},
               columns, LiveStyle::kPlain, lines);
  }
  add_folded(outcomes_of(pages), columns, LiveStyle::kPlain, lines);
  add_folded(troubles_of(now_.visits), columns, LiveStyle::kWarning, lines);
  add_wrapped(what_it_waits_for(now_), columns, lines);
  const std::size_t shown = std::min(now_.visits.last.size(), kVisitsShown);
  constexpr std::size_t kRoomy = 72;
  for (std::size_t i = 0; i < shown; ++i) {
    const auto& visit = now_.visits.last[i];
    lines.push_back({columns < kRoomy ? short_line_of(visit) : line_of(visit), LiveStyle::kFaint});
  }
  return lines;
}

std::string CrawlView::plain() const {
  const CrawlStanding& pages = now_.standing;
  std::uint64_t refused = 0;
  for (const std::uint64_t count : pages.refused) refused += count;
  std::string text = fmt::format(
      "progress done={} known={} waiting={} in_flight={} again={} revisits={} open={} "
      "pages_per_second={:.1f} "
      "bytes_per_second={:.0f} errors={} refused={} seconds={:.0f}",
      pages.done, pages.known, pages.waiting, pages.in_flight, pages.again, pages.revisits,
      now_.backlog_of("fetcher"), pages_per_second(), bytes_per_second(),
      pages.visited[static_cast<std::size_t>(crawl::VisitOutcome::kError)], refused,
      now_.running.in_seconds());
  if (const auto left = least_remaining()) {
    text += fmt::format(" seconds_left_at_least={:.0f}", left->in_seconds());
  }
  text += " waits=";
  base::append_quoted(what_it_waits_for(now_), &text);
  return text;
}

}  // namespace meguri::app
