// SortedBucket: a bucket in the order of its sequence numbers, merged with its messages: how the
// paper joins them. A BucketReader with a hash table does the same without sorting.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "sat/bucket_reader.h"

namespace meguri::sat {

// Holds a copy of the whole bucket. Thread-compatible.
class SortedBucket {
 public:
  // All copies in `records`, those that no longer count too; of `messages` those that count.
  static base::Result<SortedBucket> read(Segments& segments, const TakenBucket& records,
                                         const TakenBucket& messages, const BucketIndex& index);

  // False: there are no more. The record's body dies with the bucket.
  bool next(Record& record);
  // Appends the messages to a record, in their order. Requires that the numbers asked for rise, and
  // leaves out those between.
  void take_messages(Seq seq, std::vector<std::string>& out);

  using Message = std::pair<Seq, std::string>;
  const std::vector<Message>& messages() const { return messages_; }

 private:
  std::string bytes_;                               // of the records, as they came
  std::vector<std::pair<Seq, std::size_t>> order_;  // where each begins
  std::vector<Message> messages_;
  std::size_t next_record_ = 0;
  std::size_t next_message_ = 0;
};

}  // namespace meguri::sat
