// Cuts any bytes into results, in both ways, the same wherever the bytes are divided.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/check.h"
#include "scan/result_cutter.h"

namespace {

using namespace meguri::scan;

struct Cut {
  std::vector<std::pair<std::optional<std::uint64_t>, std::string>> results;
  bool is_failed = false;

  friend bool operator==(const Cut&, const Cut&) = default;
};

template <typename Cutter>
Cut cut(std::string_view bytes, std::size_t step) {
  Cut found;
  Cutter cutter(nullptr);
  const auto take = [&found](const auto& result) {
    found.is_failed = !result;
    if (result && *result) {
      found.results.emplace_back((*result)->number, (*result)->bytes.memory());
    }
  };
  while (!bytes.empty() && !found.is_failed) {
    std::string_view piece = bytes.substr(0, step);
    bytes.remove_prefix(piece.size());
    while (!piece.empty() && !found.is_failed) take(cutter.next(piece));
  }
  if (!found.is_failed) take(cutter.finish());
  return found;
}

}  // namespace

// NOLINTNEXTLINE(readability-identifier-naming): the name libFuzzer calls.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const Cut frames = cut<FramedResults>(bytes, size + 1);
  CHECK(cut<FramedResults>(bytes, 1) == frames);
  CHECK(cut<FramedResults>(bytes, 7) == frames);

  const Cut lines = cut<LineResults>(bytes, size + 1);
  CHECK(cut<LineResults>(bytes, 3) == lines && !lines.is_failed);
  std::string text;
  for (const auto& [number, line] : lines.results) {
    CHECK(!number && line.find('\n') == line.size() - 1);
    text += line;
  }
  CHECK(text == bytes || text == std::string(bytes) + '\n');
  return 0;
}
