#include "fetch/dns.h"

#include <algorithm>

#include "web/ascii.h"

namespace meguri::fetch {
namespace {

constexpr std::size_t kNameBytesMax = 253;
constexpr std::size_t kLabelBytesMax = 63;

bool is_name(std::string_view name) {
  if (name.ends_with('.')) name.remove_suffix(1);
  if (name.empty() || name.size() > kNameBytesMax) return false;
  std::size_t label = 0;
  for (const char c : name) {
    if (c == '.') {
      if (label == 0) return false;
      label = 0;
      continue;
    }
    // Underscores are no characters of hosts, but hosts have them.
    if (!web::is_alnum(c) && c != '-' && c != '_') return false;
    if (++label > kLabelBytesMax) return false;
  }
  return label > 0;
}

bool is_localhost(std::string_view name) {
  if (name.ends_with('.')) name.remove_suffix(1);
  const std::string lower = web::lower_copy(name);
  return lower == "localhost" || lower.ends_with(".localhost");
}

}  // namespace

std::string_view name_of(DnsOutcome outcome) {
  switch (outcome) {
    case DnsOutcome::kFound: return "found";
    case DnsOutcome::kNoSuchName: return "no_such_name";
    case DnsOutcome::kNoAddress: return "no_address";
    case DnsOutcome::kServerFailure: return "server_failure";
    case DnsOutcome::kTimeout: return "timeout";
    case DnsOutcome::kRefused: return "refused";
    case DnsOutcome::kCancelled: return "cancelled";
  }
  return "unknown";
}

std::optional<Resolved> resolve_without_asking(std::string_view name) {
  Resolved resolved;
  resolved.name = name;
  resolved.ttl = kLiteralTtl;
  if (const auto address = IpAddress::parse(name)) {
    resolved.outcome = DnsOutcome::kFound;
    resolved.addresses.push_back(*address);
    return resolved;
  }
  resolved.outcome = DnsOutcome::kNoSuchName;
  if (!is_name(name)) {
    resolved.error = "not a name that a host can have";
    return resolved;
  }
  if (is_localhost(name)) {
    resolved.error = "localhost is no host of the web";
    return resolved;
  }
  return std::nullopt;
}

}  // namespace meguri::fetch
