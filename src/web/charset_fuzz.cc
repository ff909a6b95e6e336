// Reads any bytes in any charset, whole and in pieces, and writes them again. The first byte
// chooses the charset, the second the length of the pieces.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "base/text.h"
#include "web/charset.h"
#include "web/utf8.h"

namespace meguri::web {
namespace {

std::string decode_in_pieces(std::string_view bytes, Charset charset, std::size_t length) {
  std::string utf8;
  Decoder decoder(charset);
  for (std::size_t at = 0; at < bytes.size(); at += length) {
    const std::string piece(bytes.substr(at, length));  // so that a read behind it is seen
    const std::size_t before = utf8.size();
    decoder.append(piece, &utf8);
    CHECK(utf8.size() - before <= (piece.size() + 3) * kUtf8PerByteMax);
  }
  decoder.finish(&utf8);
  return utf8;
}

// What is written otherwise than it is read, by the standard.
bool is_one_way(char32_t code_point) {
  return code_point == 0xA5 || code_point == 0x203E || code_point == 0x2212 ||
         (code_point >= 0xFF61 && code_point <= 0xFF9F) ||
         (code_point >= 0xE78D && code_point <= 0xE864);
}

// Writes what the charset can write of `utf8`, and reads it again.
void check_writing(std::string_view utf8, Charset charset) {
  std::string written;
  std::string bytes;
  Encoder encoder(charset);
  while (!utf8.empty()) {
    const base::CodePoint next = base::first_code_point(utf8);
    CHECK(next.valid, "the decoder writes valid UTF-8");
    std::string trial;
    if (!is_one_way(next.value) && !Encoder(charset).append(next.value, &trial)) {
      CHECK(!encoder.append(next.value, &bytes), "writable now and not before");
      written.append(utf8.substr(0, next.length));
    }
    utf8.remove_prefix(next.length);
  }
  encoder.finish(&bytes);
  const bool as_utf8 = charset == Charset::kUtf16Be || charset == Charset::kUtf16Le ||
                       charset == Charset::kReplacement;
  std::string read;
  decode(bytes, as_utf8 ? Charset::kUtf8 : charset, &read, Bom::kKeep);
  CHECK(read == written);
}

}  // namespace
}  // namespace meguri::web

// NOLINTNEXTLINE(readability-identifier-naming): the name libFuzzer calls.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace meguri::web;
  if (size < 2) return 0;
  const auto charset = static_cast<Charset>(data[0] % kCharsetCount);
  const std::size_t length = std::size_t{data[1]} + 1;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 2, size - 2);

  std::string utf8;
  decode(bytes, charset, &utf8);
  CHECK(is_valid_utf8(utf8));
  CHECK(utf8.size() <= bytes.size() * kUtf8PerByteMax);
  CHECK(utf8 == decode_in_pieces(bytes, charset, length));
  if (size < 4096) CHECK(utf8 == decode_in_pieces(bytes, charset, 1));
  check_writing(utf8, charset);

  if (is_valid_utf8(bytes)) {
    std::string kept;
    decode(bytes, Charset::kUtf8, &kept, Bom::kKeep);
    CHECK(kept == bytes, "valid UTF-8 stays as it is");
  }
  return 0;
}
