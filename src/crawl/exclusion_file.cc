#include "crawl/exclusion_file.h"

#include <utility>

#include "base/log.h"

namespace meguri::crawl {

namespace {

using ListPtr = std::shared_ptr<const ExclusionList>;

base::Result<ListPtr> read_list(env::FileSystem& files, const std::string& path, ListPtr also) {
  ASSIGN_OR_RETURN(const std::string text, env::read_file(files, path));
  auto list = ExclusionList::parse(text, std::move(also));
  if (!list) return base::fail(list.error().code(), "{}: {}", path, list.error().message());
  return list;
}

}  // namespace

base::Result<ExclusionFile::Stamps> ExclusionFile::stamps(env::FileSystem& files) const {
  Stamps stamps;
  if (!path_.empty()) {
    ASSIGN_OR_RETURN(stamps.named, files.stamp(path_));
  }
  if (own_.empty()) return stamps;
  auto own = files.stamp(own_);
  if (own) {
    stamps.own = *own;
  } else if (own.error().code() != base::ErrorCode::kNotFound) {
    return std::unexpected(own.error());
  }
  return stamps;
}

base::Status ExclusionFile::open(env::FileSystem& files) {
  const base::MutexLock lock(reading_);
  if (is_open_) return {};
  ASSIGN_OR_RETURN(stamps_, stamps(files));
  RETURN_IF_ERROR(read(files));
  is_open_ = true;
  return {};
}

base::Result<bool> ExclusionFile::refresh(env::FileSystem& files) {
  const base::MutexLock lock(reading_);
  const auto now = stamps(files);
  if (!now) {
    // Said once: a file that is gone has no stamp, and so has one that comes back.
    if (!std::exchange(stamps_, std::nullopt)) return false;
    return std::unexpected(now.error());
  }
  if (stamps_ == *now) return false;
  stamps_ = *now;
  RETURN_IF_ERROR(read(files));
  return true;
}

// What changes while it is read has another stamp at the next look.
base::Status ExclusionFile::read(env::FileSystem& files) {
  auto list = std::make_shared<const ExclusionList>();
  if (stamps_->own) {
    ASSIGN_OR_RETURN(list, read_list(files, own_, nullptr));
  }
  if (stamps_->named) {
    ASSIGN_OR_RETURN(list, read_list(files, path_, std::move(list)));
  }
  const base::MutexLock lock(mutex_);
  list_ = std::move(list);
  return {};
}

std::shared_ptr<const ExclusionList> ExclusionFile::list() const {
  const base::MutexLock lock(mutex_);
  return list_;
}

base::Status ExclusionWatch::start() {
  RETURN_IF_ERROR(file_->open(files()));
  set_timer_after(kEvery, 0);
  return {};
}

void ExclusionWatch::on_timer(std::uint64_t /*tag*/) {
  set_timer_after(kEvery, 0);
  const auto is_new = file_->refresh(files());
  if (!is_new) {
    base::log_warn("the exclusion list cannot be used, the one before it holds",
                   {{"file", file_->path()}, {"why", is_new.error().message()}});
  } else if (*is_new) {
    base::log_info("the exclusion list was read again",
                   {{"file", file_->path()}, {"rules", file_->list()->rules()}});
  }
}

}  // namespace meguri::crawl
