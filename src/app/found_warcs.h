// Which WARC files are meant by paths that somebody typed.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "env/file_system.h"

namespace meguri::app {

struct FoundWarc {
  std::string path;
  std::uint64_t bytes = 0;
  bool is_named = false;  // itself, not only the folder it is in

  friend bool operator==(const FoundWarc&, const FoundWarc&) = default;
};

// The WARC files that paths name: files, folders with all below them, and archives of ours, sorted
// and each once. kNotFound or kInvalid: a path names none.
base::Result<std::vector<FoundWarc>> find_warcs(env::FileSystem& files,
                                                const std::vector<std::string>& paths);

}  // namespace meguri::app
