#include "archive/file_indexer.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "archive/warc_reader.h"

namespace meguri::archive {

namespace {

// A file up to some place: what lies behind it may be half written, and is nobody's.
class FrontOfFile final : public env::ReadableFile {
 public:
  FrontOfFile(const env::ReadableFile& file, std::uint64_t end) : file_(file), end_(end) {}

  base::Status read_at(std::uint64_t offset, std::size_t length, std::string* out) const override {
    const std::uint64_t left = end_ - std::min(offset, end_);
    return file_.read_at(offset, static_cast<std::size_t>(std::min<std::uint64_t>(length, left)),
                         out);
  }
  base::Result<std::uint64_t> size() const override {
    ASSIGN_OR_RETURN(const std::uint64_t bytes, file_.size());
    return std::min(bytes, end_);
  }

 private:
  const env::ReadableFile& file_;
  const std::uint64_t end_;
};

}  // namespace

base::Status FileIndexer::index(const env::ReadableFile& bytes, std::uint64_t end, IndexFile& file,
                                const Apply& apply) {
  const Eyes none{.read = [this](WarcReader& reader) { return entries_.read(reader); },
                  .end = [](const WarcRecord& /*rest*/) { return base::Status(); }};
  return index(bytes, end, file, apply, none);
}

base::Status FileIndexer::index(const env::ReadableFile& bytes, std::uint64_t end, IndexFile& file,
                                const Apply& apply, const Eyes& eyes) {
  const bool is_begun = file.indexed_to > 0;
  if (!is_begun) {
    file.entries = 0;
    file.damages = 0;
  }
  IndexBatch batch;
  const auto hand_on = [&](std::uint64_t indexed_to) -> base::Status {
    file.indexed_to = indexed_to;
    batch.set(file);
    RETURN_IF_ERROR(apply(batch));
    batch.clear();
    return {};
  };
  const FrontOfFile front(bytes, end);
  WarcReader reader(front, file.indexed_to, {.goes_by_heads = reading_ == Reading::kFronts});
  std::optional<std::uint64_t> member;  // of the last record
  std::uint32_t index = 0;              // of it in there
  bool has_record = false;
  for (;;) {
    ASSIGN_OR_RETURN(const bool is_there, reader.next());
    if (!is_there) {
      if (!reader.record().faults.is_whole()) ++file.damages;
      RETURN_IF_ERROR(eyes.end(reader.record()));
      break;
    }
    const std::uint64_t offset = reader.record().offset;
    if (offset >= end) break;
    index = member == offset ? index + 1 : 0;
    member = offset;
    has_record = true;
    // Only where a member begins can reading be begun again; behind damage it would be counted no
    // more.
    const bool can_begin = index == 0 && reader.record().faults.is_whole();
    const bool is_full = batch.bytes() >= batch_bytes_ || offset - file.indexed_to >= kFileBytes;
    if (can_begin && is_full) RETURN_IF_ERROR(hand_on(offset));
    ASSIGN_OR_RETURN(auto entry, eyes.read(reader));
    RETURN_IF_ERROR(reader.finish());
    if (!reader.record().faults.is_whole()) ++file.damages;
    if (!entry || removals_.has(entry->url)) continue;
    entry->place.file = file.number;
    entry->place.index = index;
    entry->place.length = reader.record().length;
    batch.add(*entry);
    ++file.entries;
  }
  if (!has_record && !reader.has_passed_requests() && !is_begun && end > 0) {
    return base::fail(base::ErrorCode::kInvalid, "there is no WARC record in it");
  }
  return hand_on(end);
}

}  // namespace meguri::archive
