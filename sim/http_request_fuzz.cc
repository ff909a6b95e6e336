// Reads any bytes as requests: what is not refused can be asked of a world, and is part of what was
// sent.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "sim/http_request.h"

namespace {

using namespace meguri;

constexpr std::uint64_t kBodyBytesMax = 1000;

bool is_one_line(std::string_view text) {
  return text.find_first_of(std::string_view("\r\n\0 ", 4)) == std::string_view::npos;
}

}  // namespace

// NOLINTNEXTLINE(readability-identifier-naming): the name libFuzzer calls.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const web::ParsedHead parsed = web::parse_head(web::HeadKind::kRequest, bytes);
  if (parsed.state != web::HeadState::kComplete) return 0;
  const sim::AskedFor asked = sim::read_request(parsed.head, "http", kBodyBytesMax);
  CHECK(asked.refusal == 0 || (asked.refusal >= 400 && asked.refusal < 600));
  if (asked.refusal != 0) return 0;
  CHECK(asked.request.target.starts_with('/') || asked.request.target == "*");
  CHECK(is_one_line(asked.request.target) && is_one_line(asked.request.method));
  CHECK(!asked.request.origin.host.empty() && is_one_line(asked.request.origin.host));
  CHECK(asked.request.origin.host.find(':') == std::string_view::npos);
  CHECK(asked.body != web::BodyEnd::kClose && asked.body_bytes <= kBodyBytesMax);
  return 0;
}
