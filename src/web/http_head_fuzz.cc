// Reads any bytes as heads: cuts make no difference, no byte is lost, and framing is decided.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "web/content_type.h"
#include "web/http_framing.h"
#include "web/http_head.h"
#include "web/redirect.h"

namespace {

using namespace meguri::web;

void check_kind(HeadKind kind, std::string_view bytes, std::size_t piece) {
  const ParsedHead whole = parse_head(kind, bytes);
  CHECK(whole.state != HeadState::kMore);
  CHECK(whole.size <= std::min(bytes.size(), kHeadBytesMax));
  CHECK(whole.head.to_bytes() == bytes.substr(0, whole.size));

  HeadParser parser(kind);
  std::size_t used = 0;
  for (std::size_t at = 0; at < bytes.size(); at += piece) {
    const std::string_view part = bytes.substr(at, piece);
    used += parser.feed(part);
    if (parser.state() != HeadState::kMore) break;
    CHECK(used == at + part.size());
  }
  parser.finish();
  CHECK(parser.state() == whole.state && used == whole.size && parser.head() == whole.head);

  for (const HttpField& field : whole.head.fields.fields()) {
    CHECK(field.value.find_first_of(std::string_view("\0\r\n", 3)) == std::string::npos);
    if (!field.name.empty()) CHECK(whole.head.fields.has(field.name));
  }
  if (whole.state == HeadState::kComplete) {
    CHECK(parse_head(kind, whole.head.to_bytes()).head == whole.head);
    const BodyFraming framing = kind == HeadKind::kRequest ? request_framing(whole.head)
                                                           : response_framing(whole.head, "GET");
    CHECK(kind == HeadKind::kResponse || framing.end != BodyEnd::kClose);
    CHECK(response_framing(whole.head, "HEAD").end == BodyEnd::kNone);
    if (const auto target = redirect_target(whole.head)) CHECK(!target->empty());
    content_type_of(whole.head.fields);
  }
}

}  // namespace

// NOLINTNEXTLINE(readability-identifier-naming): the name libFuzzer calls.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  const std::size_t piece = data[0] % 32U + 1;
  check_kind(HeadKind::kResponse, bytes, piece);
  check_kind(HeadKind::kRequest, bytes, piece);
  return 0;
}
