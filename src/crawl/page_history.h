// PageHistory: the visits of one page before this crawl, as the state they would have left in it.
#pragma once

#include <cstdint>
#include <optional>

#include "archive/sha1.h"
#include "crawl/history_visit.h"
#include "crawl/page_record.h"
#include "crawl/revisit_plan.h"
#include "web/similarity.h"

namespace meguri::crawl {

// Takes the visits of one page in the order of their dates, those of another after end().
// Thread-compatible. Borrows the plan.
//
// What came of a visit is found as the crawl itself finds it: by 304, by digest, and where the text
// is known by how much of it differs. Visits that may pass if tried again do not count, as in a
// crawl; nor those of a moment that was told already, since records may be there twice.
class PageHistory {
 public:
  // `counts_from` as in RevisitOptions.
  PageHistory(const RevisitPlan& plan, double counts_from)
      : plan_(plan), counts_from_(counts_from) {}

  void take(const HistoryVisit& visit);

  // The page as it stands after them: visited, with its estimate and the time of its next visit,
  // and offered as kHistory. Its prior version is in no record of this archive. Nullopt: no visit
  // counted.
  std::optional<PageRecord> end();

 private:
  // What is known of the body that the page had last.
  struct Content {
    std::optional<archive::Digest> digest;
    std::uint64_t said_digest = 0;
    std::optional<web::TextSketch> sketch;  // of the last version that counts as a change
    base::Instant date;
  };

  std::optional<Report> report_of(const HistoryVisit& visit);
  bool is_same(const HistoryVisit& visit) const;
  void take_content(const HistoryVisit& visit, Report& report);

  const RevisitPlan& plan_;
  const double counts_from_;
  PageRecord record_;
  std::optional<Content> content_;
};

}  // namespace meguri::crawl
