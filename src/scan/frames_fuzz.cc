// Reads any bytes as frames, cut in two ways, and heads that were read as the same.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/check.h"
#include "scan/frames.h"

namespace {

using namespace meguri::scan;

struct Reading {
  std::vector<std::pair<FrameType, std::string>> frames;
  bool is_corrupt = false;
  bool is_empty = false;

  friend bool operator==(const Reading&, const Reading&) = default;
};

Reading read_all(std::string_view bytes, std::size_t step) {
  Reading reading;
  FrameReader reader;
  for (std::size_t at = 0; at < bytes.size() && !reading.is_corrupt; at += step) {
    reader.feed(bytes.substr(at, step));
    for (;;) {
      const auto frame = reader.next();
      reading.is_corrupt = !frame;
      if (!frame || !*frame) break;
      reading.frames.emplace_back((*frame)->type, (*frame)->payload);
    }
  }
  reading.is_empty = reading.is_corrupt || reader.is_empty();
  return reading;
}

// What is read of a payload is written as what is read again.
void read_heads(std::string_view payload) {
  std::string out;
  const auto written = [&out] { return std::string_view(out).substr(kFrameHeadBytes); };
  if (const auto head = parse_document_head(payload)) {
    put_document_head(out, *head);
    CHECK(parse_document_head(written()) == head);
  }
  out.clear();
  if (const auto head = parse_result_head(payload)) {
    put_result_head(out, *head);
    CHECK(parse_result_head(written()) == head);
  }
  out.clear();
  if (const auto usage = parse_usage(payload)) {
    put_usage(out, *usage);
    CHECK(parse_usage(written()) == usage);
  }
  out.clear();
  if (const auto lost = parse_lost(payload)) {
    put_lost(out, *lost);
    CHECK(parse_lost(written())->number == lost->number);
  }
}

}  // namespace

// NOLINTNEXTLINE(readability-identifier-naming): the name libFuzzer calls.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const Reading whole = read_all(bytes, size + 1);
  CHECK(read_all(bytes, 3) == whole);
  std::string again;
  for (const auto& [type, payload] : whole.frames) {
    read_heads(payload);
    put_frame(again, type, payload);
  }
  CHECK(bytes.starts_with(again));
  read_heads(bytes.substr(0, kFrameBytesMax));
  return 0;
}
