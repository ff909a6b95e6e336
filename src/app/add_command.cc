#include <algorithm>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "app/added_seeds.h"
#include "app/archive_door.h"
#include "app/command.h"
#include "app/input.h"
#include "crawl/control_messages.h"
#include "env/posix_file_system.h"
#include "web/ascii.h"

namespace meguri::app {
namespace {

void append_lines(std::string_view text, std::vector<std::string>& lines) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = web::trim(text.substr(0, end));
    if (!line.empty()) lines.emplace_back(line);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

class AddCommand final : public Command {
 public:
  void declare(Options options) override {
    options.argument("DIR", archive_, "The archive");
    options.arguments("URL", texts_, "A URL; '-' takes one from every line of standard input");
    options.flag("--json", json_, "Print one JSON object");
  }

  base::Status run(Output& out) override;

 private:
  base::Result<std::vector<std::string>> urls() const;

  std::string archive_;
  std::vector<std::string> texts_;
  bool json_ = false;
};

base::Result<std::vector<std::string>> AddCommand::urls() const {
  std::vector<std::string> texts;
  for (const std::string& text : texts_) {
    if (text != "-") {
      texts.push_back(text);
      continue;
    }
    ASSIGN_OR_RETURN(const Input input, read_input("-"));
    if (input.cut) {
      return base::fail(base::ErrorCode::kInvalid, "more than {} bytes of URLs at once",
                        kDocumentBytesMax);
    }
    append_lines(input.bytes, texts);
  }
  return seed_urls_of(texts);
}

// Some at a time, so that no line is too long.
base::Status AddCommand::run(Output& out) {
  constexpr std::size_t kAtOnce = 200;
  static_assert(kAtOnce <= crawl::AddSeeds::kUrlsMax);
  env::PosixFileSystem files;
  ASSIGN_OR_RETURN(const std::vector<std::string> all, urls());
  nlohmann::json sum = {{"new", 0}, {"known", 0}, {"running", false}, {"taken", true}};
  for (std::size_t i = 0; i < all.size(); i += kAtOnce) {
    const auto begin = all.begin() + static_cast<std::ptrdiff_t>(i);
    const std::vector<std::string> some(
        begin, begin + static_cast<std::ptrdiff_t>(std::min(kAtOnce, all.size() - i)));
    const auto offline = [&](const ArchiveDoor& door) -> base::Result<nlohmann::json> {
      RETURN_IF_ERROR(check_may_write(door));
      ASSIGN_OR_RETURN(const AddedSeeds added, append_added_seeds(files, archive_, some));
      return nlohmann::json{
          {"new", added.fresh}, {"known", added.known}, {"running", false}, {"taken", false}};
    };
    ASSIGN_OR_RETURN(const nlohmann::json answer,
                     ask_archive(files, archive_, {{"command", "add"}, {"urls", some}}, offline));
    sum["new"] = sum["new"].get<std::uint64_t>() + answer.value("new", std::uint64_t{0});
    sum["known"] = sum["known"].get<std::uint64_t>() + answer.value("known", std::uint64_t{0});
    sum["running"] = answer.value("running", false);
    sum["taken"] = sum["taken"].get<bool>() && answer.value("taken", false);
  }
  if (json_) {
    out.print("{}\n", sum.dump());
    return {};
  }
  out.print(
      "{} new, {} known; {}\n", sum["new"].get<std::uint64_t>(), sum["known"].get<std::uint64_t>(),
      sum["taken"].get<bool>() ? "the crawl has them now" : "the next crawl begins with them");
  return {};
}

}  // namespace

std::unique_ptr<Command> make_add_command() { return std::make_unique<AddCommand>(); }

}  // namespace meguri::app
