#include "archive/record_renewal.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <tuple>

#include "archive/body_reader.h"
#include "archive/record_id.h"
#include "archive/stored_head.h"
#include "base/bytes.h"
#include "base/hash.h"
#include "web/ascii.h"

namespace meguri::archive {

namespace {

constexpr std::string_view kVersion = "WARC/1.1\r\n";
constexpr std::string_view kResponseType = "application/http; msgtype=response";
constexpr std::string_view kRecordEnd = "\r\n\r\n";

// What a response must say anew, or what only a revisit says.
constexpr std::array<std::string_view, 13> kNotOfResponses = {
    "WARC-Type",
    "WARC-Record-ID",
    "WARC-Profile",
    "WARC-Refers-To",
    "WARC-Refers-To-Target-URI",
    "WARC-Refers-To-Date",
    "WARC-Truncated",
    "WARC-Payload-Digest",
    "WARC-Block-Digest",
    "WARC-Etag",
    "WARC-Last-Modified",
    "Content-Type",
    "Content-Length",
};

bool is_same(std::string_view a, std::string_view b) { return web::equals_ignoring_case(a, b); }

void append_field(std::string_view name, std::string_view value, std::string& front) {
  front.append(name).append(": ").append(value).append("\r\n");
}

// URLs stood in angle brackets before WARC 1.1.
std::string_view value_of(std::string_view name, std::string_view value) {
  const bool is_url = is_same(name, "WARC-Target-URI") ||
                      is_same(name, "WARC-Refers-To-Target-URI") || is_same(name, "WARC-Profile");
  const bool has_brackets = value.size() >= 2 && value.front() == '<' && value.back() == '>';
  return is_url && has_brackets ? value.substr(1, value.size() - 2) : value;
}

base::Status check_whole(const WarcRecord& record) {
  if (record.faults.is_whole()) return {};
  return base::fail(base::ErrorCode::kCorrupt, "its record is not whole ({})",
                    record.faults.to_string());
}

// The fields of a resolved revisit, up to those that tell of its block.
std::string resolved_front(const RevisitFront& revisit, const WarcRecord& original) {
  std::string id;
  std::string front(kVersion);
  append_field("WARC-Type", original.type(), front);
  for (const auto& [name, value] : revisit.fields) {
    const auto is_it = [&name](std::string_view other) { return is_same(name, other); };
    if (is_it("WARC-Record-ID")) id = value;
    if (std::ranges::any_of(kNotOfResponses, is_it)) continue;
    append_field(name, value_of(name, value), front);
  }
  const base::Id hash = base::Id::of(fmt::format("{} {}", id, original.get("WARC-Record-ID")));
  append_field("WARC-Record-ID", RecordId::from(hash).to_string(), front);
  const std::string_view truncated = original.get("WARC-Truncated");
  if (!truncated.empty()) append_field("WARC-Truncated", truncated, front);
  return front;
}

}  // namespace

std::string RevisitFront::encode() const {
  std::string bytes;
  base::put_text(bytes, http_head);
  for (const auto& [name, value] : fields) {
    base::put_text(bytes, name);
    base::put_text(bytes, value);
  }
  return bytes;
}

std::optional<RevisitFront> RevisitFront::decode(std::string_view bytes) {
  RevisitFront front;
  std::string_view head;
  if (!base::take_text(bytes, head)) return std::nullopt;
  front.http_head = head;
  while (!bytes.empty()) {
    std::string_view name;
    std::string_view value;
    if (!base::take_text(bytes, name) || !base::take_text(bytes, value)) return std::nullopt;
    front.fields.emplace_back(name, value);
  }
  return front;
}

base::Result<RevisitFront> read_revisit_front(WarcReader& reader) {
  RevisitFront front;
  for (const web::HttpField& field : reader.record().fields.fields()) {
    if (!field.name.empty()) front.fields.emplace_back(field.name, field.value);
  }
  if (http_kind_of(reader.record()) != web::HeadKind::kResponse) return front;
  ASSIGN_OR_RETURN(const web::ParsedHead parsed, read_http_head(reader, web::HeadKind::kResponse));
  // The head of a 304 before a body would be shown as a page that is not there.
  const bool is_usable = parsed.head.status != 0 && parsed.head.status != 304;
  if (is_usable) front.http_head = parsed.head.to_bytes();
  return front;
}

base::Result<env::SpooledBytes> RecordRenewal::spool_block(WarcReader& reader) {
  block_.clear();
  block_.expect(reader.record().content_length);
  for (;;) {
    ASSIGN_OR_RETURN(const std::string_view piece, reader.read_block());
    if (piece.empty()) break;
    RETURN_IF_ERROR(block_.append(piece));
  }
  RETURN_IF_ERROR(reader.finish());
  RETURN_IF_ERROR(check_whole(reader.record()));
  return block_.finish();
}

base::Result<env::SpooledBytes> RecordRenewal::pack(std::string_view front,
                                                    const env::SpooledBytes& body) {
  member_.clear();
  RETURN_IF_ERROR(gzip_.append_member(front, body, kRecordEnd, &member_));
  return member_.finish();
}

base::Result<env::SpooledBytes> RecordRenewal::renew(WarcReader& reader) {
  ASSIGN_OR_RETURN(const env::SpooledBytes block, spool_block(reader));
  std::string front(kVersion);
  for (const web::HttpField& field : reader.record().fields.fields()) {
    if (field.name.empty() || is_same(field.name, "Content-Length")) continue;
    append_field(field.name, value_of(field.name, field.value), front);
  }
  append_field("Content-Length", fmt::format_int(block.size()).c_str(), front);
  front += "\r\n";
  return pack(front, block);
}

base::Result<RecordRenewal::Payload> RecordRenewal::read_payload(WarcReader& reader) {
  Payload payload;
  web::ParsedHead parsed{.state = web::HeadState::kNotHttp, .size = 0, .head = {}};
  if (http_kind_of(reader.record()) == web::HeadKind::kResponse) {
    ASSIGN_OR_RETURN(parsed, read_http_head(reader, web::HeadKind::kResponse));
    payload.is_http = true;
    payload.head = parsed.head;
  }
  BodyReader body(reader, parsed);
  block_.clear();
  for (;;) {
    const auto piece = body.read();
    const auto added = piece ? block_.append(piece->plain) : base::Status();
    if (!piece || !added) std::ignore = sha1_.finish();  // of a part, which is of no use
    RETURN_IF_ERROR(piece);
    RETURN_IF_ERROR(added);
    if (piece->stored.empty()) break;
    sha1_.update(piece->plain);
  }
  payload.digest = sha1_.finish();
  RETURN_IF_ERROR(reader.finish());
  RETURN_IF_ERROR(check_whole(reader.record()));
  payload.body = block_.finish();
  return payload;
}

base::Result<Digest> RecordRenewal::block_digest(std::string_view head,
                                                 const env::SpooledBytes& body) {
  sha1_.update(head);
  const auto status = body.for_each_piece([this](std::string_view piece) -> base::Status {
    sha1_.update(piece);
    return {};
  });
  const Digest digest = sha1_.finish();
  RETURN_IF_ERROR(status);
  return digest;
}

base::Result<env::SpooledBytes> RecordRenewal::resolve(const RevisitFront& revisit,
                                                       WarcReader& reader) {
  ASSIGN_OR_RETURN(const Payload payload, read_payload(reader));
  web::HttpHead head = payload.head;
  if (payload.is_http && !revisit.http_head.empty()) {
    head = web::parse_head(web::HeadKind::kResponse, revisit.http_head).head;
  }
  std::string block;
  if (head.status != 0) append_stored_head(head, payload.body.size(), &block);
  ASSIGN_OR_RETURN(const Digest digest, block_digest(block, payload.body));
  std::string front = resolved_front(revisit, reader.record());
  append_field("WARC-Payload-Digest", payload.digest.to_string(), front);
  append_field("WARC-Block-Digest", digest.to_string(), front);
  const std::string_view type = reader.record().get("Content-Type");
  append_field("Content-Type", type.empty() && payload.is_http ? kResponseType : type, front);
  const std::uint64_t length = block.size() + payload.body.size();
  append_field("Content-Length", fmt::format_int(length).c_str(), front);
  front.append("\r\n").append(block);
  return pack(front, payload.body);
}

}  // namespace meguri::archive
