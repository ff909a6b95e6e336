#include "sim/connection.h"

#include <sys/epoll.h>

#include <algorithm>
#include <utility>

namespace meguri::sim {
namespace {

constexpr int kStepsOfTurn = 64;                    // some twenty requests
constexpr std::uint64_t kLingerBytesMax = 1 << 20;  // that a client may send after its last answer

}  // namespace

Connection::Connection(ConnectionShared& shared, int socket, OpenSslPtr<SSL> ssl, Address server,
                       HostileDoor door)
    : shared_(shared),
      stream_(socket, std::move(ssl)),
      door_(door),
      state_(stream_.is_tls() ? State::kHandshake : State::kHead) {
  access_.server = address_text(server);
  if (door == HostileDoor::kResets) state_ = State::kReset;
}

Connection::~Connection() {
  if (is_asked_) log_end(shared_.clock.utc());
}

void Connection::note_events(std::uint32_t events) {
  is_readable_ = is_readable_ || (events & (EPOLLIN | EPOLLRDHUP | EPOLLHUP | EPOLLERR)) != 0;
  has_ended_ = has_ended_ || (events & EPOLLRDHUP) != 0;
  is_gone_ = is_gone_ || (events & (EPOLLHUP | EPOLLERR)) != 0;
}

Connection::Next Connection::run() {
  for (int steps = 0; steps < kStepsOfTurn; ++steps) {
    if (const auto next = step()) return *next;
  }
  return Next::kTurn;
}

std::optional<Connection::Next> Connection::step() {
  switch (state_) {
    case State::kHandshake: return step_handshake();
    case State::kHead: return step_head();
    case State::kBody: return step_body();
    case State::kWait: return step_wait();
    case State::kReply: return step_reply();
    case State::kLinger: return step_linger();
    case State::kReset: return step_reset();
  }
  return Next::kClose;
}

std::optional<Connection::Next> Connection::step_handshake() {
  if (door_ != HostileDoor::kOpen) {
    if (is_gone_ || has_ended_) return Next::kClose;
    if (door_ == HostileDoor::kIgnoresHandshake || !is_readable_) return Next::kEvent;
    state_ = State::kReset;
    return std::nullopt;
  }
  switch (stream_.shake_hands().state) {
    case IoState::kMoved: state_ = State::kHead; return std::nullopt;
    case IoState::kAgain: return Next::kEvent;
    default: return Next::kClose;
  }
}

template <typename Take>
std::optional<Connection::Next> Connection::receive(Take take) {
  if (!pending_.empty()) {
    pending_at_ += take(std::string_view(pending_).substr(pending_at_));
    if (pending_at_ == pending_.size()) {
      pending_.clear();
      pending_at_ = 0;
    }
    return std::nullopt;
  }
  if (!is_readable_) return Next::kEvent;
  const IoResult read = stream_.read(shared_.scratch);
  switch (read.state) {
    case IoState::kAgain: is_readable_ = false; return Next::kEvent;
    case IoState::kEnd:
    case IoState::kGone: return Next::kClose;
    case IoState::kMoved: break;
  }
  // A plain socket that gave less than there was room for is empty; what comes later, and the end,
  // makes a new event. So the usual request takes one call, not two.
  if (!stream_.is_tls() && !has_ended_ && read.bytes < shared_.scratch.size()) {
    is_readable_ = false;
  }
  const std::string_view bytes(shared_.scratch.data(), read.bytes);
  const std::size_t used = take(bytes);
  pending_.assign(bytes.substr(used));
  return std::nullopt;
}

std::optional<Connection::Next> Connection::step_head() {
  return receive([this](std::string_view bytes) { return take_head(bytes); });
}

std::size_t Connection::take_head(std::string_view bytes) {
  const std::size_t used = parser_.feed(bytes);
  head_bytes_ += used;
  const web::HeadState state = parser_.state();
  if (state == web::HeadState::kMore && head_bytes_ <= shared_.limits.head_bytes_max) return used;
  access_.arrival = shared_.clock.utc();
  arrival_ns_ = shared_.clock.nanoseconds();
  access_.host.clear();
  access_.target.clear();
  access_.status = 0;
  is_asked_ = true;
  HttpTally::add(shared_.tally.requests, 1);
  if (state == web::HeadState::kComplete && head_bytes_ <= shared_.limits.head_bytes_max) {
    begin_request();
  } else {
    refuse(state == web::HeadState::kBadStartLine || state == web::HeadState::kNotHttp ? 400 : 431);
  }
  return used;
}

void Connection::begin_request() {
  const AskedFor asked = read_request(parser_.head(), scheme(), shared_.limits.body_bytes_max);
  access_.host = asked.request.origin.host;
  access_.target = asked.request.target;
  if (asked.refusal != 0) return refuse(asked.refusal);
  if (asked.body == web::BodyEnd::kNone) return answer(asked);
  body_left_ = asked.body_bytes;
  body_bytes_ = 0;
  if (asked.body == web::BodyEnd::kChunked) chunks_ = std::make_unique<web::ChunkedDecoder>();
  state_ = State::kBody;
}

std::optional<Connection::Next> Connection::step_body() {
  const bool is_whole =
      chunks_ == nullptr ? body_left_ == 0 : chunks_->state() == web::ChunkedState::kComplete;
  if (is_whole) {
    chunks_.reset();
    answer(read_request(parser_.head(), scheme(), shared_.limits.body_bytes_max));
    return std::nullopt;
  }
  return receive([this](std::string_view bytes) { return take_body(bytes); });
}

std::size_t Connection::take_body(std::string_view bytes) {
  if (chunks_ == nullptr) {
    const std::size_t used = std::min<std::uint64_t>(bytes.size(), body_left_);
    body_left_ -= used;
    return used;
  }
  std::string dropped;
  const std::size_t used = chunks_->feed(bytes, &dropped);
  body_bytes_ += used;
  if (body_bytes_ > shared_.limits.body_bytes_max) {
    refuse(413);
  } else if (chunks_->state() != web::ChunkedState::kMore &&
             chunks_->state() != web::ChunkedState::kComplete) {
    refuse(400);
  }
  return used;
}

void Connection::answer(const AskedFor& asked) {
  Answer answer = shared_.world.answer(asked.request, access_.arrival);
  const std::int64_t wait_ns = shared_.clock.real_time(answer.delay).count();
  WireForm form;
  form.is_head = asked.request.method == "HEAD";
  form.to_http10 = asked.is_http10;
  form.keeps_alive = asked.keeps_alive;
  form.says_keep_alive = asked.is_http10;
  access_.status = answer.status;
  reply_.prepare(std::move(answer), form);
  deadline_ns_ = arrival_ns_ + wait_ns;
  timer_is_set_ = false;
  state_ = wait_ns > 0 ? State::kWait : State::kReply;
}

void Connection::refuse(int status) {
  chunks_.reset();
  access_.status = status;
  reply_.prepare_refusal(status);
  state_ = State::kReply;
}

std::optional<Connection::Next> Connection::wait_until(std::int64_t deadline_ns) {
  deadline_ns_ = deadline_ns;
  if (timer_is_set_) return Next::kEvent;
  timer_is_set_ = true;
  return Next::kTimer;
}

std::optional<Connection::Next> Connection::step_wait() {
  // Who has given up a script would else be thought to wait for all of it.
  if (is_gone_ || (has_ended_ && reply_.is_script())) return Next::kClose;
  if (shared_.clock.nanoseconds() < deadline_ns_) return wait_until(deadline_ns_);
  state_ = State::kReply;
  return std::nullopt;
}

std::optional<Connection::Next> Connection::step_reply() {
  // Before the write: the client may have all of it, and the next request under way, before this
  // thread runs again.
  const base::Instant now = shared_.clock.utc();
  if (const base::Duration time = reply_.take_pause(); time > base::Duration()) {
    pause(time);
    return std::nullopt;
  }
  if (reply_.is_done()) {
    end_reply(now);
    return std::nullopt;
  }
  const IoResult written = stream_.write(reply_, shared_.scratch);
  switch (written.state) {
    case IoState::kMoved: break;
    case IoState::kAgain: return Next::kEvent;
    default: return Next::kClose;
  }
  reply_.advance(written.bytes);
  HttpTally::add(shared_.tally.bytes, written.bytes);
  if (reply_.is_done()) end_reply(now);
  return std::nullopt;
}

void Connection::pause(base::Duration time) {
  deadline_ns_ = shared_.clock.nanoseconds() + shared_.clock.real_time(time).count();
  timer_is_set_ = false;
  state_ = State::kWait;
}

void Connection::end_reply(base::Instant now) {
  log_end(now);
  has_answered_ = true;
  if (reply_.resets()) {
    state_ = State::kReset;
    return;
  }
  const bool closes = reply_.closes();
  reply_.clear();
  parser_ = web::HeadParser(web::HeadKind::kRequest);
  head_bytes_ = 0;
  state_ = State::kHead;
  if (!closes) return;
  // Closing at once would be a reset if the client has sent more, and that may overtake the answer.
  stream_.end_writing();
  state_ = State::kLinger;
  timer_is_set_ = false;
  deadline_ns_ =
      shared_.clock.nanoseconds() + std::chrono::nanoseconds(shared_.limits.linger_time).count();
}

void Connection::log_end(base::Instant now) {
  // The clock of a world may be set back; the log's times are in order all the same.
  access_.end = std::max(access_.arrival, now);
  access_.bytes = reply_.sent_bytes();
  shared_.log.add(access_);
  is_asked_ = false;
}

std::optional<Connection::Next> Connection::step_reset() {
  stream_.set_reset();
  return Next::kClose;
}

std::optional<Connection::Next> Connection::step_linger() {
  if (is_gone_ || lingered_bytes_ > kLingerBytesMax ||
      shared_.clock.nanoseconds() >= deadline_ns_) {
    return Next::kClose;
  }
  const auto next = receive([this](std::string_view bytes) {
    lingered_bytes_ += bytes.size();
    return bytes.size();
  });
  return next == Next::kEvent ? wait_until(deadline_ns_) : next;
}

}  // namespace meguri::sim
