// What a command reads: a file, or standard input.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"

namespace meguri::app {

// Larger documents are cut by the crawler too (HTML earlier, at 10 MB).
inline constexpr std::uint64_t kDocumentBytesMax = 100'000'000;

struct Input {
  std::string bytes;
  bool cut = false;  // there were more than kDocumentBytesMax
};

// The file at `path`, or standard input for "-". A folder is an error that says so.
base::Result<Input> read_input(const std::string& path);

}  // namespace meguri::app
