// ChunkedDecoder: the chunked transfer coding (RFC 9112, section 7.1) as a stream.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "web/field_list.h"

namespace meguri::web {

inline constexpr std::size_t kChunkLineBytesMax = 4096;  // size and extensions of one chunk
inline constexpr std::size_t kChunkExtensionBytesMax = std::size_t{1024} * 1024;  // of all chunks
inline constexpr std::size_t kTrailerBytesMax = std::size_t{16} * 1024;
inline constexpr std::size_t kTrailerLinesMax = 50;

enum class ChunkedState : std::uint8_t {
  kMore,
  kComplete,      // the empty line behind the last chunk has come
  kTruncated,     // the stream ended before
  kBadSize,       // a chunk without a hexadecimal size, or junk behind it
  kSizeOverflow,  // a size above 63 bits
  kBadDataEnd,    // data not followed by a line end
  kLineTooLong,   // more than kChunkLineBytesMax or kChunkExtensionBytesMax
  kBadTrailer,    // more than kTrailerBytesMax or kTrailerLinesMax
};

std::string_view name_of(ChunkedState state);  // "bad_size"

// Reads a stream cut anywhere; the cuts make no difference. Appends what it decodes at once and
// holds only the trailer. LF alone is taken as a line end, and blanks behind a size.
// Thread-compatible.
class ChunkedDecoder {
 public:
  // Appends the data in `bytes` to `out`, and says how many bytes it took. Takes nothing when the
  // state is not kMore: what follows the body is left to the caller.
  std::size_t feed(std::string_view bytes, std::string* out);

  // The stream has ended.
  ChunkedState finish();

  ChunkedState state() const { return state_; }
  bool has_last_chunk() const { return has_last_chunk_; }  // so all data came, if truncated too
  std::uint64_t decoded_bytes() const { return decoded_bytes_; }
  const FieldList& trailers() const { return trailers_; }
  bool is_sloppy() const { return is_sloppy_; }  // bare LF, or blanks behind a size

 private:
  enum class Part : std::uint8_t {
    kSizeStart,
    kSize,
    kBlanks,
    kExtension,
    kSizeLf,
    kData,
    kDataEnd,
    kDataLf,
    kTrailer
  };

  void take_line_byte(char c);
  void take_size_byte(char c);
  void take_extension_byte(char c);
  void end_size_line();
  void take_data_end(char c);
  void take_trailer_byte(char c);
  void fail(ChunkedState state) { state_ = state; }

  ChunkedState state_ = ChunkedState::kMore;
  Part part_ = Part::kSizeStart;
  std::uint64_t left_ = 0;  // the size read so far, then the bytes of the chunk still to come
  std::size_t line_bytes_ = 0;
  std::size_t extension_bytes_ = 0;
  std::uint64_t decoded_bytes_ = 0;
  std::size_t trailer_bytes_ = 0;
  std::size_t trailer_lines_ = 0;
  std::string trailer_line_;
  FieldList trailers_;
  bool has_last_chunk_ = false;
  bool is_sloppy_ = false;
};

}  // namespace meguri::web
