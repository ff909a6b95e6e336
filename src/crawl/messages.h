// What the modules of a crawl say to each other: small values, one for each edge of the graph in
// docs/ARCHITECTURE.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "archive/record_id.h"
#include "archive/sha1.h"
#include "archive/warc_record.h"
#include "base/hash.h"
#include "base/time.h"
#include "crawl/access_schedule.h"
#include "fetch/address.h"
#include "fetch/http_client.h"
#include "flow/codec.h"
#include "flow/port.h"
#include "web/similarity.h"

namespace meguri::crawl {

// Why somebody offered a URL.
enum class Offer : std::uint8_t {
  kSeed,
  kLink,
  kEmbed,
  kRedirect,
  kHint,
  kSitemap,  // named by a robots.txt, or by an index that was
  kHistory,  // visited before this crawl (page_history.h)
};
inline constexpr Offer kLastOffer = Offer::kHistory;

std::string_view name_of(Offer offer);  // "seed"

// A URL that may become a page. From seeds, and from every document that was archived.
struct Candidate {
  std::string url;          // canonical
  std::string via;          // the page that named it; empty for seeds
  std::uint32_t depth = 0;  // links from a seed; embeds and redirects have the depth of their page
  std::uint8_t hops = 0;    // of the chain of redirects that led here
  Offer offer = Offer::kSeed;
  Offer chain = Offer::kLink;  // of a redirect: as what the first page of its chain was offered
  bool is_last = false;        // visited after all others: a link of a page in a foreign language
  // When it last changed, as the entry of a sitemap or feed says; never after that was fetched.
  std::optional<base::Instant> modified = {};
  // Of a page with a history: its PageRecord as bytes, as earlier visits would have left it.
  std::string history = {};

  // The target of a seed's redirects counts as that seed. Embeds of a seed are as deep as it is, so
  // that their depth would not tell the two apart.
  bool is_seed() const {
    return offer == Offer::kSeed || (offer == Offer::kRedirect && chain == Offer::kSeed);
  }

  bool is_embed() const {
    return offer == Offer::kEmbed || (offer == Offer::kRedirect && chain == Offer::kEmbed);
  }

  friend bool operator==(const Candidate&, const Candidate&) = default;
};

// Pages are known by the hash of their canonical URL.
base::Id page_id_of(std::string_view canonical_url);
// Hosts by the hash of their name, which is lower-case and without port.
std::uint64_t host_hash_of(std::string_view host);

// The last version of a page, for conditional requests and revisit records.
struct PriorVersion {
  std::string etag;
  std::string last_modified;
  archive::Digest digest;  // of the payload
  archive::RecordId record;
  base::Instant date;  // of that record
  // The URL of that record, where it is another than the page's: one that had the same body.
  std::string url = {};
  // Of the main text of the last version that counts as a change; where pages are visited again.
  std::optional<web::TextSketch> sketch = {};

  // False: it was seen before this crawl, and there is no record of it here to refer to.
  bool is_archived() const { return record != archive::RecordId(); }

  friend bool operator==(const PriorVersion&, const PriorVersion&) = default;
};

// A page whose time has come. Registry to HostDirectory, under a credit.
struct DuePage {
  base::Id id;
  Candidate candidate;
  std::optional<PriorVersion> prior;
  std::uint64_t host_pages = 0;  // of its host that are known; 0: not said
  double host_load = 0;          // visits a day that they ask for
};

enum class Purpose : std::uint8_t { kPage, kRobots };

// How often a host can be visited, and by how much its pages' intervals must be stretched for that.
struct HostPace {
  base::Duration access = {};  // from one visit to the next; zero: not known
  double factor = 1;           // of the intervals of its pages,
  base::Duration added = {};   // and what is added to them
};

// An access with all that is needed to make it. HostDirectory to Scheduler, from there back for a
// last look at robots.txt, and to Fetcher. A visit for robots.txt has an id of zeros.
struct Visit {
  DuePage page;
  Purpose purpose = Purpose::kPage;
  std::uint64_t host = 0;  // host_hash_of its name
  fetch::Endpoint address;
  std::uint32_t wait_ms = 0;      // what the host asks for between requests
  bool is_wait_whole = false;     // as in Job
  bool ignores_duration = false;  // the host does not rest longer when an answer took long
  Priority priority = Priority::kOther;
  base::Ticks not_before;  // the host has been asked by then, and wants to rest until here
  HostPace pace = {};      // of the host
};

// The access of a visit is over, well or badly. Fetcher to Scheduler.
struct AccessEnd {
  std::uint64_t host = 0;
  std::uint64_t server = 0;
  base::Duration duration;
  bool happened = true;      // false: it was called off before anything was sent
  base::Duration hold = {};  // the answer asks to be left alone for so long (Retry-After)
};

// Fetcher to Extractor.
struct Answer {
  Visit visit;
  fetch::Fetched fetched;
};

// What became of a visit.
enum class VisitOutcome : std::uint8_t {
  kChanged,    // content was stored
  kUnchanged,  // the same as before: by 304, or by its digest
  kGone,       // 404, 410
  kRedirected,
  kError,  // any other status, or no answer
};

std::string_view name_of(VisitOutcome outcome);

// ArchiveWriter to Registry, after the records are durable; gives the credit back.
struct Report {
  base::Id id;
  VisitOutcome outcome = VisitOutcome::kError;
  int status = 0;  // 0: not answered
  fetch::FetchOutcome fetch = fetch::FetchOutcome::kAnswered;
  base::Instant date;
  std::optional<PriorVersion> version;              // of what was stored, or confirmed
  bool may_pass = false;                            // it failed in a way that another try may not
  base::Duration hold = {};                         // no such try before this is over (Retry-After)
  bool counts = true;                               // of what changed: for the schedule
  std::optional<base::Instant> last_modified = {};  // as the answer has it
  std::uint64_t target = 0;                         // of a redirect: the hash of where it leads
  bool is_list = false;                             // a sitemap or a feed
  HostPace host = {};                               // as the visit had it
};

// Why a due page was not visited. A page that is refused for good is done.
enum class Refusal : std::uint8_t {
  kRobots,       // robots.txt forbids it
  kUnresolved,   // its host has no address
  kForbidden,    // its address may not be connected to
  kFull,         // the host has too many jobs; it comes again
  kParked,       // the host asks for a delay above the limit, or cannot be reached
  kInterrupted,  // the crawl ends; it comes again
  kSkipped,      // the configuration says that its host is not visited
  kLater,        // its host cannot be asked now; it comes again after a while
  kExcluded,     // it is on the exclusion list
  kAlias,        // its host is an alias of another, whose page it is
};

inline constexpr std::size_t kRefusals = 10;

std::string_view name_of(Refusal refusal);  // "robots"
bool comes_again(Refusal refusal);

// HostDirectory or Scheduler to Registry; gives the credit back.
struct Refused {
  base::Id id;
  Refusal reason = Refusal::kFull;
  // For kLater: no page of the host needs to come before. For kAlias: nor this page.
  base::Duration wait = {};
};

// A page as evidence of whether two hosts are the same (host_aliases.h).
struct PageSample {
  bool is_there = true;         // false: it is gone, or leads elsewhere
  archive::Digest digest = {};  // of its body
  std::optional<web::TextSketch> sketch = {};
  base::Instant since = {};  // it is known to have been so from here
  base::Instant until = {};  // to here
  std::string twin = {};     // another URL that had the same body in this run; empty: none
  std::uint32_t depth = 0;
};

// ArchiveWriter to HostDirectory, after the records are durable: what an access told of its host.
struct HostNews {
  std::string host;
  std::string url;  // that was visited
  Purpose purpose = Purpose::kPage;
  fetch::FetchOutcome fetch = fetch::FetchOutcome::kAnswered;
  int status = 0;
  base::Instant finished;
  base::Duration duration;
  std::string robots;        // the text, for a visit to robots.txt that was answered with 2xx
  std::string redirect;      // where it was sent, absolute; empty: nowhere
  base::Duration hold = {};  // from `finished` on the host wants to be left alone (Retry-After)
  std::optional<PageSample> sample = {};  // of a page that is no embed, where it is any evidence
};

// HostDirectory to UrlFilter: the pages of `host` are those of `kept` from now on; empty: its own.
struct AliasChange {
  std::string host;
  std::string kept;

  friend bool operator==(const AliasChange&, const AliasChange&) = default;
};

// HostDirectory to Resolver, and back.
struct NameQuestion {
  std::string host;
};
struct NameAnswer {
  std::string host;
  bool is_found = false;
  std::vector<fetch::IpAddress> addresses;
  base::Duration ttl;
  std::string error;      // one sentence, when there is no address
  bool may_pass = false;  // there is none because name servers failed, not because they said so
};

// A visit as the crawl log has it. Within a Finding it lacks its place in the WARC files, which
// ArchiveWriter fills in; to CrawlLog it goes after the records are durable.
struct VisitNote {
  base::Instant date;  // when the request was sent
  std::string url;
  std::string via;
  std::string host;
  Offer offer = Offer::kSeed;
  std::uint32_t depth = 0;
  Purpose purpose = Purpose::kPage;
  std::optional<VisitOutcome> outcome;     // not for robots.txt
  std::optional<fetch::Endpoint> address;  // nullopt: no connection was made
  fetch::FetchOutcome fetch = fetch::FetchOutcome::kAnswered;
  std::string error;        // one sentence of why there is no answer, or no whole one
  int status = 0;           // 0: not answered
  std::string mime;         // of the answer: "text/html"; empty: it says none
  std::uint64_t bytes = 0;  // of the answer, its head included, as they came
  base::Duration duration;
  std::optional<archive::Digest> digest;  // of the body
  fetch::Truncation truncation = fetch::Truncation::kNone;
  std::uint32_t links = 0;  // offered as candidates
  // Links that were not offered, or offered to be visited last, because of the page's language.
  std::uint32_t foreign_links = 0;
  bool is_stored = true;  // false: the page asks not to be archived
  std::string warc_file;
  std::uint64_t warc_offset = 0;
  std::uint64_t warc_bytes = 0;  // of all its records
};

// A page that was refused for good. Registry to CrawlLog.
struct RefusalNote {
  base::Instant date;
  Candidate candidate;
  Refusal reason = Refusal::kRobots;
};

// Extractor to ArchiveWriter: the records to append, and what to tell when they are durable.
struct Finding {
  archive::MadeRecords records;
  HostNews host;
  VisitNote note;
  std::optional<Report> report;  // not for robots.txt
  std::vector<Candidate> candidates;
};

}  // namespace meguri::crawl

namespace meguri::flow {

template <>
struct Codec<crawl::Candidate> {
  static void encode(const crawl::Candidate& item, std::string& out);
  static bool decode(std::string_view bytes, crawl::Candidate& item);
};

}  // namespace meguri::flow

FLOW_DECLARE_QUEUES(meguri::crawl::Candidate)
FLOW_DECLARE_QUEUES(meguri::crawl::DuePage)
FLOW_DECLARE_QUEUES(meguri::crawl::Visit)
FLOW_DECLARE_QUEUES(meguri::crawl::AccessEnd)
FLOW_DECLARE_QUEUES(meguri::crawl::Answer)
FLOW_DECLARE_QUEUES(meguri::crawl::Report)
FLOW_DECLARE_QUEUES(meguri::crawl::Refused)
FLOW_DECLARE_QUEUES(meguri::crawl::HostNews)
FLOW_DECLARE_QUEUES(meguri::crawl::AliasChange)
FLOW_DECLARE_QUEUES(meguri::crawl::NameQuestion)
FLOW_DECLARE_QUEUES(meguri::crawl::NameAnswer)
FLOW_DECLARE_QUEUES(meguri::crawl::VisitNote)
FLOW_DECLARE_QUEUES(meguri::crawl::RefusalNote)
FLOW_DECLARE_QUEUES(meguri::crawl::Finding)
