#include "archive/series_indexer.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "base/check.h"

namespace meguri::archive {

SeriesIndexer::SeriesIndexer(TemporalIndex& index, env::FileSystem& files, WarcSeries series,
                             std::string folder)
    : index_(index),
      files_(files),
      series_(std::move(series)),
      folder_(std::move(folder)),
      indexer_(index.removals(), FileIndexer::Reading::kFronts) {}

std::string SeriesIndexer::path_of(std::string_view name) const {
  return fmt::format("{}/{}", folder_, name);
}

// As the index has it, or a new one of that number.
IndexFile SeriesIndexer::row_of(std::string_view name, std::uint32_t next_number) const {
  const std::string path = path_of(name);
  if (const IndexFile* known = index_.find_file(path)) return *known;
  IndexFile file;
  file.number = next_number;
  file.path = path;
  return file;
}

base::Status SeriesIndexer::catch_up(const WarcPosition& mark, const Look& look) {
  RETURN_IF_ERROR(drop_behind(mark, look));
  if (mark.file.empty()) return {};
  ASSIGN_OR_RETURN(const auto names, list_files(files_, series_));
  for (const WarcName& each : names) {
    const std::string name = each.to_string();
    const bool is_last = name == mark.file;
    ASSIGN_OR_RETURN(const std::uint64_t bytes,
                     files_.size(fmt::format("{}/{}", series_.dir, name)));
    RETURN_IF_ERROR(catch_up_file(name, is_last ? mark.offset : bytes, look));
    if (is_last) break;
  }
  return unflushed_bytes_ == 0 ? base::Status() : flush();
}

base::Status SeriesIndexer::catch_up_file(const std::string& name, std::uint64_t end,
                                          const Look& look) {
  IndexFile file = row_of(name, index_.next_number());
  if (file.indexed_to >= end) return {};
  unflushed_bytes_ += end - file.indexed_to;
  file.bytes = end;
  ASSIGN_OR_RETURN(const auto bytes, files_.open_read(fmt::format("{}/{}", series_.dir, name)));
  const auto indexed = indexer_.index(*bytes, end, file, [&](IndexBatch& batch) -> base::Status {
    if (look) RETURN_IF_ERROR(look());
    return index_.write(batch);
  });
  if (!indexed) return std::unexpected(indexed.error().with_context(path_of(name)));
  return {};
}

// An index that is ahead of its files was not kept with them: somebody has put back an older state
// of the crawl. Its entries there are of records that are gone.
base::Status SeriesIndexer::drop_behind(const WarcPosition& mark, const Look& look) {
  std::map<std::uint32_t, IndexFile> ahead;
  for (const auto& [number, file] : index_.files()) {
    if (file.source == FileSource::kCrawl && is_ahead(file, mark)) ahead.emplace(number, file);
  }
  if (ahead.empty()) return {};
  const std::string last = path_of(mark.file);
  const auto is_behind = [&](const EntryView& entry) {
    const auto found = ahead.find(entry.place().file);
    if (found == ahead.end()) return false;
    return found->second.path != last || entry.place().offset >= mark.offset;
  };
  RETURN_IF_ERROR(remove_entries(index_, std::string_view(&kEntryKeyPrefix, 1), is_behind, look));
  IndexBatch batch;
  for (const auto& [number, before] : ahead) {
    if (before.path != last) {
      batch.remove_file(number);
      continue;
    }
    IndexFile file = *index_.file(number);
    file.indexed_to = mark.offset;
    file.bytes = mark.offset;
    batch.set(file);
  }
  RETURN_IF_ERROR(index_.write(batch));
  return index_.flush();
}

// Whether the index has more of a file of this series than counts.
bool SeriesIndexer::is_ahead(const IndexFile& file, const WarcPosition& mark) const {
  if (!file.path.starts_with(folder_ + "/")) return false;
  const auto name = WarcName::parse(std::string_view(file.path).substr(folder_.size() + 1));
  if (!name || name->prefix != series_.prefix || name->instance != series_.instance) return false;
  const auto last = WarcName::parse(mark.file);
  if (!last || name->is_after(*last)) return true;
  return *name == *last && file.indexed_to > mark.offset;
}

void SeriesIndexer::add(const WarcPosition& begin, const MadeRecords& records) {
  Held held{.file = begin.file, .entry = records.entry};
  held.entry.place.offset = begin.offset;
  held.entry.place.length = records.first_bytes;
  held_.push_back(std::move(held));
}

bool SeriesIndexer::is_before(const Held& held, const WarcPosition& mark) {
  if (held.file == mark.file) return held.entry.place.offset < mark.offset;
  const auto file = WarcName::parse(held.file);
  const auto last = WarcName::parse(mark.file);
  CHECK(file && last, "a file of a writer has the name of none");
  return last->is_after(*file);
}

base::Status SeriesIndexer::apply(const WarcPosition& mark) {
  if (mark.file.empty()) return {};
  IndexBatch batch;
  std::vector<IndexFile> rows;  // in the order of the files
  std::uint32_t next_number = index_.next_number();
  const auto row = [&](const std::string& name) -> IndexFile& {
    if (rows.empty() || rows.back().path != path_of(name)) {
      rows.push_back(row_of(name, next_number));
      next_number = std::max(next_number, rows.back().number + 1);
    }
    return rows.back();
  };
  for (; !held_.empty() && is_before(held_.front(), mark); held_.pop_front()) {
    Held& held = held_.front();
    IndexFile& file = row(held.file);
    if (index_.removals().has(held.entry.url)) continue;
    held.entry.place.file = file.number;
    batch.add(held.entry);
    ++file.entries;
  }
  row(mark.file);
  for (IndexFile& file : rows) {
    RETURN_IF_ERROR(close_file(batch, file, file.path == path_of(mark.file) ? mark.offset : 0));
  }
  return batch.empty() ? base::Status{} : index_.write(batch);
}

// `end` is where the file counts up to; 0: it is one of before the mark, and counts whole.
base::Status SeriesIndexer::close_file(IndexBatch& batch, IndexFile& file, std::uint64_t end) {
  if (end == 0) {
    const std::string name = file.path.substr(folder_.size() + 1);
    ASSIGN_OR_RETURN(end, files_.size(fmt::format("{}/{}", series_.dir, name)));
  }
  if (end <= file.indexed_to) return {};
  unflushed_bytes_ += end - file.indexed_to;
  file.indexed_to = end;
  file.bytes = end;
  batch.set(file);
  return {};
}

base::Status SeriesIndexer::flush() {
  RETURN_IF_ERROR(index_.flush());
  unflushed_bytes_ = 0;
  return {};
}

}  // namespace meguri::archive
