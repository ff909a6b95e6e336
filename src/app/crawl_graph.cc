#include "app/crawl_graph.h"

#include <memory>

#include "crawl/exclusion_file.h"

namespace meguri::app {

using namespace crawl;  // NOLINT(google-build-using-namespace): this file is about nothing else

std::shared_ptr<env::Spool> make_spool(const CrawlOptions& options, env::FileSystem& files,
                                       const std::string& state_dir) {
  // The crawl holds when the disk has reached its floor. What is under way may go below it, but not
  // so far that there is no room for the archive itself.
  const env::SpoolLimits limits{.value_memory_max = options.body_memory_max,
                                .memory_max = options.bodies_memory_max,
                                .bytes_max = options.bodies_bytes_max,
                                .disk_free_min = options.disk_free_min / 2};
  return std::make_shared<env::Spool>(files, state_dir + "/spool", limits);
}

CrawlGraph build_crawl(const CrawlOptions& options, const CrawlSeams& seams) {
  using flow::Edge;
  using flow::Kind;
  using flow::Split;
  CrawlGraph crawl;
  flow::Graph& graph = crawl.graph;

  const auto seeder = graph.add<Seeder>(
      "seeder", {.kind = Kind::kBlocking, .split = Split::kSingle}, options, seams.history);
  std::shared_ptr<ExclusionFile> exclusions;
  if (!options.scope.exclusion_file.empty() || !options.scope.own_exclusion_file.empty()) {
    exclusions = std::make_shared<ExclusionFile>(options.scope.exclusion_file,
                                                 options.scope.own_exclusion_file);
    graph.add<ExclusionWatch>("exclusions", {.kind = Kind::kBlocking, .split = Split::kSingle},
                              exclusions);
  }
  const auto filter = graph.add<UrlFilter>("filter", {.split = Split::kSingle}, options.scope,
                                           options.seeds, exclusions);
  const auto registry =
      graph.add<Registry>("registry", {.kind = Kind::kBlocking, .split = Split::kKey}, options);
  const auto hosts =
      graph.add<HostDirectory>("hosts", {.kind = Kind::kBlocking, .split = Split::kKey}, options,
                               seams.addresses, exclusions);
  const auto resolver = graph.add<Resolver>("resolver", {.kind = Kind::kPoller}, seams.make_dns);
  const auto scheduler =
      graph.add<Scheduler>("scheduler", {.split = Split::kKey}, options.schedule, options.access);
  const auto fetcher =
      graph.add<Fetcher>("fetcher", {.kind = Kind::kPoller}, options, seams.make_http);
  const auto extractor = graph.add<Extractor>("extractor", {}, options, seams.spool);
  const auto writer = graph.add<ArchiveWriter>("writer", {.kind = Kind::kBlocking}, options,
                                               ArchiveLimits(), seams.index);
  const auto log =
      graph.add<CrawlLog>("log", {.kind = Kind::kBlocking, .split = Split::kSingle}, options.log);

  // Discovery: with markers, because it is what a crawl must not lose.
  graph.connect(seeder, &Seeder::candidates, filter, &UrlFilter::candidates);
  graph.connect(filter, &UrlFilter::accepted, registry, &Registry::candidates);
  graph.connect(writer, &ArchiveWriter::candidates, filter, &UrlFilter::candidates,
                Edge::spilling());
  graph.connect(hosts, &HostDirectory::offers, filter, &UrlFilter::candidates);
  graph.connect(hosts, &HostDirectory::aliases, filter, &UrlFilter::aliases);
  graph.connect(writer, &ArchiveWriter::reports, registry, &Registry::reports);
  graph.connect(writer, &ArchiveWriter::news, hosts, &HostDirectory::news);

  // The crawl log: with markers too, so that it tells of what is in the archive, and of that once.
  graph.connect(writer, &ArchiveWriter::notes, log, &CrawlLog::visits);
  graph.connect(registry, &Registry::notes, log, &CrawlLog::refusals);

  // What is in flight: under the Registry's credits, which hands it out again after a crash.
  graph.connect(registry, &Registry::due, hosts, &HostDirectory::due,
                Edge::credit(options.in_flight_max));
  const Edge carried = Edge::under_credit();
  graph.connect(hosts, &HostDirectory::questions, resolver, &Resolver::questions, carried);
  graph.connect(resolver, &Resolver::answers, hosts, &HostDirectory::names, carried);
  graph.connect(hosts, &HostDirectory::visits, scheduler, &Scheduler::visits, carried);
  graph.connect(scheduler, &Scheduler::leaving, hosts, &HostDirectory::leaving, carried);
  graph.connect(hosts, &HostDirectory::cleared, fetcher, &Fetcher::visits, carried);
  graph.connect(fetcher, &Fetcher::answers, extractor, &Extractor::answers, carried);
  graph.connect(extractor, &Extractor::findings, writer, &ArchiveWriter::findings, carried);
  graph.connect(fetcher, &Fetcher::ends, scheduler, &Scheduler::ends, carried);
  graph.connect(hosts, &HostDirectory::called_off, scheduler, &Scheduler::ends, carried);
  graph.connect(hosts, &HostDirectory::refused, registry, &Registry::refused, carried);
  graph.connect(scheduler, &Scheduler::refused, registry, &Registry::refused, carried);

  // What people ask, and what holds the crawl.
  crawl.mailbox = std::make_shared<ControlMailbox>();
  const auto control = graph.add<Control>(
      "control", {.kind = Kind::kBlocking, .split = Split::kSingle}, crawl.mailbox,
      ControlOptions{.disk = options.warc.series.dir, .free_bytes_min = options.disk_free_min});
  const Edge asked = Edge::credit(Control::kCredits);
  graph.connect(control, &Control::ask_registry, registry, &Registry::questions, asked);
  graph.connect(control, &Control::ask_filter, filter, &UrlFilter::questions, asked);
  graph.connect(control, &Control::ask_hosts, hosts, &HostDirectory::asked, asked);
  graph.connect(control, &Control::ask_scheduler, scheduler, &Scheduler::questions, asked);
  graph.connect(control, &Control::ask_seeder, seeder, &Seeder::added, asked);
  graph.connect(registry, &Registry::answers, control, &Control::of_registry, carried);
  graph.connect(filter, &UrlFilter::answers, control, &Control::of_filter, carried);
  graph.connect(hosts, &HostDirectory::answers, control, &Control::of_hosts, carried);
  graph.connect(scheduler, &Scheduler::answers, control, &Control::of_scheduler, carried);
  graph.connect(seeder, &Seeder::answers, control, &Control::of_seeder, carried);

  crawl.registry = registry;
  crawl.filter = filter;
  crawl.hosts = hosts;
  crawl.scheduler = scheduler;
  crawl.log = log;
  return crawl;
}

}  // namespace meguri::app
