// SnapshotItem: one page, or one version of it, as a snapshot has it.
#pragma once

#include <optional>
#include <string>

#include "archive/index_entry.h"
#include "archive/time_span.h"
#include "base/result.h"

namespace meguri::archive {

struct SnapshotItem {
  std::string surt;
  IndexEntry entry;  // the visit; of a version, the first visit that found it
  TimeSpan valid;    // for how long it was so
  // The entry whose record holds the content: `entry` itself, an earlier one of the page, or one of
  // another page. None: the page was gone, the visit failed, or the archive does not have it.
  std::optional<IndexEntry> content = {};
};

// Where the items of a snapshot go, in the order of their keys. Thread-compatible.
class SnapshotOutput {
 public:
  SnapshotOutput() = default;
  SnapshotOutput(const SnapshotOutput&) = delete;
  SnapshotOutput& operator=(const SnapshotOutput&) = delete;
  virtual ~SnapshotOutput() = default;

  virtual base::Status take(SnapshotItem&& item) = 0;
  // After the last. Without it what was written is not to be used.
  virtual base::Status finish() = 0;
};

}  // namespace meguri::archive
