#include "env/posix_file_system.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <system_error>
#include <tuple>
#include <utility>

namespace meguri::env {

namespace {

using base::Error;
using base::ErrorCode;
using base::fail;

// Bytes for one system call; Linux moves at most 2 GiB at once.
constexpr std::size_t kTransferBytesMax = 1U << 30U;
// Reads longer than this ask for the file's size first, so that a wrong length does not become a
// huge buffer.
constexpr std::size_t kTrustedReadBytes = 1U << 20U;

std::unexpected<Error> system_error(std::string_view doing, const std::string& path) {
  return std::unexpected(Error::from_errno(errno, fmt::format("cannot {} {}", doing, path)));
}

// Repeats a system call that a signal interrupted.
template <typename Call>
auto retry(const Call& call) {
  auto result = call();
  while (result < 0 && errno == EINTR) result = call();
  return result;
}

// Owns a file descriptor.
class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  Descriptor& operator=(Descriptor&&) = delete;
  ~Descriptor() {
    // Not repeated when interrupted: Linux has closed it even then.
    if (fd_ >= 0) ::close(fd_);
  }
  int get() const { return fd_; }

 private:
  int fd_;
};

base::Result<Descriptor> open_descriptor(const std::string& path, int flags) {
  constexpr mode_t kMode = 0666;  // the user's umask narrows it
  const int fd = retry([&] { return ::open(path.c_str(), flags | O_CLOEXEC, kMode); });
  if (fd < 0) return system_error("open", path);
  return Descriptor(fd);
}

base::Result<std::uint64_t> file_size(const Descriptor& file, const std::string& path) {
  struct stat status{};
  if (::fstat(file.get(), &status) != 0) return system_error("examine", path);
  if (S_ISDIR(status.st_mode)) return fail(ErrorCode::kInvalid, "{} is a folder", path);
  return static_cast<std::uint64_t>(status.st_size);
}

base::Status sync_folder(const std::string& path) {
  ASSIGN_OR_RETURN(const Descriptor folder, open_descriptor(path, O_RDONLY | O_DIRECTORY));
  // Some network file systems cannot sync folders and say EINVAL; names are safe there or never.
  if (retry([&] { return ::fsync(folder.get()); }) != 0 && errno != EINVAL) {
    return system_error("sync folder", path);
  }
  return {};
}

class PosixWritableFile final : public WritableFile {
 public:
  PosixWritableFile(Descriptor file, std::string path, std::uint64_t size, bool writes_through)
      : file_(std::move(file)),
        path_(std::move(path)),
        writes_through_(writes_through),
        size_(size),
        begun_(size) {}

  base::Status append(std::string_view bytes) override {
    RETURN_IF_ERROR(check_usable());
    if (must_cut_) RETURN_IF_ERROR(cut_back());
    std::size_t done = 0;
    while (done < bytes.size()) {
      const std::string_view rest = bytes.substr(done, kTransferBytesMax);
      const ssize_t written = retry([&] {
        return ::pwrite(file_.get(), rest.data(), rest.size(), static_cast<off_t>(size_ + done));
      });
      if (written <= 0) {
        auto error = written == 0
                         ? fail(ErrorCode::kIo, "cannot write to {}: nothing written", path_)
                         : system_error("write to", path_);
        must_cut_ = true;
        std::ignore = cut_back();
        return error;
      }
      done += static_cast<std::size_t>(written);
    }
    if (writes_through_) wait_for_disk(bytes.size());
    size_ += bytes.size();
    return {};
  }

  base::Status sync() override {
    RETURN_IF_ERROR(check_usable());
    if (retry([&] { return ::fdatasync(file_.get()); }) == 0) return {};
    sync_failed_ = true;
    return system_error("sync", path_);
  }

  // Of what ends within a page, the page would be written twice.
  void will_sync() override {
    constexpr std::uint64_t kPageBytes = 4096;
    const std::uint64_t end = size_ / kPageBytes * kPageBytes;
    if (end <= begun_) return;
    ::sync_file_range(file_.get(), static_cast<off_t>(begun_), static_cast<off_t>(end - begun_),
                      SYNC_FILE_RANGE_WRITE);
    begun_ = end;
  }

  std::uint64_t size() const override { return size_; }

 private:
  base::Status check_usable() const {
    if (!sync_failed_) return {};
    return fail(ErrorCode::kIo, "cannot go on writing {}: it failed to sync before", path_);
  }

  // For the bytes behind size_.
  void wait_for_disk(std::size_t bytes) {
    constexpr unsigned kThrough =
        SYNC_FILE_RANGE_WAIT_BEFORE | SYNC_FILE_RANGE_WRITE | SYNC_FILE_RANGE_WAIT_AFTER;
    ::sync_file_range(file_.get(), static_cast<off_t>(size_), static_cast<off_t>(bytes), kThrough);
  }

  base::Status cut_back() {
    if (retry([&] { return ::ftruncate(file_.get(), static_cast<off_t>(size_)); }) != 0) {
      return system_error("cut", path_);
    }
    must_cut_ = false;
    return {};
  }

  const Descriptor file_;
  const std::string path_;
  const bool writes_through_;
  std::uint64_t size_;
  std::uint64_t begun_;    // up to where the system was told to write
  bool must_cut_ = false;  // a failed append may have left bytes behind size_
  bool sync_failed_ = false;
};

// Up to `length` bytes at `offset`; fewer only at the end of the file, or after an error.
std::size_t read_into(const Descriptor& file, char* buffer, std::size_t length,
                      std::uint64_t offset, int* error_number) {
  std::size_t done = 0;
  while (done < length) {
    const std::size_t part = std::min(length - done, kTransferBytesMax);
    const ssize_t got = retry([&] {
      return ::pread(file.get(), buffer + done, part, static_cast<off_t>(offset + done));
    });
    if (got < 0) *error_number = errno;
    if (got <= 0) break;
    done += static_cast<std::size_t>(got);
  }
  return done;
}

base::Status read_descriptor(const Descriptor& file, const std::string& path, std::uint64_t offset,
                             std::size_t length, std::string* out) {
  out->clear();
  if (length > kTrustedReadBytes) {
    ASSIGN_OR_RETURN(const std::uint64_t size, file_size(file, path));
    length = std::min<std::uint64_t>(length, size - std::min(size, offset));
  }
  int error_number = 0;
  // GCC 12's library may hand over a larger size than asked for, so it is not used.
  out->resize_and_overwrite(length, [&](char* buffer, std::size_t /*size*/) {
    return read_into(file, buffer, length, offset, &error_number);
  });
  if (error_number == 0) return {};
  return std::unexpected(Error::from_errno(error_number, fmt::format("cannot read {}", path)));
}

class PosixReadableFile final : public ReadableFile {
 public:
  PosixReadableFile(Descriptor file, std::string path)
      : file_(std::move(file)), path_(std::move(path)) {}

  base::Status read_at(std::uint64_t offset, std::size_t length, std::string* out) const override {
    return read_descriptor(file_, path_, offset, length, out);
  }

  void will_read(std::uint64_t offset, std::size_t length) const override {
    ::posix_fadvise(file_.get(), static_cast<off_t>(offset), static_cast<off_t>(length),
                    POSIX_FADV_WILLNEED);
  }

  base::Result<std::uint64_t> size() const override { return file_size(file_, path_); }

 private:
  const Descriptor file_;
  const std::string path_;
};

class PosixTemporaryFile final : public TemporaryFile {
 public:
  PosixTemporaryFile(Descriptor file, const std::string& dir)
      : file_(std::move(file)), path_(fmt::format("a temporary file in {}", dir)) {}

  base::Status append(std::string_view bytes) override {
    while (!bytes.empty()) {
      const ssize_t written = retry([&] {
        return ::pwrite(file_.get(), bytes.data(), std::min(bytes.size(), kTransferBytesMax),
                        static_cast<off_t>(size_));
      });
      if (written < 0) return system_error("write to", path_);
      if (written == 0) return fail(ErrorCode::kIo, "cannot write to {}: nothing written", path_);
      size_ += static_cast<std::uint64_t>(written);
      bytes.remove_prefix(static_cast<std::size_t>(written));
    }
    return {};
  }

  base::Status read_at(std::uint64_t offset, std::size_t length, std::string* out) const override {
    return read_descriptor(file_, path_, offset, length, out);
  }

  base::Result<std::uint64_t> size() const override { return file_size(file_, path_); }

 private:
  const Descriptor file_;
  const std::string path_;
  std::uint64_t size_ = 0;
};

// Where the disk knows no files without names.
base::Result<Descriptor> open_and_unlink(const std::string& dir) {
  std::string path = dir + "/meguri-XXXXXX";
  const int fd = ::mkostemp(path.data(), O_CLOEXEC);
  if (fd < 0) return system_error("make a temporary file in", dir);
  Descriptor file(fd);
  if (::unlink(path.c_str()) != 0) return system_error("remove", path);
  return file;
}

base::Result<Descriptor> open_unnamed(const std::string& dir) {
  constexpr mode_t kMode = 0600;
  const int fd = retry([&] { return ::open(dir.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, kMode); });
  if (fd >= 0) return Descriptor(fd);
  // Disks and kernels that lack it say one of these.
  const bool is_unknown = errno == EOPNOTSUPP || errno == EISDIR || errno == EINVAL;
  if (is_unknown) return open_and_unlink(dir);
  return system_error("make a temporary file in", dir);
}

class PosixLock final : public FileLock {
 public:
  explicit PosixLock(Descriptor file) : file_(std::move(file)) {}
  PosixLock(const PosixLock&) = delete;
  PosixLock& operator=(const PosixLock&) = delete;
  // The file stays: removing it would let two others lock two different files of one name.
  ~PosixLock() override { std::ignore = ::ftruncate(file_.get(), 0); }

 private:
  const Descriptor file_;
};

// " by process 123", if the holder wrote its number.
std::string holder_of(const Descriptor& file) {
  std::string text(20, '\0');
  const ssize_t got = retry([&] { return ::pread(file.get(), text.data(), text.size(), 0); });
  text.resize(static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
  text = text.substr(0, text.find_first_not_of("0123456789"));
  return text.empty() ? " by another process" : fmt::format(" by process {}", text);
}

base::Result<std::unique_ptr<WritableFile>> open_for_writing(const std::string& path, int flags,
                                                             bool writes_through) {
  ASSIGN_OR_RETURN(Descriptor file, open_descriptor(path, O_WRONLY | O_CREAT | flags));
  ASSIGN_OR_RETURN(const std::uint64_t size, file_size(file, path));
  return std::make_unique<PosixWritableFile>(std::move(file), path, size, writes_through);
}

bool is_folder(const std::string& path) {
  struct stat status{};
  return ::stat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode);
}

// Makes one folder and syncs the one above. One that was there may have been made just before a
// crash, so that its name is perhaps not on the medium: it is synced too, as far as we may.
base::Status make_dir(const std::string& path, bool is_last) {
  constexpr mode_t kMode = 0777;
  if (::mkdir(path.c_str(), kMode) == 0) return sync_folder(parent_of(path));
  // mkdir in a folder we may not write says EACCES or EROFS even if `path` is there.
  const int error_number = errno;
  if (is_folder(path)) {
    if (is_last) std::ignore = sync_folder(parent_of(path));
    return {};
  }
  return std::unexpected(
      Error::from_errno(error_number, fmt::format("cannot make folder {}", path)));
}

}  // namespace

base::Result<std::unique_ptr<WritableFile>> PosixFileSystem::open_append(const std::string& path) {
  return open_for_writing(path, 0, options_.writes_through);
}

base::Result<std::unique_ptr<WritableFile>> PosixFileSystem::create(const std::string& path) {
  return open_for_writing(path, O_EXCL, options_.writes_through);
}

base::Result<std::unique_ptr<ReadableFile>> PosixFileSystem::open_read(const std::string& path) {
  ASSIGN_OR_RETURN(Descriptor file, open_descriptor(path, O_RDONLY));
  RETURN_IF_ERROR(file_size(file, path));
  return std::make_unique<PosixReadableFile>(std::move(file), path);
}

base::Result<std::unique_ptr<TemporaryFile>> PosixFileSystem::open_temporary(
    const std::string& dir) {
  ASSIGN_OR_RETURN(Descriptor file,
                   options_.has_unnamed_files ? open_unnamed(dir) : open_and_unlink(dir));
  return std::make_unique<PosixTemporaryFile>(std::move(file), dir);
}

base::Status PosixFileSystem::truncate(const std::string& path, std::uint64_t size) {
  ASSIGN_OR_RETURN(const Descriptor file, open_descriptor(path, O_WRONLY));
  ASSIGN_OR_RETURN(const std::uint64_t old_size, file_size(file, path));
  if (size > old_size) {
    return fail(ErrorCode::kInvalid, "cannot cut {} to {} bytes: it has only {}", path, size,
                old_size);
  }
  if (retry([&] { return ::ftruncate(file.get(), static_cast<off_t>(size)); }) != 0) {
    return system_error("cut", path);
  }
  if (retry([&] { return ::fsync(file.get()); }) != 0) return system_error("sync", path);
  return {};
}

base::Status PosixFileSystem::punch(const std::string& path, std::uint64_t offset,
                                    std::uint64_t length) {
  ASSIGN_OR_RETURN(const Descriptor file, open_descriptor(path, O_WRONLY));
  const int status = retry([&] {
    return ::fallocate(file.get(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                       static_cast<off_t>(offset), static_cast<off_t>(length));
  });
  if (status != 0 && errno != EOPNOTSUPP && errno != ENOSYS) return system_error("punch", path);
  return {};
}

base::Status PosixFileSystem::rename(const std::string& from, const std::string& to) {
  if (::rename(from.c_str(), to.c_str()) != 0) {
    return system_error("rename", fmt::format("{} to {}", from, to));
  }
  return {};
}

base::Status PosixFileSystem::remove(const std::string& path) {
  if (::unlink(path.c_str()) != 0) return system_error("remove", path);
  return {};
}

base::Status PosixFileSystem::make_dirs(const std::string& path) {
  std::size_t end = 0;
  while (end < path.size()) {
    end = std::min(path.find('/', end + 1), path.size());
    const std::string part = path.substr(0, end);
    const bool is_last = path.find_first_not_of('/', end) == std::string::npos;
    if (part.ends_with('/')) continue;  // "/" itself, or a doubled one
    RETURN_IF_ERROR(make_dir(part, is_last));
  }
  return {};
}

base::Status PosixFileSystem::sync_dir(const std::string& path) { return sync_folder(path); }

base::Result<bool> PosixFileSystem::exists(const std::string& path) {
  struct stat status{};
  if (::stat(path.c_str(), &status) == 0) return true;
  if (errno == ENOENT || errno == ENOTDIR) return false;
  return system_error("examine", path);
}

base::Result<std::uint64_t> PosixFileSystem::size(const std::string& path) {
  struct stat status{};
  if (::stat(path.c_str(), &status) != 0) return system_error("examine", path);
  if (S_ISDIR(status.st_mode)) return fail(ErrorCode::kInvalid, "{} is a folder", path);
  return static_cast<std::uint64_t>(status.st_size);
}

base::Result<FileStamp> PosixFileSystem::stamp(const std::string& path) {
  struct stat status{};
  if (::stat(path.c_str(), &status) != 0) return system_error("examine", path);
  if (S_ISDIR(status.st_mode)) return fail(ErrorCode::kInvalid, "{} is a folder", path);
  constexpr std::int64_t kNsPerSecond = 1'000'000'000;
  return FileStamp{.size = static_cast<std::uint64_t>(status.st_size),
                   .modified_ns = status.st_mtim.tv_sec * kNsPerSecond + status.st_mtim.tv_nsec,
                   .node = static_cast<std::uint64_t>(status.st_ino)};
}

base::Result<std::vector<std::string>> PosixFileSystem::list(const std::string& path) {
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(::opendir(path.c_str()), ::closedir);
  if (!folder) return system_error("list", path);
  std::vector<std::string> names;
  errno = 0;
  while (const dirent* entry = ::readdir(folder.get())) {
    const std::string_view name(static_cast<const char*>(entry->d_name));
    if (name != "." && name != "..") names.emplace_back(name);
    errno = 0;
  }
  if (errno != 0) return system_error("list", path);
  std::ranges::sort(names);
  return names;
}

base::Result<std::uint64_t> PosixFileSystem::free_space(const std::string& path) {
  struct statvfs status{};
  if (retry([&] { return ::statvfs(path.c_str(), &status); }) != 0) {
    return system_error("ask for the free space of", path);
  }
  return static_cast<std::uint64_t>(status.f_bavail) * status.f_frsize;
}

base::Result<std::unique_ptr<FileLock>> PosixFileSystem::lock(const std::string& path) {
  ASSIGN_OR_RETURN(Descriptor file, open_descriptor(path, O_RDWR | O_CREAT));
  if (retry([&] { return ::flock(file.get(), LOCK_EX | LOCK_NB); }) != 0) {
    if (errno != EWOULDBLOCK) return system_error("lock", path);
    return fail(ErrorCode::kBusy, "{} is held{}", path, holder_of(file));
  }
  // Only for the message to others, so that a full disk does no harm here.
  const std::string pid = fmt::format("{}\n", ::getpid());
  if (::ftruncate(file.get(), 0) == 0) {
    std::ignore = ::pwrite(file.get(), pid.data(), pid.size(), 0);
  }
  return std::make_unique<PosixLock>(std::move(file));
}

base::Result<std::string> absolute_path(const std::string& path) {
  std::error_code error;
  const auto canonical = std::filesystem::weakly_canonical(path, error);
  if (error) return std::unexpected(Error::from_errno(error.value(), "cannot find " + path));
  return canonical.string();
}

}  // namespace meguri::env
