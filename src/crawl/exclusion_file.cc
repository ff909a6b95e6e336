#include "crawl/exclusion_file.h"

#include <utility>

#include "base/log.h"

namespace meguri::crawl {

base::Status ExclusionFile::open(env::FileSystem& files) {
  const base::MutexLock lock(reading_);
  if (is_open_) return {};
  ASSIGN_OR_RETURN(stamp_, files.stamp(path_));
  RETURN_IF_ERROR(read(files));
  is_open_ = true;
  return {};
}

base::Result<bool> ExclusionFile::refresh(env::FileSystem& files) {
  const base::MutexLock lock(reading_);
  const auto stamp = files.stamp(path_);
  if (!stamp) {
    // Said once: a file that is gone has no stamp, and so has one that comes back.
    if (!std::exchange(stamp_, std::nullopt)) return false;
    return std::unexpected(stamp.error());
  }
  if (stamp_ == *stamp) return false;
  stamp_ = *stamp;
  RETURN_IF_ERROR(read(files));
  return true;
}

// What changes while it is read has another stamp at the next look.
base::Status ExclusionFile::read(env::FileSystem& files) {
  ASSIGN_OR_RETURN(const std::string text, env::read_file(files, path_));
  auto list = ExclusionList::parse(text);
  if (!list) return base::fail(list.error().code(), "{}: {}", path_, list.error().message());
  const base::MutexLock lock(mutex_);
  list_ = *std::move(list);
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
