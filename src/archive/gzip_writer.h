// GzipWriter: one gzip member for one record, at once and as fast as libdeflate does it.
#pragma once

#include <memory>
#include <string>
#include <string_view>

struct libdeflate_compressor;  // NOLINT(readability-identifier-naming): as libdeflate calls it

namespace meguri::archive {

// Thread-compatible: every thread has its own. Holds some 1 MB at level 1.
class GzipWriter {
 public:
  static constexpr int kLevelMin = 0;
  static constexpr int kLevelMax = 12;

  explicit GzipWriter(int level);  // requires kLevelMin..kLevelMax

  // Appends one member that holds `bytes`. Equal bytes make equal members.
  void append_member(std::string_view bytes, std::string* out);

 private:
  struct Free {
    void operator()(libdeflate_compressor* compressor) const;
  };
  std::unique_ptr<libdeflate_compressor, Free> compressor_;
};

}  // namespace meguri::archive
