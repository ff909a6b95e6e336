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
#include "crawl/host_aliases.h"
#include "crawl/host_page_counts.h"
#include "crawl/host_rules.h"
#include "crawl/host_table.h"
#include "crawl/page_store.h"
#include "crawl/pause_state.h"
#include "env/file_system.h"
#include "env/memory_file_system.h"
#include "env/overlay_file_system.h"

namespace meguri::app {

// What it cannot know: the rules of the filter, which
// are the command line's, and addresses, which are not kept. Thread-compatible.
class ArchiveState {
 public:
  // An archive without a checkpoint is empty. `agent` is the name robots.txt knows us by.
  static base::Result<ArchiveState> load(env::FileSystem& files, const std::string& state_dir,
                                         const std::string& agent);

  // kInvalid: not a URL.
  base::Result<crawl::WhyFacts> why(const std::string& text);
  crawl::HostList hosts(const crawl::AskHosts& ask) const;
  const CrawlStanding& standing() const { return standing_; }
  const crawl::PauseState& pauses() const { return pauses_; }

 private:
  base::Status load_registry(env::FileSystem& files, const std::string& dir,
                             std::string_view state);
  base::Result<std::optional<crawl::PageRecord>> find(const base::Id& id);
  crawl::HostFacts facts_of(const crawl::HostRecord& host) const;

  std::unique_ptr<env::MemoryFileSystem> scratch_;  // takes what stores write at opening
  std::unique_ptr<env::OverlayFileSystem> overlay_;
  std::vector<std::unique_ptr<crawl::PageStore>> pages_;  // of each Registry
  std::vector<crawl::HostPageCounts::Host> hosts_;
  CrawlStanding standing_;
  std::unique_ptr<crawl::HostRules> rules_;  // none: what a host was told is not kept
  std::unique_ptr<crawl::HostTable> table_;
  crawl::HostAliases aliases_{crawl::AliasOptions()};
  crawl::PauseState pauses_;
};

}  // namespace meguri::app
