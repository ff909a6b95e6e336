// LMDB: a B-tree by id in a mapped file, keys sorted before each step, one transaction for a step.
#include <fmt/format.h>
#include <lmdb.h>

#include <string>

#include "bench/sat_stores.h"

namespace meguri::bench {
namespace {

constexpr std::size_t kMapBytes = std::size_t{64} << 30U;  // of addresses
constexpr std::uint32_t kLoadedAtOnce = 500'000;

base::Status status_of(int code, std::string_view doing) {
  if (code == 0) return {};
  return base::fail(base::ErrorCode::kIo, "LMDB cannot {}: {}", doing, ::mdb_strerror(code));
}

class LmdbStore final : public SatStore {
 public:
  explicit LmdbStore(const SatSetting& setting) : setting_(setting) {}
  LmdbStore(const LmdbStore&) = delete;
  LmdbStore& operator=(const LmdbStore&) = delete;
  ~LmdbStore() override { close(); }

  base::Status load(const SatLoad& load) override {
    RETURN_IF_ERROR(open_file());
    std::string body;
    char key[16];
    std::uint32_t loaded = 0;
    RETURN_IF_ERROR(begin());
    for (const std::uint32_t seq : sorted_by_key(load.records())) {
      make_key(SatLoad::id_of(seq), key);
      load.make_body(seq, &body);
      MDB_val name{sizeof key, key};
      MDB_val value{body.size(), body.data()};
      RETURN_IF_ERROR(
          status_of(::mdb_put(transaction_, records_, &name, &value, MDB_APPEND), "put"));
      if (++loaded % kLoadedAtOnce != 0) continue;
      RETURN_IF_ERROR(commit());
      RETURN_IF_ERROR(begin());
    }
    return commit();
  }

  base::Status open(const SatLoad& load) override {
    step_minutes_ = load.step_minutes();
    return open_file();
  }

  base::Status run_step(std::uint32_t step, const std::vector<std::uint32_t>& due,
                        SatSum* sum) override {
    RETURN_IF_ERROR(begin());
    MDB_cursor* cursor = nullptr;
    RETURN_IF_ERROR(status_of(::mdb_cursor_open(transaction_, records_, &cursor), "make a cursor"));
    const std::uint32_t minute = (step + 1) * step_minutes_;
    std::string body;
    char key[16];
    for (const std::uint32_t seq : sorted_by_key(due)) {
      make_key(SatLoad::id_of(seq), key);
      MDB_val name{sizeof key, key};
      MDB_val value{};
      RETURN_IF_ERROR(status_of(::mdb_cursor_get(cursor, &name, &value, MDB_SET), "get"));
      body.assign(static_cast<const char*>(value.mv_data), value.mv_size);
      sum->visits += visit_body(body.data(), minute).visits;
      ++sum->updates;
      value = {body.size(), body.data()};
      RETURN_IF_ERROR(status_of(::mdb_cursor_put(cursor, &name, &value, MDB_CURRENT), "put"));
    }
    ::mdb_cursor_close(cursor);
    return commit();
  }

  // What is mapped cannot be dropped from the page cache.
  base::Status release_files() override {
    close();
    return open_file();
  }

 private:
  base::Status open_file() {
    RETURN_IF_ERROR(status_of(::mdb_env_create(&env_), "begin"));
    RETURN_IF_ERROR(status_of(::mdb_env_set_mapsize(env_, kMapBytes), "set its size"));
    // Neither writing through the map nor reading without looking ahead was faster: every sixth
    // page or so has what is due in a step.
    constexpr unsigned kFlags = MDB_NOSUBDIR | MDB_NOLOCK;
    const std::string path = setting_.dir + "/records.mdb";
    RETURN_IF_ERROR(status_of(::mdb_env_open(env_, path.c_str(), kFlags, 0644), "open"));
    RETURN_IF_ERROR(begin());
    RETURN_IF_ERROR(status_of(::mdb_dbi_open(transaction_, nullptr, 0, &records_), "open"));
    return commit();
  }
  void close() {
    if (env_ != nullptr) ::mdb_env_close(env_);
    env_ = nullptr;
  }
  base::Status begin() {
    return status_of(::mdb_txn_begin(env_, nullptr, 0, &transaction_), "begin a transaction");
  }
  base::Status commit() { return status_of(::mdb_txn_commit(transaction_), "commit"); }

  const SatSetting setting_;
  std::uint32_t step_minutes_ = 60;
  MDB_env* env_ = nullptr;
  MDB_txn* transaction_ = nullptr;
  MDB_dbi records_ = 0;
};

}  // namespace

std::unique_ptr<SatStore> make_lmdb_store(const SatSetting& setting) {
  return std::make_unique<LmdbStore>(setting);
}

}  // namespace meguri::bench
