// EntryComparison: names the entries in which an index and its files differ.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>

#include "archive/file_verifier.h"
#include "archive/index_file.h"
#include "archive/temporal_index.h"
#include "base/result.h"
#include "env/file_system.h"

namespace meguri::archive {

// For files whose sums differ: holds all their entries, about 200 bytes each. Thread-compatible.
// Borrows the index.
class EntryComparison {
 public:
  explicit EntryComparison(const TemporalIndex& index) : index_(index) {}

  // Reads the entries of a file as its records make them.
  base::Status add(const env::ReadableFile& bytes, const IndexFile& file);
  std::size_t entries() const { return expected_.size(); }

  // One walk over the index, for all files that were added.
  using Tell = std::function<base::Status(std::uint32_t file, const Damage& damage)>;
  base::Status run(const Tell& tell);

 private:
  const TemporalIndex& index_;
  std::map<std::string, std::string> expected_;
  std::set<std::uint32_t> files_;  // their numbers
};

}  // namespace meguri::archive
