// IdMerge: makes one run of several, a part at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/result.h"
#include "sat/id_run.h"

namespace meguri::sat {

// Of an id that several runs have, the youngest run's counts. The runs outlive the merge.
// Thread-compatible.
class IdMerge {
 public:
  // `runs` from the oldest to the youngest. Removed ids are kept as such, unless `has_oldest` says
  // that no older run could still have them.
  static base::Result<std::unique_ptr<IdMerge>> begin(std::vector<const IdRun*> runs,
                                                      bool has_oldest,
                                                      std::unique_ptr<IdRunWriter> writer);

  // Takes about so many ids more. True: that was all, and finish() can be called.
  base::Result<bool> step(std::uint64_t ids);
  base::Result<std::unique_ptr<IdRun>> finish() { return writer_->finish(); }

  base::Status sync() { return writer_->sync(); }  // what was written so far
  std::size_t memory_bytes() const;

 private:
  IdMerge(bool has_oldest, std::unique_ptr<IdRunWriter> writer)
      : has_oldest_(has_oldest), writer_(std::move(writer)) {}

  base::Result<bool> advance(std::size_t cursor);  // false: it was at its end, and is gone

  const bool has_oldest_;
  std::unique_ptr<IdRunWriter> writer_;
  std::vector<IdRunCursor> cursors_;  // that are not at their ends, the youngest first
};

}  // namespace meguri::sat
