// CrawlSnapshot: how a crawl stands at one moment, in all the numbers that people and programs are
// told; and CrawlWatch, which takes them while it runs.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "app/crawl_graph.h"
#include "app/crawl_standing.h"
#include "base/time.h"
#include "crawl/access_schedule.h"
#include "crawl/host_directory.h"
#include "crawl/scheduler.h"
#include "crawl/url_rules.h"
#include "crawl/visit_tally.h"
#include "env/clock.h"
#include "env/file_system.h"
#include "env/process_usage.h"
#include "flow/engine.h"

namespace meguri::app {

struct CrawlSnapshot {
  base::Ticks real_now;      // for rates
  base::Ticks crawl_now;     // of the crawl's own clock, which may run faster
  base::Duration running{};  // real time since the watch began

  CrawlStanding standing;
  bool goes_on = false;     // for ever: pages are visited again
  std::uint64_t hosts = 0;  // that pages are known of
  std::uint64_t over_pages_max = 0;
  std::uint64_t over_host_max = 0;
  std::uint64_t came_again = 0;
  std::uint64_t from_history = 0;  // pages that came with their history, in this process
  std::uint64_t hinted = 0;  // visits before their time, because a sitemap or feed asked for it
  std::uint64_t hints_right = 0;
  std::uint64_t hints_wrong = 0;

  std::uint64_t candidates_accepted = 0;
  std::uint64_t candidates_renamed = 0;  // of these, from an alias
  std::array<std::uint64_t, crawl::kUrlReasons> candidates_refused{};
  crawl::HostCounts directory;
  crawl::AccessSummary schedule;
  crawl::SchedulerCounts accesses;
  crawl::VisitTotals visits;  // of this process
  flow::Metrics graph;
  env::ProcessUsage process;
  std::optional<std::uint64_t> disk_free_bytes;  // where the archive is

  // Why nothing is begun although it could be, such as "paused"; empty: nothing holds it.
  std::string held;

  // What all instances of a module hold.
  std::uint64_t backlog_of(std::string_view module) const;
  std::uint64_t failures() const;  // visits without an answer
};

// Thread-safe: every number it reads is made for other threads. What it is given outlives it, and
// the engine has been started.
class CrawlWatch {
 public:
  CrawlWatch(flow::Engine& engine, const CrawlGraph& nodes, const env::Clock& crawl_clock,
             env::FileSystem& files, std::string archive);

  CrawlSnapshot look() const;

 private:
  const flow::Engine& engine_;
  const crawl::Registry& registry_;
  const crawl::UrlFilter& filter_;
  const crawl::HostDirectory& hosts_;
  const crawl::Scheduler& scheduler_;
  const crawl::CrawlLog& log_;
  const env::RealClock real_clock_;
  const env::Clock& crawl_clock_;
  env::FileSystem& files_;
  const std::string archive_;
  const base::Ticks began_;
};

}  // namespace meguri::app
