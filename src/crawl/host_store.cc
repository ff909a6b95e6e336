#include "crawl/host_store.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/hash.h"
#include "flow/codec.h"

namespace meguri::crawl {

namespace {

constexpr std::size_t kHeaderBytes = 16;

base::Status use_content(std::string_view content, const HostStore::Use& use) {
  std::string_view key;
  std::string_view value;
  while (!content.empty()) {
    if (!flow::take_text(content, key) || !flow::take_text(content, value)) {
      return base::fail(base::ErrorCode::kCorrupt, "an entry has no end");
    }
    RETURN_IF_ERROR(use(key, value));
  }
  return {};
}

}  // namespace

std::string HostStore::path_of(std::uint64_t generation) const {
  return fmt::format("{}-{}", prefix_, generation);
}

void HostStore::put(std::string_view key, std::string_view value) {
  flow::put_text(content_, key);
  flow::put_text(content_, value);
}

base::Status HostStore::append_block() {
  std::string block;
  flow::put_fixed(block, std::uint64_t{content_.size()});
  flow::put_fixed(block, base::hash64(content_));
  block += content_;
  content_.clear();
  RETURN_IF_ERROR(file_->append(block));
  RETURN_IF_ERROR(file_->sync());
  bytes_ += block.size();
  return {};
}

base::Status HostStore::begin_file(flow::EpochId epoch, const WriteAll& write_all) {
  content_.clear();
  write_all(*this);
  const std::string path = path_of(epoch);
  // One of that name was made for an epoch that never became durable.
  ASSIGN_OR_RETURN(const bool exists, files_.exists(path));
  if (exists) RETURN_IF_ERROR(files_.remove(path));
  ASSIGN_OR_RETURN(file_, files_.create(path));
  generation_ = epoch;
  bytes_ = 0;
  RETURN_IF_ERROR(append_block());
  RETURN_IF_ERROR(files_.sync_dir(env::parent_of(path)));
  first_bytes_ = bytes_;
  has_old_files_ = true;
  return {};
}

base::Result<std::string> HostStore::commit(flow::EpochId epoch, const WriteAll& write_all) {
  const bool is_long = bytes_ > 2 * first_bytes_ + kRewriteBytesMin;
  if (!file_ || is_long) {
    RETURN_IF_ERROR(begin_file(epoch, write_all));
  } else if (!content_.empty()) {
    RETURN_IF_ERROR(append_block());
  }
  std::string state;
  flow::put_fixed(state, generation_);
  flow::put_fixed(state, bytes_);
  flow::put_fixed(state, first_bytes_);
  return state;
}

base::Status HostStore::read(std::string_view state, const Use& use) {
  if (!flow::take_fixed(state, generation_) || !flow::take_fixed(state, bytes_) ||
      !flow::take_fixed(state, first_bytes_) || !state.empty()) {
    return base::fail(base::ErrorCode::kCorrupt, "not the state of a store of hosts");
  }
  const std::string path = path_of(generation_);
  ASSIGN_OR_RETURN(const std::string bytes, env::read_file(files_, path));
  if (bytes.size() < bytes_) {
    return base::fail(base::ErrorCode::kCorrupt, "{} has {} bytes and should have {}", path,
                      bytes.size(), bytes_);
  }
  std::string_view rest = std::string_view(bytes).substr(0, bytes_);
  while (!rest.empty()) {
    std::uint64_t length = 0;
    std::uint64_t hash = 0;
    const bool has_header = flow::take_fixed(rest, length) && flow::take_fixed(rest, hash);
    if (!has_header || rest.size() < length || base::hash64(rest.substr(0, length)) != hash) {
      return base::fail(base::ErrorCode::kCorrupt, "{} is damaged {} bytes before its end", path,
                        rest.size() + (has_header ? kHeaderBytes : 0));
    }
    RETURN_IF_ERROR(use_content(rest.substr(0, length), use));
    rest.remove_prefix(length);
  }
  return {};
}

base::Status HostStore::restore(std::string_view state, const Use& use) {
  RETURN_IF_ERROR(read(state, use));
  const std::string path = path_of(generation_);
  ASSIGN_OR_RETURN(const std::uint64_t size, files_.size(path));
  if (size > bytes_) RETURN_IF_ERROR(files_.truncate(path, bytes_));
  ASSIGN_OR_RETURN(file_, files_.open_append(path));
  return {};
}

base::Status HostStore::remove_old(flow::EpochId durable_epoch) {
  if (!has_old_files_ || !file_ || generation_ > durable_epoch) return {};
  has_old_files_ = false;
  const std::string folder = env::parent_of(prefix_);
  const std::string stem = prefix_.substr(std::min(prefix_.size(), folder.size() + 1)) + "-";
  const std::string ours = stem + std::to_string(generation_);
  ASSIGN_OR_RETURN(const auto names, files_.list(folder));
  for (const std::string& name : names) {
    if (!name.starts_with(stem) || name == ours) continue;
    RETURN_IF_ERROR(files_.remove(folder + "/" + name));
  }
  return {};
}

}  // namespace meguri::crawl
