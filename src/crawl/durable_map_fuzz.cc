// Opens any bytes as a file of a DurableMap, and reads any bytes as a PageRecord.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "crawl/durable_map.h"
#include "crawl/page_record.h"
#include "env/memory_file_system.h"
#include "flow/codec.h"

namespace {

using meguri::crawl::DurableMap;

constexpr auto kPath = "d/0000000000000001.map";

// Damage is found and said; what opens can be written and opened again.
void open_bytes(std::string_view bytes) {
  meguri::env::MemoryFileSystem files;
  CHECK(files.make_dirs("d"));
  CHECK(meguri::env::write_file_atomically(files, kPath, bytes));
  std::string state;
  meguri::flow::put_fixed(state, std::uint64_t{1});
  meguri::flow::put_fixed(state, std::uint64_t{bytes.size()});
  auto map = DurableMap::open(files, "d", state);
  if (!map) {
    CHECK(map.error().code() == meguri::base::ErrorCode::kCorrupt);
    CHECK(meguri::env::read_file(files, kPath).value() == bytes);
    return;
  }
  (*map)->put("key", "value");
  const std::size_t size = (*map)->size();
  const auto next = (*map)->commit(1);
  CHECK(next);
  map->reset();
  const auto again = DurableMap::open(files, "d", *next);
  CHECK(again && (*again)->size() == size && (*again)->find("key") == "value");
}

}  // namespace

// NOLINTNEXTLINE(readability-identifier-naming): the name libFuzzer calls.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using Codec = meguri::flow::Codec<meguri::crawl::PageRecord>;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  open_bytes(bytes);
  // The checksums stop nearly all of that, so the bytes are also put behind good ones.
  {
    meguri::env::MemoryFileSystem files;
    auto map = DurableMap::open(files, "d", "");
    CHECK(map);
    (*map)->put(bytes.substr(0, size / 2), bytes.substr(size / 2));
    CHECK((*map)->commit(1));
    std::string written = meguri::env::read_file(files, kPath).value();
    open_bytes(written + std::string(bytes));
    if (size > 1) {
      char& byte = written[data[0] % written.size()];
      byte = static_cast<char>(byte ^ static_cast<char>(data[1] | 1U));
      open_bytes(written);
    }
  }
  meguri::crawl::PageRecord record;
  if (Codec::decode(bytes, record)) {
    std::string encoded;
    Codec::encode(record, encoded);
    CHECK(encoded == bytes);
  }
  return 0;
}
