// HttpReply: one answer as the bytes that go over the wire, and how far they have gone. Writing
// an answer is only this: hosts that misbehave byte by byte will bring another kind of reply.
#pragma once

#include <sys/uio.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/wire.h"
#include "sim/world.h"

namespace meguri::sim {

// Thread-compatible. Keeps the body as the world made it; nothing of it is copied.
class HttpReply {
 public:
  static constexpr std::size_t kChunkBytes = 4096;

  // Begins another answer. Whatever was left of the last one is forgotten.
  void prepare(Answer answer, const WireForm& form);

  // A short plain answer of the server itself, to what it could not read; closes.
  void prepare_refusal(int status);

  bool is_done() const { return at_ == pieces_.size(); }
  bool closes() const { return closes_; }  // the connection, after it
  int status() const { return status_; }
  std::uint64_t sent_bytes() const { return sent_bytes_; }

  // The next bytes, in at most as many parts as there is room for; says how many. Valid until the
  // next call that is not const.
  std::size_t gather(std::span<iovec> parts) const;
  void advance(std::size_t bytes);  // these have gone; at most what is left

  void clear();  // frees the body

 private:
  // Of the text or the body: offsets, because texts move while they grow.
  struct Piece {
    bool is_body;
    std::size_t offset;
    std::size_t size;
  };

  void frame_body(bool is_chunked);
  void add_text(std::size_t from);  // what text_ holds from there on, as a piece

  std::string text_;  // the head, and the lines round chunks
  std::string body_;
  std::vector<Piece> pieces_;
  std::size_t at_ = 0;      // the piece to go next
  std::size_t offset_ = 0;  // what of it has gone
  std::uint64_t sent_bytes_ = 0;
  int status_ = 0;
  bool closes_ = false;
};

}  // namespace meguri::sim
