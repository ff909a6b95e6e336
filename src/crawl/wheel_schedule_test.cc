// WheelSchedule against a model that keeps the same rules by looking at everything every time.
#include "crawl/wheel_schedule.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <vector>

#include "env/random.h"

namespace meguri::crawl {
namespace {

using base::Duration;
using base::Ticks;

constexpr std::int64_t kSlotMs = AccessSchedule::kSlotMs;

std::int64_t rounded_up(std::int64_t ms) { return (ms + kSlotMs - 1) / kSlotMs * kSlotMs; }
std::int64_t end_of_wait(std::int64_t from, std::int64_t wait) {
  return wait == 0 ? from / kSlotMs * kSlotMs : rounded_up(from + wait);
}

std::size_t level_of_turn(std::uint32_t levels, std::uint32_t turn) {
  const auto best = static_cast<std::size_t>(std::countr_zero(levels));
  if (best == 0 || turn % 8 != 7) return best;
  std::size_t level = 1 + turn / 8 % 3;
  while ((levels >> level & 1U) == 0) level = level == 3 ? 1 : level + 1;
  return level;
}

struct ModelHost {
  std::array<std::deque<std::uint64_t>, kPriorities> queues;
  std::uint64_t server = 0;
  bool pinned = false;
  bool in_flight = false;
  std::int64_t ready_ms = 0;
  std::optional<std::int64_t> ended_ms;
  std::uint32_t wait_ms = 0;
  bool is_wait_whole = false;
  std::uint8_t turns = 0;

  std::size_t jobs() const {
    std::size_t sum = 0;
    for (const auto& queue : queues) sum += queue.size();
    return sum;
  }
  std::uint32_t levels() const {
    std::uint32_t bits = 0;
    for (std::size_t i = 0; i < kPriorities; ++i) bits |= queues[i].empty() ? 0U : 1U << i;
    return bits;
  }
  std::uint32_t best() const { return static_cast<std::uint32_t>(std::countr_zero(levels())); }
};

struct ModelServer {
  std::int64_t gate_ms = 0;
  std::uint32_t in_flight = 0;
  std::uint8_t turns = 0;
};

class Model {
 public:
  explicit Model(const AccessLimits& limits) : limits_(limits) {}

  bool add(const Job& job) {
    if (total_jobs() >= limits_.jobs_max) return false;
    const auto known = hosts_.find(job.host);
    if (known != hosts_.end() && known->second.jobs() >= limits_.jobs_per_host_max) return false;
    ModelHost& host = host_of(job.host, job.wait_ms, job.is_wait_whole);
    set_wait(host, job.wait_ms, job.is_wait_whole);
    if (host.jobs() == 0 && !host.in_flight) {
      host.server = job.server;
      host.pinned = true;
      server_of(job.server);
    }
    host.queues[static_cast<std::size_t>(job.priority)].push_back(job.payload);
    forget();
    return true;
  }

  // Whether next() may give this, or nothing.
  void expect_next(const std::optional<Job>& job, std::int64_t now) {
    advance(now);
    std::uint32_t levels = 0;
    for (const auto& [id, host] : hosts_) levels |= may_leave(host) ? 1U << host.best() : 0U;
    ASSERT_EQ(job.has_value(), levels != 0);
    if (!job) return;
    ASSERT_TRUE(hosts_.contains(job->host));
    ModelHost& host = hosts_.at(job->host);
    ASSERT_TRUE(may_leave(host));
    ASSERT_EQ(job->server, host.server);
    ModelServer& server = servers_.at(host.server);
    const std::uint32_t server_levels = ready_levels(host.server);
    ASSERT_EQ(std::countr_zero(server_levels),
              static_cast<int>(level_of_turn(best_levels(), turns_++)));
    ASSERT_EQ(host.best(), level_of_turn(server_levels, server.turns++));
    const std::size_t level = level_of_turn(host.levels(), host.turns++);
    ASSERT_EQ(static_cast<std::size_t>(job->priority), level);
    ASSERT_EQ(job->payload, host.queues[level].front());
    host.queues[level].pop_front();
    host.in_flight = true;
    ++server.in_flight;
  }

  void finish(std::uint64_t id, std::int64_t now, std::int64_t duration_ms) {
    advance(now);
    ModelHost& host = hosts_.at(id);
    const std::int64_t wait =
        std::max<std::int64_t>(least_wait_ms(host), limits_.duration_factor * duration_ms);
    host.in_flight = false;
    host.ended_ms = now_;
    host.ready_ms = std::max(host.ready_ms, end_of_wait(now_, wait));
    ModelServer& server = servers_.at(host.server);
    --server.in_flight;
    server.gate_ms = std::max(server.gate_ms, end_of_wait(now_, limits_.server_gap_ms));
    forget();
  }

  void call_off(std::uint64_t id) {
    ModelHost& host = hosts_.at(id);
    host.in_flight = false;
    set_wait(host, host.wait_ms, host.is_wait_whole);
    --servers_.at(host.server).in_flight;
    forget();
  }

  std::vector<std::uint64_t> remove(std::uint64_t id) {
    std::vector<std::uint64_t> payloads;
    const auto at = hosts_.find(id);
    if (at == hosts_.end()) return payloads;
    for (auto& queue : at->second.queues) {
      payloads.insert(payloads.end(), queue.begin(), queue.end());
      queue.clear();
    }
    forget();
    return payloads;
  }

  void set_host_wait(std::uint64_t id, std::uint32_t wait_ms) {
    if (const auto at = hosts_.find(id); at != hosts_.end()) {
      set_wait(at->second, wait_ms, at->second.is_wait_whole);
    }
    forget();
  }

  void hold(std::uint64_t id, std::int64_t until) {
    ModelHost& host = host_of(id, 0, false);
    host.ready_ms = std::max(host.ready_ms, rounded_up(until));
    forget();
  }

  void restart(std::int64_t now) {
    advance(now);
    restarted_ = now_;
  }

  AccessSummary summary() const {
    AccessSummary sum;
    sum.jobs_waiting = total_jobs();
    sum.hosts = hosts_.size();
    sum.servers = servers_.size();
    for (const auto& [id, host] : hosts_) {
      sum.jobs_in_flight += host.in_flight ? 1 : 0;
      sum.hosts_delayed += !host.in_flight && host.jobs() > 0 && host.ready_ms > now_slot() ? 1 : 0;
    }
    for (const auto& [key, server] : servers_) {
      if (ready_levels(key) == 0) continue;
      const bool busy = server.in_flight >= limits_.server_requests_max;
      const bool open = server.gate_ms <= now_slot();
      ++(busy ? sum.servers_busy : open ? sum.servers_ready : sum.servers_gap);
    }
    return sum;
  }

  // When next() will give something, if nothing else happens.
  std::optional<std::int64_t> next_ready() const {
    std::optional<std::int64_t> first;
    for (const auto& [id, host] : hosts_) {
      if (host.in_flight || host.jobs() == 0) continue;
      const ModelServer& server = servers_.at(host.server);
      if (server.in_flight >= limits_.server_requests_max) continue;
      const std::int64_t at = std::max({host.ready_ms, server.gate_ms, now_});
      first = std::min(first.value_or(at), at);
    }
    return first;
  }

  std::int64_t now() const { return now_; }

 private:
  std::int64_t now_slot() const { return now_ / kSlotMs * kSlotMs; }

  std::size_t total_jobs() const {
    std::size_t sum = 0;
    for (const auto& [id, host] : hosts_) sum += host.jobs();
    return sum;
  }

  bool is_ready(const ModelHost& host) const {
    return !host.in_flight && host.jobs() > 0 && host.ready_ms <= now_slot();
  }

  bool may_leave(const ModelHost& host) const {
    if (!is_ready(host)) return false;
    const ModelServer& server = servers_.at(host.server);
    return server.gate_ms <= now_slot() && server.in_flight < limits_.server_requests_max;
  }

  std::uint32_t ready_levels(std::uint64_t key) const {
    std::uint32_t levels = 0;
    for (const auto& [id, host] : hosts_) {
      if (host.pinned && host.server == key && is_ready(host)) levels |= 1U << host.best();
    }
    return levels;
  }

  // Of every server that something may leave for, the best.
  std::uint32_t best_levels() const {
    std::uint32_t levels = 0;
    for (const auto& [key, server] : servers_) {
      const std::uint32_t ready = ready_levels(key);
      const bool shut =
          server.gate_ms > now_slot() || server.in_flight >= limits_.server_requests_max;
      if (ready != 0 && !shut) levels |= 1U << static_cast<unsigned>(std::countr_zero(ready));
    }
    return levels;
  }

  std::int64_t least_wait_ms(const ModelHost& host) const {
    return host.is_wait_whole ? host.wait_ms : std::max(host.wait_ms, limits_.host_wait_ms_min);
  }

  ModelHost& host_of(std::uint64_t id, std::uint32_t wait_ms, bool is_wait_whole) {
    const auto [at, is_new] = hosts_.try_emplace(id);
    ModelHost& host = at->second;
    if (is_new && restarted_) {
      host.wait_ms = wait_ms;
      host.is_wait_whole = is_wait_whole;
      host.ended_ms = restarted_;
      host.ready_ms = end_of_wait(*restarted_, least_wait_ms(host));
    }
    return host;
  }

  ModelServer& server_of(std::uint64_t key) {
    const auto [at, is_new] = servers_.try_emplace(key);
    if (is_new && restarted_) {
      at->second.gate_ms = end_of_wait(*restarted_, limits_.server_gap_ms);
    }
    return at->second;
  }

  void set_wait(ModelHost& host, std::uint32_t wait_ms, bool is_whole) const {
    host.wait_ms = wait_ms;
    host.is_wait_whole = is_whole;
    if (host.in_flight || !host.ended_ms) return;
    host.ready_ms = std::max(host.ready_ms, end_of_wait(*host.ended_ms, least_wait_ms(host)));
  }

  void advance(std::int64_t now) {
    now_ = std::max(now_, now);
    forget();
  }

  void forget() {
    std::erase_if(hosts_, [this](const auto& item) {
      const ModelHost& host = item.second;
      return !host.in_flight && host.jobs() == 0 && host.ready_ms <= now_slot();
    });
    std::erase_if(servers_, [this](const auto& item) {
      const bool used = std::ranges::any_of(hosts_, [&](const auto& host) {
        return host.second.pinned && host.second.server == item.first;
      });
      return !used && item.second.gate_ms <= now_slot();
    });
  }

  AccessLimits limits_;
  std::int64_t now_ = 0;
  std::optional<std::int64_t> restarted_;
  std::uint32_t turns_ = 0;
  std::map<std::uint64_t, ModelHost> hosts_;
  std::map<std::uint64_t, ModelServer> servers_;
};

void expect_same(const AccessSummary& ours, const AccessSummary& model) {
  EXPECT_EQ(ours.jobs_waiting, model.jobs_waiting);
  EXPECT_EQ(ours.jobs_in_flight, model.jobs_in_flight);
  EXPECT_EQ(ours.hosts, model.hosts);
  EXPECT_EQ(ours.servers, model.servers);
  EXPECT_EQ(ours.hosts_delayed, model.hosts_delayed);
  EXPECT_EQ(ours.servers_gap, model.servers_gap);
  EXPECT_EQ(ours.servers_busy, model.servers_busy);
  EXPECT_EQ(ours.servers_ready, model.servers_ready);
}

AccessLimits some_limits(env::Random& random) {
  AccessLimits limits;
  limits.host_wait_ms_min = static_cast<std::uint32_t>(random.below(3) * 2500);
  limits.duration_factor = static_cast<std::uint32_t>(random.below(11));
  limits.server_gap_ms = static_cast<std::uint32_t>(random.below(4) * 500);
  limits.server_requests_max = static_cast<std::uint16_t>(random.between(1, 3));
  limits.jobs_per_host_max = static_cast<std::uint32_t>(random.between(1, 12));
  limits.jobs_max = random.between(1, 60);
  return limits;
}

// One schedule and its model, driven by a seed.
class Drive {
 public:
  explicit Drive(std::uint64_t seed)
      : random_(seed), limits_(some_limits(random_)), ours_(limits_), model_(limits_) {
    hosts_ = random_.between(1, 8);
    servers_ = random_.between(1, 4);
  }

  void step() {
    switch (random_.below(16)) {
      case 0:
      case 1:
      case 2:
      case 3:
      case 4: return add();
      case 5:
      case 6:
      case 7:
      case 8: return finish();
      case 9: return change_host();
      case 10: return wait();
      default: return next();
    }
  }

  void check() {
    expect_same(ours_.summary(), model_.summary());
    const std::optional<std::int64_t> ready = model_.next_ready();
    if (!ready) return;
    EXPECT_LE(ours_.next_ready().ms(), *ready);
    const bool later = ours_.next_ready().ms() > model_.now() / kSlotMs * kSlotMs;
    EXPECT_TRUE(later || *ready <= model_.now());
  }

  // Until nothing is left: every job that was taken must come out once.
  void drain() {
    for (int i = 0; i < 100'000 && !::testing::Test::HasFailure(); ++i) {
      if (!in_flight_.empty()) finish();
      next();
      const AccessSummary left = ours_.summary();
      if (left.jobs_waiting == 0 && left.jobs_in_flight == 0) break;
      if (in_flight_.empty()) now_ = std::max(now_, ours_.next_ready().ms());
    }
    EXPECT_EQ(taken_, given_);
    now_ += Duration::days(60).ms();
    next();
    EXPECT_EQ(ours_.summary().hosts, 0U);
    EXPECT_EQ(ours_.summary().servers, 0U);
  }

 private:
  void add() {
    Job job;
    job.payload = ++number_ << 30U;
    job.host = random_.below(hosts_);
    job.server = random_.chance(0.9) ? job.host % servers_ : random_.below(servers_);
    job.wait_ms = random_.chance(0.8) ? 0 : static_cast<std::uint32_t>(random_.below(40'000));
    job.priority = static_cast<Priority>(random_.below(kPriorities));
    job.is_wait_whole = random_.chance(0.3);
    const bool taken = ours_.add(job);
    ASSERT_EQ(taken, model_.add(job));
    taken_ += taken ? 1 : 0;
  }

  void next() {
    const std::optional<Job> job = ours_.next(Ticks::from_ms(now_));
    ASSERT_NO_FATAL_FAILURE(model_.expect_next(job, now_));
    if (!job) return;
    ++given_;
    in_flight_.push_back(job->host);
  }

  void finish() {
    if (in_flight_.empty()) return next();
    const std::size_t i = random_.below(in_flight_.size());
    const std::uint64_t host = in_flight_[i];
    in_flight_.erase(in_flight_.begin() + static_cast<std::ptrdiff_t>(i));
    if (random_.chance(0.2)) {
      ours_.call_off(host);
      return model_.call_off(host);
    }
    const auto duration = static_cast<std::int64_t>(random_.below(3000));
    ours_.finish(host, Ticks::from_ms(now_), Duration::from_ms(duration));
    model_.finish(host, now_, duration);
  }

  void change_host() {
    const std::uint64_t host = random_.below(hosts_);
    const std::uint64_t what = random_.below(8);
    if (what == 0) {
      const auto payloads = ours_.remove(host);
      EXPECT_EQ(payloads, model_.remove(host));
      given_ += payloads.size();
    } else if (what < 5) {
      const auto wait = static_cast<std::uint32_t>(random_.below(30'000));
      ours_.set_host_wait(host, wait);
      model_.set_host_wait(host, wait);
    } else if (what < 7) {
      const std::int64_t until = now_ + static_cast<std::int64_t>(random_.below(60'000));
      ours_.hold(host, Ticks::from_ms(until));
      model_.hold(host, until);
    } else {
      ours_.restart(Ticks::from_ms(now_));
      model_.restart(now_);
    }
  }

  // Time stands, crawls, walks, jumps to when something happens, jumps by days, goes back.
  void wait() {
    const std::uint64_t how = random_.below(10);
    if (how < 4) now_ += static_cast<std::int64_t>(random_.below(2000));
    if (how >= 4 && how < 6) now_ += static_cast<std::int64_t>(random_.below(20'000));
    if (how == 6) now_ += static_cast<std::int64_t>(random_.below(16));
    if (how == 7 && ours_.next_ready() != Ticks::never()) now_ = ours_.next_ready().ms();
    if (how == 8) now_ += static_cast<std::int64_t>(random_.below(86'400'000ULL * 40));
    if (how == 9) now_ -= std::min<std::int64_t>(now_, 700);
  }

  env::Random random_;
  AccessLimits limits_;
  WheelSchedule ours_;
  Model model_;
  std::uint64_t hosts_ = 0;
  std::uint64_t servers_ = 0;
  std::int64_t now_ = 0;
  std::uint64_t number_ = 0;
  std::uint64_t taken_ = 0;
  std::uint64_t given_ = 0;
  std::vector<std::uint64_t> in_flight_;
};

TEST(WheelSchedule, DoesWhatItsModelDoes) {
  for (std::uint64_t seed = 1; seed <= 3000; ++seed) {
    Drive drive(seed);
    for (int i = 0; i < 200 && !HasFailure(); ++i) {
      drive.step();
      drive.check();
    }
    if (!HasFailure()) drive.drain();
    ASSERT_FALSE(HasFailure()) << "seed " << seed;
  }
}

}  // namespace
}  // namespace meguri::crawl
