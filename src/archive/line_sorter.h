// LineSorter: any number of lines, sorted by their bytes in bounded memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "env/file_system.h"

namespace meguri::archive {

// First all lines are added, then they are taken once. What memory does not hold lies in a
// temporary file, in sorted runs that are merged at the end: lines of `bytes_max` are held at a
// time, in at most twice that memory, and a page of each run beyond that. Thread-compatible. After
// an error nothing is of use.
class LineSorter {
 public:
  static constexpr std::size_t kBytesMax = std::size_t{64} << 20U;
  static constexpr std::size_t kReadBytesMin = 4096;  // of a run at a time
  static constexpr std::size_t kReadBytesMax = std::size_t{256} << 10U;

  // `dir` is a folder on a disk with room for all lines. The file system outlives this.
  LineSorter(env::FileSystem& fs, std::string dir, std::size_t bytes_max = kBytesMax)
      : fs_(fs), dir_(std::move(dir)), bytes_max_(bytes_max) {}

  // Without an end of line; may hold any bytes.
  base::Status add(std::string_view line);

  // Calls `take` for each line, the smallest first, equal ones as often as they came. Ends with its
  // first error. To be called once, after the last add().
  base::Status take_all(const std::function<base::Status(std::string_view line)>& take);

  std::uint64_t size() const { return size_; }

 private:
  // A line in memory.
  struct Place {
    std::size_t offset = 0;
    std::size_t length = 0;
  };
  // A sorted part of the file, being read.
  struct Run {
    std::uint64_t offset = 0;  // of what was not read yet
    std::uint64_t end = 0;
    std::string bytes;
    std::size_t used = 0;  // of them
    std::string line;      // the smallest that was not taken
  };

  std::string_view line_at(const Place& place) const {
    return std::string_view(bytes_).substr(place.offset, place.length);
  }
  void sort();
  base::Status spill();
  base::Result<bool> pull(Run& run) const;  // false: it has no more

  env::FileSystem& fs_;
  const std::string dir_;
  const std::size_t bytes_max_;
  std::string bytes_;  // of the lines in memory
  std::vector<Place> places_;
  std::unique_ptr<env::TemporaryFile> file_;
  std::uint64_t file_bytes_ = 0;
  std::vector<Run> runs_;
  std::uint64_t size_ = 0;
};

}  // namespace meguri::archive
