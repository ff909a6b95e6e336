#include "scan/sinks.h"

#include <utility>

namespace meguri::scan {

base::Status FolderSink::look(base::Ticks now) {
  if (!committed_at_) committed_at_ = now;
  if (now - *committed_at_ < kCommitEvery) return {};
  committed_at_ = now;
  return folder_.commit();
}

OrderedSink::OrderedSink(DispatchSink& to, const DoneSet& done) : to_(to), done_(done) {
  pass_done();
}

void OrderedSink::pass_done() {
  while (done_.contains(next_)) ++next_;
}

base::Status OrderedSink::result(std::uint64_t number, const env::SpooledBytes& result) {
  held_[number] = {.result = result, .skipped = std::nullopt};
  return hand_on();
}

base::Status OrderedSink::skipped(const SkippedDocument& document) {
  held_[document.pointer.facts.number] = {.result = {}, .skipped = document};
  return hand_on();
}

base::Status OrderedSink::hand_on() {
  for (auto it = held_.begin(); it != held_.end() && it->first == next_; it = held_.erase(it)) {
    const Held& held = it->second;
    RETURN_IF_ERROR(held.skipped ? to_.skipped(*held.skipped) : to_.result(next_, held.result));
    ++next_;
    pass_done();
  }
  return {};
}

}  // namespace meguri::scan
