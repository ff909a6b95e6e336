// Reads any bytes as a WARC file: it ends, offsets grow, and what is sound stays so when cut there.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "archive/record_examiner.h"
#include "archive/warc_reader.h"
#include "archive/warc_visit.h"
#include "base/check.h"
#include "web/http_head.h"

namespace {

using namespace meguri::archive;

struct Count {
  std::size_t records = 0;
  std::uint64_t block_bytes = 0;
  std::uint64_t sound_end = 0;
};

Count read(std::string_view bytes, bool skips_damage, bool reads_blocks,
           bool goes_by_heads = false) {
  const ViewFile file(bytes);
  WarcReader reader(file, 0, {.skips_damage = skips_damage, .goes_by_heads = goes_by_heads});
  Count count;
  std::uint64_t last_offset = 0;
  while (*reader.next()) {
    ++count.records;
    const WarcRecord& record = reader.record();
    CHECK(record.offset >= last_offset && record.offset < bytes.size());
    last_offset = record.offset;
    if (const auto visit = visit_of(record)) CHECK(!visit->target_uri.empty());
    std::uint64_t size = 0;
    if (reads_blocks) {
      size += read_http_head(reader, meguri::web::HeadKind::kResponse)->size;
      for (;;) {
        const std::string_view piece = *reader.read_block();
        if (piece.empty()) break;
        size += piece.size();
      }
    }
    CHECK(reader.finish().has_value());
    CHECK(size <= record.content_length);
    if (reads_blocks && record.faults.is_whole()) CHECK(size == record.content_length);
    CHECK(record.length <= bytes.size() - record.offset);
    count.block_bytes += size;
  }
  count.sound_end = reader.sound_end();
  CHECK(count.sound_end <= bytes.size());
  return count;
}

// What examine() says of sizes and faults is what reading tells.
std::uint64_t examined_bytes(std::string_view bytes) {
  const ViewFile file(bytes);
  WarcReader reader(file);
  std::uint64_t sum = 0;
  while (*reader.next()) sum += examine(reader)->block_bytes;
  return sum;
}

}  // namespace

// NOLINTNEXTLINE(readability-identifier-naming): the name libFuzzer calls.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const Count whole = read(bytes, true, true);
  const Count skimmed = read(bytes, true, false);
  CHECK(whole.records == skimmed.records && whole.sound_end == skimmed.sound_end);
  CHECK(examined_bytes(bytes) == whole.block_bytes);
  const Count strict = read(bytes, false, true);
  CHECK(strict.sound_end == whole.sound_end && strict.records <= whole.records);
  for (const bool reads_blocks : {false, true}) read(bytes, true, reads_blocks, true);
  const auto sound = static_cast<std::size_t>(whole.sound_end);
  CHECK(read(bytes.substr(0, sound), false, true).sound_end == sound);
  return 0;
}
