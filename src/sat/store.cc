#include "sat/store.h"

#include <algorithm>
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
  for (const auto& bucket : open_) {
    if (bucket->records.slot != out_slot()) counts.out += index_.live(bucket->records.slot);
  }
  counts.out += index_.live(out_slot());
  return counts;
}

bool Store::is_out(Seq seq) const {
  const Slot slot = index_.slot_of(seq);
  if (slot == out_slot()) return true;
  return std::ranges::any_of(open_, [&](const auto& open) { return open->records.slot == slot; });
}

// Buckets that should have been opened long ago and are still coarse are not looked at.
bool Store::is_due(Seq seq, Instant now) const {
  CHECK(options_.has_index, "without an index nobody knows where a record is");
  if (is_out(seq)) return true;
  const Slot slot = index_.slot_of(seq);
  const Bucket next = front_.next_open();
  const std::int64_t ahead =
      std::max<std::int64_t>(0, layout_.bucket_at(0, now).number - next.number);
  return layout_.level_of(slot) == 0 &&
         layout_.distance(next, slot) <= static_cast<std::uint64_t>(ahead);
}

Store::OpenBucket* Store::open_bucket_of(Slot slot) {
  for (const auto& bucket : open_) {
    if (bucket->records.slot == slot) return bucket.get();
  }
  return nullptr;
}

// A deed that was done by half cannot be told in the log, nor can what follows it.
std::unexpected<base::Error> Store::unusable() const {
  return std::unexpected(status_.error().with_context("the store must be opened again"));
}

base::Status Store::note(base::Status status) {
  if (!status) status_ = status;
  return status;
}

// --- Records come and go.

base::Status Store::check_size(std::string_view body) const {
  if (body.size() <= options_.body_bytes_max) return {};
  return base::fail(ErrorCode::kInvalid, "a record of {} bytes is more than {}", body.size(),
                    options_.body_bytes_max);
}

base::Result<Seq> Store::add(const base::Id& id, std::uint8_t schema, std::string_view body,
                             Instant due) {
  if (!status_) return unusable();
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

// Its due time is long past.
base::Result<Record> Store::add_out(const base::Id& id, std::uint8_t schema,
                                    std::string_view body) {
  if (!status_) return unusable();
  RETURN_IF_ERROR(require_index("added out"));
  RETURN_IF_ERROR(check_size(body));
  Record record;
  record.id = id;
  record.seq = static_cast<Seq>(index_.size());
  record.schema = schema;
  record.body = body;
  RETURN_IF_ERROR(append_out(record));
  index_.add(out_slot(), 0);
  set_aside_[record.seq] = 0;
  Operation operation;
  operation.deed = Deed::kAddOut;
  operation.id = id;
  operation.schema = schema;
  operation.bytes = body;
  if (log_) log_->add(operation);
  return record;
}

base::Status Store::check_out(const Record& before, std::string_view body) const {
  RETURN_IF_ERROR(check_size(body));
  const bool was_out =
      options_.has_index ? index_.has(before.seq) && is_out(before.seq) : out_ == before.seq;
  if (was_out) return {};
  return base::fail(ErrorCode::kInvalid, "record {} is given back, and is not out", before.seq);
}

std::uint32_t Store::late_messages_of(Seq seq) const {
  const auto late = late_messages_.find(seq);
  return late == late_messages_.end() ? 0 : static_cast<std::uint32_t>(late->second.size());
}

base::Status Store::reschedule(const Record& before, std::uint8_t schema, std::string_view body,
                               Instant due) {
  if (!status_) return unusable();
  RETURN_IF_ERROR(check_out(before, body));
  Operation operation;
  operation.deed = Deed::kReschedule;
  operation.seq = before.seq;
  operation.due = DueTime::of(due);
  operation.schema = schema;
  scratch_.clear();
  append_difference(before.body, body, scratch_);
  operation.bytes = scratch_;
  operation.number = late_messages_of(before.seq);
  log_->add(operation);
  Record record = before;
  record.schema = schema;
  return do_reschedule(record, body, operation.due, operation.number);
}

base::Result<Record> Store::hold(const Record& before, std::uint8_t schema, std::string_view body) {
  if (!status_) return unusable();
  RETURN_IF_ERROR(require_index("held"));
  RETURN_IF_ERROR(check_out(before, body));
  Operation operation;
  operation.deed = Deed::kHold;
  operation.seq = before.seq;
  operation.schema = schema;
  scratch_.clear();
  append_difference(before.body, body, scratch_);
  operation.bytes = scratch_;
  operation.number = late_messages_of(before.seq);
  log_->add(operation);
  Record record = before;
  record.schema = schema;
  RETURN_IF_ERROR(do_hold(record, body, operation.number));
  return record;
}

base::Status Store::append_out(const Record& record) {
  ++out_copies_;
  return append(out_slot(), record);
}

// The last `late` messages came while it was out, and go with it.
base::Status Store::do_hold(Record& record, std::string_view body, std::uint32_t late) {
  if (const auto aside = set_aside_.find(record.seq); aside != set_aside_.end()) {
    record.generation = aside->second;
  }
  ++record.generation;
  record.body = body;
  const Slot left = index_.slot_of(record.seq);
  RETURN_IF_ERROR(append_out(record));
  index_.move(record.seq, out_slot(), record.generation);
  set_aside_[record.seq] = record.generation;
  if (const auto found = late_messages_.find(record.seq); found != late_messages_.end()) {
    auto& messages = found->second;
    const std::size_t seen = messages.size() - std::min<std::size_t>(late, messages.size());
    messages.erase(messages.begin(), messages.begin() + static_cast<std::ptrdiff_t>(seen));
    for (const std::string& message : messages) {
      RETURN_IF_ERROR(send_to(out_slot(), record.seq, message));
    }
  }
  if (index_.live(left) == 0) free_empty_buckets();
  return {};
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
  if (!status_) return unusable();
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
  if (!status_) return unusable();
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
  if (!status_) return unusable();
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
    auto body = find_in(*bucket, seq, record);
    if (!body) status_ = std::unexpected(body.error());  // it may have written what it reads
    if (!body || *body) return body;
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
