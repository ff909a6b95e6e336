// LogTail: the access log of a virtual web, read while it grows.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <utility>

#include "base/result.h"
#include "env/file_system.h"

namespace meguri::app {

// Thread-compatible. Borrows the file system.
class LogTail {
 public:
  LogTail(env::FileSystem& files, std::string path) : files_(files), path_(std::move(path)) {}

  base::Status read();  // what has come since the last call

  std::uint64_t requests() const { return requests_; }
  std::size_t hosts() const { return hosts_.size(); }          // that were asked
  std::size_t addresses() const { return addresses_.size(); }  // each once, robots.txt left out

 private:
  env::FileSystem& files_;
  const std::string path_;
  std::uint64_t offset_ = 0;
  std::uint64_t requests_ = 0;
  std::set<std::string> hosts_;
  std::set<std::pair<std::string, std::string>> addresses_;  // host and target
};

}  // namespace meguri::app
