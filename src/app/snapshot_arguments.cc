#include "app/snapshot_arguments.h"

#include <fmt/format.h>

#include <string_view>

#include "archive/named_time.h"
#include "base/text.h"

namespace meguri::app {

namespace {

using archive::SnapshotQuery;
using archive::SnapshotView;
using base::ErrorCode;
using base::Instant;

// Adds each of some texts by a function of the scope or the filter.
template <typename To, typename Add>
base::Status add_all(To& to, Add add, const std::vector<std::string>& texts) {
  for (const std::string& text : texts) RETURN_IF_ERROR((to.*add)(text));
  return {};
}

base::Result<SnapshotView> parse_view(std::string_view text) {
  if (text.empty() || text == "visits") return SnapshotView::kVisits;
  if (text == "versions") return SnapshotView::kVersions;
  return base::fail(ErrorCode::kInvalid, "--view must be visits or versions, not {}",
                    base::quoted(text));
}

std::string text_of(Instant time) {
  return time == Instant::max() ? std::string() : time.to_rfc3339_ms();
}

}  // namespace

void PageArguments::declare(Options options) {
  options.list("--host", "HOST", hosts_, "Only pages of this host; may be said more than once");
  options.list("--domain", "DOMAIN", domains_, "Only pages of this host and of those below it");
  options.list("--prefix", "URL", prefixes_, "Only pages whose URLs begin so");
  options.list("--url", "URL", urls_, "Only this page");
  options.list("--mime", "TYPE", mimes_, "Only content of this type, such as text/html or image/*");
  options.list("--status", "STATUS", statuses_, "Only answers such as 200, 4xx or 300-399");
  options.list("--language", "LANGUAGE", languages_, "Only content in this language, such as ja");
  options.list("--digest", "DIGEST", digests_, "Only content with this digest");
}

base::Status PageArguments::apply(SnapshotQuery& query) const {
  using archive::EntryFilter;
  using archive::PageScope;
  RETURN_IF_ERROR(add_all(query.scope, &PageScope::add_host, hosts_));
  RETURN_IF_ERROR(add_all(query.scope, &PageScope::add_domain, domains_));
  RETURN_IF_ERROR(add_all(query.scope, &PageScope::add_prefix, prefixes_));
  RETURN_IF_ERROR(add_all(query.scope, &PageScope::add_url, urls_));
  RETURN_IF_ERROR(add_all(query.filter, &EntryFilter::add_mime, mimes_));
  RETURN_IF_ERROR(add_all(query.filter, &EntryFilter::add_status, statuses_));
  RETURN_IF_ERROR(add_all(query.filter, &EntryFilter::add_language, languages_));
  return add_all(query.filter, &EntryFilter::add_digest, digests_);
}

void SnapshotArguments::declare(Options options) {
  options.option("--at", "TIME", at_,
                 "What was valid then: 2026-11-18T08:00:00Z, 20261118, 2026-11, 7d ago, now; what "
                 "the newest visits found if not said");
  options.option("--during", "A..B", during_, "Instead, by how its time lies to this period");
  options.option("--relation", "NAMES", relations_,
                 "Of --during: any of Allen's relations, with commas between; if not said, what "
                 "began in the period and was still so when it ended");
  options.option("--view", "VIEW", view_,
                 "visits: each is valid until the page's next one (the default); versions: visits "
                 "that found the same are one");
  options.flag("--all", all_, "All that match of a page, newest first; else its newest");
  options.flag("--gone", gone_, "Also pages that were gone, 404 or 410");
  options.flag("--errors", errors_, "Also visits that failed");
  pages_.declare(options);
}

base::Result<SnapshotQuery> SnapshotArguments::query(Instant now) const {
  SnapshotQuery query;
  RETURN_IF_ERROR(apply_times(now, query));
  ASSIGN_OR_RETURN(query.view, parse_view(view_));
  if (errors_ && query.view == SnapshotView::kVersions) {
    return base::fail(ErrorCode::kInvalid, "--errors are visits; there is no version of them");
  }
  query.has_all = all_;
  query.has_gone = gone_;
  query.has_errors = errors_;
  RETURN_IF_ERROR(pages_.apply(query));
  return query;
}

base::Status SnapshotArguments::apply_times(Instant now, SnapshotQuery& query) const {
  if (!at_.empty() && !during_.empty()) {
    return base::fail(ErrorCode::kInvalid, "--at and --during exclude each other; say one of them");
  }
  if (during_.empty()) {
    if (!relations_.empty()) {
      return base::fail(ErrorCode::kInvalid, "--relation is of a period; say it with --during");
    }
    if (at_.empty()) {
      query = SnapshotQuery::newest();
      return {};
    }
    ASSIGN_OR_RETURN(const Instant time, archive::parse_moment(at_, now));
    query = SnapshotQuery::at(time);
    return {};
  }
  ASSIGN_OR_RETURN(query.period, archive::parse_period(during_, now));
  if (relations_.empty()) return {};
  ASSIGN_OR_RETURN(query.relations, archive::RelationSet::parse(relations_));
  return {};
}

std::string describe(const SnapshotQuery& query) {
  const SnapshotQuery at = SnapshotQuery::at(query.period.begin);
  if (query.period == at.period && query.relations == at.relations) {
    if (query.period.begin == SnapshotQuery::kNewest) return "by the newest visits";
    return "at " + query.period.begin.to_rfc3339_ms();
  }
  return fmt::format("during {}..{} ({})", text_of(query.period.begin), text_of(query.period.end),
                     query.relations.to_string());
}

}  // namespace meguri::app
