// SnapshotWarc: the content of a snapshot as one WARC file that needs no other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "archive/byte_sink.h"
#include "archive/external_sort.h"
#include "archive/index_entry.h"
#include "archive/index_file.h"
#include "archive/snapshot_item.h"
#include "archive/warc_record.h"
#include "base/result.h"
#include "base/time.h"
#include "env/file_system.h"

namespace meguri::archive {

// A record that was written. Borrowed: dies when the call returns that it is given to.
struct WrittenRecord {
  // What an index of the file has of it; `place` is where it stands in there, its file 0.
  const IndexEntry& entry;
  // Of an HTML page with status 200, where pages were asked for; else empty.
  bool is_page = false;
  std::string_view title = {};  // may be empty; at most web::kTitleBytesMax
  std::string_view text = {};   // the beginning of its source, as UTF-8
};

// A record that was asked for and is not in the file.
struct LostRecord {
  std::string path;  // of the source file
  std::uint64_t offset = 0;
  std::string reason;  // for people, without an end: "it is damaged"
};

struct SnapshotWarcEvents {
  // For each record but the warcinfo, in the order of the file. An error ends the writing.
  std::function<base::Status(const WrittenRecord& record)> written = {};
  std::function<void(const LostRecord& record)> lost = {};
};

struct SnapshotWarcOptions {
  std::string archive;       // the folder that paths of files are in
  std::string scratch;       // a folder for temporary files, on a disk with room
  std::string name;          // of the file that is written
  WarcinfoFields info;       // who made it, and of what
  base::Instant date;        // when
  bool reads_pages = false;  // whether WrittenRecord tells of pages
  std::size_t sort_bytes_max = ExternalSort<int>::kBytesMax;
};

struct SnapshotWarcCounts {
  std::uint64_t copied = 0;   // members as they were
  std::uint64_t renewed = 0;  // records in members of their own
  std::uint64_t made = 0;     // responses of pages whose content is another page's record
  std::uint64_t lost = 0;     // not there, or damaged
  std::uint64_t bytes = 0;    // of the file

  std::uint64_t records() const { return copied + renewed + made; }
};

// First the items are taken, by any threads; then one thread writes. The records are in the order
// of their files and offsets, so that each source is read once, from its front on. A content that
// several items have is written once. A member that holds exactly one record is copied as it is;
// any other record becomes WARC/1.1 in a member of its own, with the fields it had. An item whose
// content is another page's becomes a response of its own: its URL, date and head, and that body.
// What is gone or failed is its own record. Memory does not grow with the records, nor with how
// many there are. Equal input makes equal files, on processors of one kind.
class SnapshotWarc {
 public:
  // The file system and `files` outlive it.
  SnapshotWarc(env::FileSystem& fs, const std::map<std::uint32_t, IndexFile>& files,
               SnapshotWarcOptions options);
  SnapshotWarc(const SnapshotWarc&) = delete;
  SnapshotWarc& operator=(const SnapshotWarc&) = delete;
  ~SnapshotWarc();

  // What one thread adds by. Thread-compatible; borrows the SnapshotWarc.
  class Intake;

  // Once, after all intakes were flushed. Errors are of our disks, of the sink and of `written`.
  base::Result<SnapshotWarcCounts> write(const ByteSink& out, const SnapshotWarcEvents& events);

 private:
  struct Lists;
  class Writing;

  env::FileSystem& fs_;
  const std::map<std::uint32_t, IndexFile>& files_;
  const SnapshotWarcOptions options_;
  const std::unique_ptr<Lists> lists_;
};

class SnapshotWarc::Intake {
 public:
  explicit Intake(SnapshotWarc& warc);
  Intake(const Intake&) = delete;
  Intake& operator=(const Intake&) = delete;
  ~Intake();

  base::Status add(const SnapshotItem& item);
  // All that was added counts. To be called before write().
  base::Status flush();

 private:
  struct Held;

  SnapshotWarc& warc_;
  const std::unique_ptr<Held> held_;
};

}  // namespace meguri::archive
