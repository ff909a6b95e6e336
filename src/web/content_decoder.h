// ContentDecoder: undoes Content-Encoding as a stream, with bounds on what any input can make of
// itself.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "web/decode_step.h"

namespace meguri::web {

inline constexpr std::size_t kContentCodingsMax = 2;  // stacked on each other

struct DecodeLimits {
  std::uint64_t output_bytes_max = 100'000'000;  // of every step
  // A step may write this many times the bytes that came from the network, and
  // `ratio_free_bytes` in any case.
  std::uint64_t ratio_max = 200;
  std::uint64_t ratio_free_bytes = 1'000'000;
};

enum class DecodeOutcome : std::uint8_t {
  kMore,         // no end, no error yet
  kComplete,     // all of it
  kTruncated,    // the input ended early
  kCorrupt,      // the input is not in its coding, or fails its checksum
  kTooLarge,     // cut at output_bytes_max
  kBomb,         // cut where ratio_max was passed
  kUnsupported,  // a coding we do not have, too many of them, or a zstd window above 8 MiB
};

std::string_view name_of(DecodeOutcome outcome);  // "too_large"

// The codings of a Content-Encoding field in the order they were applied, without identity and
// without names that mean no coding but are sent in the wild ("utf-8", "none").
struct ContentCodings {
  std::vector<ContentCoding> codings;  // at most kContentCodingsMax
  std::string unsupported;             // why they cannot be undone; empty: they can
};
ContentCodings parse_content_codings(std::string_view content_encoding);

// Whatever the outcome, what was decoded before it has been appended. gzip members and zstd frames
// may follow each other; what follows them besides is ignored. No input at all is complete.
// Cutting the input otherwise changes nothing, except how much is kept of what is corrupt (the
// last 64 KiB may be missing) and where exactly a bomb is cut.
// Thread-compatible. Works in bounded memory: DecodeStep's, and 64 KiB for each coding.
class ContentDecoder {
 public:
  ContentDecoder(const ContentCodings& codings, DecodeLimits limits);
  ContentDecoder(const ContentDecoder&) = delete;
  ContentDecoder& operator=(const ContentDecoder&) = delete;
  ~ContentDecoder();

  // Appends what `bytes` decode to. One call may append up to the limits: callers that want little
  // memory feed little at a time. Does nothing unless the outcome is kMore.
  DecodeOutcome feed(std::string_view bytes, std::string* out);

  // The input has ended. Never returns kMore.
  DecodeOutcome finish();

  DecodeOutcome outcome() const { return outcome_; }
  bool has_trailing_bytes() const;                       // behind the end; ignored
  const std::string& reason() const { return reason_; }  // for kUnsupported, for people

 private:
  struct Stage;

  bool push(std::size_t index, std::string_view bytes, std::string* out);
  bool judge(const Stage& stage, DecodeStep::Status status);

  const DecodeLimits limits_;
  std::vector<std::unique_ptr<Stage>> stages_;  // in the order the bytes pass them
  std::string reason_;
  DecodeOutcome outcome_ = DecodeOutcome::kMore;
};

struct DecodedContent {
  std::string bytes;
  DecodeOutcome outcome = DecodeOutcome::kComplete;
  bool has_trailing_bytes = false;
  std::string reason;
};

// All at once. `content_encoding` is the value of the field, or the combined values; may be empty.
DecodedContent decode_content(std::string_view bytes, std::string_view content_encoding,
                              DecodeLimits limits = {});

}  // namespace meguri::web
