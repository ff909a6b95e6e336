// Decodes any bytes as chunks: cuts make no difference, and data comes only from the input.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "web/http_chunked.h"

// NOLINTNEXTLINE(readability-identifier-naming): the name libFuzzer calls.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace meguri::web;
  if (size == 0) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  const std::size_t piece = data[0] % 32U + 1;

  ChunkedDecoder whole;
  std::string whole_out;
  const std::size_t whole_used = whole.feed(bytes, &whole_out);
  CHECK(whole_used <= bytes.size() && whole_out.size() <= whole_used);
  CHECK(whole.decoded_bytes() == whole_out.size());
  CHECK(whole.state() != ChunkedState::kMore || whole_used == bytes.size());

  ChunkedDecoder cut;
  std::string cut_out;
  std::size_t cut_used = 0;
  for (std::size_t at = 0; at < bytes.size(); at += piece) {
    cut_used += cut.feed(bytes.substr(at, piece), &cut_out);
  }
  CHECK(cut_used == whole_used && cut_out == whole_out && cut.state() == whole.state());
  CHECK(cut.trailers() == whole.trailers() && cut.is_sloppy() == whole.is_sloppy());
  CHECK(cut.finish() == whole.finish() && cut.state() != ChunkedState::kMore);
  return 0;
}
