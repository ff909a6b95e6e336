// SnapshotItem: one page, or one version of it, as a snapshot has it.
#pragma once

#include "archive/index_entry.h"
#include "archive/time_span.h"

namespace meguri::archive {

// Borrowed: all of it dies when the call returns that it is given to.
struct SnapshotItem {
  const EntryView& entry;  // the visit; of a version, the first visit that found it
  TimeSpan valid;          // for how long it was so
  // The entry whose record holds the content: `entry` itself, an earlier one of the page, or one of
  // another page. Null: the page was gone, the visit failed, or the archive does not have it.
  const EntryView* content = nullptr;
};

}  // namespace meguri::archive
