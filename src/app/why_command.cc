#include <nlohmann/json.hpp>
#include <string>

#include "app/archive_door.h"
#include "app/archive_state.h"
#include "app/command.h"
#include "app/crawl_answers.h"
#include "crawl/options.h"
#include "env/clock.h"
#include "env/posix_file_system.h"

namespace meguri::app {
namespace {

class WhyCommand final : public Command {
 public:
  void declare(Options options) override {
    options.argument("DIR", archive_, "The archive");
    options.argument("URL", url_, "The page");
    options.flag("--json", json_, "Print one JSON object");
  }

  base::Status run(Output& out) override {
    env::PosixFileSystem files;
    RETURN_IF_ERROR(seed_urls_of({url_}));
    const auto offline = [&](const ArchiveDoor& door) -> base::Result<nlohmann::json> {
      ASSIGN_OR_RETURN(ArchiveState state,
                       ArchiveState::load(files, door.state_dir(), crawl::CrawlOptions().agent));
      ASSIGN_OR_RETURN(const crawl::WhyFacts facts, state.why(url_));
      return to_json(facts, /*is_running=*/false, env::RealClock().utc());
    };
    ASSIGN_OR_RETURN(nlohmann::json answer,
                     ask_archive(files, archive_, {{"command", "why"}, {"url", url_}}, offline));
    if (json_) {
      answer.erase("ok");
      out.print("{}\n", answer.dump());
      return {};
    }
    out.print("{}\n", printable(answer.value("url", url_)));
    const nlohmann::json sentences = answer.value("sentences", nlohmann::json::array());
    for (const nlohmann::json& sentence : sentences) {
      if (sentence.is_string()) out.print("{}\n", printable(sentence.get<std::string>()));
    }
    return {};
  }

 private:
  std::string archive_;
  std::string url_;
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> make_why_command() { return std::make_unique<WhyCommand>(); }

}  // namespace meguri::app
