#include "env/log_file.h"

#include <fcntl.h>
#include <spdlog/sinks/rotating_file_sink.h>
#include <unistd.h>

#include <cstdio>

#include "env/file_system.h"

namespace meguri::env {

base::Result<std::shared_ptr<spdlog::sinks::sink>> open_log_file(const std::string& path,
                                                                 const LogFileLimits& limits) {
  // spdlog would make the folder, and would tell a missing permission only as text.
  if (::access(parent_of(path).c_str(), W_OK | X_OK) != 0) {
    return std::unexpected(base::Error::from_errno(errno, fmt::format("cannot log to {}", path)));
  }
  spdlog::file_event_handlers handlers;
  handlers.after_open = [](const spdlog::filename_t& /*name*/, std::FILE* file) {
    // Programs we start must not inherit it.
    ::fcntl(::fileno(file), F_SETFD, FD_CLOEXEC);
  };
  try {
    return std::make_shared<spdlog::sinks::rotating_file_sink_mt>(
        path, limits.bytes_max, limits.old_files_max, false, handlers);
  } catch (const spdlog::spdlog_ex& problem) {
    return base::fail(base::ErrorCode::kIo, "cannot log to {}: {}", path, problem.what());
  }
}

}  // namespace meguri::env
