// Walking over a snapshot on several threads.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "app/ordered_blocks.h"
#include "archive/key_range.h"
#include "archive/snapshot_query.h"
#include "archive/snapshot_walk.h"
#include "archive/temporal_index.h"
#include "base/result.h"

namespace meguri::app {

// Of the index, that one thread takes at a time.
inline constexpr std::uint64_t kPieceBytes = std::uint64_t{2} << 20U;

// What takes the items of one piece, on one thread.
class PieceOutput {
 public:
  PieceOutput() = default;
  PieceOutput(const PieceOutput&) = delete;
  PieceOutput& operator=(const PieceOutput&) = delete;
  virtual ~PieceOutput() = default;

  virtual base::Status take(const archive::SnapshotItem& item) = 0;
  virtual base::Status finish() = 0;  // after the last
};

struct SnapshotRun {
  const archive::TemporalIndex& index;
  const archive::SnapshotQuery& query;
  std::size_t workers = 1;
  bool is_quiet = false;   // says nothing of how far it is
  std::string_view doing;  // "selecting"
};

using MakePieceOutput = std::function<std::unique_ptr<PieceOutput>(
    std::size_t piece, const std::atomic<bool>& is_stopped)>;

// Pieces are begun in the order of their keys. kStopped: a signal came.
base::Result<archive::SnapshotWalk::Counts> run_snapshot(const SnapshotRun& run,
                                                         const MakePieceOutput& make);

// Appends a line, or some, for an item.
using AppendLines = std::function<void(const archive::SnapshotItem& item, std::string& out)>;

// Lines in the order of the keys, handed to `write` in blocks by one thread at a time.
base::Result<archive::SnapshotWalk::Counts> write_snapshot_lines(const SnapshotRun& run,
                                                                 const AppendLines& append,
                                                                 const OrderedBlocks::Write& write);

}  // namespace meguri::app
