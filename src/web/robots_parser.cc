#include "web/robots_parser.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <unordered_set>
#include <utility>

#include "web/ascii.h"
#include "web/charset_detect.h"
#include "web/robots_path.h"

namespace meguri::web {
namespace {

// The lines up to kRobotsBytesMax, in UTF-8. A line that is cut by the limit is dropped: half a
// pattern would forbid or allow what nobody asked for.
std::string_view readable_text(std::string_view bytes, std::string* storage, bool* cut) {
  *cut = bytes.size() > kRobotsBytesMax;
  std::string_view text = without_byte_order_mark(bytes.substr(0, kRobotsBytesMax), storage);
  if (!*cut || bytes[kRobotsBytesMax] == '\n' || bytes[kRobotsBytesMax] == '\r') return text;
  return text.substr(0, text.find_last_of("\r\n") + 1);
}

// "*", alone or with something behind a blank.
bool names_everyone(std::string_view agent) {
  return agent.starts_with('*') && (agent.size() == 1 || is_space(agent[1]));
}

// What the current user-agent lines say of us.
struct Named {
  bool us = false;
  bool everyone = false;
};

class Parser {
 public:
  Parser(std::string_view agent, RobotsScope scope)
      : token_(robots_product_token(agent)), scope_(scope) {}

  void take(const RobotsLine& line) {
    switch (line.key) {
      case RobotsKey::kUserAgent: take_user_agent(line.value); break;
      case RobotsKey::kAllow:
      case RobotsKey::kDisallow: take_rule(line); break;
      case RobotsKey::kSitemap: take_sitemap(line.value); break;
      case RobotsKey::kCrawlDelay: take_delay(parse_crawl_delay(line.value)); break;
      case RobotsKey::kRequestRate: take_delay(parse_request_rate(line.value)); break;
    }
  }

  RobotsFile finish() && {
    RobotsFile file{.flags = flags_};
    file.flags.own_group = us_seen_;
    file.flags.star_group = everyone_seen_ && !us_seen_;
    file.crawl_delay = delay_of_us_ ? delay_of_us_ : delay_of_everyone_;
    file.own = std::move(us_seen_ ? of_us_ : of_everyone_);
    file.sitemaps = std::move(sitemaps_);
    if (scope_ == RobotsScope::kAnyAgent) {
      file.others = std::move(of_others_);
      if (us_seen_) {
        std::ranges::copy_if(of_everyone_, std::back_inserter(file.others),
                             [](const RobotsRule& rule) { return !rule.allow; });
      }
      if (file.others.size() > kRobotsRulesMax) {
        file.others.resize(kRobotsRulesMax);
        file.flags.rules_ignored = true;
      }
    }
    return file;
  }

 private:
  void take_user_agent(std::string_view value) {
    if (rules_seen_) for_rules_ = {};
    if (rules_seen_ || delay_seen_) for_delay_ = {};
    rules_seen_ = false;
    delay_seen_ = false;
    const bool us = !token_.empty() && equals_ignoring_case(robots_product_token(value), token_);
    const bool everyone = names_everyone(value);
    for (Named* named : {&for_rules_, &for_delay_}) {
      named->us |= us;
      named->everyone |= everyone;
    }
    us_seen_ |= us;
    everyone_seen_ |= everyone;
    group_begun_ = true;
  }

  void take_rule(const RobotsLine& line) {
    rules_seen_ = true;
    const bool allow = line.key == RobotsKey::kAllow;
    const bool others_count = scope_ == RobotsScope::kAnyAgent && !allow;
    if (!group_begun_ || (!for_rules_.us && !for_rules_.everyone && !others_count)) return;
    std::string_view pattern = line.value;
    if (!pattern.starts_with('/') && !pattern.starts_with('*')) return;
    if (pattern.size() > kRobotsRuleBytesMax) {
      (allow ? flags_.rules_ignored : flags_.rule_cut) = true;
      if (allow) return;
      pattern = cut_pattern(pattern);
    }
    RobotsRule rule{comparable_pattern(pattern), line.number, allow};
    if (for_rules_.us) add(rule, &of_us_);
    if (for_rules_.everyone) add(rule, &of_everyone_);
    if (!for_rules_.us && !for_rules_.everyone) add(rule, &of_others_);
  }

  // A front of the pattern matches all that the pattern matches, if no escape is broken.
  static std::string_view cut_pattern(std::string_view pattern) {
    pattern = pattern.substr(0, kRobotsRuleBytesMax);
    const std::size_t escape = pattern.rfind('%');
    if (escape != std::string_view::npos && pattern.size() - escape < 3) {
      pattern = pattern.substr(0, escape);
    }
    while (pattern.ends_with('$')) pattern.remove_suffix(1);
    return pattern;
  }

  void add(const RobotsRule& rule, std::vector<RobotsRule>* rules) {
    if (rules->size() < kRobotsRulesMax) {
      rules->push_back(rule);
    } else {
      flags_.rules_ignored = true;
    }
  }

  void take_delay(std::optional<base::Duration> delay) {
    delay_seen_ = true;
    if (!delay) return;
    if (for_delay_.us) delay_of_us_ = std::max(delay_of_us_, delay);
    if (for_delay_.everyone) delay_of_everyone_ = std::max(delay_of_everyone_, delay);
  }

  void take_sitemap(std::string_view url) {
    if (url.empty() || url.size() > kRobotsSitemapBytesMax) return;
    if (sitemaps_.size() >= kRobotsSitemapsMax) return;
    if (sitemaps_seen_.insert(url).second) sitemaps_.emplace_back(url);
  }

  std::string_view token_;
  RobotsScope scope_;
  RobotsFlags flags_;
  Named for_rules_;
  Named for_delay_;
  bool group_begun_ = false;
  bool rules_seen_ = false;  // since the last user-agent line
  bool delay_seen_ = false;
  bool us_seen_ = false;
  bool everyone_seen_ = false;
  std::vector<RobotsRule> of_us_;
  std::vector<RobotsRule> of_everyone_;
  std::vector<RobotsRule> of_others_;
  std::optional<base::Duration> delay_of_us_;
  std::optional<base::Duration> delay_of_everyone_;
  std::vector<std::string> sitemaps_;
  std::unordered_set<std::string_view> sitemaps_seen_;  // views of the text
};

}  // namespace

RobotsFile parse_robots_file(std::string_view bytes, std::string_view agent, RobotsScope scope) {
  std::string storage;
  bool cut = false;
  const std::string_view text = readable_text(bytes, &storage, &cut);
  const std::size_t first = text.find_first_not_of(" \t\r\n\f");
  if (first != std::string_view::npos && text[first] == '<') {
    return {.flags = {.markup = true, .bytes_cut = cut}};
  }
  Parser parser(agent, scope);
  RobotsLines lines(text);
  while (const auto line = lines.next()) parser.take(*line);
  RobotsFile file = std::move(parser).finish();
  file.flags.bytes_cut = cut;
  return file;
}

}  // namespace meguri::web
