#include "web/idna.h"

#include <unicode/uidna.h>
#include <unicode/utf8.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>

#include "base/check.h"
#include "base/text.h"
#include "web/ascii.h"
#include "web/percent.h"

namespace meguri::web {

namespace {

// What ICU reports although the standard switches the check off.
constexpr std::uint32_t kAllowedErrors =
    UIDNA_ERROR_EMPTY_LABEL | UIDNA_ERROR_LABEL_TOO_LONG | UIDNA_ERROR_DOMAIN_NAME_TOO_LONG |
    UIDNA_ERROR_LEADING_HYPHEN | UIDNA_ERROR_TRAILING_HYPHEN | UIDNA_ERROR_HYPHEN_3_4;

const UIDNA* uts46() {
  static const UIDNA* const instance = [] {
    UErrorCode status = U_ZERO_ERROR;
    const UIDNA* idna = uidna_openUTS46(
        UIDNA_CHECK_BIDI | UIDNA_CHECK_CONTEXTJ | UIDNA_NONTRANSITIONAL_TO_ASCII, &status);
    CHECK(U_SUCCESS(status), "ICU has no IDNA data");
    return idna;
  }();
  return instance;
}

// What UTS #46 maps since its revision for Unicode 15.1 and ICU 72 still refuses or maps otherwise,
// among the characters ICU 72 knows: `first` to `last` become `to` and what follows it, or nothing
// where `to` is 0. Sorted.
struct LaterMapping {
  char32_t first;
  char32_t last;
  char32_t to;
};

constexpr std::array kLaterMappings = {
    LaterMapping{0x04C0, 0x04C0, 0x04CF},   LaterMapping{0x10A0, 0x10C5, 0x2D00},
    LaterMapping{0x115F, 0x1160, 0},        LaterMapping{0x17B4, 0x17B5, 0},
    LaterMapping{0x180E, 0x180E, 0},        LaterMapping{0x1E9E, 0x1E9E, 0x00DF},
    LaterMapping{0x2061, 0x2063, 0},        LaterMapping{0x206A, 0x206F, 0},
    LaterMapping{0x2132, 0x2132, 0x214E},   LaterMapping{0x2183, 0x2183, 0x2184},
    LaterMapping{0x3164, 0x3164, 0},        LaterMapping{0xFFA0, 0xFFA0, 0},
    LaterMapping{0x1D173, 0x1D17A, 0},      LaterMapping{0x2F868, 0x2F868, 0x36FC},
    LaterMapping{0x2F874, 0x2F874, 0x5F53}, LaterMapping{0x2F91F, 0x2F91F, 0x243AB},
    LaterMapping{0x2F95F, 0x2F95F, 0x7AEE}, LaterMapping{0x2F9BF, 0x2F9BF, 0x45D7},
};

const LaterMapping* later_mapping(char32_t c) {
  for (const LaterMapping& mapping : kLaterMappings) {
    if (c <= mapping.last) return c >= mapping.first ? &mapping : nullptr;
  }
  return nullptr;
}

void append_utf8(char32_t c, std::string* out) {
  std::array<char, 4> bytes{};
  int length = 0;
  U8_APPEND_UNSAFE(bytes.data(), length, c);
  out->append(bytes.data(), static_cast<std::size_t>(length));
}

// `domain` with the later mappings done; broken bytes stay.
std::string with_later_mappings(std::string_view domain) {
  std::string out;
  out.reserve(domain.size());
  while (!domain.empty()) {
    const base::CodePoint point = base::first_code_point(domain);
    const LaterMapping* mapping =
        point.valid ? later_mapping(static_cast<char32_t>(point.value)) : nullptr;
    if (mapping == nullptr) {
      out.append(domain.substr(0, point.length));
    } else if (mapping->to != 0) {
      append_utf8(mapping->to + (static_cast<char32_t>(point.value) - mapping->first), &out);
    }
    domain.remove_prefix(point.length);
  }
  return out;
}

// Appends what ICU makes of `domain`; false if it reports an error that counts.
bool append_uts46(std::string_view domain, std::string* out) {
  const std::size_t begin = out->size();
  // Every byte of a name grows to at most a few: mappings reach 18 letters for one of three bytes,
  // Punycode up to about 6 for one code point.
  std::size_t capacity = domain.size() * 8 + 64;
  out->resize(begin + capacity);
  UIDNAInfo info = UIDNA_INFO_INITIALIZER;
  UErrorCode status = U_ZERO_ERROR;
  const std::int32_t length = uidna_nameToASCII_UTF8(
      uts46(), domain.data(), static_cast<std::int32_t>(domain.size()), out->data() + begin,
      static_cast<std::int32_t>(capacity), &info, &status);
  const bool valid = U_SUCCESS(status) && (info.errors & ~kAllowedErrors) == 0 && length > 0 &&
                     static_cast<std::size_t>(length) <= capacity;
  out->resize(begin + (valid ? static_cast<std::size_t>(length) : 0));
  return valid && is_ascii(std::string_view(*out).substr(begin));
}

// The parameters of RFC 3492, section 5.
constexpr std::uint32_t kBase = 36;
constexpr std::uint32_t kThresholdMin = 1;
constexpr std::uint32_t kThresholdMax = 26;
constexpr std::uint32_t kSkew = 38;
constexpr std::uint32_t kDamp = 700;
constexpr std::uint32_t kInitialBias = 72;

std::uint32_t adapted_bias(std::uint32_t delta, std::uint32_t points, bool first) {
  delta = first ? delta / kDamp : delta / 2;
  delta += delta / points;
  std::uint32_t k = 0;
  for (; delta > (kBase - kThresholdMin) * kThresholdMax / 2; k += kBase) {
    delta /= kBase - kThresholdMin;
  }
  return k + (kBase - kThresholdMin + 1) * delta / (delta + kSkew);
}

void append_number(std::uint32_t number, std::uint32_t bias, std::string* out) {
  constexpr std::string_view kDigits = "abcdefghijklmnopqrstuvwxyz0123456789";
  for (std::uint32_t k = kBase;; k += kBase) {
    const std::uint32_t above = k > bias ? k - bias : 0;
    const std::uint32_t threshold = std::clamp(above, kThresholdMin, kThresholdMax);
    if (number < threshold) break;
    const std::uint32_t rest = number - threshold;
    *out += kDigits[threshold + rest % (kBase - threshold)];
    number = rest / (kBase - threshold);
  }
  *out += kDigits[number];
}

}  // namespace

bool append_domain_ascii(std::string_view domain, std::string* out) {
  if (is_ascii(domain)) {
    for (const char c : domain) *out += to_lower(c);
    return !domain.empty();
  }
  if (domain.size() > kIdnaBytesMax) return false;
  const std::size_t begin = out->size();
  const bool valid = append_uts46(with_later_mappings(domain), out);
  if (!valid) out->resize(begin);
  return valid;
}

bool append_punycode(std::u32string_view label, std::string* out) {
  std::uint32_t handled = 0;
  for (const char32_t c : label) {
    if (c >= 0x80) continue;
    *out += static_cast<char>(c);
    ++handled;
  }
  const std::uint32_t basic = handled;
  if (basic > 0) *out += '-';
  char32_t done = 0x80;
  std::uint32_t delta = 0;
  std::uint32_t bias = kInitialBias;
  for (; handled < label.size(); ++delta, ++done) {
    char32_t next = 0x110000;
    for (const char32_t c : label) next = c >= done ? std::min(next, c) : next;
    const std::uint64_t jump = std::uint64_t{next - done} * (handled + 1) + delta;
    if (jump > std::numeric_limits<std::uint32_t>::max() - label.size()) return false;
    delta = static_cast<std::uint32_t>(jump);
    done = next;
    for (const char32_t c : label) {
      if (c < done) ++delta;
      if (c != done) continue;
      append_number(delta, bias, out);
      bias = adapted_bias(delta, handled + 1, handled == basic);
      delta = 0;
      ++handled;
    }
  }
  return true;
}

}  // namespace meguri::web
