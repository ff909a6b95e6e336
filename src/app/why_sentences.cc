#include "app/why_sentences.h"

#include <fmt/format.h>

#include <array>
#include <string_view>

#include "app/output.h"
#include "crawl/due_queue.h"

namespace meguri::app {

using crawl::AccessWait;
using crawl::AddressState;
using crawl::HostLine;
using crawl::PageState;
using crawl::Refusal;
using crawl::RobotsStanding;
using crawl::UrlReason;

namespace {

using Sentences = std::vector<std::string>;

std::string_view lane_text(std::size_t lane) {
  constexpr std::array<std::string_view, crawl::DueQueue::kLanes> kTexts = {
      "embeds and redirects, which go first",
      "seeds",
      "links of seeds",
      "pages two or three links from a seed",
      "pages four links and more from a seed",
      "links of pages in other languages, which go last",
      "pages that were visited before"};
  return kTexts[std::min(lane, kTexts.size() - 1)];
}

std::string reason_text(UrlReason reason) {
  switch (reason) {
    case UrlReason::kNotAUrl: return "it is no URL";
    case UrlReason::kDepth: return "it is too many links away from the seeds (--max-depth)";
    case UrlReason::kHops: return "too many redirects lead to it";
    case UrlReason::kEmbed: return "embedded resources are not wanted";
    case UrlReason::kScope: return "it is outside the scope of the seeds (--scope)";
    case UrlReason::kNotIncluded: return "no --include pattern is found in it";
    case UrlReason::kExcluded: return "an --exclude pattern is found in it";
    case UrlReason::kListed:
      return "the exclusion list names it (--exclusions, or exclusions.txt of the archive)";
  }
  switch (static_cast<web::UrlRefusal>(reason)) {
    case web::UrlRefusal::kTooLong: return "it is too long";
    case web::UrlRefusal::kTooDeep: return "its path has too many segments, as in a trap";
    case web::UrlRefusal::kRepeatingPath: return "its path repeats itself, as in a trap";
    case web::UrlRefusal::kSessionId: return "it holds a session id";
    case web::UrlRefusal::kCalendar: return "it holds a date far from now, as in a calendar trap";
    case web::UrlRefusal::kBadPort: return "its port belongs to another service";
    default: return fmt::format("its form forbids it ({})", crawl::name_of(reason));
  }
}

std::string_view refusal_text(Refusal refusal) {
  switch (refusal) {
    case Refusal::kRobots: return "robots.txt forbids it";
    case Refusal::kUnresolved: return "its host has no address";
    case Refusal::kForbidden:
      return "the address of its host may not be connected to (--allow-network)";
    case Refusal::kParked:
      return "its host asks for too long a delay, or its robots.txt cannot be had";
    case Refusal::kSkipped: return "the configuration says that its host is not visited";
    case Refusal::kExcluded:
      return "the exclusion list names it (--exclusions, or exclusions.txt of the archive)";
    case Refusal::kAlias: return "its host is an alias of another, whose page it is";
    case Refusal::kFull:
    case Refusal::kInterrupted:
    case Refusal::kLater: return "it comes again";
  }
  return "";
}

std::string visited_text(const crawl::PageRecord& record) {
  const std::string when = record.visited.to_rfc3339() +
                           (record.visits == 0 ? ", before this crawl began" : std::string());
  if (record.fetch != fetch::FetchOutcome::kAnswered) {
    return fmt::format("It was visited at {} without an answer: {}.", when,
                       fetch::name_of(record.fetch));
  }
  std::string_view what =
      record.visits == 0 ? "its content is elsewhere" : "its content was stored";
  switch (record.outcome) {
    case crawl::VisitOutcome::kChanged: break;
    case crawl::VisitOutcome::kUnchanged: what = "it was the same as before"; break;
    case crawl::VisitOutcome::kGone: what = "it was gone"; break;
    case crawl::VisitOutcome::kRedirected: what = "it leads elsewhere"; break;
    case crawl::VisitOutcome::kError: what = "that is an error"; break;
  }
  return fmt::format("It was visited at {}, with status {}: {}.", when, record.status, what);
}

std::string access_text(const crawl::WhyFacts& facts) {
  if (!facts.access) return "It may be fetched at any moment.";
  const base::Ticks until = facts.access->until;
  const std::string in = (until > facts.now ? until - facts.now : base::Duration()).to_string();
  const auto before = facts.access->waiting > 0 ? facts.access->waiting : facts.access->paused;
  const std::string line = fmt::format("It is one of {} that wait for their host at the Scheduler",
                                       std::max<std::uint64_t>(1, before));
  switch (facts.access->waits_for) {
    case AccessWait::kNothing: return line + ", which may be asked now.";
    case AccessWait::kDelay: return fmt::format("{}, which rests for another {}.", line, in);
    case AccessWait::kAnswer: return line + ", which is answering another request.";
    case AccessWait::kServerGap: return fmt::format("{}, whose server rests for {}.", line, in);
    case AccessWait::kServerBusy: return line + ", whose server is busy with another host.";
  }
  return line + ".";
}

std::string waiting_text(const crawl::WhyFacts& facts, bool is_running) {
  if (!is_running) return "It waits to be visited when the crawl goes on.";
  if (!facts.page->is_out) {
    return fmt::format("It waits for its turn among {}.", lane_text(facts.page->lane));
  }
  if (facts.line == HostLine::kAddress) return "It waits for the address of its host.";
  if (facts.line == HostLine::kRobots) return "It waits for the robots.txt of its host.";
  if (facts.at_scheduler) return access_text(facts);
  return "It is being fetched or written.";
}

std::string next_visit_text(const crawl::WhyFacts& facts) {
  const crawl::PageRecord& record = facts.page->record;
  if (facts.page->is_out) return "It is being visited again.";
  return fmt::format("Where the crawl goes on for ever, it is visited again at {}: {}.",
                     record.due().to_rfc3339(), why_then(record));
}

void say_page(const crawl::WhyFacts& facts, bool is_running, Sentences& out) {
  const crawl::PageRecord& record = facts.page->record;
  if (record.state == PageState::kVisited) {
    out.push_back(visited_text(record));
    out.push_back(next_visit_text(facts));
  } else if (record.state == PageState::kRefused) {
    out.push_back(fmt::format("It was not fetched: {}.", refusal_text(record.refusal)));
  } else {
    out.push_back(waiting_text(facts, is_running));
    if (facts.is_paused) out.emplace_back("It is paused by hand; 'meguri resume' lets it go on.");
    if (!facts.disk.empty()) out.push_back(fmt::format("Nothing is fetched: {}.", facts.disk));
  }
  const crawl::Candidate& candidate = record.candidate;
  if (candidate.offer == crawl::Offer::kSeed) {
    out.emplace_back("It is a seed.");
  } else if (candidate.offer == crawl::Offer::kHistory) {
    out.emplace_back("It was archived before this crawl began.");
  } else {
    out.push_back(
        fmt::format("It was found as {} {} of {}, {} from a seed.",
                    candidate.offer == crawl::Offer::kEmbed ? "an" : "a",
                    crawl::name_of(candidate.offer), printable(candidate.via),
                    candidate.depth == 1 ? "1 link" : fmt::format("{} links", candidate.depth)));
  }
  if (facts.reason) {
    out.push_back(fmt::format("By the rules as they are now it would not be taken: {}.",
                              reason_text(*facts.reason)));
  }
}

void say_unknown(const crawl::WhyFacts& facts, bool is_running, Sentences& out) {
  if (!is_running) {
    out.emplace_back(
        "It is not known: nothing that was archived leads to it, or a rule keeps it out; ask while "
        "the crawl runs to learn which rule.");
  } else if (facts.reason) {
    out.push_back(fmt::format("It is not part of the crawl: {}.", reason_text(*facts.reason)));
  } else if (facts.is_full) {
    out.emplace_back("It is not known: there are as many pages as --max-pages allows.");
  } else if (facts.is_host_full) {
    out.emplace_back("It is not known: its host has as many pages as --max-pages-per-host allows.");
  } else {
    out.emplace_back(
        "It is not known: the rules allow it, but nothing that was archived so far leads to it.");
  }
}

void say_host(const crawl::HostFacts& host, Sentences& out) {
  if (!host.alias_of.empty()) {
    out.push_back(fmt::format("Its host {} is an alias of {}: its page is that of {}.", host.name,
                              host.alias_of, host.alias_of));
  }
  switch (host.address_state) {
    case AddressState::kFound:
      out.push_back(fmt::format("Its host {} has the address {}.", host.name, host.address));
      break;
    case AddressState::kMissing:
      out.push_back(fmt::format("Its host {} has no address.", host.name));
      break;
    case AddressState::kForbidden:
      out.push_back(fmt::format("No address of its host {} may be connected to.", host.name));
      break;
    case AddressState::kUnknown: break;
  }
  if (host.crawl_delay_ms > 0) {
    out.push_back(fmt::format("Its host asks for {} between requests.",
                              base::Duration::from_ms(host.crawl_delay_ms).to_string()));
  }
  if (host.last_access != base::Instant()) {
    out.push_back(fmt::format("Its host was last asked at {}.", host.last_access.to_rfc3339()));
  }
  if (host.errors > 0) {
    out.push_back(fmt::format("Its host has not answered {}.",
                              host.errors == 1 ? std::string("the last time")
                                               : fmt::format("the last {} times", host.errors)));
  }
}

void say_robots(const crawl::SiteFacts& site, base::Instant now, Sentences& out) {
  const std::string file = printable(site.origin) + "/robots.txt";
  if (site.has_rules) {
    const std::string when = site.fetched.to_rfc3339();
    if (site.line > 0) {
      out.push_back(fmt::format("{}, as of {}, {} it by line {}: {}: {}", file, when,
                                site.is_allowed ? "allows" : "forbids", site.line,
                                site.is_allowed ? "Allow" : "Disallow", printable(site.rule)));
    } else {
      out.push_back(
          fmt::format("{}, as of {}, {} it.", file, when, site.is_allowed ? "allows" : "forbids"));
    }
  }
  if (site.failures > 0) {
    const base::Instant next = site.failed + site.retry_after;
    out.push_back(fmt::format(
        "{} could not be had {}, at last at {}; it is asked for again {}.", file,
        site.failures == 1 ? std::string("once") : fmt::format("{} times", site.failures),
        site.failed.to_rfc3339(), next > now ? "at " + next.to_rfc3339() : "when a page needs it"));
  } else if (site.robots == RobotsStanding::kAsking) {
    out.push_back(fmt::format("{} is being asked for.", file));
  }
}

}  // namespace

std::string why_then(const crawl::PageRecord& record) {
  switch (record.due_reason()) {
    case revisit::Reason::kFirst: return "after the first visit, at random";
    case revisit::Reason::kEstimate: return "by how often it changes";
    case revisit::Reason::kNeverChanged: return "it was never seen to change, so later each time";
    case revisit::Reason::kAlwaysChanged: return "it had always changed, so sooner each time";
    case revisit::Reason::kFar: return "it hardly ever changes";
    case revisit::Reason::kRetry: return "the last visit failed in a way that may pass";
    case revisit::Reason::kHard: return "it was gone or failed, so later each time";
    case revisit::Reason::kRetired: return "it was gone or failed many times in a row";
    case revisit::Reason::kFixed: return "to see whether it may be visited by then";
    case revisit::Reason::kHint:
      return fmt::format("a sitemap or feed says that it changed at {}",
                         record.hint->modified.to_rfc3339());
  }
  return "";
}

std::vector<std::string> why_sentences(const crawl::WhyFacts& facts, bool is_running,
                                       base::Instant now) {
  Sentences out;
  if (facts.page) {
    say_page(facts, is_running, out);
  } else {
    say_unknown(facts, is_running, out);
  }
  if (facts.host) say_host(*facts.host, out);
  if (facts.site) say_robots(*facts.site, now, out);
  return out;
}

}  // namespace meguri::app
