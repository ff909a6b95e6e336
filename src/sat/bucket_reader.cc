#include "sat/bucket_reader.h"

#include <algorithm>

namespace meguri::sat {

namespace {

// What is taken apart at a time, if the parts are not larger: it stays in the processor's caches.
constexpr std::size_t kBatchBytes = std::size_t{64} << 10U;

}  // namespace

std::uint64_t TakenBucket::count() const {
  std::uint64_t copies = tail_records;
  for (const Extent& extent : extents) copies += extent.records;
  return copies;
}

// False: there are no more.
base::Result<bool> BucketReader::fill() {
  batch_.clear();
  at_ = 0;
  std::size_t bytes = 0;
  for (std::size_t i = 0; part_ < bucket_->extents.size() && bytes < kBatchBytes; ++i) {
    if (i == chunks_.size()) chunks_.emplace_back();
    ASSIGN_OR_RETURN(const std::string_view part, read_part(chunks_[i]));
    bytes += part.size();
    RETURN_IF_ERROR(take_apart(part));
  }
  if (part_ == bucket_->extents.size() && bytes < kBatchBytes) {
    ++part_;
    RETURN_IF_ERROR(take_apart(bucket_->tail));
  }
  return !batch_.empty();
}

base::Status BucketReader::take_apart(std::string_view bytes) {
  while (!bytes.empty()) {
    Record& record = batch_.emplace_back();
    if (!take(bytes, record)) {
      return base::fail(base::ErrorCode::kCorrupt, "a record of bucket slot {} cannot be read",
                        bucket_->slot);
    }
    if (index_ != nullptr && batch_.size() <= kLookAhead) index_->prefetch(record.seq);
  }
  return {};
}

// Extents lie apart from each other, so that the system cannot guess which is next.
base::Result<std::string_view> BucketReader::read_part(std::string& chunk) {
  constexpr std::uint64_t kAheadBytes = std::uint64_t{4} << 20U;
  const Extent& extent = bucket_->extents[part_];
  while (ahead_ < bucket_->extents.size() && ahead_bytes_ < kAheadBytes) {
    segments_->will_read(bucket_->extents[ahead_]);
    ahead_bytes_ += bucket_->extents[ahead_].bytes;
    ++ahead_;
  }
  ahead_bytes_ -= extent.bytes;
  ++part_;
  return segments_->read(bucket_->slot, extent, &chunk);
}

base::Result<LiveCopies> LiveCopies::of(Segments& segments, const TakenBucket& bucket,
                                        const BucketIndex& index, bool has_stale) {
  LiveCopies copies;
  if (!has_stale) return copies;
  BucketReader reader(segments, bucket);
  Record record;
  for (;;) {
    ASSIGN_OR_RETURN(const bool more, reader.next(record));
    if (!more) return copies;
    if (!index.counts(record.seq, bucket.slot, record.generation)) continue;
    std::uint32_t& highest = copies.highest_[record.seq];
    highest = std::max(highest, record.generation);
  }
}

}  // namespace meguri::sat
