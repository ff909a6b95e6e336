#include "scan/document_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "archive/record_entry.h"
#include "web/ascii.h"
#include "web/content_decoder.h"
#include "web/content_type.h"
#include "web/http_head.h"

namespace meguri::scan {

namespace {

using archive::BodyReader;
using archive::WarcFault;
using archive::WarcReader;
using archive::WarcRecord;
using base::ErrorCode;
using web::DecodeOutcome;

// Decoded at a time, so that a bomb takes no more memory than its bound.
constexpr std::size_t kFeedBytes = std::size_t{64} << 10U;
constexpr std::uint16_t kStatusMax = 999;

std::string too_large(std::uint64_t bytes_max) {
  return fmt::format("the content is larger than {} bytes", bytes_max);
}

std::string reason_of(DecodeOutcome outcome, const std::string& reason, std::uint64_t bytes_max) {
  switch (outcome) {
    case DecodeOutcome::kTruncated: return std::string(kEndsEarly);
    case DecodeOutcome::kCorrupt: return std::string(kBrokenCoding);
    case DecodeOutcome::kTooLarge: return too_large(bytes_max);
    case DecodeOutcome::kBomb: return "the content grows too much when its coding is undone";
    case DecodeOutcome::kUnsupported: return reason;
    case DecodeOutcome::kMore:
    case DecodeOutcome::kComplete: break;
  }
  return {};
}

bool is_hopeless(DecodeOutcome outcome, bool has_content) {
  const bool is_bad = outcome == DecodeOutcome::kCorrupt || outcome == DecodeOutcome::kUnsupported;
  return is_bad && !has_content;
}

void describe_type(Document& document) {
  const auto type = web::content_type_of(document.fields);
  if (!type) return;
  document.mime = type->essence();
  document.charset = web::lower_copy(type->charset().value_or(std::string_view()));
}

// What the record tells of content that is missing in it.
std::string reason_of(const WarcRecord& record, const BodyReader& body, std::uint64_t size) {
  if (size > 0 && body.is_chunked() && !body.has_last_chunk()) {
    const bool is_cut = body.chunks() == web::ChunkedState::kTruncated;
    return is_cut ? std::string(kEndsEarly) : "the chunks of the content are broken";
  }
  const archive::WarcFaults& faults = record.faults;
  if (faults.has(WarcFault::kNoLength)) return "the record does not tell its length";
  if (faults.has(WarcFault::kTruncated) || faults.has(WarcFault::kShortBlock)) {
    return "the record ends early";
  }
  if (record.fields.has("WARC-Truncated")) return "the content was cut when it was archived";
  if (record.fields.has("WARC-Segment-Number")) return "the record is a segment of the content";
  return {};
}

bool is_damaged(const WarcRecord& record) {
  const archive::WarcFaults& faults = record.faults;
  return faults.has(WarcFault::kDamaged) || faults.has(WarcFault::kSkipped) ||
         faults.has(WarcFault::kBadHead);
}

}  // namespace

base::Result<Document> DocumentReader::read(DocumentFacts facts, const env::ReadableFile& file) {
  Taking taking;
  auto document = read_record(facts, file, /*undoes_codings=*/true, taking);
  if (document && taking.is_hopeless) {
    document = read_record(std::move(facts), file, /*undoes_codings=*/false, taking);
  }
  if (document) document->cut = std::move(taking.cut);
  return document;
}

base::Result<Document> DocumentReader::read_record(DocumentFacts facts,
                                                   const env::ReadableFile& file,
                                                   bool undoes_codings, Taking& taking) {
  content_.clear();
  WarcReader reader(file, 0, {.skips_damage = false, .memory = &memory_});
  ASSIGN_OR_RETURN(const bool has_record, reader.next());
  if (!has_record) return base::fail(ErrorCode::kCorrupt, "there is no record");
  const WarcRecord& record = reader.record();
  Document document;
  document.facts = std::move(facts);
  if (document.facts.url.empty()) document.facts.url = record.target_uri();
  document.digest = archive::entry_digest_of(record.get("WARC-Payload-Digest"));
  std::uint64_t size = record.content_length;
  std::optional<BodyReader> body;
  if (const auto kind = archive::http_kind_of(record)) {
    ASSIGN_OR_RETURN(web::ParsedHead head, archive::read_http_head(reader, *kind));
    const bool is_status = head.head.status > 0 && head.head.status <= kStatusMax;
    document.status = is_status ? static_cast<std::uint16_t>(head.head.status) : 0;
    if (head.state != web::HeadState::kNotHttp) size -= std::min<std::uint64_t>(size, head.size);
    body.emplace(reader, head);
    document.fields = std::move(head.head.fields);
  } else {
    const std::string_view type = record.get("Content-Type");
    if (!type.empty()) document.fields.add("Content-Type", type);
    body.emplace(reader);
  }
  describe_type(document);
  const std::string encoding =
      undoes_codings ? document.fields.combined("Content-Encoding") : std::string();
  ASSIGN_OR_RETURN(Taking taken, encoding.empty() ? take_stored(reader, *body, size)
                                                  : take_decoded(reader, *body, size, encoding));
  if (is_damaged(record)) return base::fail(ErrorCode::kCorrupt, "the record is damaged");
  if (taken.cut.empty()) taken.cut = reason_of(record, *body, size);
  if (taking.cut.empty()) taking = std::move(taken);
  document.content = content_.finish();
  return document;
}

base::Result<DocumentReader::Taking> DocumentReader::take_stored(WarcReader& reader,
                                                                 BodyReader& body,
                                                                 std::uint64_t size) {
  content_.expect(std::min(size, content_bytes_max_));
  for (;;) {
    ASSIGN_OR_RETURN(const BodyReader::Piece piece, body.read());
    if (piece.stored.empty()) break;
    const std::uint64_t room = content_bytes_max_ - content_.size();
    RETURN_IF_ERROR(content_.append(piece.plain.substr(0, room)));
    if (piece.plain.size() > room) return Taking{.cut = too_large(content_bytes_max_)};
  }
  RETURN_IF_ERROR(reader.finish());
  return Taking{};
}

base::Result<DocumentReader::Taking> DocumentReader::take_decoded(WarcReader& reader,
                                                                  BodyReader& body,
                                                                  std::uint64_t size,
                                                                  const std::string& encoding) {
  ASSIGN_OR_RETURN(const BodyReader::Piece piece, body.read());
  // Most bodies are small and at hand as a whole; those are decoded faster.
  if (piece.stored.size() < size || piece.plain.size() > kFeedBytes) {
    return take_in_pieces(reader, body, piece, encoding);
  }
  const web::DecodedContent whole =
      web::decode_content(piece.plain, encoding, {.output_bytes_max = content_bytes_max_});
  RETURN_IF_ERROR(content_.append(whole.bytes));
  RETURN_IF_ERROR(body.read());  // its end, so that chunks are judged
  RETURN_IF_ERROR(reader.finish());
  return Taking{.cut = reason_of(whole.outcome, whole.reason, content_bytes_max_),
                .is_hopeless = is_hopeless(whole.outcome, !whole.bytes.empty())};
}

base::Result<DocumentReader::Taking> DocumentReader::take_in_pieces(WarcReader& reader,
                                                                    BodyReader& body,
                                                                    BodyReader::Piece piece,
                                                                    const std::string& encoding) {
  web::ContentDecoder decoder(web::parse_content_codings(encoding),
                              {.output_bytes_max = content_bytes_max_});
  std::string plain;
  while (!piece.stored.empty() && decoder.outcome() == DecodeOutcome::kMore) {
    std::string_view rest = piece.plain;
    while (!rest.empty() && decoder.outcome() == DecodeOutcome::kMore) {
      plain.clear();
      decoder.feed(rest.substr(0, kFeedBytes), &plain);
      RETURN_IF_ERROR(content_.append(plain));
      rest.remove_prefix(std::min(rest.size(), kFeedBytes));
    }
    ASSIGN_OR_RETURN(piece, body.read());
  }
  const DecodeOutcome outcome = decoder.finish();
  // What lies behind the limit is not even looked at.
  if (outcome != DecodeOutcome::kTooLarge) RETURN_IF_ERROR(reader.finish());
  return Taking{.cut = reason_of(outcome, decoder.reason(), content_bytes_max_),
                .is_hopeless = is_hopeless(outcome, content_.size() > 0)};
}

}  // namespace meguri::scan
