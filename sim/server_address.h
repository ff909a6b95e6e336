// Which address of the loopback network a server of the virtual web has: 127.1.0.1 and upwards.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <optional>
#include <string>

#include "sim/census.h"

namespace meguri::sim {

inline constexpr std::uint32_t kFirstServerAddress = 0x7f010001;  // 127.1.0.1
static_assert(kFirstServerAddress + CensusOptions::kServersMax < 0x80000000U);

// Addresses are in host byte order. Requires server < kServersMax.
constexpr std::uint32_t address_of(ServerNumber server) {
  return kFirstServerAddress + static_cast<std::uint32_t>(server);
}

// nullopt for addresses that no server can have.
constexpr std::optional<ServerNumber> server_of_address(std::uint32_t address) {
  if (address < kFirstServerAddress) return std::nullopt;
  const ServerNumber server = address - kFirstServerAddress;
  if (server >= CensusOptions::kServersMax) return std::nullopt;
  return server;
}

// "127.1.0.1"
inline std::string address_text(std::uint32_t address) {
  return fmt::format("{}.{}.{}.{}", address >> 24U, (address >> 16U) & 0xffU,
                     (address >> 8U) & 0xffU, address & 0xffU);
}

}  // namespace meguri::sim
