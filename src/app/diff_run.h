// Comparing two moments of an archive on several threads.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

#include "app/ordered_blocks.h"
#include "archive/snapshot_diff.h"
#include "archive/temporal_index.h"
#include "base/result.h"
#include "env/file_system.h"
#include "web/text_diff.h"

namespace meguri::app {

// A difference with the texts of a page that changed, where they were asked for.
struct ComparedPage {
  const archive::PageDifference& page;
  const web::TextDiff* text = nullptr;  // null: not asked for, or the remark says why there is none
  std::string remark = {};              // one sentence without its end; empty: nothing
};

struct DiffRun {
  env::FileSystem& files;
  std::string archive;  // its folder
  const archive::TemporalIndex& index;
  const archive::DiffQuery& query;
  std::array<bool, archive::kDifferenceKinds> is_listed = {};
  bool has_text = false;  // texts of pages that changed and are listed
  std::size_t workers = 1;
  bool is_quiet = false;  // says nothing of how far it is
};

struct DiffCounts {
  std::array<std::uint64_t, archive::kDifferenceKinds> pages = {};
  std::uint64_t lost = 0;  // records whose text was wanted and that could not be read

  std::uint64_t of(archive::DifferenceKind kind) const {
    return pages[static_cast<std::size_t>(kind)];
  }
  std::uint64_t all() const;
};

// Appends what is written of a page. Called by several threads.
using AppendPage = std::function<void(const ComparedPage& page, std::string& out)>;

// All pages are counted; those that are listed are written in the order of their keys, in blocks,
// by one thread at a time. kStopped: a signal came, or `write` says so.
base::Result<DiffCounts> run_diff(const DiffRun& run, const AppendPage& append,
                                  const OrderedBlocks::Write& write);

}  // namespace meguri::app
