#include "crawl/history_reader.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "archive/body_reader.h"
#include "base/hash.h"
#include "crawl/link_offers.h"
#include "crawl/page_reading.h"
#include "web/ascii.h"
#include "web/canonical.h"
#include "web/http_date.h"
#include "web/http_fields.h"
#include "web/redirect.h"
#include "web/url.h"
#include "web/xml_reader.h"

namespace meguri::crawl {

namespace {

bool is_success(int status) { return status >= 200 && status < 300; }

bool is_page(const web::Url& url) {
  const bool is_http = url.scheme() == "http" || url.scheme() == "https";
  return is_http && url.path() != "/robots.txt";
}

std::uint64_t said_digest_of(const archive::WarcRecord& record) {
  std::string text(record.get("WARC-Payload-Digest"));
  if (text.empty()) return 0;
  for (char& c : text) c = web::to_lower(c);
  return base::hash64(text);
}

}  // namespace

base::Result<HistoryCounts> HistoryReader::read(const env::ReadableFile& file, const Take& take) {
  HistoryCounts counts;
  archive::WarcReader reader(file);
  for (;;) {
    ASSIGN_OR_RETURN(const bool has_record, reader.next());
    if (!has_record) break;
    ++counts.records;
    ASSIGN_OR_RETURN(auto visit, visit_of(reader));
    if (visit) {
      ++counts.visits;
      RETURN_IF_ERROR(take(*std::move(visit)));
    }
    RETURN_IF_ERROR(reader.finish());
    if (!reader.record().faults.is_whole()) ++counts.damages;
  }
  if (!reader.record().faults.is_whole()) ++counts.damages;  // behind the last record
  ASSIGN_OR_RETURN(const std::uint64_t bytes, file.size());
  if (counts.records == 0 && bytes > 0) {
    return base::fail(base::ErrorCode::kInvalid, "there is no WARC record in it");
  }
  return counts;
}

base::Result<std::optional<HistoryVisit>> HistoryReader::visit_of(archive::WarcReader& reader) {
  const archive::WarcRecord& record = reader.record();
  const auto stored = archive::visit_of(record);
  if (!stored || stored->kind == archive::StoredVisitKind::kFailure) return std::nullopt;
  const auto url = web::Url::parse(stored->target_uri);
  if (!url || !is_page(*url) || !stored->purpose.empty()) return std::nullopt;
  if (stored->date > now_ || stored->date <= base::Instant()) return std::nullopt;
  HistoryVisit visit{.url = web::canonical(*url).href(), .date = stored->date};
  visit.depth = stored->depth;
  visit.said_digest = said_digest_of(record);
  const bool is_revisit = stored->kind == archive::StoredVisitKind::kRevisit;
  visit.is_not_modified = is_revisit && stored->is_not_modified;
  const int year = web::year_of(visit.date);
  const auto said_modified = web::parse_http_date(record.get("WARC-Last-Modified"), year);

  ASSIGN_OR_RETURN(const web::ParsedHead parsed,
                   archive::read_http_head(reader, web::HeadKind::kResponse));
  const web::HttpHead& head = parsed.head;
  // A revisit record need not repeat the head.
  const int assumed = visit.is_not_modified ? 304 : is_revisit ? 200 : 0;
  const int status = head.status == 0 ? assumed : head.status;
  if (status <= 0 || status > 999) return std::nullopt;
  visit.status = static_cast<std::uint16_t>(status);
  visit.is_not_modified = visit.is_not_modified || status == 304;
  visit.last_modified = web::last_modified_of(head.fields, year);
  if (!visit.last_modified) visit.last_modified = said_modified;
  if (const auto location = web::redirect_target(head)) {
    const auto target = redirect_of(*url, *location);
    if (target) visit.target = base::hash64(target->href());
  }
  if (!is_revisit && is_success(status)) RETURN_IF_ERROR(read_body(reader, parsed, visit));
  return visit;
}

base::Status HistoryReader::read_body(archive::WarcReader& reader, const web::ParsedHead& parsed,
                                      HistoryVisit& visit) {
  ASSIGN_OR_RETURN(std::string body, take_body(reader, parsed));
  visit.digest = sha1_.finish();
  return take_text(parsed.head, std::move(body), visit);
}

// All of it for the digest, of which as much is returned as may be read for its text.
base::Result<std::string> HistoryReader::take_body(archive::WarcReader& reader,
                                                   const web::ParsedHead& parsed) {
  const std::uint64_t kept_max =
      std::max<std::uint64_t>(options_.fetch.html_bytes_max, web::kXmlBytesMax);
  archive::BodyReader stored(reader, parsed);
  std::string body;
  for (;;) {
    ASSIGN_OR_RETURN(const archive::BodyReader::Piece piece, stored.read());
    if (piece.stored.empty()) return body;
    sha1_.update(piece.plain);
    if (body.size() < kept_max) body += piece.plain.substr(0, kept_max - body.size());
  }
}

base::Status HistoryReader::take_text(const web::HttpHead& head, std::string body,
                                      HistoryVisit& visit) const {
  const auto url = web::Url::parse(visit.url);
  if (!url) return {};
  Answer answer;
  answer.visit.page.candidate.url = visit.url;
  answer.fetched.times.started_utc = visit.date;
  answer.fetched.body = std::move(body);
  const ReadAnswer read{.answer = answer, .head = head, .digest = *visit.digest};
  ASSIGN_OR_RETURN(const PageReading reading, read_page_of(read, *url, options_, true));
  visit.is_list = is_list(reading.page);
  visit.sketch = sketch_of(reading.page, visit.date);
  return {};
}

}  // namespace meguri::crawl
