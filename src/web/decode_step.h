// DecodeStep: one content coding undone as a stream. content_decoder.h puts steps together and
// bounds what they write.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

namespace meguri::web {

enum class ContentCoding : std::uint8_t { kIdentity, kGzip, kDeflate, kBrotli, kZstd };

// RFC 9659: a zstd frame for the web must not need a window above 8 MiB.
inline constexpr int kZstdWindowLogMax = 23;

// Memory: gzip and deflate 48 KiB, brotli at most 17 MiB, zstd at most 9 MiB, whatever the input.
// Thread-compatible.
class DecodeStep {
 public:
  enum class Status : std::uint8_t { kOk, kCorrupt, kUnsupported };

  static std::unique_ptr<DecodeStep> make(ContentCoding coding);

  DecodeStep() = default;
  DecodeStep(const DecodeStep&) = delete;
  DecodeStep& operator=(const DecodeStep&) = delete;
  virtual ~DecodeStep() = default;

  // Decodes from the front of *in, which it shortens, into the front of `out`, and sets *written.
  // Needs more input when it neither took nor wrote anything. After another status than kOk there
  // are no further calls; what was written counts.
  virtual Status decode(std::string_view* in, std::span<char> out, std::size_t* written) = 0;

  // Whether the input may end here. True before its first byte.
  virtual bool may_end() const = 0;

  // Whether bytes came behind the end that belong to nothing. They were ignored.
  virtual bool has_trailing_bytes() const { return false; }
};

}  // namespace meguri::web
