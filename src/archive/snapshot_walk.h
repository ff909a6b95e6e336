// SnapshotWalk: finds the items of a snapshot in one pass over the index.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "archive/content_finder.h"
#include "archive/key_range.h"
#include "archive/snapshot_item.h"
#include "archive/snapshot_query.h"
#include "archive/temporal_index.h"
#include "base/result.h"

namespace meguri::archive {

// Walks over the entries of each page from its newest to its oldest. An entry's end is the begin of
// the one before it in the walk, so that nothing need be kept but that. Constant memory, however
// long a page's history is.
// Thread-compatible; one for each thread. Borrows the index and the query.
class SnapshotWalk {
 public:
  using Take = std::function<base::Status(const SnapshotItem& item)>;

  struct Counts {
    std::uint64_t entries = 0;  // that were looked at
    std::uint64_t pages = 0;    // in the scope
    std::uint64_t items = 0;
  };

  SnapshotWalk(const TemporalIndex& index, const SnapshotQuery& query);

  // Hands on the items in the order of their keys. The range is one of those of the query's scope,
  // or a part of it that is cut between pages. An error is that of the index, or of `take`.
  base::Status walk(const KeyRange& range, const Take& take);

  const Counts& counts() const { return counts_; }

 private:
  enum class Next : std::uint8_t { kEntry, kPage };

  // Visits of the same content, as far as they were walked over.
  struct Run {
    HeldEntry first;    // the oldest so far
    HeldEntry content;  // one that has a record with it; may be empty
    base::Instant end;
    bool is_open = false;
  };

  base::Status begin_page(const EntryView& entry);
  base::Result<Next> look_at(const EntryView& entry, const Take& take);
  base::Result<Next> look_at_visit(const EntryView& entry, const Take& take);
  base::Result<Next> look_at_version(const EntryView& entry, const Take& take);
  base::Result<Next> end_run(const Take& take);
  base::Result<Next> offer(const EntryView& entry, const TimeSpan& valid, const Take& take);
  base::Result<Next> hand_on(const SnapshotItem& item, const Take& take);
  base::Status return_to(const std::string& key);
  base::Status skip_page();
  base::Status skip_newer();
  bool is_over() const;
  bool is_asked_for(EntryKind kind) const;
  bool needs_content(const EntryView& entry) const;
  static bool continues(const Run& run, const EntryView& older);

  const TemporalIndex& index_;
  const SnapshotQuery& query_;
  const bool has_past_;    // what ended before the period is asked for too
  const bool has_future_;  // and what began after it
  ContentFinder finder_;
  std::unique_ptr<env::StoreCursor> cursor_;
  std::string end_;   // of the range
  std::string page_;  // whose entries are walked over; empty: none
  bool is_in_scope_ = false;
  base::Instant newer_;      // when the next newer entry began that is no error
  base::Instant newer_any_;  // or any
  std::size_t too_new_ = 0;  // entries of the page behind the period, one after the other
  Run run_;
  Counts counts_;
};

}  // namespace meguri::archive
