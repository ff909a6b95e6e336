// The paper's SAT/Basic: a Store without an index. Records are only known by where they lie, so a
// bucket is read front to back, and how much of it is done is a number.
#include <fmt/format.h>

#include <string>

#include "sat/store.h"

namespace meguri::sat {

using base::ErrorCode;

base::Status Store::require_index(std::string_view deed) const {
  if (options_.has_index) return {};
  return base::fail(ErrorCode::kInvalid, "without an index no record can be {}", deed);
}

base::Status Store::skip_gone(BucketReader& reader, const OpenBucket& bucket) const {
  if (options_.has_index) return {};
  Record record;
  for (std::uint64_t n = 0; n < bucket.gone; ++n) {
    ASSIGN_OR_RETURN(const bool more, reader.next(record));
    if (!more) {
      return base::fail(ErrorCode::kCorrupt,
                        "bucket slot {} has {} records, and {} of them left it",
                        bucket.records.slot, n, bucket.gone);
    }
  }
  return {};
}

// Reads as it was read: every record that was rescheduled is the next one.
base::Status Store::redo_basic(const Operation& operation) {
  const auto lost = [&] {
    return base::fail(ErrorCode::kCorrupt, "{} speaks of record {}, which is not there",
                      path_of("log", number_), operation.seq);
  };
  if (operation.deed == Deed::kAdd) {
    RETURN_IF_ERROR(add(operation.id, operation.schema, operation.bytes, operation.due.instant()));
    return {};
  }
  if (operation.deed == Deed::kMove) return move_sealed(operation.number);
  if (operation.deed != Deed::kOpen && operation.deed != Deed::kReschedule) return lost();

  if (reading_.bucket == nullptr && !open_.empty()) RETURN_IF_ERROR(begin_reading(*open_.front()));
  DueRecord due;
  bool more = false;
  if (reading_.bucket != nullptr) {
    ASSIGN_OR_RETURN(more, read_one(due));
  }
  if (operation.deed == Deed::kOpen) return more ? lost() : open_next();
  std::string body;
  if (!more || due.record.seq != operation.seq) return lost();
  if (!apply_difference(due.record.body, operation.bytes, body)) return lost();
  due.record.schema = operation.schema;
  return do_reschedule(due.record, body, operation.due, 0);
}

}  // namespace meguri::sat
