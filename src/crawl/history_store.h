// HistoryStore: the visits of all pages before this crawl, page by page, whatever order their files
// had them in. docs/formats/history.md describes its keys.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "crawl/history_visit.h"
#include "crawl/page_history.h"
#include "crawl/page_record.h"
#include "env/file_system.h"
#include "env/ordered_store.h"

namespace meguri::crawl {

// Filled file by file, and then read page by page. Filling goes on after a crash where it was: a
// file is there whole, or counts as not read. Thread-compatible.
class HistoryStore {
 public:
  // `dir` is where the store has its files.
  static base::Result<std::unique_ptr<HistoryStore>> open(env::FileSystem& files, std::string dir,
                                                          std::unique_ptr<env::OrderedStore> store);

  // --- Filling. A file is known by its path and size.
  base::Result<bool> has_file(const std::string& path, std::uint64_t bytes) const;
  base::Status begin_file(const std::string& path);  // before anything of it is added
  base::Status add(const HistoryVisit& visit);
  base::Status add_file(const std::string& path, std::uint64_t bytes);  // all of it was added
  // All that it has visits of, wholly or not.
  base::Result<std::vector<std::string>> files() const;
  // All files are there; from now on it is only read. `name` is one that no other store has.
  base::Status complete(std::string_view name);
  // It is to be filled with more. Requires that nothing was read from it.
  base::Status reopen();

  // Empty: it is not complete.
  const std::string& name() const { return name_; }

  // --- Reading, in the order of page ids.
  struct Page {
    PageRecord record;
    std::string place;
  };
  // The first page behind a place, or of all if that is empty, whose visits tell anything. Nullopt:
  // there are no more. Requires that it is complete.
  base::Result<std::optional<Page>> next(std::string_view place, PageHistory& history);

  // Removes its files. It must not be used any more.
  base::Status discard();

 private:
  HistoryStore(env::FileSystem& files, std::string dir, std::unique_ptr<env::OrderedStore> store)
      : files_(files), dir_(std::move(dir)), store_(std::move(store)) {}

  base::Status put(std::string_view key, std::string_view value);
  base::Status write();

  env::FileSystem& files_;
  const std::string dir_;
  std::unique_ptr<env::OrderedStore> store_;
  std::string name_;
  env::StoreBatch batch_;
  std::size_t batch_bytes_ = 0;
  std::unique_ptr<env::StoreCursor> cursor_;
  std::string read_to_;  // the place that the cursor has come to
};

}  // namespace meguri::crawl
