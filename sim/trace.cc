#include "sim/trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>

#include "base/check.h"
#include "base/text.h"
#include "sim/line_file.h"

namespace meguri::sim {
namespace {

struct Event {
  std::int64_t seconds = 0;
  bool is_deletion = false;
};

std::optional<Event> event_of(std::string_view text) {
  Event event;
  if (text.starts_with('D')) {
    event.is_deletion = true;
    text.remove_prefix(1);
  }
  if (text.empty() || text.front() < '0' || text.front() > '9') return std::nullopt;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, event.seconds);
  if (error != std::errc() || stop != end || event.seconds > Trace::kSecondsMax) return {};
  return event;
}

// Appends the events of one page to `*all`. Returns what is wrong with the line; empty: nothing.
std::string append_page(std::string_view line, std::vector<Event>* all) {
  const std::size_t tab = line.find('\t');
  if (tab == std::string_view::npos) return "there is no tab between a path and its times";
  if (tab == 0) return "there is no path";
  const std::size_t first = all->size();
  std::string_view rest = line.substr(tab + 1);
  std::int64_t last = 0;
  while (true) {
    const std::string_view text = rest.substr(0, rest.find(' '));
    const auto event = event_of(text);
    if (!event) return fmt::format("{} is no time", base::quoted(text));
    if (event->seconds < last) return fmt::format("{} comes after a later time", text);
    last = event->seconds;
    if (all->size() > first && all->back().seconds == last) all->pop_back();
    const bool is_there = all->size() > first && !all->back().is_deletion;
    if (is_there || !event->is_deletion) all->push_back(*event);
    if (text.size() == rest.size()) return "";
    rest.remove_prefix(text.size() + 1);
  }
}

}  // namespace

base::Result<Trace> Trace::read(env::FileSystem& fs, const std::string& path) {
  ASSIGN_OR_RETURN(LineFile lines, LineFile::open(fs, path));
  Trace trace;
  std::vector<Event> all;
  while (true) {
    ASSIGN_OR_RETURN(const auto line, lines.next());
    if (!line) break;
    if (const std::string wrong = append_page(*line, &all); !wrong.empty()) {
      return lines.fail(wrong);
    }
    if (all.size() > kEventsMax) return lines.fail("there are too many changes");
    trace.ends_.push_back(static_cast<std::uint32_t>(all.size()));
  }
  if (all.empty()) return base::fail(base::ErrorCode::kCorrupt, "{}: there are no changes", path);
  const auto [begin, end] = std::ranges::minmax(all, {}, &Event::seconds);
  if (end.seconds - begin.seconds >= RecordedChanges::kDeletion) {
    return base::fail(base::ErrorCode::kCorrupt, "{}: its changes spread over more than 68 years",
                      path);
  }
  trace.begin_ = base::Instant::from_ms(begin.seconds * 1000);
  trace.span_ = base::Duration::seconds(end.seconds - begin.seconds);
  trace.events_.reserve(all.size());
  for (const Event& event : all) {
    const auto seconds = static_cast<std::uint32_t>(event.seconds - begin.seconds);
    trace.events_.push_back(event.is_deletion ? seconds | RecordedChanges::kDeletion : seconds);
  }
  return trace;
}

std::span<const std::uint32_t> Trace::events_of(std::size_t page) const {
  CHECK(page < ends_.size());
  const std::size_t first = page == 0 ? 0 : ends_[page - 1];
  return std::span(events_).subspan(first, ends_[page] - first);
}

}  // namespace meguri::sim
