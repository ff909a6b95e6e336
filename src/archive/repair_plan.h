// RepairPlan: which files an index is to be made of anew, and under which numbers.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "archive/file_list.h"
#include "archive/index_file.h"
#include "archive/warc_file.h"
#include "base/result.h"
#include "env/file_system.h"

namespace meguri::archive {

// All that is known of an archive without an index.
struct RepairSources {
  std::map<std::uint32_t, IndexFile> indexed = {};  // as the old index has them, if it can be read
  std::uint32_t next_number = 1;                    // of that index
  ListedFiles listed = {};
  std::vector<std::string> found = {};             // WARC files below "warc/", with that
  std::optional<WarcPosition> end = std::nullopt;  // of what a crawl declares durable
};

struct RepairPlan {
  // To be read up to their `bytes`; nothing of them is indexed. Those of the crawl first.
  std::vector<IndexFile> files;
  std::vector<IndexFile> absent;  // known, and not there
  std::uint32_t next_number = 1;
  std::vector<std::string> notes;  // sentences without their full stop

  // Equal plans have equal ones.
  std::uint64_t fingerprint() const;
};

// What the old index knows counts, then the list; files that neither knows get new numbers, those
// of crawls in the order in which they were written. Files of the crawl behind its durable end do
// not count. Reads sizes, and the front and end of imported files.
base::Result<RepairPlan> plan_repair(env::FileSystem& files, const std::string& archive,
                                     const RepairSources& sources);

}  // namespace meguri::archive
