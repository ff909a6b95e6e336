#include "app/why_question.h"

#include <nlohmann/json.hpp>

#include "app/archive_door.h"
#include "app/archive_state.h"
#include "app/crawl_answers.h"
#include "crawl/options.h"
#include "env/clock.h"

namespace meguri::app {

base::Result<nlohmann::json> ask_why(env::FileSystem& files, const std::string& archive,
                                     const std::string& url) {
  RETURN_IF_ERROR(seed_urls_of({url}));
  const auto offline = [&](const ArchiveDoor& door) -> base::Result<nlohmann::json> {
    ASSIGN_OR_RETURN(ArchiveState state,
                     ArchiveState::load(files, door.state_dir(), crawl::CrawlOptions().agent));
    ASSIGN_OR_RETURN(const crawl::WhyFacts facts, state.why(url));
    return to_json(facts, /*is_running=*/false, env::RealClock().utc());
  };
  return ask_archive(files, archive, {{"command", "why"}, {"url", url}}, offline);
}

}  // namespace meguri::app
