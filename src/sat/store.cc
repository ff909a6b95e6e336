#include "sat/store.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/check.h"

namespace meguri::sat {

using base::ErrorCode;
using base::Instant;

namespace {

base::Status no_such_record(Seq seq) {
  return base::fail(ErrorCode::kNotFound, "there is no record {}", seq);
}

}  // namespace

Store::Store(env::FileSystem& files, std::string dir, const StoreOptions& options,
             TimeLayout layout, Instant start)
    : files_(files),
      dir_(std::move(dir)),
      options_(options),
      layout_(std::move(layout)),
      front_(layout_, start),
      index_(layout_.slots() + 1),
      buffers_(2 * (layout_.slots() + 1), options.page_bytes,
               std::max<std::size_t>(options.pool_bytes / options.page_bytes,
                                     options.body_bytes_max / options.page_bytes + 2)),
      extents_(2 * (std::size_t{layout_.slots()} + 1)),
      stale_(std::size_t{layout_.slots()} + 1) {}

Store::~Store() = default;

StoreCounts Store::counts() const {
  StoreCounts counts = counts_;
  if (!options_.has_index) {
    counts.records = added_;
    for (const auto& bucket : open_) counts.out += bucket->records.count() - bucket->gone;
    return counts;
  }
  counts.records = index_.records();
  for (const auto& bucket : open_) counts.out += index_.live(bucket->records.slot);
  counts.out += index_.live(out_slot());
  return counts;
}

bool Store::is_out(Seq seq) const {
  const Slot slot = index_.slot_of(seq);
  if (slot == out_slot()) return true;
  return std::ranges::any_of(open_, [&](const auto& open) { return open->records.slot == slot; });
}

Store::OpenBucket* Store::open_bucket_of(Slot slot) {
  for (const auto& bucket : open_) {
    if (bucket->records.slot == slot) return bucket.get();
  }
  return nullptr;
}

// --- Records come and go.

base::Status Store::check_size(std::string_view body) const {
  if (body.size() <= options_.body_bytes_max) return {};
  return base::fail(ErrorCode::kInvalid, "a record of {} bytes is more than {}", body.size(),
                    options_.body_bytes_max);
}

base::Result<Seq> Store::add(const base::Id& id, std::uint8_t schema, std::string_view body,
                             Instant due) {
  RETURN_IF_ERROR(check_size(body));
  Record record;
  record.id = id;
  record.due = DueTime::of(due);
  record.schema = schema;
  record.body = body;
  const Slot slot = layout_.slot_of(front_.place(record.due.instant()));
  record.seq = options_.has_index ? static_cast<Seq>(index_.size()) : added_;
  RETURN_IF_ERROR(append(slot, record));
  if (options_.has_index) {
    index_.add(slot, 0);
  } else {
    CHECK(++added_ != 0, "there are no more sequence numbers");
  }
  Operation operation;
  operation.deed = Deed::kAdd;
  operation.id = id;
  operation.due = record.due;
  operation.schema = schema;
  operation.bytes = body;
  if (log_) log_->add(operation);
  return record.seq;
}

base::Status Store::reschedule(const Record& before, std::uint8_t schema, std::string_view body,
                               Instant due) {
  RETURN_IF_ERROR(check_size(body));
  const bool was_out =
      options_.has_index ? index_.has(before.seq) && is_out(before.seq) : out_ == before.seq;
  if (!was_out) {
    return base::fail(ErrorCode::kInvalid, "record {} is rescheduled, and is not out", before.seq);
  }
  Operation operation;
  operation.deed = Deed::kReschedule;
  operation.seq = before.seq;
  operation.due = DueTime::of(due);
  operation.schema = schema;
  scratch_.clear();
  append_difference(before.body, body, scratch_);
  operation.bytes = scratch_;
  const auto late = late_messages_.find(before.seq);
  operation.number =
      late == late_messages_.end() ? 0 : static_cast<std::uint32_t>(late->second.size());
  log_->add(operation);
  Record record = before;
  record.schema = schema;
  return do_reschedule(record, body, operation.due, operation.number);
}

// The last `late` messages came while it was out: it has not seen them.
base::Status Store::do_reschedule(Record record, std::string_view body, DueTime due,
                                  std::uint32_t late) {
  if (!set_aside_.empty()) {
    if (const auto aside = set_aside_.extract(record.seq)) record.generation = aside.mapped();
  }
  record.body = body;
  record.due = due;
  if (!options_.has_index) {
    ++reading_.bucket->gone;
    out_.reset();
    return put(record);
  }
  const Slot left = index_.slot_of(record.seq);
  RETURN_IF_ERROR(put(record));
  if (late_messages_.empty()) {
    // The usual case, for which nothing is looked up.
  } else if (const auto messages = late_messages_.extract(record.seq)) {
    const Slot slot = index_.slot_of(record.seq);
    const std::size_t seen =
        messages.mapped().size() - std::min<std::size_t>(late, messages.mapped().size());
    for (const std::string& message : std::span(messages.mapped()).subspan(seen)) {
      RETURN_IF_ERROR(send_to(slot, record.seq, message));
    }
  }
  if (index_.live(left) == 0) free_empty_buckets();
  return {};
}

base::Status Store::remove(Seq seq) {
  RETURN_IF_ERROR(require_index("removed"));
  if (!index_.has(seq)) return no_such_record(seq);
  Operation operation;
  operation.deed = Deed::kRemove;
  operation.seq = seq;
  log_->add(operation);
  do_remove(seq);
  return {};
}

void Store::do_remove(Seq seq) {
  const Slot slot = index_.slot_of(seq);
  set_aside_.erase(seq);
  late_messages_.erase(seq);
  if (const auto pulled = pulls_.find(slot); pulled != pulls_.end()) pulled->second.erase(seq);
  index_.remove(seq);
  if (index_.live(slot) == 0) free_empty_buckets();
}

// From the front, because time goes on: what is out for long is set aside.
void Store::free_empty_buckets() {
  const auto is_done = [this](const OpenBucket& bucket) {
    return bucket.is_read && index_.live(bucket.records.slot) == 0;
  };
  std::erase_if(open_, [&](const auto& bucket) {
    if (!is_done(*bucket)) return false;
    release(bucket->records);
    release(bucket->messages);
    return true;
  });
}

base::Status Store::send(Seq seq, std::string_view message) {
  RETURN_IF_ERROR(require_index("sent a message"));
  if (!index_.has(seq)) return no_such_record(seq);
  Operation operation;
  operation.deed = Deed::kSend;
  operation.seq = seq;
  operation.bytes = message;
  log_->add(operation);
  return do_send(seq, message);
}

base::Status Store::do_send(Seq seq, std::string_view message) {
  const Slot slot = index_.slot_of(seq);
  if (!sealed_.empty() && sealed_.front().taken.records.slot == slot && moving_) {
    moving_messages_[seq].emplace_back(message);
  }
  TakenBucket* taken = nullptr;
  for (SealedBucket& sealed : sealed_) {
    if (sealed.taken.records.slot == slot) taken = &sealed.taken.messages;
  }
  if (is_out(seq)) {
    late_messages_[seq].emplace_back(message);
    OpenBucket* open = open_bucket_of(slot);
    // What was set aside since the start is not with what was set aside before it.
    if (open != nullptr && !set_aside_.contains(seq)) taken = &open->messages;
  }
  if (taken == nullptr) return send_to(slot, seq, message);
  // Kept with the bucket, for a restart before the record goes elsewhere.
  sat::append(message_record(seq, message), taken->tail);
  ++taken->tail_records;
  return {};
}

base::Status Store::pull(Seq seq, Instant due) {
  RETURN_IF_ERROR(require_index("pulled"));
  if (!index_.has(seq)) return no_such_record(seq);
  Operation operation;
  operation.deed = Deed::kPull;
  operation.seq = seq;
  operation.due = DueTime::of(due);
  log_->add(operation);
  do_pull(seq, operation.due);
  return {};
}

void Store::do_pull(Seq seq, DueTime due) {
  const Slot slot = index_.slot_of(seq);
  if (is_out(seq) || slot == layout_.slot_of(front_.next_open())) return;
  const auto [pulled, is_new] = pulls_[slot].try_emplace(seq, due);
  if (!is_new) pulled->second = std::min(pulled->second, due);
}

const DueTime* Store::pull_of(Slot slot, Seq seq) const {
  const auto pulled = pulls_.find(slot);
  if (pulled == pulls_.end()) return nullptr;
  const auto found = pulled->second.find(seq);
  return found == pulled->second.end() ? nullptr : &found->second;
}

// --- Time goes on.

base::Result<std::optional<DueRecord>> Store::next_due(Instant now) {
  if (out_) {
    return base::fail(ErrorCode::kInvalid, "record {} must be rescheduled before the next one",
                      *out_);
  }
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
  if (sealed_.empty()) return false;
  Operation operation;
  operation.deed = Deed::kMove;
  operation.number = records;
  log_->add(operation);
  RETURN_IF_ERROR(move_sealed(records));
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

// What is still out of the bucket that was opened first goes to the out slot, with all that is
// there already, so that its old copies are freed.
base::Status Store::set_aside_oldest() {
  if (open_.empty()) return {};
  if (reading_.bucket == open_.front().get()) return {};  // is not read to its end yet
  std::vector<OpenBucket> sources;
  sources.push_back(take_slot(out_slot()));
  sources.push_back(std::move(*open_.front()));
  open_.pop_front();
  // Before anything moves, because messages are known by where their record is.
  Messages messages;
  for (const OpenBucket& source : sources) {
    ASSIGN_OR_RETURN(Messages own, read_messages(source.records.slot, source.messages));
    for (auto& [seq, texts] : own) std::ranges::move(texts, std::back_inserter(messages[seq]));
  }
  for (const OpenBucket& source : sources) {
    const Slot slot = source.records.slot;
    ASSIGN_OR_RETURN(const LiveCopies live,
                     LiveCopies::of(*segments_, source.records, index_, true));
    BucketReader reader(*segments_, source.records);
    Record record;
    for (;;) {
      ASSIGN_OR_RETURN(const bool more, reader.next(record));
      if (!more) break;
      if (!live.counts(record, slot, index_)) continue;
      ++record.generation;
      RETURN_IF_ERROR(append(out_slot(), record));
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
  }
  return {};
}

base::Result<bool> Store::serve_pulls() {
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
  RETURN_IF_ERROR(serve_pulls_of(operation.number));
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

// --- For people.

base::Result<std::optional<std::string>> Store::find(Seq seq, Record& record) {
  RETURN_IF_ERROR(require_index("found"));
  if (!index_.has(seq)) return std::nullopt;
  const Slot slot = index_.slot_of(seq);
  const TakenBucket peeked = peek_slot(slot);
  std::vector<const TakenBucket*> buckets = {&peeked};
  if (const OpenBucket* open = open_bucket_of(slot)) buckets.push_back(&open->records);
  for (const SealedBucket& sealed : sealed_) {
    if (sealed.taken.records.slot == slot) buckets.push_back(&sealed.taken.records);
  }
  for (const TakenBucket* bucket : buckets) {
    ASSIGN_OR_RETURN(auto body, find_in(*bucket, seq, record));
    if (body) return body;
  }
  return base::fail(ErrorCode::kCorrupt, "record {} is not in its bucket slot {}", seq, slot);
}

base::Result<std::optional<std::string>> Store::find_in(const TakenBucket& bucket, Seq seq,
                                                        Record& record) {
  ASSIGN_OR_RETURN(const LiveCopies live, LiveCopies::of(*segments_, bucket, index_, true));
  BucketReader reader(*segments_, bucket);
  for (;;) {
    ASSIGN_OR_RETURN(const bool more, reader.next(record));
    if (!more) return std::nullopt;
    if (record.seq == seq && live.counts(record, bucket.slot, index_)) break;
  }
  std::string body(record.body);
  record.body = {};
  return body;
}

std::size_t Store::memory_bytes() const {
  std::size_t bytes = index_.memory_bytes() + buffers_.pages_total() * (buffers_.page_bytes() + 4);
  for (const auto& extents : extents_) bytes += extents.capacity() * sizeof(Extent) + 24;
  return bytes;
}

}  // namespace meguri::sat
