// A served world for tests, at a time that stands still, with the log it wrote.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "env/clock.h"
#include "sim/http_server.h"
#include "sim/http_testing.h"
#include "sim/world_testing.h"

namespace meguri::sim {

class ServedWorld {
 public:
  explicit ServedWorld(HttpServerOptions options = {}) : ServedWorld(std::move(options), nullptr) {}

  // On another clock, which is borrowed.
  ServedWorld(HttpServerOptions options, const env::Clock* clock) : world_(test_world()) {
    options.access_log = [this](std::span<const Access> lines) {
      const base::MutexLock lock(mutex_);
      log_.insert(log_.end(), lines.begin(), lines.end());
    };
    auto started = HttpServer::start(world_, clock == nullptr ? clock_ : *clock, options);
    EXPECT_TRUE(started.has_value()) << started.error().message();
    server_ = *std::move(started);
  }

  const World& world() const { return world_; }
  const Census& census() const { return world_.census(); }
  HttpServer& server() { return *server_; }

  TestClient connect(ServerNumber server = 0) { return {address_of(server), server_->port()}; }
  TestClient connect_tls(ServerNumber server = 0) {
    return {address_of(server), *server_->tls_port()};
  }

  Answer expected(const Request& request) const { return world_.answer(request, kTestNow); }

  // The first host with a habit; its name.
  template <typename Condition>
  std::string host_with(Condition condition) const {
    for (HostNumber host = 0; host < census().hosts(); ++host) {
      if (condition(Site(census(), host))) return census().name_of(host);
    }
    ADD_FAILURE() << "no such host";
    return "";
  }
  // One that keeps connections and speaks HTTP/1.1.
  std::string plain_host() const {
    return host_with(
        [](const Site& site) { return !site.closes() && !site.is_http10() && !site.is_chunked(); });
  }

  template <typename Condition>
  void wait_for(Condition condition) const {
    while (!condition(server_->counts())) std::this_thread::yield();
  }

  // Stops the server; what it logged.
  std::vector<Access> finish() {
    server_->stop();
    const base::MutexLock lock(mutex_);
    return log_;
  }

 private:
  World world_;
  env::VirtualClock clock_{kTestNow};
  base::Mutex mutex_;
  std::vector<Access> log_ GUARDED_BY(mutex_);
  std::unique_ptr<HttpServer> server_;
};

}  // namespace meguri::sim
