#include "sim/event_loop.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <ctime>
#include <utility>

namespace meguri::sim {
namespace {

constexpr std::size_t kEventsMax = 64;  // of one look; so few that timers are looked at often
constexpr int kAcceptsMax = 64;         // of one look
constexpr int kRoomTries = 8;           // connections looked at for one that stands idle
constexpr std::int64_t kFlushNs = 50'000'000;
constexpr std::int64_t kResumeNs = 20'000'000;
constexpr std::int64_t kWaitNsMax = 1'000'000'000;
constexpr std::int64_t kNsPerSecond = 1'000'000'000;
constexpr std::int64_t kNsPerMs = 1'000'000;

// Names of what is no connection. Slots are below these.
constexpr std::uint64_t kWakeName = ~std::uint64_t{0};
constexpr std::uint64_t kListenerName = kWakeName - 1;
constexpr std::uint64_t kTlsListenerName = kWakeName - 2;

std::uint64_t name_of(std::uint32_t slot, std::uint32_t generation) {
  return std::uint64_t{generation} << 32 | slot;
}
std::uint32_t slot_of(std::uint64_t name) { return static_cast<std::uint32_t>(name); }

bool watch(int epoll, int descriptor, std::uint32_t events, std::uint64_t name) {
  epoll_event event{};
  event.events = events;
  event.data.u64 = name;
  return epoll_ctl(epoll, EPOLL_CTL_ADD, descriptor, &event) == 0;
}

std::optional<Address> local_address(int socket) {
  sockaddr_in local{};
  socklen_t size = sizeof(local);
  if (getsockname(socket, reinterpret_cast<sockaddr*>(&local), &size) != 0) return std::nullopt;
  return ntohl(local.sin_addr.s_addr);
}

}  // namespace

EventLoop::EventLoop(Parts parts)
    : parts_(std::move(parts)),
      log_(parts_.sink),
      scratch_(Stream::kRecordBytes),
      shared_{*parts_.world, *parts_.clock, parts_.limits, log_, tally_, scratch_} {}

base::Result<std::unique_ptr<EventLoop>> EventLoop::make(Parts parts) {
  std::unique_ptr<EventLoop> made(new EventLoop(std::move(parts)));
  made->epoll_ = Descriptor(epoll_create1(EPOLL_CLOEXEC));
  made->wake_ = Descriptor(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  const bool is_good = made->epoll_.is_open() && made->wake_.is_open() &&
                       watch(made->epoll_.number(), made->wake_.number(), EPOLLIN, kWakeName) &&
                       made->watch_listeners();
  if (!is_good) {
    return std::unexpected(base::Error::from_errno(errno, "cannot watch the server's sockets"));
  }
  return made;
}

void EventLoop::stop() {
  stopping_ = true;
  eventfd_write(wake_.number(), 1);
}

void EventLoop::run() {
  std::array<epoll_event, kEventsMax> events;
  while (!stopping_) {
    const int count = wait_for_events(events.data());
    now_ns_ = parts_.clock->nanoseconds();
    for (int i = 0; i < count && !stopping_; ++i) handle(events[static_cast<std::size_t>(i)]);
    run_turns();
    run_timers();
    close_idle();
    flush_log();
  }
  slots_.clear();                  // what was under way goes to the log
  parts_.listener = Descriptor();  // and those who wait to be accepted hear of the end
  parts_.tls_listener = Descriptor();
  tally_.open = 0;
  log_.flush();
}

int EventLoop::wait_for_events(epoll_event* events) const {
  const std::int64_t ns = wait_ns();
  timespec time{};
  time.tv_sec = ns / kNsPerSecond;
  time.tv_nsec = ns % kNsPerSecond;
  const int count = epoll_pwait2(epoll_.number(), events, kEventsMax, &time, nullptr);
  if (count >= 0 || errno != ENOSYS) return count;
  // Before Linux 5.11. Rounded up: a timer that is too early would be set again and again.
  const auto ms = static_cast<int>((ns + kNsPerMs - 1) / kNsPerMs);
  return epoll_wait(epoll_.number(), events, kEventsMax, ms);
}

std::int64_t EventLoop::wait_ns() const {
  if (!turns_.empty()) return 0;
  std::int64_t due = now_ns_ + kWaitNsMax;
  if (!timers_.empty()) due = std::min(due, timers_.front().deadline_ns);
  if (idle_.first() != IdleList::kNone) {
    due = std::min(due, idle_.touched_ns(idle_.first()) +
                            std::chrono::nanoseconds(parts_.limits.idle_time).count());
  }
  if (flush_ns_) due = std::min(due, *flush_ns_);
  if (resume_ns_) due = std::min(due, *resume_ns_);
  return std::max<std::int64_t>(due - parts_.clock->nanoseconds(), 0);
}

void EventLoop::handle(const epoll_event& event) {
  const std::uint64_t name = event.data.u64;
  if (name == kListenerName) return accept_some(parts_.listener, false);
  if (name == kTlsListenerName) return accept_some(parts_.tls_listener, true);
  Connection* connection = name == kWakeName ? nullptr : connection_of(name);
  if (connection == nullptr) return;
  connection->note_events(event.events);
  run_connection(name, *connection);
}

Connection* EventLoop::connection_of(std::uint64_t name) {
  const std::uint32_t slot = slot_of(name);
  if (slot >= slots_.size() || name_of(slot, slots_[slot].generation) != name) return nullptr;
  return slots_[slot].connection.get();
}

void EventLoop::run_connection(std::uint64_t name, Connection& connection) {
  idle_.touch(slot_of(name), now_ns_);
  switch (connection.run()) {
    case Connection::Next::kEvent: break;
    case Connection::Next::kTimer:
      timers_.push_back({connection.deadline_ns(), name});
      std::ranges::push_heap(timers_, std::less<>());
      break;
    case Connection::Next::kTurn: turns_.push_back(name); break;
    case Connection::Next::kClose: close_connection(name); break;
  }
}

void EventLoop::close_connection(std::uint64_t name) {
  const std::uint32_t slot = slot_of(name);
  idle_.remove(slot);
  slots_[slot].connection.reset();
  ++slots_[slot].generation;
  free_slots_.push_back(slot);
  tally_.open.fetch_sub(1, std::memory_order_relaxed);
  if (resume_ns_) resume_accepting();
}

void EventLoop::accept_some(const Descriptor& listener, bool is_tls) {
  for (int i = 0; i < kAcceptsMax; ++i) {
    const auto spare = is_full() ? find_idle() : std::nullopt;
    if (is_full() && !spare) return pause_accepting();
    sockaddr_in peer{};
    socklen_t size = sizeof(peer);
    const int socket = accept4(listener.number(), reinterpret_cast<sockaddr*>(&peer), &size,
                               SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (socket < 0) {
      if (errno == EMFILE || errno == ENFILE || errno == ENOMEM || errno == ENOBUFS) {
        return pause_accepting();
      }
      if (errno == EAGAIN) return;
      continue;  // that client has gone already
    }
    Descriptor owned(socket);
    const auto local = local_address(socket);
    if (!local || !is_loopback(*local) || !is_loopback(ntohl(peer.sin_addr.s_addr))) {
      HttpTally::add(tally_.refused, 1);
      continue;
    }
    if (spare) close_connection(*spare);
    add_connection(std::move(owned), is_tls, *local);
  }
}

void EventLoop::add_connection(Descriptor socket, bool is_tls, Address server) {
  OpenSslPtr<SSL> ssl;
  if (is_tls) ssl = parts_.tls->accept(socket.number());
  if (is_tls && ssl == nullptr) return;
  const int number = socket.number();
  const HostileHabit* const habit = parts_.world->hostile().at(server);
  const HostileDoor door = habit == nullptr ? HostileDoor::kOpen : habit->door;
  auto connection =
      std::make_unique<Connection>(shared_, socket.release(), std::move(ssl), server, door);
  if (free_slots_.empty()) {
    free_slots_.push_back(static_cast<std::uint32_t>(slots_.size()));
    slots_.emplace_back();
  }
  const std::uint32_t slot = free_slots_.back();
  // Edges of both directions, once and for all: no request needs another call for this.
  if (!watch(epoll_.number(), number, EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET,
             name_of(slot, slots_[slot].generation))) {
    return;
  }
  free_slots_.pop_back();
  slots_[slot].connection = std::move(connection);
  idle_.touch(slot, now_ns_);
  HttpTally::add(tally_.connections, 1);
  tally_.open.fetch_add(1, std::memory_order_relaxed);
}

bool EventLoop::is_full() const {
  return slots_.size() - free_slots_.size() >= parts_.limits.connections_max;
}

std::optional<std::uint64_t> EventLoop::find_idle() const {
  std::uint32_t slot = idle_.first();
  for (int i = 0; i < kRoomTries && slot != IdleList::kNone; ++i) {
    if (slots_[slot].connection->is_idle()) return name_of(slot, slots_[slot].generation);
    slot = idle_.after(slot);
  }
  return std::nullopt;
}

bool EventLoop::watch_listeners() {
  const bool tls = parts_.tls_listener.is_open();
  return watch(epoll_.number(), parts_.listener.number(), EPOLLIN, kListenerName) &&
         (!tls || watch(epoll_.number(), parts_.tls_listener.number(), EPOLLIN, kTlsListenerName));
}

void EventLoop::pause_accepting() {
  if (resume_ns_) return;
  epoll_ctl(epoll_.number(), EPOLL_CTL_DEL, parts_.listener.number(), nullptr);
  if (parts_.tls_listener.is_open()) {
    epoll_ctl(epoll_.number(), EPOLL_CTL_DEL, parts_.tls_listener.number(), nullptr);
  }
  resume_ns_ = now_ns_ + kResumeNs;
}

void EventLoop::resume_accepting() {
  resume_ns_.reset();
  watch_listeners();
}

void EventLoop::run_turns() {
  served_.swap(turns_);
  for (const std::uint64_t name : served_) {
    if (Connection* connection = connection_of(name)) run_connection(name, *connection);
  }
  served_.clear();
}

void EventLoop::run_timers() {
  if (resume_ns_ && *resume_ns_ <= now_ns_) resume_accepting();
  if (timers_.empty()) return;
  now_ns_ = parts_.clock->nanoseconds();
  while (!timers_.empty() && timers_.front().deadline_ns <= now_ns_ && !stopping_) {
    std::ranges::pop_heap(timers_, std::less<>());
    const std::uint64_t name = timers_.back().name;
    timers_.pop_back();
    if (Connection* connection = connection_of(name)) run_connection(name, *connection);
  }
}

void EventLoop::close_idle() {
  const std::int64_t limit = std::chrono::nanoseconds(parts_.limits.idle_time).count();
  while (idle_.first() != IdleList::kNone) {
    const std::uint32_t slot = idle_.first();
    if (now_ns_ - idle_.touched_ns(slot) < limit) return;
    if (slots_[slot].connection->is_waiting()) {
      idle_.touch(slot, now_ns_);  // it is we who let it wait
    } else {
      close_connection(name_of(slot, slots_[slot].generation));
    }
  }
}

void EventLoop::flush_log() {
  if (log_.empty()) {
    flush_ns_.reset();
  } else if (!flush_ns_) {
    flush_ns_ = now_ns_ + kFlushNs;
  } else if (*flush_ns_ <= now_ns_) {
    log_.flush();
    flush_ns_.reset();
  }
}

}  // namespace meguri::sim
