// SpooledBytes: bytes that are in memory while they are few, and in a temporary file when they are
// many. Made by a SpoolWriter (env/spool.h), or of a string.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "env/file_system.h"

namespace meguri::env {

// How many bytes of a spool's values there are now. Thread-safe.
struct SpoolAccount {
  std::atomic<std::uint64_t> memory_bytes = 0;
  std::atomic<std::uint64_t> disk_bytes = 0;
};

// A value: copies share what it holds, which never changes; so it may be copied from thread to
// thread, and costs a count. What it holds is given back with the last copy. The file system
// outlives all of them.
class SpooledBytes {
 public:
  static constexpr std::size_t kPieceBytes = std::size_t{256} << 10U;

  SpooledBytes() = default;
  // In memory, however many, and of no account. Implicit: a string is such a value.
  SpooledBytes(std::string bytes);  // NOLINT(google-explicit-constructor)

  std::uint64_t size() const { return content_ == nullptr ? 0 : content_->size; }
  bool empty() const { return size() == 0; }
  bool is_on_disk() const { return content_ != nullptr && content_->file != nullptr; }

  // Requires that they are not on disk. The view lives as long as a copy of this.
  std::string_view memory() const;

  // Up to `length` bytes at `offset` into `*out` (replaced); fewer only at the end.
  base::Status read_at(std::uint64_t offset, std::size_t length, std::string* out) const;
  // The first `bytes_max` of them, or all.
  base::Result<std::string> read(std::uint64_t bytes_max) const;

  // Calls `take` (base::Status of a std::string_view) for all of them in order: at once if they are
  // in memory, else piece by piece. Ends with its first error.
  template <typename Take>
  base::Status for_each_piece(const Take& take) const;

  // Whether these are the bytes; false too if they cannot be read.
  friend bool operator==(const SpooledBytes& bytes, std::string_view text) {
    return bytes.equals(text);
  }

 private:
  friend class SpoolWriter;

  struct Content {
    Content() = default;
    Content(const Content&) = delete;
    Content& operator=(const Content&) = delete;
    ~Content();

    std::string bytes;
    std::unique_ptr<TemporaryFile> file;  // null: all is in `bytes`
    std::uint64_t size = 0;
    std::shared_ptr<SpoolAccount> account;  // shared by all values of a spool; null: none
  };

  explicit SpooledBytes(std::shared_ptr<const Content> content) : content_(std::move(content)) {}
  bool equals(std::string_view text) const;

  std::shared_ptr<const Content> content_;  // shared by copies; null: no bytes
};

template <typename Take>
base::Status SpooledBytes::for_each_piece(const Take& take) const {
  if (!is_on_disk()) return empty() ? base::Status() : take(memory());
  std::string piece;
  for (std::uint64_t offset = 0; offset < size(); offset += piece.size()) {
    const std::uint64_t length = std::min<std::uint64_t>(kPieceBytes, size() - offset);
    RETURN_IF_ERROR(read_at(offset, length, &piece));
    if (piece.size() != length) {
      return base::fail(base::ErrorCode::kCorrupt, "a temporary file ends after {} of {} bytes",
                        offset + piece.size(), size());
    }
    RETURN_IF_ERROR(take(std::string_view(piece)));
  }
  return {};
}

}  // namespace meguri::env
