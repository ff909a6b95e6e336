// Hosts in SURT keys: IDNA of 2003 as Python has it, and numeric addresses as the C library of old
// reads them.
#include <fmt/format.h>
#include <unicode/uchar.h>
#include <unicode/usprep.h>
#include <unicode/utf16.h>
#include <unicode/utf8.h>

#include <algorithm>
#include <array>
#include <cstdint>

#include "base/check.h"
#include "web/ascii.h"
#include "web/idna.h"
#include "web/percent.h"
#include "web/surt_steps.h"

namespace meguri::web {

namespace {

constexpr std::size_t kLabelMax = 63;
// Labels beyond this cannot be valid, so nothing is spent on them.
constexpr std::size_t kLabelPointsMax = 1024;

const UStringPrepProfile* nameprep() {
  static const UStringPrepProfile* const opened = [] {
    UErrorCode status = U_ZERO_ERROR;
    const UStringPrepProfile* profile = usprep_openByType(USPREP_RFC3491_NAMEPREP, &status);
    CHECK(U_SUCCESS(status), "ICU has no nameprep data");
    return profile;
  }();
  return opened;
}

bool is_later_than_nameprep(UChar32 c) {
  UVersionInfo age{};
  u_charAge(c, age);
  return age[0] > 3 || (age[0] == 3 && age[1] > 2);
}

// Nameprep knows the letters of Unicode 3.2. Python folds the case of later ones too, and of those
// whose other case came later.
char32_t with_later_case_folded(char32_t c) {
  const UChar32 folded = u_tolower(static_cast<UChar32>(c));
  const bool later =
      is_later_than_nameprep(static_cast<UChar32>(c)) || is_later_than_nameprep(folded);
  return later ? static_cast<char32_t>(folded) : c;
}

std::u16string utf16_of(std::u32string_view text) {
  std::u16string out;
  for (const char32_t as_found : text) {
    const char32_t c = with_later_case_folded(as_found);
    if (c > 0xFFFF) {
      out += static_cast<char16_t>(U16_LEAD(c));
      out += static_cast<char16_t>(U16_TRAIL(c));
    } else {
      out += static_cast<char16_t>(c);
    }
  }
  return out;
}

// The label by nameprep, unassigned characters allowed; nullopt if it holds a forbidden one.
std::optional<std::u32string> prepared(std::u32string_view label) {
  const std::u16string source = utf16_of(label);
  std::u16string target(source.size() * 18 + 16, u'\0');
  UErrorCode status = U_ZERO_ERROR;
  const std::int32_t length = usprep_prepare(
      nameprep(), source.data(), static_cast<std::int32_t>(source.size()), target.data(),
      static_cast<std::int32_t>(target.size()), USPREP_ALLOW_UNASSIGNED, nullptr, &status);
  if (U_FAILURE(status)) return std::nullopt;
  std::u32string out;
  for (std::int32_t i = 0; i < length;) {
    UChar32 c = 0;
    // NOLINTNEXTLINE(bugprone-inc-dec-in-conditions): as ICU wrote it.
    U16_NEXT(target.data(), i, length, c);
    out += static_cast<char32_t>(c);
  }
  return out;
}

bool is_ascii_label(std::u32string_view label) {
  return std::ranges::all_of(label, [](char32_t c) { return c < 0x80; });
}

// Appends one label in ASCII, "ToASCII" of RFC 3490; false if it cannot be.
bool append_label(std::u32string_view label, std::string* out) {
  if (label.size() > kLabelPointsMax) return false;
  std::u32string name(label);
  if (!is_ascii_label(name)) {
    auto mapped = prepared(name);
    if (!mapped) return false;
    name = *std::move(mapped);
  }
  const std::size_t begin = out->size();
  if (is_ascii_label(name)) {
    for (const char32_t c : name) *out += static_cast<char>(c);
  } else {
    if (name.starts_with(U"xn--") || name.size() > kLabelMax) return false;
    *out += "xn--";
    if (!append_punycode(name, out)) return false;
  }
  const std::size_t length = out->size() - begin;
  return length > 0 && length <= kLabelMax;
}

bool is_label_separator(char32_t c) {
  return c == '.' || c == 0x3002 || c == 0xFF0E || c == 0xFF61;
}

// A part of a numeric address: octal after a leading zero, else decimal; nullopt if out of range.
std::optional<std::uint64_t> address_part(std::string_view digits) {
  const bool octal = digits.size() > 1 && digits.front() == '0';
  std::uint64_t value = 0;
  for (const char c : digits) {
    if (octal && c > '7') return std::nullopt;
    value = value * (octal ? 8 : 10) + static_cast<unsigned>(c - '0');
    if (value > 0xFFFFFFFF) return std::nullopt;
  }
  return value;
}

std::string dotted(std::uint32_t address) {
  return fmt::format("{}.{}.{}.{}", address >> 24U, (address >> 16U) & 0xFFU,
                     (address >> 8U) & 0xFFU, address & 0xFFU);
}

// The low 32 bits of a number of any length.
std::uint32_t low_bits(std::string_view digits) {
  std::uint32_t value = 0;
  for (const char c : digits) value = value * 10 + static_cast<std::uint32_t>(c - '0');
  return value;
}

}  // namespace

std::optional<std::string> host_to_ascii_2003(std::string_view host) {
  std::u32string points;
  for (std::size_t at = 0; at < host.size();) {
    std::int32_t c = 0;
    // NOLINTNEXTLINE(bugprone-inc-dec-in-conditions): as ICU wrote it.
    U8_NEXT(reinterpret_cast<const std::uint8_t*>(host.data()), at, host.size(), c);
    if (c < 0) return std::nullopt;
    points += static_cast<char32_t>(c);
  }
  std::string out;
  const std::u32string_view all(points);
  for (std::size_t begin = 0; begin < all.size();) {
    std::size_t end = begin;
    while (end < all.size() && !is_label_separator(all[end])) ++end;
    if (!append_label(all.substr(begin, end - begin), &out)) return std::nullopt;
    if (end < all.size()) out += '.';
    begin = end + 1;
  }
  return out;
}

std::optional<std::string> surt_ip_address(std::string_view host) {
  if (host.empty()) return std::nullopt;
  if (std::ranges::all_of(host, is_digit)) return dotted(low_bits(host));
  const bool octal = host.front() == '0';  // then 8 and 9 are in no part
  if (octal && host.find_first_of("89") != std::string_view::npos) return std::nullopt;
  std::uint64_t address = 0;
  for (unsigned part = 0; part < 4; ++part) {
    const std::size_t dot = host.find('.');
    const std::string_view digits = host.substr(0, dot);
    if (digits.empty() || !std::ranges::all_of(digits, is_digit)) return std::nullopt;
    const auto value = address_part(digits);
    if (!value) return std::nullopt;
    if (dot == std::string_view::npos) {
      if (*value >= 1ULL << (8U * (4U - part))) return std::nullopt;
      return dotted(static_cast<std::uint32_t>(address | *value));
    }
    if (*value > 255 || part == 3) return std::nullopt;
    address |= *value << (8U * (3U - part));
    host.remove_prefix(dot + 1);
  }
  return std::nullopt;
}

}  // namespace meguri::web
