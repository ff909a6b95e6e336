// compile_robots_rules(): from patterns to the bytes that robots_rules.h describes.
#include <algorithm>
#include <array>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/check.h"
#include "web/robots_rules.h"

namespace meguri::web {
namespace {

constexpr std::size_t kNone = 0xFFFF;

void append_u16(std::size_t value, std::string* out) {
  out->push_back(static_cast<char>(value & 0xFFU));
  out->push_back(static_cast<char>((value >> 8U) & 0xFFU));
}

void append_u32(std::size_t value, std::string* out) {
  append_u16(value & 0xFFFFU, out);
  append_u16(value >> 16U, out);
}

void append_u64(std::uint64_t value, std::string* out) {
  append_u32(value & 0xFFFF'FFFFU, out);
  append_u32(value >> 32U, out);
}

// The pairs of octets that a path must have to match "*part*part..." with or without "$".
std::uint64_t pairs_of_tail(std::string_view tail) {
  if (tail.ends_with('$')) tail.remove_suffix(1);
  std::uint64_t pairs = 0;
  while (!tail.empty()) {
    const std::string_view part = tail.substr(0, tail.find('*'));
    pairs |= robots_pairs(part);
    tail.remove_prefix(std::min(part.size() + 1, tail.size()));
  }
  return pairs;
}

// `pattern` with every ":" and "/" of its query written as `written[0]` and `written[1]`.
std::string with_query_written(std::string_view pattern, std::array<std::string_view, 2> written) {
  const std::size_t query = std::min(pattern.find('?'), pattern.size());
  std::string out(pattern.substr(0, query));
  for (std::size_t i = query; i < pattern.size();) {
    const std::string_view rest = pattern.substr(i);
    const bool colon = rest.starts_with(':') || rest.starts_with("%3A");
    const bool slash = rest.starts_with('/') || rest.starts_with("%2F");
    if (colon || slash) {
      out.append(colon ? written[0] : written[1]);
      i += pattern[i] == '%' ? 3 : 1;
    } else {
      out.push_back(pattern[i++]);
    }
  }
  return out;
}

// The RFC's table has "?baz=https://foo.bar" and "?baz=https%3A%2F%2Ffoo.bar" match each other. A
// path has one form only, so such a pattern is compiled in both of its forms and as it is written.
std::vector<std::string> spellings_of(const std::string& pattern) {
  std::vector<std::string> spellings{pattern};
  if (!pattern.contains('?')) return spellings;
  for (std::string& other : std::array{with_query_written(pattern, {":", "/"}),
                                       with_query_written(pattern, {"%3A", "%2F"})}) {
    if (std::ranges::find(spellings, other) == spellings.end()) {
      spellings.push_back(std::move(other));
    }
  }
  return spellings;
}

enum class Kind : std::uint8_t { kPrefix, kExact, kTail };

// One spelling of one rule, cut at its first wildcard.
struct Piece {
  std::string_view head = {};
  std::string_view tail = {};  // "*..." for kTail
  std::size_t offset = 0;
  std::size_t rule = 0;
  Kind kind = Kind::kPrefix;
};

Piece piece_of(std::string_view pattern) {
  bool to_the_end = pattern.ends_with('$');
  std::string_view body = pattern.substr(0, pattern.size() - (to_the_end ? 1 : 0));
  if (body.ends_with('*')) to_the_end = false;
  if (!to_the_end) body = body.substr(0, body.find_last_not_of('*') + 1);
  const std::size_t star = body.find('*');
  if (star == std::string_view::npos) {
    return {.head = body, .tail = {}, .kind = to_the_end ? Kind::kExact : Kind::kPrefix};
  }
  return {.head = body.substr(0, star),
          .tail = pattern.substr(star, body.size() - star + (to_the_end ? 1 : 0)),
          .kind = Kind::kTail};
}

class Compiler {
 public:
  explicit Compiler(std::span<const RobotsRule> rules) {
    std::unordered_map<std::string_view, std::size_t> known;
    for (const RobotsRule& rule : rules) {
      const auto [at, is_new] = known.try_emplace(rule.pattern, rules_.size());
      if (is_new) {
        rules_.push_back(&rule);
      } else if (rule.allow && !rules_[at->second]->allow) {
        rules_[at->second] = &rule;
      }
    }
  }

  std::string compile() {
    spell();
    // Pieces point into the text, so it is complete before they are cut.
    for (const Spelling& s : spellings_) {
      Piece piece = piece_of(std::string_view(text_).substr(s.offset, s.length));
      piece.offset = s.offset;
      piece.rule = s.rule;
      pieces_.push_back(piece);
    }
    std::ranges::sort(pieces_, [this](const Piece& a, const Piece& b) {
      return a.head != b.head ? a.head < b.head : beats(a.rule, b.rule);
    });
    for (std::size_t i = 0; i < pieces_.size();) i = add_node(i);
    return bytes();
  }

 private:
  struct Spelling {
    std::size_t offset = 0;
    std::size_t length = 0;
    std::size_t rule = 0;
  };
  struct Node {
    std::string_view head = {};
    std::size_t best = kNone;
  };

  // The longer pattern, an Allow, the earlier line, in this order.
  bool beats(std::size_t a, std::size_t b) const {
    if (b == kNone || a == kNone) return a != kNone;
    const RobotsRule& x = *rules_[a];
    const RobotsRule& y = *rules_[b];
    if (x.pattern.size() != y.pattern.size()) return x.pattern.size() > y.pattern.size();
    if (x.allow != y.allow) return x.allow;
    return x.line != y.line ? x.line < y.line : a < b;
  }

  void spell() {
    for (std::size_t rule = 0; rule < rules_.size(); ++rule) {
      const RobotsRule& r = *rules_[rule];
      append_u32(text_.size(), &rule_bytes_);
      append_u16(r.pattern.size(), &rule_bytes_);
      append_u32(std::size_t{r.line} * 2 + (r.allow ? 1 : 0), &rule_bytes_);
      for (const std::string& spelling : spellings_of(r.pattern)) {
        CHECK(spelling.size() < kNone, "a pattern of {} bytes", spelling.size());
        spellings_.push_back({text_.size(), spelling.size(), rule});
        text_.append(spelling);
      }
    }
  }

  // Makes one node of all pieces with the head of pieces_[first]; returns the piece behind them.
  std::size_t add_node(std::size_t first) {
    const std::string_view head = pieces_[first].head;
    while (!above_.empty() && !head.starts_with(nodes_[above_.back()].head)) above_.pop_back();
    const std::size_t parent = above_.empty() ? kNone : above_.back();
    std::size_t best = parent == kNone ? kNone : nodes_[parent].best;
    std::size_t exact = kNone;
    std::size_t i = first;
    for (; i < pieces_.size() && pieces_[i].head == head; ++i) {
      const Piece& piece = pieces_[i];
      switch (piece.kind) {
        case Kind::kPrefix: best = beats(piece.rule, best) ? piece.rule : best; break;
        case Kind::kExact: exact = beats(piece.rule, exact) ? piece.rule : exact; break;
        case Kind::kTail:
          append_u32(piece.offset + head.size(), &tail_bytes_);
          append_u16(piece.tail.size(), &tail_bytes_);
          append_u16(piece.rule, &tail_bytes_);
          append_u64(pairs_of_tail(piece.tail), &tail_bytes_);
          ++tails_;
          break;
      }
    }
    append_u32(pieces_[first].offset, &node_bytes_);
    for (const std::size_t value : {head.size(), parent, best, exact, tails_}) {
      append_u16(value, &node_bytes_);
    }
    above_.push_back(nodes_.size());
    nodes_.push_back({head, best});
    return i;
  }

  std::string bytes() const {
    std::string out;
    if (rules_.empty()) return out;
    append_u16(nodes_.size(), &out);
    append_u16(tails_, &out);
    append_u16(rules_.size(), &out);
    append_u32(text_.size(), &out);
    return out.append(node_bytes_).append(tail_bytes_).append(rule_bytes_).append(text_);
  }

  std::vector<const RobotsRule*> rules_;
  std::vector<Spelling> spellings_;
  std::vector<Piece> pieces_;
  std::vector<Node> nodes_;
  std::vector<std::size_t> above_;  // the nodes the current one begins with, outermost first
  std::size_t tails_ = 0;
  std::string node_bytes_;
  std::string tail_bytes_;
  std::string rule_bytes_;
  std::string text_;
};

}  // namespace

std::string compile_robots_rules(std::span<const RobotsRule> rules) {
  static_assert(kRobotsRulesMax * 3 < kNone, "indexes are 16 bits wide, spellings three at most");
  CHECK(rules.size() <= kRobotsRulesMax, "{} rules", rules.size());
  return Compiler(rules).compile();
}

}  // namespace meguri::web
