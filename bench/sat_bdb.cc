// Berkeley DB as paper 003 has it: a B-tree by id without transactions or a log, keys sorted before
// each step. What is written is synced at the end only, which the caller does.
#include <db.h>
#include <fmt/format.h>

#include <cstring>
#include <string>

#include "bench/sat_stores.h"

namespace meguri::bench {
namespace {

constexpr std::uint32_t kPageBytes = 16384;  // the best of 4, 8 and 16 KiB here

base::Status status_of(int code, std::string_view doing) {
  if (code == 0) return {};
  return base::fail(base::ErrorCode::kIo, "Berkeley DB cannot {}: {}", doing, ::db_strerror(code));
}

DBT thing(void* data, std::size_t size) {
  DBT dbt;
  std::memset(&dbt, 0, sizeof dbt);
  dbt.data = data;
  dbt.size = static_cast<std::uint32_t>(size);
  dbt.ulen = dbt.size;
  return dbt;
}

class BdbStore final : public SatStore {
 public:
  BdbStore(bool is_read_only, const SatSetting& setting)
      : is_read_only_(is_read_only), setting_(setting) {}
  BdbStore(const BdbStore&) = delete;
  BdbStore& operator=(const BdbStore&) = delete;
  ~BdbStore() override {
    if (db_ != nullptr) db_->close(db_, 0);
  }

  base::Status load(const SatLoad& load) override {
    RETURN_IF_ERROR(open_file(DB_CREATE));
    std::string body;
    char key[16];
    for (const std::uint32_t seq : sorted_by_key(load.records())) {
      make_key(SatLoad::id_of(seq), key);
      load.make_body(seq, &body);
      DBT name = thing(key, sizeof key);
      DBT value = thing(body.data(), body.size());
      RETURN_IF_ERROR(status_of(db_->put(db_, nullptr, &name, &value, 0), "put"));
    }
    return status_of(db_->sync(db_, 0), "sync");
  }

  base::Status open(const SatLoad& load) override {
    step_minutes_ = load.step_minutes();
    return open_file(0);
  }

  base::Status run_step(std::uint32_t step, const std::vector<std::uint32_t>& due,
                        SatSum* sum) override {
    DBC* cursor = nullptr;
    RETURN_IF_ERROR(status_of(db_->cursor(db_, nullptr, &cursor, 0), "make a cursor"));
    const std::uint32_t minute = (step + 1) * step_minutes_;
    std::string body;
    char key[16];
    base::Status status;
    for (const std::uint32_t seq : sorted_by_key(due)) {
      make_key(SatLoad::id_of(seq), key);
      DBT name = thing(key, sizeof key);
      DBT value = thing(nullptr, 0);
      status = status_of(cursor->get(cursor, &name, &value, DB_SET), "get");
      if (!status) break;
      body.assign(static_cast<const char*>(value.data), value.size);
      sum->visits += visit_body(body.data(), minute).visits;
      ++sum->updates;
      if (is_read_only_) continue;
      value = thing(body.data(), body.size());
      status = status_of(cursor->put(cursor, &name, &value, DB_CURRENT), "put");
      if (!status) break;
    }
    cursor->close(cursor);
    return status;
  }

  base::Status release_files() override { return status_of(db_->sync(db_, 0), "sync"); }

 private:
  base::Status open_file(std::uint32_t flags) {
    RETURN_IF_ERROR(status_of(::db_create(&db_, nullptr, 0), "begin"));
    // Three quarters; the rest is the system's, for what it reads and writes.
    const std::uint64_t cache = setting_.memory_bytes / 4 * 3;
    RETURN_IF_ERROR(
        status_of(db_->set_cachesize(db_, static_cast<std::uint32_t>(cache >> 30U),
                                     static_cast<std::uint32_t>(cache & 0x3fff'ffffU), 1),
                  "set its cache"));
    const auto page = static_cast<std::uint32_t>(setting_.page_bytes);
    RETURN_IF_ERROR(
        status_of(db_->set_pagesize(db_, page > 0 ? page : kPageBytes), "set its page"));
    const std::string path = setting_.dir + "/records.db";
    return status_of(db_->open(db_, nullptr, path.c_str(), nullptr, DB_BTREE, flags, 0644), "open");
  }

  const bool is_read_only_;
  const SatSetting setting_;
  std::uint32_t step_minutes_ = 60;
  DB* db_ = nullptr;
};

}  // namespace

std::unique_ptr<SatStore> make_bdb_store(bool is_read_only, const SatSetting& setting) {
  return std::make_unique<BdbStore>(is_read_only, setting);
}

}  // namespace meguri::bench
