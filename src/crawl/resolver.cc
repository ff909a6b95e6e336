#include "crawl/resolver.h"

#include <utility>

#include "base/check.h"
#include "crawl/retry_policy.h"

namespace meguri::crawl {

base::Status Resolver::start() {
  dns_ = make_(clock());
  CHECK(dns_ != nullptr && dns_->capacity() > 0);
  return {};
}

void Resolver::on_question(NameQuestion&& question) {
  waiting_.push_back(std::move(question));
  ask_more();
}

void Resolver::ask_more() {
  if (draining()) return answer_unasked();
  while (!waiting_.empty() && dns_->in_flight() < dns_->capacity()) {
    const std::uint64_t tag = next_tag_++;
    const NameQuestion& question = asked_[tag] = std::move(waiting_.front());
    waiting_.pop_front();
    dns_->start(question.host, tag);
  }
}

// The crawl ends, and nobody wants to wait for name servers any more.
void Resolver::answer_unasked() {
  for (NameQuestion& question : waiting_) {
    answers.emit({.host = std::move(question.host),
                  .is_found = false,
                  .addresses = {},
                  .ttl = {},
                  .error = "not asked, because the crawl ends",
                  .may_pass = true});
  }
  waiting_.clear();
}

void Resolver::answer_finished() {
  for (fetch::Resolved& resolved : dns_->take()) {
    auto asked = asked_.extract(resolved.tag);
    CHECK(!asked.empty(), "an answer to a question that nobody asked");
    const bool is_found = resolved.outcome == fetch::DnsOutcome::kFound;
    answers.emit({.host = std::move(asked.mapped().host),
                  .is_found = is_found && !resolved.addresses.empty(),
                  .addresses = std::move(resolved.addresses),
                  .ttl = resolved.ttl,
                  .error = std::move(resolved.error),
                  .may_pass = may_pass(resolved.outcome)});
  }
}

void Resolver::poll(base::Duration wait) {
  dns_->poll(wait);
  answer_finished();
  ask_more();
}

// The engine may wake a poller before its start.
void Resolver::wake() {
  if (dns_) dns_->wake();
}

base::Ticks Resolver::next_poll() const {
  return asked_.empty() ? base::Ticks::never() : dns_->next_event();
}

}  // namespace meguri::crawl
