#include "scan/analyser.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/check.h"
#include "base/text.h"
#include "scan/builtin_analysers.h"
#include "scan/plugin_analyser.h"
#include "scan/program_analyser.h"
#include "web/utf8.h"

namespace meguri::scan {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::array<std::string_view, 4> kKinds = {"builtin", "plugin", "program", "lines"};

// Arguments and paths are any bytes. Those that are no text are a list of numbers.
Json json_of(const std::string& bytes) {
  if (web::is_valid_utf8(bytes)) return bytes;
  Json numbers = Json::array();
  for (const char byte : bytes) numbers.push_back(static_cast<unsigned char>(byte));
  return numbers;
}

Json json_of(const std::vector<std::string>& texts) {
  Json list = Json::array();
  for (const std::string& text : texts) list.push_back(json_of(text));
  return list;
}

bool is_byte(const Json& json) {
  return json.is_number_unsigned() && json.get<std::uint64_t>() <= 0xff;
}

// These take a value out of `json` if it is there; false if it is something else.
bool take(const Json& json, std::string& bytes) {
  if (json.is_string()) {
    bytes = json.get<std::string>();
    return true;
  }
  if (!json.is_array() || !std::all_of(json.begin(), json.end(), is_byte)) return false;
  bytes.clear();
  for (const Json& number : json) bytes += static_cast<char>(number.get<unsigned char>());
  return true;
}

bool take(const Json& json, std::vector<std::string>& texts) {
  if (!json.is_array()) return false;
  for (const Json& each : json) {
    if (!take(each, texts.emplace_back())) return false;
  }
  return true;
}

bool take(const Json& json, std::uint64_t& number) {
  if (!json.is_number_unsigned()) return false;
  number = json.get<std::uint64_t>();
  return true;
}

bool take(const Json& json, bool& value) {
  if (!json.is_boolean()) return false;
  value = json.get<bool>();
  return true;
}

bool take(const Json& json, AnalyserKind& kind) {
  if (!json.is_string()) return false;
  const auto* const found = std::ranges::find(kKinds, json.get<std::string>());
  if (found == kKinds.end()) return false;
  kind = static_cast<AnalyserKind>(found - kKinds.begin());
  return true;
}

}  // namespace

base::Status FunctionAnalyser::run(DocumentStream& documents, ResultStream& results) {
  for (;;) {
    ASSIGN_OR_RETURN(const std::optional<Document> document, documents.next());
    if (!document) return {};
    ASSIGN_OR_RETURN(const env::SpooledBytes result, analyse_(*document));
    RETURN_IF_ERROR(results.put(document->facts.number, result));
  }
}

std::string AnalyserSettings::to_json() const {
  const Json json = {{"kind", kKinds.at(static_cast<std::size_t>(kind))},
                     {"arguments", json_of(arguments)},
                     {"fields", json_of(fields)},
                     {"memory_max", memory_max},
                     {"cpu_seconds_max", cpu_seconds_max},
                     {"has_network", has_network},
                     {"content_bytes_max", content_bytes_max},
                     {"scratch", json_of(scratch)}};
  return json.dump();
}

base::Result<AnalyserSettings> AnalyserSettings::from_json(std::string_view json) {
  const Json parsed = Json::parse(json, nullptr, /*allow_exceptions=*/false);
  AnalyserSettings settings;
  const auto read = [&parsed](std::string_view name, auto& value) {
    const auto found = parsed.find(std::string(name));
    return found != parsed.end() && take(*found, value);
  };
  const bool is_whole =
      parsed.is_object() && read("kind", settings.kind) && read("arguments", settings.arguments) &&
      !settings.arguments.empty() && read("fields", settings.fields) &&
      read("memory_max", settings.memory_max) &&
      read("cpu_seconds_max", settings.cpu_seconds_max) &&
      read("has_network", settings.has_network) &&
      read("content_bytes_max", settings.content_bytes_max) && read("scratch", settings.scratch);
  if (is_whole) return settings;
  return base::fail(base::ErrorCode::kCorrupt, "these are no settings of an analyser: {}",
                    base::quoted(json));
}

base::Result<std::unique_ptr<Analyser>> make_analyser(const AnalyserSettings& settings) {
  CHECK(!settings.arguments.empty(), "an analyser without a name");
  switch (settings.kind) {
    case AnalyserKind::kBuiltIn: return make_builtin_analyser(settings);
    case AnalyserKind::kPlugin: return make_plugin_analyser(settings);
    case AnalyserKind::kProgram:
    case AnalyserKind::kLines: break;
  }
  return make_program_analyser(settings);
}

}  // namespace meguri::scan
