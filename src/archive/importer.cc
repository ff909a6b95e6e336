#include "archive/importer.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "archive/index_removal.h"
#include "base/bytes.h"
#include "base/hash.h"

namespace meguri::archive {

namespace {

using base::ErrorCode;
using base::MutexLock;

constexpr std::size_t kPrintBytes = std::size_t{64} << 10U;
constexpr std::size_t kCopyBytes = std::size_t{4} << 20U;

std::string_view name_in(std::string_view path) { return path.substr(path.rfind('/') + 1); }

}  // namespace

base::Result<std::uint64_t> file_print(const env::ReadableFile& file) {
  ASSIGN_OR_RETURN(const std::uint64_t bytes, file.size());
  std::string front;
  RETURN_IF_ERROR(file.read_at(0, kPrintBytes, &front));
  std::string end;
  RETURN_IF_ERROR(
      file.read_at(bytes - std::min<std::uint64_t>(bytes, kPrintBytes), kPrintBytes, &end));
  const std::uint64_t print = base::hash64(end, base::hash64(front, bytes));
  return print == 0 ? 1 : print;
}

std::string Importer::place_of(const IndexFile& file) const {
  return file.path.starts_with('/') ? file.path : fmt::format("{}/{}", archive_, file.path);
}

// What was imported from here, or stands here.
const IndexFile* Importer::find(const std::string& path) const {
  if (const IndexFile* known = index_.find_file(path)) return known;
  const std::string folder = archive_ + "/";
  return path.starts_with(folder) ? index_.find_file(path.substr(folder.size())) : nullptr;
}

const IndexFile* Importer::find_print(std::uint64_t bytes, std::uint64_t print) const {
  for (const auto& [number, file] : index_.files()) {
    if (file.print == print && file.bytes == bytes) return &file;
  }
  return nullptr;
}

// A name that no other file has.
base::Result<std::string> Importer::copy_path(const std::string& path) const {
  const std::string_view name = name_in(path);
  const std::size_t dot = std::min(name.find(".warc"), std::min(name.find(".arc"), name.size()));
  for (int i = 1;; ++i) {
    const std::string suffix = i == 1 ? "" : fmt::format("-{}", i);
    std::string to =
        fmt::format("{}/{}{}{}", kImportedFolder, name.substr(0, dot), suffix, name.substr(dot));
    ASSIGN_OR_RETURN(const bool exists, files_.exists(fmt::format("{}/{}", archive_, to)));
    if (!exists && index_.find_file(to) == nullptr) return to;
  }
}

base::Result<Importer::Plan> Importer::plan(const std::string& path, std::uint64_t bytes,
                                            std::uint64_t print, bool copies) {
  const MutexLock lock(mutex_);
  Plan plan;
  const bool is_ours = path.starts_with(archive_ + "/");
  if (const IndexFile* known = find(path)) {
    if (known->source == FileSource::kCrawl) return Plan{ImportOutcome::kKnown, *known};
    if (known->print == print && known->bytes == bytes) {
      return Plan{known->is_complete ? ImportOutcome::kKnown : ImportOutcome::kAdded, *known};
    }
    plan.outcome = ImportOutcome::kReplaced;
    RETURN_IF_ERROR(archive::remove_file(index_, known->number));
  } else if (const IndexFile* same = find_print(bytes, print)) {
    IndexFile row = *same;
    ASSIGN_OR_RETURN(const bool is_there, files_.exists(place_of(row)));
    if (is_there || row.source != FileSource::kReference) {
      return Plan{row.is_complete ? ImportOutcome::kKnown : ImportOutcome::kAdded, std::move(row)};
    }
    row.path = path;
    IndexBatch batch;
    batch.set(row);
    RETURN_IF_ERROR(index_.write(batch));
    return Plan{row.is_complete ? ImportOutcome::kMoved : ImportOutcome::kAdded, std::move(row)};
  } else if (is_ours) {
    return base::fail(ErrorCode::kExists, "it is in this archive; 'meguri repair' indexes it");
  }
  plan.row.number = index_.next_number();
  plan.row.path = path;
  plan.row.source = copies ? FileSource::kCopy : FileSource::kReference;
  plan.row.bytes = bytes;
  plan.row.print = print;
  if (copies) {
    ASSIGN_OR_RETURN(plan.row.path, copy_path(path));
  }
  // The number and the name are taken from now on.
  IndexBatch batch;
  batch.set(plan.row);
  RETURN_IF_ERROR(index_.write(batch));
  return plan;
}

base::Result<Imported> Importer::import(const std::string& path, bool copies,
                                        const Progress& progress) {
  ASSIGN_OR_RETURN(auto bytes, files_.open_read(path));
  ASSIGN_OR_RETURN(const std::uint64_t size, bytes->size());
  ASSIGN_OR_RETURN(const std::uint64_t print, file_print(*bytes));
  ASSIGN_OR_RETURN(Plan plan, this->plan(path, size, print, copies));
  IndexFile& row = plan.row;
  if (plan.outcome == ImportOutcome::kKnown || plan.outcome == ImportOutcome::kMoved) {
    RETURN_IF_ERROR(progress(size, 0));
    return Imported{plan.outcome, row};
  }
  if (row.source == FileSource::kCopy) {
    ASSIGN_OR_RETURN(const bool is_there, files_.exists(place_of(row)));
    if (!is_there) RETURN_IF_ERROR(copy(*bytes, place_of(row), size));
    ASSIGN_OR_RETURN(bytes, files_.open_read(place_of(row)));
  }
  FileIndexer indexer(index_.removals());
  std::uint64_t told_bytes = 0;
  std::uint64_t told_entries = row.entries;
  const auto indexed = indexer.index(*bytes, size, row, [&](IndexBatch& batch) -> base::Status {
    {
      const MutexLock lock(mutex_);
      RETURN_IF_ERROR(index_.write(batch));
    }
    const std::uint64_t bytes_more = row.indexed_to - std::exchange(told_bytes, row.indexed_to);
    return progress(bytes_more, row.entries - std::exchange(told_entries, row.entries));
  });
  if (!indexed) {
    // What is no WARC file shall not be remembered as one.
    if (indexed.error().code() == ErrorCode::kInvalid) {
      const MutexLock lock(mutex_);
      RETURN_IF_ERROR(archive::remove_file(index_, row.number));
      if (row.source == FileSource::kCopy) RETURN_IF_ERROR(files_.remove(place_of(row)));
    }
    return std::unexpected(indexed.error());
  }
  row.is_complete = true;
  RETURN_IF_ERROR(write(row));
  return Imported{plan.outcome, row};
}

base::Status Importer::write(const IndexFile& file) {
  const MutexLock lock(mutex_);
  IndexBatch batch;
  batch.set(file);
  return index_.write(batch);
}

// There whole, or not there.
base::Status Importer::copy(const env::ReadableFile& from, const std::string& to,
                            std::uint64_t bytes) {
  const std::string folder = env::parent_of(to);
  const std::string part = to + ".part";
  RETURN_IF_ERROR(files_.make_dirs(folder));
  ASSIGN_OR_RETURN(const bool is_left, files_.exists(part));
  if (is_left) RETURN_IF_ERROR(files_.remove(part));
  ASSIGN_OR_RETURN(const auto file, files_.create(part));
  std::string piece;
  for (std::uint64_t at = 0; at < bytes; at += piece.size()) {
    RETURN_IF_ERROR(from.read_at(at, kCopyBytes, &piece));
    if (piece.empty()) return base::fail(ErrorCode::kIo, "the file became shorter meanwhile");
    RETURN_IF_ERROR(file->append(piece));
  }
  RETURN_IF_ERROR(file->sync());
  RETURN_IF_ERROR(files_.rename(part, to));
  return files_.sync_dir(folder);
}

base::Status Importer::remove(const std::string& path) {
  const MutexLock lock(mutex_);
  const IndexFile* known = find(path);
  // What was copied from there is known by what it is.
  if (const auto bytes = files_.open_read(path); known == nullptr && bytes) {
    ASSIGN_OR_RETURN(const std::uint64_t size, (*bytes)->size());
    ASSIGN_OR_RETURN(const std::uint64_t print, file_print(**bytes));
    known = find_print(size, print);
  }
  if (known == nullptr) {
    return base::fail(ErrorCode::kNotFound, "{} was not imported", path);
  }
  const IndexFile file = *known;
  if (file.source == FileSource::kCrawl) {
    return base::fail(ErrorCode::kInvalid,
                      "{} is a file of the crawl itself; 'meguri remove' takes pages out of it",
                      path);
  }
  RETURN_IF_ERROR(archive::remove_file(index_, file.number));
  if (file.source != FileSource::kCopy) return {};
  // The index must not name what is not there.
  RETURN_IF_ERROR(index_.flush());
  const auto removed = files_.remove(place_of(file));
  if (!removed && removed.error().code() != ErrorCode::kNotFound) return removed;
  return {};
}

}  // namespace meguri::archive
