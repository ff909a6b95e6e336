// SnapshotQuery: which entries of an index make a snapshot.
#pragma once

#include <cstdint>

#include "archive/entry_filter.h"
#include "archive/page_scope.h"
#include "archive/time_span.h"
#include "base/time.h"

namespace meguri::archive {

enum class SnapshotView : std::uint8_t {
  kVisits,    // each visit is valid until the page's next one
  kVersions,  // visits that found the same content, one after the other, are one
};

// An entry is valid until the page's next one that is no error. A page that is gone is valid as
// gone. An error is valid until the page's next visit, and ends nothing.
struct SnapshotQuery {
  TimeSpan period;                           // not empty
  RelationSet relations = kBegunAndStillSo;  // of the time in which an entry is valid to the period
  SnapshotView view = SnapshotView::kVisits;
  bool has_all = false;     // of a page: all that match, newest first; else the newest
  bool has_gone = false;    // pages that were gone too
  bool has_errors = false;  // visits that failed too; of versions, none does
  bool has_content = true;  // items say where their content is
  PageScope scope = {};
  EntryFilter filter = {};

  // What was valid at a moment.
  static SnapshotQuery at(base::Instant time) {
    SnapshotQuery query;
    query.period = {time, time + base::Duration::from_ms(1)};
    query.relations = {Relation::kContains, Relation::kStartedBy, Relation::kFinishedBy,
                       Relation::kEquals};
    return query;
  }

  // What each page's newest visit found, also where its clock was ahead of ours.
  static SnapshotQuery newest() { return at(kNewest); }
  static constexpr base::Instant kNewest = base::Instant::from_ms(253'402'300'799'998);  // 9999
};

}  // namespace meguri::archive
