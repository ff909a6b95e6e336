// For tests: the whole crawl on the virtual web, in virtual time, with faults by a seed.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "app/crawl_graph.h"
#include "archive/file_indexer.h"
#include "archive/temporal_index.h"
#include "archive/warc_file.h"
#include "archive/warc_reader.h"
#include "archive/warc_visit.h"
#include "base/check.h"
#include "base/time.h"
#include "env/clock.h"
#include "env/faulty_file_system.h"
#include "env/memory_ordered_store.h"
#include "env/random.h"
#include "flow/checkpoint.h"
#include "flow/simulation_engine.h"
#include "sim/checker.h"
#include "sim/leads.h"
#include "sim/simulated_dns.h"
#include "sim/simulated_http_client.h"
#include "sim/world.h"

namespace meguri::app::testing {

using base::Duration;
using base::Instant;

inline constexpr Instant kStart = Instant::from_ms(1'767'225'600'000);  // 2026-01-01

// Some answers of a web are others than it gives; `rewrite` says which.
class RewritingClient final : public fetch::HttpClient {
 public:
  using Rewrite = std::function<void(const std::string& host, const std::string& target,
                                     fetch::Fetched& fetched)>;

  RewritingClient(std::unique_ptr<fetch::HttpClient> web, Rewrite rewrite)
      : web_(std::move(web)), rewrite_(std::move(rewrite)) {}

  void start(fetch::FetchRequest request) override {
    asked_[request.tag] = {request.host, request.target};
    web_->start(std::move(request));
  }
  std::size_t capacity() const override { return web_->capacity(); }
  std::size_t in_flight() const override { return web_->in_flight(); }
  void poll(Duration wait) override { web_->poll(wait); }
  void wake() override { web_->wake(); }
  base::Ticks next_event() const override { return web_->next_event(); }
  std::vector<fetch::Fetched> take() override {
    std::vector<fetch::Fetched> all = web_->take();
    for (fetch::Fetched& fetched : all) {
      const auto asked = asked_.extract(fetched.tag);
      const auto& [host, target] = asked.mapped();
      if (fetched.status != 0) rewrite_(host, target, fetched);
    }
    return all;
  }
  void cancel_all(std::string_view reason) override { web_->cancel_all(reason); }

 private:
  std::unique_ptr<fetch::HttpClient> web_;
  const Rewrite rewrite_;
  std::map<std::uint64_t, std::pair<std::string, std::string>> asked_;  // by tag
};

// A world, a crawler in it, and what the servers saw.
class Crawl {
 public:
  explicit Crawl(std::uint64_t seed, std::uint64_t hosts = 12, std::uint64_t pages = 120,
                 bool is_still = false, const std::vector<std::string>& hostile = {})
      : seed_(seed),
        world_(world_of(seed, hosts, pages, is_still, hostile)),
        clock_(kStart),
        files_(seed) {
    options_.seeds = {"http://" + world_.census().name_of(world_.census().host_of_rank(0)) + "/"};
    options_.scope.scope = crawl::Scope::kAny;
    options_.user_agent = "meguri (+http://www.example.com/)";
    options_.warc.series.dir = "/archive/warc";
    options_.log.dir = "/archive/logs";
    options_.log.file_bytes_max = 4000;  // so that it turns over
    options_.store_pool_bytes = std::size_t{2} << 20U;
    options_.known_cache_bytes = std::size_t{64} << 10U;
    if (seed_ % 2 == 1) options_.queued_max = 40;  // so that pages wait in the store
    CHECK(files_.make_dirs("/archive/warc").has_value());
    CHECK(files_.make_dirs("/archive/state").has_value());
    http_.access_log = [this](const sim::Access& access) { log_.push_back(access); };
  }

  crawl::CrawlOptions& options() { return options_; }
  sim::SimulatedHttpOptions& http() { return http_; }
  sim::SimulatedDnsOptions& dns() { return dns_; }
  env::FaultyFileSystem& files() { return files_; }
  env::VirtualClock& clock() { return clock_; }
  Instant clock_now() const { return clock_.utc(); }
  const sim::World& world() const { return world_; }
  const std::vector<sim::Access>& log() const { return log_; }

  void start() {
    ++lives_;
    http_.seed = seed_ * 1000 + lives_;
    dns_.seed = http_.seed;
    CrawlSeams seams;
    seams.addresses = fetch::AddressPolicy({*fetch::Network::parse("127.0.0.0/8")});
    seams.make_http = [this](const env::Clock& clock) -> std::unique_ptr<fetch::HttpClient> {
      auto client = std::make_unique<sim::SimulatedHttpClient>(world_, clock, http_);
      if (!rewrite_) return client;
      return std::make_unique<RewritingClient>(std::move(client), rewrite_);
    };
    seams.make_dns = [this](const env::Clock& clock) {
      return std::make_unique<sim::SimulatedDns>(world_, clock, dns_);
    };
    index_ = archive::TemporalIndex::open(index_disk_.open().value()).value();
    seams.index = index_;
    nodes_.emplace(build_crawl(options_, seams));
    engine_ = std::make_unique<flow::SimulationEngine>(
        std::move(nodes_->graph),
        flow::EngineOptions{.files = &files_,
                            .state_dir = "/archive/state",
                            .epoch_every = Duration::seconds(5),
                            .seed = http_.seed},
        clock_);
  }

  std::string host_of_rank(std::uint64_t rank) const {
    return world_.census().name_of(world_.census().host_of_rank(rank));
  }
  void rewrite_answers(RewritingClient::Rewrite rewrite) { rewrite_ = std::move(rewrite); }

  flow::SimulationEngine& engine() { return *engine_; }
  crawl::Registry& registry() { return engine_->module(nodes_->registry); }
  crawl::ControlMailbox& mailbox() { return *nodes_->mailbox; }
  const crawl::RegistryCounts& counts() { return registry().counts(); }

  // The process is gone. With `power`, the power is too, and by its chance what was not synced.
  void end(env::Random* power) {
    engine_.reset();
    nodes_.reset();
    index_.reset();
    index_disk_.crash(power);
    power == nullptr ? files_.restart() : files_.crash(power);
  }

  // The entries that the index has, and those that the files would give it, by their keys.
  using Entries = std::map<std::string, archive::IndexEntry>;
  Entries indexed() const { return entries_of(*index_); }
  Entries entries_of_files() {
    env::MemoryStoreDisk disk;
    const auto fresh = archive::TemporalIndex::open(disk.open().value()).value();
    archive::FileIndexer indexer(index_->removals());
    for (const auto& [number, known] : index_->files()) {
      archive::IndexFile file;
      file.number = number;
      file.path = known.path;
      const auto bytes = files_.open_read("/archive/" + known.path).value();
      const auto apply = [&](archive::IndexBatch& batch) { return fresh->write(batch); };
      CHECK(indexer.index(*bytes, bytes->size().value(), file, apply).has_value());
    }
    return entries_of(*fresh);
  }

  // Either of the two.
  void crash(env::Random& random) { end(random.below(2) == 0 ? nullptr : &random); }

  sim::CheckOptions rules() const {
    sim::CheckOptions rules;
    rules.seeds = options_.seeds;
    rules.host_gap_factor = 10;
    rules.tolerance = Duration::from_ms(1);
    return rules;
  }

  // What was led to and not fetched. Adverts show images by chance.
  std::vector<std::string> left_out() const {
    sim::ReachOptions reach;
    reach.seeds = options_.seeds;
    reach.hints = true;
    std::vector<std::string> targets;
    for (const sim::Lead& lead : sim::left_out(world_, log_, reach)) {
      if (!lead.target.starts_with("/img/")) targets.push_back(lead.host + lead.target);
    }
    return targets;
  }

  // The visits of pages in the WARC files, in order.
  std::vector<archive::StoredVisit> visits() { return visits_until(std::nullopt); }

  // Those that the checkpoint on the disk declares durable.
  std::vector<archive::StoredVisit> durable_visits() {
    // One whose sync failed can be seen, and is nobody's word for anything.
    const auto medium = files_.disk().after_crash();
    const auto checkpoint = flow::Checkpoint::load(*medium, "/archive/state").value();
    const auto state = checkpoint.states.find("writer");
    if (state == checkpoint.states.end() || !state->second.starts_with('+')) return {};
    return visits_until(archive::WarcPosition::decode(state->second.substr(1)));
  }

  // Pages of which there is more than a failure.
  std::set<std::string> answered() {
    std::set<std::string> pages;
    for (const archive::StoredVisit& visit : visits()) {
      if (visit.kind != archive::StoredVisitKind::kFailure) pages.insert(visit.target_uri);
    }
    return pages;
  }

  // The pages in the WARC files, by URL, and how often each is there.
  std::map<std::string, int> archived() {
    std::map<std::string, int> pages;
    for (const archive::StoredVisit& visit : visits()) ++pages[visit.target_uri];
    return pages;
  }

  // Of each visit: its WARC file, its place there, its URL, and whether that is a robots.txt.
  using Visits = std::multiset<std::tuple<std::string, std::uint64_t, std::string, bool>>;

  Visits stored_visits() {
    Visits visits;
    const std::vector<std::string> names = files_.list("/archive/warc").value();
    for (const std::string& name : names) {
      auto file = files_.open_read("/archive/warc/" + name).value();
      archive::WarcReader reader(*file);
      while (const auto more = reader.next()) {
        if (!*more) break;
        const auto visit = archive::visit_of(reader.record());
        if (!visit) continue;
        visits.emplace(name, reader.record().offset, visit->target_uri, !visit->purpose.empty());
      }
    }
    return visits;
  }

  // The same by the crawl log.
  Visits logged_visits() {
    Visits visits;
    for_each_log_line([&](const nlohmann::json& line) {
      if (line["type"] == "refusal") return;
      visits.emplace(line["warc"], line["offset"], line["url"], line["type"] == "robots");
    });
    return visits;
  }

  std::multiset<std::string> logged_refusals() {
    std::multiset<std::string> urls;
    for_each_log_line([&](const nlohmann::json& line) {
      if (line["type"] == "refusal") urls.insert(line["url"]);
    });
    return urls;
  }

  std::size_t log_files() { return files_.list("/archive/logs").value().size(); }

 private:
  static Entries entries_of(const archive::TemporalIndex& index) {
    Entries entries;
    const auto cursor = index.cursor();
    for (cursor->seek("e"); cursor->valid() && cursor->key().starts_with('e'); cursor->next()) {
      const auto view = archive::EntryView::parse(cursor->key(), cursor->value());
      CHECK(view.has_value());
      entries.emplace(cursor->key(), view->to_entry());
    }
    return entries;
  }

  void for_each_log_line(const std::function<void(const nlohmann::json&)>& use) {
    const std::vector<std::string> names = files_.list("/archive/logs").value();
    for (const std::string& name : names) {
      std::istringstream lines(env::read_file(files_, "/archive/logs/" + name).value());
      for (std::string line; std::getline(lines, line);) use(nlohmann::json::parse(line));
    }
  }

  static sim::World world_of(std::uint64_t seed, std::uint64_t hosts, std::uint64_t pages,
                             bool is_still, const std::vector<std::string>& hostile) {
    sim::WorldOptions options;
    options.census.seed = seed;
    options.census.hosts = hosts;
    options.census.pages = pages;
    options.start = kStart;
    options.is_still = is_still;
    options.hostile = hostile;
    return sim::World(options);
  }

  std::vector<archive::StoredVisit> visits_until(const std::optional<archive::WarcPosition>& end) {
    std::vector<archive::StoredVisit> visits;
    const std::vector<std::string> names = files_.list("/archive/warc").value();
    for (const std::string& name : names) {
      if (end && name > end->file) continue;
      auto file = files_.open_read("/archive/warc/" + name).value();
      archive::WarcReader reader(*file);
      while (const auto more = reader.next()) {
        if (!*more) break;
        if (end && name == end->file && reader.record().offset >= end->offset) break;
        auto visit = archive::visit_of(reader.record());
        if (visit && visit->purpose.empty()) visits.push_back(*std::move(visit));
      }
    }
    return visits;
  }

  std::uint64_t seed_;
  std::uint64_t lives_ = 0;
  sim::World world_;
  env::VirtualClock clock_;
  env::FaultyFileSystem files_;
  crawl::CrawlOptions options_;
  sim::SimulatedHttpOptions http_;
  sim::SimulatedDnsOptions dns_;
  std::vector<sim::Access> log_;
  RewritingClient::Rewrite rewrite_;
  env::MemoryStoreDisk index_disk_;
  std::shared_ptr<archive::TemporalIndex> index_;
  std::optional<CrawlGraph> nodes_;
  std::unique_ptr<flow::SimulationEngine> engine_;
};

inline std::string first_breaches(const sim::CheckReport& report) {
  std::string text;
  for (const sim::Breach& breach : report.breaches) {
    text += std::string(sim::name_of(breach.kind)) + ": " + breach.why + "\n";
    if (text.size() > 1000) break;
  }
  return text;
}

}  // namespace meguri::app::testing
