// What `bench archive` measures of reading records by pointers: in the order of the index, and in
// that of the files.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"

namespace meguri::bench {

struct OrderCost {
  std::uint64_t records = 0;
  double mb = 0;              // of records
  double index_seconds = 0;   // real, in the order of URLs
  double told_seconds = 0;    // the same, with the system told of what is read next
  double sorted_seconds = 0;  // sorting by files and offsets, and reading so, as a snapshot does
  double sort_seconds = 0;    // of that, sorting
  double once_seconds = 0;    // all bytes of the files once, from front to end
  double kept_share = 0;      // of the files, in the page cache still when reading began; at most
};

// Of an archive whose files are all references. Each record is read whole, one after the other by
// one thread, as it stands in its file, which stays open. Before each pass the files are dropped
// from the page cache. `scratch` is a folder for what sorting needs.
base::Result<OrderCost> measure_orders(const std::string& archive, const std::string& scratch);

}  // namespace meguri::bench
