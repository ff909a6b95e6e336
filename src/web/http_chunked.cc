#include "web/http_chunked.h"

#include <algorithm>
#include <array>

#include "web/ascii.h"
#include "web/http_text.h"

namespace meguri::web {

namespace {

constexpr unsigned kSizeBits = 63;  // no sum of a size and an offset can overflow
}  // namespace

std::string_view name_of(ChunkedState state) {
  constexpr std::array<std::string_view, 8> kNames = {
      "more",          "complete",     "truncated",     "bad_size",
      "size_overflow", "bad_data_end", "line_too_long", "bad_trailer"};
  return kNames.at(static_cast<std::size_t>(state));
}

std::size_t ChunkedDecoder::feed(std::string_view bytes, std::string* out) {
  std::size_t used = 0;
  while (state_ == ChunkedState::kMore && used < bytes.size()) {
    if (part_ == Part::kData) {
      const std::string_view rest = bytes.substr(used);
      const auto size = static_cast<std::size_t>(std::min<std::uint64_t>(left_, rest.size()));
      out->append(rest.substr(0, size));
      used += size;
      left_ -= size;
      decoded_bytes_ += size;
      if (left_ == 0) part_ = Part::kDataEnd;
      continue;
    }
    const char c = bytes[used++];
    if (part_ == Part::kTrailer) {
      take_trailer_byte(c);
    } else if (part_ == Part::kDataEnd || part_ == Part::kDataLf) {
      take_data_end(c);
    } else {
      take_line_byte(c);
    }
  }
  return used;
}

ChunkedState ChunkedDecoder::finish() {
  if (state_ == ChunkedState::kMore) fail(ChunkedState::kTruncated);
  return state_;
}

void ChunkedDecoder::take_line_byte(char c) {
  if (++line_bytes_ > kChunkLineBytesMax) {
    fail(ChunkedState::kLineTooLong);
  } else if (part_ == Part::kSizeLf) {
    c == '\n' ? end_size_line() : fail(ChunkedState::kBadSize);
  } else if (c == '\r' && part_ != Part::kSizeStart) {
    part_ = Part::kSizeLf;
  } else if (c == '\n' && part_ != Part::kSizeStart) {
    is_sloppy_ = true;
    end_size_line();
  } else if (part_ == Part::kExtension) {
    take_extension_byte(c);
  } else {
    take_size_byte(c);
  }
}

void ChunkedDecoder::take_size_byte(char c) {
  const int digit = part_ == Part::kBlanks ? -1 : hex_value(c);
  if (digit >= 0) {
    part_ = Part::kSize;
    if ((left_ >> (kSizeBits - 4)) != 0) {
      fail(ChunkedState::kSizeOverflow);
      return;
    }
    left_ = left_ * 16 + static_cast<std::uint64_t>(digit);
  } else if (part_ != Part::kSizeStart && c == ';') {
    part_ = Part::kExtension;
  } else if (part_ != Part::kSizeStart && is_http_blank(c)) {
    is_sloppy_ = true;
    part_ = Part::kBlanks;
  } else {
    fail(ChunkedState::kBadSize);
  }
}

void ChunkedDecoder::take_extension_byte(char c) {
  if (++extension_bytes_ > kChunkExtensionBytesMax) fail(ChunkedState::kLineTooLong);
  if (is_http_control(c)) fail(ChunkedState::kBadSize);
}

void ChunkedDecoder::end_size_line() {
  line_bytes_ = 0;
  has_last_chunk_ = left_ == 0;
  part_ = has_last_chunk_ ? Part::kTrailer : Part::kData;
}

void ChunkedDecoder::take_data_end(char c) {
  if (c == '\r' && part_ == Part::kDataEnd) {
    part_ = Part::kDataLf;
  } else if (c == '\n') {
    if (part_ == Part::kDataEnd) is_sloppy_ = true;
    part_ = Part::kSizeStart;
  } else {
    fail(ChunkedState::kBadDataEnd);
  }
}

void ChunkedDecoder::take_trailer_byte(char c) {
  if (++trailer_bytes_ > kTrailerBytesMax) {
    fail(ChunkedState::kBadTrailer);
    return;
  }
  trailer_line_ += c;
  if (c != '\n') return;
  if (trailer_line_ == "\r\n" || trailer_line_ == "\n") {
    if (trailer_line_.size() == 1) is_sloppy_ = true;
    state_ = ChunkedState::kComplete;
  } else if (++trailer_lines_ > kTrailerLinesMax) {
    fail(ChunkedState::kBadTrailer);
  } else {
    trailers_.add_line(trailer_line_);
  }
  trailer_line_.clear();
}

}  // namespace meguri::web
