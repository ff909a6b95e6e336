#include "crawl/pause_state.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "base/text.h"

namespace meguri::crawl {

namespace {

constexpr std::string_view kAll = "all";
constexpr std::string_view kHost = "host ";

std::string path_of(const std::string& state_dir) { return state_dir + "/paused"; }

}  // namespace

base::Status change(PauseState& state, bool is_paused, const std::vector<std::string>& hosts) {
  PauseState next = state;
  if (hosts.empty()) {
    next.all = is_paused;
    if (!is_paused) next.hosts.clear();
  }
  for (const std::string& host : hosts) {
    if (is_paused) {
      next.hosts.insert(host);
    } else {
      next.hosts.erase(host);
    }
  }
  if (next.hosts.size() > PauseState::kHostsMax) {
    return base::fail(base::ErrorCode::kInvalid, "at most {} hosts can be paused",
                      PauseState::kHostsMax);
  }
  state = std::move(next);
  return {};
}

base::Result<PauseState> load_pauses(env::FileSystem& files, const std::string& state_dir) {
  PauseState state;
  ASSIGN_OR_RETURN(const bool exists, files.exists(path_of(state_dir)));
  if (!exists) return state;
  ASSIGN_OR_RETURN(const std::string text, env::read_file(files, path_of(state_dir)));
  std::string_view rest = text;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    const std::string_view line = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (line == kAll) {
      state.all = true;
    } else if (line.starts_with(kHost)) {
      state.hosts.emplace(line.substr(kHost.size()));
    } else {
      return base::fail(base::ErrorCode::kCorrupt,
                        "{} says {}, which is neither 'all' nor 'host NAME'; remove that line",
                        path_of(state_dir), base::quoted(line));
    }
  }
  return state;
}

base::Status save_pauses(env::FileSystem& files, const std::string& state_dir,
                         const PauseState& state) {
  std::string text;
  if (state.all) text = std::string(kAll) + "\n";
  for (const std::string& host : state.hosts) {
    text += kHost;
    text += host + "\n";
  }
  return env::write_file_atomically(files, path_of(state_dir), text);
}

}  // namespace meguri::crawl
