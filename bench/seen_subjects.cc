#include "bench/seen_subjects.h"

#include <absl/container/flat_hash_map.h>
#include <rocksdb/cache.h>
#include <rocksdb/db.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/sst_file_writer.h>
#include <rocksdb/table.h>
#include <rocksdb/write_batch.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "env/posix_file_system.h"

namespace meguri::bench {

// --- Ours.

base::Result<std::unique_ptr<KnownIdsSubject>> KnownIdsSubject::make(
    const std::string& dir, const sat::KnownIdsOptions& options) {
  std::unique_ptr<KnownIdsSubject> subject(new KnownIdsSubject(dir, options));
  subject->files_ = std::make_unique<env::PosixFileSystem>();
  RETURN_IF_ERROR(subject->reopen());
  return subject;
}

base::Status KnownIdsSubject::reopen() {
  known_.reset();
  ASSIGN_OR_RETURN(known_, sat::KnownIds::open(*files_, dir_, options_, position_));
  return {};
}

base::Status KnownIdsSubject::load(std::uint64_t ids) {
  constexpr std::uint64_t kCommit = 500'000;
  for (std::uint64_t i = 0; i < ids; ++i) {
    RETURN_IF_ERROR(known_->add(seen_id(i), static_cast<sat::Seq>(i)));
    if (i % kCommit == kCommit - 1) RETURN_IF_ERROR(commit());
  }
  knows_below(ids);
  return commit();
}

base::Status KnownIdsSubject::ask(std::uint64_t number) {
  if (const auto answer = known_->ask(seen_id(number), number)) return take(*answer);
  if (!known_->has_full_batch()) return {};
  look_at_memory();
  return take_all();
}

void KnownIdsSubject::look_at_memory() {
  bytes_per_id_max_ =
      std::max(bytes_per_id_max_, static_cast<double>(known_->memory().besides_cache()) /
                                      static_cast<double>(known_->counts().ids));
}

base::Status KnownIdsSubject::take(const sat::IdAnswer& answer) {
  // Without the sieve there are no numbers to compare.
  const bool has_seq = !answer.is_known || answer.seq != sat::kNoSeq;
  if (!judge(answer.tag, answer.is_known, has_seq ? answer.seq : answer.tag)) return {};
  return known_->add(seen_id(answer.tag), static_cast<sat::Seq>(answer.tag));
}

base::Status KnownIdsSubject::take_all() {
  for (;;) {
    ASSIGN_OR_RETURN(const auto answer, known_->next_answer());
    if (!answer) return {};
    RETURN_IF_ERROR(take(*answer));
  }
}

base::Status KnownIdsSubject::finish() {
  known_->settle();
  return take_all();
}

base::Status KnownIdsSubject::commit() {
  ASSIGN_OR_RETURN(position_, known_->commit());
  return known_->on_durable();
}

namespace {

// --- RocksDB.

using Key = std::array<unsigned char, 16>;

Key key_of(const base::Id& id) {
  Key key;
  for (std::size_t i = 0; i < 8; ++i) {
    key[i] = static_cast<unsigned char>(id.high >> (56 - 8 * i));
    key[8 + i] = static_cast<unsigned char>(id.low >> (56 - 8 * i));
  }
  return key;
}

using Value = std::array<unsigned char, 4>;

Value value_of(std::uint64_t number) {
  Value value;
  const auto seq = static_cast<std::uint32_t>(number);
  std::memcpy(value.data(), &seq, sizeof seq);
  return value;
}

template <std::size_t kBytes>
rocksdb::Slice slice(const std::array<unsigned char, kBytes>& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), kBytes};
}

base::Status status_of(const rocksdb::Status& status) {
  if (status.ok()) return {};
  return base::fail(base::ErrorCode::kIo, "RocksDB failed: {}", status.ToString());
}

class RocksdbSubject final : public SeenSubject {
 public:
  RocksdbSubject(std::string dir, std::size_t cache_bytes)
      : dir_(std::move(dir)), cache_(cache_bytes) {}

  // Sorted files are made and taken in, which is the fastest way and leaves it in its best shape.
  base::Status load(std::uint64_t ids) override {
    RETURN_IF_ERROR(open());
    std::vector<Waiting> sorted;
    sorted.reserve(ids);
    for (std::uint64_t i = 0; i < ids; ++i) sorted.push_back({key_of(seen_id(i)), i});
    std::ranges::sort(sorted, {}, &Waiting::key);
    constexpr std::size_t kFileIds = 2'000'000;
    std::vector<std::string> paths;
    for (std::size_t at = 0; at < sorted.size(); at += kFileIds) {
      paths.push_back(dir_ + ".sst" + std::to_string(paths.size()));
      const std::size_t end = std::min(sorted.size(), at + kFileIds);
      RETURN_IF_ERROR(write_file(paths.back(), std::span(sorted).subspan(at, end - at)));
    }
    rocksdb::IngestExternalFileOptions options;
    options.move_files = true;
    knows_below(ids);
    return status_of(db_->IngestExternalFile(paths, options));
  }

  base::Status ask(std::uint64_t number) override {
    const base::Id id = seen_id(number);
    if (const auto seq = cache_.find(id)) {
      judge(number, true, *seq);
      return {};
    }
    waiting_.push_back({key_of(id), number});
    return waiting_.size() < kBatch ? base::Status() : take_all();
  }

  base::Status finish() override { return take_all(); }
  base::Status commit() override { return write(true); }

 private:
  struct Waiting {
    Key key;
    std::uint64_t number;
  };
  static constexpr std::size_t kBatch = 4096;

  static rocksdb::Options options() {
    rocksdb::Options options;
    options.create_if_missing = true;
    options.compression = rocksdb::kNoCompression;
    options.max_background_jobs = 2;
    rocksdb::BlockBasedTableOptions table;
    table.filter_policy.reset(rocksdb::NewBloomFilterPolicy(10));
    table.block_cache = rocksdb::NewLRUCache(std::size_t{512} << 20U);
    table.format_version = 5;
    options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
    return options;
  }

  base::Status open() {
    rocksdb::DB* db = nullptr;
    RETURN_IF_ERROR(status_of(rocksdb::DB::Open(options(), dir_, &db)));
    db_.reset(db);
    return {};
  }

  static base::Status write_file(const std::string& path, std::span<const Waiting> sorted) {
    rocksdb::SstFileWriter writer(rocksdb::EnvOptions(), options());
    RETURN_IF_ERROR(status_of(writer.Open(path)));
    for (const Waiting& one : sorted) {
      RETURN_IF_ERROR(status_of(writer.Put(slice(one.key), slice(value_of(one.number)))));
    }
    return status_of(writer.Finish());
  }

  void put(std::uint64_t number) {
    writes_.Put(slice(key_of(seen_id(number))), slice(value_of(number)));
  }

  base::Status write(bool is_synced) {
    rocksdb::WriteOptions options;
    options.sync = is_synced;
    RETURN_IF_ERROR(status_of(db_->Write(options, &writes_)));
    writes_.Clear();
    return {};
  }

  base::Status take_all() {
    std::ranges::sort(waiting_, {}, &Waiting::key);
    keys_.clear();
    for (const Waiting& one : waiting_) keys_.push_back(slice(one.key));
    values_.resize(keys_.size());
    found_.resize(keys_.size());
    db_->MultiGet({}, db_->DefaultColumnFamily(), keys_.size(), keys_.data(), values_.data(),
                  found_.data(), true);
    for (std::size_t i = 0; i < keys_.size(); ++i) {
      if (!found_[i].ok() && !found_[i].IsNotFound()) return status_of(found_[i]);
      std::uint32_t seq = 0;
      if (found_[i].ok()) std::memcpy(&seq, values_[i].data(), sizeof seq);
      const std::uint64_t number = waiting_[i].number;
      if (judge(number, found_[i].ok(), seq)) put(number);
      cache_.put(seen_id(number), static_cast<std::uint32_t>(number));
      values_[i].Reset();
    }
    waiting_.clear();
    return writes_.Count() > 0 ? write(false) : base::Status();
  }

  const std::string dir_;
  sat::IdCache cache_;
  std::unique_ptr<rocksdb::DB> db_;
  rocksdb::WriteBatch writes_;
  std::vector<Waiting> waiting_;
  std::vector<rocksdb::Slice> keys_;
  std::vector<rocksdb::PinnableSlice> values_;
  std::vector<rocksdb::Status> found_;
};

// --- A hash map.

struct IdHash {
  std::size_t operator()(const base::Id& id) const { return id.low; }
};

class FlatSubject final : public SeenSubject {
 public:
  base::Status load(std::uint64_t ids) override {
    for (std::uint64_t i = 0; i < ids; ++i) map_[seen_id(i)] = static_cast<std::uint32_t>(i);
    knows_below(ids);
    return {};
  }
  base::Status ask(std::uint64_t number) override {
    const auto [found, is_new] =
        map_.try_emplace(seen_id(number), static_cast<std::uint32_t>(number));
    judge(number, !is_new, found->second);
    return {};
  }
  base::Status finish() override { return {}; }
  base::Status commit() override { return {}; }

 private:
  absl::flat_hash_map<base::Id, std::uint32_t, IdHash> map_;
};

}  // namespace

std::unique_ptr<SeenSubject> make_rocksdb_subject(const std::string& dir, std::size_t cache_bytes) {
  return std::make_unique<RocksdbSubject>(dir, cache_bytes);
}

std::unique_ptr<SeenSubject> make_flat_hash_map_subject() {
  return std::make_unique<FlatSubject>();
}

}  // namespace meguri::bench
