// How time goes on in a Store: buckets are opened and read, coarse ones moved to finer ones, and
// what is out for long set aside.
#include <algorithm>
#include <iterator>
#include <utility>

#include "sat/store.h"

namespace meguri::sat {

using base::ErrorCode;
using base::Instant;

base::Result<std::optional<DueRecord>> Store::next_due(Instant now) {
  if (!status_) return unusable();
  if (out_) {
    return base::fail(ErrorCode::kInvalid, "record {} must be rescheduled before the next one",
                      *out_);
  }
  auto due = find_due(now);
  if (!due) status_ = std::unexpected(due.error());
  return due;
}

base::Result<std::optional<DueRecord>> Store::find_due(Instant now) {
  DueRecord due;
  for (;;) {
    if (reading_.bucket != nullptr) {
      ASSIGN_OR_RETURN(const bool more, read_one(due));
      if (more) return due;
      continue;
    }
    const auto unread =
        std::ranges::find_if(open_, [](const auto& open) { return !open->is_read; });
    if (unread != open_.end()) {
      RETURN_IF_ERROR(begin_reading(**unread));
      continue;
    }
    if (!front_.may_open(now)) return std::nullopt;
    RETURN_IF_ERROR(prepare_open());
    log_->add(Operation{});  // kOpen
    RETURN_IF_ERROR(open_next());
  }
}

// What must have happened before the next bucket is opened: buckets that were sealed have given
// what belongs to it, and a slot is free for what will be placed behind it.
base::Status Store::prepare_open() {
  const Instant end = layout_.end_of(front_.next_open());
  const auto is_late = [&](const SealedBucket& sealed) {
    return layout_.begin_of(sealed.bucket) < end;
  };
  while (std::ranges::any_of(sealed_, is_late)) {
    RETURN_IF_ERROR(move_some(0xffff'ffff));
  }
  const base::Duration out_max =
      std::min(options_.out_max, layout_.unit(0) * (TimeLayout::kOpenMax - 2));
  while (!open_.empty() && end - open_.front()->records.opened >= out_max) {
    Operation operation;
    operation.deed = Deed::kSetAside;
    log_->add(operation);
    RETURN_IF_ERROR(set_aside_oldest());
  }
  return {};
}

base::Status Store::open_next() {
  for (Bucket next = front_.next_seal(); next.number != 0; next = front_.next_seal()) {
    front_.seal(next);
    const Slot slot = layout_.slot_of(next);
    if (index_.live(slot) == 0 && extents_[slot].empty() && buffers_.bytes(slot) == 0) continue;
    sealed_.push_back({next, take_slot(slot)});
  }
  const Bucket bucket = front_.next_open();
  front_.open();
  const Slot slot = layout_.slot_of(bucket);
  pulls_.erase(slot);
  auto opened = std::make_unique<OpenBucket>(take_slot(slot));
  opened->records.opened = layout_.end_of(bucket);
  const bool is_empty = options_.has_index ? index_.live(slot) == 0 : opened->records.count() == 0;
  if (is_empty) {
    release(opened->records);
    release(opened->messages);
    stale_[slot] = 0;
    return {};
  }
  open_.push_back(std::move(opened));
  return {};
}

base::Status Store::begin_reading(OpenBucket& bucket) {
  const Slot slot = bucket.records.slot;
  const bool has_stale = slot == out_slot() || stale_[slot] > 0;
  ASSIGN_OR_RETURN(reading_.live, LiveCopies::of(*segments_, bucket.records, index_, has_stale));
  // None of its records has been handed out: what came late is among the messages.
  if (options_.sorts_buckets) {
    ASSIGN_OR_RETURN(reading_.sorted,
                     SortedBucket::read(*segments_, bucket.records, bucket.messages, index_));
    for (const auto& [seq, message] : reading_.sorted->messages()) late_messages_.erase(seq);
    reading_.bucket = &bucket;
    return {};
  }
  ASSIGN_OR_RETURN(reading_.messages, read_messages(slot, bucket.messages));
  for (const auto& [seq, messages] : reading_.messages) late_messages_.erase(seq);
  reading_.reader.emplace(*segments_, bucket.records, options_.has_index ? &index_ : nullptr);
  RETURN_IF_ERROR(skip_gone(*reading_.reader, bucket));
  reading_.bucket = &bucket;
  return {};
}

base::Result<bool> Store::next_copy(Record& record) {
  if (reading_.sorted) return reading_.sorted->next(record);
  return reading_.reader->next(record);
}

void Store::take_messages(Seq seq) {
  reading_.handed.clear();
  if (reading_.sorted) reading_.sorted->take_messages(seq, reading_.handed);
  if (!reading_.messages.empty()) {
    if (const auto found = reading_.messages.extract(seq)) {
      reading_.handed = std::move(found.mapped());
    }
  }
  // Those that came after the bucket was opened.
  if (late_messages_.empty()) return;
  if (const auto late = late_messages_.extract(seq)) {
    std::ranges::move(late.mapped(), std::back_inserter(reading_.handed));
  }
}

// False: the bucket has no more.
base::Result<bool> Store::read_one(DueRecord& due) {
  OpenBucket& bucket = *reading_.bucket;
  const Slot slot = bucket.records.slot;
  Record& record = due.record;
  for (;;) {
    ASSIGN_OR_RETURN(const bool more, next_copy(record));
    if (!more) break;
    if (options_.has_index && !reading_.live.counts(record, slot, index_)) continue;
    take_messages(record.seq);
    if (slot != out_slot() && record.due.instant() > bucket.records.opened) {
      // It was beyond the horizon.
      RETURN_IF_ERROR(put(record));
      for (const std::string& message : reading_.handed) {
        RETURN_IF_ERROR(send_to(index_.slot_of(record.seq), record.seq, message));
      }
      ++bucket.gone;
      continue;
    }
    if (!options_.has_index) out_ = record.seq;
    due.messages = reading_.handed;
    return true;
  }
  bucket.is_read = true;
  reading_ = {};
  if (slot != out_slot()) stale_[slot] = 0;
  free_empty_buckets();
  return false;
}

base::Result<bool> Store::move_some(std::uint32_t records) {
  if (!status_) return unusable();
  if (sealed_.empty()) return false;
  Operation operation;
  operation.deed = Deed::kMove;
  operation.number = records;
  log_->add(operation);
  RETURN_IF_ERROR(note(move_sealed(records)));
  return !sealed_.empty();
}

// Of the first sealed bucket.
base::Status Store::move_sealed(std::uint32_t records_max) {
  if (sealed_.empty()) return {};
  SealedBucket& sealed = sealed_.front();
  const Slot slot = sealed.taken.records.slot;
  if (!moving_) {
    ASSIGN_OR_RETURN(moving_live_,
                     LiveCopies::of(*segments_, sealed.taken.records, index_, stale_[slot] > 0));
    ASSIGN_OR_RETURN(moving_messages_, read_messages(slot, sealed.taken.messages));
    moving_.emplace(*segments_, sealed.taken.records, options_.has_index ? &index_ : nullptr);
    RETURN_IF_ERROR(skip_gone(*moving_, sealed.taken));
  }
  Record record;
  for (std::uint32_t n = 0; n < records_max; ++n) {
    ASSIGN_OR_RETURN(const bool more, moving_->next(record));
    if (!more) {
      release(sealed.taken.records);
      release(sealed.taken.messages);
      stale_[slot] = 0;
      moving_.reset();
      moving_messages_.clear();
      pulls_.erase(slot);
      sealed_.pop_front();
      return {};
    }
    ++sealed.taken.gone;
    if (options_.has_index && !moving_live_.counts(record, slot, index_)) continue;
    if (const DueTime* pulled = pull_of(slot, record.seq)) {
      record.due = std::min(record.due, *pulled);
    }
    RETURN_IF_ERROR(put(record));
    ++counts_.moved;
    const auto messages = moving_messages_.extract(record.seq);
    if (!messages) continue;
    for (const std::string& message : messages.mapped()) {
      RETURN_IF_ERROR(send_to(index_.slot_of(record.seq), record.seq, message));
    }
  }
  return {};
}

// What is still out of the bucket that was opened first goes to the out slot, so that the bucket
// is freed.
base::Status Store::set_aside_oldest() {
  if (open_.empty()) return {};
  const std::unique_ptr<OpenBucket> oldest = std::move(open_.front());
  open_.pop_front();
  return set_aside(*oldest);
}

// Copies that were left behind there make room.
base::Status Store::compact_out() {
  out_copies_ = 0;
  return set_aside(take_slot(out_slot()));
}

base::Status Store::set_aside(const OpenBucket& source) {
  const Slot slot = source.records.slot;
  // Before anything moves, because messages are known by where their record is.
  ASSIGN_OR_RETURN(Messages messages, read_messages(slot, source.messages));
  ASSIGN_OR_RETURN(const LiveCopies live, LiveCopies::of(*segments_, source.records, index_, true));
  BucketReader reader(*segments_, source.records);
  Record record;
  for (;;) {
    ASSIGN_OR_RETURN(const bool more, reader.next(record));
    if (!more) break;
    if (!live.counts(record, slot, index_)) continue;
    ++record.generation;
    RETURN_IF_ERROR(append_out(record));
    index_.move(record.seq, out_slot(), record.generation);
    set_aside_[record.seq] = record.generation;
    const auto sent = messages.find(record.seq);
    if (sent == messages.end()) continue;
    for (const std::string& message : sent->second) {
      RETURN_IF_ERROR(send_to(out_slot(), record.seq, message));
    }
  }
  release(source.records);
  release(source.messages);
  if (slot != out_slot()) stale_[slot] = 0;
  return {};
}

base::Result<bool> Store::serve_pulls() {
  if (!status_) return unusable();
  while (!pulls_.empty() && pulls_.begin()->second.empty()) pulls_.erase(pulls_.begin());
  if (pulls_.empty()) return false;
  // A bucket on its way to finer ones takes its pulls along.
  const Slot first = pulls_.begin()->first;
  if (std::ranges::any_of(sealed_,
                          [&](const auto& each) { return each.taken.records.slot == first; })) {
    RETURN_IF_ERROR(move_some(0xffff'ffff));
    return !pulls_.empty();
  }
  Operation operation;
  operation.deed = Deed::kServePulls;
  operation.number = pulls_.begin()->first;
  log_->add(operation);
  RETURN_IF_ERROR(note(serve_pulls_of(operation.number)));
  return !pulls_.empty();
}

base::Status Store::serve_pulls_of(Slot slot) {
  const auto wanted = pulls_.extract(slot);
  if (!wanted) return {};
  const TakenBucket bucket = peek_slot(slot);
  ASSIGN_OR_RETURN(const LiveCopies live, LiveCopies::of(*segments_, bucket, index_, true));
  Messages messages;
  bool has_messages = false;
  BucketReader reader(*segments_, bucket);
  Record record;
  for (;;) {
    ASSIGN_OR_RETURN(const bool more, reader.next(record));
    if (!more) break;
    const auto pulled = wanted.mapped().find(record.seq);
    if (pulled == wanted.mapped().end() || !live.counts(record, slot, index_)) continue;
    if (pulled->second >= record.due) continue;
    if (!std::exchange(has_messages, true)) {
      ASSIGN_OR_RETURN(messages, read_messages(slot, peek_slot(message_slot(slot))));
    }
    ++record.generation;
    ++stale_[slot];
    record.due = pulled->second;
    RETURN_IF_ERROR(put(record));
    const auto own = messages.extract(record.seq);
    if (!own) continue;
    for (const std::string& message : own.mapped()) {
      RETURN_IF_ERROR(send_to(index_.slot_of(record.seq), record.seq, message));
    }
  }
  return {};
}

}  // namespace meguri::sat
