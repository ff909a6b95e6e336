// ResultFile: where a command writes what was asked for: a file, whole or not there, or standard
// output.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "app/output.h"
#include "base/result.h"
#include "env/file_system.h"

namespace meguri::app {

// A file is written beside its place, as "FILE.part", and put there by finish(); without it
// nothing is left. Thread-compatible. The file system and the output outlive it.
class ResultFile {
 public:
  // `path` "" or "-": standard output.
  static base::Result<std::unique_ptr<ResultFile>> open(env::FileSystem& files,
                                                        const std::string& path, Output& out);
  ResultFile(const ResultFile&) = delete;
  ResultFile& operator=(const ResultFile&) = delete;
  ~ResultFile();

  static bool is_output(std::string_view path) { return path.empty() || path == "-"; }

  base::Status write(std::string_view bytes);
  base::Status finish();

  std::uint64_t bytes() const { return bytes_; }

 private:
  ResultFile(env::FileSystem& files, std::string path, Output& out)
      : files_(files), path_(std::move(path)), out_(out) {}

  base::Status write_out();
  std::string part() const { return path_ + ".part"; }

  env::FileSystem& files_;
  const std::string path_;
  Output& out_;
  std::unique_ptr<env::WritableFile> file_;  // null: standard output
  std::string held_;                         // gathered into writes that are worth it
  std::uint64_t bytes_ = 0;
  bool is_finished_ = false;
};

}  // namespace meguri::app
