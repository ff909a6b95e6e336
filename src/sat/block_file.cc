#include "sat/block_file.h"

#include <cstring>

#include "base/check.h"
#include "base/hash.h"

namespace meguri::sat {

using base::ErrorCode;

namespace {

struct Header {
  std::uint32_t magic = 0x4b4c4253;
  std::uint32_t kind = 0;
  std::uint32_t bytes = 0;
  std::uint32_t zero = 0;
  std::uint64_t checksum = 0;
};
static_assert(sizeof(Header) == 24);

// Of the kind, the place and the bytes, so that a block cannot be taken for another.
std::uint64_t checksum_of(std::uint32_t kind, std::uint64_t at, std::string_view bytes) {
  return base::hash64(bytes, base::mix64(at * 256 + kind));
}

}  // namespace

base::Result<BlockWriter> BlockWriter::create(env::FileSystem& files, const std::string& path) {
  ASSIGN_OR_RETURN(auto file, files.create(path));
  return BlockWriter(std::move(file));
}

base::Status BlockWriter::append(char kind, std::string_view bytes) {
  CHECK(bytes.size() < 0xffff'ffffU, "a block has less than 4 GiB");
  Header header;
  header.kind = static_cast<std::uint8_t>(kind);
  header.bytes = static_cast<std::uint32_t>(bytes.size());
  header.checksum = checksum_of(header.kind, file_->size(), bytes);
  block_.assign(reinterpret_cast<const char*>(&header), sizeof header);
  block_.append(bytes);
  return file_->append(block_);
}

base::Result<BlockReader> BlockReader::open(env::FileSystem& files, const std::string& path) {
  ASSIGN_OR_RETURN(auto file, files.open_read(path));
  return BlockReader(std::move(file), path);
}

base::Result<bool> BlockReader::next(char& kind, std::string_view& bytes) {
  RETURN_IF_ERROR(file_->read_at(at_, sizeof(Header), &bytes_));
  if (bytes_.empty()) return false;
  const auto damaged = [this] {
    return base::fail(ErrorCode::kCorrupt, "{} is damaged at {}", path_, at_);
  };
  Header header;
  if (bytes_.size() != sizeof header) return damaged();
  std::memcpy(&header, bytes_.data(), sizeof header);
  ASSIGN_OR_RETURN(const std::uint64_t size, file_->size());
  if (header.magic != Header().magic || header.kind > 255 || header.zero != 0 ||
      header.bytes > size - at_) {
    return damaged();
  }
  RETURN_IF_ERROR(file_->read_at(at_ + sizeof header, header.bytes, &bytes_));
  if (bytes_.size() != header.bytes || header.checksum != checksum_of(header.kind, at_, bytes_)) {
    return damaged();
  }
  at_ += sizeof header + header.bytes;
  kind = static_cast<char>(header.kind);
  bytes = bytes_;
  return true;
}

}  // namespace meguri::sat
