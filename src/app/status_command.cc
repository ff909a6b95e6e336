#include <nlohmann/json.hpp>
#include <string>

#include "app/archive_door.h"
#include "app/archive_state.h"
#include "app/command.h"
#include "app/crawl_standing.h"
#include "crawl/options.h"
#include "env/posix_file_system.h"

namespace meguri::app {
namespace {

// The same as status_json() says of a running crawl.
nlohmann::json offline_status(const ArchiveState& state) {
  const CrawlStanding standing = state.standing();
  nlohmann::json json = standing.to_json();
  json["running"] = false;
  json["standing"] = standing.to_string();
  json["paused"] = state.pauses().all ? "by hand" : "";
  json["hosts_paused"] = state.pauses().hosts.size();
  return json;
}

class StatusCommand final : public Command {
 public:
  void declare(Options options) override {
    options.argument("DIR", archive_, "The archive");
    options.flag("--json", json_, "Print one JSON object");
  }

  base::Status run(Output& out) override {
    env::PosixFileSystem files;
    const auto offline = [&](const ArchiveDoor& door) -> base::Result<nlohmann::json> {
      ASSIGN_OR_RETURN(const ArchiveState state,
                       ArchiveState::load(files, door.state_dir(), crawl::CrawlOptions().agent));
      return offline_status(state);
    };
    ASSIGN_OR_RETURN(nlohmann::json answer,
                     ask_archive(files, archive_, {{"command", "status"}}, offline));
    if (json_) {
      answer.erase("ok");
      out.print("{}\n", answer.dump());
      return {};
    }
    const std::string standing = answer.value("standing", "");
    if (answer.value("running", false)) {
      out.print("a crawl runs on {}\n{}\n{}\n", archive_, standing, answer.value("schedule", ""));
      return {};
    }
    out.print("no crawl runs on {}\n{}\n", archive_, standing);
    if (!answer.value("paused", "").empty()) {
      out.print("the next crawl begins paused; 'meguri resume {}' ends that\n", archive_);
    }
    return {};
  }

 private:
  std::string archive_;
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> make_status_command() { return std::make_unique<StatusCommand>(); }

}  // namespace meguri::app
