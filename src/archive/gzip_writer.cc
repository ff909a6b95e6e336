#include "archive/gzip_writer.h"

#include <libdeflate.h>

#include <cstddef>

#include "base/check.h"

namespace meguri::archive {

void GzipWriter::Free::operator()(libdeflate_compressor* compressor) const {
  libdeflate_free_compressor(compressor);
}

GzipWriter::GzipWriter(int level) : compressor_(libdeflate_alloc_compressor(level)) {
  CHECK(compressor_ != nullptr, "no gzip of level {}", level);
}

void GzipWriter::append_member(std::string_view bytes, std::string* out) {
  const std::size_t room = libdeflate_gzip_compress_bound(compressor_.get(), bytes.size());
  const std::size_t before = out->size();
  std::size_t size = 0;
  // The string's own size argument is not to be trusted in libstdc++ 12, so `room` is used.
  out->resize_and_overwrite(before + room, [&](char* data, std::size_t /*unused*/) {
    size = libdeflate_gzip_compress(compressor_.get(), bytes.data(), bytes.size(), data + before,
                                    room);
    return before + size;
  });
  CHECK(size > 0, "libdeflate needs more room than it asks for");
}

}  // namespace meguri::archive
