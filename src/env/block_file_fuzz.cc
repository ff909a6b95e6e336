// Reads any bytes as blocks, from memory and from a file, and blocks of any bytes that were
// damaged.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "env/block_file.h"
#include "env/memory_file_system.h"

namespace {

using namespace meguri::env;

constexpr BlockKind kKind = block_kind("MGSL");
constexpr auto kPath = "d/f";

// Memory and file agree, what is whole is what seal() would make of it, and no byte is read twice.
// Returns how many blocks were whole.
std::size_t read_all(std::string_view bytes) {
  MemoryFileSystem files;
  CHECK(files.make_dirs("d"));
  CHECK(write_file_atomically(files, kPath, bytes));
  const auto file = files.open_read(kPath);
  CHECK(file);
  Block block;
  BlockView view;
  BlockView in_memory;
  std::size_t whole = 0;
  std::uint64_t offset = 0;
  while (true) {
    const auto state = block.read(**file, kKind, offset, bytes.size(), view);
    CHECK(state);
    const std::string_view rest = bytes.substr(offset);
    CHECK(*state == read_block(rest, kKind, in_memory));
    CHECK(view.payload == in_memory.payload && view.number == in_memory.number);
    CHECK((*state == BlockState::kEnd) == rest.empty());
    if (*state == BlockState::kWhole) {
      ++whole;
      Block again;
      again.out() += view.payload;
      CHECK(again.seal(kKind, view.count, view.number) == rest.substr(0, block.size()));
    } else if (*state != BlockState::kDamaged) {
      CHECK(view.payload.empty() && block.empty());
      return whole;
    }
    CHECK(block.size() >= Block::kHeaderBytes && block.size() <= rest.size());
    offset += block.size();
  }
}

}  // namespace

// NOLINTNEXTLINE(readability-identifier-naming): the name libFuzzer calls.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  read_all(bytes);
  // The checksums stop nearly all of that, so there are blocks of these bytes too.
  Block block;
  block.out() += bytes.substr(0, size / 2);
  std::string written(block.seal(kKind, static_cast<std::uint32_t>(size), size / 3));
  block.clear();
  block.out() += bytes.substr(size / 2);
  written += block.seal(kKind, 1, size);
  CHECK(read_all(written) == 2);
  CHECK(read_all(written + std::string(bytes.substr(0, size / 3))) >= 2);
  if (size > 2) {
    const std::size_t place = (data[0] + 256U * data[1]) % written.size();
    CHECK(read_all(std::string_view(written).substr(0, place)) < 2);
    written[place] = static_cast<char>(written[place] ^ static_cast<char>(data[2] | 1U));
    CHECK(read_all(written) < 2);
  }
  return 0;
}
