// The WARC files of `bench archive`: pages of the virtual web, as a crawl stores them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"

namespace meguri::bench {

struct WarcLoad {
  std::uint64_t pages = 0;
  std::uint64_t file_bytes = std::uint64_t{64} << 20U;
  // Whether bodies come with the content codings that servers chose, as a crawler stores them;
  // without, as text, as Common Crawl has them.
  bool is_encoded = false;
};

// Makes them in a new folder, on all cores, and says their paths. A visit is a response or revisit
// record and a request record; one visit in ten is a revisit. Pages come in an order without any
// sense, so that neighbours in the index are nowhere near each other in the files.
base::Result<std::vector<std::string>> make_warcs(const std::string& dir, const WarcLoad& load);

// Reads them all, which brings them into the page cache too.
struct WarcContents {
  double records = 0;
  double visits = 0;  // that an index has entries of
  double mb = 0;      // of the files
};
base::Result<WarcContents> count_records(const std::vector<std::string>& paths);

}  // namespace meguri::bench
