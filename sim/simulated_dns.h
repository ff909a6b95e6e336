// SimulatedDns: a Dns that knows the names of a World and has the delays and failures of a seed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "env/clock.h"
#include "env/random.h"
#include "fetch/dns.h"
#include "sim/due_queue.h"
#include "sim/world.h"

namespace meguri::sim {

struct SimulatedDnsOptions {
  std::uint64_t seed = 1;
  std::size_t in_flight_max = 1'000;
  base::Duration delay_mean = base::Duration::from_ms(30);
  base::Duration timeout = base::Duration::seconds(10);  // what a silent server takes
  double server_failure_chance = 0;
  double silent_chance = 0;
  base::Duration ttl = base::Duration::hours(1);
  base::Duration no_such_name_ttl = base::Duration::hours(1);
  base::Duration failure_ttl = base::Duration::minutes(5);
};

class SimulatedDns final : public fetch::Dns {
 public:
  // World and clock are borrowed; a virtual clock lets results come due as it is advanced.
  SimulatedDns(const World& world, const env::Clock& clock, const SimulatedDnsOptions& options);

  void start(std::string_view name, std::uint64_t tag) override;
  std::size_t capacity() const override { return options_.in_flight_max; }
  std::size_t in_flight() const override { return waiting_.size() + finished_.size(); }
  void poll(base::Duration wait) override;
  void wake() override { waiting_.wake(); }
  base::Ticks next_event() const override;
  std::vector<fetch::Resolved> take() override { return std::exchange(finished_, {}); }
  void cancel_all(std::string_view reason) override;

 private:
  void look_up(std::string_view name, fetch::Resolved* resolved);
  void look_up_hostile(const HostileHabit& habit, fetch::Resolved* resolved);

  const World& world_;
  const env::Clock& clock_;
  const SimulatedDnsOptions options_;
  env::Random random_;
  std::uint64_t hostile_count_ = 0;  // look-ups of names that change
  DueQueue<fetch::Resolved> waiting_;
  std::vector<fetch::Resolved> finished_;
};

}  // namespace meguri::sim
