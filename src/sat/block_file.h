// Blocks of bytes in a file, each with a kind and a checksum.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "env/file_system.h"

namespace meguri::sat {

// "SBLK", the kind (1 byte, 3 of zeros), length (4), four of zeros, checksum (8), bytes.
class BlockWriter {
 public:
  static base::Result<BlockWriter> create(env::FileSystem& files, const std::string& path);
  base::Status append(char kind, std::string_view bytes);
  base::Status sync() { return file_->sync(); }

 private:
  explicit BlockWriter(std::unique_ptr<env::WritableFile> file) : file_(std::move(file)) {}

  std::unique_ptr<env::WritableFile> file_;
  std::string block_;
};

class BlockReader {
 public:
  static base::Result<BlockReader> open(env::FileSystem& files, const std::string& path);
  // False: the file ends. kCorrupt: what follows is no block. The view dies with the next call.
  base::Result<bool> next(char& kind, std::string_view& bytes);

 private:
  BlockReader(std::unique_ptr<env::ReadableFile> file, std::string path)
      : file_(std::move(file)), path_(std::move(path)) {}

  std::unique_ptr<env::ReadableFile> file_;
  std::string path_;
  std::uint64_t at_ = 0;
  std::string bytes_;
};

}  // namespace meguri::sat
