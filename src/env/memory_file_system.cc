#include "env/memory_file_system.h"

#include <algorithm>
#include <tuple>

#include "base/check.h"

namespace meguri::env {

using base::ErrorCode;
using base::fail;
using base::MutexLock;

class MemoryReadableFile final : public ReadableFile {
 public:
  MemoryReadableFile(const MemoryFileSystem& fs, MemoryFileSystem::Handle handle)
      : fs_(fs), handle_(std::move(handle)) {}

  base::Status read_at(std::uint64_t offset, std::size_t length, std::string* out) const override {
    return fs_.read_at(handle_, offset, length, out);
  }
  base::Result<std::uint64_t> size() const override { return fs_.size_of(handle_); }

 private:
  const MemoryFileSystem& fs_;
  const MemoryFileSystem::Handle handle_;
};

class MemoryTemporaryFile final : public TemporaryFile {
 public:
  MemoryTemporaryFile(MemoryFileSystem& fs, MemoryFileSystem::Handle handle)
      : fs_(fs), handle_(std::move(handle)) {}
  ~MemoryTemporaryFile() override { fs_.close_temporary(handle_); }
  MemoryTemporaryFile(const MemoryTemporaryFile&) = delete;
  MemoryTemporaryFile& operator=(const MemoryTemporaryFile&) = delete;

  base::Status append(std::string_view bytes) override {
    return fs_.append_temporary(handle_, bytes);
  }
  base::Status read_at(std::uint64_t offset, std::size_t length, std::string* out) const override {
    return fs_.read_at(handle_, offset, length, out);
  }
  base::Result<std::uint64_t> size() const override { return fs_.size_of(handle_); }

 private:
  MemoryFileSystem& fs_;
  const MemoryFileSystem::Handle handle_;
};

class MemoryLock final : public FileLock {
 public:
  MemoryLock(MemoryFileSystem& fs, MemoryFileSystem::Handle handle)
      : fs_(fs), handle_(std::move(handle)) {}
  ~MemoryLock() override { fs_.unlock(handle_); }
  MemoryLock(const MemoryLock&) = delete;
  MemoryLock& operator=(const MemoryLock&) = delete;

 private:
  MemoryFileSystem& fs_;
  const MemoryFileSystem::Handle handle_;
};

base::Status MemoryFile::append(std::string_view bytes) {
  if (sync_failed_) return fail(ErrorCode::kIo, "{} failed to sync before", handle_.path);
  RETURN_IF_ERROR(fs_.append(handle_, size_, bytes));
  size_ += bytes.size();
  return {};
}

base::Status MemoryFile::sync() {
  if (sync_failed_) return fail(ErrorCode::kIo, "{} failed to sync before", handle_.path);
  return fs_.sync(handle_);
}

void MemoryFile::append_torn(std::string_view part) {
  // Nothing is said of a failure: this is one already.
  std::ignore = fs_.append(handle_, size_, part);
}

void MemoryFile::fail_sync() {
  fs_.lose_unsynced(handle_);
  sync_failed_ = true;
}

base::Result<std::unique_ptr<MemoryFile>> MemoryFileSystem::open_file(const std::string& path,
                                                                      bool must_be_new) {
  const MutexLock lock(mutex_);
  auto node = must_be_new ? tree_.create(path) : tree_.find_file(path);
  if (!must_be_new && !node && node.error().code() == ErrorCode::kNotFound) {
    node = tree_.create(path);
  }
  if (!node) return std::unexpected(node.error().with_context("cannot open file"));
  const std::uint64_t size = (*node)->bytes.size();
  return std::make_unique<MemoryFile>(*this, Handle{*std::move(node), path, life_}, size);
}

base::Result<std::unique_ptr<WritableFile>> MemoryFileSystem::open_append(const std::string& path) {
  return open_file(path, false);
}

base::Result<std::unique_ptr<WritableFile>> MemoryFileSystem::create(const std::string& path) {
  return open_file(path, true);
}

base::Result<std::unique_ptr<ReadableFile>> MemoryFileSystem::open_read(const std::string& path) {
  const MutexLock lock(mutex_);
  ASSIGN_OR_RETURN(MemoryNodePtr node, tree_.find_file(path));
  return std::make_unique<MemoryReadableFile>(*this, Handle{std::move(node), path, life_});
}

base::Result<std::unique_ptr<TemporaryFile>> MemoryFileSystem::open_temporary(
    const std::string& dir) {
  const MutexLock lock(mutex_);
  RETURN_IF_ERROR(tree_.find_folder(dir));
  auto node = std::make_shared<MemoryNode>();
  node->is_linked = false;
  return std::make_unique<MemoryTemporaryFile>(
      *this, Handle{std::move(node), fmt::format("a temporary file in {}", dir), life_});
}

base::Status MemoryFileSystem::truncate(const std::string& path, std::uint64_t size) {
  const MutexLock lock(mutex_);
  ASSIGN_OR_RETURN(const MemoryNodePtr node, tree_.find_file(path));
  if (size > node->bytes.size()) {
    return fail(ErrorCode::kInvalid, "cannot cut {} to {} bytes: it has only {}", path, size,
                node->bytes.size());
  }
  tree_.truncate(node.get(), size);
  return {};
}

base::Status MemoryFileSystem::punch(const std::string& path, std::uint64_t offset,
                                     std::uint64_t length) {
  const MutexLock lock(mutex_);
  ASSIGN_OR_RETURN(const MemoryNodePtr node, tree_.find_file(path));
  if (offset > node->synced || length > node->synced - offset) {
    return fail(ErrorCode::kInvalid, "cannot punch {} to {} out of {}: {} bytes are synced", offset,
                offset + length, path, node->synced);
  }
  tree_.punch(node.get(), offset, length);
  return {};
}

base::Status MemoryFileSystem::rename(const std::string& from, const std::string& to) {
  const MutexLock lock(mutex_);
  return tree_.rename(from, to);
}

base::Status MemoryFileSystem::remove(const std::string& path) {
  const MutexLock lock(mutex_);
  return tree_.remove(path);
}

base::Status MemoryFileSystem::make_dirs(const std::string& path) {
  const MutexLock lock(mutex_);
  return tree_.make_dirs(path);
}

base::Status MemoryFileSystem::sync_dir(const std::string& path) {
  const MutexLock lock(mutex_);
  return tree_.sync_dir(path);
}

base::Result<bool> MemoryFileSystem::exists(const std::string& path) {
  const MutexLock lock(mutex_);
  return tree_.find(path).has_value();
}

base::Result<std::uint64_t> MemoryFileSystem::size(const std::string& path) {
  const MutexLock lock(mutex_);
  ASSIGN_OR_RETURN(const MemoryNodePtr node, tree_.find_file(path));
  return node->bytes.size();
}

base::Result<FileStamp> MemoryFileSystem::stamp(const std::string& path) {
  const MutexLock lock(mutex_);
  ASSIGN_OR_RETURN(const MemoryNodePtr node, tree_.find_file(path));
  return FileStamp{.size = node->bytes.size(), .modified_ns = node->changed, .node = 0};
}

base::Result<std::vector<std::string>> MemoryFileSystem::list(const std::string& path) {
  const MutexLock lock(mutex_);
  ASSIGN_OR_RETURN(const MemoryNodePtr folder, tree_.find_folder(path));
  std::vector<std::string> names;
  for (const auto& [name, node] : folder->names) names.push_back(name);
  return names;
}

base::Result<std::uint64_t> MemoryFileSystem::free_space(const std::string& path) {
  const MutexLock lock(mutex_);
  RETURN_IF_ERROR(tree_.find(path));
  return room();
}

base::Result<std::unique_ptr<FileLock>> MemoryFileSystem::lock(const std::string& path) {
  const MutexLock lock(mutex_);
  auto node = tree_.find_file(path);
  if (!node && node.error().code() == ErrorCode::kNotFound) node = tree_.create(path);
  if (!node) return std::unexpected(node.error().with_context("cannot lock"));
  if (!locked_.insert(node->get()).second) {
    return fail(ErrorCode::kBusy, "{} is held by another user of this file system", path);
  }
  return std::make_unique<MemoryLock>(*this, Handle{*std::move(node), path, life_});
}

void MemoryFileSystem::crash(Random* random) {
  const MutexLock lock(mutex_);
  tree_ = tree_.after_crash(random);
  locked_.clear();
  temporary_bytes_ = 0;
  ++life_;
}

std::unique_ptr<MemoryFileSystem> MemoryFileSystem::after_crash(Random* random) const {
  auto after = std::make_unique<MemoryFileSystem>();
  const MutexLock lock(mutex_);
  const MutexLock after_lock(after->mutex_);
  after->tree_ = tree_.after_crash(random);
  after->capacity_ = capacity_;
  return after;
}

void MemoryFileSystem::restart() {
  const MutexLock lock(mutex_);
  locked_.clear();
  temporary_bytes_ = 0;
  ++life_;
}

void MemoryFileSystem::set_capacity(std::uint64_t bytes) {
  const MutexLock lock(mutex_);
  capacity_ = bytes;
}

std::uint64_t MemoryFileSystem::used() const {
  const MutexLock lock(mutex_);
  return tree_.used() + temporary_bytes_;
}

base::Status MemoryFileSystem::flip_bit(const std::string& path, std::uint64_t bit) {
  const MutexLock lock(mutex_);
  ASSIGN_OR_RETURN(const MemoryNodePtr node, tree_.find_file(path));
  CHECK(bit / 8 < node->bytes.size(), "{} has no bit {}", path, bit);
  char& byte = node->bytes[bit / 8];
  byte = static_cast<char>(static_cast<unsigned char>(byte) ^ (1U << (bit % 8)));
  return {};
}

base::Status MemoryFileSystem::check_alive(const Handle& handle) const {
  if (handle.life == life_) return {};
  return fail(ErrorCode::kStopped, "{} was opened before the crash", handle.path);
}

base::Status MemoryFileSystem::append(const Handle& handle, std::uint64_t expected_size,
                                      std::string_view bytes) {
  const MutexLock lock(mutex_);
  RETURN_IF_ERROR(check_alive(handle));
  if (handle.node->bytes.size() != expected_size) {
    return fail(ErrorCode::kInvalid, "{} has {} bytes and not {}: cut it after a failed append",
                handle.path, handle.node->bytes.size(), expected_size);
  }
  const std::uint64_t room = this->room();
  tree_.append(handle.node.get(), bytes.substr(0, room));
  if (bytes.size() > room) return fail(ErrorCode::kNoSpace, "no space left for {}", handle.path);
  return {};
}

base::Status MemoryFileSystem::sync(const Handle& handle) {
  const MutexLock lock(mutex_);
  RETURN_IF_ERROR(check_alive(handle));
  handle.node->synced = handle.node->bytes.size();
  return {};
}

void MemoryFileSystem::lose_unsynced(const Handle& handle) {
  const MutexLock lock(mutex_);
  MemoryNode& node = *handle.node;
  if (node.synced < node.bytes.size()) node.lost.emplace_back(node.synced, node.bytes.size());
}

base::Status MemoryFileSystem::read_at(const Handle& handle, std::uint64_t offset,
                                       std::size_t length, std::string* out) const {
  const MutexLock lock(mutex_);
  RETURN_IF_ERROR(check_alive(handle));
  const std::string_view bytes = handle.node->bytes;
  out->assign(bytes.substr(std::min<std::uint64_t>(offset, bytes.size()), length));
  return {};
}

base::Result<std::uint64_t> MemoryFileSystem::size_of(const Handle& handle) const {
  const MutexLock lock(mutex_);
  RETURN_IF_ERROR(check_alive(handle));
  return handle.node->bytes.size();
}

std::uint64_t MemoryFileSystem::room() const {
  return capacity_ - std::min(capacity_, tree_.used() + temporary_bytes_);
}

base::Status MemoryFileSystem::append_temporary(const Handle& handle, std::string_view bytes) {
  const MutexLock lock(mutex_);
  RETURN_IF_ERROR(check_alive(handle));
  const std::string_view fitting = bytes.substr(0, room());
  tree_.append(handle.node.get(), fitting);
  temporary_bytes_ += fitting.size();
  if (fitting.size() == bytes.size()) return {};
  return fail(ErrorCode::kNoSpace, "no space left for {}", handle.path);
}

void MemoryFileSystem::close_temporary(const Handle& handle) {
  const MutexLock lock(mutex_);
  if (handle.life == life_) temporary_bytes_ -= handle.node->bytes.size();
}

void MemoryFileSystem::unlock(const Handle& handle) {
  const MutexLock lock(mutex_);
  if (handle.life == life_) locked_.erase(handle.node.get());
}

}  // namespace meguri::env
