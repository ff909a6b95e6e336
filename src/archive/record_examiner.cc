#include "archive/record_examiner.h"

#include <optional>
#include <string_view>
#include <utility>

#include "archive/body_reader.h"
#include "archive/record_entry.h"
#include "archive/sha1.h"
#include "web/ascii.h"
#include "web/content_type.h"
#include "web/http_head.h"

namespace meguri::archive {

namespace {

DigestFinding finding_of(DigestCheck& check) {
  const DigestVerdict verdict = check.finish();
  return {.verdict = verdict, .computed = check.computed()};
}

std::string mime_of(const web::FieldList& fields) {
  const auto type = web::content_type_of(fields);
  return type ? type->essence() : std::string();
}

// The digest that a record says its own payload has.
std::string_view said_payload_digest(const WarcRecord& record) {
  const bool is_own = !web::equals_ignoring_case(record.type(), "revisit") &&
                      !record.fields.has("WARC-Segment-Number");
  return is_own ? record.get("WARC-Payload-Digest") : std::string_view();
}

}  // namespace

base::Result<Examination> examine(WarcReader& reader, bool makes_entry) {
  const WarcRecord& record = reader.record();
  Examination found;
  std::optional<Sha1> digest;  // for the entry, where the record says none
  DigestCheck block(record.get("WARC-Block-Digest"));
  DigestCheck stored(said_payload_digest(record));
  DigestCheck plain(said_payload_digest(record));
  std::optional<BodyReader> body;
  if (const auto kind = http_kind_of(record)) {
    ASSIGN_OR_RETURN(const web::ParsedHead head, read_http_head(reader, *kind));
    found.status = head.head.status;
    found.mime = mime_of(head.head.fields);
    body.emplace(reader, head);
    if (makes_entry) found.entry = entry_of(record, &head);
    if (head.state != web::HeadState::kNotHttp) {
      const std::string bytes = head.head.to_bytes();
      block.update(bytes);
      found.block_bytes += bytes.size();
    }
  } else {
    found.mime = mime_of(record.fields);
    body.emplace(reader);
    if (makes_entry) found.entry = entry_of(record, nullptr);
  }
  if (found.entry && takes_payload_digest(record, *found.entry)) digest.emplace();
  for (;;) {
    ASSIGN_OR_RETURN(const BodyReader::Piece piece, body->read());
    if (piece.stored.empty()) break;
    found.block_bytes += piece.stored.size();
    block.update(piece.stored);
    stored.update(piece.stored);
    if (body->is_chunked()) plain.update(piece.plain);
    if (digest) digest->update(piece.plain);
  }
  if (digest) found.entry->digest = digest->finish().to_string();
  RETURN_IF_ERROR(reader.finish());
  found.block = finding_of(block);
  found.payload = finding_of(stored);
  if (body->is_chunked() && found.payload.verdict == DigestVerdict::kWrong) {
    if (plain.finish() == DigestVerdict::kRight) {
      found.payload = {.verdict = DigestVerdict::kRight, .computed = plain.computed()};
    }
  }
  return found;
}

}  // namespace meguri::archive
