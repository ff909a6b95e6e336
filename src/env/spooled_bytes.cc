#include "env/spooled_bytes.h"

#include <utility>

#include "base/check.h"

namespace meguri::env {

SpooledBytes::Content::~Content() {
  if (account == nullptr) return;
  auto& bytes_there = file == nullptr ? account->memory_bytes : account->disk_bytes;
  bytes_there.fetch_sub(size, std::memory_order_relaxed);
}

SpooledBytes::SpooledBytes(std::string bytes) {
  if (bytes.empty()) return;
  auto content = std::make_shared<Content>();
  content->size = bytes.size();
  content->bytes = std::move(bytes);
  content_ = std::move(content);
}

std::string_view SpooledBytes::memory() const {
  CHECK(!is_on_disk(), "bytes on disk are read piece by piece");
  return content_ == nullptr ? std::string_view() : std::string_view(content_->bytes);
}

base::Status SpooledBytes::read_at(std::uint64_t offset, std::size_t length,
                                   std::string* out) const {
  const std::uint64_t rest = size() - std::min(offset, size());
  length = std::min<std::uint64_t>(length, rest);
  if (is_on_disk()) return content_->file->read_at(offset, length, out);
  out->assign(memory().substr(size() - rest, length));
  return {};
}

base::Result<std::string> SpooledBytes::read(std::uint64_t bytes_max) const {
  std::string bytes;
  RETURN_IF_ERROR(read_at(0, bytes_max, &bytes));
  return bytes;
}

bool SpooledBytes::equals(std::string_view text) const {
  if (text.size() != size()) return false;
  const auto status = for_each_piece([&text](std::string_view piece) -> base::Status {
    if (!text.starts_with(piece)) return base::fail(base::ErrorCode::kFailed, "other bytes");
    text.remove_prefix(piece.size());
    return {};
  });
  return status.has_value();
}

}  // namespace meguri::env
