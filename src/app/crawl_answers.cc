#include "app/crawl_answers.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>

#include "app/why_sentences.h"
#include "crawl/host_load.h"
#include "revisit/estimate.h"

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

// The newest last: one letter for each of the last visits.
std::string history_of(const revisit::ChangeState& state) {
  constexpr std::string_view kLetters = "C=G!";
  std::string text;
  const std::size_t known = std::min<std::size_t>(state.visits, revisit::kHistoryVisits);
  for (std::size_t back = known; back > 0; --back) {
    text += kLetters[static_cast<std::size_t>(revisit::outcome_at(state, back - 1))];
  }
  return text;
}

nlohmann::json revisit_of(const crawl::PageRecord& record) {
  nlohmann::json json = {{"next_visit", time_of(record.due())},
                         {"reason", revisit::name_of(record.due_reason())},
                         {"because", why_then(record)}};
  if (record.is_due_by_hint()) {
    json["modified"] = time_of(record.hint->modified);
    json["own_next_visit"] = time_of(record.next_visit);
  }
  const revisit::ChangeState& state = record.changes;
  if (state.visits == 0) return json;
  json["since"] = time_of(state.first_visit);
  json["visits"] = state.visits;
  json["versions"] = state.versions;
  json["changes"] = state.changes;
  json["history"] = history_of(state);
  json["interval_s"] = state.interval.in_seconds();
  json["trusts_last_modified"] = revisit::trusts_modified(state);
  const auto add = [&json](const char* name, const std::optional<base::Duration>& time) {
    if (time) json[name] = time->in_seconds();
  };
  const revisit::IntervalRange likely = revisit::likely_intervals(state);
  add("change_interval_s", likely.likeliest);
  add("change_interval_min_s", likely.shortest);
  add("change_interval_max_s", likely.longest);
  return json;
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
  if (record.visits > 0 || record.changes.visits > 0) {
    json["visited"] = time_of(record.visited);
    json["outcome"] = crawl::name_of(record.outcome);
    json["fetch"] = fetch::name_of(record.fetch);
    json["status"] = record.status;
  }
  if (record.state == crawl::PageState::kRefused) json["refusal"] = crawl::name_of(record.refusal);
  if (record.is_done()) json["revisit"] = revisit_of(record);
  return json;
}

nlohmann::json to_json(const crawl::HostFacts& host) {
  nlohmann::json json = {{"address_state", name_of(host.address_state)},
                         {"address", host.address},
                         {"crawl_delay_ms", host.crawl_delay_ms},
                         {"last_access", time_of(host.last_access)},
                         {"errors", host.errors},
                         {"robots", crawl::name_of(host.robots)},
                         {"download_ms", host.download.ms()},
                         {"access_ms", host.pace.access.ms()},
                         {"stretched_by", host.pace.factor},
                         {"lengthened_by_s", host.pace.added.in_seconds()}};
  if (!host.alias_of.empty()) json["alias_of"] = host.alias_of;
  return json;
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
  if (row.facts && !row.facts->alias_of.empty()) {
    return "nothing: an alias of " + row.facts->alias_of;
  }
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

namespace {

// The R of paper 002; null where nothing is asked for.
nlohmann::json feasibility_of(const crawl::HostRow& row) {
  const double r = crawl::feasibility(row.pages.load, row.facts->download);
  return std::isfinite(r) ? nlohmann::json(r) : nlohmann::json();
}

nlohmann::json to_json(const revisit::HintRecord& hints) {
  return {{"right", hints.right},
          {"wrong", hints.wrong},
          {"trust", revisit::trust_of(hints, hints.as_of)}};
}

// Whether the host bears what its pages ask for, and what is done if not.
std::string load_text(const crawl::HostRow& row) {
  const crawl::HostPace& pace = row.facts->pace;
  if (row.pages.load <= 0) return "none";
  if (pace.factor > 1) return fmt::format("too much: intervals x {:.3g}", pace.factor);
  if (pace.added > base::Duration()) {
    return fmt::format("too much: intervals + {}", pace.added.to_string());
  }
  return "fits";
}

}  // namespace

nlohmann::json to_json(const crawl::HostList& list) {
  nlohmann::json rows = nlohmann::json::array();
  for (const crawl::HostRow& row : list.rows) {
    nlohmann::json json = {{"host", row.pages.host},           {"pages", row.pages.pages},
                           {"waiting", row.pages.waiting},     {"in_flight", row.pages.out},
                           {"done", row.pages.done()},         {"paused", row.is_paused},
                           {"waits_for", waits_for(row, list)}};
    json["due_again"] = row.pages.due_again;
    json["visits_a_day_wanted"] = row.pages.load;
    json["hints"] = to_json(row.pages.hints);
    if (row.facts) {
      json.update(to_json(*row.facts));
      json["feasibility"] = feasibility_of(row);
      json["load"] = load_text(row);
    }
    rows.push_back(std::move(json));
  }
  return checked({{"ok", true},
                  {"hosts", std::move(rows)},
                  {"paused", to_json(list.pauses)},
                  {"disk", list.disk}});
}

}  // namespace meguri::app
