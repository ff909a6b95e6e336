// IdRun: a file of ids with their sequence numbers, sorted by id; never changed once it is written.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/hash.h"
#include "base/result.h"
#include "env/block_file.h"
#include "env/file_system.h"
#include "sat/bloom_filter.h"
#include "sat/record.h"

namespace meguri::sat {

struct KnownId {
  base::Id id;
  Seq seq = 0;

  friend bool operator==(const KnownId&, const KnownId&) = default;
};

// In the place of a sequence number: the id was removed.
inline constexpr Seq kRemovedSeq = ~Seq{0};

// One of many ids that are looked for together.
struct Lookup {
  base::Id id;
  Seq seq = 0;
  bool is_found = false;
};

// Bytes that went between files and memory.
struct IdTraffic {
  std::uint64_t read_bytes = 0;
  std::uint64_t written_bytes = 0;
};

// What must be known of a run to open it.
struct RunMark {
  std::uint64_t number = 0;
  std::uint64_t ids = 0;
  std::uint64_t size = 0;  // of the file
  std::uint32_t block_ids = 0;

  friend bool operator==(const RunMark&, const RunMark&) = default;
};

inline constexpr std::string_view kRunSuffix = ".ids";
inline constexpr std::uint32_t kBlockIdsMax = 1U << 16U;

// A block of a run in memory; views of its bytes. Numbers are little-endian: first the high halves
// of all ids, then the low ones, then the sequence numbers, so that searching touches little.
class RunBlock {
 public:
  RunBlock() = default;
  RunBlock(std::string_view payload, std::uint32_t ids) : payload_(payload), ids_(ids) {}

  static constexpr std::size_t kIdBytes = 8 + 8 + 4;

  std::uint32_t ids() const { return ids_; }
  std::uint64_t high(std::size_t at) const;
  std::uint64_t low(std::size_t at) const;
  Seq seq(std::size_t at) const;
  KnownId operator[](std::size_t at) const { return {{high(at), low(at)}, seq(at)}; }
  // The first one from `at` on that is not before `id`.
  std::size_t lower_bound(std::size_t at, const base::Id& id) const;

 private:
  std::string_view payload_;
  std::uint32_t ids_ = 0;
};

// What looking up needs while it lasts; kept by whoever asks, for the next time.
struct LookupScratch {
  struct Wanted {
    std::uint32_t lookup;
    std::uint32_t block;
  };
  std::vector<Wanted> wanted;
  std::string bytes;

  std::size_t memory_bytes() const { return wanted.capacity() * sizeof(Wanted) + bytes.capacity(); }
};

// In memory are the first id of each block and a filter of all ids. Thread-compatible.
class IdRun {
 public:
  // kCorrupt: the file is not what the mark says.
  static base::Result<std::unique_ptr<IdRun>> open(env::FileSystem& files, const std::string& dir,
                                                   const RunMark& mark, IdTraffic& traffic);

  const RunMark& mark() const { return mark_; }
  bool may_contain(const FilterKey& key) const { return filter_.may_contain(key); }

  // Reads one block at most. Removed ids are found too, as such.
  base::Result<std::optional<Seq>> find(const base::Id& id) const;
  // Looks for all that were not found yet, in one pass over the blocks that may have them. Requires
  // them sorted.
  base::Status look_up(std::span<Lookup> lookups, LookupScratch& scratch) const;

  // Its bytes and length are on the medium when it returns.
  base::Status sync();

  std::size_t memory_bytes() const;

 private:
  friend class IdRunCursor;
  friend class IdRunWriter;
  friend class KnownIdsInspector;

  using Wanted = LookupScratch::Wanted;

  IdRun(std::string path, const RunMark& mark, IdTraffic& traffic)
      : path_(std::move(path)), mark_(mark), traffic_(&traffic) {}

  std::uint64_t blocks() const { return (mark_.ids + mark_.block_ids - 1) / mark_.block_ids; }
  std::uint64_t offset_of(std::uint64_t block) const;  // of the one behind the last: of the index
  base::Status read_index();
  base::Status read_index_part(std::uint64_t& at, std::uint64_t& part, env::Block& block,
                               env::BlockView& view) const;
  std::optional<std::size_t> block_of(const base::Id& id, std::size_t from) const;
  base::Status read_blocks(std::uint64_t begin, std::uint64_t end, std::string* bytes) const;
  // Of the bytes of blocks from `first` on.
  base::Result<RunBlock> block_in(std::string_view bytes, std::uint64_t first,
                                  std::uint64_t block) const;
  base::Status look_up_in(std::span<Lookup> lookups, std::span<const Wanted> wanted,
                          std::string* bytes) const;
  std::unexpected<base::Error> damaged(std::uint64_t at, std::string_view why) const;

  const std::string path_;
  RunMark mark_;
  IdTraffic* traffic_;
  std::unique_ptr<env::ReadableFile> file_;
  std::unique_ptr<env::WritableFile> unsynced_;
  std::vector<base::Id> firsts_;  // of each block
  BloomFilter filter_;
};

// Reads a run from its first id to its last. Thread-compatible.
class IdRunCursor {
 public:
  explicit IdRunCursor(const IdRun& run) : run_(&run) {}

  // Requires that the last next() has said that there is one.
  const KnownId& now() const { return now_; }
  // The first one too. False: there is no further one.
  base::Result<bool> next() {
    if (++at_ < block_.ids()) {
      now_ = block_[at_];
      return true;
    }
    return next_block();
  }

  std::size_t memory_bytes() const { return bytes_.capacity(); }

 private:
  base::Result<bool> next_block();

  const IdRun* run_;
  std::string bytes_;
  std::uint64_t first_ = 0;  // block in bytes_
  std::uint64_t end_ = 0;    // behind the last block in bytes_
  std::uint64_t next_ = 0;   // block
  RunBlock block_;
  std::size_t at_ = 0;
  KnownId now_;
};

// Writes a run. What was written is unknown to all but the writer until finish().
// Thread-compatible.
class IdRunWriter {
 public:
  // `ids_max` and the bits for each id are the size of the filter.
  static base::Result<std::unique_ptr<IdRunWriter>> create(
      env::FileSystem& files, std::string dir, std::uint64_t number, std::uint64_t ids_max,
      double bits_per_id, std::uint32_t block_ids, IdTraffic& traffic);

  // Requires that it comes behind all that were added.
  base::Status add(const KnownId& known);
  // What was written so far.
  base::Status sync() { return file_->sync(); }
  // The run, which is not synced yet. The writer is of no use any more.
  base::Result<std::unique_ptr<IdRun>> finish();

  std::size_t memory_bytes() const;

 private:
  IdRunWriter(env::FileSystem& files, std::string dir, std::uint64_t ids_max, double bits_per_id)
      : files_(files), dir_(std::move(dir)), filter_(ids_max, bits_per_id) {}

  void end_block();
  base::Status write_index();
  base::Status write_index_part(std::uint32_t count, env::Block& block);
  base::Status write_pending();

  env::FileSystem& files_;
  const std::string dir_;
  std::unique_ptr<env::WritableFile> file_;
  RunMark mark_;
  IdTraffic* traffic_ = nullptr;
  BloomFilter filter_;
  std::vector<base::Id> firsts_;
  std::vector<KnownId> ids_;     // of the block that is not full yet
  std::vector<FilterKey> keys_;  // of these
  env::Block block_;
  std::string pending_;
  std::uint64_t parts_ = 0;  // of the index
};

}  // namespace meguri::sat
