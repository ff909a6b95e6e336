#include "sat/bucket_reader.h"

#include <algorithm>

namespace meguri::sat {

namespace {

// Records between the one whose index entry is fetched and the one that is handed out: memory takes
// as long as a few of them.
constexpr std::uint32_t kLookAhead = 12;

}  // namespace

std::uint64_t TakenBucket::count() const {
  std::uint64_t copies = tail_records;
  for (const Extent& extent : extents) copies += extent.records;
  return copies;
}

void BucketReader::look_ahead(std::uint32_t records) {
  if (index_ == nullptr) return;
  Seq seq = 0;
  for (; records > 0 && skip(beyond_, seq); --records) index_->prefetch(seq);
}

base::Result<bool> BucketReader::next(Record& record) {
  while (rest_.empty()) {
    if (part_ > bucket_->extents.size()) return false;
    if (part_ < bucket_->extents.size()) {
      RETURN_IF_ERROR(begin_part());
    } else {
      rest_ = bucket_->tail;
    }
    ++part_;
    beyond_ = rest_;
    look_ahead(kLookAhead);
    if (part_ > bucket_->extents.size() && rest_.empty()) return false;
  }
  if (!take(rest_, record)) {
    return base::fail(base::ErrorCode::kCorrupt, "a record of bucket slot {} cannot be read",
                      bucket_->slot);
  }
  ++passed_;
  look_ahead(1);
  return true;
}

// Extents lie apart from each other, so that the system cannot guess which is next.
base::Status BucketReader::begin_part() {
  constexpr std::uint64_t kAheadBytes = std::uint64_t{4} << 20U;
  const Extent& extent = bucket_->extents[part_];
  while (ahead_ < bucket_->extents.size() && ahead_bytes_ < kAheadBytes) {
    segments_->will_read(bucket_->extents[ahead_]);
    ahead_bytes_ += bucket_->extents[ahead_].bytes;
    ++ahead_;
  }
  ahead_bytes_ -= extent.bytes;
  ASSIGN_OR_RETURN(rest_, segments_->read(bucket_->slot, extent, &chunk_));
  return {};
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
