// What Control asks of the other modules, and what they answer: small values, each answered at
// once by the module that owns what is asked about.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/hash.h"
#include "base/result.h"
#include "base/time.h"
#include "crawl/access_schedule.h"
#include "crawl/host_table.h"
#include "crawl/messages.h"
#include "crawl/page_record.h"
#include "crawl/pause_state.h"
#include "crawl/url_rules.h"
#include "flow/port.h"
#include "revisit/hints.h"

namespace meguri::crawl {

using Ticket = std::uint64_t;  // joins an answer to its question

// A key that leads to instance number `part` of `parts`.
std::uint64_t key_of_part(std::size_t part, std::size_t parts);

// By what a list of hosts is ordered, the most first.
enum class HostOrder : std::uint8_t { kWaiting, kErrors, kPages, kDelay };
std::string_view name_of(HostOrder order);  // "waiting"
std::optional<HostOrder> host_order_of(std::string_view name);

inline constexpr std::size_t kHostRowsMax = 1000;  // in one answer

// --- Registry.

// What the Registry knows of a page.
struct PageFacts {
  PageRecord record;
  std::size_t lane = 0;  // of DueQueue, where it waits or would
  bool is_out = false;   // handed out and not yet home
};

// The pages of one host.
struct HostPages {
  std::string host = {};
  std::uint64_t pages = 0;
  std::uint64_t waiting = 0;
  std::uint64_t out = 0;        // under way, of those that were never done
  std::uint64_t due_again = 0;  // done, due again and in memory, or under way
  double load = 0;              // visits a day that they ask for
  revisit::HintRecord hints = {};

  std::uint64_t done() const { return pages - waiting - out; }
};

struct RegistryQuestion {
  Ticket ticket = 0;
  std::uint64_t key = 0;                  // which instance is asked
  std::optional<base::Id> page = {};      // asks for a page,
  std::string page_host = {};             // of this host
  std::vector<std::uint64_t> hosts = {};  // asks for these hosts, by their hashes
  std::optional<HostOrder> order = {};    // asks for the first hosts in this order,
  std::size_t limit = 0;                  // this many
};
struct RegistryAnswer {
  Ticket ticket = 0;
  std::optional<PageFacts> page = {};
  bool is_full = false;       // no further page is registered,
  bool is_host_full = false;  // or none of the page's host
  std::vector<HostPages> hosts = {};
};

// --- UrlFilter.

struct FilterQuestion {
  Ticket ticket = 0;
  Candidate candidate;
};
struct FilterAnswer {
  Ticket ticket = 0;
  std::optional<UrlReason> reason;  // against it
};

// --- HostDirectory.

enum class RobotsStanding : std::uint8_t { kUnknown, kAsking, kKnown, kFailing };
std::string_view name_of(RobotsStanding standing);  // "unknown"

// A host as the HostDirectory knows it.
struct HostFacts {
  std::string name;
  AddressState address_state = AddressState::kUnknown;
  std::string address;                               // of kFound
  std::uint32_t crawl_delay_ms = 0;                  // 0: it asks for none
  base::Duration download;                           // of one answer, as of late
  HostPace pace;                                     // with what its pages ask for
  base::Instant last_access;                         // its end; zero: none
  std::uint32_t errors = 0;                          // visits in a row that were not answered
  RobotsStanding robots = RobotsStanding::kUnknown;  // of its least known site
  std::uint64_t waiting_for_address = 0;             // pages
  std::uint64_t waiting_for_robots = 0;
  std::string alias_of;  // the host whose pages its pages are; empty: it is no alias
};

// The site of a URL, and what its robots.txt says of that URL.
struct SiteFacts {
  std::string origin;
  RobotsStanding robots = RobotsStanding::kUnknown;
  bool has_rules = false;  // then:
  base::Instant fetched;
  bool is_allowed = true;
  std::uint32_t line = 0;  // of the deciding rule; 0: none decided
  std::string rule;

  std::uint32_t failures = 0;  // in a row; if any:
  base::Instant failed;        // the last of them
  base::Duration retry_after;  // from then on
};

// Where in the HostDirectory a page is.
enum class HostLine : std::uint8_t { kNone, kAddress, kRobots };

struct HostQuestion {
  Ticket ticket = 0;
  std::string url = {};                 // asks for its host and site,
  base::Id page = {};                   // and whether this page waits there
  std::vector<std::string> hosts = {};  // asks for these
  std::optional<HostOrder> order = {};  // asks for the first in this order,
  std::size_t limit = 0;                // this many
};
struct HostAnswer {
  Ticket ticket = 0;
  std::vector<HostFacts> hosts = {};
  std::optional<SiteFacts> site = {};
  HostLine line = HostLine::kNone;
};

// --- Scheduler.

// All that holds visits back besides politeness, each time as a whole.
struct PauseOrder {
  bool all = false;
  std::vector<std::uint64_t> hosts;  // hashes
  std::string disk;                  // why the disk forbids to fetch; empty: it does not
};

struct SchedulerQuestion {
  Ticket ticket = 0;
  std::uint64_t key = 0;  // which instance is asked
  std::vector<std::uint64_t> hosts = {};
  std::optional<base::Id> page = {};  // does it wait here?
  std::optional<PauseOrder> order = {};
};
struct SchedulerAnswer {
  Ticket ticket = 0;
  std::vector<HostAccess> hosts = {};  // those that are known there
  bool holds_page = false;
};

// --- Seeder.

struct SeedQuestion {
  Ticket ticket = 0;
  std::vector<std::string> urls;  // to be seeds from now on
};
struct SeedAnswer {
  Ticket ticket = 0;
  std::uint64_t fresh = 0;
  std::uint64_t known = 0;  // they were seeds
  std::uint64_t invalid = 0;
  bool is_ending = false;  // nothing is begun any more; the next start takes them
};

// --- What is asked of Control, and its replies.

struct AddSeeds {
  static constexpr std::size_t kUrlsMax = 1000;
  std::vector<std::string> urls;  // at most kUrlsMax
};
struct AskWhy {
  std::string url;
};
struct AskHosts {
  HostOrder order = HostOrder::kWaiting;
  std::size_t limit = 20;
  std::vector<std::string> hosts;  // only these; empty: all
};
struct ChangePause {
  bool is_paused = true;           // false: goes on
  std::vector<std::string> hosts;  // empty: the whole crawl
};
using ControlRequest = std::variant<AddSeeds, AskWhy, AskHosts, ChangePause>;

// Why a page is where it is.
struct WhyFacts {
  std::string url;  // canonical
  std::optional<PageFacts> page;
  std::optional<UrlReason> reason;  // of the filter, against the page, or against a link to it
  bool has_verdict = false;         // there was a filter to ask
  bool is_full = false;
  bool is_host_full = false;
  std::optional<HostFacts> host;
  std::optional<SiteFacts> site;
  HostLine line = HostLine::kNone;
  bool at_scheduler = false;
  std::optional<HostAccess> access;
  base::Ticks now;         // of the times in `access`
  bool is_paused = false;  // its host, or all
  std::string disk;        // why the disk forbids to fetch
};

// A row of a list of hosts.
struct HostRow {
  HostPages pages;
  std::optional<HostFacts> facts;
  std::optional<HostAccess> access;
  bool is_paused = false;
};
struct HostList {
  std::vector<HostRow> rows;
  base::Ticks now;
  PauseState pauses;
  std::string disk;
};

using ControlReply = std::variant<SeedAnswer, WhyFacts, HostList, PauseState>;
using ControlDone = std::function<void(base::Result<ControlReply>)>;

}  // namespace meguri::crawl

FLOW_DECLARE_QUEUES(meguri::crawl::RegistryQuestion)
FLOW_DECLARE_QUEUES(meguri::crawl::RegistryAnswer)
FLOW_DECLARE_QUEUES(meguri::crawl::FilterQuestion)
FLOW_DECLARE_QUEUES(meguri::crawl::FilterAnswer)
FLOW_DECLARE_QUEUES(meguri::crawl::HostQuestion)
FLOW_DECLARE_QUEUES(meguri::crawl::HostAnswer)
FLOW_DECLARE_QUEUES(meguri::crawl::SchedulerQuestion)
FLOW_DECLARE_QUEUES(meguri::crawl::SchedulerAnswer)
FLOW_DECLARE_QUEUES(meguri::crawl::SeedQuestion)
FLOW_DECLARE_QUEUES(meguri::crawl::SeedAnswer)
