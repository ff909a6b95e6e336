#include "archive/member_lengths.h"

#include <limits>

#include "base/bytes.h"
#include "base/check.h"

namespace meguri::archive {

namespace {

constexpr std::string_view kGzipStart("\x1f\x8b\x08", 3);
constexpr std::size_t kFlagsAt = 3;
constexpr unsigned char kHasExtra = 4;
constexpr std::string_view kName = "sl";
constexpr std::uint16_t kFieldBytes = 8;
// The size of all extra fields, then of each its name, its size and its bytes.
constexpr std::string_view kToldHead(
    "\x1f\x8b\x08\x04\0\0\0\0\0\xff\x0c\0sl\x08\0\0\0\0\0\0\0\0\0", kToldHeadBytes);
constexpr std::size_t kLengthsAt = 16;

unsigned char flags_of(std::string_view bytes) {
  return static_cast<unsigned char>(bytes[kFlagsAt]);
}

// All extra fields; nullopt: there are none, or they are not whole.
std::optional<std::string_view> extra_of(std::string_view bytes) {
  if (bytes.size() < kGzipMemberHead.size() || !bytes.starts_with(kGzipStart)) return std::nullopt;
  if ((flags_of(bytes) & kHasExtra) == 0) return std::nullopt;
  bytes.remove_prefix(kGzipMemberHead.size());
  std::uint16_t size = 0;
  if (!base::take_fixed(bytes, size) || bytes.size() < size) return std::nullopt;
  return bytes.substr(0, size);
}

}  // namespace

void begin_told_member(std::string* out) { out->append(kToldHead); }

void tell_lengths(std::uint64_t decoded, std::string* member) {
  CHECK(member->starts_with(kToldHead), "a member without room for its lengths");
  constexpr std::uint64_t kMost = std::numeric_limits<std::uint32_t>::max();
  if (decoded > kMost || member->size() > kMost) return;
  std::string lengths;
  base::put_fixed(lengths, static_cast<std::uint32_t>(member->size()));
  base::put_fixed(lengths, static_cast<std::uint32_t>(decoded));
  member->replace(kLengthsAt, lengths.size(), lengths);
}

std::optional<MemberLengths> told_lengths(std::string_view bytes) {
  auto extra = extra_of(bytes);
  if (!extra) return std::nullopt;
  while (extra->size() >= kName.size() + sizeof(std::uint16_t)) {
    const std::string_view name = extra->substr(0, kName.size());
    extra->remove_prefix(kName.size());
    std::uint16_t size = 0;
    if (!base::take_fixed(*extra, size) || extra->size() < size) return std::nullopt;
    if (name == kName && size == kFieldBytes) {
      MemberLengths told;
      base::take_fixed(*extra, told.stored);
      base::take_fixed(*extra, told.decoded);
      const bool can_be = told.stored > kGzipMemberHead.size() + kGzipTailBytes;
      return can_be ? std::optional(told) : std::nullopt;
    }
    extra->remove_prefix(size);
  }
  return std::nullopt;
}

bool has_own_head(std::string_view bytes, const MemberLengths& actual) {
  if (bytes.starts_with(kGzipMemberHead)) return true;
  return bytes.starts_with(kToldHead.substr(0, kLengthsAt)) && told_lengths(bytes) == actual;
}

std::size_t plain_head_size(std::string_view bytes) {
  if (bytes.size() < kGzipMemberHead.size() || !bytes.starts_with(kGzipStart)) return 0;
  if (flags_of(bytes) == 0) return kGzipMemberHead.size();
  const auto extra = extra_of(bytes);
  if (flags_of(bytes) != kHasExtra || !extra) return 0;
  return kGzipMemberHead.size() + sizeof(std::uint16_t) + extra->size();
}

}  // namespace meguri::archive
