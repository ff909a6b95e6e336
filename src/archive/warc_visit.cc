#include "archive/warc_visit.h"

#include <algorithm>
#include <limits>
#include <string_view>

#include "web/ascii.h"
#include "web/http_text.h"

namespace meguri::archive {

namespace {

std::optional<StoredVisitKind> kind_of(const WarcRecord& record) {
  const std::string_view type = record.type();
  if (web::equals_ignoring_case(type, "response")) return StoredVisitKind::kResponse;
  if (web::equals_ignoring_case(type, "revisit")) return StoredVisitKind::kRevisit;
  const bool is_ours = record.fields.has("X-Meguri-Fetch-Ms");
  if (web::equals_ignoring_case(type, "metadata") && is_ours) return StoredVisitKind::kFailure;
  return std::nullopt;
}

std::uint64_t number_in(const WarcRecord& record, std::string_view name, std::uint64_t max) {
  return std::min(web::parse_decimal(record.get(name)).value_or(0), max);
}

}  // namespace

std::optional<StoredVisit> visit_of(const WarcRecord& record) {
  const auto kind = kind_of(record);
  const auto id = RecordId::parse(record.get("WARC-Record-ID"));
  const auto date = base::Instant::parse_rfc3339(record.get("WARC-Date"));
  if (!kind || !date || record.target_uri().empty()) return std::nullopt;
  StoredVisit visit;
  visit.kind = *kind;
  if (id) visit.id = *id;
  visit.target_uri = record.target_uri();
  visit.date = *date;
  visit.fetch_time = base::Duration::from_ms(static_cast<std::int64_t>(
      number_in(record, "X-Meguri-Fetch-Ms", std::numeric_limits<std::int64_t>::max())));
  visit.ip_address = record.get("WARC-IP-Address");
  visit.via = record.get("X-Meguri-Via");
  visit.depth = static_cast<std::uint32_t>(
      number_in(record, "X-Meguri-Depth", std::numeric_limits<std::uint32_t>::max()));
  visit.purpose = record.get("X-Meguri-Purpose");
  visit.payload_digest = Digest::parse(record.get("WARC-Payload-Digest"));
  visit.is_not_modified = record.get("WARC-Profile").ends_with("/server-not-modified");
  visit.truncated = record.get("WARC-Truncated");
  return visit;
}

}  // namespace meguri::archive
