// MetricsServer: gives the metrics to whoever asks at a local port, over HTTP.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/result.h"
#include "fetch/address.h"

struct MHD_Daemon;  // NOLINT(readability-identifier-naming): libmicrohttpd's

namespace meguri::app {

// Answers GET and HEAD of /metrics, on a thread of its own, until it is destroyed. Everybody who
// can connect may read: it is for addresses of this machine or of a network that is trusted.
class MetricsServer {
 public:
  // What /metrics says now. Called by the server's thread; must be fit for that.
  using Text = std::function<std::string()>;

  // `where` is "127.0.0.1:9090", "[::1]:9090" or "localhost:9090"; port 0 is any that is free.
  // kInvalid: it is no address. kBusy: somebody else has the port.
  static base::Result<std::unique_ptr<MetricsServer>> start(const std::string& where, Text text);

  MetricsServer(const MetricsServer&) = delete;
  MetricsServer& operator=(const MetricsServer&) = delete;
  ~MetricsServer();

  std::string url() const;                          // "http://127.0.0.1:41234/metrics"
  std::string page(const std::string& path) const;  // empty: there is none

 private:
  MetricsServer(fetch::Endpoint endpoint, Text text);

  fetch::Endpoint endpoint_;
  const Text text_;
  MHD_Daemon* daemon_ = nullptr;
};

}  // namespace meguri::app
