#include "env/overlay_file_system.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace meguri::env {

using base::ErrorCode;
using base::MutexLock;

namespace {

// A file of the disk below, as far as it was not cut.
class CutFile final : public ReadableFile {
 public:
  CutFile(std::unique_ptr<ReadableFile> file, std::uint64_t size)
      : file_(std::move(file)), size_(size) {}

  base::Status read_at(std::uint64_t offset, std::size_t length, std::string* out) const override {
    const std::uint64_t left = offset < size_ ? size_ - offset : 0;
    return file_->read_at(offset, std::min<std::uint64_t>(length, left), out);
  }
  void will_read(std::uint64_t offset, std::size_t length) const override {
    file_->will_read(offset, length);
  }
  base::Result<std::uint64_t> size() const override { return size_; }

 private:
  std::unique_ptr<ReadableFile> file_;
  const std::uint64_t size_;
};

// A file of the disk below that somebody would append to.
class FrozenFile final : public WritableFile {
 public:
  FrozenFile(std::string path, std::uint64_t size) : path_(std::move(path)), size_(size) {}

  base::Status append(std::string_view /*bytes*/) override {
    return base::fail(ErrorCode::kDenied, "cannot append to {}: it is only looked at", path_);
  }
  base::Status sync() override { return {}; }
  std::uint64_t size() const override { return size_; }

 private:
  const std::string path_;
  const std::uint64_t size_;
};

std::unexpected<base::Error> not_there(const std::string& path) {
  return base::fail(ErrorCode::kNotFound, "there is no {}", path);
}

}  // namespace

OverlayFileSystem::Change OverlayFileSystem::change_of(const std::string& path) const {
  const MutexLock lock(mutex_);
  const auto found = changes_.find(path);
  return found == changes_.end() ? Change{} : found->second;
}

base::Result<std::unique_ptr<WritableFile>> OverlayFileSystem::open_append(
    const std::string& path) {
  const Change change = change_of(path);
  if (change.written) return scratch_.open_append(*change.written);
  ASSIGN_OR_RETURN(const bool is_there, exists(path));
  if (!is_there) return create(path);
  ASSIGN_OR_RETURN(const std::uint64_t bytes, size(path));
  return std::make_unique<FrozenFile>(path, bytes);
}

base::Result<std::unique_ptr<WritableFile>> OverlayFileSystem::create(const std::string& path) {
  ASSIGN_OR_RETURN(const bool is_there, exists(path));
  if (is_there) return base::fail(ErrorCode::kExists, "{} is there already", path);
  ASSIGN_OR_RETURN(const bool has_folder, exists(parent_of(path)));
  if (!has_folder) return not_there(parent_of(path));
  const MutexLock lock(mutex_);
  Change change;
  change.written = fmt::format("{}/{:08}", scratch_dir_, ++files_written_);
  ASSIGN_OR_RETURN(auto file, scratch_.create(*change.written));
  changes_[path] = std::move(change);
  return file;
}

base::Result<std::unique_ptr<ReadableFile>> OverlayFileSystem::open_read(const std::string& path) {
  const Change change = change_of(path);
  if (change.is_removed) return not_there(path);
  if (change.written) return scratch_.open_read(*change.written);
  ASSIGN_OR_RETURN(auto file, below_.open_read(path));
  if (!change.cut) return file;
  return std::make_unique<CutFile>(std::move(file), *change.cut);
}

base::Result<std::unique_ptr<TemporaryFile>> OverlayFileSystem::open_temporary(
    const std::string& /*dir*/) {
  return scratch_.open_temporary(scratch_dir_);
}

base::Status OverlayFileSystem::truncate(const std::string& path, std::uint64_t size) {
  const Change change = change_of(path);
  if (change.written) return scratch_.truncate(*change.written, size);
  ASSIGN_OR_RETURN(const std::uint64_t now, this->size(path));
  if (size > now) {
    return base::fail(ErrorCode::kInvalid, "cannot cut {} to {} bytes: it has {}", path, size, now);
  }
  const MutexLock lock(mutex_);
  changes_[path].cut = size;
  return {};
}

base::Status OverlayFileSystem::punch(const std::string& path, std::uint64_t /*offset*/,
                                      std::uint64_t /*length*/) {
  ASSIGN_OR_RETURN(const bool is_there, exists(path));
  return is_there ? base::Status() : not_there(path);
}

base::Status OverlayFileSystem::rename(const std::string& from, const std::string& to) {
  return base::fail(ErrorCode::kDenied, "cannot rename {} to {}: it is only looked at", from, to);
}

base::Status OverlayFileSystem::remove(const std::string& path) {
  const Change change = change_of(path);
  if (change.written) {
    RETURN_IF_ERROR(scratch_.remove(*change.written));
  } else {
    RETURN_IF_ERROR(stamp(path));  // it is there, and a file
  }
  Change removed;
  removed.is_removed = true;
  const MutexLock lock(mutex_);
  changes_[path] = std::move(removed);
  return {};
}

base::Status OverlayFileSystem::make_dirs(const std::string& path) {
  std::string folder = path;
  for (;;) {
    ASSIGN_OR_RETURN(const bool is_there, exists(folder));
    if (is_there) return {};
    {
      const MutexLock lock(mutex_);
      folders_.insert(folder);
    }
    folder = parent_of(folder);
  }
}

base::Status OverlayFileSystem::sync_dir(const std::string& /*path*/) { return {}; }

base::Result<bool> OverlayFileSystem::exists(const std::string& path) {
  {
    const MutexLock lock(mutex_);
    if (folders_.contains(path)) return true;
    const auto found = changes_.find(path);
    if (found != changes_.end()) return !found->second.is_removed;
  }
  return below_.exists(path);
}

base::Result<std::uint64_t> OverlayFileSystem::size(const std::string& path) {
  const Change change = change_of(path);
  if (change.is_removed) return not_there(path);
  if (change.written) return scratch_.size(*change.written);
  if (change.cut) return *change.cut;
  return below_.size(path);
}

base::Result<FileStamp> OverlayFileSystem::stamp(const std::string& path) {
  const Change change = change_of(path);
  if (change.is_removed) return not_there(path);
  if (change.written) return scratch_.stamp(*change.written);
  ASSIGN_OR_RETURN(FileStamp stamp, below_.stamp(path));
  if (change.cut) stamp.size = *change.cut;
  return stamp;
}

base::Result<std::vector<std::string>> OverlayFileSystem::list(const std::string& path) {
  std::set<std::string> names;
  ASSIGN_OR_RETURN(const bool is_below, below_.exists(path));
  bool is_here = false;
  {
    const MutexLock lock(mutex_);
    is_here = folders_.contains(path);
  }
  if (is_below || !is_here) {
    ASSIGN_OR_RETURN(const std::vector<std::string> below, below_.list(path));
    names.insert(below.begin(), below.end());
  }
  const auto name_in = [&path](const std::string& full) {
    return parent_of(full) == path ? full.substr(path.size() + (path == "/" ? 0 : 1)) : "";
  };
  const MutexLock lock(mutex_);
  for (const std::string& folder : folders_) {
    if (std::string name = name_in(folder); !name.empty()) names.insert(std::move(name));
  }
  for (const auto& [full, change] : changes_) {
    std::string name = name_in(full);
    if (name.empty()) continue;
    if (change.is_removed) {
      names.erase(name);
    } else {
      names.insert(std::move(name));
    }
  }
  return std::vector<std::string>(names.begin(), names.end());
}

base::Result<std::uint64_t> OverlayFileSystem::free_space(const std::string& /*path*/) {
  return scratch_.free_space(scratch_dir_);
}

base::Result<std::unique_ptr<FileLock>> OverlayFileSystem::lock(const std::string& path) {
  return base::fail(ErrorCode::kDenied, "cannot lock {}: it is only looked at", path);
}

}  // namespace meguri::env
