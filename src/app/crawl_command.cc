#include <fmt/format.h>

#include <array>
#include <atomic>
#include <csignal>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "app/build_info.h"
#include "app/command.h"
#include "app/crawl_graph.h"
#include "app/speed_arguments.h"
#include "app/stop_signals.h"
#include "app/values.h"
#include "base/console.h"
#include "base/progress.h"
#include "base/text.h"
#include "env/posix_file_system.h"
#include "fetch/ares_dns.h"
#include "fetch/curl_http_client.h"
#include "flow/thread_engine.h"
#include "web/canonical.h"
#include "web/url.h"

namespace meguri::app {
namespace {

using base::Duration;

constexpr Duration kEpoch = Duration::seconds(1);
constexpr Duration kFinishTime = Duration::seconds(10);  // for answers in flight, at a stop
constexpr Duration kLookEvery = Duration::from_ms(500);

base::Result<crawl::Scope> scope_of(const std::string& name) {
  if (name == "host") return crawl::Scope::kHost;
  if (name == "domain") return crawl::Scope::kDomain;
  if (name == "prefix") return crawl::Scope::kPrefix;
  if (name == "any") return crawl::Scope::kAny;
  return base::fail(base::ErrorCode::kInvalid, "--scope takes host, domain, prefix or any, not {}",
                    base::quoted(name));
}

// How a crawl stands, for people.
struct Standing {
  std::uint64_t known = 0;
  std::uint64_t done = 0;
  std::uint64_t waiting = 0;
  std::uint64_t in_flight = 0;
  std::array<std::uint64_t, crawl::kVisitOutcomes> visited{};
  std::array<std::uint64_t, crawl::kRefusals> refused{};

  static Standing of(const crawl::RegistryCounts& counts) {
    Standing standing;
    standing.known = counts.known;
    standing.done = counts.done;
    standing.waiting = counts.waiting;
    standing.in_flight = counts.in_flight;
    for (std::size_t i = 0; i < counts.visited.size(); ++i) standing.visited[i] = counts.visited[i];
    for (std::size_t i = 0; i < counts.refused.size(); ++i) standing.refused[i] = counts.refused[i];
    return standing;
  }

  nlohmann::json to_json() const {
    nlohmann::json by_outcome;
    for (std::size_t i = 0; i < visited.size(); ++i) {
      by_outcome[std::string(name_of(static_cast<crawl::VisitOutcome>(i)))] = visited[i];
    }
    nlohmann::json by_refusal;
    for (std::size_t i = 0; i < refused.size(); ++i) {
      by_refusal[std::string(name_of(static_cast<crawl::Refusal>(i)))] = refused[i];
    }
    return {{"pages", known},
            {"done", done},
            {"waiting", waiting + in_flight},
            {"visited", by_outcome},
            {"refused", by_refusal}};
  }

  std::string to_string() const {
    std::string text = fmt::format("{} of {} pages done", done, known);
    for (std::size_t i = 0; i < visited.size(); ++i) {
      if (visited[i] == 0) continue;
      text += fmt::format(", {} {}", visited[i], name_of(static_cast<crawl::VisitOutcome>(i)));
    }
    for (std::size_t i = 0; i < refused.size(); ++i) {
      if (refused[i] == 0) continue;
      text += fmt::format(", {} refused ({})", refused[i], name_of(static_cast<crawl::Refusal>(i)));
    }
    return text;
  }
};

class CrawlCommand final : public Command {
 public:
  void declare(Options options) override {
    options.arguments("SEED", seeds_, "URLs to begin with");
    options.option("--archive", "DIR", archive_, "Where the archive is, or is to be");
    options.flag("--once", once_, "Visit every page once, and end when none is left");
    options.option(
        "--scope", "SCOPE", scope_,
        "Follow links within the host, domain or prefix of a seed, or any (default: host)");
    options.list("--include", "REGEX", includes_, "Only URLs in which this is found");
    options.list("--exclude", "REGEX", excludes_, "No URLs in which this is found");
    options.option("--max-pages", "N", pages_max_, "Register no more pages than this");
    options.option("--max-pages-per-host", "N", pages_per_host_max_, "Nor more of one host");
    options.option("--max-depth", "N", depth_max_,
                   "Follow so many links from a seed (default: 100)");
    options.option("--min-delay", "DURATION", delay_,
                   "Least time from an answer of a host to the next request (default: 5s)");
    options.option("--server-gap", "DURATION", server_gap_,
                   "Least time from an answer of a server to the next request (default: 1s)");
    options.option("--user-agent", "TEXT", user_agent_, "Who visits; it should hold a contact");
    options.list("--dns", "HOST:PORT", dns_, "Ask this name server instead of the system's");
    options.list("--allow-network", "CIDR", networks_,
                 "Visit hosts in this network though it is not public, such as 127.0.0.0/8");
    options.option("--ca", "FILE", ca_, "Trust the certificates in this PEM file too");
    options.option("--for", "DURATION", for_,
                   "Stop after so much real time; the same command goes on");
    speed_.declare(options);
    options.flag("--json", json_, "Print one JSON object at the end");
  }

  base::Status run(Output& out) override;

 private:
  base::Result<crawl::CrawlOptions> crawl_options() const;
  base::Result<CrawlSeams> seams(const crawl::CrawlOptions& options, const env::Clock& clock,
                                 env::FileSystem& files) const;
  base::Status work(flow::ThreadEngine& engine, const CrawlGraph& nodes,
                    const StopSignals& signals);

  std::vector<std::string> seeds_;
  std::string archive_;
  std::string scope_;
  std::vector<std::string> includes_;
  std::vector<std::string> excludes_;
  std::string pages_max_;
  std::string pages_per_host_max_;
  std::string depth_max_;
  std::string delay_;
  std::string server_gap_;
  std::string user_agent_;
  std::vector<std::string> dns_;
  std::vector<std::string> networks_;
  std::string ca_;
  std::string for_;
  SpeedArguments speed_;
  bool once_ = false;
  bool json_ = false;
  bool stopped_ = false;  // before everything was done
};

base::Result<crawl::CrawlOptions> CrawlCommand::crawl_options() const {
  crawl::CrawlOptions options;
  for (const std::string& seed : seeds_) {
    const auto url = web::Url::parse(seed);
    if (!url || !url->is_http()) {
      return base::fail(base::ErrorCode::kInvalid, "{} is no http or https URL",
                        base::quoted(seed));
    }
    options.seeds.push_back(web::canonical(*url).href());
  }
  if (!scope_.empty()) {
    ASSIGN_OR_RETURN(options.scope.scope, scope_of(scope_));
  }
  options.scope.includes = includes_;
  options.scope.excludes = excludes_;
  if (!depth_max_.empty()) {
    ASSIGN_OR_RETURN(const std::uint64_t depth, parse_count("--max-depth", depth_max_));
    options.scope.depth_max = static_cast<std::uint32_t>(std::min<std::uint64_t>(depth, 1'000'000));
  }
  if (!pages_max_.empty()) {
    ASSIGN_OR_RETURN(options.pages_max, parse_count("--max-pages", pages_max_));
  }
  if (!pages_per_host_max_.empty()) {
    ASSIGN_OR_RETURN(options.pages_per_host_max,
                     parse_count("--max-pages-per-host", pages_per_host_max_));
  }
  const auto read_ms = [](std::string_view option, const std::string& text,
                          std::uint32_t* ms) -> base::Status {
    if (text.empty()) return {};
    ASSIGN_OR_RETURN(const Duration duration, parse_duration(option, text));
    *ms = static_cast<std::uint32_t>(std::min<std::int64_t>(duration.ms(), 86'400'000));
    return {};
  };
  RETURN_IF_ERROR(read_ms("--min-delay", delay_, &options.access.host_wait_ms_min));
  RETURN_IF_ERROR(read_ms("--server-gap", server_gap_, &options.access.server_gap_ms));
  options.user_agent = user_agent_.empty()
                           ? fmt::format("Mozilla/5.0 (compatible; meguri/{})", version())
                           : user_agent_;
  options.warc.series.dir = archive_ + "/warc";
  options.warc.info.software = fmt::format("meguri/{}", version());
  options.warc.info.robots = "RFC 9309";
  options.warc.info.user_agent = options.user_agent;
  return options;
}

base::Result<CrawlSeams> CrawlCommand::seams(const crawl::CrawlOptions& options,
                                             const env::Clock& clock,
                                             env::FileSystem& files) const {
  CrawlSeams seams;
  ASSIGN_OR_RETURN(seams.addresses, fetch::AddressPolicy::parse(networks_));
  fetch::CurlOptions http;
  http.policy = seams.addresses;
  http.in_flight_max = options.connections_max;
  if (!ca_.empty()) {
    ASSIGN_OR_RETURN(http.extra_ca_pem, env::read_file(files, ca_));
  }
  fetch::AresOptions names;
  names.servers = dns_;
  // Made once to find what is wrong with the options; a module cannot say it so well.
  ASSIGN_OR_RETURN(const auto tried_http, fetch::make_curl_http_client(clock, http));
  ASSIGN_OR_RETURN(const auto tried_names, fetch::make_ares_dns(clock, names));
  seams.make_http = [http](const env::Clock& own) {
    return fetch::make_curl_http_client(own, http).value();
  };
  seams.make_dns = [names](const env::Clock& own) {
    return fetch::make_ares_dns(own, names).value();
  };
  return seams;
}

// Until all is done, a signal comes, or the time is over.
base::Status CrawlCommand::work(flow::ThreadEngine& engine, const CrawlGraph& nodes,
                                const StopSignals& signals) {
  std::optional<Duration> limit;
  if (!for_.empty()) {
    ASSIGN_OR_RETURN(limit, parse_duration("--for", for_));
  }
  const crawl::RegistryCounts& counts = engine.module(nodes.registry).counts();
  const crawl::Scheduler& scheduler = engine.module(nodes.scheduler);
  const env::RealClock clock;
  base::Progress progress(base::Console::standard_error());
  std::atomic<bool> is_over = false;
  std::thread watch([&] {
    const base::Ticks start = clock.ticks();
    int stops = 0;
    base::Ticks last_stop;
    while (!is_over) {
      const bool signalled = signals.wait(kLookEvery);
      const base::Ticks now = clock.ticks();
      const bool is_late = stops == 0 && limit && now - start >= *limit;
      const bool is_slow = stops == 1 && now - last_stop >= kFinishTime;
      if (signalled || is_late || is_slow) {
        ++stops;
        last_stop = now;
        engine.stop_soon();
      }
      const Standing standing = Standing::of(counts);
      progress.update(now,
                      fmt::format("{}; {}", standing.to_string(), scheduler.summary().to_string()));
    }
  });
  base::Status status = engine.run_until_quiet();
  if (!status && status.error().code() == base::ErrorCode::kStopped) {
    stopped_ = true;
    status = {};
  }
  if (status) status = engine.drain();
  if (!status && status.error().code() == base::ErrorCode::kStopped) status = engine.stop();
  is_over = true;
  watch.join();
  progress.finish(Standing::of(counts).to_string());
  return status;
}

base::Status CrawlCommand::run(Output& out) {
  if (archive_.empty()) {
    return base::fail(base::ErrorCode::kInvalid,
                      "say where the archive is to be, by --archive DIR");
  }
  if (!once_) {
    return base::fail(base::ErrorCode::kInvalid,
                      "a crawl that goes on for ever is not there yet; give --once");
  }
  const StopSignals signals;
  env::PosixFileSystem files;
  ASSIGN_OR_RETURN(const crawl::CrawlOptions options, crawl_options());
  ASSIGN_OR_RETURN(const std::unique_ptr<env::Clock> clock, speed_.make());
  ASSIGN_OR_RETURN(const CrawlSeams network, seams(options, *clock, files));
  RETURN_IF_ERROR(files.make_dirs(archive_ + "/state"));
  RETURN_IF_ERROR(files.make_dirs(archive_ + "/warc"));
  ASSIGN_OR_RETURN(const auto lock, files.lock(archive_ + "/lock"));

  CrawlGraph nodes = build_crawl(options, network);
  flow::ThreadEngine engine(std::move(nodes.graph), {.clock = clock.get(),
                                                     .files = &files,
                                                     .state_dir = archive_ + "/state",
                                                     .epoch_every = kEpoch});
  RETURN_IF_ERROR(engine.start());
  RETURN_IF_ERROR(work(engine, nodes, signals));
  const Standing standing = Standing::of(engine.module(nodes.registry).counts());
  if (json_) {
    nlohmann::json result = standing.to_json();
    result["finished"] = !stopped_;
    out.print("{}\n", result.dump());
  } else {
    out.print("{}\n", standing.to_string());
    if (stopped_) out.print("stopped before the end; the same command goes on\n");
  }
  return {};
}

}  // namespace

std::unique_ptr<Command> make_crawl_command() { return std::make_unique<CrawlCommand>(); }

}  // namespace meguri::app
