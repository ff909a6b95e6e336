#include "web/decode_step.h"

#include <brotli/decode.h>
#include <zlib.h>
#include <zstd.h>
#include <zstd_errors.h>

#include <algorithm>
#include <limits>
#include <string>

#include "base/check.h"

namespace meguri::web {

namespace {

using Status = DecodeStep::Status;

// zlib counts in 32 bits.
constexpr std::size_t kPieceMax = std::size_t{1} << 30U;

// Small, because what brotli has decoded since the piece began is lost when the piece is corrupt.
constexpr std::size_t kBrotliPieceMax = 4096;

class IdentityStep final : public DecodeStep {
 public:
  Status decode(std::string_view* in, std::span<char> out, std::size_t* written) override {
    *written = in->copy(out.data(), out.size());
    in->remove_prefix(*written);
    return Status::kOk;
  }
  bool may_end() const override { return true; }
};

// For codings whose streams may follow each other: collects the first bytes of each, which tell
// another stream from trailing bytes. Invariant: prefix_ is shorter than the magic, unless the
// decision was just made.
class MagicGate {
 public:
  enum class Verdict : std::uint8_t { kMore, kStream, kOther };

  // `matches(prefix)` says whether bytes may begin a stream. Takes from *in.
  template <typename Matches>
  Verdict take(std::string_view* in, std::size_t magic_size, Matches matches) {
    while (!in->empty() && prefix_.size() < magic_size) {
      prefix_ += in->front();
      in->remove_prefix(1);
      if (!matches(std::string_view(prefix_))) return Verdict::kOther;
    }
    return prefix_.size() < magic_size ? Verdict::kMore : Verdict::kStream;
  }

  const std::string& prefix() const { return prefix_; }
  bool empty() const { return prefix_.empty(); }
  void clear() { prefix_.clear(); }

 private:
  std::string prefix_;
};

class InflateStep final : public DecodeStep {
 public:
  explicit InflateStep(ContentCoding coding) : is_gzip_(coding == ContentCoding::kGzip) {}
  ~InflateStep() override {
    if (is_open_) inflateEnd(&stream_);
  }

  Status decode(std::string_view* in, std::span<char> out, std::size_t* written) override {
    *written = 0;
    if (is_over_) {
      if (!in->empty()) has_trailing_bytes_ = true;
      in->remove_prefix(in->size());
      return Status::kOk;
    }
    if (!in_stream_ && !begin(in)) return is_over_ ? Status::kOk : begin_status_;
    // The bytes that were looked at belong to the stream and go first.
    if (prefix_sent_ < gate_.prefix().size()) {
      std::string_view prefix = std::string_view(gate_.prefix()).substr(prefix_sent_);
      const std::size_t before = prefix.size();
      const Status status = run(&prefix, out, written);
      prefix_sent_ += before - prefix.size();
      return status;
    }
    return run(in, out, written);
  }

  bool may_end() const override {
    return is_over_ || (!in_stream_ && (has_ended_once_ || gate_.empty()));
  }
  // A part of a magic behind a whole member is nothing either.
  bool has_trailing_bytes() const override {
    return has_trailing_bytes_ || (has_ended_once_ && !in_stream_ && !gate_.empty());
  }

 private:
  // Decides from the first bytes what follows. False: nothing does, or more input is needed.
  bool begin(std::string_view* in) {
    const auto verdict = is_gzip_
                             ? gate_.take(in, 2,
                                          [](std::string_view prefix) {
                                            return std::string_view("\x1f\x8b").starts_with(prefix);
                                          })
                             : gate_.take(in, 2, [](std::string_view) { return true; });
    if (verdict == MagicGate::Verdict::kMore) return false;
    if (verdict == MagicGate::Verdict::kOther) {
      is_over_ = has_trailing_bytes_ = has_ended_once_;
      begin_status_ = Status::kCorrupt;
      return false;
    }
    open();
    in_stream_ = true;
    return true;
  }

  void open() {
    prefix_sent_ = 0;
    if (is_open_) {
      CHECK(inflateReset(&stream_) == Z_OK);
      return;
    }
    int window_bits = MAX_WBITS + 16;
    if (!is_gzip_) window_bits = has_zlib_header() ? MAX_WBITS : -MAX_WBITS;
    CHECK(inflateInit2(&stream_, window_bits) == Z_OK, "no memory");
    is_open_ = true;
  }

  // "deflate" should mean the zlib format; many servers send what is inside it.
  bool has_zlib_header() const {
    const auto first = static_cast<unsigned char>(gate_.prefix()[0]);
    const auto second = static_cast<unsigned char>(gate_.prefix()[1]);
    return (first & 0x0FU) == 8 && (first >> 4U) <= 7 && (first * 256U + second) % 31 == 0;
  }

  Status run(std::string_view* in, std::span<char> out, std::size_t* written) {
    const std::size_t size = std::min(in->size(), kPieceMax);
    // zlib does not write to its input.
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(in->data()));
    stream_.avail_in = static_cast<uInt>(size);
    stream_.next_out = reinterpret_cast<Bytef*>(out.data());
    stream_.avail_out = static_cast<uInt>(std::min(out.size(), kPieceMax));
    const uInt room = stream_.avail_out;
    const int result = inflate(&stream_, Z_NO_FLUSH);
    in->remove_prefix(size - stream_.avail_in);
    *written = room - stream_.avail_out;
    if (result == Z_STREAM_END) {
      in_stream_ = false;
      has_ended_once_ = true;
      is_over_ = !is_gzip_;
      // What of the looked-at bytes was not used follows the end of the stream.
      if (is_over_ && prefix_sent_ + (size - stream_.avail_in) < gate_.prefix().size()) {
        has_trailing_bytes_ = true;
      }
      gate_.clear();
      prefix_sent_ = 0;
      return Status::kOk;
    }
    if (result == Z_NEED_DICT) return Status::kUnsupported;
    return result == Z_OK || result == Z_BUF_ERROR ? Status::kOk : Status::kCorrupt;
  }

  const bool is_gzip_;
  z_stream stream_ = {};
  MagicGate gate_;
  std::size_t prefix_sent_ = 0;
  Status begin_status_ = Status::kOk;
  bool is_open_ = false;         // stream_ was initialised
  bool in_stream_ = false;       // between the first bytes and the end of a stream
  bool has_ended_once_ = false;  // a whole stream came
  bool is_over_ = false;         // no further stream is read
  bool has_trailing_bytes_ = false;
};

class BrotliStep final : public DecodeStep {
 public:
  BrotliStep() : state_(BrotliDecoderCreateInstance(nullptr, nullptr, nullptr)) {
    CHECK(state_ != nullptr, "no memory");
  }
  ~BrotliStep() override { BrotliDecoderDestroyInstance(state_); }

  Status decode(std::string_view* in, std::span<char> out, std::size_t* written) override {
    *written = 0;
    if (is_over_) {
      if (!in->empty()) has_trailing_bytes_ = true;
      in->remove_prefix(in->size());
      return Status::kOk;
    }
    if (!in->empty()) has_begun_ = true;
    const std::size_t size = std::min(in->size(), kBrotliPieceMax);
    std::size_t in_left = size;
    std::size_t out_left = out.size();
    const auto* next_in = reinterpret_cast<const std::uint8_t*>(in->data());
    auto* next_out = reinterpret_cast<std::uint8_t*>(out.data());
    const auto result =
        BrotliDecoderDecompressStream(state_, &in_left, &next_in, &out_left, &next_out, nullptr);
    in->remove_prefix(size - in_left);
    *written = out.size() - out_left;
    is_over_ = result == BROTLI_DECODER_RESULT_SUCCESS;
    return result == BROTLI_DECODER_RESULT_ERROR ? Status::kCorrupt : Status::kOk;
  }

  bool may_end() const override { return is_over_ || !has_begun_; }
  bool has_trailing_bytes() const override { return has_trailing_bytes_; }

 private:
  BrotliDecoderState* const state_;
  bool has_begun_ = false;
  bool is_over_ = false;
  bool has_trailing_bytes_ = false;
};

class ZstdStep final : public DecodeStep {
 public:
  ZstdStep() : context_(ZSTD_createDCtx()) {
    CHECK(context_ != nullptr, "no memory");
    CHECK(ZSTD_isError(ZSTD_DCtx_setParameter(context_, ZSTD_d_windowLogMax, kZstdWindowLogMax)) ==
          0);
  }
  ~ZstdStep() override { ZSTD_freeDCtx(context_); }

  Status decode(std::string_view* in, std::span<char> out, std::size_t* written) override {
    *written = 0;
    if (is_over_) {
      if (!in->empty()) has_trailing_bytes_ = true;
      in->remove_prefix(in->size());
      return Status::kOk;
    }
    if (!in_frame_) {
      const auto verdict = gate_.take(in, 4, may_be_magic);
      if (verdict == MagicGate::Verdict::kMore) return Status::kOk;
      if (verdict == MagicGate::Verdict::kOther) {
        is_over_ = has_trailing_bytes_ = has_ended_once_;
        return is_over_ ? Status::kOk : Status::kCorrupt;
      }
      in_frame_ = true;
      std::string_view prefix = gate_.prefix();
      return run(&prefix, out, written);  // zstd takes a whole magic without writing
    }
    return run(in, out, written);
  }

  bool may_end() const override {
    return is_over_ || (!in_frame_ && (has_ended_once_ || gate_.empty()));
  }
  bool has_trailing_bytes() const override {
    return has_trailing_bytes_ || (has_ended_once_ && !in_frame_ && !gate_.empty());
  }

 private:
  // Of a frame, or of a skippable one, whose first byte has sixteen values.
  static bool may_be_magic(std::string_view prefix) {
    if (std::string_view("\x28\xB5\x2F\xFD").starts_with(prefix)) return true;
    return (static_cast<unsigned char>(prefix[0]) & 0xF0U) == 0x50 &&
           std::string_view("\x2A\x4D\x18").starts_with(prefix.substr(1));
  }

  Status run(std::string_view* in, std::span<char> out, std::size_t* written) {
    ZSTD_inBuffer input = {in->data(), in->size(), 0};
    ZSTD_outBuffer output = {out.data(), out.size(), 0};
    const std::size_t result = ZSTD_decompressStream(context_, &output, &input);
    *written = output.pos;
    if (ZSTD_isError(result) != 0) {
      const ZSTD_ErrorCode code = ZSTD_getErrorCode(result);
      return code == ZSTD_error_frameParameter_windowTooLarge || code == ZSTD_error_dictionary_wrong
                 ? Status::kUnsupported
                 : Status::kCorrupt;
    }
    in->remove_prefix(input.pos);
    if (result == 0) {
      in_frame_ = false;
      has_ended_once_ = true;
      gate_.clear();
    }
    return Status::kOk;
  }

  ZSTD_DCtx* const context_;
  MagicGate gate_;
  bool in_frame_ = false;
  bool has_ended_once_ = false;
  bool is_over_ = false;
  bool has_trailing_bytes_ = false;
};

}  // namespace

std::unique_ptr<DecodeStep> DecodeStep::make(ContentCoding coding) {
  switch (coding) {
    case ContentCoding::kIdentity: return std::make_unique<IdentityStep>();
    case ContentCoding::kGzip:
    case ContentCoding::kDeflate: return std::make_unique<InflateStep>(coding);
    case ContentCoding::kBrotli: return std::make_unique<BrotliStep>();
    case ContentCoding::kZstd: return std::make_unique<ZstdStep>();
  }
  CHECK(false, "no such coding");
  return nullptr;
}

}  // namespace meguri::web
