// The journal of a run's folder: what was done, in blocks. docs/formats/scan-run.md describes it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "env/block_file.h"
#include "scan/done_set.h"

namespace meguri::scan {

inline constexpr env::BlockKind kJournalKind = env::block_kind("MGSJ");

// How far the two files count, and for how many documents.
struct JournalMark {
  bool has_ended = false;  // nothing follows, and the files may be elsewhere
  std::uint64_t result_bytes = 0;
  std::uint64_t skipped_bytes = 0;
  RunCounts counts;
};

// The block before all commits.
std::string first_journal_block(std::uint64_t documents, std::uint64_t front_bytes);

// A commit, which is the block of this number: the mark, and the documents that were done since the
// one before it, which are sorted by this.
std::string commit_block(std::uint64_t number, const JournalMark& mark,
                         std::vector<std::uint64_t>& documents);

// What the blocks of a journal say, one after the other. Thread-compatible.
struct JournalContents {
  // False: it is none that may come here, and all is of no use any more.
  bool take(const env::BlockView& view);

  std::uint64_t blocks = 0;
  std::uint64_t documents = 0;  // of the run
  JournalMark mark;
  DoneSet done;

 private:
  bool take_first(std::string_view bytes);
  bool take_commit(const env::BlockView& view);
};

}  // namespace meguri::scan
