#include "archive/importer.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "archive/warc_reader.h"
#include "base/bytes.h"
#include "base/hash.h"

namespace meguri::archive {

namespace {

using base::ErrorCode;
using base::MutexLock;

constexpr std::size_t kPrintBytes = std::size_t{64} << 10U;
constexpr std::size_t kCopyBytes = std::size_t{4} << 20U;

std::string_view name_in(std::string_view path) { return path.substr(path.rfind('/') + 1); }

// Before it is copied, and before the index knows of it. An empty file is a WARC file of nothing.
base::Status check_is_warc(const env::ReadableFile& file, std::uint64_t bytes) {
  WarcReader reader(file);
  ASSIGN_OR_RETURN(const bool has_record, reader.next());
  if (has_record || bytes == 0) return {};
  return base::fail(ErrorCode::kInvalid, "there is no WARC record in it");
}

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

Importer::Importer(TemporalIndex& index, env::FileSystem& files, std::string archive,
                   FileIndexer::Reading reading, std::size_t batch_bytes)
    : index_(index),
      files_(files),
      archive_(std::move(archive)),
      reading_(reading),
      batch_bytes_(batch_bytes) {
  for (const auto& [number, file] : index_.files()) {
    if (file.source != FileSource::kCrawl) numbers_[{file.bytes, file.print}] = number;
  }
}

std::string Importer::place_of(const IndexFile& file) const {
  return file.path.starts_with('/') ? file.path : fmt::format("{}/{}", archive_, file.path);
}

// --- Which file it is.

// What was imported from here, or stands here.
const IndexFile* Importer::find(const std::string& path) const {
  if (const IndexFile* known = index_.find_file(path)) return known;
  const std::string folder = archive_ + "/";
  return path.starts_with(folder) ? index_.find_file(path.substr(folder.size())) : nullptr;
}

const IndexFile* Importer::find_print(const Print& print) const {
  const auto found = numbers_.find(print);
  return found == numbers_.end() ? nullptr : index_.file(found->second);
}

// A name that no other file has. One that is there and that the index does not know is what a crash
// left, if it is the same.
base::Result<std::string> Importer::copy_path(const std::string& path, const Print& print) {
  const std::string_view name = name_in(path);
  const std::size_t dot = std::min(name.find(".warc"), std::min(name.find(".arc"), name.size()));
  for (int i = 1;; ++i) {
    const std::string suffix = i == 1 ? "" : fmt::format("-{}", i);
    std::string to =
        fmt::format("{}/{}{}{}", kImportedFolder, name.substr(0, dot), suffix, name.substr(dot));
    if (index_.find_file(to) != nullptr || copy_paths_.contains(to)) continue;
    const std::string place = fmt::format("{}/{}", archive_, to);
    ASSIGN_OR_RETURN(const bool exists, files_.exists(place));
    if (exists) {
      ASSIGN_OR_RETURN(const auto there, files_.open_read(place));
      ASSIGN_OR_RETURN(const std::uint64_t bytes, there->size());
      ASSIGN_OR_RETURN(const std::uint64_t of_it, file_print(*there));
      if (Print(bytes, of_it) != print) continue;
    }
    copy_paths_.insert(to);
    return to;
  }
}

base::Result<Importer::Plan> Importer::plan(const std::string& path, const Print& print,
                                            bool copies) {
  const MutexLock lock(mutex_);
  Plan plan;
  if (const IndexFile* known = find(path)) {
    if (known->source == FileSource::kCrawl) return Plan{ImportOutcome::kKnown, *known};
    if (Print(known->bytes, known->print) == print) return plan_known(*known, path, copies);
    if (known->source == FileSource::kCopy) {
      return base::fail(ErrorCode::kExists,
                        "it is a copy in this archive, and not what was copied any more; 'meguri "
                        "import --remove' takes it out");
    }
    RETURN_IF_ERROR(archive::remove_file(index_, known->number));
    if (const IndexFile* same = find_print(print)) return plan_known(*same, path, copies);
    ASSIGN_OR_RETURN(plan, plan_new(path, print, copies));
    plan.outcome = ImportOutcome::kReplaced;
    return plan;
  }
  if (const IndexFile* same = find_print(print)) return plan_known(*same, path, copies);
  if (path.starts_with(archive_ + "/")) {
    return base::fail(ErrorCode::kExists, "it is in this archive; 'meguri repair' indexes it");
  }
  return plan_new(path, print, copies);
}

base::Result<Importer::Plan> Importer::plan_known(IndexFile row, const std::string& path,
                                                  bool copies) {
  Plan plan;
  plan.outcome = row.is_complete ? ImportOutcome::kKnown : ImportOutcome::kAdded;
  plan.is_busy = busy_.contains(row.number);
  if (plan.is_busy) {
    plan.outcome = ImportOutcome::kKnown;
  } else if (row.source == FileSource::kReference && copies) {
    ASSIGN_OR_RETURN(row.path, copy_path(path, {row.bytes, row.print}));
    row.source = FileSource::kCopy;
    plan.is_moved = true;
  } else if (row.source == FileSource::kReference) {
    ASSIGN_OR_RETURN(const bool is_there, files_.exists(row.path));
    plan.is_moved = !is_there;
    if (!is_there) row.path = path;
  }
  if (plan.is_moved && row.is_complete) plan.outcome = ImportOutcome::kMoved;
  busy_.insert(row.number);
  plan.row = std::move(row);
  return plan;
}

base::Result<Importer::Plan> Importer::plan_new(const std::string& path, const Print& print,
                                                bool copies) {
  Plan plan;
  plan.row.number = index_.next_number();
  plan.row.path = path;
  plan.row.source = copies ? FileSource::kCopy : FileSource::kReference;
  std::tie(plan.row.bytes, plan.row.print) = print;
  if (copies) {
    ASSIGN_OR_RETURN(plan.row.path, copy_path(path, print));
  }
  // The number and the name are taken from now on.
  IndexBatch batch;
  batch.set(plan.row);
  RETURN_IF_ERROR(index_.write(batch));
  numbers_[print] = plan.row.number;
  busy_.insert(plan.row.number);
  return plan;
}

// --- Bringing it in.

base::Result<Imported> Importer::import(const std::string& path, bool copies,
                                        const Progress& progress) {
  ASSIGN_OR_RETURN(const auto source, files_.open_read(path));
  ASSIGN_OR_RETURN(const std::uint64_t bytes, source->size());
  RETURN_IF_ERROR(check_is_warc(*source, bytes));
  ASSIGN_OR_RETURN(const std::uint64_t print, file_print(*source));
  ASSIGN_OR_RETURN(const Plan plan, this->plan(path, {bytes, print}, copies));
  if (plan.is_busy || plan.row.source == FileSource::kCrawl) {
    RETURN_IF_ERROR(progress(bytes, 0));
    return Imported{plan.outcome, plan.row};
  }
  auto imported = carry_out(plan, *source, progress);
  const MutexLock lock(mutex_);
  busy_.erase(plan.row.number);
  return imported;
}

base::Result<Imported> Importer::carry_out(const Plan& plan, const env::ReadableFile& source,
                                           const Progress& progress) {
  IndexFile row = plan.row;
  if (row.source == FileSource::kCopy) {
    ASSIGN_OR_RETURN(const bool is_there, files_.exists(place_of(row)));
    if (!is_there) RETURN_IF_ERROR(copy(source, place_of(row), progress));
  }
  if (plan.is_moved) RETURN_IF_ERROR(write(row));
  if (row.is_complete) {
    RETURN_IF_ERROR(progress(row.bytes, 0));
  } else {
    RETURN_IF_ERROR(index_file(row, progress));
  }
  return Imported{plan.outcome, std::move(row)};
}

base::Status Importer::index_file(IndexFile& row, const Progress& progress) {
  ASSIGN_OR_RETURN(const auto bytes, files_.open_read(place_of(row)));
  FileIndexer indexer(index_.removals(), reading_, batch_bytes_);
  std::uint64_t told_bytes = 0;
  std::uint64_t told_entries = row.indexed_to > 0 ? row.entries : 0;
  const auto apply = [&](IndexBatch& batch) -> base::Status {
    {
      const MutexLock lock(mutex_);
      RETURN_IF_ERROR(index_.write(batch));
    }
    const std::uint64_t bytes_more = row.indexed_to - std::exchange(told_bytes, row.indexed_to);
    return progress(bytes_more, row.entries - std::exchange(told_entries, row.entries));
  };
  RETURN_IF_ERROR(indexer.index(*bytes, row.bytes, row, apply));
  row.is_complete = true;
  return write(row);
}

base::Status Importer::write(const IndexFile& file) {
  const MutexLock lock(mutex_);
  IndexBatch batch;
  batch.set(file);
  return index_.write(batch);
}

// There whole, or not there.
base::Status Importer::copy(const env::ReadableFile& from, const std::string& to,
                            const Progress& progress) {
  const std::string folder = env::parent_of(to);
  const std::string part = to + ".part";
  RETURN_IF_ERROR(files_.make_dirs(folder));
  ASSIGN_OR_RETURN(const bool is_left, files_.exists(part));
  if (is_left) RETURN_IF_ERROR(files_.remove(part));
  if (auto copied = copy_bytes(from, part, progress); !copied) {
    std::ignore = files_.remove(part);  // it may take the last space of the disk
    return copied;
  }
  RETURN_IF_ERROR(files_.rename(part, to));
  return files_.sync_dir(folder);
}

base::Status Importer::copy_bytes(const env::ReadableFile& from, const std::string& to,
                                  const Progress& progress) {
  ASSIGN_OR_RETURN(const std::uint64_t bytes, from.size());
  ASSIGN_OR_RETURN(const auto file, files_.create(to));
  std::string piece;
  for (std::uint64_t at = 0; at < bytes; at += piece.size()) {
    RETURN_IF_ERROR(from.read_at(at, kCopyBytes, &piece));
    if (piece.empty()) return base::fail(ErrorCode::kIo, "the file became shorter meanwhile");
    RETURN_IF_ERROR(file->append(piece));
    RETURN_IF_ERROR(progress(0, 0));
  }
  return file->sync();
}

// --- Taking it out again.

base::Result<IndexFile> Importer::imported_from(const std::string& path) const {
  const IndexFile* known = find(path);
  // What was copied from there is known by what it is.
  if (const auto bytes = files_.open_read(path); known == nullptr && bytes) {
    ASSIGN_OR_RETURN(const std::uint64_t size, (*bytes)->size());
    ASSIGN_OR_RETURN(const std::uint64_t print, file_print(**bytes));
    known = find_print({size, print});
  }
  if (known == nullptr) {
    return base::fail(ErrorCode::kNotFound, "{} was not imported", path);
  }
  if (known->source == FileSource::kCrawl) {
    return base::fail(ErrorCode::kInvalid,
                      "{} is a file of the crawl itself; 'meguri remove' takes "
                      "pages out of it",
                      path);
  }
  return *known;
}

base::Status Importer::remove(const std::vector<std::string>& paths, const Look& look) {
  const MutexLock lock(mutex_);
  std::vector<IndexFile> files;
  std::set<std::uint32_t> numbers;
  for (const std::string& path : paths) {
    ASSIGN_OR_RETURN(files.emplace_back(), imported_from(path));
    numbers.insert(files.back().number);
  }
  RETURN_IF_ERROR(archive::remove_files(index_, numbers, look));
  // The index must not name what is not there.
  RETURN_IF_ERROR(index_.flush());
  for (const IndexFile& file : files) {
    if (file.source != FileSource::kCopy) continue;
    const auto removed = files_.remove(place_of(file));
    if (!removed && removed.error().code() != ErrorCode::kNotFound) return removed;
    copy_paths_.erase(file.path);
  }
  return {};
}

}  // namespace meguri::archive
