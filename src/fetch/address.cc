#include "fetch/address.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <charconv>
#include <cstring>

#include "base/check.h"
#include "base/text.h"

namespace meguri::fetch {
namespace {

// Whole decimal numbers without signs or leading zeros.
std::optional<unsigned> parse_number(std::string_view text, unsigned max) {
  unsigned value = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, failure] = std::from_chars(text.data(), end, value);
  if (failure != std::errc() || rest != end || value > max) return std::nullopt;
  if (text.size() > 1 && text.front() == '0') return std::nullopt;
  return value;
}

IpAddress cut_to(const IpAddress& address, std::size_t prefix_bits) {
  std::array<std::uint8_t, 16> bytes = address.bytes();
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    const std::size_t kept =
        prefix_bits > 8 * i ? std::min<std::size_t>(prefix_bits - 8 * i, 8) : 0;
    bytes[i] = static_cast<std::uint8_t>(bytes[i] & (0xff00U >> kept));
  }
  if (address.is_v6()) return IpAddress::v6(bytes);
  return IpAddress::v4(IpAddress::v6(bytes).value_at(0));
}

}  // namespace

std::optional<IpAddress> IpAddress::parse(std::string_view text) {
  const bool in_brackets = text.size() > 2 && text.front() == '[' && text.back() == ']';
  if (in_brackets) text = text.substr(1, text.size() - 2);
  std::array<char, INET6_ADDRSTRLEN> terminated{};
  if (text.size() >= terminated.size() || text.find('\0') != text.npos) return std::nullopt;
  std::ranges::copy(text, terminated.begin());
  std::array<std::uint8_t, 16> bytes{};
  if (::inet_pton(AF_INET6, terminated.data(), bytes.data()) == 1) return v6(bytes);
  if (in_brackets || ::inet_pton(AF_INET, terminated.data(), bytes.data()) != 1) {
    return std::nullopt;
  }
  return v4(v6(bytes).value_at(0));
}

std::optional<IpAddress> IpAddress::from_sockaddr(const sockaddr& address) {
  if (address.sa_family == AF_INET) {
    sockaddr_in v4_address{};
    std::memcpy(&v4_address, &address, sizeof(v4_address));
    return v4(ntohl(v4_address.sin_addr.s_addr));
  }
  if (address.sa_family == AF_INET6) {
    sockaddr_in6 v6_address{};
    std::memcpy(&v6_address, &address, sizeof(v6_address));
    std::array<std::uint8_t, 16> bytes{};
    std::ranges::copy(v6_address.sin6_addr.s6_addr, bytes.begin());
    return v6(bytes);
  }
  return std::nullopt;
}

std::string IpAddress::to_string() const {
  std::array<char, INET6_ADDRSTRLEN> text{};
  ::inet_ntop(is_v6_ ? AF_INET6 : AF_INET, bytes_.data(), text.data(), text.size());
  return text.data();
}

base::Result<Endpoint> Endpoint::parse(std::string_view text) {
  const std::size_t colon = text.rfind(':');
  const std::string_view host = text.substr(0, colon);
  // The colon of an IPv6 address without brackets is not that of a port.
  const bool is_ambiguous = host.find(':') != host.npos && host.front() != '[';
  if (colon != text.npos && !is_ambiguous) {
    const auto address = IpAddress::parse(host);
    const auto port = parse_number(text.substr(colon + 1), 65535);
    if (address && port) return Endpoint{*address, static_cast<std::uint16_t>(*port)};
  }
  return base::fail(base::ErrorCode::kInvalid,
                    "{} is no address and port like 192.0.2.1:80 or [2001:db8::1]:80",
                    base::quoted(text));
}

std::string Endpoint::to_string() const {
  return address.is_v6() ? fmt::format("[{}]:{}", address.to_string(), port)
                         : fmt::format("{}:{}", address.to_string(), port);
}

Network::Network(const IpAddress& address, std::size_t prefix_bits)
    : first_(cut_to(address, prefix_bits)), prefix_bits_(prefix_bits) {
  CHECK(prefix_bits <= address.bits(), "{} bits of {}", prefix_bits, address.to_string());
}

base::Result<Network> Network::parse(std::string_view text) {
  const std::size_t slash = text.find('/');
  const auto address = IpAddress::parse(text.substr(0, slash));
  if (!address) {
    return base::fail(base::ErrorCode::kInvalid,
                      "{} is no network like 127.0.0.0/8 or fd00::/8: no address stands first",
                      base::quoted(text));
  }
  if (slash == text.npos) return Network(*address, address->bits());
  const auto max = static_cast<unsigned>(address->bits());
  const auto prefix_bits = parse_number(text.substr(slash + 1), max);
  if (!prefix_bits) {
    return base::fail(base::ErrorCode::kInvalid, "{} needs a number from 0 to {} behind its slash",
                      base::quoted(text), max);
  }
  const Network network(*address, *prefix_bits);
  if (network.first_ != *address) {
    return base::fail(base::ErrorCode::kInvalid,
                      "{} has bits behind its prefix: write {}, or {}/{} for the one address",
                      base::quoted(text), network.to_string(), address->to_string(), max);
  }
  return network;
}

bool Network::contains(const IpAddress& address) const {
  return address.is_v6() == first_.is_v6() && cut_to(address, prefix_bits_) == first_;
}

std::string Network::to_string() const {
  return fmt::format("{}/{}", first_.to_string(), prefix_bits_);
}

}  // namespace meguri::fetch
