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
  const auto cursor = index_.cursor();
  for (cursor->seek(std::string_view(&kEntryKeyPrefix, 1));
       cursor->valid() && cursor->key().starts_with(kEntryKeyPrefix); cursor->next()) {
    const auto entry = EntryView::parse(cursor->key(), cursor->value());
    if (!entry || !files_.contains(entry->place().file)) continue;
    const auto found = expected_.find(std::string(cursor->key()));
    if (found == expected_.end()) {
      RETURN_IF_ERROR(say(cursor->key(), cursor->value(),
                          "has an entry in the index, and no record here makes it"));
      continue;
    }
    if (found->second != cursor->value()) {
      RETURN_IF_ERROR(say(cursor->key(), cursor->value(),
                          "has an entry in the index that is not what its record says"));
    }
    expected_.erase(found);
  }
  RETURN_IF_ERROR(cursor->status());
  for (const auto& [key, value] : expected_) {
    RETURN_IF_ERROR(say(key, value, "has a record here, and no entry in the index"));
  }
  return {};
}

}  // namespace meguri::archive
