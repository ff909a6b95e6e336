// SimulatedHttpClient: an HttpClient whose web is a World and whose network is a seed. Equal seeds,
// clocks and requests give equal results.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "env/clock.h"
#include "env/random.h"
#include "fetch/address_policy.h"
#include "fetch/http_client.h"
#include "sim/access_log.h"
#include "sim/due_queue.h"
#include "sim/world.h"

namespace meguri::sim {

struct SimulatedHttpOptions {
  std::uint64_t seed = 1;
  std::size_t in_flight_max = 5'000;
  base::Duration connect_delay = base::Duration::from_ms(20);
  std::uint64_t bytes_per_second = 1'000'000;  // of a body; above 0

  // How often things go wrong; each fetch draws for all of them.
  double refused_chance = 0;     // the connection
  double silent_chance = 0;      // the request arrives, and no answer comes
  double reset_chance = 0;       // the connection is reset before the head
  double disconnect_chance = 0;  // the connection ends within the body

  // Which addresses may be connected to: none but those of the virtual web and public ones.
  fetch::AddressPolicy policy = fetch::AddressPolicy({*fetch::Network::parse("127.0.0.0/8")});

  // Called for every request that a server got, when its answer ends; empty: nobody listens.
  std::function<void(const Access&)> access_log;
};

// Requests arrive `connect_delay` after start(), answers begin after the server's own delay. There
// are no kept connections. All limits hold. Hostile hosts do as they do on sockets: scripts are
// received byte by byte (script_reception.h), and of TLS only what comes of it is told.
class SimulatedHttpClient final : public fetch::HttpClient {
 public:
  // World and clock are borrowed; a virtual clock lets results come due as it is advanced.
  SimulatedHttpClient(const World& world, const env::Clock& clock, SimulatedHttpOptions options);

  void start(fetch::FetchRequest request) override;
  std::size_t capacity() const override { return options_.in_flight_max; }
  std::size_t in_flight() const override { return waiting_.size() + finished_.size(); }
  void poll(base::Duration wait) override;
  void wake() override { waiting_.wake(); }
  base::Ticks next_event() const override;
  std::vector<fetch::Fetched> take() override { return std::exchange(finished_, {}); }
  void cancel_all(std::string_view reason) override;

 private:
  struct Visit {
    fetch::Fetched fetched;
    std::optional<Access> access;  // nullopt: no server heard of it
  };
  // What the network does to one fetch.
  struct Fate {
    bool is_refused = false;
    bool is_silent = false;
    bool is_reset = false;
    bool is_cut = false;
    double kept_share = 0;  // of a body that is cut
  };

  Fate draw_fate();
  bool is_refused(const fetch::FetchRequest& request, const Fate& fate, fetch::Fetched* out) const;
  bool is_turned_away(const fetch::FetchRequest& request, const HostileHabit& habit,
                      fetch::Fetched* out) const;
  Answer ask(const fetch::FetchRequest& request, base::Instant arrival) const;
  void receive(const fetch::FetchRequest& request, const Fate& fate, Answer answer,
               Visit* visit) const;
  void receive_body(const fetch::FetchRequest& request, const Fate& fate, Answer answer,
                    fetch::Fetched* out) const;
  void log(const Visit& visit) const;

  const World& world_;
  const env::Clock& clock_;
  const SimulatedHttpOptions options_;
  env::Random random_;
  DueQueue<Visit> waiting_;
  std::vector<fetch::Fetched> finished_;
};

}  // namespace meguri::sim
