#include "app/archive_state.h"

#include <algorithm>
#include <map>
#include <utility>

#include "base/text.h"
#include "crawl/durable_log.h"
#include "crawl/host_facts.h"
#include "crawl/page_record.h"
#include "flow/checkpoint.h"
#include "web/canonical.h"
#include "web/url.h"

namespace meguri::app {

using crawl::HostOrder;
using crawl::PageRecord;
using crawl::PageState;

base::Result<ArchiveState> ArchiveState::load(env::FileSystem& files, const std::string& state_dir,
                                              const std::string& agent) {
  ArchiveState state;
  state.rules_ = std::make_unique<crawl::HostRules>(crawl::CrawlOptions());
  state.table_ = std::make_unique<crawl::HostTable>(*state.rules_);
  ASSIGN_OR_RETURN(const bool exists, files.exists(state_dir));
  if (!exists) return state;
  ASSIGN_OR_RETURN(state.pauses_, crawl::load_pauses(files, state_dir));
  ASSIGN_OR_RETURN(const auto checkpoint, flow::Checkpoint::load(files, state_dir));
  for (const auto& [label, mark] : checkpoint.states) {
    if (label == "registry" || label.starts_with("registry#")) {
      ASSIGN_OR_RETURN(auto pages,
                       crawl::DurableMap::open_read_only(files, state_dir + "/" + label, mark));
      state.pages_.push_back(std::move(pages));
    }
  }
  const auto hosts = checkpoint.states.find("hosts");
  if (hosts != checkpoint.states.end()) {
    RETURN_IF_ERROR(
        crawl::DurableLog::read(files, state_dir + "/hosts", hosts->second,
                                [&](std::string_view key, std::optional<std::string_view> value) {
                                  return state.table_->load(key, value, agent);
                                }));
  }
  return state;
}

std::optional<PageRecord> ArchiveState::find(const base::Id& id) const {
  PageRecord record;
  for (const auto& pages : pages_) {
    const auto value = pages->find(crawl::page_key_of(id));
    if (value && flow::Codec<PageRecord>::decode(*value, record)) return record;
  }
  return std::nullopt;
}

template <typename Use>
void ArchiveState::for_each_page(Use use) const {
  PageRecord record;
  for (const auto& pages : pages_) {
    pages->for_each([&](std::string_view /*key*/, std::string_view value) {
      if (flow::Codec<PageRecord>::decode(value, record)) use(record);
    });
  }
}

base::Result<crawl::WhyFacts> ArchiveState::why(const std::string& text) const {
  const auto parsed = web::Url::parse(text);
  if (!parsed || !parsed->is_http()) {
    return base::fail(base::ErrorCode::kInvalid, "{} is no http or https URL", base::quoted(text));
  }
  const web::Url url = web::canonical(*parsed);
  crawl::WhyFacts facts;
  facts.url = url.href();
  const std::string host_name(url.host());
  facts.is_paused = pauses_.all || pauses_.hosts.contains(host_name);
  if (auto record = find(crawl::page_id_of(facts.url))) {
    facts.page.emplace().record = *std::move(record);
  }
  const crawl::HostRecord* host = table_->find(url.host());
  if (host == nullptr) return facts;
  facts.host = crawl::host_facts(*table_, *host);
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

// Counts all pages, whatever is asked for: there is nothing to look them up by.
crawl::HostList ArchiveState::hosts(const crawl::AskHosts& ask) const {
  std::map<std::string, crawl::HostRow> by_name;
  for_each_page([&](const PageRecord& record) {
    const auto url = web::Url::parse(record.candidate.url);
    if (!url) return;
    crawl::HostPages& pages = by_name[std::string(url->host())].pages;
    ++pages.pages;
    if (!record.is_done()) ++pages.waiting;
  });
  crawl::HostList list;
  list.pauses = pauses_;
  for (auto& [name, row] : by_name) {
    const auto& wanted = ask.hosts;
    if (!wanted.empty() && std::ranges::find(wanted, name) == wanted.end()) continue;
    row.pages.host = name;
    row.is_paused = pauses_.all || pauses_.hosts.contains(name);
    const crawl::HostRecord* host = table_->find(name);
    if (host != nullptr) row.facts = crawl::host_facts(*table_, *host);
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

CrawlStanding ArchiveState::standing() const {
  CrawlStanding standing;
  for_each_page([&](const PageRecord& record) {
    ++standing.known;
    switch (record.state) {
      case PageState::kWaiting: ++standing.waiting; return;
      case PageState::kVisited: ++standing.visited[static_cast<std::size_t>(record.outcome)]; break;
      case PageState::kRefused: ++standing.refused[static_cast<std::size_t>(record.refusal)]; break;
    }
    ++standing.done;
  });
  return standing;
}

}  // namespace meguri::app
