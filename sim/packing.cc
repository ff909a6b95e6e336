#include "sim/packing.h"

#include <brotli/encode.h>
#include <libdeflate.h>

#include <cstdint>
#include <memory>

#include "base/check.h"

namespace meguri::sim {
namespace {

constexpr int kGzipLevel = 1;
constexpr int kBrotliQuality = 2;

struct FreeCompressor {
  void operator()(libdeflate_compressor* compressor) const {
    libdeflate_free_compressor(compressor);
  }
};

// One for each thread: a compressor has several hundred kilobytes, which would be mapped anew for
// every answer.
libdeflate_compressor* compressor() {
  thread_local const std::unique_ptr<libdeflate_compressor, FreeCompressor> own(
      libdeflate_alloc_compressor(kGzipLevel));
  CHECK(own != nullptr, "no memory for a compressor");
  return own.get();
}

}  // namespace

std::string gzip_of(std::string_view bytes) {
  std::string out(libdeflate_gzip_compress_bound(compressor(), bytes.size()), '\0');
  const std::size_t size =
      libdeflate_gzip_compress(compressor(), bytes.data(), bytes.size(), out.data(), out.size());
  CHECK(size > 0);
  out.resize(size);
  return out;
}

std::string brotli_of(std::string_view bytes) {
  std::string out(BrotliEncoderMaxCompressedSize(bytes.size()), '\0');
  std::size_t size = out.size();
  CHECK(BrotliEncoderCompress(kBrotliQuality, BROTLI_DEFAULT_WINDOW, BROTLI_MODE_TEXT, bytes.size(),
                              reinterpret_cast<const std::uint8_t*>(bytes.data()), &size,
                              reinterpret_cast<std::uint8_t*>(out.data())) == BROTLI_TRUE);
  out.resize(size);
  return out;
}

}  // namespace meguri::sim
