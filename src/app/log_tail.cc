#include "app/log_tail.h"

#include <memory>
#include <string_view>

#include "sim/access_log.h"

namespace meguri::app {

base::Status LogTail::read() {
  constexpr std::size_t kReadBytesMax = std::size_t{16} << 20U;  // the rest waits for the next call
  ASSIGN_OR_RETURN(const std::unique_ptr<env::ReadableFile> file, files_.open_read(path_));
  std::string bytes;
  RETURN_IF_ERROR(file->read_at(offset_, kReadBytesMax, &bytes));
  std::string_view rest = bytes;
  for (;;) {
    const std::size_t end = rest.find('\n');
    if (end == rest.npos) return {};  // a line that is not whole is read again
    const auto access = sim::parse_access(rest.substr(0, end));
    if (!access) return std::unexpected(access.error().with_context(path_));
    rest.remove_prefix(end + 1);
    offset_ += end + 1;
    ++requests_;
    hosts_.insert(access->host);
    if (access->target != "/robots.txt") addresses_.emplace(access->host, access->target);
  }
}

}  // namespace meguri::app
