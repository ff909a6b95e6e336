#include "archive/record_id.h"

#include <cstddef>

#include "web/ascii.h"

namespace meguri::archive {

namespace {

constexpr std::string_view kPrefix = "urn:uuid:";
constexpr std::size_t kUuidSize = 36;

// Whether a hyphen stands before this byte.
constexpr bool has_hyphen(std::size_t byte) {
  return byte == 4 || byte == 6 || byte == 8 || byte == 10;
}

}  // namespace

RecordId RecordId::draw(env::Random& random) {
  RecordId id;
  std::uint64_t bits = 0;
  for (std::size_t i = 0; i < id.bytes.size(); ++i) {
    if (i % 8 == 0) bits = random.next();
    id.bytes.at(i) = static_cast<std::uint8_t>(bits >> 56U);
    bits <<= 8U;
  }
  id.bytes[6] = static_cast<std::uint8_t>((id.bytes[6] & 0x0fU) | 0x40U);  // version 4
  id.bytes[8] = static_cast<std::uint8_t>((id.bytes[8] & 0x3fU) | 0x80U);  // RFC 9562's variant
  return id;
}

RecordId RecordId::from(const base::Id& hash) {
  RecordId id;
  for (std::size_t i = 0; i < id.bytes.size(); ++i) {
    const std::uint64_t half = i < 8 ? hash.high : hash.low;
    id.bytes.at(i) = static_cast<std::uint8_t>(half >> (56 - 8 * (i % 8)));
  }
  id.bytes[6] = static_cast<std::uint8_t>((id.bytes[6] & 0x0fU) | 0x80U);  // version 8
  id.bytes[8] = static_cast<std::uint8_t>((id.bytes[8] & 0x3fU) | 0x80U);  // RFC 9562's variant
  return id;
}

std::optional<RecordId> RecordId::parse(std::string_view text) {
  if (text.starts_with('<') && text.ends_with('>')) text = text.substr(1, text.size() - 2);
  if (!web::starts_with_ignoring_case(text, kPrefix)) return std::nullopt;
  text.remove_prefix(kPrefix.size());
  if (text.size() != kUuidSize) return std::nullopt;
  RecordId id;
  std::size_t at = 0;
  for (std::size_t i = 0; i < id.bytes.size(); ++i) {
    if (has_hyphen(i) && text[at++] != '-') return std::nullopt;
    const int high = web::hex_value(text[at]);
    const int low = web::hex_value(text[at + 1]);
    if (high < 0 || low < 0) return std::nullopt;
    id.bytes.at(i) = static_cast<std::uint8_t>(high * 16 + low);
    at += 2;
  }
  return id;
}

std::string RecordId::to_string() const {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text = "<";
  text.reserve(kPrefix.size() + kUuidSize + 2);
  text += kPrefix;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    if (has_hyphen(i)) text += '-';
    text += kDigits[bytes.at(i) >> 4U];
    text += kDigits[bytes.at(i) & 15U];
  }
  text += '>';
  return text;
}

}  // namespace meguri::archive
