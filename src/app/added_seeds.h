// ARCHIVE/seeds.txt: the seeds that were added by `meguri add`, one URL on each line. A crawl reads
// it when it begins.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "env/file_system.h"

namespace meguri::app {

// In the order in which they were added; people may add lines too, as in any list of seeds. A last
// line without end was never acknowledged, and is left out. kInvalid: a line is no URL.
base::Result<std::vector<std::string>> read_added_seeds(env::FileSystem& files,
                                                        const std::string& archive);

struct AddedSeeds {
  std::uint64_t fresh = 0;
  std::uint64_t known = 0;  // they stood there already
};

// Appends those that are not there yet, and returns when they are durable. `urls` hold no ends of
// lines. Only who holds the archive's lock may call it.
base::Result<AddedSeeds> append_added_seeds(env::FileSystem& files, const std::string& archive,
                                            const std::vector<std::string>& urls);

}  // namespace meguri::app
