#include <algorithm>
#include <array>
#include <string>

#include "app/crawl_config.h"
#include "archive/warc_name.h"
#include "base/text.h"
#include "crawl/host_rules.h"
#include "crawl/language_rule.h"
#include "crawl/url_rules.h"
#include "fetch/address.h"
#include "fetch/address_policy.h"
#include "fetch/curl_http_client.h"
#include "web/ascii.h"

namespace meguri::app {

namespace {

using base::ErrorCode;
using crawl::HostRule;
using Key = ConfigKey<CrawlConfig>;
using HostKey = ConfigKey<HostRule>;
using Config = CrawlConfig;

// --- What can be wrong with values.

bool has_controls(std::string_view text) {
  return std::ranges::any_of(text, [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte < 0x20 || byte == 0x7f;
  });
}

base::Status check_line(std::string_view name, std::string_view text) {
  if (!has_controls(text)) return {};
  return base::fail(ErrorCode::kInvalid, "{} is one line, without controls, not {}", name,
                    base::quoted(text));
}

base::Status check_contact(std::string_view name, const Config& config) {
  const std::string_view text = config.contact;
  const bool is_url = web::starts_with_ignoring_case(text, "mailto:") ||
                      web::starts_with_ignoring_case(text, "http://") ||
                      web::starts_with_ignoring_case(text, "https://");
  const bool is_address = text.find('@') != text.npos;
  const bool is_plain = text.find_first_of(" ()\t") == text.npos && !has_controls(text);
  if (text.empty() || ((is_url || is_address) && is_plain)) return {};
  return base::fail(ErrorCode::kInvalid,
                    "{} is an address such as mailto:me@example.org or a URL, not {}", name,
                    base::quoted(text));
}

base::Status check_user_agent(std::string_view name, const Config& config) {
  return check_line(name, config.crawl.user_agent);
}

base::Status check_language(std::string_view name, const Config& config) {
  return check_line(name, config.crawl.accept_language);
}

base::Status check_languages(std::string_view name, const Config& config) {
  for (const std::string& code : config.crawl.scope.languages) {
    if (crawl::LanguageRule::is_known(code)) continue;
    return base::fail(ErrorCode::kInvalid, "{} takes codes such as ja, de or zh-Hant, not {}", name,
                      base::quoted(code));
  }
  return {};
}

base::Status check_agent(std::string_view name, const Config& config) {
  const std::string& agent = config.crawl.agent;
  const bool is_token =
      std::ranges::all_of(agent, [](char c) { return web::is_alnum(c) || c == '-' || c == '_'; });
  if (is_token && !agent.empty()) return {};
  return base::fail(ErrorCode::kInvalid, "{} is a name of letters, digits, - and _, not {}", name,
                    base::quoted(agent));
}

base::Status check_patterns(std::string_view name, const Config& config) {
  crawl::ScopeOptions scope;
  scope.includes = config.crawl.scope.includes;
  scope.excludes = config.crawl.scope.excludes;
  const auto rules = crawl::UrlRules::make(scope, {});
  if (rules) return {};
  return base::fail(ErrorCode::kInvalid, "{}: {}", name, rules.error().message());
}

base::Status check_proxy_url(std::string_view name, const std::string& proxy) {
  if (proxy.empty()) return {};
  const std::string_view fault = fetch::fault_of_proxy(proxy);
  if (fault.empty()) return {};
  return base::fail(
      ErrorCode::kInvalid,
      "{} is a URL such as http://proxy.example.org:3128 or socks5h://127.0.0.1:1080, "
      "not {}: {}",
      name, base::quoted(proxy), fault);
}

base::Status check_proxy(std::string_view name, const Config& config) {
  return check_proxy_url(name, config.crawl.proxy);
}

base::Status check_matches(std::string_view name, const std::vector<std::string>& matches) {
  for (const std::string& match : matches) {
    if (crawl::canonical_match(match)) continue;
    return base::fail(ErrorCode::kInvalid,
                      "{} takes hosts such as www.example.org or *.example.org, not {}", name,
                      base::quoted(match));
  }
  return {};
}

base::Status check_no_proxy(std::string_view name, const Config& config) {
  return check_matches(name, config.crawl.no_proxy);
}

base::Status check_networks(std::string_view name, const Config& config) {
  const auto policy = fetch::AddressPolicy::parse(config.allowed_networks);
  if (policy) return {};
  return base::fail(ErrorCode::kInvalid, "{}: {}", name, policy.error().message());
}

base::Status check_prefix(std::string_view name, const Config& config) {
  const std::string& prefix = config.crawl.warc.series.prefix;
  if (archive::is_name_part(prefix, true)) return {};
  return base::fail(ErrorCode::kInvalid, "{} is up to 64 letters, digits, '-', '_' and '.', not {}",
                    name, base::quoted(prefix));
}

base::Status check_metrics(std::string_view name, const Config& config) {
  if (config.metrics.empty() || fetch::Endpoint::parse(config.metrics)) return {};
  return base::fail(ErrorCode::kInvalid,
                    "{} is an address and a port such as 127.0.0.1:9464, not {}", name,
                    base::quoted(config.metrics));
}

base::Status check_host_match(std::string_view name, const HostRule& rule) {
  return check_matches(name, rule.matches);
}

base::Status check_host_proxy(std::string_view name, const HostRule& rule) {
  return check_proxy_url(name, *rule.proxy);
}

base::Status check_host_agent(std::string_view name, const HostRule& rule) {
  return check_line(name, *rule.user_agent);
}

// Lines that others of our own, or the framing of requests, depend on.
constexpr std::array<std::string_view, 7> kOwnFields{
    "Host", "User-Agent", "Connection", "Content-Length", "Transfer-Encoding", "Expect", "Upgrade"};

base::Status check_fields(std::string_view name, const HostRule& rule) {
  const std::string& field = rule.fields.back().name;
  const bool is_ours = std::ranges::any_of(
      kOwnFields, [&field](std::string_view own) { return web::equals_ignoring_case(own, field); });
  const bool is_token = !field.empty() && std::ranges::all_of(field, [](char c) {
    return web::is_alnum(c) || c == '-' || c == '_';
  });
  if (is_ours || !is_token) {
    return base::fail(ErrorCode::kInvalid, "{} takes fields such as Cookie, not {}", name,
                      base::quoted(field));
  }
  return check_line(name, rule.fields.back().value);
}

// --- The keys, in the order of the example.

constexpr auto kKeys = std::to_array<Key>({
    {"", "seeds", "", "",
     "URLs to begin with; those of the command line and of seeds.txt join them",
     [](Config& c) -> ConfigField { return &c.crawl.seeds; }},
    {"", "from_archive", "--from-archive", "PATH",
     "WARC files, or folders or archives of them, whose visits tell how often pages change",
     [](Config& c) -> ConfigField { return &c.history; }},
    {"", "contact", "--contact", "ADDRESS",
     "Who answers for this crawl: mailto:me@example.org or a URL; sent with every request",
     [](Config& c) -> ConfigField { return &c.contact; }, "", false, check_contact},
    {"", "user_agent", "--user-agent", "TEXT",
     "Who visits, as sent; empty: meguri, its version and the contact",
     [](Config& c) -> ConfigField { return &c.crawl.user_agent; }, "", false, check_user_agent},
    {"", "accept_language", "", "", "Which languages are preferred, such as de, en;q=0.5",
     [](Config& c) -> ConfigField { return &c.crawl.accept_language; }, "", false, check_language},
    {"", "once", "--once", "", "Visit every page once, and end when none is left; else for ever",
     [](Config& c) -> ConfigField { return &c.once; }},
    {"", "for", "--for", "DURATION",
     "Stop after so much real time, and go on when started again; 0s: no limit",
     [](Config& c) -> ConfigField { return &c.time_max; }},

    {"scope", "within", "--scope", "SCOPE",
     "Follow links within the host, domain or prefix of a seed, or any",
     [](Config& c) -> ConfigField { return &c.crawl.scope.scope; }},
    {"scope", "include", "--include", "REGEX", "Only URLs in which one of these is found (RE2)",
     [](Config& c) -> ConfigField { return &c.crawl.scope.includes; }, "", false, check_patterns},
    {"scope", "exclude", "--exclude", "REGEX", "No URLs in which one of these is found (RE2)",
     [](Config& c) -> ConfigField { return &c.crawl.scope.excludes; }, "", false, check_patterns},
    {"scope", "exclusions", "--exclusions", "FILE", "A file that lists what is never visited",
     [](Config& c) -> ConfigField { return &c.crawl.scope.exclusion_file; }},
    {"scope", "max_depth", "--max-depth", "N", "Follow so many links from a seed",
     [](Config& c) -> ConfigField { return &c.crawl.scope.depth_max; }},
    {"scope", "max_redirects", "", "", "Follow so many redirects in a row",
     [](Config& c) -> ConfigField { return &c.crawl.scope.hops_max; }},
    {"scope", "embeds", "", "",
     "Images, styles and scripts of a page, wherever they are, one hop from it",
     [](Config& c) -> ConfigField { return &c.crawl.scope.embeds; }},
    {"scope", "languages", "--language", "CODE",
     "Follow links of pages in these languages, such as ja; none: of all pages",
     [](Config& c) -> ConfigField { return &c.crawl.scope.languages; }, "", false, check_languages},
    {"scope", "foreign_links", "--foreign-links", "WHICH",
     "Of links of pages in other languages follow none, or visit them last",
     [](Config& c) -> ConfigField { return &c.crawl.scope.foreign; }},

    {"revisit", "policy", "--policy", "NAME",
     "How the next visit of a page is found: paper (that of the papers), or adaptive",
     [](Config& c) -> ConfigField { return &c.crawl.revisit.policy; }},
    {"revisit", "min_interval", "--min-interval", "DURATION", "Visit no page more often than this",
     [](Config& c) -> ConfigField { return &c.crawl.revisit.pace.interval_min; }},
    {"revisit", "max_interval", "--max-interval", "DURATION", "... and none more rarely",
     [](Config& c) -> ConfigField { return &c.crawl.revisit.pace.interval_max; }},
    {"revisit", "first_min", "", "", "From the first visit of a page to the second, at least",
     [](Config& c) -> ConfigField { return &c.crawl.revisit.pace.first_min; }},
    {"revisit", "first_max", "", "", "... and at most; at random between these",
     [](Config& c) -> ConfigField { return &c.crawl.revisit.pace.first_max; }},
    {"revisit", "refused_wait", "", "", "Ask again for a page that robots.txt forbade",
     [](Config& c) -> ConfigField { return &c.crawl.revisit.refused_wait; }},
    {"revisit", "overload", "", "",
     "When a host cannot bear its pages' visits: stretch their intervals by a factor, add-days to "
     "them, or group pages by URL template and slow all but a few of each",
     [](Config& c) -> ConfigField { return &c.crawl.revisit.remedy; }},
    {"revisit", "group_kept", "", "", "... of each template so many pages keep their pace",
     [](Config& c) -> ConfigField { return &c.crawl.revisit.group_kept; }},

    {"hints", "sitemaps", "", "", "Visit the sitemaps that robots.txt names",
     [](Config& c) -> ConfigField { return &c.crawl.hints.sitemaps; }},
    {"hints", "well_known", "", "", "... and /sitemap.xml where it names none",
     [](Config& c) -> ConfigField { return &c.crawl.hints.well_known; }},
    {"hints", "feeds", "", "", "Visit the feeds that pages name (RSS, Atom)",
     [](Config& c) -> ConfigField { return &c.crawl.hints.feeds; }},
    {"hints", "pull", "", "",
     "Visit a page earlier when a sitemap or feed says that it has changed",
     [](Config& c) -> ConfigField { return &c.crawl.hints.pulls; }},

    {"aliases", "find", "", "",
     "Take hosts with the same pages for one, where pages are visited again",
     [](Config& c) -> ConfigField { return &c.crawl.aliases.is_on; }},
    {"aliases", "min_pages", "", "", "... when so many pages are the same; of small hosts fewer",
     [](Config& c) -> ConfigField { return &c.crawl.aliases.pages_min; }, "", true},
    {"aliases", "check", "", "", "Visit a page of an alias so often, to see whether it is one",
     [](Config& c) -> ConfigField { return &c.crawl.aliases.check_every; }},
    {"aliases", "apart", "", "", "Compare hosts that differ again after this time",
     [](Config& c) -> ConfigField { return &c.crawl.aliases.apart; }},

    {"traps", "max_url_length", "", "", "Follow no link to a longer URL",
     [](Config& c) -> ConfigField { return &c.crawl.scope.url.bytes_max; }},
    {"traps", "max_path_depth", "", "", "... or with more segments in its path",
     [](Config& c) -> ConfigField { return &c.crawl.scope.url.depth_max; }},
    {"traps", "max_repeats", "", "", "... or where up to four of them stand more often in a row",
     [](Config& c) -> ConfigField { return &c.crawl.scope.url.repeats_max; }, "", true},
    {"traps", "session_ids", "", "", "Follow links that hold a session id",
     [](Config& c) -> ConfigField { return &c.crawl.scope.url.allow_session_ids; }},
    {"traps", "calendar_years_back", "", "", "Follow dates in links so many years back",
     [](Config& c) -> ConfigField { return &c.crawl.scope.url.years_back_max; }},
    {"traps", "calendar_years_ahead", "", "", "... and so many ahead",
     [](Config& c) -> ConfigField { return &c.crawl.scope.url.years_ahead_max; }},

    {"politeness", "manner", "--politeness", "MANNER",
     "default, or gentle: 60s between requests to a host, 5s for hosts of 10,000 pages and more",
     [](Config& c) -> ConfigField { return &c.politeness; }},
    {"politeness", "delay", "--min-delay", "DURATION",
     "Least time from an answer of a host to the next request",
     [](Config& c) -> ConfigField { return OptionalMilliseconds{&c.delay_ms}; }, "\"5s\""},
    {"politeness", "duration_factor", "--delay-factor", "N",
     "... and at least so many times as long as it took",
     [](Config& c) -> ConfigField { return &c.crawl.access.duration_factor; }},
    {"politeness", "server_gap", "--server-gap", "DURATION",
     "Least time from an answer of a server (address) to the next request",
     [](Config& c) -> ConfigField { return Milliseconds{&c.crawl.access.server_gap_ms}; }},
    {"politeness", "server_requests", "", "",
     "Requests at a time to one server, each to another host of it",
     [](Config& c) -> ConfigField { return &c.crawl.access.server_requests_max; }, "", true},
    {"politeness", "schedule", "", "", "wheel, or lists: the scheduler of the papers, to compare",
     [](Config& c) -> ConfigField { return &c.crawl.schedule; }},

    {"robots", "obey", "", "", "Obey robots.txt (RFC 9309)",
     [](Config& c) -> ConfigField { return &c.crawl.obeys_robots; }},
    {"robots", "agent", "--robots-agent", "NAME", "The name that robots.txt knows us by",
     [](Config& c) -> ConfigField { return &c.crawl.agent; }, "", false, check_agent},
    {"robots", "any_agent", "", "", "Visit nothing that it forbids to any crawler",
     [](Config& c) -> ConfigField { return &c.crawl.obeys_any_agent; }},
    {"robots", "max_age", "", "", "Ask for robots.txt again after this time",
     [](Config& c) -> ConfigField { return &c.crawl.robots_age_max; }},
    {"robots", "max_crawl_delay", "", "", "Leave a host alone that asks for a longer Crawl-delay",
     [](Config& c) -> ConfigField { return &c.crawl.crawl_delay_max; }},
    {"robots", "keep_noarchive", "", "", "Keep pages that ask not to be archived",
     [](Config& c) -> ConfigField { return &c.crawl.stores_noarchive; }},
    {"robots", "keep_noindex", "", "", "Keep pages that ask not to be indexed",
     [](Config& c) -> ConfigField { return &c.crawl.stores_noindex; }},
    {"robots", "obey_nofollow", "", "", "Of pages that say nofollow, visit only what they embed",
     [](Config& c) -> ConfigField { return &c.crawl.obeys_nofollow; }},

    {"limits", "tries", "--tries", "N",
     "Try a page so often where a failure may pass: no answer, 429, 5xx",
     [](Config& c) -> ConfigField { return &c.crawl.tries_max; }},
    {"limits", "max_pages", "--max-pages", "N", "Register no more pages than this; 0: no limit",
     [](Config& c) -> ConfigField { return &c.crawl.pages_max; }},
    {"limits", "max_pages_per_host", "--max-pages-per-host", "N",
     "Nor more of one host; 0: no limit",
     [](Config& c) -> ConfigField { return &c.crawl.pages_per_host_max; }},
    {"limits", "in_flight", "", "", "Pages under way at a time, from their queue to the archive",
     [](Config& c) -> ConfigField { return &c.crawl.in_flight_max; }, "", true},
    {"limits", "in_flight_per_host", "", "", "Of these, of one host",
     [](Config& c) -> ConfigField { return &c.crawl.per_host_max; }, "", true},
    {"limits", "queued_pages", "", "", "Pages that are due and in memory; the rest wait on disk",
     [](Config& c) -> ConfigField { return &c.crawl.queued_max; }, "", true},
    {"limits", "store_pool", "", "", "Memory for what is written to the store of pages together",
     [](Config& c) -> ConfigField { return Bytes{&c.crawl.store_pool_bytes}; }, "", true},
    {"limits", "store_log", "", "", "Disk for the log of that store, before it begins anew",
     [](Config& c) -> ConfigField { return Bytes{&c.crawl.store_log_bytes}; }, "", true},
    {"limits", "known_cache", "", "", "Memory for ids of pages that were asked for of late",
     [](Config& c) -> ConfigField { return Bytes{&c.crawl.known_cache_bytes}; }, "", true},
    {"limits", "connect_time", "", "", "Give up when a connection takes longer",
     [](Config& c) -> ConfigField { return &c.crawl.fetch.connect; }},
    {"limits", "tls_time", "", "", "... or the handshake of TLS",
     [](Config& c) -> ConfigField { return &c.crawl.fetch.tls; }},
    {"limits", "head_time", "", "", "... or the head of an answer",
     [](Config& c) -> ConfigField { return &c.crawl.fetch.head; }},
    {"limits", "fetch_time", "", "", "Cut a body when the whole fetch takes longer",
     [](Config& c) -> ConfigField { return &c.crawl.fetch.whole; }},
    {"limits", "slow_rate", "", "", "... or it comes slower than this each second",
     [](Config& c) -> ConfigField { return Bytes{&c.crawl.fetch.bytes_per_second_min}; }},
    {"limits", "slow_time", "", "", "... for so long",
     [](Config& c) -> ConfigField { return &c.crawl.fetch.slow_max; }},
    {"limits", "body_size", "", "", "Cut a body after so much",
     [](Config& c) -> ConfigField { return Bytes{&c.crawl.fetch.body_bytes_max}; }},
    {"limits", "html_size", "", "", "... and HTML after this",
     [](Config& c) -> ConfigField { return Bytes{&c.crawl.fetch.html_bytes_max}; }},
    {"limits", "bodies_size", "", "",
     "Bodies under way together; above it only one goes on at a time",
     [](Config& c) -> ConfigField { return Bytes{&c.crawl.bodies_bytes_max}; }},
    {"limits", "body_memory", "", "", "A body above this is kept on disk until it is archived",
     [](Config& c) -> ConfigField { return Bytes{&c.crawl.body_memory_max}; }},
    {"limits", "bodies_memory", "", "",
     "... and smaller ones too, when all take more memory than this",
     [](Config& c) -> ConfigField { return Bytes{&c.crawl.bodies_memory_max}; }},
    {"limits", "decode_ratio", "", "",
     "Undo a content coding while it holds at most so many times what came",
     [](Config& c) -> ConfigField { return &c.crawl.decode.ratio_max; }, "", true},
    {"limits", "decode_free", "", "", "... and so much in any case",
     [](Config& c) -> ConfigField { return Bytes{&c.crawl.decode.ratio_free_bytes}; }},
    {"limits", "max_links", "", "", "Read so many links of an HTML page",
     [](Config& c) -> ConfigField { return &c.crawl.links_max; }},
    {"limits", "head_size", "", "", "Give up a head that is longer",
     [](Config& c) -> ConfigField { return Bytes{&c.crawl.fetch.head_bytes_max}; }},
    {"limits", "head_lines", "", "", "... or has more lines",
     [](Config& c) -> ConfigField { return &c.crawl.fetch.head_lines_max; }, "", true},

    {"network", "proxy", "--proxy", "URL",
     "Visit through this proxy: http://HOST:PORT, https:// or socks5h://; it finds the addresses",
     [](Config& c) -> ConfigField { return &c.crawl.proxy; }, "", false, check_proxy},
    {"network", "no_proxy", "", "", "Hosts that are visited without it, as in [[host]] match",
     [](Config& c) -> ConfigField { return &c.crawl.no_proxy; }, "", false, check_no_proxy},
    {"network", "dns", "--dns", "HOST:PORT", "Ask these name servers instead of the system's",
     [](Config& c) -> ConfigField { return &c.dns_servers; }},
    {"network", "allow_networks", "--allow-network", "CIDR",
     "Visit hosts in these networks though they are not public, such as 10.0.0.0/8",
     [](Config& c) -> ConfigField { return &c.allowed_networks; }, "", false, check_networks},
    {"network", "ca", "--ca", "FILE", "Trust the certificates in this PEM file too",
     [](Config& c) -> ConfigField { return &c.ca_file; }},
    {"network", "connections", "", "", "Connections at a time",
     [](Config& c) -> ConfigField { return &c.crawl.connections_max; }, "", true},
    {"network", "http_port", "", "", "Where http URLs without a port lead",
     [](Config& c) -> ConfigField { return &c.crawl.http_port; }, "", true},
    {"network", "https_port", "", "", "Where https URLs without a port lead",
     [](Config& c) -> ConfigField { return &c.crawl.https_port; }, "", true},

    {"archive", "prefix", "", "", "What the names of WARC files begin with",
     [](Config& c) -> ConfigField { return &c.crawl.warc.series.prefix; }, "", false, check_prefix},
    {"archive", "file_size", "", "", "Begin a new WARC file when one has grown to this",
     [](Config& c) -> ConfigField { return Bytes{&c.crawl.warc.file_bytes_max}; }},
    {"archive", "operator", "", "", "Who makes this archive, as WARC files will tell",
     [](Config& c) -> ConfigField { return &c.crawl.warc.info.operator_name; }},
    {"archive", "description", "", "", "... of what",
     [](Config& c) -> ConfigField { return &c.crawl.warc.info.description; }},
    {"archive", "collection", "", "", "... as part of which collection",
     [](Config& c) -> ConfigField { return &c.crawl.warc.info.part_of; }},
    {"archive", "hostname", "", "", "... on which machine",
     [](Config& c) -> ConfigField { return &c.crawl.warc.info.hostname; }},
    {"archive", "disk_floor", "", "", "Leave so much of the disk free",
     [](Config& c) -> ConfigField { return Bytes{&c.crawl.disk_free_min}; }},

    {"metrics", "listen", "--metrics", "ADDRESS:PORT",
     "Serve metrics for Prometheus here, such as 127.0.0.1:9464; empty: nowhere",
     [](Config& c) -> ConfigField { return &c.metrics; }, "", false, check_metrics},
});

constexpr auto kHostKeys = std::to_array<HostKey>({
    {"host", "match", "", "",
     "www.example.org: that host; *.example.org: it and all below it; or a list of such",
     [](HostRule& r) -> ConfigField { return &r.matches; }, "\"*.example.org\"", false,
     check_host_match},
    {"host", "delay", "", "",
     "Instead of the least delay; shorter only where you may: your own server",
     [](HostRule& r) -> ConfigField { return OptionalMilliseconds{&r.wait_ms}; }, "\"30s\""},
    {"host", "max_pages", "", "", "Instead of max_pages_per_host",
     [](HostRule& r) -> ConfigField { return &r.pages_max; }, "1000"},
    {"host", "obey_robots", "", "", "Obey its robots.txt",
     [](HostRule& r) -> ConfigField { return &r.obeys_robots; }, "true"},
    {"host", "proxy", "", "", "Visit it through this proxy; empty: through none",
     [](HostRule& r) -> ConfigField { return &r.proxy; }, "\"\"", false, check_host_proxy},
    {"host", "user_agent", "", "", "Who visits, as this host is told",
     [](HostRule& r) -> ConfigField { return &r.user_agent; },
     "\"examplebot (+https://www.example.org/bot)\"", false, check_host_agent},
    {"host", "fields", "", "",
     "Sent with each request to it, for sites you have an account for; hidden in the archive",
     [](HostRule& r) -> ConfigField { return &r.fields; }, "{ Cookie = \"session=1234\" }", false,
     check_fields},
    {"host", "skip", "", "", "Do not visit it at all",
     [](HostRule& r) -> ConfigField { return &r.is_skipped; }, "false"},
    {"host", "pause", "", "", "Keep its pages, and visit them when this is taken back",
     [](HostRule& r) -> ConfigField { return &r.is_paused; }, "false"},
});

}  // namespace

std::span<const ConfigKey<CrawlConfig>> crawl_keys() { return kKeys; }

std::span<const ConfigKey<HostRule>> host_keys() { return kHostKeys; }

}  // namespace meguri::app
