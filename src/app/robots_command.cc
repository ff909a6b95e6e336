#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/command.h"
#include "app/input.h"
#include "base/text.h"
#include "web/ascii.h"
#include "web/robots.h"
#include "web/url.h"

namespace meguri::app {
namespace {

class RobotsCommand final : public Command {
 public:
  void declare(Options options) override {
    options.argument("FILE", file_, "A robots.txt; '-' for standard input");
    options.arguments("URL", urls_, "A URL, or a path beginning with '/'");
    options.option("--agent", "NAME", agent_, "Ask for this crawler (default: meguri)");
    options.flag("--json", json_, "Print one JSON object");
  }

  base::Status run(Output& out) override {
    if (agent_.empty()) {
      return base::fail(base::ErrorCode::kInvalid, "--agent needs a name that is not empty");
    }
    std::vector<std::string> paths;
    for (const std::string& url : urls_) {
      ASSIGN_OR_RETURN(std::string path, path_of(url));
      paths.push_back(std::move(path));
    }
    ASSIGN_OR_RETURN(const Input input, read_input(file_));
    const web::Robots robots = web::Robots::parse(input.bytes, agent_);
    split_lines(input.bytes);
    for (std::size_t i = 0; i < urls_.size(); ++i) {
      show(urls_[i], robots.check(paths[i]), out);
    }
    if (json_) out.print("{}\n", summary(robots).dump());
    return {};
  }

 private:
  static base::Result<std::string> path_of(const std::string& text) {
    const auto base = web::Url::parse("http://host/");
    const bool is_path = text.starts_with('/') && !text.starts_with("//");
    const auto url = web::Url::parse(text, is_path ? &*base : nullptr);
    if (!url || !url->is_http()) {
      return base::fail(base::ErrorCode::kInvalid, "{} is no http or https URL, and no path",
                        base::quoted(text));
    }
    std::string path(url->path());
    if (url->has_query()) path.append("?").append(url->query());
    return path;
  }

  // As the parser counts them: LF, CR and CRLF end a line.
  void split_lines(std::string_view text) {
    std::size_t begin = 0;
    for (std::size_t i = 0; i <= text.size(); ++i) {
      if (i < text.size() && text[i] != '\n' && text[i] != '\r') continue;
      lines_.push_back(text.substr(begin, i - begin));
      if (i + 1 < text.size() && text[i] == '\r' && text[i + 1] == '\n') ++i;
      begin = i + 1;
    }
  }

  // The deciding line as it stands in the file; of a file in UTF-16 its comparable form.
  std::string line_of(const web::RobotsVerdict& verdict) const {
    if (verdict.line == 0 || verdict.line > lines_.size()) return {};
    const std::string_view line = web::trim(lines_[verdict.line - 1]);
    if (line.find('\0') != std::string_view::npos) return std::string(verdict.rule);
    return printable(line);
  }

  void show(const std::string& url, const web::RobotsVerdict& verdict, Output& out) {
    const std::string_view word = verdict.allowed ? "allowed" : "disallowed";
    const std::string line = line_of(verdict);
    if (json_) {
      nlohmann::ordered_json result = {{"url", printable(url)}, {"allowed", verdict.allowed}};
      result["line"] = nullptr;
      result["rule"] = nullptr;
      if (verdict.line != 0) result["line"] = verdict.line;
      if (verdict.line != 0) result["rule"] = line;
      results_.push_back(std::move(result));
    } else if (verdict.line == 0) {
      out.print("{}\t{}\t{}\n", word, printable(url),
                verdict.gave_up ? "too much to match" : "no rule");
    } else {
      out.print("{}\t{}\tline {}: {}\n", word, printable(url), verdict.line, line);
    }
  }

  nlohmann::ordered_json summary(const web::Robots& robots) const {
    nlohmann::ordered_json json = {{"agent", printable(agent_)}, {"urls", results_}};
    const auto delay = robots.crawl_delay();
    json["crawl_delay_seconds"] = nullptr;
    if (delay) json["crawl_delay_seconds"] = delay->in_seconds();
    json["sitemaps"] = nlohmann::ordered_json::array();
    for (const std::string& sitemap : robots.sitemaps()) {
      json["sitemaps"].push_back(printable(sitemap));
    }
    return json;
  }

  std::string file_;
  std::vector<std::string> urls_;
  std::string agent_ = "meguri";
  bool json_ = false;
  std::vector<std::string_view> lines_;
  nlohmann::ordered_json results_ = nlohmann::ordered_json::array();
};

}  // namespace

std::unique_ptr<Command> make_robots_command() { return std::make_unique<RobotsCommand>(); }

}  // namespace meguri::app
