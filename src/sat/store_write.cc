// How a Store places records and writes them: buffers, and when they go to segments.
#include <algorithm>

#include "base/check.h"
#include "sat/store.h"

namespace meguri::sat {

base::Status Store::put(Record record) {
  const Slot slot = layout_.slot_of(front_.place(record.due.instant()));
  RETURN_IF_ERROR(append(slot, record));
  if (options_.has_index) index_.move(record.seq, slot, record.generation);
  return {};
}

base::Status Store::append(Slot slot, const Record& record) {
  const std::size_t size = encoded_size(record);
  // A page on disk has the header of its block.
  const bool is_full = options_.writes_single_pages && buffers_.bytes(slot) > 0 &&
                       Segments::kHeaderBytes + buffers_.bytes(slot) + size > buffers_.page_bytes();
  if (is_full) RETURN_IF_ERROR(flush(slot));
  if (!buffers_.has_room(slot, size)) RETURN_IF_ERROR(make_room(slot, size));
  buffers_.append(slot, record);
  return {};
}

base::Status Store::make_room(Slot slot, std::size_t bytes) {
  if (bytes > buffers_.pages_total() * buffers_.page_bytes()) {
    return base::fail(base::ErrorCode::kInvalid, "a record of {} bytes is more than the pool",
                      bytes);
  }
  while (!buffers_.has_room(slot, bytes)) {
    ASSIGN_OR_RETURN(const bool has_freed, flush_by_rule());
    CHECK(has_freed, "the pool is empty, and no buffer has a page");
  }
  return {};
}

// The paper's: all buffers with more than 16 pages, or than 4, or than 1, in the order of time; or
// one of those with a single page. False: there is none.
base::Result<bool> Store::flush_by_rule() {
  for (std::size_t i = 0; i < BucketBuffers::kManyPages.size(); ++i) {
    if (buffers_.buffers_over(i) == 0) continue;
    const std::uint32_t pages = BucketBuffers::kManyPages[i];
    slots_to_flush_.clear();
    for (const Slot slot : buffers_.filled_more()) {
      if (buffers_.pages(slot) > pages) slots_to_flush_.push_back(slot);
    }
    std::ranges::sort(slots_to_flush_, {}, [this](Slot slot) { return order_in_time(slot); });
    for (const Slot slot : slots_to_flush_) RETURN_IF_ERROR(flush(slot));
    if (!slots_to_flush_.empty()) return true;
  }
  const std::span<const Slot> filled = buffers_.filled();
  if (filled.empty()) return false;
  RETURN_IF_ERROR(flush(filled[next_single_++ % filled.size()]));
  return true;
}

// Records before their messages, and what is out behind all else.
std::uint64_t Store::order_in_time(Slot slot) const {
  const bool is_message = slot > out_slot();
  const Slot bucket = is_message ? slot - message_slot(0) : slot;
  const std::uint64_t order =
      bucket == out_slot() ? std::uint64_t{1} << 62U : front_.order_of(bucket);
  return 2 * order + (is_message ? 1 : 0);
}

base::Status Store::flush(Slot slot) {
  return buffers_.bytes(slot) == 0 ? base::Status() : note(do_flush(slot));
}

base::Status Store::do_flush(Slot slot) {
  ASSIGN_OR_RETURN(const Extent extent,
                   segments_->append(slot, buffers_.records(slot),
                                     [&](std::string& out) { buffers_.copy(slot, out); }));
  if (options_.writes_single_pages) RETURN_IF_ERROR(segments_->write_pending());
  extents_[slot].push_back(extent);
  buffers_.clear(slot);
  ++counts_.flushes;
  counts_.flushed_bytes += extent.bytes;
  return {};
}

TakenBucket Store::peek_slot(Slot slot) const {
  TakenBucket taken;
  taken.slot = slot;
  taken.extents = extents_[slot];
  buffers_.copy(slot, taken.tail);
  taken.tail_records = buffers_.records(slot);
  return taken;
}

Store::OpenBucket Store::take_slot(Slot slot) {
  OpenBucket taken{peek_slot(slot), peek_slot(message_slot(slot))};
  for (const Slot each : {slot, message_slot(slot)}) {
    extents_[each].clear();
    buffers_.clear(each);
  }
  return taken;
}

void Store::release(const TakenBucket& bucket) {
  for (const Extent& extent : bucket.extents) segments_->release(extent);
}

base::Status Store::send_to(Slot slot, Seq seq, std::string_view message) {
  return append(message_slot(slot), message_record(seq, message));
}

// Messages know the generation of their record, so that those which were left behind with a copy of
// it do not reach it should it come back.
Record Store::message_record(Seq seq, std::string_view message) const {
  Record record;
  record.seq = seq;
  record.generation = index_.generation_of(seq);
  record.body = message;
  return record;
}

base::Result<Store::Messages> Store::read_messages(Slot slot, const TakenBucket& bucket) {
  Messages messages;
  BucketReader reader(*segments_, bucket);
  Record record;
  for (;;) {
    ASSIGN_OR_RETURN(const bool more, reader.next(record));
    if (!more) return messages;
    if (!index_.counts(record.seq, slot, record.generation)) continue;
    messages[record.seq].emplace_back(record.body);
  }
}

}  // namespace meguri::sat
