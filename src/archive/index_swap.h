// Where the temporal index of an archive is, and how another takes its place.
#pragma once

#include <functional>
#include <string>

#include "base/result.h"
#include "env/file_system.h"

namespace meguri::archive {

// Folders of an archive. Their names alone say how far a change of the index is, so that it can be
// ended after a crash at any moment:
struct IndexFolders {
  explicit IndexFolders(const std::string& archive);

  std::string current;  // "index": the index, if there is none at `ready`
  std::string build;    // "index.build": one that is being made
  std::string ready;    // "index.new": one that is whole and durable, and takes the place of it
  std::string old;      // "index.old": one whose place was taken
};

// The folder that counts, for whoever only reads; it may not exist.
base::Result<std::string> find_index(env::FileSystem& files, const std::string& archive);

// What was built is whole, and counts from now on. Requires that it is durable and closed.
base::Status declare_index_ready(env::FileSystem& files, const std::string& archive);

// Ends a change that was declared, and removes what is left of the old index; does nothing if there
// is none. For whoever holds the archive's lock, before the index is opened. `remove` removes a
// folder.
base::Status settle_index(env::FileSystem& files, const std::string& archive,
                          const std::function<base::Status(const std::string& folder)>& remove);

}  // namespace meguri::archive
