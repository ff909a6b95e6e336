#include <nlohmann/json.hpp>
#include <string>

#include "app/archive_door.h"
#include "app/command.h"
#include "app/figures.h"
#include "app/index_repair.h"
#include "app/parallel_work.h"
#include "app/stop_signals.h"
#include "env/posix_file_system.h"

namespace meguri::app {
namespace {

using base::ErrorCode;
using Json = nlohmann::ordered_json;

class RepairCommand final : public Command {
 public:
  void declare(Options options) override {
    options.argument("DIR", archive_, "The archive; no crawl may run on it");
    options.option("--workers", "N", workers_, "Threads; as many as there are cores if not said");
    options.flag("--json", json_, "Print one JSON object");
    options.flag("--quiet", quiet_, "Say nothing while it works");
  }

  base::Status run(Output& out) override {
    ASSIGN_OR_RETURN(const std::size_t workers, parse_workers(workers_));
    while (archive_.size() > 1 && archive_.ends_with('/')) archive_.pop_back();
    env::PosixFileSystem files;
    ASSIGN_OR_RETURN(const auto lock, lock_idle_archive(files, archive_, "repair"));
    // They end neither the index's own threads, which are of this one, nor its last flush.
    const StopSignals signals(StopSignals::Rest::kDropped);
    IndexRepair repair(files, signals, archive_);
    RETURN_IF_ERROR(repair.plan());
    const auto status = repair.run(workers, quiet_);
    if (!status && status.error().code() == ErrorCode::kStopped) {
      return base::fail(ErrorCode::kStopped,
                        "stopped; the old index is as it was, and the same command goes on");
    }
    RETURN_IF_ERROR(status);
    json_ ? print_json(repair, out) : print(repair, out);
    return {};
  }

 private:
  static void print(const IndexRepair& repair, Output& out) {
    for (const std::string& note : repair.notes()) out.print("{}.\n", printable(note));
    for (const std::string& path : repair.lost()) {
      out.print(
          "{}: it is not there, and its pages are not in the index; put it back and repair "
          "again.\n",
          printable(path));
    }
    for (const IndexRepair::Damaged& file : repair.damaged()) {
      out.print("{}: damaged in {}; the rest was read ('meguri verify' says where).\n",
                printable(file.path), counted(file.places, "place", "places"));
    }
    out.print("the index was made anew: {} with {}, and {}\n",
              counted(repair.files(), "file", "files"), bytes_text(repair.bytes()),
              counted(repair.entries(), "entry", "entries"));
  }

  static void print_json(const IndexRepair& repair, Output& out) {
    Json json = {{"files", repair.files()},
                 {"bytes", repair.bytes()},
                 {"entries", repair.entries()},
                 {"lost", repair.lost()},
                 {"notes", repair.notes()}};
    json["damaged"] = Json::array();
    for (const IndexRepair::Damaged& file : repair.damaged()) {
      json["damaged"].push_back({{"file", file.path}, {"places", file.places}});
    }
    out.print("{}\n", json.dump(-1, ' ', false, Json::error_handler_t::replace));
  }

  std::string archive_;
  std::string workers_;
  bool json_ = false;
  bool quiet_ = false;
};

}  // namespace

std::unique_ptr<Command> make_repair_command() { return std::make_unique<RepairCommand>(); }

}  // namespace meguri::app
