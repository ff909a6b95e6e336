#include "fetch/socket_poller.h"

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>

#include "base/check.h"

namespace meguri::fetch {

base::Result<std::unique_ptr<SocketPoller>> SocketPoller::create() {
  const int epoll = ::epoll_create1(EPOLL_CLOEXEC);
  if (epoll < 0) return std::unexpected(base::Error::from_errno(errno, "cannot watch sockets"));
  const int wake_up = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (wake_up < 0) {
    const int error_number = errno;
    ::close(epoll);
    return std::unexpected(base::Error::from_errno(error_number, "cannot make a wake-up"));
  }
  return std::unique_ptr<SocketPoller>(new SocketPoller(epoll, wake_up));
}

SocketPoller::SocketPoller(int epoll, int wake_up) : epoll_(epoll), wake_up_(wake_up) {
  watch(wake_up_, true, false);
}

SocketPoller::~SocketPoller() {
  ::close(wake_up_);
  ::close(epoll_);
}

void SocketPoller::watch(int socket, bool reads, bool writes) {
  CHECK(socket >= 0);
  const auto index = static_cast<std::size_t>(socket);
  if (index >= watched_.size()) watched_.resize(std::max(index + 1, 2 * watched_.size()));
  if (!reads && !writes) {
    forget(socket);
    return;
  }
  epoll_event event{};
  event.events = (reads ? static_cast<std::uint32_t>(EPOLLIN) : 0U) |
                 (writes ? static_cast<std::uint32_t>(EPOLLOUT) : 0U);
  event.data.fd = socket;
  const int operation = watched_[index] != 0 ? EPOLL_CTL_MOD : EPOLL_CTL_ADD;
  const int status = ::epoll_ctl(epoll_, operation, socket, &event);
  CHECK(status == 0, "epoll refuses socket {}: {}", socket, errno);
  watched_[index] = 1;
}

void SocketPoller::forget(int socket) {
  const auto index = static_cast<std::size_t>(socket);
  if (index >= watched_.size() || watched_[index] == 0) return;
  // It may have been closed by now, which made epoll forget it by itself.
  ::epoll_ctl(epoll_, EPOLL_CTL_DEL, socket, nullptr);
  watched_[index] = 0;
}

std::span<const SocketPoller::Event> SocketPoller::wait(std::chrono::nanoseconds wait) {
  constexpr std::int64_t kMsMax = 3'600'000;
  const std::int64_t ms = std::chrono::ceil<std::chrono::milliseconds>(wait).count();
  std::array<epoll_event, kEventsMax> ready{};
  const int count = ::epoll_wait(epoll_, ready.data(), static_cast<int>(ready.size()),
                                 static_cast<int>(std::clamp(ms, std::int64_t{0}, kMsMax)));
  events_.clear();
  for (int i = 0; i < count; ++i) {
    const epoll_event& event = ready[static_cast<std::size_t>(i)];
    if (event.data.fd == wake_up_) {
      std::uint64_t ignored = 0;
      [[maybe_unused]] const ssize_t size = ::read(wake_up_, &ignored, sizeof(ignored));
      continue;
    }
    events_.push_back({event.data.fd, (event.events & EPOLLIN) != 0, (event.events & EPOLLOUT) != 0,
                       (event.events & (EPOLLERR | EPOLLHUP)) != 0});
  }
  return events_;
}

void SocketPoller::wake() {
  const std::uint64_t one = 1;
  [[maybe_unused]] const ssize_t size = ::write(wake_up_, &one, sizeof(one));
}

}  // namespace meguri::fetch
