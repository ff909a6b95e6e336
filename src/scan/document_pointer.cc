#include "scan/document_pointer.h"

#include <limits>

#include "base/bytes.h"

namespace meguri::scan {

namespace {

using archive::RecordPlace;
using base::Instant;

// Of times, which are often near each other, in either direction; differences may wrap round.
void put_difference(std::string& out, std::int64_t value, std::int64_t from) {
  const auto difference = static_cast<std::int64_t>(static_cast<std::uint64_t>(value) -
                                                    static_cast<std::uint64_t>(from));
  const auto sign = static_cast<std::uint64_t>(difference >> 63U);
  base::put_varint(out, (static_cast<std::uint64_t>(difference) << 1U) ^ sign);
}

bool take_difference(std::string_view& bytes, std::int64_t from, std::int64_t& value) {
  std::uint64_t folded = 0;
  if (!base::take_varint(bytes, folded)) return false;
  const std::uint64_t difference = (folded >> 1U) ^ (~(folded & 1U) + 1);
  value = static_cast<std::int64_t>(static_cast<std::uint64_t>(from) + difference);
  return true;
}

// Of a document.
constexpr std::uint64_t kIsMissing = 1;
constexpr std::uint64_t kHasUrl = 2;
constexpr std::uint64_t kHasRecordTime = 4;  // another one than the visit's
constexpr std::uint64_t kHasBegin = 8;       // likewise
constexpr std::uint64_t kHasEnd = 16;        // it is over
constexpr std::uint64_t kHasIndex = 32;
constexpr std::uint64_t kAllFlags = 63;

std::uint64_t flags_of(const DocumentPointer& pointer) {
  const DocumentFacts& facts = pointer.facts;
  return (pointer.is_missing ? kIsMissing : 0) | (facts.url.empty() ? 0 : kHasUrl) |
         (pointer.record_ms == facts.time.ms() ? 0 : kHasRecordTime) |
         (facts.valid.begin == facts.time ? 0 : kHasBegin) |
         (facts.valid.end == Instant::max() ? 0 : kHasEnd) |
         (pointer.place.index == 0 ? 0 : kHasIndex);
}

// `place` is that of the document before.
bool take_place(std::string_view& bytes, std::uint64_t flags, RecordPlace& place) {
  constexpr std::uint64_t kMax = std::numeric_limits<std::uint32_t>::max();
  std::uint64_t files = 0;
  std::uint64_t offset = 0;
  std::uint64_t index = 0;
  if (!base::take_varint(bytes, files) || files > kMax - place.file) return false;
  if (!base::take_varint(bytes, offset) || !base::take_varint(bytes, place.length)) return false;
  if ((flags & kHasIndex) != 0 && (!base::take_varint(bytes, index) || index > kMax)) return false;
  place.file += static_cast<std::uint32_t>(files);
  place.offset = offset + (files == 0 ? place.offset : 0);
  place.index = static_cast<std::uint32_t>(index);
  return true;
}

bool take_times(std::string_view& bytes, std::uint64_t flags, DocumentPointer& pointer) {
  std::int64_t time_ms = 0;
  if (!take_difference(bytes, pointer.facts.time.ms(), time_ms)) return false;
  std::int64_t begin_ms = time_ms;
  std::int64_t end_ms = Instant::max().ms();
  pointer.record_ms = time_ms;
  const auto take = [&](std::uint64_t flag, std::int64_t& value) {
    return (flags & flag) == 0 || take_difference(bytes, time_ms, value);
  };
  if (!take(kHasRecordTime, pointer.record_ms) || !take(kHasBegin, begin_ms) ||
      !take(kHasEnd, end_ms)) {
    return false;
  }
  pointer.facts.time = Instant::from_ms(time_ms);
  pointer.facts.valid = {.begin = Instant::from_ms(begin_ms), .end = Instant::from_ms(end_ms)};
  return true;
}

}  // namespace

void put_pointer(std::string& out, const DocumentPointer& pointer, const DocumentPointer& last) {
  const DocumentFacts& facts = pointer.facts;
  const std::uint64_t flags = flags_of(pointer);
  const std::int64_t time_ms = facts.time.ms();
  const std::uint32_t files = pointer.place.file - last.place.file;
  base::put_varint(out, flags);
  base::put_varint(out, files);
  base::put_varint(out, pointer.place.offset - (files == 0 ? last.place.offset : 0));
  base::put_varint(out, pointer.place.length);
  if ((flags & kHasIndex) != 0) base::put_varint(out, pointer.place.index);
  put_difference(out, time_ms, last.facts.time.ms());
  if ((flags & kHasRecordTime) != 0) put_difference(out, pointer.record_ms, time_ms);
  if ((flags & kHasBegin) != 0) put_difference(out, facts.valid.begin.ms(), time_ms);
  if ((flags & kHasEnd) != 0) put_difference(out, facts.valid.end.ms(), time_ms);
  base::put_short_text(out, facts.language);
  if ((flags & kHasUrl) != 0) base::put_short_text(out, facts.url);
}

bool take_pointer(std::string_view& bytes, DocumentPointer& pointer) {
  std::uint64_t flags = 0;
  if (!base::take_varint(bytes, flags) || flags > kAllFlags) return false;
  if (!take_place(bytes, flags, pointer.place)) return false;
  if (!take_times(bytes, flags, pointer)) return false;
  std::string_view language;
  std::string_view url;
  if (!base::take_short_text(bytes, language)) return false;
  if ((flags & kHasUrl) != 0 && !base::take_short_text(bytes, url)) return false;
  pointer.facts.language = language;
  pointer.facts.url = url;
  pointer.is_missing = (flags & kIsMissing) != 0;
  return true;
}

}  // namespace meguri::scan
