// SeriesIndexer: keeps the temporal index level with the WARC files of one writer.
#pragma once

#include <cstdint>
#include <deque>
#include <string>

#include "archive/file_indexer.h"
#include "archive/index_removal.h"
#include "archive/temporal_index.h"
#include "archive/warc_file.h"
#include "archive/warc_record.h"
#include "base/result.h"
#include "env/file_system.h"

namespace meguri::archive {

// What is in the index is never more than what a checkpoint declares durable: visits are held until
// their mark is. What the index lacks of it after a crash is read from the files.
// Thread-compatible. Borrows the index and the file system.
class SeriesIndexer {
 public:
  // `folder` is the one of the files as the index names it: "warc".
  SeriesIndexer(TemporalIndex& index, env::FileSystem& files, WarcSeries series,
                std::string folder);

  // The index has all entries up to the mark when it returns, and none behind it. To be called when
  // the files end there, before anything is added.
  base::Status catch_up(const WarcPosition& mark, const Look& look = {});

  // A visit was appended at a place.
  void add(const WarcPosition& begin, const MadeRecords& records);

  // All that was added before the mark, up to which the files are durable, goes into the index.
  base::Status apply(const WarcPosition& mark);
  // What was applied is durable too. Only costs time: catch_up() would read it from the files.
  base::Status flush();
  std::uint64_t unflushed_bytes() const { return unflushed_bytes_; }  // of the files

 private:
  struct Held {
    std::string file;
    IndexEntry entry;
  };

  static bool is_before(const Held& held, const WarcPosition& mark);
  std::string path_of(std::string_view name) const;
  IndexFile row_of(std::string_view name, std::uint32_t next_number) const;
  base::Status catch_up_file(const std::string& name, std::uint64_t end, const Look& look);
  base::Status drop_behind(const WarcPosition& mark, const Look& look);
  bool is_ahead(const IndexFile& file, const WarcPosition& mark) const;
  base::Status close_file(IndexBatch& batch, IndexFile& file, std::uint64_t end);

  TemporalIndex& index_;
  env::FileSystem& files_;
  const WarcSeries series_;
  const std::string folder_;
  FileIndexer indexer_;
  std::deque<Held> held_;
  std::uint64_t unflushed_bytes_ = 0;
};

}  // namespace meguri::archive
