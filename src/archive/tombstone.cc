#include "archive/tombstone.h"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <cstddef>

#include "archive/member_head.h"
#include "base/bytes.h"

namespace meguri::archive {

namespace {

constexpr std::string_view kField = "X-Meguri-Removed";
constexpr std::string_view kRecordEnd = "\r\n\r\n";
constexpr std::string_view kZstdMagic = "\x28\xb5\x2f\xfd";
constexpr std::string_view kSkippableMagic = "\x50\x2a\x4d\x18";
constexpr std::uint64_t kGzipFrameBytes = 10 + 8;  // before and behind what is deflated
constexpr std::uint64_t kStoredHeadBytes = 5;
constexpr std::uint64_t kStoredBytesMax = 0xffff;
constexpr std::size_t kPieceBytes = std::size_t{64} << 10U;

base::Status too_short(std::uint64_t length) {
  return base::fail(base::ErrorCode::kUnsupported,
                    "{} bytes are too few for what would stand in their place", length);
}

// The length of the block has a fixed number of digits, so that every length can be had.
std::string head_of(const Tombstone& tombstone, bool has_type, std::uint64_t block_bytes) {
  return fmt::format(
      "WARC/1.1\r\nWARC-Type: metadata\r\nWARC-Record-ID: {}\r\nWARC-Date: {}\r\n{}: {}\r\n{}"
      "Content-Length: {:012}\r\n\r\n",
      tombstone.id.to_string(), tombstone.date.to_rfc3339(), kField, tombstone.records,
      has_type ? "Content-Type: application/warc-fields\r\n" : "", block_bytes);
}

// A record of `length` bytes; the last field is left out where there is no room for it.
base::Status write_plain(const Tombstone& tombstone, std::uint64_t length, const TakeBytes& take) {
  for (const bool has_type : {true, false}) {
    const std::uint64_t around = head_of(tombstone, has_type, 0).size() + kRecordEnd.size();
    if (around > length) continue;
    std::uint64_t left = length - around;
    RETURN_IF_ERROR(take(head_of(tombstone, has_type, left)));
    const std::string blanks(kPieceBytes, ' ');
    while (left > 0) {
      const std::uint64_t piece = std::min<std::uint64_t>(left, kPieceBytes);
      RETURN_IF_ERROR(take(std::string_view(blanks).substr(0, static_cast<std::size_t>(piece))));
      left -= piece;
    }
    return take(kRecordEnd);
  }
  return too_short(length);
}

// Packs what it is given into so many stored blocks, of which the last may be empty.
class StoredBlocks {
 public:
  StoredBlocks(std::uint64_t bytes, std::uint64_t blocks, const TakeBytes& take)
      : left_(bytes), blocks_(blocks), take_(take) {}

  base::Status add(std::string_view bytes) {
    sum_ = static_cast<std::uint32_t>(
        ::crc32_z(sum_, reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size()));
    size_ += bytes.size();
    while (!bytes.empty()) {
      if (block_left_ == 0) RETURN_IF_ERROR(begin_block());
      const std::string_view piece = bytes.substr(
          0, static_cast<std::size_t>(std::min<std::uint64_t>(block_left_, bytes.size())));
      RETURN_IF_ERROR(take_(piece));
      block_left_ -= piece.size();
      bytes.remove_prefix(piece.size());
    }
    return {};
  }

  base::Status end() {
    while (blocks_ > 0) RETURN_IF_ERROR(begin_block());
    std::string end;
    base::put_fixed(end, sum_);
    base::put_fixed(end, static_cast<std::uint32_t>(size_));
    return take_(end);
  }

 private:
  base::Status begin_block() {
    block_left_ = std::min(left_, kStoredBytesMax);
    left_ -= block_left_;
    --blocks_;
    std::string head(1, blocks_ == 0 ? '\x01' : '\x00');
    const auto size = static_cast<std::uint16_t>(block_left_);
    base::put_fixed(head, size);
    base::put_fixed(head, static_cast<std::uint16_t>(~size));
    return take_(head);
  }

  std::uint64_t left_;    // in blocks that were not begun
  std::uint64_t blocks_;  // of these
  std::uint64_t block_left_ = 0;
  std::uint64_t size_ = 0;
  std::uint32_t sum_ = 0;
  const TakeBytes& take_;
};

base::Status write_gzip(const Tombstone& tombstone, std::uint64_t length, const TakeBytes& take) {
  if (length <= kGzipFrameBytes) return too_short(length);
  const std::uint64_t deflated = length - kGzipFrameBytes;
  const std::uint64_t block_max = kStoredBytesMax + kStoredHeadBytes;
  const std::uint64_t blocks = (deflated + block_max - 1) / block_max;
  if (deflated <= blocks * kStoredHeadBytes) return too_short(length);
  const std::uint64_t bytes = deflated - blocks * kStoredHeadBytes;
  StoredBlocks stored(bytes, blocks, take);
  RETURN_IF_ERROR(take(kGzipMemberHead));
  RETURN_IF_ERROR(
      write_plain(tombstone, bytes, [&](std::string_view piece) { return stored.add(piece); }));
  return stored.end();
}

base::Status write_zstd(std::uint64_t length, const TakeBytes& take) {
  constexpr std::uint64_t kHeadBytes = 8;
  constexpr std::uint64_t kFrameBytesMax = std::uint64_t{1} << 30U;
  const std::string blanks(kPieceBytes, '\0');
  while (length > 0) {
    if (length < kHeadBytes) return too_short(length);
    // No frame leaves less than the head of another.
    std::uint64_t frame = std::min(length, kFrameBytesMax);
    if (length - frame > 0 && length - frame < kHeadBytes) frame -= kHeadBytes;
    std::string head(kSkippableMagic);
    base::put_fixed(head, static_cast<std::uint32_t>(frame - kHeadBytes));
    RETURN_IF_ERROR(take(head));
    for (std::uint64_t left = frame - kHeadBytes; left > 0;) {
      const std::uint64_t piece = std::min<std::uint64_t>(left, kPieceBytes);
      RETURN_IF_ERROR(take(std::string_view(blanks).substr(0, static_cast<std::size_t>(piece))));
      left -= piece;
    }
    length -= frame;
  }
  return {};
}

}  // namespace

RecordCoding coding_of(std::string_view bytes) {
  if (bytes.starts_with(kGzipMemberHead.substr(0, 2))) return RecordCoding::kGzip;
  return bytes.starts_with(kZstdMagic) ? RecordCoding::kZstd : RecordCoding::kPlain;
}

base::Status write_tombstone(const Tombstone& tombstone, RecordCoding coding, std::uint64_t length,
                             const TakeBytes& take) {
  switch (coding) {
    case RecordCoding::kPlain: return write_plain(tombstone, length, take);
    case RecordCoding::kGzip: return write_gzip(tombstone, length, take);
    case RecordCoding::kZstd: return write_zstd(length, take);
  }
  return write_plain(tombstone, length, take);
}

bool is_tombstone(const WarcRecord& record) { return record.fields.has(kField); }

}  // namespace meguri::archive
