// A client for tests of the server: it sends exactly the bytes it is given, and waits.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "sim/certificates.h"
#include "sim/descriptor.h"
#include "sim/server_address.h"
#include "web/http_chunked.h"
#include "web/http_framing.h"
#include "web/http_head.h"

namespace meguri::sim {

struct Response {
  web::HttpHead head;
  std::string body;            // without chunks
  std::size_t wire_bytes = 0;  // head and body, as they came
  int chunks = 0;
  bool is_whole = false;  // the connection did not end before it
};

inline int status_of(const std::optional<Response>& response) {
  return response ? response->head.status : 0;
}
inline std::string body_of(const std::optional<Response>& response) {
  return response ? response->body : "";
}

// A context that trusts one authority and nothing else.
inline OpenSslPtr<SSL_CTX> client_context(const std::string& authority_pem) {
  OpenSslPtr<SSL_CTX> context(SSL_CTX_new(TLS_client_method()));
  BIO* bio = BIO_new_mem_buf(authority_pem.data(), static_cast<int>(authority_pem.size()));
  const OpenSslPtr<X509> authority(PEM_read_bio_X509(bio, nullptr, nullptr, nullptr));
  BIO_free(bio);
  if (authority) X509_STORE_add_cert(SSL_CTX_get_cert_store(context.get()), authority.get());
  SSL_CTX_set_verify(context.get(), SSL_VERIFY_PEER, nullptr);
  SSL_CTX_set_options(context.get(), SSL_OP_IGNORE_UNEXPECTED_EOF);
  return context;
}

// Waits at most 20 seconds for anything, so that a failing test ends.
class TestClient {
 public:
  TestClient(Address server, std::uint16_t port)
      : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    const timeval patience{20, 0};
    setsockopt(socket_.number(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
    setsockopt(socket_.number(), SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
    const int on = 1;
    setsockopt(socket_.number(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(server);
    is_connected_ =
        connect(socket_.number(), reinterpret_cast<sockaddr*>(&address), sizeof(address)) == 0;
  }

  bool is_connected() const { return is_connected_; }
  int socket() const { return socket_.number(); }
  SSL* ssl() const { return ssl_.get(); }

  // False: no handshake, or a certificate that is not right for `host`.
  bool start_tls(SSL_CTX* context, const std::string& host, SSL_SESSION* session = nullptr) {
    ssl_.reset(SSL_new(context));
    SSL_set_fd(ssl_.get(), socket_.number());
    if (!host.empty()) SSL_set_tlsext_host_name(ssl_.get(), host.c_str());
    if (!host.empty()) SSL_set1_host(ssl_.get(), host.c_str());
    if (session != nullptr) SSL_set_session(ssl_.get(), session);
    return SSL_connect(ssl_.get()) == 1;
  }

  bool send(std::string_view bytes) {
    while (!bytes.empty()) {
      const auto sent = ssl_ ? SSL_write(ssl_.get(), bytes.data(), static_cast<int>(bytes.size()))
                             : ::send(socket_.number(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent <= 0) return false;
      bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
    return true;
  }

  // Nullopt: nothing but the end of the connection, or not even a head.
  std::optional<Response> read_response(std::string_view method = "GET") {
    web::HeadParser parser(web::HeadKind::kResponse);
    Response response;
    while (parser.state() == web::HeadState::kMore) {
      if (buffer_.empty() && !fill()) return std::nullopt;
      take(parser.feed(buffer_), &response);
    }
    if (parser.state() != web::HeadState::kComplete) return std::nullopt;
    response.head = parser.head();
    read_body(web::response_framing(response.head, method), &response);
    return response;
  }

  std::optional<Response> ask(std::string_view host, std::string_view target,
                              std::string_view fields = "", std::string_view method = "GET") {
    std::string request;
    request.append(method).append(" ").append(target).append(" HTTP/1.1\r\nHost: ").append(host);
    request.append("\r\n").append(fields).append("\r\n");
    if (!send(request)) return std::nullopt;
    return read_response(method);
  }

  // True: the server has ended the connection, and nothing is left to read.
  bool has_ended() { return buffer_.empty() && !fill() && has_ended_; }

  // Closes so that the server sees a reset.
  void reset() {
    const linger at_once{1, 0};
    setsockopt(socket_.number(), SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
    ssl_.reset();
    socket_ = Descriptor();
  }

 private:
  bool fill() {
    std::array<char, 16'384> bytes;
    const auto count = ssl_ ? SSL_read(ssl_.get(), bytes.data(), static_cast<int>(bytes.size()))
                            : recv(socket_.number(), bytes.data(), bytes.size(), 0);
    if (count > 0) buffer_.append(bytes.data(), static_cast<std::size_t>(count));
    has_ended_ = count == 0;
    return count > 0;
  }

  void take(std::size_t bytes, Response* response) {
    response->wire_bytes += bytes;
    buffer_.erase(0, bytes);
  }

  void read_body(const web::BodyFraming& framing, Response* response) {
    switch (framing.end) {
      case web::BodyEnd::kNone: response->is_whole = true; break;
      case web::BodyEnd::kLength: read_sized(framing.length, response); break;
      case web::BodyEnd::kChunked: read_chunks(response); break;
      case web::BodyEnd::kClose:
        while (fill()) {
        }
        response->body = buffer_;
        take(buffer_.size(), response);
        response->is_whole = has_ended_;
        break;
    }
  }

  void read_sized(std::uint64_t length, Response* response) {
    while (buffer_.size() < length) {
      if (!fill()) return;
    }
    response->body = buffer_.substr(0, length);
    take(length, response);
    response->is_whole = true;
  }

  void read_chunks(Response* response) {
    web::ChunkedDecoder decoder;
    std::string wire;
    while (decoder.state() == web::ChunkedState::kMore) {
      if (buffer_.empty() && !fill()) return;
      const std::size_t used = decoder.feed(buffer_, &response->body);
      wire.append(buffer_, 0, used);
      take(used, response);
    }
    response->is_whole = decoder.state() == web::ChunkedState::kComplete;
    for (std::size_t at = 0; at < wire.size();) {
      const std::size_t size = std::stoul(wire.substr(at), nullptr, 16);
      if (size == 0) break;
      ++response->chunks;
      at = wire.find("\r\n", at) + 2 + size + 2;
    }
  }

  Descriptor socket_;
  OpenSslPtr<SSL> ssl_;
  std::string buffer_;
  bool is_connected_ = false;
  bool has_ended_ = false;
};

}  // namespace meguri::sim
