// ArchiveState: what an archive on which no crawl runs knows of its pages and hosts, read from the
// last checkpoint without changing anything.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/crawl_standing.h"
#include "base/hash.h"
#include "base/result.h"
#include "crawl/control_messages.h"
#include "crawl/durable_map.h"
#include "crawl/host_rules.h"
#include "crawl/host_table.h"
#include "crawl/pause_state.h"
#include "env/file_system.h"

namespace meguri::app {

// Holds all pages in memory, as the crawl does. What it cannot know: the rules of the filter, which
// are the command line's, and addresses, which are not kept. Thread-compatible.
class ArchiveState {
 public:
  // An archive without a checkpoint is empty. `agent` is the name robots.txt knows us by.
  static base::Result<ArchiveState> load(env::FileSystem& files, const std::string& state_dir,
                                         const std::string& agent);

  // kInvalid: not a URL.
  base::Result<crawl::WhyFacts> why(const std::string& text) const;
  crawl::HostList hosts(const crawl::AskHosts& ask) const;
  CrawlStanding standing() const;
  const crawl::PauseState& pauses() const { return pauses_; }

 private:
  std::optional<crawl::PageRecord> find(const base::Id& id) const;
  template <typename Use>
  void for_each_page(Use use) const;

  std::vector<std::unique_ptr<crawl::DurableMap>> pages_;  // of each Registry
  std::unique_ptr<crawl::HostRules> rules_;                // none: what a host was told is not kept
  std::unique_ptr<crawl::HostTable> table_;
  crawl::PauseState pauses_;
};

}  // namespace meguri::app
