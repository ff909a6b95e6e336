#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "app/command.h"
#include "app/figures.h"
#include "app/why_question.h"
#include "base/time.h"
#include "env/posix_file_system.h"

namespace meguri::app {
namespace {

std::string text_of(const nlohmann::json& json, const char* name) {
  const auto found = json.find(name);
  return found != json.end() && found->is_string() ? printable(found->get<std::string>()) : "";
}

// Of a number of seconds: "2d4h", to what matters.
std::string time_of(const nlohmann::json& json, const char* name) {
  const auto found = json.find(name);
  if (found == json.end() || !found->is_number()) return "";
  const auto seconds = static_cast<std::int64_t>(found->get<double>());
  const std::int64_t round = seconds >= 172'800 ? 3600 : seconds >= 7200 ? 60 : 1;
  return base::Duration::seconds(seconds / round * round).to_string();
}

std::string estimate_of(const nlohmann::json& revisit) {
  const std::string mean = time_of(revisit, "change_interval_s");
  const std::string least = time_of(revisit, "change_interval_min_s");
  const std::string most = time_of(revisit, "change_interval_max_s");
  std::string text = mean.empty() ? "not known yet" : "every " + mean;
  if (!least.empty() && !most.empty())
    return fmt::format("{} (likely {} to {})", text, least, most);
  if (!least.empty()) return fmt::format("{} (likely {} or longer)", text, least);
  if (!most.empty()) return fmt::format("{} (likely {} or shorter)", text, most);
  return text;
}

class UrlCommand final : public Command {
 public:
  void declare(Options options) override {
    options.argument("DIR", archive_, "The archive");
    options.argument("URL", url_, "The page");
    options.flag("--json", json_, "Print one JSON object");
  }

  base::Status run(Output& out) override {
    env::PosixFileSystem files;
    ASSIGN_OR_RETURN(const nlohmann::json answer, ask_why(files, archive_, url_));
    const auto page = answer.find("page");
    if (page == answer.end()) {
      return base::fail(base::ErrorCode::kNotFound, "{} is not known; 'meguri why {} {}' says why",
                        url_, archive_, url_);
    }
    if (json_) {
      nlohmann::json json = *page;
      json["url"] = answer.value("url", url_);
      out.print("{}\n", json.dump());
      return {};
    }
    out.print("{}\n", printable(answer.value("url", url_)));
    print(*page, out);
    return {};
  }

 private:
  static void print(const nlohmann::json& page, Output& out) {
    const auto row = [&out](std::string_view name, const std::string& text) {
      if (!text.empty()) out.print("  {:<12} {}\n", name, text);
    };
    const nlohmann::json revisit = page.value("revisit", nlohmann::json::object());
    const bool is_old = text_of(page, "offer") == "history";
    row("found as", is_old ? "history: it was archived before this crawl began"
                           : fmt::format("{}, {} from a seed", text_of(page, "offer"),
                                         counted(page.value("depth", 0U), "link", "links")));
    if (!page.contains("visited")) {
      row("visits", text_of(page, "state") == "refused"
                        ? "none; it was refused: " + text_of(page, "refusal")
                        : "none yet");
      row("next visit", text_of(revisit, "next_visit"));
      return;
    }
    row("last visit", fmt::format("{}, {} ({})", text_of(page, "visited"), text_of(page, "outcome"),
                                  page.value("status", 0)));
    if (revisit.empty()) return;
    row("visits",
        fmt::format("{} since {}", revisit.value("visits", 0), text_of(revisit, "since")));
    row("versions", fmt::format("{}, {} of them changes that count", revisit.value("versions", 0),
                                revisit.value("changes", 0)));
    row("history",
        text_of(revisit, "history") + "  (newest last: C changed, = same, G gone, ! failed)");
    row("changes", estimate_of(revisit));
    const std::string trusted = revisit.value("trusts_last_modified", false) ? "believed" : "";
    row("Last-Modified", trusted);
    row("own pace", "every " + time_of(revisit, "interval_s"));
    row("next visit",
        fmt::format("{}: {}", text_of(revisit, "next_visit"), text_of(revisit, "because")));
  }

  std::string archive_;
  std::string url_;
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> make_url_command() { return std::make_unique<UrlCommand>(); }

}  // namespace meguri::app
