// StorePosition: what Store::commit() returns, and what a store is opened with.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "sat/time_layout.h"

namespace meguri::sat {

// "NUMBER LOGSIZE LAYOUT", such as "3 18623 60000x1440,3600000x768,86400000x400".
struct StorePosition {
  std::uint64_t number = 0;    // of the checkpoint, and of its log
  std::uint64_t log_size = 0;  // that counts
  TimeLayout layout = TimeLayout::mixed();

  static base::Result<StorePosition> parse(std::string_view text);
  std::string to_string() const;
};

}  // namespace meguri::sat
