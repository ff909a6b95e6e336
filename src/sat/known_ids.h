// KnownIds: which ids are known, and their sequence numbers; more of them than fit in memory.
//
// Almost every candidate that comes is known, and the same ones come again and again. So an id is
// looked for in a cache of those asked for of late, then in filters, which know most new ids for
// new. What is left waits until a batch of it has come: then the batch is sorted and sieved, in one
// pass over the sorted files in which all ids are. docs/formats/sat.md describes the files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "env/file_system.h"
#include "sat/bloom_filter.h"
#include "sat/id_cache.h"
#include "sat/id_log.h"
#include "sat/id_merge.h"
#include "sat/id_run.h"
#include "sat/record.h"

namespace meguri::sat {

struct KnownIdsOptions {
  std::size_t cache_bytes = std::size_t{32} << 20U;
  double filter_bits = 5;  // for each id
  // False, paper 004's way: what the filters hold for known counts as known, at once and without
  // its sequence number; a few new ids are taken for known.
  bool is_exact = true;
  std::uint32_t block_ids = 400;
  // A batch is a 40th of all ids, so that a waiting id costs the same however many are known; what
  // is fresh becomes a run at a 512th of them. These are the least numbers.
  std::uint32_t batch_min = 16'384;
  std::uint32_t fresh_min = 2'048;
};

struct IdAnswer {
  std::uint64_t tag = 0;  // of who asked
  bool is_known = false;
  Seq seq = 0;  // if it is known; kNoSeq: nobody looked
};
inline constexpr Seq kNoSeq = kRemovedSeq;

struct KnownIdsCounts {
  std::uint64_t ids = 0;  // in files and fresh ones; those removed or added twice may count too
  std::uint64_t asked = 0;
  std::uint64_t in_cache = 0;   // of these: answered by the cache, or because they are fresh
  std::uint64_t in_filter = 0;  // new, by the filters
  std::uint64_t waited = 0;
  std::uint64_t sieves = 0;  // batches
  std::uint64_t merges = 0;
  std::uint64_t runs = 0;  // now
  IdTraffic traffic;
};

struct KnownIdsMemory {
  std::size_t cache = 0;    // fixed
  std::size_t runs = 0;     // filters and first ids, also of the run that is being written
  std::size_t fresh = 0;    // ids that are in no run yet
  std::size_t batch = 0;    // that waits, or is sieved
  std::size_t buffers = 0;  // bytes on their way to and from files

  std::size_t besides_cache() const { return runs + fresh + batch + buffers; }
};

// What KnownIds::commit() returns: "NUMBER LOGSIZE".
struct KnownIdsPosition {
  std::uint64_t number = 0;    // of the manifest, and of its log
  std::uint64_t log_size = 0;  // that counts

  static base::Result<KnownIdsPosition> parse(std::string_view text);
  std::string to_string() const;
};

// What commit() acknowledged is there after any crash; questions that wait are not. A failed write
// leaves it unusable until it is opened again. An answer is right when it is given: who asks twice
// and adds after the first answer is told so by the second. Thread-compatible.
class KnownIds {
 public:
  // `position` is what a commit() returned; empty: there is nothing yet.
  static base::Result<std::unique_ptr<KnownIds>> open(env::FileSystem& files, std::string dir,
                                                      const KnownIdsOptions& options,
                                                      std::string_view position);
  ~KnownIds();

  // Nullopt: it waits, and next_answer() will say.
  std::optional<IdAnswer> ask(const base::Id& id, std::uint64_t tag);
  // A batch has come: next_answer() has something to say.
  bool has_full_batch() const { return waiting_.size() >= batch_ids(); }
  // Whatever waits now is sieved, be it a batch or not.
  void settle();
  // Of what waited, in no order that means anything. Nullopt: until there is a batch, or settle().
  // About a thousand ids are sieved at a time. After an error the same ids can be tried again.
  base::Result<std::optional<IdAnswer>> next_answer();

  // An id that is known already gets this number.
  base::Status add(const base::Id& id, Seq seq);
  base::Status remove(const base::Id& id);

  // At once, with a read for each run at most. For people.
  base::Result<std::optional<Seq>> find(const base::Id& id);

  // Everything done so far is durable when it returns the position to go on from. A position is
  // good until on_durable() was called after a later commit().
  base::Result<std::string> commit();
  // The last position is known to be safe elsewhere: what only earlier ones needed goes.
  base::Status on_durable();

  KnownIdsCounts counts() const;
  KnownIdsMemory memory() const;

 private:
  friend class KnownIdsInspector;

  struct Waiting {
    base::Id id;
    std::uint64_t tag = 0;
  };
  struct IdHash {
    std::size_t operator()(const base::Id& id) const noexcept {
      return base::mix64(id.high + 3 * id.low);
    }
  };

  KnownIds(env::FileSystem& files, std::string dir, const KnownIdsOptions& options);

  std::uint64_t ids() const;  // about
  std::size_t batch_ids() const { return batch_ids_; }
  bool may_contain(const FilterKey& key) const;
  const Seq* fresh_seq(const base::Id& id, const FilterKey& key) const;

  // --- Sieving.
  base::Status sieve_some();

  // --- Changes.
  base::Status check_usable() const;
  base::Status note(base::Status status);  // that it failed, if it did
  base::Status put(const KnownId& known);
  void put_fresh(const KnownId& known);
  void tell_lookups(const KnownId& known);
  base::Status flush();
  void size_by_ids();
  base::Status begin_merge();
  base::Status merge_some(std::uint64_t ids);
  base::Status finish_merge();

  // --- Files: known_ids_files.cc.
  std::string path_of(std::string_view what, std::uint64_t number) const;
  base::Status remove_old_files() const;
  base::Status remove_other_runs() const;
  base::Status restore(std::uint64_t log_size);
  // The runs that a manifest names; nullopt: it is none, or of a version that is not known.
  static std::optional<std::vector<RunMark>> decode_manifest(std::string_view payload);
  base::Status read_manifest();
  base::Status write_manifest();
  base::Result<std::string> do_commit();

  env::FileSystem& files_;
  const std::string dir_;
  const KnownIdsOptions options_;
  IdTraffic traffic_;
  IdCache cache_;
  std::unordered_map<base::Id, Seq, IdHash> fresh_;  // in no run yet; removed ones too
  BloomFilter fresh_filter_;
  std::size_t fresh_ids_ = 0;  // at which they become a run
  std::size_t batch_ids_ = 0;

  std::vector<std::unique_ptr<IdRun>> runs_;  // from the oldest to the youngest
  std::uint64_t next_run_ = 1;
  std::unique_ptr<IdMerge> merge_;  // of the runs from merge_begin_ to merge_end_
  std::size_t merge_begin_ = 0;
  std::size_t merge_end_ = 0;
  std::uint64_t merge_due_ = 0;  // ids that additions have paid for

  std::vector<Waiting> waiting_;
  std::vector<Waiting> sieved_;  // a batch, sorted
  std::size_t sieved_until_ = 0;
  std::vector<Lookup> lookups_;  // of those that were sieved last, up to sieved_until_
  std::size_t lookup_at_ = 0;    // the first that was not answered
  bool must_settle_ = false;
  LookupScratch scratch_;

  std::unique_ptr<IdLog> log_;
  std::uint64_t number_ = 0;  // of the last manifest
  bool runs_changed_ = false;
  std::vector<std::uint64_t> released_;   // runs, since the last manifest
  std::vector<std::uint64_t> to_remove_;  // before it
  bool has_old_files_ = false;
  base::Status status_;  // of the first write that failed
  KnownIdsCounts counts_;
};

}  // namespace meguri::sat
