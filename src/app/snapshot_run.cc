#include "app/snapshot_run.h"

#include <fmt/format.h>

#include <utility>
#include <vector>

#include "app/figures.h"
#include "app/parallel_work.h"
#include "base/mutex.h"

namespace meguri::app {

namespace {

using archive::KeyRange;
using archive::SnapshotItem;
using archive::SnapshotWalk;
using base::ErrorCode;
using base::MutexLock;

constexpr std::size_t kBlockBytes = std::size_t{256} << 10U;
constexpr std::size_t kItemsBetweenLooks = 4096;

// What all threads have done. Thread-safe.
class Tally {
 public:
  void add(const SnapshotWalk::Counts& counts) {
    const MutexLock lock(mutex_);
    counts_.entries += counts.entries;
    counts_.pages += counts.pages;
    counts_.items += counts.items;
    ++pieces_;
  }
  SnapshotWalk::Counts counts() const {
    const MutexLock lock(mutex_);
    return counts_;
  }
  std::size_t pieces() const {
    const MutexLock lock(mutex_);
    return pieces_;
  }

 private:
  mutable base::Mutex mutex_;
  SnapshotWalk::Counts counts_ GUARDED_BY(mutex_);
  std::size_t pieces_ GUARDED_BY(mutex_) = 0;
};

class LinesOutput final : public PieceOutput {
 public:
  LinesOutput(OrderedBlocks& blocks, const AppendLines& append, std::size_t piece,
              const std::atomic<bool>& is_stopped)
      : blocks_(blocks), append_(append), piece_(piece), is_stopped_(is_stopped) {}

  base::Status take(const SnapshotItem& item) override {
    if (!is_begun_) RETURN_IF_ERROR(begin());
    append_(item, block_);
    if (block_.size() < kBlockBytes) return {};
    return blocks_.append(piece_, block_, is_stopped_);
  }
  base::Status finish() override {
    if (!is_begun_) RETURN_IF_ERROR(begin());
    RETURN_IF_ERROR(blocks_.append(piece_, block_, is_stopped_));
    return blocks_.end(piece_);
  }

 private:
  base::Status begin() {
    is_begun_ = true;
    return blocks_.begin(piece_, is_stopped_);
  }

  OrderedBlocks& blocks_;
  const AppendLines& append_;
  const std::size_t piece_;
  const std::atomic<bool>& is_stopped_;
  std::string block_;
  bool is_begun_ = false;
};

}  // namespace

base::Result<SnapshotWalk::Counts> run_snapshot(const SnapshotRun& run,
                                                const MakePieceOutput& make) {
  ASSIGN_OR_RETURN(const std::vector<KeyRange> pieces,
                   archive::split(run.index, run.query.scope.ranges(), kPieceBytes));
  Tally tally;
  const auto work = [&](std::size_t i, const std::atomic<bool>& is_stopped) -> base::Status {
    SnapshotWalk walk(run.index, run.query);
    const auto output = make(i, is_stopped);
    std::size_t taken = 0;
    RETURN_IF_ERROR(walk.walk(pieces[i], [&](const SnapshotItem& item) -> base::Status {
      if (++taken % kItemsBetweenLooks == 0 && is_stopped) {
        return base::fail(ErrorCode::kStopped, "stopped");
      }
      return output->take(item);
    }));
    RETURN_IF_ERROR(output->finish());
    tally.add(walk.counts());
    return {};
  };
  const auto progress = [&] {
    if (run.is_quiet) return std::string();
    const std::size_t done = tally.pieces();
    return fmt::format("{}: {} % of the index, {}", run.doing,
                       pieces.empty() ? 100 : done * 100 / pieces.size(),
                       counted(tally.counts().items, "item", "items"));
  };
  RETURN_IF_ERROR(do_in_parallel(
      {.count = pieces.size(), .workers = run.workers, .work = work, .progress = progress}));
  return tally.counts();
}

base::Result<SnapshotWalk::Counts> write_snapshot_lines(const SnapshotRun& run,
                                                        const AppendLines& append,
                                                        const OrderedBlocks::Write& write) {
  OrderedBlocks blocks(write, 2 * run.workers);
  return run_snapshot(run, [&](std::size_t piece, const std::atomic<bool>& is_stopped) {
    return std::make_unique<LinesOutput>(blocks, append, piece, is_stopped);
  });
}

}  // namespace meguri::app
