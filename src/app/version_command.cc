#include <nlohmann/json.hpp>

#include "app/build_info.h"
#include "app/command.h"

namespace meguri::app {

namespace {

class VersionCommand final : public Command {
 public:
  void declare(Options options) override { options.flag("--json", json_, "Print one JSON object"); }

  base::Status run(Output& out) override {
    if (json_) {
      const nlohmann::ordered_json object = {
          {"name", "meguri"}, {"version", version()}, {"compiler", compiler()}};
      out.print("{}\n", object.dump());
    } else {
      out.print("meguri {} ({})\n", version(), compiler());
    }
    return {};
  }

 private:
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> make_version_command() { return std::make_unique<VersionCommand>(); }

}  // namespace meguri::app
