// HostTable: the hosts of a crawl and their sites, by name and by number, and which of them have
// changed since they were last stored.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "crawl/durable_log.h"
#include "crawl/hat_trie.h"
#include "crawl/host_rules.h"
#include "crawl/messages.h"
#include "crawl/robots_policy.h"
#include "fetch/address.h"
#include "web/url.h"

namespace meguri::crawl {

using HostIndex = std::uint32_t;
using SiteIndex = std::uint32_t;

// What holds a robots.txt: scheme, host and port.
struct SiteRecord {
  HostIndex host = 0;
  std::uint16_t port = 0;  // where to connect
  bool is_https = false;
  std::string origin;  // "https://example.org:8443"
  RobotsRecord robots;

  bool is_asking = false;        // a visit to its robots.txt, or to where that leads, is under way
  bool has_timer = false;        // it will be asked for again
  std::vector<DuePage> waiting;  // for robots.txt
  bool is_dirty = false;
  std::uint32_t stored_bytes = 0;  // of its entry in the store; 0: it has none
};

enum class AddressState : std::uint8_t {
  kUnknown,
  kFound,
  kMissing,    // the name has none
  kForbidden,  // it has, and we may connect to none of them
};

struct HostRecord {
  std::string name;
  std::uint64_t hash = 0;
  const HostPolicy* policy = nullptr;  // always there
  std::uint64_t pages = 0;             // that are known of it, as far as we have heard
  double load = 0;                     // visits a day that they ask for, likewise
  std::uint64_t loaded_server = 0;     // the server that it is counted at; 0: none
  double server_load = 0;              // what is counted of it there
  AddressState address_state = AddressState::kUnknown;
  fetch::IpAddress address;
  base::Ticks address_expires;
  bool is_asking = false;        // for its address
  std::uint32_t visits = 0;      // handed to the Scheduler that have not left it, as far as we know
  std::vector<DuePage> waiting;  // for the address
  std::vector<std::string> robots_waiting;  // URLs to be visited on behalf of sites, likewise

  std::uint32_t crawl_delay_ms = 0;  // the longest its sites ask for
  base::Instant last_access;         // its end; zero: none
  base::Duration last_duration;      // of that access
  base::Duration longest_duration;   // of late: with every access a quarter of it is forgotten
  base::Duration mean_duration;      // of late; zero: not known
  std::uint32_t errors = 0;          // visits in a row that were not answered
  base::Instant hold_until;          // it asked to be left alone (Retry-After); zero: it did not
  std::uint32_t name_failures = 0;   // questions for its address in a row that nobody answered
  std::vector<SiteIndex> sites;
  bool is_dirty = false;
  std::uint32_t stored_bytes = 0;  // of its entry in the store; 0: it has none
};

// Records are made when they are first asked for, and stay where they are. Thread-compatible.
class HostTable {
 public:
  explicit HostTable(HostRules& rules) : rules_(rules) {}  // borrowed

  static constexpr std::size_t kNameBytesMax = 255;  // a longer name has no address

  // Requires a name of at most kNameBytesMax.
  HostIndex host_of(std::string_view name);
  // Requires an http or https URL with such a name; `port` is where its site listens.
  SiteIndex site_of(const web::Url& url, std::uint16_t port);
  const HostRecord* find(std::string_view name) const;

  HostRecord& host(HostIndex i) { return hosts_[i]; }
  const HostRecord& host(HostIndex i) const { return hosts_[i]; }
  SiteRecord& site(SiteIndex i) { return sites_[i]; }
  const SiteRecord& site(SiteIndex i) const { return sites_[i]; }
  std::size_t hosts() const { return hosts_.size(); }
  std::size_t sites() const { return sites_.size(); }

  // The host's delay becomes what its sites ask for.
  void update_delay(HostIndex i);

  void touch_host(HostIndex i);
  void touch_site(SiteIndex i);

  // What has changed since the last call, or all that was ever saved, into the store.
  void save_changes(DurableLog& store, std::string_view agent);
  void save_all(DurableLog& store, std::string_view agent);
  std::uint64_t stored_bytes() const { return stored_bytes_; }  // of all entries that live
  // Takes an entry of the store. kCorrupt for what was never saved.
  base::Status load(std::string_view key, std::optional<std::string_view> value,
                    std::string_view agent);

 private:
  void save_host(DurableLog& store, HostIndex i);
  void save_site(DurableLog& store, SiteIndex i, std::string_view agent);
  bool load_host(std::string_view key, std::string_view value);
  bool load_site(std::string_view key, std::string_view value, std::string_view agent);
  void count_stored(std::uint32_t& stored_bytes, std::string_view key, std::string_view value);

  HostRules& rules_;
  HatTrie names_;  // by host_key
  std::deque<HostRecord> hosts_;
  std::deque<SiteRecord> sites_;
  std::vector<HostIndex> dirty_hosts_;
  std::vector<SiteIndex> dirty_sites_;
  std::uint64_t stored_bytes_ = 0;
  std::string key_;
};

}  // namespace meguri::crawl
