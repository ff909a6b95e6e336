#include "scan/builtin_analysers.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/check.h"
#include "base/text.h"
#include "scan/builtin_burn.h"
#include "scan/builtin_functions.h"
#include "web/utf8.h"

namespace meguri::scan {

namespace {

using base::ErrorCode;

constexpr auto kAnalysers = std::to_array<BuiltinAnalyser>({
    {.name = "count-by",
     .use = "count-by KEY...",
     .what = "count documents by host, domain, mime, status, language, month, day or charset"},
    {.name = "links", .use = "links", .what = "list links: FROM, TO and KIND, with tabs between"},
    {.name = "text",
     .use = "text",
     .what = "write url, time, title, language and text of each document that is text, as JSON"},
    {.name = "grep",
     .use = "grep [-i] [-l] REGEX",
     .what = "find lines of text: URL and LINE with a tab between; -i in any case, -l URLs only"},
    {.name = "warc",
     .use = "warc",
     .what = "write the documents on as a WARC file, each a decoded response of its own"},
});

std::string names_of_all() {
  std::string names;
  for (const BuiltinAnalyser& analyser : kAnalysers) {
    names.append(names.empty() ? "" : ", ").append(analyser.name);
  }
  return names;
}

base::Result<Analyse> make_function(const AnalyserSettings& settings) {
  const std::string& name = settings.arguments.front();
  const Arguments arguments = Arguments(settings.arguments).subspan(1);
  if (name == "count-by") return make_count_by(arguments);
  if (name == "links") return make_links(arguments);
  if (name == "text") return make_text(arguments);
  if (name == kBurn) return make_burn(arguments);
  // Shared with the copies of the function.
  auto spool = std::make_shared<ResultSpool>(settings.scratch);
  if (name == "grep") return make_grep(arguments, std::move(spool));
  if (name == "warc") return make_warc(arguments, std::move(spool));
  return base::fail(ErrorCode::kInvalid, "there is no analyser {}; Meguri has {}",
                    base::quoted(name), names_of_all());
}

bool is_called(const AnalyserSettings& settings, std::string_view name) {
  return settings.kind == AnalyserKind::kBuiltIn && !settings.arguments.empty() &&
         settings.arguments.front() == name;
}

}  // namespace

std::span<const BuiltinAnalyser> builtin_analysers() { return kAnalysers; }

bool is_builtin(std::string_view name) {
  return std::ranges::any_of(kAnalysers, [name](const auto& one) { return one.name == name; });
}

base::Result<std::unique_ptr<Analyser>> make_builtin_analyser(const AnalyserSettings& settings) {
  CHECK(!settings.arguments.empty(), "an analyser without a name");
  ASSIGN_OR_RETURN(Analyse analyse, make_function(settings));
  return std::make_unique<FunctionAnalyser>(std::move(analyse));
}

bool counts_results(const AnalyserSettings& settings) { return is_called(settings, "count-by"); }

bool writes_warc(const AnalyserSettings& settings) { return is_called(settings, "warc"); }

std::vector<std::string> result_columns(const AnalyserSettings& settings) {
  CHECK(counts_results(settings), "these results are not counted");
  auto keys = parse_count_keys(Arguments(settings.arguments).subspan(1));
  CHECK(keys.has_value(), "{}", keys.error().message());
  return *std::move(keys);
}

base::Status expect_no_arguments(std::string_view name, Arguments arguments) {
  if (arguments.empty()) return {};
  return base::fail(ErrorCode::kInvalid, "{} takes no arguments, but there is {}", name,
                    base::quoted(arguments.front()));
}

void append_plain(std::string_view text, std::string& out) {
  const std::size_t begin = out.size();
  web::append_as_valid_utf8(text, &out);
  const auto is_control = [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte < 0x20 || byte == 0x7f;
  };
  std::replace_if(out.begin() + static_cast<std::ptrdiff_t>(begin), out.end(), is_control, ' ');
}

}  // namespace meguri::scan
