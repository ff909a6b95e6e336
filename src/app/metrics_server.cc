#include "app/metrics_server.h"

#include <fmt/format.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string_view>
#include <utility>

#include "app/crawl_metrics.h"
#include "base/text.h"

namespace meguri::app {

namespace {

constexpr int kWaitingMax = 16;           // connections that are not accepted yet
constexpr unsigned kConnectionsMax = 32;  // at a time
constexpr unsigned kIdleSecondsMax = 30;

class Socket {
 public:
  explicit Socket(int descriptor) : descriptor_(descriptor) {}
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;
  ~Socket() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  int get() const { return descriptor_; }
  int release() { return std::exchange(descriptor_, -1); }

 private:
  int descriptor_;
};

struct SocketAddress {
  sockaddr_storage storage{};
  socklen_t length = sizeof(sockaddr_storage);

  sockaddr* get() { return reinterpret_cast<sockaddr*>(&storage); }
};

SocketAddress address_of(const fetch::Endpoint& endpoint) {
  SocketAddress result;
  const auto& bytes = endpoint.address.bytes();
  if (endpoint.address.is_v6()) {
    sockaddr_in6 address{};
    address.sin6_family = AF_INET6;
    address.sin6_port = htons(endpoint.port);
    std::memcpy(&address.sin6_addr, bytes.data(), 16);
    std::memcpy(&result.storage, &address, sizeof(address));
    result.length = sizeof(address);
  } else {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(endpoint.port);
    std::memcpy(&address.sin_addr, bytes.data(), 4);
    std::memcpy(&result.storage, &address, sizeof(address));
    result.length = sizeof(address);
  }
  return result;
}

base::Error cannot_listen(const fetch::Endpoint& endpoint) {
  const int error = errno;
  if (error == EADDRINUSE) {
    return {base::ErrorCode::kBusy,
            fmt::format("the metrics cannot be served at {}: another program has that port",
                        endpoint.to_string())};
  }
  return base::Error::from_errno(
      error, fmt::format("the metrics cannot be served at {}", endpoint.to_string()));
}

// A listening socket; `endpoint` says where it is in the end.
base::Result<int> listen_at(fetch::Endpoint& endpoint) {
  const int family = endpoint.address.is_v6() ? AF_INET6 : AF_INET;
  Socket socket(::socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const int yes = 1;
  SocketAddress address = address_of(endpoint);
  const bool works = socket.get() >= 0 &&
                     ::setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes)) == 0 &&
                     ::bind(socket.get(), address.get(), address.length) == 0 &&
                     ::listen(socket.get(), kWaitingMax) == 0 &&
                     ::getsockname(socket.get(), address.get(), &address.length) == 0;
  if (!works) return std::unexpected(cannot_listen(endpoint));
  const bool is_v6 = address.storage.ss_family == AF_INET6;
  endpoint.port = ntohs(is_v6 ? reinterpret_cast<const sockaddr_in6*>(&address.storage)->sin6_port
                              : reinterpret_cast<const sockaddr_in*>(&address.storage)->sin_port);
  return socket.release();
}

MHD_Result reply(MHD_Connection* connection, unsigned status, std::string_view type,
                 std::string_view text) {
  // The library copies the text, and does not change it before.
  MHD_Response* const response = MHD_create_response_from_buffer(
      text.size(), const_cast<char*>(text.data()), MHD_RESPMEM_MUST_COPY);
  if (response == nullptr) return MHD_NO;
  MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, std::string(type).c_str());
  const MHD_Result result = MHD_queue_response(connection, status, response);
  MHD_destroy_response(response);
  return result;
}

MHD_Result answer(void* server, MHD_Connection* connection, const char* path, const char* method,
                  const char* /*version*/, const char* /*upload*/, std::size_t* upload_bytes,
                  void** /*state*/) {
  constexpr std::string_view kPlain = "text/plain; charset=utf-8";
  *upload_bytes = 0;  // what is sent to us is read and dropped
  const std::string_view verb = method;
  if (verb != "GET" && verb != "HEAD") {
    return reply(connection, MHD_HTTP_METHOD_NOT_ALLOWED, kPlain, "only GET is answered here\n");
  }
  const std::string text = static_cast<const MetricsServer*>(server)->page(path);
  if (text.empty()) {
    return reply(connection, MHD_HTTP_NOT_FOUND, kPlain, "the metrics are at /metrics\n");
  }
  return reply(connection, MHD_HTTP_OK, kMetricsContentType, text);
}

}  // namespace

MetricsServer::MetricsServer(fetch::Endpoint endpoint, Text text)
    : endpoint_(endpoint), text_(std::move(text)) {}

base::Result<std::unique_ptr<MetricsServer>> MetricsServer::start(const std::string& where,
                                                                  Text text) {
  constexpr std::string_view kLocalhost = "localhost:";
  const bool is_localhost = where.starts_with(kLocalhost);
  auto endpoint =
      fetch::Endpoint::parse(is_localhost ? "127.0.0.1:" + where.substr(kLocalhost.size()) : where);
  if (!endpoint) {
    return base::fail(base::ErrorCode::kInvalid,
                      "--metrics takes an address and a port, such as 127.0.0.1:9090, not {}",
                      base::quoted(where));
  }
  ASSIGN_OR_RETURN(const int listener, listen_at(*endpoint));
  auto server = std::unique_ptr<MetricsServer>(new MetricsServer(*endpoint, std::move(text)));
  server->daemon_ = MHD_start_daemon(
      MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_EPOLL, 0, nullptr, nullptr, &answer, server.get(),
      MHD_OPTION_LISTEN_SOCKET, listener, MHD_OPTION_CONNECTION_LIMIT, kConnectionsMax,
      MHD_OPTION_CONNECTION_TIMEOUT, kIdleSecondsMax, MHD_OPTION_END);
  if (server->daemon_ == nullptr) {
    ::close(listener);
    return base::fail(base::ErrorCode::kFailed, "the metrics cannot be served at {}", where);
  }
  return server;
}

MetricsServer::~MetricsServer() {
  if (daemon_ != nullptr) MHD_stop_daemon(daemon_);  // closes the listener too
}

std::string MetricsServer::url() const {
  return fmt::format("http://{}/metrics", endpoint_.to_string());
}

std::string MetricsServer::page(const std::string& path) const {
  return path == "/metrics" ? text_() : std::string();
}

}  // namespace meguri::app
