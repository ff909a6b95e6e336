// Segments: where the bytes of buckets lie on disk. Whatever bucket they belong to, they are
// appended to one file after another, so that writing is sequential and one sync makes all of it
// durable; what is no longer needed is punched out. To measure what that is worth, every bucket can
// have a file of its own, as in the paper.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "env/block_file.h"
#include "env/file_system.h"
#include "sat/time_layout.h"

namespace meguri::sat {

// Bytes of one bucket that were written together: a block (docs/formats/blocks.md) whose number is
// the slot.
struct Extent {
  std::uint32_t segment = 0;
  std::uint32_t bytes = 0;  // without the header
  std::uint64_t offset = 0;
  std::uint32_t records = 0;

  friend bool operator==(const Extent&, const Extent&) = default;
};

struct SegmentOptions {
  std::uint64_t bytes_max = std::uint64_t{256} << 20U;  // of a file; then the next begins
  bool has_one_per_slot = false;  // what is appended to a slot goes to a file of this slot, at once
  bool aligns_extents = false;  // each begins at a multiple of kBlockBytes, as the paper's pages do
  // Free pieces smaller than this are not punched out before there is something free beside them,
  // or their sum is a sixteenth of what is in use and 64 times this: every piece costs the file
  // system a change of its own, two milliseconds where the disk is told of it at once (`discard`).
  std::uint64_t punch_bytes_min = std::uint64_t{256} << 10U;
};

// Files DIR/0000000000000001.seg and so on. An extent is in one file; its header tells the slot,
// length and checksum, so that the files can be checked without anything else.
//
// Nothing is freed before a checkpoint that does without it is durable: release() says what the
// next checkpoint does not need, mark() what belongs to it, and forget() frees what had been
// released by then. Thread-compatible.
class Segments {
 public:
  static constexpr std::size_t kHeaderBytes = env::Block::kHeaderBytes;
  static constexpr std::uint64_t kBlockBytes = 4096;  // what can be punched
  static constexpr std::size_t kPendingBytesMax = std::size_t{1} << 20U;

  // `state` is what mark() returned; empty: there is nothing yet. Files are cut to what they had
  // then, and later ones removed. `live` are the extents that are in use: the rest is freed.
  static base::Result<std::unique_ptr<Segments>> open(env::FileSystem& files, std::string dir,
                                                      const SegmentOptions& options,
                                                      std::string_view state,
                                                      const std::vector<Extent>& live);

  // `fill` appends the bytes of the extent to what it is given, and nothing else. They are written
  // with what follows, when there is enough of it.
  base::Result<Extent> append(Slot slot, std::uint32_t records,
                              const std::function<void(std::string&)>& fill);
  base::Result<Extent> append(Slot slot, std::string_view bytes, std::uint32_t records);
  // Hands what was appended to the system.
  base::Status write_pending();
  // The bytes, which are in `*buffer`. kCorrupt: they are not those that were written, or of
  // another slot.
  base::Result<std::string_view> read(Slot slot, const Extent& extent, std::string* buffer);
  // Says that an extent will be read soon. Only a hint.
  void will_read(const Extent& extent);

  void release(const Extent& extent);

  // Syncs all, and returns what open() needs to come back to here.
  base::Result<std::string> mark();
  // The last mark() is durable: frees what was released before it.
  base::Status forget();

  std::uint64_t bytes_live() const { return bytes_live_; }          // of extents not released
  std::uint64_t bytes_released() const { return bytes_released_; }  // since the last mark
  std::uint64_t bytes_on_disk() const;  // about, punched blocks taken off

 private:
  struct FreeRange {
    std::uint64_t end = 0;
    std::uint64_t kept = 0;  // bytes of it, about, that were not punched out
  };
  struct Segment {
    std::uint64_t size = 0;
    std::map<std::uint64_t, FreeRange> freed;  // by where they begin; they do not touch
  };

  Segments(env::FileSystem& files, std::string dir, const SegmentOptions& options)
      : files_(files), dir_(std::move(dir)), options_(options) {}

  std::string path_of(std::uint32_t segment) const;
  base::Status restore(std::string_view state, const std::vector<Extent>& live);
  base::Status cut_all(const std::vector<Extent>& live);
  base::Status remove_others();
  base::Status begin_segment();
  base::Status align_end();
  base::Status begin_segment_of(Slot slot);
  void close_segment_of_slot(std::uint32_t segment);
  bool is_written(std::uint32_t segment) const;  // or may be
  base::Status free_range(std::uint32_t index, std::uint64_t begin, std::uint64_t end);
  base::Status punch(std::uint32_t index, std::uint64_t begin, FreeRange& range);
  base::Status punch_all_at_least(std::uint64_t bytes);
  base::Result<env::ReadableFile*> reader_of(std::uint32_t segment);

  env::FileSystem& files_;
  const std::string dir_;
  const SegmentOptions options_;
  std::map<std::uint32_t, Segment> segments_;
  std::uint32_t last_ = 0;                   // the highest number ever used; 0: none
  std::uint32_t written_ = 0;                // the segment that is appended to
  std::unique_ptr<env::WritableFile> file_;  // of it; nullptr: there is none
  std::set<std::uint32_t> unsynced_;         // segments that are not open, and were not synced yet
  bool has_new_names_ = false;
  std::map<std::uint32_t, std::unique_ptr<env::ReadableFile>> readers_;
  std::vector<Extent> released_;  // since the last mark
  std::vector<Extent> to_free_;   // before it
  std::uint64_t bytes_live_ = 0;
  std::uint64_t bytes_released_ = 0;
  std::uint64_t bytes_kept_ = 0;  // of free ranges
  std::string pending_;           // the end of that segment, not yet in its file
  // If each slot has a segment: those that are appended to, and their slots.
  std::unordered_map<Slot, std::uint32_t> segment_of_slot_;
  std::unordered_map<std::uint32_t, Slot> slot_of_segment_;
};

}  // namespace meguri::sat
