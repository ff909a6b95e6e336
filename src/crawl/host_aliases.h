// HostAliases: which hosts are one host under two names, found by comparing their pages.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "base/time.h"
#include "crawl/durable_log.h"
#include "crawl/host_pair.h"
#include "crawl/messages.h"
#include "crawl/options.h"
#include "web/url.h"

namespace meguri::crawl {

// Two hosts are compared (host_pair.h) if their names differ by "www." alone, or if they have the
// same server and a page of both had the same body. For each page that was seen of one of them,
// that of the other is offered.
//
// Of hosts that agree one name is kept: that of a seed, else that of the host with many more pages,
// else the shorter one. None is kept that is an alias, nor becomes one that is kept for others, so
// that there are no chains. Hosts that differ are not compared again for long, also if they were
// merged before.
//
// Names, numbers and times come from the caller. Bounded: no more than kPairsMax pairs, of one host
// kPartnersMax. Durable as entries of the caller's log. Thread-compatible.
class HostAliases {
 public:
  static constexpr std::size_t kPairsMax = 10'000;
  static constexpr std::size_t kPartnersMax = 4;
  static constexpr std::size_t kSmallPagesMin = 3;  // that must be the same of the smallest hosts
  static constexpr char kEntry = 'a';               // what its keys in the log begin with

  // What else is known of a host.
  struct Host {
    std::uint64_t pages = 0;   // 0: not known
    std::uint64_t server = 0;  // 0: not known
  };
  using Look = std::function<std::optional<Host>(std::string_view name)>;  // nullopt: never seen

  struct Counts {
    std::uint64_t compared = 0;  // pairs, now
    std::uint64_t aliases = 0;   // now
    std::uint64_t parted = 0;    // aliases that turned out to be none, since the start
  };

  explicit HostAliases(const AliasOptions& options) : options_(options) {}

  void add_seed(std::string_view host);

  // The host whose pages those of `host` are; empty: it is no alias. Valid until the next call.
  std::string_view kept_of(std::string_view host) const;
  // Whether a due page is visited: not that of an alias, but for one now and then, to check; not an
  // embed, from which nothing would follow.
  bool may_visit(const web::Url& url, bool is_embed, base::Instant now);

  // What follows from a page that was seen: new aliases, hosts that are none any more, and pages
  // that should be visited.
  struct Outcome {
    std::vector<AliasChange> changes;
    std::vector<Candidate> offers;
  };
  Outcome take(const web::Url& url, const PageSample& sample, const Look& look, base::Instant now);

  // All aliases become hosts of their own, and may be found anew.
  std::vector<AliasChange> part_all(base::Instant now);

  const Counts& counts() const { return counts_; }

  // As those of HostTable.
  void save_changes(DurableLog& store);
  void save_all(DurableLog& store);
  std::uint64_t stored_bytes() const { return stored_bytes_; }
  bool load(std::string_view key, std::optional<std::string_view> value);  // false: bad bytes

 private:
  struct Entry {
    HostPair pair;
    bool is_dirty = false;
    std::uint64_t saved_lessons = 0;
    std::uint32_t stored_bytes = 0;  // 0: it is not in the log
  };
  // A page that was seen.
  struct Sight {
    const web::Url& url;
    const PageSample& sample;
    const Look& look;
    base::Instant now;
    std::uint64_t path;
  };

  Entry* entry_of(std::string_view a, std::string_view b, base::Instant now);
  Entry& add(const std::string& key, HostPair&& pair);
  bool make_room(base::Instant now);
  void take_side(Entry& entry, const Sight& sight, Outcome& outcome);
  void take_twin(const Sight& sight);
  void judge(Entry& entry, const Sight& sight, Outcome& outcome);
  std::size_t needed_for(const HostPair& pair, const Look& look) const;
  std::optional<std::size_t> choose_kept(const HostPair& pair, const Look& look) const;
  bool is_kept_for_others(std::string_view host) const;
  void touch(const std::string& key, Entry& entry);
  void save(DurableLog& store, const std::string& key, Entry& entry);
  void count_pairs();

  const AliasOptions options_;
  std::unordered_set<std::string> seeds_;
  std::unordered_map<std::string, Entry> entries_;                  // by their keys in the log
  std::unordered_map<std::string, std::vector<std::string>> keys_;  // of a host's entries
  std::unordered_map<std::string, std::string> aliases_;            // to the names that are kept
  std::vector<std::string> dirty_;                                  // keys; erased ones too
  std::uint64_t stored_bytes_ = 0;
  base::Instant swept_;
  Counts counts_;
};

// The same URL on another host.
std::string url_on(std::string_view host, const web::Url& url);

}  // namespace meguri::crawl
