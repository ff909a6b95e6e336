// HostPageCounts: how many pages of each host are known, how many of these are done, how often they
// want to be visited, and whether what the host says of them is right.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "crawl/durable_log.h"
#include "crawl/index_table.h"
#include "env/file_system.h"
#include "flow/lane.h"
#include "revisit/hints.h"

namespace meguri::crawl {

// Hosts have the indices in which order they came, also after a restart. Durable by epochs, as
// DurableLog is. Thread-compatible.
class HostPageCounts {
 public:
  struct Host {
    std::string name;
    std::uint64_t pages = 0;
    std::uint64_t done = 0;
    double load = 0;                 // visits a day
    base::Instant since = {};        // none of its pages was visited before
    revisit::HintRecord hints = {};  // of its sitemaps and feeds
  };

  static base::Result<std::unique_ptr<HostPageCounts>> open(env::FileSystem& files, std::string dir,
                                                            std::string_view state);
  // The same for who only looks: nothing on disk changes, and nothing may be added.
  static base::Result<std::vector<Host>> read(env::FileSystem& files, std::string dir,
                                              std::string_view state);

  std::size_t size() const { return hosts_.size(); }
  const Host& operator[](Index host) const { return hosts_[host].counts; }

  // A new host, without pages.
  Index add_host(std::string_view name, base::Instant now);
  void count_page(Index host);
  void count_done(Index host);
  void change_load(Index host, double visits_a_day);
  void set_hints(Index host, const revisit::HintRecord& hints);

  base::Result<std::string> commit(flow::EpochId epoch);
  base::Status on_durable(flow::EpochId epoch) { return log_->on_durable(epoch); }

 private:
  struct Entry {
    Host counts;
    bool is_dirty = false;
  };

  void touch(Index host);
  void save(DurableLog& log, Index host) const;

  std::deque<Entry> hosts_;
  std::vector<Index> dirty_;
  std::uint64_t live_bytes_ = 0;
  std::unique_ptr<DurableLog> log_;
};

}  // namespace meguri::crawl
