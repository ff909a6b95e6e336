#include "crawl/visit_records.h"

#include <string>
#include <utility>

#include "web/redirect.h"

namespace meguri::crawl {

using archive::RevisitKind;

namespace {

bool is_success(int status) { return status >= 200 && status < 300; }

std::string address_of(const fetch::Fetched& fetched) {
  // Behind a proxy nobody knows it.
  return fetched.connected && !fetched.is_proxied ? fetched.connected->address.to_string()
                                                  : std::string();
}

archive::VisitFacts facts_of(const Answer& answer, std::string_view ip_address) {
  const Candidate& candidate = answer.visit.page.candidate;
  const fetch::FetchTimes& times = answer.fetched.times;
  return {.target_uri = candidate.url,
          .date = times.started_utc,
          .fetch_time = times.finished - times.started,
          .ip_address = ip_address,
          .via = candidate.via,
          .depth = candidate.depth,
          .purpose = answer.visit.purpose == Purpose::kRobots ? "robots" : ""};
}

archive::Truncation truncation_of(fetch::Truncation truncation) {
  switch (truncation) {
    case fetch::Truncation::kNone: return archive::Truncation::kNone;
    case fetch::Truncation::kLength: return archive::Truncation::kLength;
    case fetch::Truncation::kTime: return archive::Truncation::kTime;
    // Framing that cannot be read ends a connection as far as its body goes.
    case fetch::Truncation::kDisconnect:
    case fetch::Truncation::kUnspecified: return archive::Truncation::kDisconnect;
  }
  return archive::Truncation::kDisconnect;
}

std::string validator_of(const web::HttpHead& head, std::string_view name) {
  const std::string_view value = head.fields.get(name).value_or("");
  return value.size() <= kValidatorBytesMax ? std::string(value) : std::string();
}

}  // namespace

VisitOutcome outcome_of(const ReadAnswer& read) {
  const int status = read.head.status;
  if (status == 304) return read.prior() ? VisitOutcome::kUnchanged : VisitOutcome::kError;
  if (is_success(status)) {
    const bool is_same = read.prior() && read.prior()->digest == read.digest;
    return is_same ? VisitOutcome::kUnchanged : VisitOutcome::kChanged;
  }
  if (status == 404 || status == 410) return VisitOutcome::kGone;
  return web::redirect_target(read.head) ? VisitOutcome::kRedirected : VisitOutcome::kError;
}

std::optional<PriorVersion> version_of(const ReadAnswer& read, VisitOutcome outcome,
                                       const StoredPayload& record) {
  PriorVersion version;
  if (outcome == VisitOutcome::kUnchanged) version = *read.prior();
  if (outcome == VisitOutcome::kUnchanged && version.is_archived()) {
    // It is as it was.
  } else if (outcome == VisitOutcome::kUnchanged || outcome == VisitOutcome::kChanged) {
    version.digest = read.digest;
    version.record = record.record;
    version.date = record.date;
    if (record.url != read.answer.visit.page.candidate.url) version.url = record.url;
  } else {
    return std::nullopt;
  }
  if (read.head.status == 304) {
    // It may name only one of the two, or none.
    if (auto etag = validator_of(read.head, "ETag"); !etag.empty()) version.etag = etag;
    if (auto date = validator_of(read.head, "Last-Modified"); !date.empty()) {
      version.last_modified = date;
    }
    return version;
  }
  const bool is_whole = read.answer.fetched.truncation == fetch::Truncation::kNone;
  version.etag = is_whole ? validator_of(read.head, "ETag") : "";
  version.last_modified = is_whole ? validator_of(read.head, "Last-Modified") : "";
  return version;
}

// What was cut is not all of its body, and what is empty or small is not worth it.
std::optional<StoredPayload> VisitRecords::same_body(const archive::Exchange& exchange) {
  if (exchange.truncation != archive::Truncation::kNone) return std::nullopt;
  if (exchange.body.size() < StoredPayloads::kBodyBytesMin) return std::nullopt;
  const StoredPayload* stored = payloads_.find(exchange.payload_digest);
  return stored == nullptr ? std::nullopt : std::optional(*stored);
}

base::Result<VisitRecords::Kept> VisitRecords::of_answer(const ReadAnswer& read,
                                                         VisitOutcome outcome,
                                                         env::Random& random) {
  const fetch::Fetched& fetched = read.answer.fetched;
  const std::string ip_address = address_of(fetched);
  const bool is_h2 = fetched.protocol == fetch::HttpProtocol::kHttp2;
  archive::VisitFacts facts = facts_of(read.answer, ip_address);
  facts.language = read.language;
  facts.counts = read.counts;
  const archive::Exchange exchange{.visit = facts,
                                   .request_head = fetched.request_head,
                                   .head = read.head,
                                   .body = fetched.body,
                                   .payload_digest = read.digest,
                                   .truncation = truncation_of(fetched.truncation),
                                   .protocol = is_h2 ? "h2" : ""};
  const auto ids = archive::VisitIds::draw(random);
  const bool is_same = outcome == VisitOutcome::kUnchanged;
  if (outcome == VisitOutcome::kChanged || (is_same && !read.prior()->is_archived())) {
    return of_changed(exchange, ids);
  }
  if (!is_same) return of_response(exchange, ids);
  const PriorVersion& prior = *read.prior();
  const archive::Original original{
      .id = prior.record,
      .target_uri = prior.url.empty() ? exchange.visit.target_uri : std::string_view(prior.url),
      .date = prior.date,
      .payload_digest = prior.digest};
  const RevisitKind kind =
      read.head.status == 304 ? RevisitKind::kServerNotModified : RevisitKind::kIdenticalPayload;
  if (!may_refer(exchange, original, kind)) return of_response(exchange, ids);
  return Kept{maker_.revisit(exchange, original, kind, ids), std::nullopt};
}

base::Result<VisitRecords::Kept> VisitRecords::of_response(const archive::Exchange& exchange,
                                                           const archive::VisitIds& ids) {
  ASSIGN_OR_RETURN(archive::MadeRecords records, maker_.response(exchange, ids));
  return Kept{std::move(records), std::nullopt};
}

base::Result<VisitRecords::Kept> VisitRecords::of_changed(const archive::Exchange& exchange,
                                                          const archive::VisitIds& ids) {
  if (const auto stored = same_body(exchange)) {
    const archive::Original original{.id = stored->record,
                                     .target_uri = stored->url,
                                     .date = stored->date,
                                     .payload_digest = exchange.payload_digest};
    if (may_refer(exchange, original, RevisitKind::kIdenticalPayload)) {
      return Kept{maker_.revisit(exchange, original, RevisitKind::kIdenticalPayload, ids), stored};
    }
  }
  ASSIGN_OR_RETURN(Kept kept, of_response(exchange, ids));
  const bool is_whole = exchange.truncation == archive::Truncation::kNone;
  if (is_whole && exchange.body.size() >= StoredPayloads::kBodyBytesMin) {
    payloads_.note(exchange.payload_digest, {.url = std::string(exchange.visit.target_uri),
                                             .record = kept.records.first_id,
                                             .date = exchange.visit.date});
  }
  return kept;
}

archive::MadeRecords VisitRecords::of_failure(const Answer& answer, std::string_view reason,
                                              std::string_view detail, env::Random& random) {
  const std::string ip_address = address_of(answer.fetched);
  return maker_.failure({.visit = facts_of(answer, ip_address), .reason = reason, .detail = detail},
                        archive::RecordId::draw(random));
}

}  // namespace meguri::crawl
