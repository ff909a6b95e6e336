#include "archive/entry_comparison.h"

#include <fmt/format.h>

#include <memory>

#include "archive/file_indexer.h"
#include "archive/index_entry.h"

namespace meguri::archive {

base::Status EntryComparison::add(const env::ReadableFile& bytes, const IndexFile& file) {
  IndexFile row;
  row.number = file.number;
  row.path = file.path;
  files_.insert(file.number);
  FileIndexer indexer(index_.removals());
  const auto keep = [&](IndexBatch& batch) -> base::Status {
    batch.for_each_entry(
        [&](std::string_view key, std::string_view value) { expected_.emplace(key, value); });
    return {};
  };
  const auto indexed = indexer.index(bytes, file.indexed_to, row, keep);
  const bool is_none = !indexed && indexed.error().code() == base::ErrorCode::kInvalid;
  return is_none ? base::Status() : indexed;  // a file without records has no entries
}

base::Status EntryComparison::run(const Tell& tell) {
  const auto say = [&](std::string_view key, std::string_view value, std::string_view what) {
    const auto entry = EntryView::parse(key, value);
    return tell(entry->place().file, {.offset = entry->place().offset,
                                      .what = fmt::format("{} {}", entry->url(), what)});
  };
  const auto compare = [&](std::string_view key, std::string_view value) -> base::Status {
    const auto entry = EntryView::parse(key, value);
    if (!entry || !files_.contains(entry->place().file)) return {};
    const auto found = expected_.find(std::string(key));
    if (found == expected_.end()) {
      return say(key, value, "has an entry in the index, and no record here makes it");
    }
    if (found->second != value) {
      RETURN_IF_ERROR(
          say(key, value, "has an entry in the index that is not what its record says"));
    }
    expected_.erase(found);
    return {};
  };
  RETURN_IF_ERROR(index_.for_each_entry(compare));
  for (const auto& [key, value] : expected_) {
    RETURN_IF_ERROR(say(key, value, "has a record here, and no entry in the index"));
  }
  return {};
}

}  // namespace meguri::archive
