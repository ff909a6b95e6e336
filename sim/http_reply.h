// HttpReply: one answer as the bytes that go over the wire, and how far they have gone. Hosts that
// misbehave byte by byte have a script instead of an answer, which may pause and need not end.
#pragma once

#include <sys/uio.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "sim/wire.h"
#include "sim/wire_script.h"
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

  bool is_done() const { return at_ == (script_ ? script_->steps.size() : pieces_.size()); }
  bool closes() const { return closes_; }  // the connection, after it
  bool is_script() const { return script_ != nullptr; }
  bool resets() const { return script_ && script_->resets; }  // instead of closing
  int status() const { return status_; }
  std::uint64_t sent_bytes() const { return sent_bytes_; }

  // How long to wait before the next bytes, said once for each time; zero: they may go. To be asked
  // before every gather().
  base::Duration take_pause();

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
  void end_round();                 // of a step of the script

  std::string text_;  // the head, and the lines round chunks
  std::string body_;
  std::vector<Piece> pieces_;
  std::shared_ptr<const WireScript> script_;  // instead of them all
  std::size_t at_ = 0;                        // the piece or the step to go next
  std::size_t offset_ = 0;                    // what of it has gone
  std::uint64_t round_ = 0;                   // how often the step has
  bool is_pause_due_ = false;                 // that of the step is still to be told
  std::uint64_t sent_bytes_ = 0;
  int status_ = 0;
  bool closes_ = false;
};

}  // namespace meguri::sim
