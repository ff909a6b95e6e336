// SpooledFile: spooled bytes as a file.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "base/result.h"
#include "env/file_system.h"
#include "env/spooled_bytes.h"

namespace meguri::env {

// Thread-safe.
class SpooledFile final : public ReadableFile {
 public:
  explicit SpooledFile(SpooledBytes bytes) : bytes_(std::move(bytes)) {}
  base::Status read_at(std::uint64_t offset, std::size_t length, std::string* out) const override {
    return bytes_.read_at(offset, length, out);
  }
  base::Result<std::uint64_t> size() const override { return bytes_.size(); }

 private:
  const SpooledBytes bytes_;
};

}  // namespace meguri::env
