#include "web/robots_rules.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

namespace meguri::web {
namespace {

constexpr std::size_t kHeaderBytes = 10;
constexpr std::size_t kNodeBytes = 14;
constexpr std::size_t kTailBytes = 16;
constexpr std::size_t kRuleBytes = 10;
constexpr std::size_t kNone = 0xFFFF;

std::size_t byte_at(std::string_view bytes, std::size_t i) {
  return static_cast<unsigned char>(bytes[i]);
}

template <typename T>
T little_endian_at(std::string_view bytes, std::size_t i) {
  T value = 0;
  std::memcpy(&value, bytes.data() + i, sizeof value);
  return std::endian::native == std::endian::little ? value : std::byteswap(value);
}

std::size_t u16_at(std::string_view bytes, std::size_t i) {
  return little_endian_at<std::uint16_t>(bytes, i);
}

std::size_t u32_at(std::string_view bytes, std::size_t i) {
  return little_endian_at<std::uint32_t>(bytes, i);
}

std::uint64_t u64_at(std::string_view bytes, std::size_t i) {
  return little_endian_at<std::uint64_t>(bytes, i);
}

std::size_t common_front(std::string_view a, std::string_view b) {
  return static_cast<std::size_t>(std::ranges::mismatch(a, b).in1 - a.begin());
}

// memmem stays linear where std::string_view::find does not, but is slow to start.
std::size_t find(std::string_view text, std::string_view part) {
  constexpr std::size_t kShort = 1000;
  if (part.empty()) return 0;
  if (text.size() < kShort) return text.find(part);
  const void* at = ::memmem(text.data(), text.size(), part.data(), part.size());
  if (at == nullptr) return std::string_view::npos;
  return static_cast<std::size_t>(static_cast<const char*>(at) - text.data());
}

// Whether `rest` matches "*part*part..." with or without "$" behind it. Taking the first place of
// each part is enough: what matches behind a later place matches behind an earlier one.
bool tail_matches(std::string_view tail, std::string_view rest) {
  const bool to_the_end = tail.ends_with('$');
  if (to_the_end) tail.remove_suffix(1);
  while (true) {
    tail.remove_prefix(std::min(tail.find_first_not_of('*'), tail.size()));
    const std::size_t star = tail.find('*');
    const std::string_view part = tail.substr(0, star);
    if (star == std::string_view::npos && to_the_end) return rest.ends_with(part);
    const std::size_t at = find(rest, part);
    if (at == std::string_view::npos) return false;
    if (star == std::string_view::npos) return true;
    rest.remove_prefix(at + part.size());
    tail.remove_prefix(star);
  }
}

}  // namespace

std::uint64_t robots_pairs(std::string_view text) {
  std::uint64_t pairs = 0;
  for (std::size_t i = 1; i < text.size(); ++i) {
    pairs |= std::uint64_t{1} << ((byte_at(text, i - 1) * 37 + byte_at(text, i)) % 64);
  }
  return pairs;
}

struct RobotsRulesView::Node {
  std::string_view text;
  std::size_t parent = kNone;
  std::size_t best = kNone;
  std::size_t exact = kNone;
  std::size_t tails_end = 0;
};

struct RobotsRulesView::Rule {
  std::string_view pattern;
  std::uint32_t line = 0;
  bool allow = false;
};

// The best rule so far, and what it cost to find.
struct RobotsRulesView::Best {
  std::optional<Rule> rule;
  std::uint64_t pairs = 0;  // of the path
  std::size_t work = 0;

  bool is_beaten_by(const Rule& other) const {
    if (!rule || other.pattern.size() != rule->pattern.size()) {
      return !rule || other.pattern.size() > rule->pattern.size();
    }
    return other.allow && !rule->allow;
  }
  void offer(const Rule& other) {
    if (is_beaten_by(other)) rule = other;
  }
};

RobotsRulesView RobotsRulesView::open_checked(std::string_view bytes) {
  RobotsRulesView view;
  if (bytes.empty()) return view;
  view.nodes_ = u16_at(bytes, 0);
  view.tails_ = u16_at(bytes, 2);
  view.rules_ = u16_at(bytes, 4);
  bytes.remove_prefix(kHeaderBytes);
  const auto take = [&bytes](std::size_t length) {
    const std::string_view taken = bytes.substr(0, length);
    bytes.remove_prefix(length);
    return taken;
  };
  view.node_bytes_ = take(view.nodes_ * kNodeBytes);
  view.tail_bytes_ = take(view.tails_ * kTailBytes);
  view.rule_bytes_ = take(view.rules_ * kRuleBytes);
  view.text_ = bytes;
  return view;
}

std::optional<RobotsRulesView> RobotsRulesView::open(std::string_view bytes) {
  if (bytes.empty()) return RobotsRulesView();
  if (bytes.size() < kHeaderBytes) return std::nullopt;
  const std::size_t wanted = kHeaderBytes + u16_at(bytes, 0) * kNodeBytes +
                             u16_at(bytes, 2) * kTailBytes + u16_at(bytes, 4) * kRuleBytes +
                             u32_at(bytes, 6);
  if (bytes.size() != wanted) return std::nullopt;
  const RobotsRulesView view = open_checked(bytes);
  if (!view.refers_within_itself()) return std::nullopt;
  return view;
}

bool RobotsRulesView::refers_within_itself() const {
  const auto text_is_inside = [this](std::string_view bytes, std::size_t i) {
    return u32_at(bytes, i) + u16_at(bytes, i + 4) <= text_.size();
  };
  const auto rule_is_inside = [this](std::size_t i) { return i == kNone || i < rules_; };
  std::size_t tails_end = 0;
  for (std::size_t i = 0; i < nodes_; ++i) {
    if (!text_is_inside(node_bytes_, i * kNodeBytes)) return false;
    const Node n = node(i);
    if (n.parent != kNone && n.parent >= i) return false;
    if (!rule_is_inside(n.best) || !rule_is_inside(n.exact)) return false;
    if (n.tails_end < tails_end || n.tails_end > tails_) return false;
    tails_end = n.tails_end;
  }
  for (std::size_t i = 0; i < tails_; ++i) {
    if (!text_is_inside(tail_bytes_, i * kTailBytes)) return false;
    if (u16_at(tail_bytes_, i * kTailBytes + 6) >= rules_) return false;
  }
  for (std::size_t i = 0; i < rules_; ++i) {
    if (!text_is_inside(rule_bytes_, i * kRuleBytes)) return false;
  }
  return true;
}

std::string_view RobotsRulesView::text(std::size_t offset, std::size_t length) const {
  return {text_.data() + offset, length};
}

RobotsRulesView::Node RobotsRulesView::node(std::size_t i) const {
  const std::size_t at = i * kNodeBytes;
  return {.text = text(u32_at(node_bytes_, at), u16_at(node_bytes_, at + 4)),
          .parent = u16_at(node_bytes_, at + 6),
          .best = u16_at(node_bytes_, at + 8),
          .exact = u16_at(node_bytes_, at + 10),
          .tails_end = u16_at(node_bytes_, at + 12)};
}

RobotsRulesView::Rule RobotsRulesView::rule(std::size_t i) const {
  const std::size_t at = i * kRuleBytes;
  const std::size_t line_and_allow = u32_at(rule_bytes_, at + 6);
  return {.pattern = text(u32_at(rule_bytes_, at), u16_at(rule_bytes_, at + 4)),
          .line = static_cast<std::uint32_t>(line_and_allow >> 1U),
          .allow = (line_and_allow & 1U) != 0};
}

std::size_t RobotsRulesView::tails_begin(std::size_t node_index) const {
  return node_index == 0 ? 0 : u16_at(node_bytes_, node_index * kNodeBytes - 2);
}

// The longest node that `path` begins with. Every such node stands at or before the last node not
// above `path`, and that one begins with all of them too; so they are among those above it.
std::size_t RobotsRulesView::longest_front(std::string_view path) const {
  std::size_t begin = 0;
  std::size_t end = nodes_;
  while (begin < end) {
    const std::size_t middle = (begin + end) / 2;
    const std::size_t at = middle * kNodeBytes;
    if (path < text(u32_at(node_bytes_, at), u16_at(node_bytes_, at + 4))) {
      end = middle;
    } else {
      begin = middle + 1;
    }
  }
  if (begin == 0) return kNone;
  std::size_t i = begin - 1;
  const std::size_t common = common_front(node(i).text, path);
  while (i != kNone && node(i).text.size() > common) i = node(i).parent;
  return i;
}

// False if that would be too much work.
bool RobotsRulesView::try_tails(std::size_t node_index, std::string_view rest, Best* best) const {
  const std::size_t end = node(node_index).tails_end;
  for (std::size_t i = tails_begin(node_index); i < end; ++i) {
    const std::size_t at = i * kTailBytes;
    if ((u64_at(tail_bytes_, at + 8) & ~best->pairs) != 0) continue;
    const Rule candidate = rule(u16_at(tail_bytes_, at + 6));
    if (!best->is_beaten_by(candidate)) return true;  // those behind it are no better
    const std::string_view tail = text(u32_at(tail_bytes_, at), u16_at(tail_bytes_, at + 4));
    best->work += rest.size() + tail.size();
    if (best->work > kRobotsWorkMax) return false;
    if (tail_matches(tail, rest)) best->rule = candidate;
  }
  return true;
}

std::optional<RobotsRulesView::Match> RobotsRulesView::match(std::string_view path) const {
  Best best;
  std::size_t i = longest_front(path);
  if (i == kNone) return std::nullopt;
  const Node front = node(i);
  if (front.best != kNone) best.offer(rule(front.best));
  if (front.exact != kNone && front.text.size() == path.size()) best.offer(rule(front.exact));
  if (tails_ != 0) {
    best.pairs = robots_pairs(path);
    for (; i != kNone; i = node(i).parent) {
      if (!try_tails(i, path.substr(std::min(node(i).text.size(), path.size())), &best)) {
        return Match{.gave_up = true};
      }
    }
  }
  if (!best.rule) return std::nullopt;
  return Match{.allow = best.rule->allow, .line = best.rule->line, .pattern = best.rule->pattern};
}

}  // namespace meguri::web
