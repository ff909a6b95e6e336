// The log file: JSON lines for base::Logger, turned over by size.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "base/result.h"

namespace spdlog::sinks {
class sink;  // NOLINT(readability-identifier-naming): as spdlog calls it
}  // namespace spdlog::sinks

namespace meguri::env {

struct LogFileLimits {
  std::size_t bytes_max = 32U << 20U;  // of one file
  std::size_t old_files_max = 4;       // meguri.1.jsonl, meguri.2.jsonl, ...
};

// Opens `path` for logger.set_json_sink(), appending to what is there. Its folder must exist.
// Logs go past FileSystem, because nothing is ever recovered from them. Thread-safe; shared,
// because spdlog shares its sinks with its loggers.
base::Result<std::shared_ptr<spdlog::sinks::sink>> open_log_file(const std::string& path,
                                                                 const LogFileLimits& limits = {});

}  // namespace meguri::env
