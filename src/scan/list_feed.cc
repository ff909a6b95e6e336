#include "scan/list_feed.h"

#include <utility>

namespace meguri::scan {

using base::ErrorCode;

base::Result<std::unique_ptr<ListFeed>> ListFeed::open(env::FileSystem& fs, const std::string& list,
                                                       std::size_t parts, const DoneSet& done,
                                                       DocumentSource& source) {
  std::unique_ptr<ListFeed> feed(new ListFeed(done, source));
  for (std::size_t i = 0; i < parts; ++i) {
    Part part;
    ASSIGN_OR_RETURN(part.reader, DocumentListReader::open(fs, list));
    feed->size_ = part.reader->size();
    part.begin = feed->size_ * i / parts;
    part.end = feed->size_ * (i + 1) / parts;
    feed->parts_.push_back(std::move(part));
  }
  return feed;
}

base::Status ListFeed::read_ahead(Part& part) {
  while (!part.is_over && part.ahead.size() < kAhead) {
    ASSIGN_OR_RETURN(auto pointer, part.reader->next());
    if (!pointer || pointer->facts.number >= part.end) {
      part.is_over = true;
      return {};
    }
    const std::uint64_t number = pointer->facts.number;
    if (number < part.begin || done_.contains(number)) continue;
    if (!pointer->is_missing) source_.will_open(*pointer);
    part.ahead.push_back(*std::move(pointer));
  }
  return {};
}

base::Result<std::optional<DocumentPointer>> ListFeed::next(std::size_t part) {
  Part& from = parts_[part];
  // By halves, so that hints come for many at once.
  if (from.ahead.size() <= kAhead / 2) RETURN_IF_ERROR(read_ahead(from));
  if (from.ahead.empty()) return std::nullopt;
  DocumentPointer pointer = std::move(from.ahead.front());
  from.ahead.pop_front();
  return pointer;
}

base::Result<std::shared_ptr<RecordBytes>> ListFeed::open(const DocumentPointer& pointer) {
  if (pointer.is_missing) {
    return base::fail(ErrorCode::kCorrupt, "the archive does not have its content");
  }
  return source_.open(pointer);
}

}  // namespace meguri::scan
