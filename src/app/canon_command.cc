#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "app/command.h"
#include "app/input.h"
#include "base/text.h"
#include "web/ascii.h"
#include "web/canonical.h"
#include "web/surt.h"
#include "web/url.h"

namespace meguri::app {
namespace {

class CanonCommand final : public Command {
 public:
  void declare(Options options) override {
    options.arguments("URL", urls_, "A URL; '-' takes one from every line of standard input");
    options.flag("--json", json_, "Print one JSON object");
  }

  base::Status run(Output& out) override {
    std::vector<std::string> urls;
    for (const std::string& url : urls_) {
      if (url != "-") {
        urls.push_back(url);
        continue;
      }
      ASSIGN_OR_RETURN(const Input input, read_input("-"));
      append_lines(input.bytes, &urls);
    }
    for (const std::string& url : urls) add(url, out);
    if (json_) out.print("{}\n", nlohmann::ordered_json{{"urls", results_}}.dump());
    if (bad_ == 0) return {};
    return base::fail(base::ErrorCode::kFailed, "{} of {} are no URLs, the first: {} ({})", bad_,
                      urls.size(), base::quoted(first_bad_), first_reason_);
  }

 private:
  static void append_lines(std::string_view text, std::vector<std::string>* lines) {
    while (!text.empty()) {
      const std::size_t end = std::min(text.find('\n'), text.size());
      const std::string_view line = web::trim(text.substr(0, end));
      if (!line.empty()) lines->emplace_back(line);
      text.remove_prefix(std::min(end + 1, text.size()));
    }
  }

  void add(const std::string& text, Output& out) {
    web::UrlFailure failure{};
    const auto url = web::Url::parse(text, nullptr, web::Charset::kUtf8, &failure);
    if (!url) {
      if (bad_++ == 0) {
        first_bad_ = text;
        first_reason_ = web::name_of(failure);
      }
      if (json_) results_.push_back({{"url", printable(text)}, {"failure", web::name_of(failure)}});
      return;
    }
    const web::Url canonical = web::canonical(*url);
    const std::string surt = web::surt_key(canonical);
    if (json_) {
      results_.push_back(
          {{"url", printable(text)}, {"canonical", canonical.href()}, {"surt", printable(surt)}});
    } else {
      out.print("{}\t{}\n", canonical.href(), printable(surt));
    }
  }

  std::vector<std::string> urls_;
  bool json_ = false;
  nlohmann::ordered_json results_ = nlohmann::ordered_json::array();
  std::size_t bad_ = 0;
  std::string first_bad_;
  std::string first_reason_;
};

}  // namespace

std::unique_ptr<Command> make_canon_command() { return std::make_unique<CanonCommand>(); }

}  // namespace meguri::app
