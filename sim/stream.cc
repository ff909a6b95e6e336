#include "sim/stream.h"

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

namespace meguri::sim {
namespace {

constexpr std::size_t kPartsMax = 64;  // of one write; chunked answers have three for each chunk

IoResult socket_result(ssize_t returned) {
  if (returned > 0) return {IoState::kMoved, static_cast<std::size_t>(returned)};
  const bool would_wait = errno == EAGAIN;
  return {would_wait ? IoState::kAgain : IoState::kGone, 0};
}

}  // namespace

Stream::Stream(int socket, OpenSslPtr<SSL> ssl) : socket_(socket), ssl_(std::move(ssl)) {}

Stream::~Stream() {
  ssl_.reset();
  close(socket_);
}

IoResult Stream::shake_hands() {
  ERR_clear_error();
  const int returned = SSL_do_handshake(ssl_.get());
  if (returned == 1) return {IoState::kMoved, 0};
  return tls_result(returned);
}

IoResult Stream::read(std::span<char> room) {
  if (ssl_ != nullptr) {
    ERR_clear_error();
    const int returned = SSL_read(ssl_.get(), room.data(), static_cast<int>(room.size()));
    return tls_result(returned);
  }
  const ssize_t returned = recv(socket_, room.data(), room.size(), 0);
  if (returned == 0) return {IoState::kEnd, 0};
  return socket_result(returned);
}

IoResult Stream::write(const HttpReply& reply, std::span<char> scratch) {
  std::array<iovec, kPartsMax> parts;
  const std::size_t count = reply.gather(parts);
  if (ssl_ == nullptr) {
    msghdr message{};
    message.msg_iov = parts.data();
    message.msg_iovlen = count;
    return socket_result(sendmsg(socket_, &message, MSG_NOSIGNAL));
  }
  // Head and body in as few records as possible. After kAgain the same bytes are gathered again,
  // as OpenSSL demands.
  std::size_t size = 0;
  for (std::size_t i = 0; i < count && size < kRecordBytes; ++i) {
    const std::size_t taken = std::min(parts[i].iov_len, kRecordBytes - size);
    std::memcpy(scratch.data() + size, parts[i].iov_base, taken);
    size += taken;
  }
  ERR_clear_error();
  return tls_result(SSL_write(ssl_.get(), scratch.data(), static_cast<int>(size)));
}

void Stream::end_writing() {
  if (ssl_ != nullptr) {
    ERR_clear_error();
    SSL_shutdown(ssl_.get());  // says so to the client; its own word is not waited for
  }
  shutdown(socket_, SHUT_WR);
}

void Stream::set_reset() {
  const linger at_once{1, 0};
  setsockopt(socket_, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
}

IoResult Stream::tls_result(int returned) const {
  if (returned > 0) return {IoState::kMoved, static_cast<std::size_t>(returned)};
  switch (SSL_get_error(ssl_.get(), returned)) {
    case SSL_ERROR_WANT_READ:
    case SSL_ERROR_WANT_WRITE: return {IoState::kAgain, 0};
    case SSL_ERROR_ZERO_RETURN: return {IoState::kEnd, 0};
    default: return {IoState::kGone, 0};
  }
}

}  // namespace meguri::sim
