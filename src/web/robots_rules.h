// Compiled rules of robots.txt: one string of bytes, matched where it lies. Longest pattern wins,
// an Allow wins a tie (RFC 9309, 2.2.2).
//
// How it matches: every pattern begins with a literal part, up to its first "*". These parts are
// nodes, sorted, each knowing the longest other node it begins with. A binary search and a walk up
// find all nodes a path begins with. A pattern that is literal to its end is decided there, since
// each node carries the best such rule of itself and those above; only patterns with a wildcard
// inside are tried one by one, the longest first. Most of them are refused by one comparison: the
// pairs of neighbouring octets they ask for, hashed to 64 bits, must all be in the path.
//
// Bytes, little-endian: counts (nodes, tails, rules: u16 each; bytes of text: u32), then
//   node: text offset u32, length u16, parent u16, best rule u16, exact rule u16, tails' end u16
//   tail: text offset u32, length u16, rule u16, pairs u64
//   rule: text offset u32, length u16, line * 2 + allow u32
// and the text. No rules at all: no bytes at all.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace meguri::web {

// More rules than this are refused by compile_robots_rules().
inline constexpr std::size_t kRobotsRulesMax = 20'000;

// Octets that wildcards may look at for one path. A file of 4,000 wildcard rules against a URL of
// 4,096 octets fits; what does not is built to keep a crawler busy.
inline constexpr std::size_t kRobotsWorkMax = 16U << 20U;

struct RobotsRule {
  std::string pattern =
      {};  // of comparable_pattern(), beginning with "/" or "*", at most 65,535 bytes
  std::uint32_t line = 0;
  bool allow = false;
};

// A set of bits for the pairs of neighbouring octets in `text`.
std::uint64_t robots_pairs(std::string_view text);

// Requires at most kRobotsRulesMax rules. Of equal patterns one is kept: an Allow, else the first.
std::string compile_robots_rules(std::span<const RobotsRule> rules);

// Borrowed bytes of compile_robots_rules(). Any thread.
class RobotsRulesView {
 public:
  struct Match {
    bool allow = false;
    bool gave_up = false;  // kRobotsWorkMax was reached; the other fields say nothing
    std::uint32_t line = 0;
    std::string_view pattern = {};  // lives as long as the bytes
  };

  RobotsRulesView() = default;  // no rules

  // nullopt: bytes that are not such rules. Whatever it takes is safe to match, in linear time.
  static std::optional<RobotsRulesView> open(std::string_view bytes);

  // The same for bytes that open() has taken before, in constant time.
  static RobotsRulesView open_checked(std::string_view bytes);

  // The rule that decides on a path of comparable_path(); nullopt if no rule matches.
  std::optional<Match> match(std::string_view path) const;

 private:
  struct Node;
  struct Rule;
  struct Best;

  Node node(std::size_t i) const;
  Rule rule(std::size_t i) const;
  std::size_t tails_begin(std::size_t node_index) const;
  std::string_view text(std::size_t offset, std::size_t length) const;
  std::size_t longest_front(std::string_view path) const;
  bool try_tails(std::size_t node_index, std::string_view rest, Best* best) const;
  bool refers_within_itself() const;

  std::size_t nodes_ = 0;
  std::size_t tails_ = 0;
  std::size_t rules_ = 0;
  std::string_view node_bytes_;
  std::string_view tail_bytes_;
  std::string_view rule_bytes_;
  std::string_view text_;
};

}  // namespace meguri::web
