// Stream: the bytes of one accepted connection, plain or under TLS, without ever waiting.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "sim/certificates.h"
#include "sim/http_reply.h"

namespace meguri::sim {

enum class IoState : std::uint8_t {
  kMoved,  // some bytes
  kAgain,  // nothing before the next event
  kEnd,    // the client will send no more
  kGone,   // nothing can be read or written any more
};

struct IoResult {
  IoState state = IoState::kAgain;
  std::size_t bytes = 0;
};

// Owns its socket and closes it. Thread-compatible. The thread must block SIGPIPE, which OpenSSL
// would raise.
class Stream {
 public:
  // What one write() copies at most under TLS: a whole record.
  static constexpr std::size_t kRecordBytes = 16'384;

  Stream(int socket, OpenSslPtr<SSL> ssl);  // a socket that does not block; ssl null: plain
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  ~Stream();

  bool is_tls() const { return ssl_ != nullptr; }

  IoResult shake_hands();  // kMoved: done
  IoResult read(std::span<char> room);
  // The next bytes of a reply, not advanced. `scratch` has room for kRecordBytes.
  IoResult write(const HttpReply& reply, std::span<char> scratch);
  void end_writing();  // all that was written will arrive, and then the end
  void set_reset();    // closing resets the connection; what has not arrived is lost

 private:
  IoResult tls_result(int returned) const;

  int socket_;
  OpenSslPtr<SSL> ssl_;
};

}  // namespace meguri::sim
