#include "archive/index_swap.h"

namespace meguri::archive {

IndexFolders::IndexFolders(const std::string& archive)
    : current(archive + "/index"),
      build(archive + "/index.build"),
      ready(archive + "/index.new"),
      old(archive + "/index.old") {}

base::Result<std::string> find_index(env::FileSystem& files, const std::string& archive) {
  const IndexFolders folders(archive);
  ASSIGN_OR_RETURN(const bool is_ready, files.exists(folders.ready));
  return is_ready ? folders.ready : folders.current;
}

base::Status declare_index_ready(env::FileSystem& files, const std::string& archive) {
  const IndexFolders folders(archive);
  RETURN_IF_ERROR(files.rename(folders.build, folders.ready));
  return files.sync_dir(archive);
}

base::Status settle_index(env::FileSystem& files, const std::string& archive,
                          const std::function<base::Status(const std::string& folder)>& remove) {
  const IndexFolders folders(archive);
  ASSIGN_OR_RETURN(const bool is_ready, files.exists(folders.ready));
  ASSIGN_OR_RETURN(bool has_old, files.exists(folders.old));
  if (is_ready) {
    ASSIGN_OR_RETURN(const bool has_current, files.exists(folders.current));
    if (has_current) {
      if (has_old) RETURN_IF_ERROR(remove(folders.old));
      RETURN_IF_ERROR(files.rename(folders.current, folders.old));
      RETURN_IF_ERROR(files.sync_dir(archive));
      has_old = true;
    }
    RETURN_IF_ERROR(files.rename(folders.ready, folders.current));
    RETURN_IF_ERROR(files.sync_dir(archive));
  }
  return has_old ? remove(folders.old) : base::Status();
}

}  // namespace meguri::archive
