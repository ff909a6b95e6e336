#include "app/fetched_warc.h"

#include <fmt/format.h>

#include "app/build_info.h"
#include "archive/warc_record.h"
#include "crawl/messages.h"
#include "crawl/visit_records.h"
#include "env/random.h"
#include "web/http_head.h"

namespace meguri::app {

base::Result<std::string> warc_of(const std::vector<FetchedHop>& hops, std::string_view file_name,
                                  std::string_view user_agent, base::Instant now) {
  env::Random random = env::Random::from_system();
  archive::WarcinfoFields info;
  info.software = fmt::format("meguri/{}", version());
  info.description = "fetched by 'meguri inspect'";
  info.user_agent = user_agent;
  archive::RecordMaker maker;
  std::string bytes = maker.warcinfo(info, file_name, now, archive::RecordId::draw(random));
  crawl::VisitRecords records({});
  for (const FetchedHop& hop : hops) {
    crawl::Answer answer;
    answer.visit.page.candidate.url = hop.url;
    answer.fetched = hop.answer;
    const auto parsed = web::parse_head(web::HeadKind::kResponse, hop.answer.response_head);
    ASSIGN_OR_RETURN(const archive::Digest digest, records.digest_of(hop.answer.body));
    const crawl::ReadAnswer read{.answer = answer, .head = parsed.head, .digest = digest};
    ASSIGN_OR_RETURN(const auto kept,
                     records.of_answer(read, crawl::VisitOutcome::kChanged, random));
    bytes += kept.records.bytes.memory();
  }
  return bytes;
}

}  // namespace meguri::app
