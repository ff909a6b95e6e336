#include "archive/member_head.h"

#include <limits>

#include "base/bytes.h"
#include "base/check.h"

namespace meguri::archive {

namespace {

constexpr std::string_view kGzipStart("\x1f\x8b\x08", 3);
constexpr std::size_t kFlagsAt = 3;
constexpr unsigned char kHasExtra = 4;
constexpr std::size_t kNameBytes = 2;
constexpr std::string_view kLengthsName = "sl";
constexpr std::string_view kRequestName = "rq";
constexpr std::size_t kLengthsBytes = 8;
constexpr std::size_t kRequestBytes = 1;
constexpr char kRequest = 'R';  // else 0; more than one bit tells them apart
// The size of all extra fields, then of each its name, its size and its bytes, which are 0 here.
constexpr std::string_view kToldHead(
    "\x1f\x8b\x08\x04\0\0\0\0\0\xff\x11\0rq\x01\0\0sl\x08\0\0\0\0\0\0\0\0\0", kToldHeadBytes);
constexpr std::size_t kRequestAt = 16;
constexpr std::size_t kLengthsFieldAt = 17;

unsigned char flags_of(std::string_view bytes) {
  return static_cast<unsigned char>(bytes[kFlagsAt]);
}

// That of a member of ours.
std::string head_of(const MemberFacts& facts) {
  std::string head(kToldHead.substr(0, kRequestAt));
  head += facts.is_request ? kRequest : '\0';
  head += kToldHead.substr(kLengthsFieldAt, kNameBytes + sizeof(std::uint16_t));
  base::put_fixed(head, facts.stored);
  base::put_fixed(head, facts.decoded);
  return head;
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

void begin_told_member(bool is_request, std::string* out) {
  *out += head_of({.is_request = is_request});
}

void tell_lengths(std::uint64_t decoded, std::string* member) {
  CHECK(member->starts_with(kToldHead.substr(0, kRequestAt)), "a member without room for lengths");
  constexpr std::uint64_t kMost = std::numeric_limits<std::uint32_t>::max();
  if (decoded > kMost || member->size() > kMost) return;
  const MemberFacts facts{.stored = static_cast<std::uint32_t>(member->size()),
                          .decoded = static_cast<std::uint32_t>(decoded),
                          .is_request = (*member)[kRequestAt] != 0};
  member->replace(0, kToldHeadBytes, head_of(facts));
}

std::optional<MemberFacts> told_facts(std::string_view bytes) {
  auto extra = extra_of(bytes);
  if (!extra) return std::nullopt;
  MemberFacts told;
  while (extra->size() >= kNameBytes + sizeof(std::uint16_t)) {
    const std::string_view name = extra->substr(0, kNameBytes);
    extra->remove_prefix(kNameBytes);
    std::uint16_t size = 0;
    if (!base::take_fixed(*extra, size) || extra->size() < size) return std::nullopt;
    std::string_view field = extra->substr(0, size);
    extra->remove_prefix(size);
    if (name == kRequestName && size == kRequestBytes) told.is_request = field.front() == kRequest;
    if (name != kLengthsName || size != kLengthsBytes) continue;
    base::take_fixed(field, told.stored);
    base::take_fixed(field, told.decoded);
  }
  if (told.stored <= kGzipMemberHead.size() + kGzipTailBytes) return std::nullopt;
  return told;
}

bool has_own_head(std::string_view bytes, const MemberFacts& actual) {
  return bytes.starts_with(kGzipMemberHead) || bytes.starts_with(head_of(actual));
}

std::size_t plain_head_size(std::string_view bytes) {
  if (bytes.size() < kGzipMemberHead.size() || !bytes.starts_with(kGzipStart)) return 0;
  if (flags_of(bytes) == 0) return kGzipMemberHead.size();
  const auto extra = extra_of(bytes);
  if (flags_of(bytes) != kHasExtra || !extra) return 0;
  return kGzipMemberHead.size() + sizeof(std::uint16_t) + extra->size();
}

}  // namespace meguri::archive
