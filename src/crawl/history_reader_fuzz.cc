// Reads any bytes as a WARC file of visits before a crawl: what it tells comes back from its bytes
// as it is, and makes a page that can be kept.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "archive/member_stream.h"
#include "base/check.h"
#include "crawl/history_reader.h"
#include "crawl/page_history.h"

namespace {

using namespace meguri::crawl;
using meguri::base::Instant;
using meguri::flow::Codec;

constexpr Instant kNow = Instant::from_ms(2'000'000'000'000);

void check_page(const std::vector<HistoryVisit>& visits, const RevisitPlan& plan) {
  PageHistory history(plan, meguri::web::kDifferenceThreshold);
  for (const HistoryVisit& visit : visits) history.take(visit);
  const auto record = history.end();
  if (!record) return;
  CHECK(record->is_done() && record->changes.visits <= visits.size());
  CHECK(record->visited <= kNow && record->next_visit >= record->visited);
  std::string bytes;
  Codec<PageRecord>::encode(*record, bytes);
  PageRecord again;
  CHECK(Codec<PageRecord>::decode(bytes, again) && again == *record);
}

}  // namespace

// NOLINTNEXTLINE(readability-identifier-naming): the name libFuzzer calls.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const RevisitPlan kPlan = RevisitPlan::make({.is_on = true}).value();
  static const CrawlOptions kOptions;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  HistoryVisit any;
  if (Codec<HistoryVisit>::decode(bytes, any)) {
    std::string again;
    Codec<HistoryVisit>::encode(any, again);
    CHECK(again == bytes);
  }
  const meguri::archive::ViewFile file(bytes);
  HistoryReader reader(kOptions, kNow);
  std::vector<HistoryVisit> visits;
  const auto counts = reader.read(file, [&](HistoryVisit&& visit) {
    std::string encoded;
    Codec<HistoryVisit>::encode(visit, encoded);
    HistoryVisit again;
    CHECK(Codec<HistoryVisit>::decode(encoded, again) && again == visit);
    visits.push_back(std::move(visit));
    return meguri::base::Status();
  });
  if (counts) CHECK(counts->visits == visits.size() && counts->visits <= counts->records);
  check_page(visits, kPlan);  // as if they were all of one
  return 0;
}
