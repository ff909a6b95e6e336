#include "app/output.h"

#include <cerrno>

#include "base/text.h"

namespace meguri::app {

void Output::write(std::string_view bytes) {
  if (error_number_ != 0) return;
  if (std::fwrite(bytes.data(), 1, bytes.size(), file_) != bytes.size()) error_number_ = errno;
}

void Output::flush() {
  if (std::fflush(file_) != 0 && error_number_ == 0) error_number_ = errno;
}

base::Status Output::finish() {
  flush();
  if (error_number_ == 0 || error_number_ == EPIPE) return {};
  return std::unexpected(base::Error::from_errno(error_number_, "cannot write to standard output"));
}

std::string printable(std::string_view text) {
  std::string safe;
  base::append_printable(text, &safe);
  return safe;
}

}  // namespace meguri::app
