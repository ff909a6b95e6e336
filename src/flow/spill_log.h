// SpillLog: the files behind a spilling edge: blocks of records, numbered, in order.
// The format is described in docs/formats/spill.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "env/block_file.h"
#include "env/file_system.h"

namespace meguri::flow {

// Where a log stood at an epoch: the records [read, write) are waiting, the last of them in the
// segment that begins with record `segment`, whose first `segment_bytes` bytes count. Zero bytes:
// no file is needed.
struct SpillMark {
  std::uint64_t read = 0;
  std::uint64_t write = 0;
  std::uint64_t segment = 0;
  std::uint64_t segment_bytes = 0;

  std::string encode() const;
  static std::optional<SpillMark> decode(std::string_view bytes);
  friend bool operator==(const SpillMark&, const SpillMark&) = default;
};

// Records with consecutive numbers on their way to or from a log.
class SpillBlock {
 public:
  explicit SpillBlock(std::uint64_t first = 0) : first_(first) {}

  void add(std::string_view record);
  void renumber(std::uint64_t first) { first_ = first; }
  void restart(std::uint64_t first);  // empty again, with the memory it has
  std::uint64_t first() const { return first_; }
  std::uint64_t end() const { return first_ + count_; }
  bool empty() const { return count_ == 0; }
  std::size_t bytes() const { return block_.size(); }  // as on disk

  // Calls `use(number, bytes)` for each record, in order; false if the bytes are no such block.
  template <typename Use>
  bool for_each(Use use) const {
    std::string_view rest = block_.payload();
    for (std::uint64_t number = first_; number < end(); ++number) {
      std::string_view record;
      if (!take_record(rest, record)) return false;
      use(number, record);
    }
    return rest.empty();
  }

 private:
  friend class SpillLog;
  static bool take_record(std::string_view& rest, std::string_view& record);

  std::uint64_t first_;
  std::uint32_t count_ = 0;
  env::Block block_;
};

// What was found wrong with the files. Unacknowledged bytes are cut; damaged blocks are skipped.
struct SpillDamage {
  std::uint64_t bytes_cut = 0;        // behind the mark: never acknowledged
  std::uint64_t records_damaged = 0;  // acknowledged, and lost to the medium
};

// Appends at the end, reads from the front; block numbers only grow. Thread-compatible.
class SpillLog {
 public:
  static constexpr std::size_t kSegmentBytes = 64U << 20U;

  // Opens the log in folder `dir`, which is made if missing, as it stood at `mark`; whatever came
  // after the mark is cut. Without a mark it starts empty.
  static base::Result<std::unique_ptr<SpillLog>> open(env::FileSystem& files, std::string dir,
                                                      const std::optional<SpillMark>& mark,
                                                      std::size_t segment_bytes = kSegmentBytes);

  // The block is only sealed: it holds what it held.
  base::Status append(SpillBlock& block);
  // Appends a block whose records the caller still has: read_next() passes over it. Only while
  // drained().
  base::Status append_read(SpillBlock& block);
  base::Status sync();  // all that was appended, and the names of its files

  // The next block in order, or nullopt when all were read. A block may begin before the mark's
  // first waiting record.
  base::Result<std::optional<SpillBlock>> read_next();
  // All appended records were read.
  bool drained() const { return read_until_ >= end_; }

  // Forgets the records before `number`; removes files that hold nothing else.
  base::Status release_before(std::uint64_t number);

  // The mark of the records [read, write): valid once sync() has returned.
  SpillMark mark(std::uint64_t read, std::uint64_t write) const;

  const SpillDamage& damage() const { return damage_; }
  std::uint64_t bytes() const;  // of all files

 private:
  struct Segment {
    std::uint64_t first = 0;
    std::uint64_t end = 0;    // one past its last record; known once read or written
    std::uint64_t bytes = 0;  // those that count
  };

  SpillLog(env::FileSystem& files, std::string dir, std::size_t segment_bytes)
      : files_(files), dir_(std::move(dir)), segment_bytes_(segment_bytes) {}

  base::Status recover(const std::optional<SpillMark>& mark);
  base::Status keep_segment(std::uint64_t first, const SpillMark& mark);
  base::Status open_segment(std::uint64_t first);
  base::Result<std::optional<SpillBlock>> read_block(Segment& segment);
  void skip_segment(const Segment& segment, env::BlockState why);
  std::string path_of(std::uint64_t first) const;

  env::FileSystem& files_;
  const std::string dir_;
  const std::size_t segment_bytes_;
  std::deque<Segment> segments_;
  std::uint64_t end_ = 0;  // one past the last record appended

  std::unique_ptr<env::WritableFile> writer_;                 // appends to segments_.back()
  std::vector<std::unique_ptr<env::WritableFile>> unsynced_;  // full, not yet synced
  bool names_unsynced_ = false;

  std::unique_ptr<env::ReadableFile> reader_;
  std::size_t reading_ = 0;  // index into segments_
  std::uint64_t read_offset_ = 0;
  std::uint64_t read_until_ = 0;  // one past the last record read

  SpillDamage damage_;
};

}  // namespace meguri::flow
