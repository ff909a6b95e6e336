#include "crawl/control_mailbox.h"

namespace meguri::crawl {

std::unexpected<base::Error> crawl_has_ended() {
  return base::fail(base::ErrorCode::kStopped, "the crawl has ended");
}

void ControlMailbox::post(ControlRequest request, ControlDone done) {
  bool is_closed = false;
  {
    const base::MutexLock lock(mutex_);
    is_closed = is_closed_;
    if (!is_closed && waiting_.size() < kRequestsMax) {
      waiting_.push_back({std::move(request), std::move(done)});
      // Within the lock, because after close() there may be nobody to wake.
      if (waker_) (*waker_)();
      return;
    }
  }
  if (is_closed) return done(crawl_has_ended());
  done(base::fail(base::ErrorCode::kBusy, "the crawl is asked too much; try again"));
}

void ControlMailbox::open(flow::Waker waker) {
  const base::MutexLock lock(mutex_);
  waker_ = waker;
  if (!waiting_.empty()) waker();
}

std::optional<ControlMailbox::Posted> ControlMailbox::take() {
  const base::MutexLock lock(mutex_);
  if (waiting_.empty()) return std::nullopt;
  std::optional<Posted> posted(std::move(waiting_.front()));
  waiting_.pop_front();
  return posted;
}

void ControlMailbox::close() {
  std::deque<Posted> rest;
  {
    const base::MutexLock lock(mutex_);
    is_closed_ = true;
    waker_.reset();
    rest.swap(waiting_);
  }
  for (Posted& posted : rest) posted.done(crawl_has_ended());
}

}  // namespace meguri::crawl
