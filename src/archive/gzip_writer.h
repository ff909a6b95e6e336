// GzipWriter: one gzip member for one record, at once or piece by piece, as fast as ISA-L does it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "env/spool.h"
#include "env/spooled_bytes.h"

struct isal_zstream;  // NOLINT(readability-identifier-naming): as ISA-L calls it

namespace meguri::archive {

// Whether these bytes are compressed already, by their look: all values come about equally often.
bool looks_packed(std::string_view bytes);

// Thread-compatible: every thread has its own. Holds 365 KB, and a buffer as large as the
// largest member it made, up to kKeptBytesMax.
class GzipWriter {
 public:
  static constexpr std::size_t kKeptBytesMax = std::size_t{4} << 20U;

  GzipWriter();
  GzipWriter(const GzipWriter&) = delete;
  GzipWriter& operator=(const GzipWriter&) = delete;
  ~GzipWriter();

  // What the head of a member tells of what is in it, besides its lengths.
  enum class Content : std::uint8_t { kAny, kRequest };

  // Appends one member that holds `front`, `body` and `end`, one behind the other, and tells its
  // lengths (archive/member_head.h). A body that looks packed is stored as it is, which costs a
  // copy. Where it is, or is large, compression is flushed before it, so that `front` can be
  // inflated alone. Equal input makes equal members on processors of one kind.
  void append_member(std::string_view front, std::string_view body, std::string_view end,
                     std::string* out, Content content = Content::kAny);
  // The same of a body that is on disk, in little memory; as its head is written first, it tells
  // nothing. After an error what was written of the member is of no use.
  base::Status append_member(std::string_view front, const env::SpooledBytes& body,
                             std::string_view end, env::SpoolWriter* out);

 private:
  enum class Then : std::uint8_t { kMore, kBytes, kEnd };  // what follows: kBytes begin a byte

  void begin_member(std::string_view start);
  void end_member(std::uint32_t sum, std::uint64_t bytes);
  base::Status pass_on(env::SpoolWriter* out);
  void deflate(std::string_view bytes, Then then);
  void store(std::string_view bytes, Then then);

  std::unique_ptr<std::byte[]> room_;  // in which *stream_ is
  isal_zstream* stream_;
  std::vector<std::uint8_t> level_;
  std::string member_;
};

}  // namespace meguri::archive
