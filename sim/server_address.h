// The addresses of the virtual web's servers: 127.1.0.1 upwards, so that every server has its own
// and none leaves this machine. Linux takes all of 127.0.0.0/8 as its own without any set-up.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "sim/census.h"

namespace meguri::sim {

using Address = std::uint32_t;  // IPv4 in the order of its numbers: 127.0.0.1 is 0x7f000001

inline constexpr Address kFirstServerAddress = 0x7f010001;  // 127.1.0.1
inline constexpr Address kLastServerAddress =
    kFirstServerAddress + static_cast<Address>(CensusOptions::kServersMax) - 1;
static_assert(kLastServerAddress < 0x7fffffff, "127.255.255.255 is the broadcast address");

constexpr bool is_loopback(Address address) { return address >> 24 == 127; }

// Requires a server below CensusOptions::kServersMax.
constexpr Address address_of(ServerNumber server) {
  return kFirstServerAddress + static_cast<Address>(server);
}

// Nullopt for addresses that no world's servers can have.
constexpr std::optional<ServerNumber> server_of(Address address) {
  if (address < kFirstServerAddress || address > kLastServerAddress) return std::nullopt;
  return address - kFirstServerAddress;
}

// "127.1.0.1"
inline std::string address_text(Address address) {
  return fmt::format("{}.{}.{}.{}", address >> 24, address >> 16 & 255, address >> 8 & 255,
                     address & 255);
}

// Four decimal numbers without zeros before them; nullopt for anything else.
constexpr std::optional<Address> parse_address(std::string_view text) {
  Address address = 0;
  for (int part = 0; part < 4; ++part) {
    if (part > 0) {
      if (!text.starts_with('.')) return std::nullopt;
      text.remove_prefix(1);
    }
    std::uint32_t value = 0;
    std::size_t digits = 0;
    while (digits < text.size() && text[digits] >= '0' && text[digits] <= '9' && value <= 255) {
      value = value * 10 + static_cast<std::uint32_t>(text[digits] - '0');
      ++digits;
    }
    if (digits == 0 || value > 255 || (digits > 1 && text.front() == '0')) return std::nullopt;
    text.remove_prefix(digits);
    address = address << 8 | value;
  }
  return text.empty() ? std::optional(address) : std::nullopt;
}

}  // namespace meguri::sim
