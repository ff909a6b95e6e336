#include "sat/record.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "base/check.h"

namespace meguri::sat {

namespace {

static_assert(std::endian::native == std::endian::little, "numbers are written as they lie");

std::size_t varint_size(std::uint64_t number) {
  return (static_cast<std::size_t>(std::bit_width(number | 1U)) + 6) / 7;
}

template <typename T>
char* put(T value, char* out) {
  std::memcpy(out, &value, sizeof value);
  return out + sizeof value;
}

template <typename T>
T get(const char* bytes) {
  T value;
  std::memcpy(&value, bytes, sizeof value);
  return value;
}

constexpr std::size_t kFixedBytes = 1 + 4 + 4 + 16;

// Shorter runs of equal bytes cost more to tell than to repeat.
constexpr std::size_t kRunMin = 4;

std::size_t equal_bytes(const char* a, const char* b, std::size_t size) {
  std::size_t i = 0;
  for (; i + 8 <= size; i += 8) {
    const std::uint64_t difference = get<std::uint64_t>(a + i) ^ get<std::uint64_t>(b + i);
    if (difference != 0) return i + static_cast<std::size_t>(std::countr_zero(difference)) / 8;
  }
  while (i < size && a[i] == b[i]) ++i;
  return i;
}

std::size_t equal_end(std::string_view a, std::string_view b, std::size_t size_max) {
  std::size_t n = 0;
  const char* const a_end = a.data() + a.size();
  const char* const b_end = b.data() + b.size();
  for (; n + 8 <= size_max; n += 8) {
    const std::uint64_t difference =
        get<std::uint64_t>(a_end - n - 8) ^ get<std::uint64_t>(b_end - n - 8);
    if (difference != 0) return n + static_cast<std::size_t>(std::countl_zero(difference)) / 8;
  }
  while (n < size_max && a[a.size() - 1 - n] == b[b.size() - 1 - n]) ++n;
  return n;
}

void put_two(std::uint64_t first, std::uint64_t second, std::string& out) {
  char bytes[2 * kVarintBytesMax];
  out.append(bytes, static_cast<std::size_t>(put_varint(second, put_varint(first, bytes)) - bytes));
}

// Where the next run of equal bytes begins that is worth telling.
std::size_t next_run(std::string_view before, std::string_view now, std::size_t from,
                     std::size_t size) {
  std::size_t i = from;
  while (i < size) {
    const std::size_t n = equal_bytes(before.data() + i, now.data() + i, size - i);
    if (n >= kRunMin) return i;
    i += n + 1;
  }
  return size;
}

}  // namespace

DueTime DueTime::of(base::Instant instant) {
  constexpr std::int64_t kMax = 0xffff'ffff;
  return {static_cast<std::uint32_t>(
      std::clamp<std::int64_t>(instant.ms() / 1000 + (instant.ms() % 1000 > 0 ? 1 : 0), 0, kMax))};
}

void append_varint(std::uint64_t number, std::string& out) {
  char bytes[kVarintBytesMax];
  out.append(bytes, static_cast<std::size_t>(put_varint(number, bytes) - bytes));
}

bool take_long_varint(std::string_view& bytes, std::uint64_t& number) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < bytes.size() && i < 10; ++i) {
    const auto byte = static_cast<std::uint8_t>(bytes[i]);
    value |= std::uint64_t{byte & 0x7fU} << (7 * i);
    if (byte >= 0x80) continue;
    number = value;
    bytes.remove_prefix(i + 1);
    return true;
  }
  return false;
}

std::size_t encoded_size(const Record& record) {
  return varint_size(record.body.size()) + varint_size(record.generation) + kFixedBytes +
         record.body.size();
}

char* encode(const Record& record, char* out) {
  out = put_varint(record.body.size(), out);
  out = put_varint(record.generation, out);
  out = put(record.schema, out);
  out = put(record.seq, out);
  out = put(record.due.seconds, out);
  out = put(record.id.high, out);
  out = put(record.id.low, out);
  std::memcpy(out, record.body.data(), record.body.size());
  return out + record.body.size();
}

void append(const Record& record, std::string& out) {
  const std::size_t at = out.size();
  out.resize(at + encoded_size(record));
  encode(record, out.data() + at);
}

bool take(std::string_view& bytes, Record& record) {
  std::string_view rest = bytes;
  std::uint64_t size = 0;
  std::uint64_t generation = 0;
  if (!take_varint(rest, size) || !take_varint(rest, generation)) return false;
  if (size > kBodyBytesMax || generation > 0xffff'ffffU) return false;
  if (rest.size() < kFixedBytes + size) return false;
  const char* at = rest.data();
  record.generation = static_cast<std::uint32_t>(generation);
  record.schema = get<std::uint8_t>(at);
  record.seq = get<Seq>(at + 1);
  record.due.seconds = get<std::uint32_t>(at + 5);
  record.id.high = get<std::uint64_t>(at + 9);
  record.id.low = get<std::uint64_t>(at + 17);
  record.body = rest.substr(kFixedBytes, size);
  bytes = rest.substr(kFixedBytes + size);
  return true;
}

// The length, that of the equal end, then in turn how many bytes are equal and how many follow.
void append_difference(std::string_view before, std::string_view now, std::string& out) {
  const std::size_t shorter = std::min(before.size(), now.size());
  const std::size_t begin = equal_bytes(before.data(), now.data(), shorter);
  const std::size_t end = equal_end(before, now, shorter - begin);
  put_two(now.size(), end, out);
  const std::size_t size = now.size() - end;
  // Beyond what `before` has, nothing is equal.
  const std::size_t common = std::min(size, before.size());
  std::size_t at = 0;
  while (at < size) {
    const std::size_t equal =
        at < common ? equal_bytes(before.data() + at, now.data() + at, common - at) : 0;
    at += equal;
    const std::size_t next = at < common ? next_run(before, now, at, common) : size;
    const std::size_t until = next == common ? size : next;
    put_two(equal, until - at, out);
    out.append(now.substr(at, until - at));
    at = until;
  }
}

bool apply_difference(std::string_view before, std::string_view bytes, std::string& now) {
  std::uint64_t size = 0;
  std::uint64_t end = 0;
  if (!take_varint(bytes, size) || !take_varint(bytes, end)) return false;
  if (size > kBodyBytesMax || end > size || end > before.size()) return false;
  now.clear();
  now.reserve(size);
  while (now.size() < size - end) {
    std::uint64_t equal = 0;
    std::uint64_t more = 0;
    if (!take_varint(bytes, equal) || !take_varint(bytes, more)) return false;
    const std::size_t room = size - end - now.size();
    if (equal > room || more > room - equal || more > bytes.size()) return false;
    if (equal > 0 && now.size() + equal > before.size()) return false;
    if (equal == 0 && more == 0) return false;
    now.append(before.substr(std::min(now.size(), before.size()), equal));
    now.append(bytes.substr(0, more));
    bytes.remove_prefix(more);
  }
  now.append(before.substr(before.size() - end));
  return bytes.empty();
}

}  // namespace meguri::sat
