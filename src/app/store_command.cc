#include <cstdio>
#include <optional>
#include <string>
#include <vector>

#include "app/store_tools.h"
#include "crawl/registry_state.h"

namespace meguri::app {
namespace {

class StoreCommand final : public Command {
 public:
  void declare(Options options) override {
    stat_options_ = options.add_command("stat", "Say what is in it, when it is due, what it takes",
                                        "meguri store stat example");
    stat_.declare(*stat_options_);
    check_options_ =
        options.add_command("check", "Read every block and look for every record; name all damage",
                            "meguri store check example");
    check_.declare(*check_options_);
    dump_options_ = options.add_command("dump", "Print its records as lines of JSON",
                                        "meguri store dump example --due-before now --limit 10");
    dump_.declare(*dump_options_);
  }

  base::Status run(Output& out) override {
    if (stat_options_->named()) return stat_.run(out);
    if (check_options_->named()) return check_.run(out);
    if (dump_options_->named()) return dump_.run(out);
    return base::fail(base::ErrorCode::kInvalid,
                      "say what to do: stat, check or dump; see 'meguri store --help'");
  }

 private:
  StoreStat stat_;
  StoreCheck check_;
  StoreDump dump_;
  std::optional<Options> stat_options_;
  std::optional<Options> check_options_;
  std::optional<Options> dump_options_;
};

}  // namespace

base::Result<std::string> store_folder(env::FileSystem& files, const std::string& dir) {
  const std::string pages = crawl::pages_dir(dir + "/state/registry") + "/records";
  ASSIGN_OR_RETURN(const bool is_archive, files.exists(pages));
  return is_archive ? pages : dir;
}

void print_notes(const std::vector<std::string>& notes) {
  Output errors(stderr);
  for (const std::string& note : notes) errors.print("meguri store: {}.\n", printable(note));
  errors.flush();
}

std::unique_ptr<Command> make_store_command() { return std::make_unique<StoreCommand>(); }

}  // namespace meguri::app
