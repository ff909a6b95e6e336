#include "web/content_decoder.h"

#include <fmt/format.h>
#include <libdeflate.h>

#include <algorithm>
#include <array>
#include <memory>
#include <optional>

#include "base/check.h"
#include "base/text.h"
#include "web/ascii.h"
#include "web/http_text.h"

namespace meguri::web {

namespace {

constexpr std::size_t kBufferBytes = std::size_t{64} * 1024;

struct NamedCoding {
  std::string_view name;
  ContentCoding coding;
};

constexpr std::array kCodings = {
    NamedCoding{"gzip", ContentCoding::kGzip},
    NamedCoding{"x-gzip", ContentCoding::kGzip},
    NamedCoding{"br", ContentCoding::kBrotli},
    NamedCoding{"deflate", ContentCoding::kDeflate},
    NamedCoding{"zstd", ContentCoding::kZstd},
    NamedCoding{"identity", ContentCoding::kIdentity},
    // Names of charsets and of MIME's transfer encodings, put here by mistake.
    NamedCoding{"none", ContentCoding::kIdentity},
    NamedCoding{"utf-8", ContentCoding::kIdentity},
    NamedCoding{"utf8", ContentCoding::kIdentity},
    NamedCoding{"binary", ContentCoding::kIdentity},
    NamedCoding{"8bit", ContentCoding::kIdentity},
    NamedCoding{"7bit", ContentCoding::kIdentity},
    NamedCoding{"iso-8859-1", ContentCoding::kIdentity},
};

std::optional<ContentCoding> coding_of(std::string_view name) {
  const auto* const found = std::ranges::find_if(
      kCodings, [&](const NamedCoding& known) { return equals_ignoring_case(known.name, name); });
  if (found == kCodings.end()) return std::nullopt;
  return found->coding;
}

// Up to here a body is decoded at once, by what it says of its own size.
constexpr std::uint32_t kWholeBytesMax = 4U << 20U;
constexpr std::size_t kGzipBytesMin = 18;  // header and trailer

// The size that a gzip member says it has, in its last four bytes.
std::uint32_t size_at_end(std::string_view gzip) {
  std::uint32_t size = 0;
  for (std::size_t i = 1; i <= 4; ++i) {
    size = (size << 8U) | static_cast<unsigned char>(gzip[gzip.size() - i]);
  }
  return size;
}

// One whole and sound gzip member, as nearly all bodies are: libdeflate is faster than
// zlib where it has all of them before it. False: it is something else, and `out` is empty.
bool inflate_whole(std::string_view bytes, const DecodeLimits& limits, std::string* out) {
  if (bytes.size() < kGzipBytesMin) return false;
  const std::uint32_t size = size_at_end(bytes);
  const bool is_small =
      size <= std::min<std::uint64_t>(kWholeBytesMax, limits.output_bytes_max) &&
      (size <= limits.ratio_free_bytes || size / limits.ratio_max <= bytes.size());
  if (!is_small) return false;
  using Decompressor = std::unique_ptr<libdeflate_decompressor, void (*)(libdeflate_decompressor*)>;
  thread_local const Decompressor decompressor(libdeflate_alloc_decompressor(),
                                               &libdeflate_free_decompressor);
  CHECK(decompressor != nullptr, "out of memory");
  out->resize(size);
  std::size_t read = 0;
  std::size_t written = 0;
  const libdeflate_result result = libdeflate_gzip_decompress_ex(
      decompressor.get(), bytes.data(), bytes.size(), out->data(), out->size(), &read, &written);
  if (result == LIBDEFLATE_SUCCESS && read == bytes.size() && written == size) return true;
  out->clear();
  return false;
}

}  // namespace

std::string_view name_of(DecodeOutcome outcome) {
  constexpr std::array<std::string_view, 7> kNames = {
      "more", "complete", "truncated", "corrupt", "too_large", "bomb", "unsupported"};
  return kNames.at(static_cast<std::size_t>(outcome));
}

ContentCodings parse_content_codings(std::string_view content_encoding) {
  ContentCodings result;
  for (const std::string_view name : split_list(content_encoding)) {
    const auto coding = coding_of(name);
    if (!coding) {
      result.codings.clear();
      result.unsupported = fmt::format("content coding {} is not supported", base::quoted(name));
      return result;
    }
    if (*coding == ContentCoding::kIdentity) continue;
    if (result.codings.size() == kContentCodingsMax) {
      result.codings.clear();
      result.unsupported = fmt::format("more than {} content codings", kContentCodingsMax);
      return result;
    }
    result.codings.push_back(*coding);
  }
  return result;
}

struct ContentDecoder::Stage {
  std::unique_ptr<DecodeStep> step;
  std::uint64_t in_bytes = 0;
  std::uint64_t out_bytes = 0;
  std::array<char, kBufferBytes> buffer;
};

ContentDecoder::ContentDecoder(const ContentCodings& codings, DecodeLimits limits)
    : limits_(limits), reason_(codings.unsupported) {
  CHECK(limits.ratio_max > 0 && codings.codings.size() <= kContentCodingsMax);
  if (!reason_.empty()) {
    outcome_ = DecodeOutcome::kUnsupported;
    return;
  }
  const auto add = [this](ContentCoding coding) {
    stages_.push_back(std::make_unique_for_overwrite<Stage>());  // its buffer is large
    stages_.back()->step = DecodeStep::make(coding);
  };
  // What was applied last is undone first.
  std::for_each(codings.codings.rbegin(), codings.codings.rend(), add);
  if (stages_.empty()) add(ContentCoding::kIdentity);
}

ContentDecoder::~ContentDecoder() = default;

DecodeOutcome ContentDecoder::feed(std::string_view bytes, std::string* out) {
  if (outcome_ == DecodeOutcome::kMore && !bytes.empty()) push(0, bytes, out);
  return outcome_;
}

// Sends bytes through a stage and what it writes through the next one, as deep as there are
// stages. False: an outcome was reached.
bool ContentDecoder::push(std::size_t index, std::string_view bytes, std::string* out) {
  if (index == stages_.size()) {
    out->append(bytes);
    return true;
  }
  Stage& stage = *stages_[index];
  for (;;) {
    const std::size_t before = bytes.size();
    std::size_t written = 0;
    const auto status = stage.step->decode(&bytes, stage.buffer, &written);
    const std::uint64_t room = limits_.output_bytes_max - stage.out_bytes;
    const auto kept = static_cast<std::size_t>(std::min<std::uint64_t>(written, room));
    stage.in_bytes += before - bytes.size();
    stage.out_bytes += kept;
    if (kept > 0 && !push(index + 1, {stage.buffer.data(), kept}, out)) return false;
    if (kept < written) {
      outcome_ = DecodeOutcome::kTooLarge;
      return false;
    }
    if (!judge(stage, status)) return false;
    if (written == 0 && bytes.size() == before) return true;
  }
}

bool ContentDecoder::judge(const Stage& stage, DecodeStep::Status status) {
  const std::uint64_t network_bytes = stages_.front()->in_bytes;
  if (status == DecodeStep::Status::kUnsupported) {
    outcome_ = DecodeOutcome::kUnsupported;
    reason_ = "the content needs a dictionary or too large a window";
  } else if (status == DecodeStep::Status::kCorrupt) {
    outcome_ = DecodeOutcome::kCorrupt;
  } else if (stage.out_bytes > limits_.ratio_free_bytes &&
             stage.out_bytes / limits_.ratio_max > network_bytes) {
    outcome_ = DecodeOutcome::kBomb;
  }
  return outcome_ == DecodeOutcome::kMore;
}

DecodeOutcome ContentDecoder::finish() {
  if (outcome_ != DecodeOutcome::kMore) return outcome_;
  const bool may_end =
      std::ranges::all_of(stages_, [](const auto& stage) { return stage->step->may_end(); });
  outcome_ = may_end ? DecodeOutcome::kComplete : DecodeOutcome::kTruncated;
  return outcome_;
}

bool ContentDecoder::has_trailing_bytes() const {
  return std::ranges::any_of(stages_,
                             [](const auto& stage) { return stage->step->has_trailing_bytes(); });
}

DecodedContent decode_content(std::string_view bytes, std::string_view content_encoding,
                              DecodeLimits limits) {
  DecodedContent content;
  const ContentCodings codings = parse_content_codings(content_encoding);
  const bool is_gzip = codings.codings.size() == 1 && codings.codings[0] == ContentCoding::kGzip;
  if (is_gzip && inflate_whole(bytes, limits, &content.bytes)) return content;
  ContentDecoder decoder(codings, limits);
  decoder.feed(bytes, &content.bytes);
  content.outcome = decoder.finish();
  content.has_trailing_bytes = decoder.has_trailing_bytes();
  content.reason = decoder.reason();
  return content;
}

}  // namespace meguri::web
