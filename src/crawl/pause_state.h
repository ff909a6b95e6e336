// PauseState: what somebody told a crawl not to fetch for now, and the file that keeps it.
#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <vector>

#include "base/result.h"
#include "env/file_system.h"

namespace meguri::crawl {

struct PauseState {
  bool all = false;
  std::set<std::string> hosts;  // names, lower-case and without port

  static constexpr std::size_t kHostsMax = 10'000;

  friend bool operator==(const PauseState&, const PauseState&) = default;
};

// Pauses these hosts, or lets them go on; without any, the whole crawl, and with it, when it goes
// on, every host. kInvalid: more than kHostsMax.
base::Status change(PauseState& state, bool is_paused, const std::vector<std::string>& hosts);

// STATE/paused holds one line "all" and one "host NAME" for each host; without a file nothing is
// paused. It is replaced as a whole, so that a pause that was acknowledged outlives a crash at any
// moment, whatever epoch the crawl goes back to. Only who holds the archive's lock may write.
base::Result<PauseState> load_pauses(env::FileSystem& files, const std::string& state_dir);
base::Status save_pauses(env::FileSystem& files, const std::string& state_dir,
                         const PauseState& state);

}  // namespace meguri::crawl
