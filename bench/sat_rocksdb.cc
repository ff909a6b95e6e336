// RocksDB in two ways. By id, as the paper's B-tree: sorted MultiGet with Bloom filters, then one
// synced batch. And by (due, id): what is due is scanned, written under its new key and deleted as
// one range, so that nothing is looked up.
#include <fmt/format.h>
#include <rocksdb/cache.h>
#include <rocksdb/db.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/options.h>
#include <rocksdb/sst_file_writer.h>
#include <rocksdb/table.h>
#include <rocksdb/write_batch.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <string>
#include <utility>

#include "bench/sat_stores.h"

namespace meguri::bench {
namespace {

constexpr std::size_t kIdBytes = 16;
constexpr std::size_t kAtOnce = 1024;  // of a MultiGet
constexpr std::uint64_t kTableBytes = std::uint64_t{64} << 20U;

base::Status status_of(const rocksdb::Status& status) {
  if (status.ok()) return {};
  return base::fail(base::ErrorCode::kIo, "RocksDB fails: {}", status.ToString());
}

class RocksStore final : public SatStore {
 public:
  RocksStore(bool is_by_due, const SatSetting& setting)
      : is_by_due_(is_by_due), setting_(setting) {}

  base::Status load(const SatLoad& load) override {
    RETURN_IF_ERROR(open(load));
    const std::vector<std::uint32_t> order = load_order(load);
    std::vector<std::string> paths;
    rocksdb::SstFileWriter writer(rocksdb::EnvOptions(), options());
    std::string key;
    std::string body;
    for (const std::uint32_t number : order) {
      if (paths.empty() || writer.FileSize() >= kTableBytes) {
        if (!paths.empty()) RETURN_IF_ERROR(status_of(writer.Finish()));
        paths.push_back(fmt::format("{}/load-{}.sst", setting_.dir, paths.size()));
        RETURN_IF_ERROR(status_of(writer.Open(paths.back())));
      }
      key = key_of(load.first_due(number), number);
      load.make_body(number, &body);
      RETURN_IF_ERROR(status_of(writer.Put(key, body)));
    }
    RETURN_IF_ERROR(status_of(writer.Finish()));
    rocksdb::IngestExternalFileOptions ingest;
    ingest.move_files = true;
    return status_of(db_->IngestExternalFile(paths, ingest));
  }

  base::Status open(const SatLoad& load) override {
    step_minutes_ = load.step_minutes();
    rocksdb::DB* db = nullptr;
    RETURN_IF_ERROR(status_of(rocksdb::DB::Open(options(), setting_.dir + "/rocksdb", &db)));
    db_.reset(db);
    return {};
  }

  base::Status run_step(std::uint32_t step, const std::vector<std::uint32_t>& due,
                        SatSum* sum) override {
    rocksdb::WriteBatch batch;
    RETURN_IF_ERROR(is_by_due_ ? scan(step, &batch, sum) : look_up(step, due, &batch, sum));
    rocksdb::WriteOptions write;
    write.sync = true;
    return status_of(db_->Write(write, &batch));
  }

 private:
  // (due minute, id) or the id alone, so that they sort as numbers do.
  std::string key_of(std::uint32_t due, std::uint32_t seq) const {
    std::string key(is_by_due_ ? 4 : 0, '\0');
    if (is_by_due_) put_minute(due, key.data());
    key.resize(key.size() + kIdBytes);
    make_key(SatLoad::id_of(seq), key.data() + key.size() - kIdBytes);
    return key;
  }
  static void put_minute(std::uint32_t minute, char* out) {
    const std::uint32_t swapped = __builtin_bswap32(minute);
    std::memcpy(out, &swapped, sizeof swapped);
  }
  static std::string minute_key(std::uint32_t minute) {
    std::string key(4, '\0');
    put_minute(minute, key.data());
    return key;
  }

  std::vector<std::uint32_t> load_order(const SatLoad& load) const {
    std::vector<std::uint32_t> order = sorted_by_key(load.records());
    if (!is_by_due_) return order;
    std::vector<std::uint64_t> keys(order.size());
    for (std::size_t i = 0; i < order.size(); ++i) {
      keys[i] = std::uint64_t{load.first_due(order[i])} << 32U | i;
    }
    std::ranges::sort(keys);
    std::vector<std::uint32_t> sorted(order.size());
    for (std::size_t i = 0; i < order.size(); ++i) {
      sorted[i] = order[static_cast<std::uint32_t>(keys[i])];
    }
    return sorted;
  }

  // Of the memory an eighth is for what is written, twice, and half caches blocks.
  rocksdb::Options options() const {
    rocksdb::Options options;
    options.create_if_missing = true;
    options.compression = rocksdb::kNoCompression;
    options.max_background_jobs = 2;
    options.write_buffer_size =
        std::clamp<std::uint64_t>(setting_.memory_bytes / 8, 1U << 20U, 64U << 20U);
    options.max_write_buffer_number = 2;
    options.target_file_size_base = kTableBytes;
    options.level_compaction_dynamic_level_bytes = true;
    options.max_open_files = -1;
    rocksdb::BlockBasedTableOptions table;
    table.block_cache = rocksdb::NewLRUCache(setting_.memory_bytes / 2);
    table.filter_policy.reset(rocksdb::NewBloomFilterPolicy(10));
    table.block_size = is_by_due_ ? 32 << 10U : 4 << 10U;
    table.cache_index_and_filter_blocks = true;
    table.pin_l0_filter_and_index_blocks_in_cache = true;
    table.format_version = 5;
    options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
    return options;
  }

  base::Status look_up(std::uint32_t step, const std::vector<std::uint32_t>& due,
                       rocksdb::WriteBatch* batch, SatSum* sum) {
    const std::uint32_t minute = (step + 1) * step_minutes_;
    const std::vector<std::uint32_t> order = sorted_by_key(due);
    std::vector<std::string> keys(kAtOnce);
    std::vector<rocksdb::Slice> slices(kAtOnce);
    std::vector<rocksdb::PinnableSlice> values(kAtOnce);
    std::vector<rocksdb::Status> statuses(kAtOnce);
    std::string body;
    for (std::size_t from = 0; from < order.size(); from += kAtOnce) {
      const std::size_t n = std::min(kAtOnce, order.size() - from);
      for (std::size_t i = 0; i < n; ++i) {
        keys[i] = key_of(0, order[from + i]);
        slices[i] = keys[i];
      }
      db_->MultiGet(rocksdb::ReadOptions(), db_->DefaultColumnFamily(), n, slices.data(),
                    values.data(), statuses.data(), true);
      for (std::size_t i = 0; i < n; ++i) {
        RETURN_IF_ERROR(status_of(statuses[i]));
        body.assign(values[i].data(), values[i].size());
        values[i].Reset();
        sum->visits += visit_body(body.data(), minute).visits;
        ++sum->updates;
        RETURN_IF_ERROR(status_of(batch->Put(slices[i], body)));
      }
    }
    return {};
  }

  base::Status scan(std::uint32_t step, rocksdb::WriteBatch* batch, SatSum* sum) {
    const std::uint32_t minute = (step + 1) * step_minutes_;
    // Minutes begin at 1, and a step takes those up to its end.
    const std::string first = minute_key(minute - step_minutes_ + 1);
    const std::string end = minute_key(minute + 1);
    const rocksdb::Slice bound(end);
    rocksdb::ReadOptions read;
    read.iterate_upper_bound = &bound;
    read.readahead_size = 2U << 20U;
    read.fill_cache = false;
    const std::unique_ptr<rocksdb::Iterator> records(db_->NewIterator(read));
    std::string key;
    std::string body;
    for (records->Seek(first); records->Valid(); records->Next()) {
      key.assign(records->key().data(), records->key().size());
      body.assign(records->value().data(), records->value().size());
      const SatCounters before = visit_body(body.data(), minute);
      std::uint32_t due = 0;
      std::memcpy(&due, key.data(), sizeof due);
      put_minute(__builtin_bswap32(due) + before.period, key.data());
      sum->visits += before.visits;
      ++sum->updates;
      RETURN_IF_ERROR(status_of(batch->Put(key, body)));
    }
    RETURN_IF_ERROR(status_of(records->status()));
    return status_of(batch->DeleteRange(first, end));
  }

  const bool is_by_due_;
  const SatSetting setting_;
  std::uint32_t step_minutes_ = 60;
  std::unique_ptr<rocksdb::DB> db_;
};

}  // namespace

std::unique_ptr<SatStore> make_rocksdb_store(bool is_by_due, const SatSetting& setting) {
  return std::make_unique<RocksStore>(is_by_due, setting);
}

}  // namespace meguri::bench
