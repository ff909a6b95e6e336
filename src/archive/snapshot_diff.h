// SnapshotDiff: which pages came, went and changed between two moments.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "archive/entry_filter.h"
#include "archive/key_range.h"
#include "archive/page_scope.h"
#include "archive/snapshot_item.h"
#include "archive/snapshot_query.h"
#include "archive/snapshot_walk.h"
#include "archive/temporal_index.h"
#include "base/result.h"
#include "base/time.h"

namespace meguri::archive {

struct DiffQuery {
  base::Instant from;
  base::Instant to;  // not before `from`
  PageScope scope = {};
  EntryFilter filter = {};  // holds for what the page was at one of both moments, at least
};

enum class DifferenceKind : std::uint8_t {
  kAdded,      // not there at first, because it was not known or gone
  kGone,       // not there any more
  kChanged,    // other content, or a redirect to elsewhere
  kUnchanged,  // the same content, visited again or not
};
inline constexpr std::size_t kDifferenceKinds = 4;

std::string_view name_of(DifferenceKind kind);  // "added"

// What a page was at a moment. Borrowed, as a SnapshotItem is.
struct PageVersion {
  base::Instant date;  // of the visit that found it so
  std::uint16_t status = 0;
  std::string_view mime;                // of the content, where the visit does not say it
  std::string_view digest;              // likewise; bytes, as EntryView has them
  bool is_sha1 = false;                 // the digest
  std::optional<std::uint32_t> target;  // of a redirect: a hash, 0: it is none. Nullopt: not known
  std::optional<RecordPlace> place;     // of the record with the content; nullopt: there is none
  RecordPlace visit;                    // of the record of the visit
  bool is_gone = false;                 // 404, 410
  bool is_confirmed = false;            // the visit found what one before had found
};

struct PageDifference {
  DifferenceKind kind = DifferenceKind::kAdded;
  std::string_view url;
  // Null: the page was not known. One that was gone is told too.
  const PageVersion* before = nullptr;
  const PageVersion* after = nullptr;
};

// Equal digests and targets; where a digest is not known, the same record. A visit that only says
// that nothing has changed, of which the archive has no content, is believed.
bool is_same_content(const PageVersion& before, const PageVersion& after);

// Finds the pages of a range as they were at the first moment, and holds them against those of the
// second as these come. Memory: some 400 bytes for each page of the range that was known at the
// first moment. Thread-compatible; one for each thread. Borrows the index and the query.
class SnapshotDiff {
 public:
  using Take = std::function<base::Status(const PageDifference& difference)>;

  SnapshotDiff(const TemporalIndex& index, const DiffQuery& query);
  SnapshotDiff(const SnapshotDiff&) = delete;
  SnapshotDiff& operator=(const SnapshotDiff&) = delete;

  // Hands on all pages that were there at one of both moments, in the order of their keys. The
  // range is as for SnapshotWalk::walk(). An error is that of the index, or of `take`.
  base::Status walk(const KeyRange& range, const Take& take);

 private:
  // A page at the first moment. The views are of bytes_, set once that has stopped growing.
  struct Held {
    PageVersion version;
    std::size_t begin = 0;  // in bytes_: page, URL, type and digest, one behind the other
    std::uint32_t page_size = 0;
    std::uint32_t url_size = 0;
    std::uint32_t mime_size = 0;
    std::uint32_t digest_size = 0;
    bool passes = false;  // the filter
  };

  void hold(const SnapshotItem& item);
  std::string_view page_of(const Held& held) const;
  base::Status take_before(Held& held, const PageVersion* after, bool after_passes,
                           const Take& take);
  base::Status take_after(const SnapshotItem& item, const Take& take);
  bool passes(const SnapshotItem& item) const;

  const DiffQuery& query_;
  const SnapshotQuery from_;
  const SnapshotQuery to_;
  SnapshotWalk before_;
  SnapshotWalk after_;
  std::vector<Held> held_;
  std::size_t next_ = 0;  // of held_, to be compared
  std::string bytes_;
};

}  // namespace meguri::archive
