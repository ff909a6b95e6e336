#include "app/archive_state.h"

#include <algorithm>
#include <map>
#include <utility>

#include "base/text.h"
#include "crawl/durable_log.h"
#include "crawl/host_facts.h"
#include "crawl/page_record.h"
#include "crawl/registry_state.h"
#include "flow/checkpoint.h"
#include "web/canonical.h"
#include "web/url.h"

namespace meguri::app {

using crawl::HostOrder;
using crawl::PageRecord;

namespace {

constexpr std::size_t kCacheBytes = std::size_t{1} << 20U;  // few pages are asked for

}  // namespace

base::Result<ArchiveState> ArchiveState::load(env::FileSystem& files, const std::string& state_dir,
                                              const std::string& agent) {
  ArchiveState state;
  state.rules_ = std::make_unique<crawl::HostRules>(crawl::CrawlOptions());
  state.table_ = std::make_unique<crawl::HostTable>(*state.rules_);
  ASSIGN_OR_RETURN(const bool exists, files.exists(state_dir));
  if (!exists) return state;
  ASSIGN_OR_RETURN(state.pauses_, crawl::load_pauses(files, state_dir));
  ASSIGN_OR_RETURN(const auto checkpoint, flow::Checkpoint::load(files, state_dir));
  state.scratch_ = std::make_unique<env::MemoryFileSystem>();
  state.overlay_ = std::make_unique<env::OverlayFileSystem>(files, *state.scratch_, "");
  for (const auto& [label, mark] : checkpoint.states) {
    if (label != "registry" && !label.starts_with("registry#")) continue;
    RETURN_IF_ERROR(state.load_registry(files, state_dir + "/" + label, mark));
  }
  const auto hosts = checkpoint.states.find("hosts");
  if (hosts != checkpoint.states.end()) {
    RETURN_IF_ERROR(
        crawl::DurableLog::read(files, state_dir + "/hosts", hosts->second,
                                [&](std::string_view key, std::optional<std::string_view> value) {
                                  if (state.aliases_.load(key, value)) return base::Status();
                                  return state.table_->load(key, value, agent);
                                }));
  }
  return state;
}

base::Status ArchiveState::load_registry(env::FileSystem& files, const std::string& dir,
                                         std::string_view state) {
  ASSIGN_OR_RETURN(const auto registry, crawl::RegistryState::decode(state));
  ASSIGN_OR_RETURN(auto pages, crawl::PageStore::open(*overlay_, crawl::pages_dir(dir),
                                                      {.known = {.cache_bytes = kCacheBytes}},
                                                      registry.pages, base::Instant()));
  pages_.push_back(std::move(pages));
  ASSIGN_OR_RETURN(const auto hosts,
                   crawl::HostPageCounts::read(files, crawl::host_counts_dir(dir), registry.hosts));
  hosts_.insert(hosts_.end(), hosts.begin(), hosts.end());
  standing_.add(registry);
  return {};
}

crawl::HostFacts ArchiveState::facts_of(const crawl::HostRecord& host) const {
  crawl::HostFacts facts = crawl::host_facts(*table_, host);
  facts.alias_of = aliases_.kept_of(host.name);
  return facts;
}

base::Result<std::optional<PageRecord>> ArchiveState::find(const base::Id& id) {
  for (const auto& pages : pages_) {
    ASSIGN_OR_RETURN(auto record, pages->find(id));
    if (record) return record;
  }
  return std::nullopt;
}

base::Result<crawl::WhyFacts> ArchiveState::why(const std::string& text) {
  const auto parsed = web::Url::parse(text);
  if (!parsed || !parsed->is_http()) {
    return base::fail(base::ErrorCode::kInvalid, "{} is no http or https URL", base::quoted(text));
  }
  const web::Url url = web::canonical(*parsed);
  crawl::WhyFacts facts;
  facts.url = url.href();
  const std::string host_name(url.host());
  facts.is_paused = pauses_.all || pauses_.hosts.contains(host_name);
  ASSIGN_OR_RETURN(auto record, find(crawl::page_id_of(facts.url)));
  if (record) facts.page.emplace().record = *std::move(record);
  const crawl::HostRecord* host = table_->find(url.host());
  if (host == nullptr) return facts;
  facts.host = facts_of(*host);
  const std::string_view all = url.without_fragment();
  const auto path_at = static_cast<std::size_t>(url.path().data() - url.href().data());
  for (const crawl::SiteIndex i : host->sites) {
    const crawl::SiteRecord& site = table_->site(i);
    if (all.substr(0, path_at) == site.origin) {
      facts.site = crawl::site_facts(site, all.substr(path_at));
    }
  }
  return facts;
}

crawl::HostList ArchiveState::hosts(const crawl::AskHosts& ask) const {
  std::map<std::string, crawl::HostRow> by_name;
  for (const crawl::HostPageCounts::Host& host : hosts_) {
    crawl::HostPages& pages = by_name[host.name].pages;
    pages.pages += host.pages;
    pages.waiting += host.pages - host.done;
    pages.load += host.load;
    pages.hints = revisit::joined(pages.hints, host.hints);
  }
  crawl::HostList list;
  list.pauses = pauses_;
  for (auto& [name, row] : by_name) {
    const auto& wanted = ask.hosts;
    if (!wanted.empty() && std::ranges::find(wanted, name) == wanted.end()) continue;
    row.pages.host = name;
    row.is_paused = pauses_.all || pauses_.hosts.contains(name);
    const crawl::HostRecord* host = table_->find(name);
    if (host != nullptr) row.facts = facts_of(*host);
    list.rows.push_back(std::move(row));
  }
  const auto rank = [&ask](const crawl::HostRow& row) -> std::uint64_t {
    switch (ask.order) {
      case HostOrder::kWaiting: return row.pages.waiting;
      case HostOrder::kPages: return row.pages.pages;
      case HostOrder::kErrors: return row.facts ? row.facts->errors : 0;
      case HostOrder::kDelay: return row.facts ? row.facts->crawl_delay_ms : 0;
    }
    return 0;
  };
  std::ranges::sort(list.rows, [&](const crawl::HostRow& a, const crawl::HostRow& b) {
    return rank(a) != rank(b) ? rank(a) > rank(b) : a.pages.host < b.pages.host;
  });
  if (list.rows.size() > ask.limit) list.rows.resize(ask.limit);
  return list;
}

}  // namespace meguri::app
