// How fast it is decided which request may leave, with a job on every server: the crawler's own
// schedule, the list scheduler of paper 004, and one made of a priority queue and hash maps.
#include <absl/container/flat_hash_map.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <queue>
#include <string>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/hash.h"
#include "bench/benches.h"
#include "bench/memory.h"
#include "bench/timing.h"
#include "crawl/access_schedule.h"

namespace meguri::bench {
namespace {

using base::Duration;
using base::Ticks;
using crawl::AccessLimits;
using crawl::AccessSchedule;
using crawl::Job;

// What one would write first: the next moment of every host in a heap. No priorities, one request
// at a time to a server, and nothing is ever forgotten.
class HeapSchedule final : public AccessSchedule {
 public:
  explicit HeapSchedule(const AccessLimits& limits) : limits_(limits) {}

  bool add(const Job& job) override {
    Host& host = hosts_[job.host];
    host.server = job.server;
    host.jobs.push_back(job.payload);
    if (!std::exchange(host.queued, true)) heap_.emplace(host.ready_ms, job.host);
    return true;
  }

  std::optional<Job> next(Ticks now) override {
    while (!heap_.empty() && heap_.top().first <= now.ms()) {
      const std::uint64_t id = heap_.top().second;
      heap_.pop();
      Host& host = hosts_[id];
      std::int64_t& gate_ms = servers_[host.server];
      if (gate_ms > now.ms()) {
        heap_.emplace(gate_ms == kBusy ? now.ms() + limits_.server_gap_ms : gate_ms, id);
        continue;
      }
      gate_ms = kBusy;
      const Job job{.payload = host.jobs.front(), .host = id, .server = host.server};
      host.jobs.pop_front();
      return job;
    }
    return {};
  }

  void finish(std::uint64_t id, Ticks now, Duration duration) override {
    Host& host = hosts_[id];
    const std::int64_t rest = duration.ms() * limits_.duration_factor;
    host.ready_ms = now.ms() + std::max<std::int64_t>(limits_.host_wait_ms_min, rest);
    servers_[host.server] = now.ms() + limits_.server_gap_ms;
    host.queued = !host.jobs.empty();
    if (host.queued) heap_.emplace(host.ready_ms, id);
  }

  // What this bench does not ask.
  void call_off(std::uint64_t /*host*/) override {}
  Ticks next_ready() const override { return Ticks::never(); }
  std::vector<std::uint64_t> remove(std::uint64_t /*host*/) override { return {}; }
  void set_host_wait(std::uint64_t /*host*/, std::uint32_t /*wait_ms*/) override {}
  void hold(std::uint64_t /*host*/, Ticks /*until*/) override {}
  void restart(Ticks /*now*/) override {}
  crawl::AccessSummary summary() const override { return {}; }
  std::optional<crawl::HostAccess> look(std::uint64_t /*host*/) const override { return {}; }
  std::size_t memory_bytes() const override { return 0; }

 private:
  static constexpr std::int64_t kBusy = std::int64_t{1} << 60U;
  struct Host {
    std::int64_t ready_ms = 0;
    std::uint64_t server = 0;
    std::list<std::uint64_t> jobs;
    bool queued = false;  // in the heap, or in flight
  };
  using Entry = std::pair<std::int64_t, std::uint64_t>;

  const AccessLimits limits_;
  absl::flat_hash_map<std::uint64_t, Host> hosts_;
  absl::flat_hash_map<std::uint64_t, std::int64_t> servers_;  // when the gap is over
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> heap_;
};

struct Figures {
  double adds_per_second = 0;
  double operations_per_second = 0;
  double visits_per_crawl_second = 0;
  double bytes_per_server = 0;
};

// Every server has one host with one job, which comes back as soon as it is answered, after 100 to
// 600 ms. Nothing else holds requests up, so nearly all servers are within their waits: what leaves
// in one millisecond is what the gates let out.
class Load {
 public:
  Load(AccessSchedule& schedule, std::uint64_t servers) : schedule_(schedule), servers_(servers) {}

  Figures run(std::uint64_t visits) {
    Figures figures;
    const std::size_t before = resident_now();
    const double add_seconds = cpu_seconds_of([&] {
      for (std::uint64_t i = 0; i < servers_; ++i) add(i);
    });
    figures.adds_per_second = static_cast<double>(servers_) / add_seconds;
    const std::size_t after = resident_now();
    figures.bytes_per_server = static_cast<double>(after - before) / static_cast<double>(servers_);
    // The first round, in which all leave at once, is for warming up.
    run_until(servers_);
    const std::uint64_t done = operations_;
    const std::uint64_t visited = visits_;
    const std::int64_t start_ms = now_ms_;
    const double seconds = cpu_seconds_of([&] { run_until(visited + visits); });
    figures.operations_per_second = static_cast<double>(operations_ - done) / seconds;
    figures.visits_per_crawl_second =
        static_cast<double>(visits_ - visited) * 1000 /
        static_cast<double>(std::max<std::int64_t>(1, now_ms_ - start_ms));
    return figures;
  }

 private:
  struct Answer {
    std::uint64_t server;
    std::int64_t duration_ms;
  };
  static constexpr std::size_t kRing = 1024;  // milliseconds; longer than any answer

  void add(std::uint64_t server) {
    const std::uint64_t host = base::mix64(server);
    const auto priority = static_cast<crawl::Priority>(host % crawl::kPriorities);
    CHECK(schedule_.add({server, host, server, 0, priority}));
    ++operations_;
  }

  void run_until(std::uint64_t visits) {
    while (visits_ < visits) {
      ++now_ms_;
      const Ticks now = Ticks::from_ms(now_ms_);
      std::vector<Answer>& answers = ring_[static_cast<std::size_t>(now_ms_) % kRing];
      for (const Answer& answer : answers) {
        schedule_.finish(base::mix64(answer.server), now, Duration::from_ms(answer.duration_ms));
        add(answer.server);
      }
      operations_ += answers.size();
      answers.clear();
      while (const std::optional<Job> job = schedule_.next(now)) {
        const auto duration =
            static_cast<std::int64_t>(100 + base::mix64(job->payload ^ visits_) % 500);
        ring_[static_cast<std::size_t>(now_ms_ + duration) % kRing].push_back(
            {job->payload, duration});
        ++operations_;
        ++visits_;
      }
    }
  }

  AccessSchedule& schedule_;
  std::uint64_t servers_;
  std::int64_t now_ms_ = 0;
  std::uint64_t operations_ = 0;
  std::uint64_t visits_ = 0;
  std::array<std::vector<Answer>, kRing> ring_;
};

using Make = std::function<std::unique_ptr<AccessSchedule>()>;

Figures figures_of(const Make& make, std::uint64_t servers, std::uint64_t visits) {
  const std::unique_ptr<AccessSchedule> schedule = make();
  const auto load = std::make_unique<Load>(*schedule, servers);
  return load->run(visits);
}

void report_peer(Report& report, const std::string& name, const Figures& figures) {
  report.add(name + ", operations", figures.operations_per_second, "operations/s");
  report.add(name + ", memory", figures.bytes_per_server, "bytes/server");
  report.add(name + ", visits in crawl time", figures.visits_per_crawl_second, "visits/s");
}

}  // namespace

base::Status run_scheduler(const Options& options, Report& report) {
  // The smaller load fills whole chunks of memory, as ten million nearly do.
  const std::uint64_t servers = options.quick ? 1'048'576 : 10'000'000;
  const std::uint64_t visits = 2 * servers;
  AccessLimits limits;
  limits.list_table = 1U << 24U;  // hardly any two servers share an entry
  const auto made = [&](crawl::AccessScheduleKind kind) {
    return [&limits, kind] { return crawl::make_access_schedule(kind, limits); };
  };
  const auto few = figures_of(made(crawl::AccessScheduleKind::kWheel), 100'000, 1'000'000);
  const auto ours = figures_of(made(crawl::AccessScheduleKind::kWheel), servers, visits);
  report.add("servers", static_cast<double>(servers), "servers");
  report.add("operations, 100,000 servers", few.operations_per_second, "operations/s");
  report.add("operations", ours.operations_per_second, "operations/s", Goal::at_least(2e6));
  report.add("first jobs of new servers", ours.adds_per_second, "operations/s");
  report.add("memory", ours.bytes_per_server, "bytes/server", Goal::at_most(160));
  report.add("visits in crawl time", ours.visits_per_crawl_second, "visits/s");
  report_peer(report, "paper 004's lists",
              figures_of(made(crawl::AccessScheduleKind::kLists), servers, visits));
  const auto heap =
      figures_of([&] { return std::make_unique<HeapSchedule>(limits); }, servers, visits);
  report_peer(report, "std::priority_queue", heap);
  report.add("operations against std::priority_queue",
             ours.operations_per_second / heap.operations_per_second, "ratio");
  return {};
}

}  // namespace meguri::bench
