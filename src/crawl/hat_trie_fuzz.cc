// Reads any bytes as a table of hosts, and as operations on one that a std::map does too.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "base/check.h"
#include "base/hash.h"
#include "crawl/hat_trie.h"
#include "crawl/host_key.h"
#include "flow/codec.h"

namespace {

using meguri::crawl::HatTrie;

void check_decode(std::string_view bytes) {
  if (const auto trie = HatTrie::decode(bytes)) CHECK(trie->encode() == bytes);
  std::string summed(bytes);
  meguri::flow::put_fixed(summed, meguri::base::hash64(bytes));
  if (const auto trie = HatTrie::decode(summed)) CHECK(trie->encode() == summed);
}

// Operations: a byte that says what and how much of the key before to keep, one for the length.
void check_operations(std::string_view bytes) {
  HatTrie trie;
  std::map<std::string, std::uint32_t> model;
  std::string key;
  std::uint32_t number = 0;
  while (bytes.size() >= 2) {
    const auto what = static_cast<unsigned char>(bytes[0]);
    const auto length = static_cast<unsigned char>(bytes[1]);
    bytes.remove_prefix(2);
    key.resize(key.size() * (what & 3U) / 3);
    key += bytes.substr(0, length);
    bytes.remove_prefix(std::min<std::size_t>(length, bytes.size()));
    if (key.size() > HatTrie::kKeyBytesMax) key.clear();
    if ((what & 4U) != 0) {
      CHECK(trie.erase(key) == (model.erase(key) > 0));
    } else {
      // Many at once, so that blocks burst.
      for (unsigned i = 0; i <= (what & 8U) * 50; ++i) {
        const std::string longer = i == 0 ? key : key.substr(0, 4000) + std::to_string(i);
        ++number;
        CHECK(trie.put(longer, number) == model.insert_or_assign(longer, number).second);
      }
    }
  }
  auto expected = model.begin();
  trie.for_each([&](std::string_view found, std::uint32_t value) {
    CHECK(found == expected->first && value == expected->second);
    ++expected;
    return true;
  });
  CHECK(expected == model.end() && trie.size() == model.size());
}

}  // namespace

// NOLINTNEXTLINE(readability-identifier-naming): the name libFuzzer calls.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  check_decode(bytes);
  check_operations(bytes);
  CHECK(meguri::crawl::host_of_key(meguri::crawl::host_key(bytes)) == bytes);
  return 0;
}
