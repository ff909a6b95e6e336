// The stores that `meguri bench sat` measures, behind one face.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "bench/sat_load.h"

namespace meguri::bench {

// What a store needs to know.
struct SatSetting {
  std::string dir;                 // its own
  std::uint64_t memory_bytes = 0;  // for all caches and buffers together
  std::uint64_t pool_bytes = 0;    // of SAT's buffers
  std::size_t page_bytes = 0;      // of these; 0: as the store has it by itself
  bool has_messages = false;       // every record gets one before it is due
  // Ours only: it can be run again from where loading ended, which keeps what it has replaced.
  bool keeps_start = false;
  bool writes_through = false;  // ours only: nothing is held back by the system
  bool restarts = false;        // ours only: after all steps it is killed, and opened again
};

// What a step did; the same for all stores.
struct SatSum {
  std::uint64_t updates = 0;
  std::uint64_t visits = 0;    // the sum of the counters that were read
  std::uint64_t messages = 0;  // handed out
};

// One thread calls. load() and the rest happen in different processes.
class SatStore {
 public:
  virtual ~SatStore() = default;

  virtual base::Status load(const SatLoad& load) = 0;
  virtual base::Status open(const SatLoad& load) = 0;
  // Before a step, not measured: the messages of what is due in it.
  virtual base::Status send_messages(const std::vector<std::uint32_t>& /*due*/) { return {}; }
  // Reads, changes and schedules anew all that is due in step n, which are the records `due`. What
  // it promises to keep after a crash is kept when it returns.
  virtual base::Status run_step(std::uint32_t step, const std::vector<std::uint32_t>& due,
                                SatSum* sum) = 0;
  // Forgets all that is in memory, as a kill does, and comes back to the end of the last step.
  virtual base::Status reopen(const SatLoad& load);
  // Lets go of what keeps files in the page cache.
  virtual base::Status release_files() { return {}; }
};

// nullptr: there is no store of this name.
std::unique_ptr<SatStore> make_sat_store(std::string_view name, const SatSetting& setting);
// Of this project: sat; sat-sort, which sorts each bucket as the paper does; basic; naive; and what
// makes the difference between the first and the last: sat-files, with a file for each bucket as
// the paper has it, and naive-in-turn, whose pages go to one file as those of sat do. What one of
// them but basic has loaded, the others can run.
std::unique_ptr<SatStore> make_own_store(std::string_view name, const SatSetting& setting);
// What bdb has loaded, bdb-ro can run and leaves as it was.
std::unique_ptr<SatStore> make_bdb_store(bool is_read_only, const SatSetting& setting);
std::unique_ptr<SatStore> make_lmdb_store(const SatSetting& setting);
// By id; or by (due, id), which the paper did not try.
std::unique_ptr<SatStore> make_rocksdb_store(bool is_by_due, const SatSetting& setting);

// Keys as peers have them: 16 bytes that sort as the ids do.
void make_key(const base::Id& id, char* key);
// All records, in the order of their keys; and those due.
std::vector<std::uint32_t> sorted_by_key(std::uint32_t records);
std::vector<std::uint32_t> sorted_by_key(std::vector<std::uint32_t> seqs);

}  // namespace meguri::bench
