// Reads candidates and the records of pages out of any bytes; what is accepted comes back from its
// bytes as it is, and is seen at a glance.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "crawl/page_record.h"

namespace {

template <typename Value>
void check_bytes(std::string_view bytes) {
  Value value;
  if (!meguri::flow::Codec<Value>::decode(bytes, value)) return;
  std::string again;
  meguri::flow::Codec<Value>::encode(value, again);
  Value second;
  CHECK(meguri::flow::Codec<Value>::decode(again, second) && second == value);
}

}  // namespace

// NOLINTNEXTLINE(readability-identifier-naming): the name libFuzzer calls.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  namespace crawl = meguri::crawl;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  check_bytes<crawl::Candidate>(bytes);
  check_bytes<crawl::PageRecord>(bytes);
  crawl::PageRecord record;
  if (!meguri::flow::Codec<crawl::PageRecord>::decode(bytes, record)) return 0;
  const auto glance = crawl::glance_of(bytes);
  CHECK(glance && glance->state == record.state && glance->depth == record.candidate.depth);
  CHECK(!record.is_done() || record.due() <= record.next_visit);
  return 0;
}
