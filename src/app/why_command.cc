#include <nlohmann/json.hpp>
#include <string>

#include "app/command.h"
#include "app/why_question.h"
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
    ASSIGN_OR_RETURN(nlohmann::json answer, ask_why(files, archive_, url_));
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
