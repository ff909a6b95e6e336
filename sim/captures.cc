#include "sim/captures.h"

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <utility>

#include "base/hash.h"
#include "base/text.h"
#include "sim/leads.h"
#include "web/canonical.h"
#include "web/url.h"

namespace meguri::sim {
namespace {

using base::Instant;

// The blank-separated word at the front of `line`, which is taken from it.
std::string_view take_word(std::string_view* line) {
  constexpr std::string_view kBlanks = " \t\r";
  line->remove_prefix(std::min(line->find_first_not_of(kBlanks), line->size()));
  const std::string_view word = line->substr(0, line->find_first_of(kBlanks));
  line->remove_prefix(word.size());
  return word;
}

std::optional<Instant> time_of(std::string_view word) {
  if (const auto time = Instant::parse_digits(word)) return *time;
  if (const auto time = Instant::parse_rfc3339(word)) return *time;
  return std::nullopt;
}

// The value of "url" in an object of a CDXJ line. Such a line is written by a program, and a URL
// has no character that JSON escapes but the slash and the ampersand of some writers.
std::optional<std::string> url_in_json(std::string_view json) {
  std::size_t at = json.find("\"url\"");
  if (at == std::string_view::npos) return std::nullopt;
  at = json.find('"', at + 5);
  if (at == std::string_view::npos) return std::nullopt;
  std::string url;
  for (++at; at < json.size() && json[at] != '"'; ++at) {
    if (json[at] != '\\') {
      url.push_back(json[at]);
    } else if (json.substr(at).starts_with("\\/")) {
      continue;
    } else if (json.substr(at).starts_with("\\u0026")) {
      url.push_back('&');
      at += 5;
    } else {
      return std::nullopt;
    }
  }
  if (at == json.size()) return std::nullopt;
  return url;
}

std::optional<Capture> parse_capture(std::string_view line) {
  const std::string_view first = take_word(&line);
  const auto time = time_of(take_word(&line));
  if (!time) return std::nullopt;
  line.remove_prefix(std::min(line.find_first_not_of(" \t\r"), line.size()));
  if (line.empty()) return Capture{std::string(first), *time};
  if (!line.starts_with('{')) return std::nullopt;
  auto url = url_in_json(line);
  if (!url) return std::nullopt;
  return Capture{std::move(*url), *time};
}

struct PageKey {
  HostNumber host;
  PageNumber page;

  friend bool operator==(const PageKey&, const PageKey&) = default;
};
struct PageKeyHash {
  std::size_t operator()(const PageKey& key) const {
    return static_cast<std::size_t>(base::mix64(key.host * 0x9e3779b97f4a7c15ULL + key.page));
  }
};

std::optional<PageKey> page_of(const World& world, std::string_view host, std::string_view target) {
  const auto number = world.census().host_of_name(host);
  if (!number) return std::nullopt;
  const auto page = Site(world.census(), *number).page_of(target);
  if (!page) return std::nullopt;
  return PageKey{*number, *page};
}

std::optional<PageKey> page_of_url(const World& world, std::string_view text) {
  const auto url = web::Url::parse(text);
  if (!url || !url->is_http()) return std::nullopt;
  const web::Url canonical = web::canonical(*url);
  std::string target(canonical.path());
  if (canonical.has_query()) target.append("?").append(canonical.query());
  return page_of(world, canonical.host(), target);
}

class Judge {
 public:
  Judge(const World& world, Period period) : world_(world), period_(period) {}

  void learn(std::span<const Capture> captures) {
    report_.captures = captures.size();
    for (const Capture& capture : captures) {
      const auto page = page_of_url(world_, capture.url);
      const bool counts = page && capture.time >= period_.from && capture.time < period_.to;
      if (counts) {
        times_[*page].push_back(capture.time);
      } else {
        ++report_.captures_of_no_page;
      }
    }
  }

  void judge(PageKey key) {
    const Site site(world_.census(), key.host);
    const Page page = world_.page(site, key.page);
    const auto found = times_.find(key);
    std::span<const Instant> times;
    if (found != times_.end()) times = found->second;
    const Holdings holdings = holdings_of(page.history(), times, period_.from, period_.to);
    if (holdings.versions == 0) return;
    ++report_.pages;
    if (!times.empty()) ++report_.pages_captured;
    report_.holdings += holdings;
  }

  const CaptureReport& report() const { return report_; }

 private:
  const World& world_;
  Period period_;
  std::unordered_map<PageKey, std::vector<Instant>, PageKeyHash> times_;
  CaptureReport report_;
};

}  // namespace

base::Result<std::vector<Capture>> parse_captures(std::string_view text) {
  std::vector<Capture> captures;
  std::size_t number = 0;
  while (!text.empty()) {
    ++number;
    std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.empty() || line.front() == '#' || line.front() == '!') continue;
    auto capture = parse_capture(line);
    if (!capture) {
      return base::fail(base::ErrorCode::kCorrupt,
                        "line {} is no URL and time and no line of CDXJ: {}", number,
                        base::quoted(line));
    }
    captures.push_back(std::move(*capture));
  }
  return captures;
}

Period period_of(std::span<const Capture> captures) {
  if (captures.empty()) return {};
  const auto [first, last] = std::ranges::minmax_element(captures, {}, &Capture::time);
  return {first->time, last->time + base::Duration::from_ms(1)};
}

CaptureReport judge_captures(const World& world, std::span<const Capture> captures, Period period,
                             std::span<const std::string> seeds) {
  Judge judge(world, period);
  judge.learn(captures);
  if (seeds.empty()) {
    for (HostNumber host = 0; host < world.census().hosts(); ++host) {
      const std::uint64_t pages = Site(world.census(), host).pages();
      for (PageNumber page = 0; page < pages; ++page) judge.judge({host, page});
    }
    return judge.report();
  }
  ReachOptions reach;
  reach.seeds.assign(seeds.begin(), seeds.end());
  reach.at = period.to;
  reach.embeds = false;
  for (const Reached& one : reachable(world, reach)) {
    if (const auto key = page_of(world, one.host, one.target)) judge.judge(*key);
  }
  return judge.report();
}

}  // namespace meguri::sim
