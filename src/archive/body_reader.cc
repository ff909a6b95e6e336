#include "archive/body_reader.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "web/ascii.h"

namespace meguri::archive {

namespace {

bool begins_a_chunk(std::string_view bytes) {
  const std::size_t digits = static_cast<std::size_t>(
      std::ranges::find_if_not(bytes, [](char c) { return web::hex_value(c) >= 0; }) -
      bytes.begin());
  if (digits == 0 || digits > 16 || digits == bytes.size()) return false;
  const char next = bytes[digits];
  return next == '\r' || next == '\n' || next == ';' || next == ' ';
}

bool is_of_type(const WarcRecord& record, std::string_view type) {
  return web::equals_ignoring_case(record.type(), type);
}

}  // namespace

std::optional<web::HeadKind> http_kind_of(const WarcRecord& record) {
  const bool is_request = is_of_type(record, "request");
  if (!is_request && !is_of_type(record, "response") && !is_of_type(record, "revisit")) {
    return std::nullopt;
  }
  const std::string_view type = record.get("Content-Type");
  const bool is_http = web::starts_with_ignoring_case(type.empty() ? record.target_uri() : type,
                                                      type.empty() ? "http" : "application/http");
  if (!is_http) return std::nullopt;
  return is_request ? web::HeadKind::kRequest : web::HeadKind::kResponse;
}

BodyReader::BodyReader(WarcReader& reader, const web::ParsedHead& head) : reader_(reader) {
  if (head.state == web::HeadState::kNotHttp) {
    front_ = head.head.to_bytes();
  } else {
    is_chunked_ =
        web::equals_ignoring_case(head.head.fields.combined("Transfer-Encoding"), "chunked");
  }
}

base::Result<BodyReader::Piece> BodyReader::read() {
  if (!front_.empty()) {
    decoded_ = std::exchange(front_, {});
    return Piece{.stored = decoded_, .plain = decoded_};
  }
  ASSIGN_OR_RETURN(const std::string_view piece, reader_.read_block());
  if (piece.empty()) {
    if (is_chunked_) chunks_.finish();
    return Piece{};
  }
  if (std::exchange(is_first_, false)) is_chunked_ = is_chunked_ && begins_a_chunk(piece);
  if (!is_chunked_) return Piece{.stored = piece, .plain = piece};
  decoded_.clear();
  const std::size_t used = chunks_.feed(piece, &decoded_);
  const bool is_broken = chunks_.state() != web::ChunkedState::kMore &&
                         chunks_.state() != web::ChunkedState::kComplete;
  if (is_broken) decoded_ += piece.substr(used);
  return Piece{.stored = piece, .plain = decoded_};
}

}  // namespace meguri::archive
