#include "archive/member_decoder.h"

#include <isa-l.h>
#include <libdeflate.h>
#include <zlib.h>
#include <zstd.h>

#include <utility>

#include "archive/member_head.h"
#include "base/bytes.h"
#include "base/check.h"

namespace meguri::archive {

namespace {

constexpr std::string_view kGzipStart("\x1f\x8b\x08", 3);
constexpr std::string_view kZstdStart("\x28\xb5\x2f\xfd", 4);
constexpr std::string_view kDictionaryStart("\x5d\x2a\x4d\x18", 4);
constexpr std::string_view kSkippableEnd("\x2a\x4d\x18", 3);  // after a byte of 0x50 to 0x5f
constexpr int kGzipOnly = 15 + 16;  // for zlib: the largest window, a gzip header
constexpr int kNoHeader = -15;
constexpr int kWindowLogMax = 27;
constexpr std::size_t kFrontBytes = 6;  // too few to be a whole frame
// An empty block that is not compressed ends so; and one that is the last and begins a byte.
constexpr std::string_view kFlushEnd("\0\0\xff\xff", 4);
constexpr std::string_view kLastBlock(
    "\1\x08\0\xf7\xff"
    "no match",
    13);
constexpr std::string_view kLastBytes = kLastBlock.substr(5);
constexpr std::size_t kSearchedBytes = std::size_t{4} << 10U;  // in which a flush is looked for
constexpr std::size_t kRunOver = 64;  // libdeflate is fast while it may read so far

bool begins_skippable(std::string_view bytes) {
  return bytes.size() >= 4 && (static_cast<unsigned char>(bytes[0]) & 0xf0U) == 0x50 &&
         bytes.substr(1).starts_with(kSkippableEnd);
}

}  // namespace

MemberCoding coding_at(std::string_view bytes) {
  if (bytes.starts_with(kGzipStart)) return MemberCoding::kGzip;
  if (bytes.starts_with(kZstdStart)) return MemberCoding::kZstd;
  return begins_skippable(bytes) ? MemberCoding::kSkippable : MemberCoding::kNone;
}

bool may_begin_member(std::string_view bytes) {
  return kGzipStart.starts_with(bytes) || kZstdStart.starts_with(bytes) ||
         kDictionaryStart.starts_with(bytes);
}

std::uint64_t skippable_size(std::string_view bytes) {
  if (bytes.size() < kDictionaryHeadBytes) return 0;
  std::uint64_t size = 0;
  for (std::size_t i = kDictionaryHeadBytes; i > 4; --i) {
    size = size << 8U | static_cast<unsigned char>(bytes[i - 1]);
  }
  return size + kDictionaryHeadBytes;
}

bool is_dictionary_frame(std::string_view bytes) { return bytes.starts_with(kDictionaryStart); }

bool is_frame_head(std::string_view bytes) {
  return ZSTD_getFrameContentSize(bytes.data(), bytes.size()) != ZSTD_CONTENTSIZE_ERROR;
}

struct MemberDecoder::Machines {
  z_stream zlib{};
  libdeflate_decompressor* whole = libdeflate_alloc_decompressor();
  ZSTD_DCtx* zstd = nullptr;  // made when it is needed
  bool has_begun = false;     // with the frame
  std::size_t wanted = 0;     // bytes to the end of the block, as it says
  std::string flushed;        // what decode_to_flush() decodes

  Machines() {
    CHECK(whole != nullptr && inflateInit2(&zlib, kGzipOnly) == Z_OK, "no memory to inflate");
  }
  Machines(const Machines&) = delete;
  Machines& operator=(const Machines&) = delete;
  ~Machines() {
    inflateEnd(&zlib);
    libdeflate_free_decompressor(whole);
    ZSTD_freeDCtx(zstd);
  }

  void make_zstd() {
    if (zstd != nullptr) return;
    zstd = ZSTD_createDCtx();
    CHECK(zstd != nullptr, "no memory for zstd");
    CHECK(ZSTD_isError(ZSTD_DCtx_setParameter(zstd, ZSTD_d_windowLogMax, kWindowLogMax)) == 0);
  }

  Step inflate_some(std::string_view bytes, char* out, std::size_t room) {
    // zlib does not write there, but its type does not say so.
    zlib.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
    zlib.avail_in = static_cast<uInt>(bytes.size());
    zlib.next_out = reinterpret_cast<Bytef*>(out);
    zlib.avail_out = static_cast<uInt>(room);
    const int code = inflate(&zlib, Z_NO_FLUSH);
    Step step{.taken = bytes.size() - zlib.avail_in, .made = room - zlib.avail_out};
    if (code == Z_STREAM_END) {
      step.state = State::kEnd;
    } else if (code != Z_OK && code != Z_BUF_ERROR) {
      step.state = State::kBroken;
    }
    return step;
  }

  // A gzip member behind its head, whole.
  Step inflate_plain(std::string_view bytes, std::size_t head, char* out, std::size_t room) {
    const std::string_view data = bytes.substr(head);
    Step step;
    const libdeflate_result result = libdeflate_deflate_decompress_ex(
        whole, data.data(), data.size(), out, room, &step.taken, &step.made);
    if (result != LIBDEFLATE_SUCCESS || step.made == 0) return {};
    std::string_view tail = data.substr(step.taken);
    std::uint32_t sum = 0;
    std::uint32_t size = 0;
    if (!base::take_fixed(tail, sum) || !base::take_fixed(tail, size)) return {};
    const auto* const made = reinterpret_cast<const unsigned char*>(out);
    if (size != static_cast<std::uint32_t>(step.made) ||
        sum != ::crc32_gzip_refl(0, made, step.made)) {
      return {};
    }
    step.taken += head + kGzipTailBytes;
    step.state = State::kEnd;
    return step;
  }

  // A frame that is whole in the input is decoded at once, and gives nothing if it is damaged
  // anywhere: then it is done again in steps.
  Step expand(std::string_view bytes, char* out, std::size_t room) {
    const Step step = expand_some(bytes, out, room);
    if (std::exchange(has_begun, true) || step.state != State::kBroken) return step;
    ZSTD_DCtx_reset(zstd, ZSTD_reset_session_only);
    wanted = kFrontBytes;
    Step sum;
    while (sum.state == State::kMore && sum.taken < bytes.size() && sum.made < room) {
      const Step part =
          expand_some(bytes.substr(sum.taken, wanted), out + sum.made, room - sum.made);
      sum.state = part.state;
      sum.taken += part.taken;
      sum.made += part.made;
      if (part.taken == 0 && part.made == 0) break;
    }
    return sum;
  }

  // Of what breaks, zstd does not say how much it made before.
  Step expand_some(std::string_view bytes, char* out, std::size_t room) {
    ZSTD_inBuffer input{.src = bytes.data(), .size = bytes.size(), .pos = 0};
    ZSTD_outBuffer output{.dst = out, .size = room, .pos = 0};
    const std::size_t code = ZSTD_decompressStream(zstd, &output, &input);
    Step step{.taken = input.pos, .made = output.pos};
    if (ZSTD_isError(code) != 0) {
      step.state = State::kBroken;
    } else if (code == 0) {
      step.state = State::kEnd;
    }
    wanted = code;
    return step;
  }
};

MemberDecoder::MemberDecoder() : machines_(std::make_unique<Machines>()) {}

MemberDecoder::~MemberDecoder() = default;

bool MemberDecoder::set_dictionary(std::string_view content) {
  machines_->make_zstd();
  std::string expanded;
  if (content.starts_with(kZstdStart)) {
    expanded.resize(kDictionaryBytesMax);
    begin(MemberCoding::kZstd);
    const Step step = decode(content, expanded.data(), expanded.size());
    if (step.state != State::kEnd) return false;
    expanded.resize(step.made);
    content = expanded;
  }
  // It is copied.
  return ZSTD_isError(ZSTD_DCtx_reset(machines_->zstd, ZSTD_reset_session_only)) == 0 &&
         ZSTD_isError(ZSTD_DCtx_loadDictionary(machines_->zstd, content.data(), content.size())) ==
             0;
}

void MemberDecoder::forget_dictionary() {
  if (machines_->zstd == nullptr) return;
  CHECK(ZSTD_isError(ZSTD_DCtx_reset(machines_->zstd, ZSTD_reset_session_only)) == 0);
  CHECK(ZSTD_isError(ZSTD_DCtx_loadDictionary(machines_->zstd, nullptr, 0)) == 0);
}

void MemberDecoder::begin(MemberCoding coding) {
  coding_ = coding;
  if (coding == MemberCoding::kZstd) {
    machines_->make_zstd();
    ZSTD_DCtx_reset(machines_->zstd, ZSTD_reset_session_only);
    machines_->has_begun = false;
  } else {
    CHECK(inflateReset2(&machines_->zlib, kGzipOnly) == Z_OK);
  }
}

MemberDecoder::Step MemberDecoder::decode(std::string_view bytes, char* out, std::size_t room) {
  if (coding_ == MemberCoding::kZstd) return machines_->expand(bytes, out, room);
  return machines_->inflate_some(bytes, out, room);
}

MemberDecoder::Step MemberDecoder::decode_whole(std::string_view bytes, char* out,
                                                std::size_t room) {
  if (!bytes.starts_with(kGzipStart)) return {};
  // Nearly all heads have no names; then the sum is ours to make, twice as fast.
  if (const std::size_t head = plain_head_size(bytes); head > 0) {
    return machines_->inflate_plain(bytes, head, out, room);
  }
  Step step;
  const libdeflate_result result = libdeflate_gzip_decompress_ex(
      machines_->whole, bytes.data(), bytes.size(), out, room, &step.taken, &step.made);
  if (result != LIBDEFLATE_SUCCESS || step.made == 0) return {};
  step.state = State::kEnd;
  return step;
}

std::size_t MemberDecoder::decode_to_flush(std::string_view bytes, char* out, std::size_t room) {
  const std::size_t head = plain_head_size(bytes);
  if (head == 0) return 0;
  const std::string_view data = bytes.substr(head, kSearchedBytes);
  const std::size_t mark = data.find(kFlushEnd);
  if (mark == std::string_view::npos) return 0;
  // Behind a flush a byte begins, and with a last block of ours what came before is all there is.
  // What only looks like a flush has something else behind it.
  std::string& flushed = machines_->flushed;
  flushed.assign(data.substr(0, mark + kFlushEnd.size())).append(kLastBlock).append(kRunOver, '\0');
  std::size_t taken = 0;
  std::size_t made = 0;
  const libdeflate_result result = libdeflate_deflate_decompress_ex(
      machines_->whole, flushed.data(), flushed.size(), out, room, &taken, &made);
  const bool is_all = result == LIBDEFLATE_SUCCESS && taken + kRunOver == flushed.size() &&
                      std::string_view(out, made).ends_with(kLastBytes);
  return is_all ? made - kLastBytes.size() : 0;
}

bool MemberDecoder::decode_front(std::string_view bytes, char* out, std::size_t size) {
  const std::size_t head = plain_head_size(bytes);
  if (head == 0) return false;
  CHECK(inflateReset2(&machines_->zlib, kNoHeader) == Z_OK);
  return machines_->inflate_some(bytes.substr(head), out, size).made == size;
}

std::string MemberDecoder::front_of(std::string_view bytes, std::size_t size) {
  std::string text(size, '\0');
  begin(coding_at(bytes));
  std::size_t made = 0;
  while (made < size) {
    const Step step = decode(bytes, text.data() + made, size - made);
    bytes.remove_prefix(step.taken);
    made += step.made;
    if (step.state != State::kMore || (step.taken == 0 && step.made == 0)) break;
  }
  text.resize(made);
  return text;
}

}  // namespace meguri::archive
