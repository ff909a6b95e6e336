#include "bench/crawl_work.h"

#include <fmt/format.h>
#include <unistd.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <utility>

#include "app/crawl_graph.h"
#include "base/check.h"
#include "env/clock.h"
#include "env/posix_file_system.h"
#include "fetch/ares_dns.h"
#include "fetch/curl_http_client.h"
#include "flow/thread_engine.h"

namespace meguri::bench {
namespace {

constexpr base::Instant kStart =
    base::Instant::from_ms(1'767'225'600'000);  // as virtual-web has it

std::string count_text(std::uint64_t count) { return fmt::format("{}", count); }

// As the product makes them, but no host and no server is waited for.
crawl::CrawlOptions options_of(std::string seed, const std::string& archive, bool is_https) {
  crawl::CrawlOptions options;
  options.seeds = {std::move(seed)};
  options.scope.scope = crawl::Scope::kAny;
  options.scope.embeds = false;  // images are small: as pages they would make the mean better
  options.access.host_wait_ms_min = 0;
  options.access.server_gap_ms = 0;
  options.access.duration_factor = 0;
  options.tries_max = 1;  // what fails is not waited for
  // With the waits of a polite crawl each page is a handshake.
  options.keeps_connections = !is_https;
  options.user_agent = "Mozilla/5.0 (compatible; meguri; bench)";
  options.warc.series.dir = archive + "/warc";
  options.warc.info.software = "meguri";
  options.warc.info.user_agent = options.user_agent;
  return options;
}

base::Result<app::CrawlSeams> seams_of(const WebProcess& web, const std::string& ca_file,
                                       env::FileSystem& files, const crawl::CrawlOptions& options,
                                       const std::string& state_dir) {
  app::CrawlSeams seams;
  ASSIGN_OR_RETURN(seams.addresses, fetch::AddressPolicy::parse({"127.0.0.0/8"}));
  fetch::CurlOptions http;
  http.policy = seams.addresses;
  http.in_flight_max = options.connections_max;
  seams.spool = app::make_spool(options, files, state_dir);
  http.spool = seams.spool;
  ASSIGN_OR_RETURN(http.extra_ca_pem, env::read_file(files, ca_file));
  fetch::AresOptions names;
  names.servers = {web.dns()};
  seams.make_http = [http](const env::Clock& clock) {
    return fetch::make_curl_http_client(clock, http).value();
  };
  seams.make_dns = [names](const env::Clock& clock) {
    return fetch::make_ares_dns(clock, names).value();
  };
  return seams;
}

nlohmann::json figures_of(const flow::Metrics& metrics, const crawl::RegistryCounts& counts) {
  nlohmann::json figures;
  std::uint64_t visits = 0;
  for (const auto& count : counts.visited) visits += count.load();
  figures["visits"] = visits;
  figures["pages"] = counts.visited[static_cast<std::size_t>(crawl::VisitOutcome::kChanged)].load();
  figures["epochs"] = metrics.durable_epoch;
  for (const flow::InstanceMetrics& one : metrics.instances) {
    figures["modules"].push_back({{"name", one.name}, {"seconds", one.cpu_seconds}});
    if (one.name == "filter") figures["offers"] = one.items_in;
  }
  return figures;
}

// In the child: the whole crawl, and its figures on standard output.
base::Status crawl(const WebProcess& web, bool is_https, std::string seed,
                   const std::string& ca_file, const std::string& archive) {
  env::PosixFileSystem files;
  const env::RealClock clock;
  const crawl::CrawlOptions options = options_of(std::move(seed), archive, is_https);
  const std::string state_dir = archive + "/state";
  ASSIGN_OR_RETURN(const app::CrawlSeams seams, seams_of(web, ca_file, files, options, state_dir));
  RETURN_IF_ERROR(files.make_dirs(state_dir));
  RETURN_IF_ERROR(seams.spool->open());
  RETURN_IF_ERROR(files.make_dirs(archive + "/warc"));
  app::CrawlGraph nodes = app::build_crawl(options, seams);
  flow::ThreadEngine engine(std::move(nodes.graph), {.clock = &clock,
                                                     .files = &files,
                                                     .state_dir = state_dir,
                                                     .epoch_every = base::Duration::seconds(1),
                                                     .counts_cpu = true});
  const std::int64_t began = clock.nanoseconds();
  RETURN_IF_ERROR(engine.start());
  RETURN_IF_ERROR(engine.run_until_quiet());
  RETURN_IF_ERROR(engine.drain());
  auto figures = figures_of(engine.metrics(), engine.module(nodes.registry).counts());
  figures["wall"] = static_cast<double>(clock.nanoseconds() - began) / 1e9;
  std::uint64_t bytes = 0;
  ASSIGN_OR_RETURN(const auto names, files.list(archive + "/warc"));
  for (const std::string& name : names) {
    ASSIGN_OR_RETURN(const std::uint64_t size, files.size(archive + "/warc/" + name));
    bytes += size;
  }
  figures["warc_bytes"] = bytes;
  const std::string text = figures.dump();
  CHECK(::write(STDOUT_FILENO, text.data(), text.size()) == static_cast<ssize_t>(text.size()));
  return {};
}

}  // namespace

sim::World CrawlLoad::world() const {
  sim::WorldOptions options;
  options.census.hosts = servers;
  options.census.servers = servers;
  options.census.pages = pages;
  options.census.size_exponent = 0;
  options.start = kStart;
  options.delay_mean = {};
  options.crawl_delays = false;
  options.make_sound();
  return sim::World(options);
}

std::vector<std::string> CrawlLoad::web_arguments(const std::string& ca_file) const {
  return {"--hosts",
          count_text(servers),
          "--servers",
          count_text(servers),
          "--pages",
          count_text(pages),
          "--no-crawl-delay",
          "--sound",
          "--size-exponent",
          "0",
          "--ca",
          ca_file};
}

base::Result<CrawlCost> measure_crawl(const WebProcess& web, bool is_https,
                                      const std::string& ca_file, const std::string& archive) {
  std::string seed = web.first();
  if (is_https) {
    const std::size_t end = seed.rfind(':');
    seed = fmt::format("https{}:{}/", seed.substr(4, end - 4), web.https_port());
  }
  const ChildEnd end = run_child([&] {
    const base::Status status = crawl(web, is_https, seed, ca_file, archive);
    if (!status) fmt::print(stderr, "{}\n", status.error().message());
    return status ? 0 : 1;
  });
  const auto figures = nlohmann::json::parse(end.output, nullptr, false);
  if (!end.is_good || figures.is_discarded()) {
    return base::fail(base::ErrorCode::kFailed, "the crawl of {} failed", seed);
  }
  CrawlCost cost;
  cost.pages = figures["pages"].get<double>();
  cost.visits = figures["visits"].get<double>();
  cost.offers = figures["offers"].get<double>();
  cost.epochs = figures["epochs"].get<double>();
  cost.seconds = figures["wall"].get<double>();
  cost.warc_mb = figures["warc_bytes"].get<double>() / 1e6;
  cost.cpu_seconds = end.cpu_seconds;
  cost.peak_mb = end.peak_mb;
  for (const auto& module : figures["modules"]) {
    cost.modules.push_back({module["name"].get<std::string>(), module["seconds"].get<double>()});
  }
  return cost;
}

std::vector<SamplePage> sample_pages(const CrawlLoad& load) {
  const sim::World world = load.world();
  std::vector<SamplePage> pages;
  sim::Dice dice{20'000};
  while (pages.size() < load.sample) {
    const sim::HostNumber host = dice.below(world.census().hosts());
    const sim::Site site(world.census(), host);
    const sim::PageNumber page = dice.below(site.pages());
    pages.push_back({world.census().name_of(host), site.address_of(page)});
  }
  return pages;
}

}  // namespace meguri::bench
