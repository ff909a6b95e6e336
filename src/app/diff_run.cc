#include "app/diff_run.h"

#include <fmt/format.h>

#include <atomic>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "app/figures.h"
#include "app/parallel_work.h"
#include "app/snapshot_run.h"
#include "archive/content_text.h"
#include "archive/key_range.h"
#include "archive/record_source.h"
#include "base/mutex.h"

namespace meguri::app {

namespace {

using archive::DifferenceKind;
using archive::PageDifference;
using archive::PageVersion;
using base::ErrorCode;
using base::MutexLock;

constexpr std::size_t kBlockBytes = std::size_t{256} << 10U;
constexpr std::size_t kPagesBetweenLooks = 4096;
// Where texts are read, an index of few bytes is much work.
constexpr std::uint64_t kTextPieceBytes = std::uint64_t{64} << 10U;

// What all threads have done. Thread-safe.
class Tally {
 public:
  void add(const DiffCounts& counts) {
    const MutexLock lock(mutex_);
    for (std::size_t i = 0; i < counts.pages.size(); ++i) counts_.pages[i] += counts.pages[i];
    counts_.lost += counts.lost;
    ++pieces_;
  }
  DiffCounts counts() const {
    const MutexLock lock(mutex_);
    return counts_;
  }
  std::string progress(std::size_t pieces) const {
    const MutexLock lock(mutex_);
    return fmt::format("comparing: {} % of the index, {}",
                       pieces == 0 ? 100 : pieces_ * 100 / pieces,
                       counted(counts_.all(), "page", "pages"));
  }

 private:
  mutable base::Mutex mutex_;
  DiffCounts counts_ GUARDED_BY(mutex_);
  std::size_t pieces_ GUARDED_BY(mutex_) = 0;
};

// What was found in one piece of the index, on one thread.
class PieceDiff {
 public:
  PieceDiff(const DiffRun& run, const AppendPage& append, OrderedBlocks& blocks, std::size_t piece,
            const std::atomic<bool>& is_stopped)
      : run_(run),
        append_(append),
        blocks_(blocks),
        piece_(piece),
        is_stopped_(is_stopped),
        source_(run.files, run.index.files(), run.archive) {}

  base::Result<DiffCounts> walk(const archive::KeyRange& range) {
    RETURN_IF_ERROR(blocks_.begin(piece_, is_stopped_));
    archive::SnapshotDiff diff(run_.index, run_.query);
    RETURN_IF_ERROR(diff.walk(range, [this](const PageDifference& page) { return take(page); }));
    RETURN_IF_ERROR(blocks_.append(piece_, block_, is_stopped_));
    RETURN_IF_ERROR(blocks_.end(piece_));
    return counts_;
  }

 private:
  base::Status take(const PageDifference& page) {
    if (++taken_ % kPagesBetweenLooks == 0) RETURN_IF_ERROR(look());
    const auto kind = static_cast<std::size_t>(page.kind);
    ++counts_.pages[kind];
    if (!run_.is_listed[kind]) return {};
    if (run_.has_text && page.kind == DifferenceKind::kChanged) {
      RETURN_IF_ERROR(look());
      compare_texts(page);
    } else {
      append_({.page = page}, block_);
    }
    if (block_.size() < kBlockBytes) return {};
    return blocks_.append(piece_, block_, is_stopped_);
  }

  base::Status look() const {
    if (is_stopped_) return base::fail(ErrorCode::kStopped, "stopped");
    return {};
  }

  void compare_texts(const PageDifference& page) {
    ComparedPage compared{.page = page};
    std::optional<web::TextDiff> diff;
    const auto before = text_of(*page.before, "before", compared.remark);
    const auto after = before ? text_of(*page.after, "after", compared.remark) : std::nullopt;
    if (before && after) {
      diff = web::diff_texts(*before, *after);
      compared.text = &*diff;
      const auto& from = page.before->target;
      const auto& to = page.after->target;
      if (from && to && *from != *to) compared.remark = "it leads elsewhere";
    }
    append_(compared, block_);
  }

  // Nullopt: there is none, and the remark says why.
  std::optional<std::string> text_of(const PageVersion& version, std::string_view when,
                                     std::string& remark) {
    if (!version.place) {
      remark = fmt::format("the archive does not have the content from {}", when);
      return std::nullopt;
    }
    auto text = read_text(*version.place);
    if (!text) {
      ++counts_.lost;
      remark = fmt::format("{} at {}: {}", source_.path_of(version.place->file),
                           version.place->offset, text.error().message());
      return std::nullopt;
    }
    if (!*text) remark = fmt::format("the content from {} is no text", when);
    return *std::move(text);
  }

  base::Result<std::optional<std::string>> read_text(const archive::RecordPlace& place) {
    ASSIGN_OR_RETURN(archive::WarcReader* const reader, source_.find(place));
    return archive::read_content_text(*reader);
  }

  const DiffRun& run_;
  const AppendPage& append_;
  OrderedBlocks& blocks_;
  const std::size_t piece_;
  const std::atomic<bool>& is_stopped_;
  archive::RecordSource source_;
  DiffCounts counts_;
  std::string block_;
  std::size_t taken_ = 0;
};

}  // namespace

std::uint64_t DiffCounts::all() const {
  return std::accumulate(pages.begin(), pages.end(), std::uint64_t{0});
}

base::Result<DiffCounts> run_diff(const DiffRun& run, const AppendPage& append,
                                  const OrderedBlocks::Write& write) {
  ASSIGN_OR_RETURN(const std::vector<archive::KeyRange> pieces,
                   archive::split(run.index, run.query.scope.ranges(),
                                  run.has_text ? kTextPieceBytes : kPieceBytes));
  OrderedBlocks blocks(write, 2 * run.workers);
  Tally tally;
  const auto work = [&](std::size_t i, const std::atomic<bool>& is_stopped) -> base::Status {
    ASSIGN_OR_RETURN(const DiffCounts counts,
                     PieceDiff(run, append, blocks, i, is_stopped).walk(pieces[i]));
    tally.add(counts);
    return {};
  };
  const auto progress = [&] {
    return run.is_quiet ? std::string() : tally.progress(pieces.size());
  };
  RETURN_IF_ERROR(do_in_parallel(
      {.count = pieces.size(), .workers = run.workers, .work = work, .progress = progress}));
  return tally.counts();
}

}  // namespace meguri::app
