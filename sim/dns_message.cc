#include "sim/dns_message.h"

#include <fmt/format.h>

#include "base/check.h"

namespace meguri::sim {
namespace {

constexpr int kPointersMax = 127;
constexpr unsigned kPointerBits = 0xc0;
constexpr std::size_t kPointerOffsets = 1U << 14U;

unsigned byte_at(std::string_view bytes, std::size_t at) {
  return static_cast<unsigned char>(bytes[at]);
}

// Requires two bytes at `at`.
std::uint16_t u16_at(std::string_view bytes, std::size_t at) {
  return static_cast<std::uint16_t>(byte_at(bytes, at) << 8U | byte_at(bytes, at + 1));
}

bool read_u16(std::string_view message, std::size_t* at, std::uint16_t* value) {
  if (message.size() - *at < 2) return false;
  *value = u16_at(message, *at);
  *at += 2;
  return true;
}

std::optional<DnsQuestion> read_question(std::string_view message, std::size_t* at) {
  auto name = read_dns_name(message, at);
  std::uint16_t type = 0;
  std::uint16_t klass = 0;
  if (!name || !read_u16(message, at, &type) || !read_u16(message, at, &klass)) return {};
  return DnsQuestion{*std::move(name), DnsType{type}, DnsClass{klass}};
}

std::optional<DnsRecord> read_record(std::string_view message, std::size_t* at) {
  auto name = read_dns_name(message, at);
  if (!name) return {};
  DnsRecord record;
  record.name = *std::move(name);
  std::uint16_t type = 0;
  std::uint16_t high = 0;
  std::uint16_t low = 0;
  std::uint16_t length = 0;
  if (!read_u16(message, at, &type) || !read_u16(message, at, &record.klass)) return {};
  if (!read_u16(message, at, &high) || !read_u16(message, at, &low)) return {};
  if (!read_u16(message, at, &length) || message.size() - *at < length) return {};
  record.type = DnsType{type};
  record.ttl = static_cast<std::uint32_t>(high) << 16U | low;
  record.data_at = *at;
  record.data = message.substr(*at, length);
  *at += length;
  return record;
}

bool read_records(std::string_view message, std::size_t count, std::size_t* at,
                  std::vector<DnsRecord>* records) {
  for (std::size_t i = 0; i < count; ++i) {
    auto record = read_record(message, at);
    if (!record) return false;
    records->push_back(*std::move(record));
  }
  return true;
}

}  // namespace

std::optional<DnsHeader> read_dns_header(std::string_view message) {
  if (message.size() < kDnsHeaderBytes) return std::nullopt;
  const unsigned flags = u16_at(message, 2);
  DnsHeader header;
  header.id = u16_at(message, 0);
  header.is_response = (flags & 0x8000U) != 0;
  header.opcode = DnsOpcode{static_cast<std::uint8_t>(flags >> 11U & 0xfU)};
  header.is_authoritative = (flags & 0x0400U) != 0;
  header.is_truncated = (flags & 0x0200U) != 0;
  header.wants_recursion = (flags & 0x0100U) != 0;
  header.rcode = static_cast<std::uint8_t>(flags & 0xfU);
  header.questions = u16_at(message, 4);
  header.answers = u16_at(message, 6);
  header.authorities = u16_at(message, 8);
  header.additionals = u16_at(message, 10);
  return header;
}

std::optional<DnsMessage> read_dns_message(std::string_view message) {
  const auto header = read_dns_header(message);
  if (!header || message.size() > kDnsMessageBytesMax) return std::nullopt;
  DnsMessage read;
  read.header = *header;
  std::size_t at = kDnsHeaderBytes;
  for (unsigned i = 0; i < header->questions; ++i) {
    auto question = read_question(message, &at);
    if (!question) return std::nullopt;
    read.questions.push_back(*std::move(question));
  }
  if (!read_records(message, header->answers, &at, &read.answers)) return std::nullopt;
  if (!read_records(message, header->authorities, &at, &read.authorities)) return std::nullopt;
  if (!read_records(message, header->additionals, &at, &read.additionals)) return std::nullopt;
  if (at != message.size()) return std::nullopt;
  return read;
}

std::optional<std::string> read_dns_name(std::string_view message, std::size_t* at) {
  std::string name;
  std::size_t place = *at;
  std::size_t begin = *at;  // of this piece of the name: pointers lead to before it
  int pointers = 0;
  while (place < message.size()) {
    const unsigned length = byte_at(message, place);
    if ((length & kPointerBits) == kPointerBits) {
      if (message.size() - place < 2) return std::nullopt;
      const std::size_t target = u16_at(message, place) & (kPointerOffsets - 1);
      if (pointers == 0) *at = place + 2;
      if (++pointers > kPointersMax) return std::nullopt;
      if (target >= begin || target < kDnsHeaderBytes) return std::nullopt;
      begin = target;
      place = target;
      continue;
    }
    if (length > kDnsLabelBytesMax || message.size() - place <= length) return std::nullopt;
    name.append(message.substr(place, length + 1));
    if (name.size() > kDnsNameBytesMax) return std::nullopt;
    place += length + 1;
    if (length != 0) continue;
    if (pointers == 0) *at = place;
    return name;
  }
  return std::nullopt;
}

std::string dns_name_text(std::string_view wire_name) {
  std::string text;
  while (!wire_name.empty() && wire_name.front() != '\0') {
    const std::size_t length = byte_at(wire_name, 0);
    if (!text.empty()) text.push_back('.');
    for (const char c : wire_name.substr(1, length)) {
      const auto byte = static_cast<unsigned char>(c);
      if (c == '.' || c == '\\' || byte <= 0x20 || byte >= 0x7f) {
        fmt::format_to(std::back_inserter(text), "\\{:03}", byte);
      } else {
        text.push_back(c);
      }
    }
    wire_name.remove_prefix(std::min(length + 1, wire_name.size()));
  }
  return text;
}

std::optional<std::string> dns_name_of_text(std::string_view text) {
  std::string name;
  if (text.ends_with('.')) text.remove_suffix(1);
  while (!text.empty()) {
    const std::string_view label = text.substr(0, text.find('.'));
    if (label.empty() || label.size() > kDnsLabelBytesMax) return std::nullopt;
    name.push_back(static_cast<char>(label.size()));
    name.append(label);
    if (label.size() == text.size()) break;
    text.remove_prefix(label.size() + 1);
    if (text.empty()) return std::nullopt;
  }
  name.push_back('\0');
  if (name.size() > kDnsNameBytesMax) return std::nullopt;
  return name;
}

void append_u16(std::uint16_t value, std::string* out) {
  out->push_back(static_cast<char>(value >> 8U));
  out->push_back(static_cast<char>(value & 0xffU));
}

void append_u32(std::uint32_t value, std::string* out) {
  append_u16(static_cast<std::uint16_t>(value >> 16U), out);
  append_u16(static_cast<std::uint16_t>(value & 0xffffU), out);
}

void append_dns_header(const DnsHeader& header, std::string* out) {
  unsigned flags = header.rcode & 0xfU;
  if (header.is_response) flags |= 0x8000U;
  flags |= (static_cast<unsigned>(header.opcode) & 0xfU) << 11U;
  if (header.is_authoritative) flags |= 0x0400U;
  if (header.is_truncated) flags |= 0x0200U;
  if (header.wants_recursion) flags |= 0x0100U;
  append_u16(header.id, out);
  append_u16(static_cast<std::uint16_t>(flags), out);
  append_u16(header.questions, out);
  append_u16(header.answers, out);
  append_u16(header.authorities, out);
  append_u16(header.additionals, out);
}

void append_dns_question(const DnsQuestion& question, std::string* out) {
  out->append(question.name);
  append_u16(static_cast<std::uint16_t>(question.type), out);
  append_u16(static_cast<std::uint16_t>(question.klass), out);
}

void append_dns_record(std::string_view name, DnsType type, std::uint16_t klass, std::uint32_t ttl,
                       std::string_view data, std::string* out) {
  CHECK(data.size() <= 0xffff);
  out->append(name);
  append_u16(static_cast<std::uint16_t>(type), out);
  append_u16(klass, out);
  append_u32(ttl, out);
  append_u16(static_cast<std::uint16_t>(data.size()), out);
  out->append(data);
}

std::string dns_pointer(std::size_t offset) {
  CHECK(offset < kPointerOffsets);
  std::string pointer;
  append_u16(static_cast<std::uint16_t>(kPointerBits << 8U | offset), &pointer);
  return pointer;
}

}  // namespace meguri::sim
