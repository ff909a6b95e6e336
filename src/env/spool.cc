#include "env/spool.h"

#include <algorithm>
#include <utility>

namespace meguri::env {

using base::ErrorCode;

base::Status Spool::open() {
  if (fs_ == nullptr) return {};
  RETURN_IF_ERROR(fs_->make_dirs(dir_));
  ASSIGN_OR_RETURN(const auto names, fs_->list(dir_));
  for (const std::string& name : names) RETURN_IF_ERROR(fs_->remove(dir_ + "/" + name));
  return {};
}

bool Spool::fits_memory(std::uint64_t value_bytes, std::uint64_t more) const {
  if (value_bytes + more > limits_.value_memory_max) return false;
  return value_bytes + more <= kSmallBytes || memory_bytes() + more <= limits_.memory_max;
}

base::Result<std::unique_ptr<TemporaryFile>> Spool::open_file() const {
  RETURN_IF_ERROR(check_disk());
  return fs_->open_temporary(dir_);
}

base::Status Spool::check_disk() const {
  if (limits_.disk_free_min == 0) return {};
  ASSIGN_OR_RETURN(const std::uint64_t free_bytes, fs_->free_space(dir_));
  if (free_bytes >= limits_.disk_free_min) return {};
  return base::fail(ErrorCode::kNoSpace,
                    "the disk of {} has {} bytes left, of which {} are kept free", dir_, free_bytes,
                    limits_.disk_free_min);
}

void SpoolWriter::expect(std::uint64_t bytes) {
  expected_ = bytes;
  const std::uint64_t most = spool_ == nullptr ? bytes : spool_->limits_.value_memory_max;
  constexpr std::uint64_t kReserveBytesMax = std::uint64_t{1} << 20U;
  if (bytes <= most) memory_.reserve(std::min(bytes, kReserveBytesMax));
}

base::Status SpoolWriter::append(std::string_view bytes) {
  if (file_ != nullptr) return append_to_disk(bytes);
  const bool stays = spool_ == nullptr || (expected_ <= spool_->limits_.value_memory_max &&
                                           spool_->fits_memory(size_, bytes.size()));
  if (!stays) {
    const auto moved = move_to_disk();
    if (moved) return append_to_disk(bytes);
    // It may be that only others take too much memory.
    if (size_ + bytes.size() > spool_->limits_.value_memory_max) {
      clear();
      return moved;
    }
  }
  memory_.append(bytes);
  size_ += bytes.size();
  account(static_cast<std::int64_t>(bytes.size()), 0);
  return {};
}

base::Status SpoolWriter::move_to_disk() {
  ASSIGN_OR_RETURN(auto file, spool_->open_file());
  RETURN_IF_ERROR(file->append(memory_));
  file_ = std::move(file);
  memory_ = {};
  looked_at_ = size_;
  account(-static_cast<std::int64_t>(size_), static_cast<std::int64_t>(size_));
  return {};
}

base::Status SpoolWriter::append_to_disk(std::string_view bytes) {
  base::Status status;
  if (size_ + bytes.size() - looked_at_ > Spool::kLookBytes) {
    looked_at_ = size_;
    status = spool_->check_disk();
  }
  if (status) status = file_->append(bytes);
  if (!status) {
    clear();
    return status;
  }
  size_ += bytes.size();
  account(0, static_cast<std::int64_t>(bytes.size()));
  return {};
}

SpooledBytes SpoolWriter::keep(std::string bytes) {
  clear();
  memory_ = std::move(bytes);
  size_ = memory_.size();
  account(static_cast<std::int64_t>(size_), 0);
  return finish();
}

SpooledBytes SpoolWriter::finish() {
  expected_ = 0;
  if (size_ == 0) {
    clear();
    return {};
  }
  auto content = std::make_shared<SpooledBytes::Content>();
  content->bytes = std::exchange(memory_, {});
  content->file = std::move(file_);
  content->size = std::exchange(size_, 0);
  if (spool_ != nullptr) content->account = spool_->account_;
  return SpooledBytes(std::move(content));
}

void SpoolWriter::clear() {
  const auto bytes = static_cast<std::int64_t>(size_);
  account(file_ == nullptr ? -bytes : 0, file_ == nullptr ? 0 : -bytes);
  memory_ = {};
  file_.reset();
  size_ = 0;
  expected_ = 0;
}

void SpoolWriter::account(std::int64_t memory, std::int64_t disk) const {
  if (spool_ == nullptr) return;
  // Unsigned numbers come round, so that adding less than nothing takes away.
  constexpr auto kOrder = std::memory_order_relaxed;
  if (memory != 0) {
    spool_->account_->memory_bytes.fetch_add(static_cast<std::uint64_t>(memory), kOrder);
  }
  if (disk != 0) {
    spool_->account_->disk_bytes.fetch_add(static_cast<std::uint64_t>(disk), kOrder);
  }
}

}  // namespace meguri::env
