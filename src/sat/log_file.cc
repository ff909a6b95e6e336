#include "sat/log_file.h"

namespace meguri::sat {

base::Result<std::unique_ptr<env::WritableFile>> reopen_log(
    env::FileSystem& files, const std::string& path, env::BlockKind kind, std::uint64_t size,
    const std::function<base::Result<bool>(std::string_view payload)>& use) {
  ASSIGN_OR_RETURN(const auto reader, files.open_read(path));
  env::Block block;
  env::BlockView view;
  for (std::uint64_t at = 0; at < size; at += block.size()) {
    ASSIGN_OR_RETURN(const env::BlockState state, block.read(*reader, kind, at, size, view));
    const auto damaged = [&](std::string_view why) {
      return base::fail(base::ErrorCode::kCorrupt,
                        "{} is damaged at {}, and is needed up to {}: {}", path, at, size, why);
    };
    if (state != env::BlockState::kWhole) return damaged(env::describe(state));
    if (view.number != at) return damaged("the block belongs elsewhere");
    ASSIGN_OR_RETURN(const bool is_good, use(view.payload));
    if (!is_good) return damaged("it holds something else");
  }
  ASSIGN_OR_RETURN(const std::uint64_t there, files.size(path));
  if (there > size) RETURN_IF_ERROR(files.truncate(path, size));
  return files.open_append(path);
}

}  // namespace meguri::sat
