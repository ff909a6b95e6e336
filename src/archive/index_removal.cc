#include "archive/index_removal.h"

#include <algorithm>
#include <cstddef>
#include <memory>

namespace meguri::archive {

namespace {

constexpr std::size_t kBatchEntries = 10'000;

}  // namespace

base::Result<std::map<std::uint32_t, std::uint64_t>> remove_entries(
    TemporalIndex& index, std::string_view front,
    const std::function<bool(const EntryView& entry)>& is_meant, const Look& look) {
  std::map<std::uint32_t, std::uint64_t> removed;
  std::map<std::uint32_t, std::uint64_t> waiting;  // in the batch
  IndexBatch batch;
  std::size_t count = 0;
  const auto write = [&]() -> base::Status {
    for (const auto& [number, entries] : waiting) {
      const IndexFile* known = index.file(number);
      if (known == nullptr) continue;
      IndexFile file = *known;
      file.entries -= std::min(file.entries, entries);
      batch.set(file);
    }
    RETURN_IF_ERROR(index.write(batch));
    batch.clear();
    waiting.clear();
    count = 0;
    return {};
  };
  const auto look_at = [&](std::string_view key, std::string_view value) -> base::Status {
    const auto entry = EntryView::parse(key, value);
    if (!entry || !is_meant(*entry)) return {};
    batch.remove(key);
    ++waiting[entry->place().file];
    ++removed[entry->place().file];
    return ++count < kBatchEntries ? base::Status() : write();
  };
  RETURN_IF_ERROR(index.for_each_entry(front, look_at, look));
  RETURN_IF_ERROR(write());
  return removed;
}

base::Status remove_files(TemporalIndex& index, const std::set<std::uint32_t>& numbers,
                          const Look& look) {
  IndexBatch batch;
  for (const std::uint32_t number : numbers) {
    const IndexFile* known = index.file(number);
    if (known == nullptr) continue;
    IndexFile file = *known;
    file.is_complete = false;
    file.indexed_to = 0;
    batch.set(file);
  }
  RETURN_IF_ERROR(index.write(batch));
  RETURN_IF_ERROR(remove_entries(
      index, std::string_view(&kEntryKeyPrefix, 1),
      [&numbers](const EntryView& entry) { return numbers.contains(entry.place().file); }, look));
  batch.clear();
  for (const std::uint32_t number : numbers) batch.remove_file(number);
  return index.write(batch);
}

base::Status remove_file(TemporalIndex& index, std::uint32_t number, const Look& look) {
  return remove_files(index, {number}, look);
}

}  // namespace meguri::archive
