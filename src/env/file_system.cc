#include "env/file_system.h"

#include <tuple>

namespace meguri::env {

base::Result<std::string> read_file(FileSystem& fs, const std::string& path) {
  ASSIGN_OR_RETURN(const auto file, fs.open_read(path));
  ASSIGN_OR_RETURN(const std::uint64_t size, file->size());
  std::string bytes;
  RETURN_IF_ERROR(file->read_at(0, size, &bytes));
  return bytes;
}

namespace {

base::Status write_new_file(FileSystem& fs, const std::string& path, std::string_view bytes) {
  ASSIGN_OR_RETURN(const auto file, fs.create(path));
  RETURN_IF_ERROR(file->append(bytes));
  return file->sync();
}

}  // namespace

base::Status write_file_atomically(FileSystem& fs, const std::string& path,
                                   std::string_view bytes) {
  const std::string beside = path + ".new";
  // One may have been left by a crash.
  if (auto removed = fs.remove(beside);
      !removed && removed.error().code() != base::ErrorCode::kNotFound) {
    return removed;
  }
  if (auto written = write_new_file(fs, beside, bytes); !written) {
    std::ignore = fs.remove(beside);  // it may take the last space of the disk
    return written;
  }
  RETURN_IF_ERROR(fs.rename(beside, path));
  return fs.sync_dir(parent_of(path));
}

std::string parent_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

}  // namespace meguri::env
