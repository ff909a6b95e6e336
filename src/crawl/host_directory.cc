#include "crawl/host_directory.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/check.h"
#include "crawl/host_facts.h"
#include "crawl/host_wait.h"
#include "crawl/retry_policy.h"
#include "crawl/scheduler.h"
#include "crawl/server_key.h"
#include "web/http_fields.h"
#include "web/redirect.h"
#include "web/url.h"

namespace meguri::crawl {

namespace {

constexpr base::Duration kDurationMax = base::Duration::hours(1);  // of an access, as believed here
constexpr base::Duration kAddressAgeMin = base::Duration::minutes(1);
constexpr base::Duration kAddressAgeMax = base::Duration::days(1);
// Visits that the Scheduler refused are not told to us, so that a pin must end by itself.
constexpr base::Duration kPinMax = base::Duration::days(1);
// However young robots.txt has to be, the visit it was fetched for must come about.
constexpr base::Duration kRobotsAgeMin = base::Duration::minutes(5);

std::optional<web::Url> url_of(std::string_view text) {
  std::optional<web::Url> url = web::Url::parse(text);
  if (!url || !url->is_http() || url->host().size() > HostTable::kNameBytesMax) return {};
  return url;
}

// "/path?query"
std::string_view target_of(const web::Url& url) {
  const std::string_view all = url.without_fragment();
  return all.substr(static_cast<std::size_t>(url.path().data() - url.href().data()));
}

Priority priority_of(const Candidate& candidate) {
  if (candidate.is_last) return Priority::kOther;
  if (candidate.offer == Offer::kSeed || candidate.depth <= 1) return Priority::kShallow;
  return candidate.offer == Offer::kEmbed ? Priority::kEmbed : Priority::kOther;
}

void add_to(std::atomic<std::uint64_t>& counter) {
  counter.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace

std::uint64_t HostDirectory::key_of_page(const DuePage& page) {
  const std::optional<web::Url> url = web::Url::parse(page.candidate.url);
  return url ? host_hash_of(url->host()) : 0;
}

HostCounts HostDirectory::counts() const {
  HostCounts counts;
  counts.hosts = counters_.hosts.load(std::memory_order_relaxed);
  counts.waiting = counters_.waiting.load(std::memory_order_relaxed);
  counts.robots_awaited = counters_.robots_awaited.load(std::memory_order_relaxed);
  counts.names_asked = counters_.names_asked.load(std::memory_order_relaxed);
  counts.robots_asked = counters_.robots_asked.load(std::memory_order_relaxed);
  counts.visits = counters_.visits.load(std::memory_order_relaxed);
  counts.cleared = counters_.cleared.load(std::memory_order_relaxed);
  for (std::size_t i = 0; i < kRefusals; ++i) {
    counts.refused[i] = counters_.refused[i].load(std::memory_order_relaxed);
  }
  counts.aliases.aliases = counters_.aliases.load(std::memory_order_relaxed);
  counts.aliases.compared = counters_.compared.load(std::memory_order_relaxed);
  counts.aliases.parted = counters_.parted.load(std::memory_order_relaxed);
  return counts;
}

base::Status HostDirectory::start() {
  if (instance_count() != 1) {
    return base::fail(base::ErrorCode::kInvalid, "{} cannot be divided into instances", name());
  }
  if (exclusions_) RETURN_IF_ERROR(exclusions_->open(files()));
  started_ = clock().ticks();
  started_utc_ = clock().utc();
  for (const std::string& seed : options_.seeds) {
    if (const auto url = url_of(seed)) aliases_.add_seed(url->host());
  }
  if (state_dir().empty()) return {};
  const auto load = [this](std::string_view key, std::optional<std::string_view> value) {
    if (aliases_.load(key, value)) return base::Status();
    return table_.load(key, value, robots_reader_);
  };
  ASSIGN_OR_RETURN(store_, DurableLog::open(files(), state_dir() + "/" + name(), restored_, load));
  return {};
}

// --- Pages.

std::uint16_t HostDirectory::port_of(const web::Url& url) const {
  if (const auto port = url.port()) return *port;
  return url.scheme() == "https" ? options_.https_port : options_.http_port;
}

void HostDirectory::admit(DuePage&& page) {
  if (draining()) return refuse(page, Refusal::kInterrupted);
  const std::optional<web::Url> url = url_of(page.candidate.url);
  if (!url) return refuse(page, Refusal::kUnresolved);
  if (is_excluded(*url)) return refuse(page, Refusal::kExcluded);
  if (page.candidate.is_seed()) aliases_.add_seed(url->host());
  if (!aliases_.may_visit(*url, page.candidate.is_embed(), clock().utc())) {
    return refuse_alias(page, *url);
  }
  const SiteIndex index = table_.site_of(*url, port_of(*url));
  SiteRecord& site = table_.site(index);
  HostRecord& host = table_.host(site.host);
  if (page.host_pages > 0) host.pages = page.host_pages;
  take_load(host, page.host_load);
  if (host.policy->is_skipped) return refuse(page, Refusal::kSkipped);
  if (is_forbidden_behind_proxy(host)) return refuse(page, Refusal::kForbidden);
  if (const auto pause = pause_of(host, options_, clock().utc())) {
    return refuse(page, pause->reason, pause->wait);
  }
  if (!has_address(host)) {
    if (host.is_asking || clock().ticks() >= host.address_expires) {
      wait(host.waiting, std::move(page));
      return ask_name(host);
    }
    const HostPause pause = pause_of_name(host, options_, clock().ticks());
    return refuse(page, pause.reason, pause.wait);
  }
  if (!host.policy->obeys_robots) return visit_page(std::move(page), site);
  switch (step_of(site)) {
    case RobotsStep::kUse: break;
    case RobotsStep::kRefuse: {
      const HostPause pause = pause_of_robots(site.robots, options_, clock().utc());
      return refuse(page, pause.reason, pause.wait);
    }
    case RobotsStep::kWait: wait(site.waiting, std::move(page)); return wait_for_robots(index);
    case RobotsStep::kAsk:
      wait(site.waiting, std::move(page));
      if (!site.is_asking) ask_robots(index, site.origin + "/robots.txt", 0);
      return;
  }
  if (!site.robots.rules.check(target_of(*url)).allowed) return refuse(page, Refusal::kRobots);
  if (host.crawl_delay_ms > options_.crawl_delay_max.ms()) return refuse(page, Refusal::kParked);
  visit_page(std::move(page), site);
}

void HostDirectory::admit_all(std::vector<DuePage>& pages) {
  std::vector<DuePage> taken = std::exchange(pages, {});
  waiting_ -= taken.size();
  for (DuePage& page : taken) admit(std::move(page));
}

void HostDirectory::wait(std::vector<DuePage>& line, DuePage&& page) {
  line.push_back(std::move(page));
  ++waiting_;
}

void HostDirectory::refuse(const DuePage& page, Refusal reason, base::Duration wait) {
  add_to(counters_.refused[static_cast<std::size_t>(reason)]);
  refused.emit({.id = page.id, .reason = reason, .wait = wait});
}

// The page that it is may not be known yet.
void HostDirectory::refuse_alias(const DuePage& page, const web::Url& url) {
  Candidate candidate = page.candidate;
  candidate.url = url_on(aliases_.kept_of(url.host()), url);
  if (candidate.offer == Offer::kSeed) candidate.offer = Offer::kLink;
  offers.emit(std::move(candidate));
  refuse(page, Refusal::kAlias, options_.aliases.check_every);
}

void HostDirectory::take_sample(const HostNews& item) {
  const std::optional<web::Url> url = url_of(item.url);
  if (!url) return;
  const auto look = [this](std::string_view name) -> std::optional<HostAliases::Host> {
    const HostRecord* host = table_.find(name);
    if (host == nullptr) return std::nullopt;
    const bool has_server = host->address_state == AddressState::kFound;
    return HostAliases::Host{.pages = host->pages,
                             .server = has_server ? server_key_of(host->address) : 0};
  };
  HostAliases::Outcome outcome = aliases_.take(*url, *item.sample, look, clock().utc());
  for (AliasChange& change : outcome.changes) aliases.emit(std::move(change));
  for (Candidate& offer : outcome.offers) offers.emit(std::move(offer));
}

bool HostDirectory::is_excluded(const web::Url& url) const {
  return exclusions_ && exclusions_->list()->excludes(url);
}

void HostDirectory::visit_page(DuePage&& page, const SiteRecord& site) {
  HostRecord& host = table_.host(site.host);
  Visit visit;
  visit.priority = priority_of(page.candidate);
  visit.page = std::move(page);
  visit.address.port = site.port;
  add_to(counters_.visits);
  send(std::move(visit), host);
}

// What is the host's is filled in here.
void HostDirectory::send(Visit&& visit, HostRecord& host) {
  visit.host = host.hash;
  visit.address.address = host.policy->proxy.empty() ? host.address : stand_in_of(host.hash);
  visit.not_before = not_before(host);
  const HostWait wait = wait_of(host, options_);
  visit.wait_ms = wait.ms;
  visit.is_wait_whole = wait.is_whole;
  visit.ignores_duration = wait.ignores_duration;
  visit.pace = pace_of(host);
  ++host.visits;
  visits.emit(std::move(visit));
}

// Also of its server: where a name leads may change. That sees no more of a host than the host
// itself bears, so that one that asks for too much is no burden to its neighbours.
void HostDirectory::take_load(HostRecord& host, double load) {
  const bool has_server = host.address_state == AddressState::kFound && host.policy->proxy.empty();
  const std::uint64_t server = has_server ? server_key_of(host.address) : 0;
  if (host.loaded_server != 0) server_loads_[host.loaded_server] -= host.server_load;
  host.load = load;
  host.loaded_server = server;
  host.server_load = bearable_load({host.load, host.pages, access_of(host, options_)});
  if (server != 0) server_loads_[server] += host.server_load;
}

// By what the host bears, and its server.
HostPace HostDirectory::pace_of(const HostRecord& host) const {
  HostDemand demand{host.load, host.pages, access_of(host, options_)};
  const auto server = server_loads_.find(host.loaded_server);
  if (server != server_loads_.end()) {
    const auto gap = base::Duration::from_ms(options_.access.server_gap_ms) + host.mean_duration;
    demand.crowding = crowding_of(server->second, gap / options_.access.server_requests_max);
  }
  return crawl::pace_of(demand, options_.revisit.remedy);
}

// The Scheduler knows how long hosts want to rest, with two exceptions: a Crawl-delay is known only
// some time after the access that brought it, and after a restart it has forgotten everything.
base::Ticks HostDirectory::not_before(const HostRecord& host) const {
  if (host.last_access == base::Instant()) return {};
  const base::Duration lasted = std::clamp(host.last_duration, base::Duration(), kDurationMax);
  const HostWait own = wait_of(host, options_);
  base::Duration wait = base::Duration::from_ms(own.ms);
  if (!own.ignores_duration) wait = std::max(wait, lasted * options_.access.duration_factor);
  const base::Duration rest = host.last_access + wait - clock().utc();
  const base::Duration hold = host.hold_until - clock().utc();
  const base::Ticks rested =
      clock().ticks() + std::max(std::clamp(rest, base::Duration(), wait),
                                 std::clamp(hold, base::Duration(), web::kRetryAfterMax));
  return own.ignores_duration ? rested : std::max(rested, not_before_since_restart(host));
}

// Accesses that were lost with their epoch had ended when we were started again, and are taken to
// have lasted as long as those we know of. Since the first one after that, the Scheduler knows.
base::Ticks HostDirectory::not_before_since_restart(const HostRecord& host) const {
  if (restored_.empty() || host.last_access >= started_utc_) return {};
  const base::Duration lasted = std::clamp(host.longest_duration, base::Duration(), kDurationMax);
  return started_ + lasted * options_.access.duration_factor;
}

// --- Addresses.

bool HostDirectory::is_forbidden_behind_proxy(const HostRecord& host) const {
  if (host.policy->proxy.empty()) return false;
  const auto address = fetch::IpAddress::parse(host.name);
  return address && !policy_.allows(*address);
}

bool HostDirectory::has_address(const HostRecord& host) const {
  if (!host.policy->proxy.empty()) return true;
  if (host.address_state != AddressState::kFound) return false;
  const base::Ticks now = clock().ticks();
  return now < host.address_expires || (host.visits > 0 && now < host.address_expires + kPinMax);
}

void HostDirectory::ask_name(HostRecord& host) {
  if (host.is_asking) return;
  host.is_asking = true;
  add_to(counters_.names_asked);
  questions.emit({host.name});
}

void HostDirectory::on_name(NameAnswer&& answer) {
  if (table_.find(answer.host) == nullptr) return;
  HostRecord& host = table_.host(table_.host_of(answer.host));
  host.is_asking = false;
  if (draining()) return;  // an answer that was not waited for says nothing
  take_address(host, answer);
  for (const std::string& url : std::exchange(host.robots_waiting, {})) {
    if (trips_.contains(url)) visit_robots(url);
  }
  admit_all(host.waiting);
}

void HostDirectory::take_address(HostRecord& host, const NameAnswer& answer) {
  const bool has_failed = !answer.is_found && answer.may_pass;
  host.name_failures = has_failed ? host.name_failures + 1 : 0;
  const base::Duration age = has_failed && host.name_failures < options_.tries_max
                                 ? retry_wait(host.name_failures)
                                 : std::clamp(answer.ttl, kAddressAgeMin, kAddressAgeMax);
  host.address_expires = clock().ticks() + age;
  host.visits = 0;  // those that are still out keep their address at the Scheduler
  const auto allowed = std::ranges::find_if(
      answer.addresses, [this](const auto& address) { return policy_.allows(address); });
  if (!answer.is_found || answer.addresses.empty()) {
    host.address_state = AddressState::kMissing;
  } else if (allowed == answer.addresses.end()) {
    host.address_state = AddressState::kForbidden;
  } else {
    host.address_state = AddressState::kFound;
    host.address = *allowed;
  }
}

// --- robots.txt.

RobotsStep HostDirectory::step_of(const SiteRecord& site) const {
  // Twice the delay, because the access that brought it came before that of the page.
  const base::Duration delay =
      base::Duration::from_ms(table_.host(site.host).crawl_delay_ms) * 2 + kRobotsAgeMin;
  return robots_step(site.robots, clock().utc(), std::max(options_.robots_age_max, delay));
}

void HostDirectory::wait_for_robots(SiteIndex index) {
  SiteRecord& site = table_.site(index);
  if (site.has_timer) return;
  site.has_timer = true;
  const base::Instant again = site.robots.failed + robots_wait(site.robots.failures);
  set_timer_after(std::max(again - clock().utc(), base::Duration::from_ms(1)), index);
}

void HostDirectory::on_timer(std::uint64_t tag) {
  SiteRecord& site = table_.site(static_cast<SiteIndex>(tag));
  site.has_timer = false;
  if (!site.is_asking) admit_all(site.waiting);
}

void HostDirectory::ask_robots(SiteIndex index, std::string url, std::uint8_t hops) {
  table_.site(index).is_asking = true;
  const auto [trip, is_new] = trips_.try_emplace(std::move(url));
  trip->second.wants.push_back({index, hops});
  if (is_new) visit_robots(std::string(trip->first));
}

// Requires a trip to it.
void HostDirectory::visit_robots(const std::string& text) {
  const std::optional<web::Url> url = url_of(text);
  if (!url) return settle_trip(text, 0, {}, {});
  HostRecord& host = table_.host(table_.host_of(url->host()));
  const bool is_closed =
      host.policy->is_skipped || is_forbidden_behind_proxy(host) || is_held(host);
  if (is_closed) return settle_trip(text, 0, {}, {});
  if (!has_address(host)) {
    if (!host.is_asking && clock().ticks() < host.address_expires) {
      return settle_trip(text, 0, {}, {});
    }
    host.robots_waiting.push_back(text);
    return ask_name(host);
  }
  Visit visit;
  visit.purpose = Purpose::kRobots;
  visit.page.candidate.url = text;
  const Trip::Want& want = trips_[text].wants.front();
  visit.page.candidate.hops = want.hops;
  // What robots.txt leads to is as deep as the page that it is asked for.
  const std::vector<DuePage>& line = table_.site(want.site).waiting;
  if (!line.empty()) visit.page.candidate.depth = line.front().candidate.depth;
  visit.page.candidate.offer = Offer::kHint;
  visit.address.port = port_of(*url);
  visit.priority = Priority::kUrgent;
  add_to(counters_.robots_asked);
  send(std::move(visit), host);
}

void HostDirectory::on_news(HostNews&& item) {
  if (item.host.size() > HostTable::kNameBytesMax) return;
  const HostIndex index = table_.host_of(item.host);
  HostRecord& host = table_.host(index);
  const bool is_answered = item.fetch == fetch::FetchOutcome::kAnswered;
  if (item.finished >= host.last_access) {
    host.last_access = item.finished;
    host.last_duration = item.duration;
  }
  const auto remembered = base::Duration::from_ms(host.longest_duration.ms() / 4 * 3);
  host.longest_duration = std::max(remembered, item.duration);
  host.mean_duration = host.mean_duration == base::Duration()
                           ? item.duration
                           : (host.mean_duration * 7 + item.duration) / 8;
  if (item.hold > base::Duration()) host.hold_until = item.finished + item.hold;
  if (is_answered) host.errors = 0;
  if (is_silence(item.fetch)) ++host.errors;
  table_.touch_host(index);
  if (item.sample) take_sample(item);
  if (item.purpose != Purpose::kRobots) return;
  if (!is_answered) item.status = 0;
  if (!trips_.contains(item.url)) return take_stray_robots(item);
  settle_trip(item.url, item.status, item.robots, item.redirect);
}

void HostDirectory::settle_trip(const std::string& url, int status, std::string_view text,
                                std::string_view location) {
  auto trip = trips_.extract(url);
  CHECK(!trip.empty());
  const std::optional<web::Url> base = web::Url::parse(url);
  const bool leads_on = web::is_redirect_status(status) && !location.empty() && base;
  const auto next = leads_on ? web::Url::parse(location, &*base) : std::nullopt;
  for (const Trip::Want& want : trip.mapped().wants) {
    if (next && next->is_http() && want.hops < kRobotsHopsMax) {
      ask_robots(want.site, std::string(next->without_fragment()),
                 static_cast<std::uint8_t>(want.hops + 1));
    } else {
      take_answer(want.site, status, text);
    }
  }
}

void HostDirectory::take_answer(SiteIndex index, int status, std::string_view text) {
  SiteRecord& site = table_.site(index);
  site.is_asking = false;
  // By the time it came here: what is older by an epoch must not be asked for in a circle.
  const auto scope =
      options_.obeys_any_agent ? web::RobotsScope::kAnyAgent : web::RobotsScope::kOwnGroup;
  take_robots(site.robots, status, text, options_.agent, clock().utc(), scope);
  table_.touch_site(index);
  table_.update_delay(site.host);
  admit_all(site.waiting);
}

// One that was under way when the crawl began to end: it is good for the next start.
void HostDirectory::take_stray_robots(const HostNews& item) {
  const std::optional<web::Url> url = url_of(item.url);
  if (!url || target_of(*url) != "/robots.txt") return;
  if (item.status == 0 || web::is_redirect_status(item.status)) return;
  take_answer(table_.site_of(*url, port_of(*url)), item.status, item.robots);
}

// --- The last look.

void HostDirectory::on_leaving(Visit&& visit) {
  const std::optional<HostPause> reason = last_look(visit);
  if (!reason) {
    if (visit.purpose == Purpose::kPage) add_to(counters_.cleared);
    return cleared.emit(std::move(visit));
  }
  called_off.emit({.host = visit.host,
                   .server = server_key_of(visit.address.address),
                   .duration = {},
                   .happened = false});
  if (visit.purpose == Purpose::kPage) return refuse(visit.page, reason->reason, reason->wait);
  // Whose pages wait for it hear that it cannot be had.
  const bool is_parked = reason->reason == Refusal::kParked;
  const std::string& url = visit.page.candidate.url;
  if (is_parked && trips_.contains(url)) settle_trip(url, 0, {}, {});
}

std::optional<HostPause> HostDirectory::last_look(const Visit& visit) {
  const std::optional<web::Url> url = url_of(visit.page.candidate.url);
  CHECK(url, "a visit came back that was not made here");
  HostRecord& host = table_.host(table_.host_of(url->host()));
  if (host.visits > 0) --host.visits;
  const auto because = [](Refusal reason) { return HostPause{.reason = reason}; };
  if (draining()) return because(Refusal::kInterrupted);
  if (visit.purpose == Purpose::kRobots) {
    return is_held(host) ? std::optional(because(Refusal::kParked)) : std::nullopt;
  }
  if (is_excluded(*url)) return because(Refusal::kExcluded);
  if (const auto pause = pause_of(host, options_, clock().utc())) return pause;
  if (!host.policy->obeys_robots) return {};
  const SiteRecord& site = table_.site(table_.site_of(*url, port_of(*url)));
  if (step_of(site) != RobotsStep::kUse) return because(Refusal::kFull);  // it comes again
  if (!site.robots.rules.check(target_of(*url)).allowed) return because(Refusal::kRobots);
  const base::Duration delay = base::Duration::from_ms(host.crawl_delay_ms);
  if (delay > options_.crawl_delay_max) return because(Refusal::kParked);
  if (host.crawl_delay_ms > visit.wait_ms) return because(Refusal::kFull);  // it rests before
  return {};
}

// --- Questions of people.

void HostDirectory::on_asked(HostQuestion&& question) {
  HostAnswer answer{.ticket = question.ticket};
  for (const std::string& name : question.hosts) {
    if (const HostRecord* host = table_.find(name)) {
      answer.hosts.push_back(host_facts(table_, *host));
    }
  }
  if (question.order) answer.hosts = first_hosts(table_, *question.order, question.limit);
  const std::optional<web::Url> url = url_of(question.url);
  if (url && table_.find(url->host()) != nullptr) {
    const SiteRecord& site = table_.site(table_.site_of(*url, port_of(*url)));
    answer.site = site_facts(site, target_of(*url));
    const auto is_it = [&](const DuePage& page) { return page.id == question.page; };
    const HostRecord& host = table_.host(site.host);
    answer.hosts = {host_facts(table_, host)};
    if (std::ranges::any_of(host.waiting, is_it)) answer.line = HostLine::kAddress;
    if (std::ranges::any_of(site.waiting, is_it)) answer.line = HostLine::kRobots;
  }
  for (HostFacts& facts : answer.hosts) {
    if (const HostRecord* host = table_.find(facts.name)) facts.pace = pace_of(*host);
    facts.alias_of = aliases_.kept_of(facts.name);
  }
  answers.emit(std::move(answer));
}

// --- Ends and epochs.

bool HostDirectory::produce() {
  if (draining() && waiting_ > 0) give_all_back();
  if (!options_.aliases.is_on && aliases_.counts().aliases > 0) {
    for (AliasChange& change : aliases_.part_all(clock().utc())) aliases.emit(std::move(change));
  }
  counters_.hosts.store(table_.hosts(), std::memory_order_relaxed);
  counters_.waiting.store(waiting_, std::memory_order_relaxed);
  counters_.robots_awaited.store(trips_.size(), std::memory_order_relaxed);
  counters_.aliases.store(aliases_.counts().aliases, std::memory_order_relaxed);
  counters_.compared.store(aliases_.counts().compared, std::memory_order_relaxed);
  counters_.parted.store(aliases_.counts().parted, std::memory_order_relaxed);
  return false;
}

// admit() refuses them all.
void HostDirectory::give_all_back() {
  trips_.clear();
  for (HostIndex i = 0; i < table_.hosts(); ++i) admit_all(table_.host(i).waiting);
  for (SiteIndex i = 0; i < table_.sites(); ++i) admit_all(table_.site(i).waiting);
}

base::Result<std::string> HostDirectory::commit(flow::EpochId epoch) {
  if (!store_) return std::string();
  table_.save_changes(*store_, robots_reader_);
  aliases_.save_changes(*store_);
  return store_->commit(epoch, table_.stored_bytes() + aliases_.stored_bytes(),
                        [this](DurableLog& log) {
                          table_.save_all(log, robots_reader_);
                          aliases_.save_all(log);
                        });
}

void HostDirectory::on_durable(flow::EpochId epoch) {
  if (!store_) return;
  if (auto status = store_->on_durable(epoch); !status) fail(std::move(status).error());
}

base::Status HostDirectory::restore(flow::EpochId /*epoch*/, std::string_view state) {
  restored_ = state;
  return {};
}

}  // namespace meguri::crawl
