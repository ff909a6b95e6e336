// Reads any bytes as a checkpoint, and what a checkpoint wrote as the same.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "flow/checkpoint.h"
#include "flow/spill_log.h"

// NOLINTNEXTLINE(readability-identifier-naming): the name libFuzzer calls.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace meguri::flow;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  if (const auto read = Checkpoint::decode(bytes)) CHECK(read->encode() == bytes);

  Checkpoint checkpoint;
  checkpoint.epoch = size;
  checkpoint.states["a"] = std::string(bytes.substr(0, size / 2)) + "x";
  checkpoint.states[std::string(bytes.substr(0, 16)) + "b"] = std::string(bytes) + "y";
  std::string written = checkpoint.encode();
  const auto read = Checkpoint::decode(written);
  CHECK(read && read->epoch == checkpoint.epoch && read->states == checkpoint.states);
  if (size > 1) {
    // A byte that changed is found.
    char& byte = written[data[0] % written.size()];
    byte = static_cast<char>(byte ^ static_cast<char>(data[1] | 1U));
    CHECK(!Checkpoint::decode(written));
  }

  if (const auto mark = SpillMark::decode(bytes)) CHECK(mark->encode() == bytes);
  return 0;
}
