#include "app/crawl_snapshot.h"

#include <utility>

namespace meguri::app {

std::uint64_t CrawlSnapshot::backlog_of(std::string_view module) const {
  std::uint64_t backlog = 0;
  for (const flow::InstanceMetrics& instance : graph.instances) {
    const std::string_view name = instance.name;
    if (name.substr(0, name.find('#')) == module) backlog += instance.backlog;
  }
  return backlog;
}

std::uint64_t CrawlSnapshot::failures() const {
  std::uint64_t count = 0;
  for (const std::uint64_t visits_so : visits.by_fetch) count += visits_so;
  return count - visits.by_fetch[static_cast<std::size_t>(fetch::FetchOutcome::kAnswered)];
}

CrawlWatch::CrawlWatch(flow::Engine& engine, const CrawlGraph& nodes, const env::Clock& crawl_clock,
                       env::FileSystem& files, std::string archive)
    : engine_(engine),
      registry_(engine.module(nodes.registry)),
      filter_(engine.module(nodes.filter)),
      hosts_(engine.module(nodes.hosts)),
      scheduler_(engine.module(nodes.scheduler)),
      log_(engine.module(nodes.log)),
      crawl_clock_(crawl_clock),
      files_(files),
      archive_(std::move(archive)),
      began_(real_clock_.ticks()) {}

CrawlSnapshot CrawlWatch::look() const {
  CrawlSnapshot now;
  now.real_now = real_clock_.ticks();
  now.crawl_now = crawl_clock_.ticks();
  now.running = now.real_now - began_;
  const crawl::RegistryCounts& pages = registry_.counts();
  now.standing = CrawlStanding::of(pages);
  now.goes_on = registry_.goes_on();
  now.hosts = pages.hosts;
  now.over_pages_max = pages.over_pages_max;
  now.over_host_max = pages.over_host_max;
  now.came_again = pages.came_again;
  now.from_history = pages.from_history;
  now.hinted = pages.hinted;
  now.hints_right = pages.hints_right;
  now.hints_wrong = pages.hints_wrong;
  const crawl::UrlFilterCounts& candidates = filter_.counts();
  now.candidates_accepted = candidates.accepted;
  now.candidates_renamed = candidates.renamed;
  for (std::size_t i = 0; i < crawl::kUrlReasons; ++i) {
    now.candidates_refused[i] = candidates.refused[i];
  }
  now.directory = hosts_.counts();
  now.schedule = scheduler_.summary();
  now.held = now.schedule.paused;
  now.accesses = scheduler_.counts();
  now.visits = log_.totals();
  now.graph = engine_.metrics();
  now.process = env::process_usage();
  if (const auto free_bytes = files_.free_space(archive_)) now.disk_free_bytes = *free_bytes;
  return now;
}

}  // namespace meguri::app
