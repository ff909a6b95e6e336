#include "app/crawl_answers.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "app/why_sentences.h"

namespace meguri::app {

using crawl::AccessWait;
using crawl::AddressState;

namespace {

nlohmann::json time_of(base::Instant time) {
  return time == base::Instant() ? nlohmann::json() : nlohmann::json(time.to_rfc3339());
}

std::string_view name_of(AddressState state) {
  switch (state) {
    case AddressState::kUnknown: return "unknown";
    case AddressState::kFound: return "found";
    case AddressState::kMissing: return "missing";
    case AddressState::kForbidden: return "forbidden";
  }
  return "unknown";
}

std::string_view name_of(crawl::PageState state) {
  switch (state) {
    case crawl::PageState::kWaiting: return "waiting";
    case crawl::PageState::kVisited: return "visited";
    case crawl::PageState::kRefused: return "refused";
  }
  return "waiting";
}

nlohmann::json to_json(const crawl::PageFacts& page) {
  const crawl::PageRecord& record = page.record;
  nlohmann::json json = {{"state", name_of(record.state)},
                         {"in_flight", page.is_out},
                         {"lane", page.lane},
                         {"offer", crawl::name_of(record.candidate.offer)},
                         {"via", record.candidate.via},
                         {"depth", record.candidate.depth},
                         {"visits", record.visits}};
  if (record.visits > 0) {
    json["visited"] = time_of(record.visited);
    json["outcome"] = crawl::name_of(record.outcome);
    json["fetch"] = fetch::name_of(record.fetch);
    json["status"] = record.status;
  }
  if (record.state == crawl::PageState::kRefused) json["refusal"] = crawl::name_of(record.refusal);
  return json;
}

nlohmann::json to_json(const crawl::HostFacts& host) {
  return {{"address_state", name_of(host.address_state)},
          {"address", host.address},
          {"crawl_delay_ms", host.crawl_delay_ms},
          {"last_access", time_of(host.last_access)},
          {"errors", host.errors},
          {"robots", crawl::name_of(host.robots)}};
}

nlohmann::json to_json(const crawl::SiteFacts& site) {
  nlohmann::json json = {{"origin", site.origin}, {"robots", crawl::name_of(site.robots)}};
  if (site.has_rules) {
    json["fetched"] = time_of(site.fetched);
    json["allowed"] = site.is_allowed;
    json["line"] = site.line;
    json["rule"] = site.rule;
  }
  if (site.failures > 0) {
    json["failures"] = site.failures;
    json["failed"] = time_of(site.failed);
    json["next_try"] = time_of(site.failed + site.retry_after);
  }
  return json;
}

// Text of strangers may be no UTF-8, which JSON cannot hold.
nlohmann::json checked(const nlohmann::json& json) {
  const std::string text = json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  return nlohmann::json::parse(text);
}

}  // namespace

nlohmann::json to_json(const base::Error& error) {
  return checked(
      {{"ok", false}, {"code", base::name_of(error.code())}, {"error", error.message()}});
}

nlohmann::json to_json(const crawl::PauseState& pauses) {
  return {{"all", pauses.all}, {"hosts", pauses.hosts}};
}

nlohmann::json to_json(const crawl::WhyFacts& facts, bool is_running, base::Instant now) {
  nlohmann::json json = {{"ok", true},
                         {"running", is_running},
                         {"url", facts.url},
                         {"known", facts.page.has_value()},
                         {"paused", facts.is_paused},
                         {"sentences", why_sentences(facts, is_running, now)}};
  if (facts.page) json["page"] = to_json(*facts.page);
  if (facts.has_verdict) {
    json["filter"] = facts.reason ? nlohmann::json(crawl::name_of(*facts.reason)) : "accepted";
  }
  if (facts.host) json["host"] = to_json(*facts.host);
  if (facts.site) json["site"] = to_json(*facts.site);
  return checked(json);
}

std::string waits_for(const crawl::HostRow& row, const crawl::HostList& list) {
  const auto in = [&list](base::Ticks until) {
    return (until > list.now ? until - list.now : base::Duration()).to_string();
  };
  if (row.pages.waiting + row.pages.out == 0) return "nothing";
  if (row.is_paused) return "resume";
  if (!list.disk.empty()) return "room on the disk";
  if (row.access && row.access->waits_for == AccessWait::kAnswer) return "an answer";
  if (row.facts && row.facts->waiting_for_address > 0) return "its address";
  if (row.access && row.access->waiting > 0) {
    switch (row.access->waits_for) {
      case AccessWait::kDelay: return "its delay, " + in(row.access->until);
      case AccessWait::kServerGap: return "its server's gap, " + in(row.access->until);
      case AccessWait::kServerBusy: return "its server";
      case AccessWait::kAnswer:
      case AccessWait::kNothing: return "its turn";
    }
  }
  if (row.facts && row.facts->waiting_for_robots > 0) return "robots.txt";
  return row.pages.out > 0 ? "being archived" : "its turn";
}

nlohmann::json to_json(const crawl::HostList& list) {
  nlohmann::json rows = nlohmann::json::array();
  for (const crawl::HostRow& row : list.rows) {
    nlohmann::json json = {{"host", row.pages.host},           {"pages", row.pages.pages},
                           {"waiting", row.pages.waiting},     {"in_flight", row.pages.out},
                           {"done", row.pages.done()},         {"paused", row.is_paused},
                           {"waits_for", waits_for(row, list)}};
    if (row.facts) json.update(to_json(*row.facts));
    rows.push_back(std::move(json));
  }
  return checked({{"ok", true},
                  {"hosts", std::move(rows)},
                  {"paused", to_json(list.pauses)},
                  {"disk", list.disk}});
}

}  // namespace meguri::app
