// The folder a benchmark may fill, and that is gone afterwards.
#pragma once

#include <string>

#include "base/result.h"

namespace meguri::bench {

// A new folder, removed with all it holds by the destructor, or when the program is interrupted or
// asked to end. One per process.
class Scratch {
 public:
  // Makes it in `parent`, which is made too if it is missing; in $TMPDIR or /tmp if it is empty.
  static base::Result<Scratch> make(std::string parent);

  Scratch(Scratch&& other) noexcept;
  Scratch& operator=(Scratch&&) = delete;
  ~Scratch();

  const std::string& path() const { return path_; }

 private:
  explicit Scratch(std::string path) : path_(std::move(path)) {}
  std::string path_;  // empty: moved away
};

}  // namespace meguri::bench
