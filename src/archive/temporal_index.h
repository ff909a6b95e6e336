// TemporalIndex: the entries of all visits to all pages of an archive, by URL and time, and the
// files that their records are in. docs/formats/index.md describes its keys.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "archive/file_list.h"
#include "archive/index_entry.h"
#include "archive/index_file.h"
#include "archive/removals.h"
#include "base/result.h"
#include "env/ordered_store.h"

namespace meguri::archive {

// Changes that are applied together.
class IndexBatch {
 public:
  void add(const IndexEntry& entry);
  void add(std::string_view key, std::string_view value);  // an entry as it stands in an index
  void remove(std::string_view key) { batch_.remove(key); }
  void set(const IndexFile& file);
  void remove_file(std::uint32_t number);
  // Numbers below are not given any more.
  void set_next_number(std::uint32_t number) { next_number_ = number; }
  void clear();

  // Those that were added.
  void for_each_entry(
      const std::function<void(std::string_view key, std::string_view value)>& use) const;

  bool empty() const { return batch_.empty(); }
  std::size_t bytes() const { return bytes_; }  // of keys and values

 private:
  friend class TemporalIndex;
  env::StoreBatch batch_;
  std::vector<IndexFile> files_;
  std::vector<std::uint32_t> removed_files_;
  std::uint32_t next_number_ = 0;
  std::size_t bytes_ = 0;
};

// All that it holds can be derived from the files again; what was not flushed when the power went
// is, from where `indexed_to` of each file says. One writer. Thread-compatible, and cursors belong
// to the thread that made them.
// Asked now and then whether to go on; an error ends it.
using Look = std::function<base::Status()>;

class TemporalIndex {
 public:
  // kCorrupt: what is in the store is no index, or of another version.
  // Whoever fills it leaves out the `removals`. `list` is kept level with its files; null: none is.
  static base::Result<std::unique_ptr<TemporalIndex>> open(std::unique_ptr<env::OrderedStore> store,
                                                           Removals removals = {},
                                                           std::unique_ptr<FileList> list = {});

  const Removals& removals() const { return removals_; }

  // By their numbers.
  const std::map<std::uint32_t, IndexFile>& files() const { return files_; }
  const IndexFile* file(std::uint32_t number) const;        // null: there is none
  const IndexFile* find_file(std::string_view path) const;  // likewise
  // A number that no file had before.
  std::uint32_t next_number() const { return next_number_; }

  base::Status write(const IndexBatch& batch);
  base::Status flush();
  // kCorrupt: something in its files is not as it was written.
  base::Status check() const { return store_->check(); }

  // Over all keys; entries are those from kEntryKeyPrefix on (index_entry.h).
  std::unique_ptr<env::StoreCursor> cursor() const { return store_->cursor(); }
  // The entries whose keys begin with `front`, or all, as the index was when it is called. An error
  // of `use` ends it.
  using UseEntry = std::function<base::Status(std::string_view key, std::string_view value)>;
  base::Status for_each_entry(std::string_view front, const UseEntry& use,
                              const Look& look = {}) const;
  base::Status for_each_entry(const UseEntry& use, const Look& look = {}) const {
    return for_each_entry(std::string_view(&kEntryKeyPrefix, 1), use, look);
  }
  // On disk, between two keys; nearly.
  std::uint64_t approximate_bytes(std::string_view begin, std::string_view end) const {
    return store_->approximate_bytes(begin, end);
  }
  // All entries of one exact URL, newest first.
  base::Result<std::vector<IndexEntry>> entries_of(std::string_view url) const;

 private:
  TemporalIndex(std::unique_ptr<env::OrderedStore> store, Removals removals,
                std::unique_ptr<FileList> list)
      : store_(std::move(store)), removals_(std::move(removals)), list_(std::move(list)) {}

  base::Status load();
  base::Status write_list(const IndexBatch& batch);
  void note(const IndexFile& file);

  const std::unique_ptr<env::OrderedStore> store_;
  const Removals removals_;
  const std::unique_ptr<FileList> list_;
  std::map<std::uint32_t, IndexFile> files_;
  std::map<std::string, std::uint32_t, std::less<>> numbers_;  // by path
  std::uint32_t next_number_ = 1;
};

}  // namespace meguri::archive
