#include "app/index_repair.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "app/archive_index.h"
#include "app/figures.h"
#include "app/parallel_work.h"
#include "app/repair_sources.h"
#include "archive/file_indexer.h"
#include "archive/file_list.h"
#include "archive/index_removal.h"
#include "archive/index_swap.h"
#include "archive/removals.h"
#include "base/hash.h"
#include "env/ordered_store.h"

namespace meguri::app {

using archive::FileSource;
using archive::IndexBatch;
using archive::IndexFile;
using archive::IndexFolders;
using archive::TemporalIndex;
using base::ErrorCode;
using base::MutexLock;

namespace {

constexpr std::size_t kBatchBytes = std::size_t{1} << 20U;

// Rows as they were when their file was indexed whole.
bool is_done(const IndexFile& row) {
  return row.source == FileSource::kCrawl ? row.indexed_to >= row.bytes : row.is_complete;
}

}  // namespace

base::Status IndexRepair::plan() {
  RETURN_IF_ERROR(archive::settle_index(files_, archive_, env::remove_rocksdb_store));
  ASSIGN_OR_RETURN(archive::RepairSources sources, repair_sources(files_, archive_));
  RETURN_IF_ERROR(read_old_index(sources));
  ASSIGN_OR_RETURN(plan_, archive::plan_repair(files_, archive_, sources));
  for (const IndexFile& file : plan_.files) bytes_ += file.bytes;
  // What was taken down since is another index.
  ASSIGN_OR_RETURN(const archive::Removals removals, archive::Removals::load(files_, archive_));
  fingerprint_ = plan_.fingerprint();
  for (const archive::Removal& removal : removals.all()) {
    fingerprint_ = base::hash64(removal.to_json(), fingerprint_);
  }
  return {};
}

base::Status IndexRepair::read_old_index(archive::RepairSources& sources) {
  auto old = open_stored_index(files_, archive_);
  if (!old) {
    const ErrorCode code = old.error().code();
    if (code == ErrorCode::kDenied || code == ErrorCode::kNoSpace) {
      return std::unexpected(old.error());
    }
    return {};
  }
  old_ = *std::move(old);
  sources.indexed = old_->files();
  sources.next_number = old_->next_number();
  return {};
}

base::Status IndexRepair::run(std::size_t workers, bool is_quiet) {
  RETURN_IF_ERROR(open_build());
  RETURN_IF_ERROR(keep_absent());
  RETURN_IF_ERROR(build(workers, is_quiet));
  return take_place();
}

// What an earlier run built of the same plan is gone on with.
base::Status IndexRepair::open_build() {
  const IndexFolders folders(archive_);
  const std::string wanted = fmt::format("{:016x}\n", fingerprint_);
  ASSIGN_OR_RETURN(const bool has_plan, files_.exists(plan_path()));
  std::string planned;
  if (has_plan) {
    ASSIGN_OR_RETURN(planned, env::read_file(files_, plan_path()));
  }
  const env::StoreOptions options;
  ASSIGN_OR_RETURN(const bool has_build, files_.exists(folders.build));
  if (has_build && planned != wanted) RETURN_IF_ERROR(env::remove_rocksdb_store(folders.build));
  RETURN_IF_ERROR(env::write_file_atomically(files_, plan_path(), wanted));
  auto store = env::open_rocksdb_store(folders.build, options);
  if (!store && has_build && store.error().code() != ErrorCode::kNoSpace) {
    RETURN_IF_ERROR(env::remove_rocksdb_store(folders.build));
    store = env::open_rocksdb_store(folders.build, options);
  }
  if (!store) return std::unexpected(store.error());
  ASSIGN_OR_RETURN(archive::Removals removals, archive::Removals::load(files_, archive_));
  ASSIGN_OR_RETURN(new_, TemporalIndex::open(*std::move(store), std::move(removals)));
  IndexBatch batch;
  batch.set_next_number(plan_.next_number);
  return new_->write(batch);
}

base::Status IndexRepair::build(std::size_t workers, bool is_quiet) {
  const auto work = [this](std::size_t i, const Stopped& is_stopped) {
    return index_file(plan_.files[i], is_stopped);
  };
  const auto built = do_in_parallel(
      {.count = plan_.files.size(), .workers = workers, .work = work, .progress = [&] {
         return is_quiet ? "" : progress();
       }});
  // What is there already need not be read again.
  if (!built && built.error().code() == ErrorCode::kStopped) RETURN_IF_ERROR(new_->flush());
  return built;
}

std::string IndexRepair::progress() const {
  return fmt::format("repairing: {} of {}, {} of {}, {}", grouped(files_done_),
                     counted(plan_.files.size(), "file", "files"), bytes_text(bytes_done_),
                     bytes_text(bytes_), counted(entries_, "entry", "entries"));
}

base::Status IndexRepair::index_file(const IndexFile& planned, const Stopped& is_stopped) {
  IndexFile row = planned;
  {
    const MutexLock lock(mutex_);
    const IndexFile* begun = new_->file(planned.number);
    if (begun != nullptr && begun->path == planned.path) row = *begun;
  }
  bytes_done_ += row.indexed_to;
  entries_ += row.entries;
  if (!is_done(row) || row.indexed_to == 0) RETURN_IF_ERROR(read_rest(row, is_stopped));
  ++files_done_;
  const MutexLock lock(mutex_);
  if (row.damages > 0) damaged_.push_back({.path = row.path, .places = row.damages});
  return {};
}

// What the new index does not have of a file yet.
base::Status IndexRepair::read_rest(IndexFile& row, const Stopped& is_stopped) {
  ASSIGN_OR_RETURN(const auto bytes, files_.open_read(path_of(row, archive_)));
  archive::FileIndexer indexer(new_->removals());
  std::uint64_t done = row.indexed_to;
  std::uint64_t known = row.entries;
  const auto apply = [&](IndexBatch& batch) -> base::Status {
    const MutexLock lock(mutex_);
    RETURN_IF_ERROR(new_->write(batch));
    bytes_done_ += row.indexed_to - std::exchange(done, row.indexed_to);
    entries_ += row.entries - std::exchange(known, row.entries);
    return is_stopped ? base::fail(ErrorCode::kStopped, "stopped") : base::Status();
  };
  const auto indexed = indexer.index(*bytes, row.bytes, row, apply);
  if (!indexed && indexed.error().code() != ErrorCode::kInvalid) return indexed;
  // There is nothing in it that an index could have.
  if (!indexed) {
    row.indexed_to = row.bytes;
    row.damages = 1;
  }
  row.is_complete = row.source != FileSource::kCrawl;
  return write(row);
}

base::Status IndexRepair::write(const IndexFile& row) {
  const MutexLock lock(mutex_);
  IndexBatch batch;
  batch.set(row);
  return new_->write(batch);
}

// A reference may be on a disk that is not there today; its entries are in the old index, if that
// can be read. Otherwise it is remembered, so that importing it again ends well.
base::Status IndexRepair::keep_absent() {
  std::vector<IndexFile> kept;
  for (const IndexFile& file : plan_.absent) {
    if (file.source != FileSource::kReference) {
      lost_.push_back(file.path);
      continue;
    }
    const IndexFile* known = old_ ? old_->file(file.number) : nullptr;
    if (known != nullptr && known->path == file.path) {
      kept.push_back(*known);
    } else {
      lost_.push_back(file.path);
      RETURN_IF_ERROR(write(file));
    }
  }
  if (kept.empty()) return {};
  const auto copied = copy_entries(kept);
  if (copied || copied.error().code() != ErrorCode::kCorrupt) return copied;
  // The old index ends there: nobody knows what is missing, so all of it counts as that.
  for (const IndexFile& file : kept) {
    lost_.push_back(file.path);
    RETURN_IF_ERROR(archive::remove_file(*new_, file.number, [this] { return signals_.check(); }));
    IndexFile row = file;
    row.indexed_to = 0;
    row.entries = 0;
    row.damages = 0;
    row.is_complete = false;
    RETURN_IF_ERROR(write(row));
  }
  return {};
}

base::Status IndexRepair::copy_entries(const std::vector<IndexFile>& kept) {
  std::map<std::uint32_t, IndexFile> rows;
  for (const IndexFile& file : kept) {
    rows[file.number] = file;
    rows[file.number].entries = 0;
    plan_.notes.push_back(
        fmt::format("{} is not there; its entries are taken from the old index", file.path));
  }
  IndexBatch batch;
  const auto copy = [&](std::string_view key, std::string_view value) -> base::Status {
    const auto entry = archive::EntryView::parse(key, value);
    if (!entry || !rows.contains(entry->place().file)) return {};
    if (!new_->removals().empty() && new_->removals().has(entry->url())) return {};
    batch.add(key, value);
    ++rows[entry->place().file].entries;
    if (batch.bytes() < kBatchBytes) return {};
    RETURN_IF_ERROR(new_->write(batch));
    batch.clear();
    return {};
  };
  RETURN_IF_ERROR(old_->for_each_entry(copy, [this] { return signals_.check(); }));
  for (const auto& [number, row] : rows) batch.set(row);
  return new_->write(batch);
}

base::Status IndexRepair::take_place() {
  RETURN_IF_ERROR(new_->flush());
  new_.reset();
  old_.reset();
  RETURN_IF_ERROR(archive::declare_index_ready(files_, archive_));
  RETURN_IF_ERROR(archive::settle_index(files_, archive_, env::remove_rocksdb_store));
  RETURN_IF_ERROR(files_.remove(plan_path()));
  return tidy_list();
}

// The list of files says what the new index says.
base::Status IndexRepair::tidy_list() {
  ASSIGN_OR_RETURN(const auto listed, archive::ListedFiles::load(files_, archive_));
  ASSIGN_OR_RETURN(const auto index, open_index_for_writing(archive_));
  IndexBatch batch;
  for (const auto& [number, file] : listed.files) {
    if (index->file(number) == nullptr) batch.remove_file(number);
  }
  RETURN_IF_ERROR(index->write(batch));
  return index->flush();
}

}  // namespace meguri::app
