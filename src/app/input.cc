#include "app/input.h"

#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "env/posix_file_system.h"

namespace meguri::app {
namespace {

base::Result<Input> read_standard_input() {
  Input input;
  std::array<char, 1U << 16U> buffer{};
  while (true) {
    const ssize_t size = ::read(STDIN_FILENO, buffer.data(), buffer.size());
    if (size == 0) return input;
    if (size < 0) {
      if (errno == EINTR) continue;
      return std::unexpected(base::Error::from_errno(errno, "cannot read standard input"));
    }
    input.bytes.append(buffer.data(), static_cast<std::size_t>(size));
    if (input.bytes.size() > kDocumentBytesMax) {
      input.bytes.resize(kDocumentBytesMax);
      input.cut = true;
      return input;
    }
  }
}

}  // namespace

base::Result<Input> read_input(const std::string& path) {
  if (path == "-") return read_standard_input();
  struct stat status{};
  if (::stat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode)) {
    return base::fail(base::ErrorCode::kInvalid, "{} is a folder; name a file in it", path);
  }
  env::PosixFileSystem fs;
  ASSIGN_OR_RETURN(const auto file, fs.open_read(path));
  Input input;
  // One byte more than is kept tells whether there is more.
  RETURN_IF_ERROR(file->read_at(0, kDocumentBytesMax + 1, &input.bytes));
  if (input.bytes.size() > kDocumentBytesMax) {
    input.bytes.resize(kDocumentBytesMax);
    input.cut = true;
  }
  return input;
}

}  // namespace meguri::app
