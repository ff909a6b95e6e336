// IdStore: a Store whose records are found by their ids, with KnownIds beside it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/hash.h"
#include "base/result.h"
#include "base/time.h"
#include "env/file_system.h"
#include "sat/known_ids.h"
#include "sat/record.h"
#include "sat/store.h"

namespace meguri::sat {

struct IdStoreOptions {
  StoreOptions store = {};
  KnownIdsOptions known = {};
};

// What happens to both happens here, and both become durable together; all else is asked of them
// directly. Thread-compatible.
class IdStore {
 public:
  struct Found {
    Record record;  // without its body
    std::string body;
  };

  // As Store::open(); the files of each are in a folder of their own under `dir`.
  static base::Result<std::unique_ptr<IdStore>> open(env::FileSystem& files, const std::string& dir,
                                                     const IdStoreOptions& options,
                                                     std::string_view position, base::Instant now);

  // Where the Store of such a folder is, and its part of a position, for who only looks at it.
  static std::string store_dir(const std::string& dir) { return dir + "/records"; }
  static std::string_view store_position(std::string_view position);

  Store& store() { return *store_; }
  const Store& store() const { return *store_; }
  KnownIds& known() { return *known_; }
  const KnownIds& known() const { return *known_; }

  // As Store has them. Require that the id is not known.
  base::Result<Seq> add(const base::Id& id, std::uint8_t schema, std::string_view body,
                        base::Instant due);
  base::Result<Record> add_out(const base::Id& id, std::uint8_t schema, std::string_view body);

  // These look the id up at once, with a read for each run at most. kNotFound: it is not known.
  base::Status send(const base::Id& id, std::string_view message);
  base::Status pull(const base::Id& id, base::Instant due);
  base::Status remove(const base::Id& id);
  // Nullopt: it is not known. Reads the record's bucket: for people.
  base::Result<std::optional<Found>> find(const base::Id& id);

  // As Store has them.
  base::Result<std::string> commit();
  base::Status on_durable();

 private:
  base::Result<Seq> seq_of(const base::Id& id);

  std::unique_ptr<Store> store_;
  std::unique_ptr<KnownIds> known_;
};

}  // namespace meguri::sat
