#include "archive/gzip_writer.h"

#include <isa-l.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <new>

#include "archive/member_head.h"
#include "base/bytes.h"
#include "base/check.h"

namespace meguri::archive {
namespace {

constexpr std::uint32_t kLevel = 1;
constexpr std::size_t kPieceBytesMax = std::size_t{1} << 30U;  // ISA-L counts in 32 bits
constexpr std::size_t kStoredBytesMax = 0xffff;                // of one block, by the format

// Before a body of this size compression is flushed. That takes 3 us, and makes files smaller:
// heads and bodies have codes of their own.
constexpr std::size_t kLargeBodyBytes = std::size_t{4} << 10U;

constexpr std::size_t kSamples = 4;
constexpr std::size_t kSampleBytes = 256;

using ByteCounts = std::array<std::uint32_t, 256>;

std::uint64_t sample_offset(std::size_t sample, std::uint64_t bytes) {
  return sample * ((bytes - kSampleBytes) / (kSamples - 1));
}

void count_bytes(std::string_view bytes, ByteCounts& counts) {
  for (const char c : bytes) ++counts[static_cast<unsigned char>(c)];
}

bool has_few_pairs(const ByteCounts& counts) {
  constexpr std::uint32_t kPairsMax = 8'000;
  std::uint32_t pairs = 0;
  for (const std::uint32_t count : counts) pairs += count * count;
  return pairs < kPairsMax;
}

// As looks_packed().
base::Result<bool> body_looks_packed(const env::SpooledBytes& bytes) {
  if (bytes.size() < kSamples * kSampleBytes) return false;
  ByteCounts counts{};
  std::string sample;
  for (std::size_t i = 0; i < kSamples; ++i) {
    RETURN_IF_ERROR(bytes.read_at(sample_offset(i, bytes.size()), kSampleBytes, &sample));
    count_bytes(sample, counts);
  }
  return has_few_pairs(counts);
}

std::uint8_t* bytes_of(std::string_view text) {
  return const_cast<std::uint8_t*>(reinterpret_cast<const std::uint8_t*>(text.data()));
}

// ISA-L 2.30 remembers where four bytes were seen last by a hash of them, but for the third
// position of a stream it takes bits 16 to 47 of the stream's own address instead of the text (in
// igzip_icf_body_h1_gr_bt.asm, .write_first_byte does not set tmp2). Where that hash is one of the
// first three positions', matches are found or missed that a stream elsewhere misses or finds, so
// that equal input makes other bytes about every 3,000th time. Such a stream is moved.
constexpr std::size_t kStartBytes = 6;
constexpr std::size_t kPlaceBytes = std::size_t{1} << 16U;
constexpr std::size_t kPlaces = 8;
constexpr std::size_t kRoomBytes = (kPlaces - 1) * kPlaceBytes + sizeof(isal_zstream);
static_assert(alignof(isal_zstream) <= __STDCPP_DEFAULT_NEW_ALIGNMENT__);

std::uint32_t hash_of(const void* four_bytes) {
  constexpr std::uint32_t kHashMask = IGZIP_LVL1_HASH_SIZE - 1;
  return crc32_iscsi(static_cast<std::uint8_t*>(const_cast<void*>(four_bytes)), 4, 0) & kHashMask;
}

bool is_taken_for_text(const isal_zstream* stream, std::string_view start) {
  const auto address = static_cast<std::uint32_t>(std::bit_cast<std::uintptr_t>(stream) >> 16U);
  const std::uint32_t hash = hash_of(&address);
  for (; start.size() >= sizeof address; start.remove_prefix(1)) {
    if (hash_of(start.data()) == hash) return true;
  }
  return false;
}

}  // namespace

// Of n random bytes n * n / 256 pairs are equal, besides each with itself: 5,120 of 1,024. Base64
// has 17,400, text more.
bool looks_packed(std::string_view bytes) {
  if (bytes.size() < kSamples * kSampleBytes) return false;
  ByteCounts counts{};
  for (std::size_t i = 0; i < kSamples; ++i) {
    count_bytes(bytes.substr(sample_offset(i, bytes.size()), kSampleBytes), counts);
  }
  return has_few_pairs(counts);
}

GzipWriter::GzipWriter()
    : room_(std::make_unique_for_overwrite<std::byte[]>(kRoomBytes)),
      stream_(new(room_.get()) isal_zstream()),
      level_(ISAL_DEF_LVL1_DEFAULT) {}

GzipWriter::~GzipWriter() = default;

// `start`: the first kStartBytes of the member, or all of it.
void GzipWriter::begin_member(std::string_view start) {
  for (std::size_t place = 0; place < kPlaces && is_taken_for_text(stream_, start); ++place) {
    stream_ = new (room_.get() + place * kPlaceBytes) isal_zstream();
  }
  isal_deflate_init(stream_);
  stream_->level = kLevel;
  stream_->level_buf = level_.data();
  stream_->level_buf_size = static_cast<std::uint32_t>(level_.size());
  stream_->gzip_flag = IGZIP_DEFLATE;
}

void GzipWriter::end_member(std::uint32_t sum, std::uint64_t bytes) {
  base::put_fixed(member_, sum);
  base::put_fixed(member_, static_cast<std::uint32_t>(bytes));
}

void GzipWriter::append_member(std::string_view front, std::string_view body, std::string_view end,
                               std::string* out, Content content) {
  std::string start(front.substr(0, kStartBytes));
  for (const std::string_view part : {body, end}) {
    start += part.substr(0, kStartBytes - start.size());
  }
  member_.clear();
  begin_told_member(content == Content::kRequest, &member_);
  begin_member(start);
  if (looks_packed(body)) {
    deflate(front, Then::kBytes);
    store(body, Then::kMore);
    store(end, Then::kEnd);
  } else {
    const bool is_flushed = body.size() >= kLargeBodyBytes && front.size() >= kStartBytes;
    deflate(front, is_flushed ? Then::kBytes : Then::kMore);
    deflate(body, Then::kMore);
    deflate(end, Then::kEnd);
  }
  std::uint32_t sum = 0;
  for (const std::string_view part : {front, body, end}) {
    sum = crc32_gzip_refl(sum, bytes_of(part), part.size());
  }
  const std::uint64_t bytes = front.size() + body.size() + end.size();
  end_member(sum, bytes);
  tell_lengths(bytes, &member_);
  out->append(member_);
  if (member_.capacity() > kKeptBytesMax) member_ = {};
}

base::Status GzipWriter::append_member(std::string_view front, const env::SpooledBytes& body,
                                       std::string_view end, env::SpoolWriter* out) {
  ASSIGN_OR_RETURN(const bool is_packed, body_looks_packed(body));
  std::uint32_t sum = 0;
  const auto add = [&](std::string_view bytes) {
    sum = crc32_gzip_refl(sum, bytes_of(bytes), bytes.size());
  };
  std::string start(front.substr(0, kStartBytes));
  if (start.size() < kStartBytes) {
    std::string rest;
    RETURN_IF_ERROR(body.read_at(0, kStartBytes - start.size(), &rest));
    start += rest;
  }
  member_ = kGzipMemberHead;
  begin_member(start);
  add(front);
  const bool is_flushed = is_packed || front.size() >= kStartBytes;
  deflate(front, is_flushed ? Then::kBytes : Then::kMore);
  RETURN_IF_ERROR(body.for_each_piece([&](std::string_view piece) {
    add(piece);
    if (is_packed) {
      store(piece, Then::kMore);
    } else {
      deflate(piece, Then::kMore);
    }
    return pass_on(out);
  }));
  add(end);
  if (is_packed) {
    store(end, Then::kEnd);
  } else {
    deflate(end, Then::kEnd);
  }
  end_member(sum, front.size() + body.size() + end.size());
  return pass_on(out);
}

base::Status GzipWriter::pass_on(env::SpoolWriter* out) {
  auto status = out->append(member_);
  member_.clear();
  return status;
}

void GzipWriter::deflate(std::string_view bytes, Then then) {
  do {
    const std::string_view piece = bytes.substr(0, kPieceBytesMax);
    bytes.remove_prefix(piece.size());
    const bool is_last = bytes.empty();
    stream_->next_in = bytes_of(piece);
    stream_->avail_in = static_cast<std::uint32_t>(piece.size());
    stream_->end_of_stream = is_last && then == Then::kEnd ? 1 : 0;
    stream_->flush = is_last && then == Then::kBytes ? SYNC_FLUSH : NO_FLUSH;
    do {
      const std::size_t before = member_.size();
      const std::size_t room = piece.size() / 2 + 4096;
      // The string's own size argument is not to be trusted in libstdc++ 12, so `room` is used.
      member_.resize_and_overwrite(before + room, [&](char* data, std::size_t /*unused*/) {
        stream_->next_out = reinterpret_cast<std::uint8_t*>(data) + before;
        stream_->avail_out = static_cast<std::uint32_t>(room);
        const int code = isal_deflate(stream_);
        CHECK(code == COMP_OK, "ISA-L does not compress: {}", code);
        return before + room - stream_->avail_out;
      });
    } while (stream_->avail_out == 0 || stream_->avail_in > 0);
  } while (!bytes.empty());
}

// As blocks that are not compressed; what comes before ends with a byte.
void GzipWriter::store(std::string_view bytes, Then then) {
  do {
    const std::string_view piece = bytes.substr(0, kStoredBytesMax);
    bytes.remove_prefix(piece.size());
    const auto size = static_cast<std::uint16_t>(piece.size());
    member_ += bytes.empty() && then == Then::kEnd ? '\x01' : '\x00';
    base::put_fixed(member_, size);
    base::put_fixed(member_, static_cast<std::uint16_t>(~size));
    member_.append(piece);
  } while (!bytes.empty());
}

}  // namespace meguri::archive
