#include "sat/sorted_bucket.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace meguri::sat {

base::Result<SortedBucket> SortedBucket::read(Segments& segments, const TakenBucket& records,
                                              const TakenBucket& messages,
                                              const BucketIndex& index) {
  SortedBucket sorted;
  Record record;
  BucketReader reader(segments, records);
  for (;;) {
    ASSIGN_OR_RETURN(const bool more, reader.next(record));
    if (!more) break;
    sorted.order_.emplace_back(record.seq, sorted.bytes_.size());
    append(record, sorted.bytes_);
  }
  // Copies of one record stay in the order in which they came.
  std::ranges::sort(sorted.order_);
  BucketReader sent(segments, messages);
  std::vector<std::string> bodies;
  std::vector<std::pair<Seq, std::size_t>> order;
  for (;;) {
    ASSIGN_OR_RETURN(const bool more, sent.next(record));
    if (!more) break;
    if (!index.counts(record.seq, records.slot, record.generation)) continue;
    order.emplace_back(record.seq, bodies.size());
    bodies.emplace_back(record.body);
  }
  std::ranges::sort(order);
  for (const auto& [seq, i] : order) sorted.messages_.emplace_back(seq, std::move(bodies[i]));
  return sorted;
}

bool SortedBucket::next(Record& record) {
  if (next_record_ == order_.size()) return false;
  std::string_view bytes = std::string_view(bytes_).substr(order_[next_record_].second);
  CHECK(take(bytes, record), "a record that was just written cannot be read");
  ++next_record_;
  return true;
}

void SortedBucket::take_messages(Seq seq, std::vector<std::string>& out) {
  while (next_message_ < messages_.size() && messages_[next_message_].first < seq) ++next_message_;
  while (next_message_ < messages_.size() && messages_[next_message_].first == seq) {
    out.push_back(std::move(messages_[next_message_].second));
    ++next_message_;
  }
}

}  // namespace meguri::sat
