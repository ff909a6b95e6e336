// HostRules: what holds for each host, when the configuration says something else for some of them.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/hash.h"
#include "crawl/options.h"
#include "fetch/http_client.h"

namespace meguri::crawl {

// All that a host may differ in. See HostRule.
struct HostPolicy {
  std::optional<std::uint32_t> wait_ms;  // unset: the least delay holds
  std::uint64_t pages_max = 0;           // 0: no limit
  bool obeys_robots = true;
  std::string proxy;  // empty: none
  std::string user_agent;
  std::vector<fetch::RequestField> fields;
  bool is_skipped = false;
  bool is_paused = false;
};

// "www.Example.org" and "*.example.org" as they are compared with hosts: in lower case and ASCII.
// Nullopt: this matches no host.
std::optional<std::string> canonical_match(std::string_view match);

// Made from what a crawl is told: first what is said for all, then no_proxy, then the rules in
// their order. Hosts to which the same rules apply share one policy. A hash lookup for each label
// of a name; nothing when there are no rules. Thread-compatible: each module has its own.
class HostRules {
 public:
  explicit HostRules(const CrawlOptions& options);
  HostRules(const HostRules&) = delete;
  HostRules& operator=(const HostRules&) = delete;

  // Of a host as URLs have it. Lives as long as the rules.
  const HostPolicy& of(std::string_view host);

 private:
  struct TextHash {
    using is_transparent = void;  // NOLINT(readability-identifier-naming): as the standard has it
    std::size_t operator()(std::string_view text) const { return base::hash64(text); }
  };
  using RuleIndices = std::vector<std::uint32_t>;
  using ByName = std::unordered_map<std::string, RuleIndices, TextHash, std::equal_to<>>;

  void add(HostRule rule);

  HostPolicy common_;
  std::vector<HostRule> rules_;
  ByName exact_;
  ByName below_;  // by what stands behind "*."; "" for all
  std::map<RuleIndices, HostPolicy> policies_;
};

}  // namespace meguri::crawl
