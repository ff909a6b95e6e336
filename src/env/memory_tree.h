// MemoryTree: the files and folders of a MemoryFileSystem, and which of them are on the medium.
// Knows nothing of open files, locks and threads: MemoryFileSystem guards it.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "env/random.h"

namespace meguri::env {

// A file or a folder. Shared by the name it has now, the name it has on the medium, changes of
// names that wait for a sync, and open files.
struct MemoryNode {
  bool is_folder = false;

  // Of a file. The medium holds the first `synced` bytes, but zeros instead of the `lost` ranges
  // [begin, end), whose sync failed.
  std::string bytes;
  std::size_t synced = 0;
  std::vector<std::pair<std::size_t, std::size_t>> lost;
  std::int64_t changed = 0;  // which change of the tree it was last written by
  bool is_linked = true;     // false: removed or replaced, but perhaps still open

  // Of a folder: what programs see, and what is on the medium.
  std::map<std::string, std::shared_ptr<MemoryNode>> names;
  std::map<std::string, std::shared_ptr<MemoryNode>> durable_names;
};

using MemoryNodePtr = std::shared_ptr<MemoryNode>;

// Paths are '/'-separated; a leading '/', empty parts and "." mean nothing, ".." goes up.
// Errors have the codes POSIX gives, so that tests on either file system agree.
class MemoryTree {
 public:
  MemoryTree();

  base::Result<MemoryNodePtr> find(const std::string& path) const;
  base::Result<MemoryNodePtr> find_file(const std::string& path) const;
  base::Result<MemoryNodePtr> find_folder(const std::string& path) const;

  base::Result<MemoryNodePtr> create(const std::string& path);
  base::Status rename(const std::string& from, const std::string& to);
  base::Status remove(const std::string& path);
  base::Status make_dirs(const std::string& path);
  base::Status sync_dir(const std::string& path);

  void append(MemoryNode* file, std::string_view bytes);
  void truncate(MemoryNode* file, std::size_t size);  // and syncs it
  // Fills the range with other bytes, which whoever still reads it will not expect.
  void punch(MemoryNode* file, std::size_t offset, std::size_t length);
  std::uint64_t used() const { return used_; }  // bytes of all files that have a name

  // The tree that is there after power loss. Without `random` everything that was not synced is
  // gone. With it, any of these may have happened on the way to the medium:
  //  - of each folder's unsynced changes the first few are there, in order; a rename from one
  //    folder to another is there or not, never half of it;
  //  - of each file's unsynced bytes a front part is there, perhaps followed by zeros, by garbage
  //    or by a hole of zeros and then the true bytes, never beyond where the file ended.
  MemoryTree after_crash(Random* random) const;

 private:
  // A name in a folder that gets another node, or none.
  struct Assignment {
    MemoryNodePtr folder;
    std::string name;
    MemoryNodePtr node;
  };
  // What one create, rename or remove did: all of it reaches the medium, or nothing.
  struct Change {
    std::vector<Assignment> assignments;
    bool after_all_before = false;  // reaches the medium only after every earlier change
  };
  using Names = std::map<std::string, MemoryNodePtr>;
  using ChangedFolders = std::map<const MemoryNode*, Names>;

  base::Result<Assignment> place_of(const std::string& path) const;
  base::Status check_rename(const Assignment& from, const Assignment& to,
                            const std::string& what) const;
  static std::set<const MemoryNode*> folders_of(const Change& change);
  void apply(Change change);
  void unlink(MemoryNode* node);
  void sync_folder(const MemoryNode* folder);
  ChangedFolders surviving_changes(Random* random) const;
  MemoryNodePtr survivor_of(const MemoryNode& node, const ChangedFolders& changed, Random* random,
                            std::uint64_t* used) const;

  MemoryNodePtr root_;
  std::vector<Change> pending_;  // in order; changes of names that no sync_dir() has covered
  std::uint64_t used_ = 0;
  std::int64_t changes_ = 0;  // of files' bytes, so far
};

}  // namespace meguri::env
