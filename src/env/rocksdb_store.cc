// RocksDB behind OrderedStore. It runs without its own log, so that what reaches the disk are whole
// memory tables, each closed between two batches and written in order: after a crash the batches up
// to one of these ends are there.
#include <rocksdb/cache.h>
#include <rocksdb/convenience.h>
#include <rocksdb/db.h>
#include <rocksdb/file_checksum.h>
#include <rocksdb/table.h>
#include <rocksdb/write_batch.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "base/check.h"
#include "env/ordered_store.h"
#include "env/posix_file_system.h"

namespace meguri::env {

namespace {

using base::Error;
using base::ErrorCode;

rocksdb::Slice slice(std::string_view text) { return {text.data(), text.size()}; }
std::string_view view(const rocksdb::Slice& slice) { return {slice.data(), slice.size()}; }

// What RocksDB tells only in words: those of the system, with "While lock file" before them.
ErrorCode code_of_words(std::string_view text) {
  if (text.contains("File too large") || text.contains("Disk quota exceeded")) {
    return ErrorCode::kNoSpace;
  }
  if (text.contains("Permission denied") || text.contains("Read-only file system")) {
    return ErrorCode::kDenied;
  }
  if (text.contains("While lock file") || text.contains("lock hold by current process")) {
    return ErrorCode::kBusy;
  }
  return ErrorCode::kIo;
}

ErrorCode code_of(const rocksdb::Status& status) {
  if (status.IsNoSpace()) return ErrorCode::kNoSpace;
  if (status.IsCorruption()) return ErrorCode::kCorrupt;
  if (status.IsPathNotFound() || status.IsNotFound()) return ErrorCode::kNotFound;
  if (status.IsBusy() || status.IsTimedOut() || status.IsTryAgain()) return ErrorCode::kBusy;
  if (status.IsShutdownInProgress() || status.IsAborted()) return ErrorCode::kStopped;
  if (status.IsNotSupported()) return ErrorCode::kUnsupported;
  if (status.IsInvalidArgument()) return ErrorCode::kInvalid;
  return status.IsIOError() ? code_of_words(status.ToString()) : ErrorCode::kFailed;
}

std::unexpected<Error> error_of(const rocksdb::Status& status, std::string_view doing,
                                const std::string& path) {
  const ErrorCode code = code_of(status);
  if (code == ErrorCode::kBusy) {
    return base::fail(code, "cannot {} {}: it is in use ({})", doing, path, status.ToString());
  }
  return base::fail(code, "cannot {} {}: {}", doing, path, status.ToString());
}

rocksdb::CompressionType compression() {
  // Quick to read, and in every build of RocksDB that distributions make; but ask.
  const auto supported = rocksdb::GetSupportedCompressions();
  return std::ranges::find(supported, rocksdb::kLZ4Compression) != supported.end()
             ? rocksdb::kLZ4Compression
             : rocksdb::kNoCompression;
}

rocksdb::BlockBasedTableOptions table_options(const StoreOptions& options) {
  rocksdb::BlockBasedTableOptions table;
  table.block_cache = rocksdb::NewLRUCache(options.block_cache_bytes);
  table.block_size = 16U << 10U;
  // The blocks' index is in the cache, so that its size bounds the memory for reading. There are no
  // Bloom filters: keys are sought and walked over, and single ones hardly ever got.
  table.cache_index_and_filter_blocks = true;
  table.pin_l0_filter_and_index_blocks_in_cache = true;
  table.format_version = 5;
  table.checksum = rocksdb::kXXH3;
  return table;
}

void set_limits(rocksdb::Options* options) {
  // One thread flushes and one compacts; no threads for statistics.
  options->max_background_jobs = 2;
  options->max_subcompactions = 1;
  options->max_file_opening_threads = 2;
  options->stats_dump_period_sec = 0;
  options->stats_persist_period_sec = 0;
  options->max_open_files = 512;
  // Its own text log, for diagnosis only.
  options->info_log_level = rocksdb::WARN_LEVEL;
  options->max_log_file_size = 1U << 20U;
  options->keep_log_file_num = 3;
  options->max_manifest_file_size = 16U << 20U;
}

rocksdb::Options rocksdb_options(const StoreOptions& from) {
  rocksdb::Options options;
  options.create_if_missing = !from.read_only;
  options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table_options(from)));
  options.compression = compression();
  options.write_buffer_size = from.write_buffer_bytes;
  options.max_write_buffer_number = 2;  // one filled while the other is flushed
  options.level_compaction_dynamic_level_bytes = true;
  options.bytes_per_sync = 1U << 20U;
  options.compaction_readahead_size = 2U << 20U;
  set_limits(&options);
  // Closing must neither wait nor hide a failure: whoever wants the data flushes before.
  options.avoid_flush_during_shutdown = true;
  // A failed flush or compaction is told to the caller, who stops; nothing is retried behind him.
  options.max_bgerror_resume_count = 0;
  options.paranoid_checks = true;
  // Of whole files, kept in the manifest: blocks have their own, but not all bytes are of a block.
  options.file_checksum_gen_factory = rocksdb::GetFileChecksumGenCrc32cFactory();
  options.atomic_flush = true;
  if (from.read_only) {
    // All files are opened at once and stay open, because a running writer removes old ones.
    options.max_open_files = -1;
  }
  return options;
}

class RocksDbCursor final : public StoreCursor {
 public:
  RocksDbCursor(std::unique_ptr<rocksdb::Iterator> iterator, const std::string& path)
      : iterator_(std::move(iterator)), path_(path) {}

  void seek(std::string_view key) override { iterator_->Seek(slice(key)); }
  void seek_last() override { iterator_->SeekToLast(); }
  void seek_for_prev(std::string_view key) override { iterator_->SeekForPrev(slice(key)); }
  void next() override {
    CHECK(valid());
    iterator_->Next();
  }
  void prev() override {
    CHECK(valid());
    iterator_->Prev();
  }
  bool valid() const override { return iterator_->Valid(); }
  std::string_view key() const override {
    CHECK(valid());
    return view(iterator_->key());
  }
  std::string_view value() const override {
    CHECK(valid());
    return view(iterator_->value());
  }
  base::Status status() const override {
    const rocksdb::Status status = iterator_->status();
    if (!status.ok()) return error_of(status, "read", path_);
    return {};
  }

 private:
  const std::unique_ptr<rocksdb::Iterator> iterator_;
  const std::string& path_;
};

class RocksDbStore final : public OrderedStore {
 public:
  RocksDbStore(std::unique_ptr<rocksdb::DB> db, std::string path, bool read_only)
      : db_(std::move(db)), path_(std::move(path)), read_only_(read_only) {
    write_options_.disableWAL = true;
  }

  base::Status write(const StoreBatch& batch) override {
    RETURN_IF_ERROR(check_writable());
    // In the order of their keys, of which each then finds its place beside that of the last; those
    // of one key as they came.
    using Change = StoreBatch::Change;
    std::vector<const Change*> sorted;
    sorted.reserve(batch.changes().size());
    for (const Change& change : batch.changes()) sorted.push_back(&change);
    std::ranges::sort(sorted, [](const Change* a, const Change* b) {
      const int order = a->key.compare(b->key);
      return order != 0 ? order < 0 : a < b;
    });
    rocksdb::WriteBatch changes;
    for (const Change* change : sorted) {
      const rocksdb::Status status =
          change->value ? changes.Put(change->key, *change->value) : changes.Delete(change->key);
      if (!status.ok()) return error_of(status, "write to", path_);
    }
    const rocksdb::Status status = db_->Write(write_options_, &changes);
    if (!status.ok()) return error_of(status, "write to", path_);
    return {};
  }

  base::Result<std::optional<std::string>> get(std::string_view key) const override {
    std::string value;
    const rocksdb::Status status = db_->Get(rocksdb::ReadOptions(), slice(key), &value);
    if (status.IsNotFound()) return std::nullopt;
    if (!status.ok()) return error_of(status, "read", path_);
    return value;
  }

  std::unique_ptr<StoreCursor> cursor() const override {
    // An iterator keeps the files and tables of the moment it is made.
    std::unique_ptr<rocksdb::Iterator> iterator(db_->NewIterator(rocksdb::ReadOptions()));
    return std::make_unique<RocksDbCursor>(std::move(iterator), path_);
  }

  base::Status flush() override {
    RETURN_IF_ERROR(check_writable());
    rocksdb::FlushOptions options;
    options.wait = true;
    options.allow_write_stall = true;  // now, instead of waiting for compactions first
    const rocksdb::Status status = db_->Flush(options);
    if (!status.ok()) return error_of(status, "flush", path_);
    return {};
  }

  std::uint64_t approximate_bytes(std::string_view begin, std::string_view end) const override {
    rocksdb::SizeApproximationOptions options;
    options.include_memtables = true;
    const rocksdb::Range range(slice(begin), slice(end));
    std::uint64_t bytes = 0;
    const rocksdb::Status status =
        db_->GetApproximateSizes(options, db_->DefaultColumnFamily(), &range, 1, &bytes);
    return status.ok() ? bytes : 0;
  }

  base::Status check() const override {
    std::vector<rocksdb::LiveFileMetaData> live;
    db_->GetLiveFilesMetaData(&live);
    for (const rocksdb::LiveFileMetaData& file : live) {
      // Files of before there were sums; their blocks have some, which every reading checks.
      if (file.file_checksum_func_name == rocksdb::kUnknownFileChecksumFuncName) continue;
      RETURN_IF_ERROR(check_file(path_ + file.name, file.file_checksum));
    }
    return {};
  }

 private:
  static base::Status check_file(const std::string& path, const std::string& sum) {
    constexpr std::size_t kPieceBytes = std::size_t{1} << 20U;
    auto file = PosixFileSystem().open_read(path);
    // All were there when the store was opened: a running writer has merged it into others since.
    if (!file && file.error().code() == ErrorCode::kNotFound) return {};
    if (!file) return std::unexpected(file.error());
    const auto generator =
        rocksdb::GetFileChecksumGenCrc32cFactory()->CreateFileChecksumGenerator({});
    std::string piece;
    for (std::uint64_t at = 0;; at += piece.size()) {
      RETURN_IF_ERROR((*file)->read_at(at, kPieceBytes, &piece));
      if (piece.empty()) break;
      generator->Update(piece.data(), piece.size());
    }
    generator->Finalize();
    if (generator->GetChecksum() == sum) return {};
    return base::fail(ErrorCode::kCorrupt, "{} is not as it was written", path);
  }

  base::Status check_writable() const {
    if (!read_only_) return {};
    return base::fail(ErrorCode::kDenied, "{} is open for reading only", path_);
  }

  const std::unique_ptr<rocksdb::DB> db_;
  const std::string path_;
  const bool read_only_;
  rocksdb::WriteOptions write_options_;
};

// The files of a running writer change between reading their list and opening them, so this is
// tried again.
rocksdb::Status open_read_only(const rocksdb::Options& options, const std::string& path,
                               rocksdb::DB** db) {
  constexpr int kTries = 5;
  rocksdb::Status status;
  for (int i = 0; i < kTries; ++i) {
    status = rocksdb::DB::OpenForReadOnly(options, path, db);
    if (status.ok()) break;
  }
  return status;
}

}  // namespace

base::Result<std::unique_ptr<OrderedStore>> open_rocksdb_store(const std::string& path,
                                                               const StoreOptions& options) {
  // RocksDB makes the folder but does not sync the one above it.
  if (!options.read_only) RETURN_IF_ERROR(PosixFileSystem().make_dirs(path));
  rocksdb::DB* db = nullptr;
  const rocksdb::Options settings = rocksdb_options(options);
  const rocksdb::Status status = options.read_only ? open_read_only(settings, path, &db)
                                                   : rocksdb::DB::Open(settings, path, &db);
  if (!status.ok()) return error_of(status, "open the store in", path);
  return std::make_unique<RocksDbStore>(std::unique_ptr<rocksdb::DB>(db), path, options.read_only);
}

base::Status remove_rocksdb_store(const std::string& path) {
  const rocksdb::Status status = rocksdb::DestroyDB(path, rocksdb::Options());
  if (!status.ok()) return error_of(status, "remove the store in", path);
  return {};
}

}  // namespace meguri::env
