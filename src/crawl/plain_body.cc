#include "crawl/plain_body.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "web/document_kind.h"
#include "web/page.h"
#include "web/xml_reader.h"

namespace meguri::crawl {

using web::DecodeOutcome;

namespace {

// Up to here a body in memory is decoded at once.
constexpr std::uint64_t kWholeBytesMax = std::uint64_t{4} << 20U;
// What is fed to a decoder at a time. It may make 200 times as much of it.
constexpr std::size_t kFedBytes = std::size_t{64} << 10U;

// How much is read of a document that begins so; 0: it is none.
std::uint64_t bytes_max_of(std::string_view front, const web::FieldList& fields,
                           std::uint64_t html_bytes_max) {
  if (web::is_gzip(front) && web::is_packed_document(front)) return html_bytes_max;
  switch (web::format_of_front(front, fields)) {
    case web::PageFormat::kHtml:
    case web::PageFormat::kCss:
    case web::PageFormat::kText: return html_bytes_max;
    case web::PageFormat::kSitemap:
    case web::PageFormat::kSitemapIndex:
    case web::PageFormat::kTextSitemap:
    case web::PageFormat::kRss:
    case web::PageFormat::kAtom: return std::max<std::uint64_t>(html_bytes_max, web::kXmlBytesMax);
    case web::PageFormat::kBinary: return 0;
  }
  return 0;
}

}  // namespace

base::Result<PlainBody> PlainBody::read(const ReadAnswer& answer, std::uint64_t bytes_max,
                                        web::DecodeLimits limits) {
  const env::SpooledBytes& body = answer.answer.fetched.body;
  const std::string coding = answer.head.fields.combined("Content-Encoding");
  PlainBody plain;
  plain.bytes_max_ = bytes_max;
  plain.is_cut_ = body.size() > bytes_max;
  plain.is_decoded_ = body.is_on_disk() || !coding.empty();
  if (!plain.is_decoded_) {
    plain.held_ = body;
  } else if (coding.empty()) {
    ASSIGN_OR_RETURN(plain.decoded_, body.read(bytes_max));
  } else {
    limits.output_bytes_max = bytes_max;
    RETURN_IF_ERROR(plain.decode(body, coding, limits));
    plain.is_cut_ = plain.outcome_ == DecodeOutcome::kTooLarge;
  }
  return plain;
}

base::Status PlainBody::decode(const env::SpooledBytes& body, const std::string& coding,
                               const web::DecodeLimits& limits) {
  if (!body.is_on_disk() && limits.output_bytes_max <= kWholeBytesMax) {
    web::DecodedContent content = web::decode_content(body.memory(), coding, limits);
    decoded_ = std::move(content.bytes);
    outcome_ = content.outcome;
    return {};
  }
  // All of the room at once, so that it is not copied as it grows; what is not used of it costs
  // nothing.
  decoded_.reserve(limits.output_bytes_max);
  web::ContentDecoder decoder(web::parse_content_codings(coding), limits);
  std::string piece;
  for (std::uint64_t offset = 0; offset < body.size(); offset += kFedBytes) {
    RETURN_IF_ERROR(body.read_at(offset, kFedBytes, &piece));
    if (decoder.feed(piece, &decoded_) != DecodeOutcome::kMore) break;
  }
  outcome_ = decoder.finish();
  return {};
}

base::Result<PlainBody> PlainBody::read_document(const ReadAnswer& answer,
                                                 std::uint64_t html_bytes_max,
                                                 web::DecodeLimits limits) {
  const std::uint64_t front_bytes = answer.answer.fetched.body.is_on_disk()
                                        ? std::uint64_t{web::kDocumentKindBytesMax}
                                        : kWholeBytesMax;
  ASSIGN_OR_RETURN(PlainBody front, read(answer, front_bytes, limits));
  const std::uint64_t bytes_max = bytes_max_of(front.text(), answer.head.fields, html_bytes_max);
  const bool is_document = bytes_max > 0;
  if (front.is_cut_ && bytes_max > front_bytes) {
    front.decoded_ = {};
    return read(answer, bytes_max, limits);
  }
  if (front.is_cut_ && !is_document) front.outcome_ = DecodeOutcome::kComplete;
  if (is_document && front.text().size() > bytes_max) {
    if (front.is_decoded_ && !answer.head.fields.combined("Content-Encoding").empty()) {
      front.outcome_ = DecodeOutcome::kTooLarge;
    }
    front.bytes_max_ = bytes_max;
  }
  return front;
}

std::string PlainBody::fault() const {
  const bool is_whole = outcome_ == DecodeOutcome::kComplete;
  if (is_whole || outcome_ == DecodeOutcome::kTruncated) return {};
  return fmt::format("its content coding was not undone to the end: {}", web::name_of(outcome_));
}

}  // namespace meguri::crawl
