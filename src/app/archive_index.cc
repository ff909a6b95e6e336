#include "app/archive_index.h"

#include <utility>

#include "env/ordered_store.h"

namespace meguri::app {

base::Result<std::unique_ptr<archive::TemporalIndex>> open_archive_index(
    env::FileSystem& files, const std::string& archive) {
  const std::string dir = archive + "/index";
  ASSIGN_OR_RETURN(const bool exists, files.exists(dir + "/CURRENT"));
  if (!exists) {
    return base::fail(base::ErrorCode::kNotFound, "{} has no index; is it an archive?", archive);
  }
  ASSIGN_OR_RETURN(auto store, env::open_rocksdb_store(dir, {.read_only = true}));
  return archive::TemporalIndex::open(std::move(store));
}

std::string path_of(const archive::IndexFile& file, const std::string& archive) {
  return file.path.starts_with('/') ? file.path : archive + "/" + file.path;
}

}  // namespace meguri::app
