// BucketReader: the records of a bucket that was taken out of the buffers, one after another.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "sat/bucket_index.h"
#include "sat/record.h"
#include "sat/segments.h"

namespace meguri::sat {

// A bucket that nothing is written to any more.
struct TakenBucket {
  Slot slot = 0;
  std::vector<Extent> extents;
  std::string tail;  // what had not been written
  std::uint32_t tail_records = 0;
  base::Instant opened;  // when it was taken

  std::uint64_t count() const;  // of the copies in it
};

// Goes through the copies in a bucket. Thread-compatible; borrows the bucket and all else.
//
// Buckets are made of many small parts. Some of them are read at a time and taken apart, so that
// the index entries of records to come can be fetched from memory while others are worked on.
class BucketReader {
 public:
  // With an index, the entries of the records that follow are brought into the cache on the way.
  BucketReader(Segments& segments, const TakenBucket& bucket, const BucketIndex* index = nullptr)
      : segments_(&segments), bucket_(&bucket), index_(index) {}

  // False: there are no more. The record's body dies with the next call.
  base::Result<bool> next(Record& record) {
    if (at_ == batch_.size()) {
      ASSIGN_OR_RETURN(const bool more, fill());
      if (!more) return false;
    }
    if (index_ != nullptr && at_ + kLookAhead < batch_.size()) {
      index_->prefetch(batch_[at_ + kLookAhead].seq);
    }
    record = batch_[at_++];
    return true;
  }

 private:
  // Records between the one whose index entry is fetched and the one that is handed out: memory
  // takes as long as a few of them.
  static constexpr std::size_t kLookAhead = 16;

  base::Result<bool> fill();
  base::Result<std::string_view> read_part(std::string& chunk);
  base::Status take_apart(std::string_view bytes);

  Segments* segments_;
  const TakenBucket* bucket_;
  const BucketIndex* index_;
  std::size_t part_ = 0;   // of the extents, then the tail
  std::size_t ahead_ = 0;  // extents that the disk was told of
  std::uint64_t ahead_bytes_ = 0;
  std::deque<std::string> chunks_;  // the parts that batch_ is of
  std::vector<Record> batch_;
  std::size_t at_ = 0;  // the next one of it
};

// Which of the copies in a bucket are records. Where copies were left behind two of them may look
// alike to the index; the one with the highest generation is the record.
class LiveCopies {
 public:
  // `has_stale`: whether there may be copies that no longer count; then the bucket is read once.
  static base::Result<LiveCopies> of(Segments& segments, const TakenBucket& bucket,
                                     const BucketIndex& index, bool has_stale);

  bool counts(const Record& record, Slot slot, const BucketIndex& index) const {
    if (!index.counts(record.seq, slot, record.generation)) return false;
    if (highest_.empty()) return true;
    const auto found = highest_.find(record.seq);
    return found == highest_.end() || found->second == record.generation;
  }

 private:
  std::unordered_map<Seq, std::uint32_t> highest_;
};

}  // namespace meguri::sat
