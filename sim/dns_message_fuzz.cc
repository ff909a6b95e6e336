// Reads any bytes as a DNS message, and answers them as a query over UDP and TCP: what is answered
// can be read, belongs to the query, and keeps to its length.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "sim/dns_message.h"
#include "sim/name_zone.h"

namespace {

using namespace meguri::sim;

void check_names(std::string_view bytes) {
  for (std::size_t begin = 0; begin < bytes.size(); ++begin) {
    std::size_t at = begin;
    const auto name = read_dns_name(bytes, &at);
    if (!name) continue;
    CHECK(at > begin && at <= bytes.size() && name->size() <= kDnsNameBytesMax);
    std::size_t again = 12;
    CHECK(read_dns_name(std::string(12, '\0') + *name, &again) == *name);
    dns_name_text(*name);
  }
}

void check_answer(const NameZone& zone, std::string_view query, bool is_udp) {
  const NameAnswer answer = zone.answer(query, is_udp);
  const auto asked = read_dns_header(query);
  CHECK(answer.bytes.empty() == (!asked || asked->is_response));
  if (answer.bytes.empty()) return;
  const auto read = read_dns_message(answer.bytes);
  CHECK(read.has_value(), "an answer cannot be read");
  CHECK(read->header.is_response && read->header.id == asked->id);
  CHECK(read->header.is_truncated == answer.is_truncated);
  CHECK(!is_udp || answer.bytes.size() <= kDnsUdpBytes);
}

}  // namespace

// NOLINTNEXTLINE(readability-identifier-naming): the name libFuzzer calls.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const Census census{CensusOptions{}};
  static const NameZone zone(census, {});
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  if (size <= 100) check_names(bytes);
  read_dns_message(bytes);
  check_answer(zone, bytes, true);
  check_answer(zone, bytes, false);
  return 0;
}
