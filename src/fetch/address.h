// IpAddress, Endpoint and Network: where a connection goes, as values. Nothing here asks a name
// server.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

struct sockaddr;

namespace meguri::fetch {

// An IPv4 or IPv6 address. An IPv4 address and its IPv4-mapped IPv6 form are different values.
class IpAddress {
 public:
  constexpr IpAddress() = default;  // 0.0.0.0

  static constexpr IpAddress v4(std::uint32_t host_order) {
    IpAddress address;
    for (std::size_t i = 0; i < 4; ++i) {
      address.bytes_[i] = static_cast<std::uint8_t>(host_order >> (24 - 8 * i));
    }
    return address;
  }
  static constexpr IpAddress v6(const std::array<std::uint8_t, 16>& bytes) {
    IpAddress address;
    address.bytes_ = bytes;
    address.is_v6_ = true;
    return address;
  }

  // "192.0.2.1", "2001:db8::1" or "[2001:db8::1]"; no zones, no short forms of IPv4.
  static std::optional<IpAddress> parse(std::string_view text);
  // Nullopt for other families.
  static std::optional<IpAddress> from_sockaddr(const sockaddr& address);

  constexpr bool is_v6() const { return is_v6_; }
  constexpr std::size_t bits() const { return is_v6_ ? 128 : 32; }
  // The first 4 or all 16 count.
  constexpr const std::array<std::uint8_t, 16>& bytes() const { return bytes_; }
  constexpr std::uint32_t v4_value() const { return value_at(0); }  // in host order
  // Four bytes from `offset` as an IPv4 address in host order; requires offset <= 12.
  constexpr std::uint32_t value_at(std::size_t offset) const {
    std::uint32_t value = 0;
    for (std::size_t i = 0; i < 4; ++i) value = value << 8 | bytes_[offset + i];
    return value;
  }

  std::string to_string() const;  // without brackets

  friend constexpr auto operator<=>(const IpAddress&, const IpAddress&) = default;

 private:
  std::array<std::uint8_t, 16> bytes_{};
  bool is_v6_ = false;
};

struct Endpoint {
  IpAddress address;
  std::uint16_t port = 0;

  // "192.0.2.1:80" or "[2001:db8::1]:80".
  static base::Result<Endpoint> parse(std::string_view text);
  std::string to_string() const;

  friend constexpr auto operator<=>(const Endpoint&, const Endpoint&) = default;
};

// All addresses that begin with the same bits: "127.0.0.0/8", "fd00::/8".
class Network {
 public:
  // Requires prefix_bits <= address.bits(); bits behind the prefix are cleared.
  Network(const IpAddress& address, std::size_t prefix_bits);

  // A single address is a network of its own. Bits behind the prefix are an error, because one of
  // the two numbers must be wrong.
  static base::Result<Network> parse(std::string_view text);

  bool contains(const IpAddress& address) const;
  std::string to_string() const;

  friend bool operator==(const Network&, const Network&) = default;

 private:
  IpAddress first_;
  std::size_t prefix_bits_;
};

}  // namespace meguri::fetch
