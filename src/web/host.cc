#include "web/host.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>
#include <optional>

#include "web/ascii.h"
#include "web/idna.h"
#include "web/percent.h"

namespace meguri::web {

namespace {

using Pieces = std::array<std::uint16_t, 8>;  // of an IPv6 address

bool is_forbidden_in_host(char c) {
  using namespace std::string_view_literals;
  return "\0\t\n\r #/:<>?@[\\]^|"sv.contains(c);
}

bool is_forbidden_in_domain(char c) {
  return is_forbidden_in_host(c) || static_cast<unsigned char>(c) < 0x20 || c == '%' || c == 0x7F;
}

// A part of an IPv4 address in decimal, octal or hexadecimal; capped where it is far too large.
std::optional<std::uint64_t> ipv4_number(std::string_view text) {
  if (text.empty()) return std::nullopt;
  int radix = 10;
  if (text.size() >= 2 && text[0] == '0') {
    radix = text[1] == 'x' || text[1] == 'X' ? 16 : 8;
    text.remove_prefix(radix == 16 ? 2 : 1);
  }
  constexpr std::uint64_t kCap = 1ULL << 40U;
  std::uint64_t value = 0;
  for (const char c : text) {
    const int digit = hex_value(c);
    if (digit < 0 || digit >= radix) return std::nullopt;
    value = std::min(kCap, value * static_cast<unsigned>(radix) + static_cast<unsigned>(digit));
  }
  return value;
}

bool ends_in_number(std::string_view domain) {
  if (domain.ends_with('.')) domain.remove_suffix(1);
  const std::string_view last = domain.substr(domain.rfind('.') + 1);  // npos + 1 is 0
  if (last.empty() || !is_digit(last.front())) return false;
  return std::ranges::all_of(last, is_digit) || ipv4_number(last).has_value();
}

// The address that `domain` writes; nullopt if it writes none.
std::optional<std::uint32_t> parse_ipv4(std::string_view domain) {
  if (domain.ends_with('.')) domain.remove_suffix(1);
  std::uint64_t address = 0;
  for (unsigned part = 0;; ++part) {
    const std::size_t dot = domain.find('.');
    const auto number = ipv4_number(domain.substr(0, dot));
    if (!number || part > 3) return std::nullopt;
    if (dot == std::string_view::npos) {
      if (*number >= 1ULL << (8U * (4U - part))) return std::nullopt;
      return static_cast<std::uint32_t>(address | *number);
    }
    if (*number > 255) return std::nullopt;
    if (part < 3) address |= *number << (8U * (3U - part));
    domain.remove_prefix(dot + 1);
  }
}

// Reads the dotted address at the end of an IPv6 address into two pieces.
bool read_ipv4_tail(std::string_view text, std::uint16_t* pieces) {
  std::array<unsigned, 4> parts{};
  std::size_t at = 0;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (i > 0) {
      if (at >= text.size() || text[at] != '.') return false;
      ++at;
    }
    const std::size_t begin = at;
    for (; at < text.size() && is_digit(text[at]); ++at) {
      if (at > begin && text[begin] == '0') return false;
      parts[i] = parts[i] * 10 + static_cast<unsigned>(text[at] - '0');
      if (parts[i] > 255) return false;
    }
    if (at == begin) return false;
  }
  pieces[0] = static_cast<std::uint16_t>(parts[0] * 256 + parts[1]);
  pieces[1] = static_cast<std::uint16_t>(parts[2] * 256 + parts[3]);
  return at == text.size();
}

std::optional<Pieces> parse_ipv6(std::string_view text) {
  Pieces pieces{};
  std::size_t count = 0;
  std::optional<std::size_t> gap;  // where "::" stands
  std::size_t at = 0;
  if (text.starts_with(':')) {
    if (!text.starts_with("::")) return std::nullopt;
    at = 2;
    gap = 0;
  }
  while (at < text.size()) {
    if (count == pieces.size()) return std::nullopt;
    if (text[at] == ':') {
      if (gap) return std::nullopt;
      ++at;
      gap = count;
      continue;
    }
    const std::size_t begin = at;
    unsigned value = 0;
    for (; at < text.size() && at - begin < 4 && hex_value(text[at]) >= 0; ++at) {
      value = value * 16 + static_cast<unsigned>(hex_value(text[at]));
    }
    if (at < text.size() && text[at] == '.') {
      if (at == begin || count > 6) return std::nullopt;
      if (!read_ipv4_tail(text.substr(begin), &pieces[count])) return std::nullopt;
      count += 2;
      break;
    }
    pieces[count++] = static_cast<std::uint16_t>(value);
    if (at == text.size()) break;
    if (text[at] != ':' || at + 1 == text.size()) return std::nullopt;
    ++at;
  }
  if (!gap) return count == pieces.size() ? std::optional(pieces) : std::nullopt;
  std::ranges::rotate(pieces.begin() + static_cast<std::ptrdiff_t>(*gap),
                      pieces.begin() + static_cast<std::ptrdiff_t>(count), pieces.end());
  return count == pieces.size() ? std::nullopt : std::optional(pieces);
}

// First index and length of the longest run of two or more zero pieces, the first of equals.
std::pair<std::size_t, std::size_t> longest_zero_run(const Pieces& pieces) {
  std::pair<std::size_t, std::size_t> best{pieces.size(), 1};
  for (std::size_t i = 0; i < pieces.size();) {
    std::size_t end = i;
    while (end < pieces.size() && pieces[end] == 0) ++end;
    if (end - i > best.second) best = {i, end - i};
    i = end + 1;
  }
  return best;
}

void append_ipv6(const Pieces& pieces, std::string* out) {
  const auto [run, run_length] = longest_zero_run(pieces);
  *out += '[';
  for (std::size_t i = 0; i < pieces.size();) {
    if (i == run) {
      *out += i == 0 ? "::" : ":";
      i += run_length;
      continue;
    }
    fmt::format_to(std::back_inserter(*out), "{:x}", pieces[i]);
    if (++i < pieces.size()) *out += ':';
  }
  *out += ']';
}

bool append_opaque_host(std::string_view text, std::string* out) {
  if (std::ranges::any_of(text, is_forbidden_in_host)) return false;
  append_encoded(text, EncodeSet::kC0Control, out);
  return true;
}

bool append_domain(std::string_view text, std::string* out) {
  const std::size_t begin = out->size();
  if (text.contains('%')) {
    std::string decoded;
    append_decoded(text, &decoded);
    if (!append_domain_ascii(decoded, out)) return false;
  } else if (!append_domain_ascii(text, out)) {
    return false;
  }
  const std::string_view domain = std::string_view(*out).substr(begin);
  if (std::ranges::any_of(domain, is_forbidden_in_domain)) return false;
  if (!ends_in_number(domain)) return true;
  const auto address = parse_ipv4(domain);
  if (!address) return false;
  out->resize(begin);
  fmt::format_to(std::back_inserter(*out), "{}.{}.{}.{}", *address >> 24U,
                 (*address >> 16U) & 0xFFU, (*address >> 8U) & 0xFFU, *address & 0xFFU);
  return true;
}

}  // namespace

bool append_host(std::string_view text, bool special, std::string* out) {
  if (text.starts_with('[')) {
    if (!text.ends_with(']')) return false;
    const auto pieces = parse_ipv6(text.substr(1, text.size() - 2));
    if (pieces) append_ipv6(*pieces, out);
    return pieces.has_value();
  }
  return special ? append_domain(text, out) : append_opaque_host(text, out);
}

bool is_ip_address(std::string_view host) { return host.starts_with('[') || ends_in_number(host); }

}  // namespace meguri::web
