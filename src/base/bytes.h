// Integers and texts as bytes: the alphabet of every file of ours.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace meguri::base {

// Little-endian integers of fixed width.
template <std::unsigned_integral T>
void put_fixed(std::string& out, T value) {
  std::array<char, sizeof(T)> bytes;
  for (std::size_t i = 0; i < sizeof(T); ++i) {
    bytes[i] = static_cast<char>(static_cast<unsigned char>(value >> (8 * i)));
  }
  out.append(bytes.data(), bytes.size());
}

// Takes an integer off the front of `bytes`; false, and nothing taken, if they are too few.
template <std::unsigned_integral T>
bool take_fixed(std::string_view& bytes, T& value) {
  if (bytes.size() < sizeof(T)) return false;
  std::uint64_t read = 0;
  for (std::size_t i = 0; i < sizeof(T); ++i) {
    read |= std::uint64_t{static_cast<unsigned char>(bytes[i])} << (8 * i);
  }
  value = static_cast<T>(read);
  bytes.remove_prefix(sizeof(T));
  return true;
}

// Big-endian ones sort as bytes as they do as numbers.
template <std::unsigned_integral T>
void put_sorted(std::string& out, T value) {
  std::array<char, sizeof(T)> bytes;
  for (std::size_t i = 0; i < sizeof(T); ++i) {
    bytes[sizeof(T) - 1 - i] = static_cast<char>(static_cast<unsigned char>(value >> (8 * i)));
  }
  out.append(bytes.data(), bytes.size());
}

template <std::unsigned_integral T>
bool take_sorted(std::string_view& bytes, T& value) {
  if (bytes.size() < sizeof(T)) return false;
  std::uint64_t read = 0;
  for (std::size_t i = 0; i < sizeof(T); ++i) {
    read = read << 8U | static_cast<unsigned char>(bytes[i]);
  }
  value = static_cast<T>(read);
  bytes.remove_prefix(sizeof(T));
  return true;
}

// Integers of seven bits a byte, the lowest first: small ones are short.
inline void put_varint(std::string& out, std::uint64_t value) {
  while (value >= 0x80) {
    out += static_cast<char>(static_cast<unsigned char>(value | 0x80U));
    value >>= 7U;
  }
  out += static_cast<char>(static_cast<unsigned char>(value));
}

inline bool take_varint(std::string_view& bytes, std::uint64_t& value) {
  std::uint64_t read = 0;
  for (std::size_t i = 0; i < bytes.size() && i < 10; ++i) {
    const auto byte = static_cast<unsigned char>(bytes[i]);
    read |= std::uint64_t{byte & 0x7fU} << (7 * i);
    if (byte >= 0x80) continue;
    value = read;
    bytes.remove_prefix(i + 1);
    return true;
  }
  return false;
}

// A string with its length before it, in 4 bytes.
inline void put_text(std::string& out, std::string_view text) {
  put_fixed(out, static_cast<std::uint32_t>(text.size()));
  out += text;
}

inline bool take_text(std::string_view& bytes, std::string_view& text) {
  std::string_view rest = bytes;
  std::uint32_t length = 0;
  if (!take_fixed(rest, length) || rest.size() < length) return false;
  text = rest.substr(0, length);
  bytes = rest.substr(length);
  return true;
}

// Likewise with a varint: for short ones.
inline void put_short_text(std::string& out, std::string_view text) {
  put_varint(out, text.size());
  out += text;
}

inline bool take_short_text(std::string_view& bytes, std::string_view& text) {
  std::string_view rest = bytes;
  std::uint64_t length = 0;
  if (!take_varint(rest, length) || rest.size() < length) return false;
  text = rest.substr(0, static_cast<std::size_t>(length));
  bytes = rest.substr(static_cast<std::size_t>(length));
  return true;
}

}  // namespace meguri::base
