// Decodes any bytes in the coding that the first byte chooses. The output keeps to the limits, and
// cuts make no difference beyond what the header of ContentDecoder says.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

#include "base/check.h"
#include "web/content_decoder.h"

namespace {

using namespace meguri::web;

constexpr std::array<std::string_view, 8> kEncodings = {
    "gzip", "deflate", "br", "zstd", "identity", "gzip, br", "deflate, zstd", "zstd, gzip"};

DecodedContent decode_in_pieces(std::string_view bytes, std::string_view encoding,
                                DecodeLimits limits, std::size_t piece) {
  DecodedContent content;
  ContentDecoder decoder(parse_content_codings(encoding), limits);
  for (std::size_t at = 0; at < bytes.size(); at += piece) {
    decoder.feed(bytes.substr(at, piece), &content.bytes);
  }
  content.outcome = decoder.finish();
  content.has_trailing_bytes = decoder.has_trailing_bytes();
  return content;
}

}  // namespace

// NOLINTNEXTLINE(readability-identifier-naming): the name libFuzzer calls.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  const std::string_view encoding = kEncodings.at(data[0] % kEncodings.size());
  const std::size_t piece = data[0] / kEncodings.size() + 1;

  constexpr std::uint64_t kOutputMax = 300'000;
  const DecodeLimits no_ratio{kOutputMax, std::numeric_limits<std::uint64_t>::max(), 0};
  const DecodedContent whole = decode_content(bytes, encoding, no_ratio);
  const DecodedContent cut = decode_in_pieces(bytes, encoding, no_ratio, piece);
  CHECK(whole.outcome != DecodeOutcome::kMore && whole.outcome != DecodeOutcome::kBomb);
  CHECK(whole.bytes.size() <= kOutputMax);
  CHECK((whole.outcome == DecodeOutcome::kTooLarge) <=
        (whole.bytes.size() == kOutputMax || encoding.contains(',')));
  const std::size_t common = std::min(whole.bytes.size(), cut.bytes.size());
  CHECK(whole.bytes.compare(0, common, cut.bytes, 0, common) == 0);
  // What a failing inner step leaves of its output may decide which step fails first.
  if (!encoding.contains(',')) CHECK(whole.outcome == cut.outcome);
  if (whole.outcome == DecodeOutcome::kComplete) {
    CHECK(cut.bytes == whole.bytes && cut.has_trailing_bytes == whole.has_trailing_bytes);
  }

  const DecodeLimits ratio{kOutputMax, 10, 1000};
  const DecodedContent limited = decode_in_pieces(bytes, encoding, ratio, piece);
  // One buffer of a step may pass before the ratio is judged.
  CHECK(limited.bytes.size() <= std::max<std::size_t>(1000, bytes.size() * 10) + (64U << 10U) + 10);
  return 0;
}
