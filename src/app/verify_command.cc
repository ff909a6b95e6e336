#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <string>

#include "app/archive_verifier.h"
#include "app/command.h"
#include "app/figures.h"
#include "app/parallel_work.h"
#include "env/posix_file_system.h"

namespace meguri::app {
namespace {

using Json = nlohmann::ordered_json;

class VerifyCommand final : public Command {
 public:
  void declare(Options options) override {
    options.argument("DIR", archive_, "The archive; a crawl may run on it");
    options.option("--workers", "N", workers_, "Threads; as many as there are cores if not said");
    options.flag("--json", json_, "Print one JSON object");
    options.flag("--quiet", quiet_, "Say nothing while it works");
  }

  base::Status run(Output& out) override {
    ASSIGN_OR_RETURN(const std::size_t workers, parse_workers(workers_));
    while (archive_.size() > 1 && archive_.ends_with('/')) archive_.pop_back();
    env::PosixFileSystem files;
    ArchiveVerifier verifier(files, archive_);
    RETURN_IF_ERROR(verifier.open());
    RETURN_IF_ERROR(verifier.run(workers, quiet_));
    json_ ? print_json(verifier, out) : print(verifier, out);
    const std::uint64_t damages = verifier.report().count();
    if (damages == 0) return {};
    return base::fail(base::ErrorCode::kCorrupt, "{} is damaged: {} found", archive_,
                      counted(damages, "damage was", "damages were"));
  }

 private:
  static void print(const ArchiveVerifier& verifier, Output& out) {
    verifier.report().print(out);
    const std::uint64_t damages = verifier.report().count();
    out.print("{} with {} in {}, and {}: {}\n", counted(verifier.files(), "file", "files"),
              counted(verifier.records(), "record", "records"), bytes_text(verifier.bytes()),
              counted(verifier.entries(), "entry", "entries"),
              damages == 0 ? "all is well" : counted(damages, "damage", "damages"));
  }

  static void print_json(const ArchiveVerifier& verifier, Output& out) {
    Json json = {{"files", verifier.files()},
                 {"records", verifier.records()},
                 {"bytes", verifier.bytes()},
                 {"entries", verifier.entries()}};
    verifier.report().put(json);
    out.print("{}\n", json.dump(-1, ' ', false, Json::error_handler_t::replace));
  }

  std::string archive_;
  std::string workers_;
  bool json_ = false;
  bool quiet_ = false;
};

}  // namespace

std::unique_ptr<Command> make_verify_command() { return std::make_unique<VerifyCommand>(); }

}  // namespace meguri::app
