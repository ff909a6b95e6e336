#include "env/scratch_folder.h"

#include <fmt/format.h>
#include <stdlib.h>  // NOLINT(modernize-deprecated-headers): mkdtemp is POSIX's
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <utility>

namespace meguri::env {

base::Result<ScratchFolder> ScratchFolder::make(std::string_view prefix) {
  const char* const chosen = std::getenv("TMPDIR");
  const std::string parent = chosen != nullptr && *chosen != '\0' ? chosen : "/tmp";
  std::string path = fmt::format("{}/{}-XXXXXX", parent, prefix);
  if (::mkdtemp(path.data()) == nullptr) {
    return std::unexpected(base::Error::from_errno(
        errno, fmt::format("cannot make a folder in {} (TMPDIR names another place)", parent)));
  }
  return ScratchFolder(std::move(path));
}

base::Result<ScratchFolder> ScratchFolder::make_at(const std::string& path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (error) {
    return std::unexpected(
        base::Error::from_errno(error.value(), fmt::format("cannot make the folder {}", path)));
  }
  const bool is_empty = std::filesystem::is_empty(path, error);
  if (error) {
    return std::unexpected(
        base::Error::from_errno(error.value(), fmt::format("cannot read the folder {}", path)));
  }
  if (!is_empty) {
    return base::fail(base::ErrorCode::kInvalid, "{} is not empty; name a new folder", path);
  }
  return ScratchFolder(path);
}

ScratchFolder::ScratchFolder(ScratchFolder&& other) noexcept
    : path_(std::exchange(other.path_, {})), is_kept_(other.is_kept_) {}

ScratchFolder::~ScratchFolder() {
  if (path_.empty() || is_kept_) return;
  std::error_code ignored;  // nothing is lost but space, and there is nobody to tell
  std::filesystem::remove_all(path_, ignored);
}

base::Status remove_empty_folder(const std::string& path) {
  if (::rmdir(path.c_str()) == 0) return {};
  return std::unexpected(
      base::Error::from_errno(errno, fmt::format("cannot remove the folder {}", path)));
}

}  // namespace meguri::env
