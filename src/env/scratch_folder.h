// ScratchFolder: a new folder for the files of one run, gone when the run is over.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace meguri::env {

// Removed by its destructor with all that is in it, unless keep() was called. Nobody else may
// write to it by then. Thread-compatible.
class ScratchFolder {
 public:
  // A new folder "PREFIX-…" in $TMPDIR, or in /tmp.
  static base::Result<ScratchFolder> make(std::string_view prefix);
  // At `path`, which must be free or an empty folder: kInvalid if there is something in it.
  static base::Result<ScratchFolder> make_at(const std::string& path);

  ScratchFolder(ScratchFolder&& other) noexcept;
  ScratchFolder& operator=(ScratchFolder&&) = delete;
  ~ScratchFolder();

  const std::string& path() const { return path_; }
  void keep() { is_kept_ = true; }

 private:
  explicit ScratchFolder(std::string path) : path_(std::move(path)) {}

  std::string path_;  // empty: moved away
  bool is_kept_ = false;
};

// Removes a folder that nothing is in. kExists: something is.
base::Status remove_empty_folder(const std::string& path);

}  // namespace meguri::env
