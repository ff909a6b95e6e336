#include <fmt/format.h>
#include <fmt/ranges.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "app/archive_door.h"
#include "app/command.h"
#include "app/crawl_answers.h"
#include "crawl/pause_state.h"
#include "env/posix_file_system.h"

namespace meguri::app {
namespace {

// `meguri pause` and `meguri resume`.
class PauseCommand final : public Command {
 public:
  explicit PauseCommand(bool pauses) : pauses_(pauses) {}

  void declare(Options options) override {
    options.argument("DIR", archive_, "The archive");
    options.any_arguments("HOST", texts_, "Only these hosts");
    options.flag("--json", json_, "Print one JSON object");
  }

  base::Status run(Output& out) override;

 private:
  base::Result<nlohmann::json> change_file(env::FileSystem& files, const ArchiveDoor& door,
                                           const std::vector<std::string>& hosts) const;

  const bool pauses_;
  std::string archive_;
  std::vector<std::string> texts_;
  bool json_ = false;
};

// What the next crawl begins with.
base::Result<nlohmann::json> PauseCommand::change_file(
    env::FileSystem& files, const ArchiveDoor& door, const std::vector<std::string>& hosts) const {
  RETURN_IF_ERROR(check_may_write(door));
  RETURN_IF_ERROR(files.make_dirs(door.state_dir()));
  ASSIGN_OR_RETURN(crawl::PauseState state, crawl::load_pauses(files, door.state_dir()));
  RETURN_IF_ERROR(crawl::change(state, pauses_, hosts));
  RETURN_IF_ERROR(crawl::save_pauses(files, door.state_dir(), state));
  return nlohmann::json{{"running", false}, {"paused", to_json(state)}};
}

base::Status PauseCommand::run(Output& out) {
  env::PosixFileSystem files;
  ASSIGN_OR_RETURN(const std::vector<std::string> hosts, host_names_of(texts_));
  const nlohmann::json request = {{"command", pauses_ ? "pause" : "resume"}, {"hosts", hosts}};
  const auto offline = [&](const ArchiveDoor& door) { return change_file(files, door, hosts); };
  ASSIGN_OR_RETURN(nlohmann::json answer, ask_archive(files, archive_, request, offline));
  const bool is_running = answer.value("running", true);
  if (json_) {
    answer.erase("ok");
    answer["running"] = is_running;
    out.print("{}\n", answer.dump());
    return {};
  }
  const nlohmann::json paused = answer.value("paused", nlohmann::json::object());
  const std::string crawl = is_running ? "the crawl" : "no crawl runs; the next one";
  const auto names = paused.value("hosts", std::vector<std::string>());
  if (paused.value("all", false)) {
    out.print("{} is paused as a whole; 'meguri resume {}' lets it go on\n", crawl, archive_);
  } else if (names.empty()) {
    out.print("{} is not paused\n", crawl);
  } else {
    out.print("{} is paused on {}\n", crawl, fmt::join(names, ", "));
  }
  return {};
}

}  // namespace

std::unique_ptr<Command> make_pause_command() { return std::make_unique<PauseCommand>(true); }

std::unique_ptr<Command> make_resume_command() { return std::make_unique<PauseCommand>(false); }

}  // namespace meguri::app
