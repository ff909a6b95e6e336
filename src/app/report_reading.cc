#include "app/report_reading.h"

#include <fmt/format.h>

#include <map>
#include <utility>

#include "app/figures.h"
#include "crawl/durable_log.h"
#include "crawl/host_aliases.h"
#include "crawl/host_page_counts.h"
#include "crawl/host_rules.h"
#include "crawl/host_table.h"
#include "crawl/host_wait.h"
#include "crawl/page_store.h"
#include "crawl/registry_state.h"
#include "env/scratch_folder.h"
#include "flow/checkpoint.h"

namespace meguri::app {

using base::ErrorCode;

namespace {

constexpr std::uint64_t kTellEvery = 4096;  // pages, or lines of the log

// Whether a label is that of an instance of a module.
bool is_of(std::string_view label, std::string_view module) {
  return label == module || (label.starts_with(module) && label[module.size()] == '#');
}

// Files that are missing or damaged are those of a crawl that went on.
bool may_have_gone_on(const base::Error& error) {
  return error.code() == ErrorCode::kNotFound || error.code() == ErrorCode::kCorrupt;
}

class Reading {
 public:
  Reading(env::FileSystem& files, const ReportSource& source)
      : files_(files), source_(source), state_dir_(source.archive + "/state") {}

  base::Result<CrawlReport> run();

 private:
  base::Status read_at(const flow::Checkpoint& checkpoint);
  base::Status read_registry(const std::string& label, const crawl::RegistryState& registry);
  base::Status read_hosts(const flow::Checkpoint& checkpoint);
  base::Status read_pages();
  base::Status read_log(const flow::Checkpoint& checkpoint);

  env::FileSystem& files_;
  const ReportSource& source_;
  const std::string state_dir_;
  CrawlReport report_;
  std::map<std::string, crawl::RegistryState> registries_;          // by label
  std::map<std::string, crawl::HostPageCounts::Host> host_counts_;  // by name
};

base::Result<CrawlReport> Reading::run() {
  constexpr int kTries = 4;
  for (int i = 1;; ++i) {
    ASSIGN_OR_RETURN(const auto checkpoint, flow::Checkpoint::load(files_, state_dir_));
    if (checkpoint.epoch == flow::kNoEpoch) {
      return base::fail(ErrorCode::kNotFound, "no crawl has kept anything in {} yet",
                        source_.archive);
    }
    report_ = {};
    registries_.clear();
    host_counts_.clear();
    base::Status status = read_at(checkpoint);
    const bool has_hosts = status.has_value();
    if (status) status = read_pages();
    if (status) return std::move(report_);
    if (!may_have_gone_on(status.error())) return std::unexpected(status.error());
    ASSIGN_OR_RETURN(const auto now, flow::Checkpoint::load(files_, state_dir_));
    if (now.epoch == checkpoint.epoch) return std::unexpected(status.error());  // it is damage
    if (i < kTries) continue;
    if (!has_hosts) return std::unexpected(status.error());
    report_.pages.reset();
    report_.notes.emplace_back(
        "The pages are not shown: the crawl goes on faster than they can be read. Make the report "
        "again when no crawl runs.");
    return std::move(report_);
  }
}

base::Status Reading::read_at(const flow::Checkpoint& checkpoint) {
  report_.archive = source_.archive;
  report_.epoch = checkpoint.epoch;
  report_.host_wait = base::Duration::from_ms(source_.options.access.host_wait_ms_min);
  report_.connections = source_.options.connections_max;
  for (const auto& [label, state] : checkpoint.states) {
    if (!is_of(label, "registry")) continue;
    ASSIGN_OR_RETURN(auto registry, crawl::RegistryState::decode(state));
    RETURN_IF_ERROR(read_registry(label, registry));
    registries_.emplace(label, std::move(registry));
  }
  RETURN_IF_ERROR(read_hosts(checkpoint));
  return read_log(checkpoint);
}

base::Status Reading::read_registry(const std::string& label,
                                    const crawl::RegistryState& registry) {
  report_.standing.add(registry);
  const std::string dir = crawl::host_counts_dir(state_dir_ + "/" + label);
  ASSIGN_OR_RETURN(const auto hosts, crawl::HostPageCounts::read(files_, dir, registry.hosts));
  for (const crawl::HostPageCounts::Host& host : hosts) {
    crawl::HostPageCounts::Host& sum = host_counts_[host.name];
    sum.pages += host.pages;
    sum.load += host.load;
  }
  return {};
}

base::Status Reading::read_hosts(const flow::Checkpoint& checkpoint) {
  crawl::HostRules rules(source_.options);
  crawl::HostTable table(rules);
  crawl::HostAliases aliases(source_.options.aliases);
  for (const auto& [label, state] : checkpoint.states) {
    if (!is_of(label, "hosts")) continue;
    const auto load = [&](std::string_view key, std::optional<std::string_view> value) {
      if (aliases.load(key, value)) return base::Status();
      return table.load(key, value, source_.options.agent);
    };
    RETURN_IF_ERROR(crawl::DurableLog::read(files_, state_dir_ + "/" + label, state, load));
  }
  std::vector<HostBurden> burdens;
  burdens.reserve(host_counts_.size());
  std::uint64_t loaded = 0;
  for (const auto& [name, counts] : host_counts_) {
    crawl::HostRecord record;
    if (const crawl::HostRecord* known = table.find(name)) record = *known;
    if (record.policy == nullptr) record.policy = &rules.of(name);
    record.pages = counts.pages;
    HostBurden& host = burdens.emplace_back();
    host.name = name;
    host.pages = counts.pages;
    host.visits_a_day = counts.load;
    host.access = crawl::access_of(record, source_.options);
    host.download = record.mean_duration;
    loaded += host.is_loaded() ? 1 : 0;
  }
  report_.hosts = HostFigures(loaded, source_.options.connections_max);
  for (const HostBurden& host : burdens) report_.hosts.add(host);
  return {};
}

base::Status Reading::read_pages() {
  report_.pages.emplace();
  std::uint64_t read = 0;
  for (const auto& [label, registry] : registries_) {
    ASSIGN_OR_RETURN(const auto folder, env::ScratchFolder::make("meguri-report"));
    const sat::Scratch scratch{files_, folder.path()};
    const auto use = [&](const crawl::PageRecord& record) -> base::Status {
      report_.pages->add(record);
      if (++read % kTellEvery == 0) {
        source_.tell(
            fmt::format("{} of {} pages read", grouped(read), grouped(report_.standing.known)));
      }
      return {};
    };
    RETURN_IF_ERROR(crawl::PageStore::for_each(files_, crawl::pages_dir(state_dir_ + "/" + label),
                                               registry.pages, scratch, use));
  }
  return {};
}

base::Status Reading::read_log(const flow::Checkpoint& checkpoint) {
  const auto state = checkpoint.states.find("log");
  const auto mark =
      state == checkpoint.states.end() ? std::nullopt : crawl::CrawlLogMark::decode(state->second);
  if (!mark) {
    report_.notes.emplace_back("There is no crawl log: what single visits came to is not shown.");
    return {};
  }
  VisitFigures& visits = report_.visits.emplace();
  std::uint64_t read = 0;
  const auto use = [&](const crawl::LoggedVisit& visit) {
    visits.add(visit);
    if (++read % kTellEvery == 0) {
      source_.tell(fmt::format("{} lines of the crawl log read", grouped(read)));
    }
  };
  ASSIGN_OR_RETURN(const crawl::LogReading reading,
                   crawl::read_crawl_log(files_, source_.archive + "/logs", *mark, use));
  if (reading.files_missing > 0 || reading.bytes_missing > 0) {
    report_.notes.emplace_back(
        "Files of the crawl log were taken away: single visits are shown as far as it goes.");
  }
  if (reading.strange > 0) {
    report_.notes.push_back(fmt::format("{} of the crawl log cannot be read, and {} left out.",
                                        counted(reading.strange, "line", "lines"),
                                        reading.strange == 1 ? "is" : "are"));
  }
  return {};
}

}  // namespace

base::Result<CrawlReport> read_report(env::FileSystem& files, const ReportSource& source) {
  return Reading(files, source).run();
}

}  // namespace meguri::app
