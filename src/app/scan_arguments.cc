#include "app/scan_arguments.h"

#include <fmt/format.h>

#include <cstdint>
#include <limits>

#include "app/parallel_work.h"
#include "app/values.h"
#include "base/text.h"
#include "scan/builtin_analysers.h"
#include "scan/document_json.h"

namespace meguri::app {

namespace {

using base::ErrorCode;
using scan::AnalyserKind;
using scan::AnalyserSettings;
using scan::DispatchMode;
using scan::DispatchSettings;

constexpr std::uint64_t kMemoryDefault = std::uint64_t{4} << 30U;
constexpr std::uint64_t kTriesMax = 1000;

base::Result<DispatchMode> parse_mode(std::string_view text) {
  if (text.empty() || text == "pipelined") return DispatchMode::kPipelined;
  if (text == "sync") return DispatchMode::kSync;
  if (text == "static") return DispatchMode::kStatic;
  return base::fail(ErrorCode::kInvalid, "--dispatch must be pipelined, sync or static, not {}",
                    base::quoted(text));
}

std::vector<std::string> split_fields(std::string_view text) {
  std::vector<std::string> fields;
  while (!text.empty()) {
    const std::size_t end = text.find(',');
    fields.emplace_back(text.substr(0, end));
    text.remove_prefix(end == text.npos ? text.size() : end + 1);
  }
  return fields;
}

}  // namespace

void ScanArguments::declare(Options options) {
  options.any_arguments("PROGRAM", program_,
                        "What to run, and its arguments, behind '--' if they begin with a dash: a "
                        "program, a shared object (its path ends in .so), or built in: count-by "
                        "KEY…, links, text, grep REGEX, warc");
  options.flag("--lines", lines_,
               "Give the program one line of JSON for each document, and take one line back");
  options.option("--fields", "NAMES", fields_,
                 "Of --lines: what is in it, with commas between; of url, time, valid_from, "
                 "valid_to, mime, status, charset, language, title, text, links, digest, length, "
                 "month, host");
  options.option("--workers", "N", workers_,
                 "Analysers at once; as many as there are cores if not said");
  options.option("--dispatch", "MODE", mode_,
                 "pipelined (the default); sync and static are there to be compared with it");
  options.option("--restart-after", "N", restart_after_,
                 "Start an analyser anew after so many documents, for those that leak");
  options.option("--max-tries", "N", tries_,
                 "How often a document may fail before it is skipped; 3 if not said");
  options.option("--timeout", "TIME", timeout_,
                 "How long a document may take, such as 60s, the default");
  options.option("--memory", "SIZE", memory_,
                 "What an analyser may use, 4GiB if not said; 0: no limit");
  options.option("--cpu", "TIME", cpu_,
                 "CPU that a program may use for a document; ten times --timeout if not said");
  options.option("--max-content", "SIZE", content_, "Content above this is cut, 8GiB if not said");
  options.flag("--network", network_, "Let analysers use the network");
}

base::Result<AnalyserKind> ScanArguments::kind() const {
  const std::string& name = program_.front();
  if (scan::is_builtin(name)) {
    if (lines_) {
      return base::fail(ErrorCode::kInvalid,
                        "'{}' is built in and takes no --lines; to run a program of that name, say "
                        "its path",
                        name);
    }
    return AnalyserKind::kBuiltIn;
  }
  if (name.ends_with(".so")) {
    if (lines_) return base::fail(ErrorCode::kInvalid, "--lines is of programs, not of '{}'", name);
    return AnalyserKind::kPlugin;
  }
  return lines_ ? AnalyserKind::kLines : AnalyserKind::kProgram;
}

base::Result<AnalyserSettings> ScanArguments::analyser() const {
  if (program_.empty()) {
    return base::fail(ErrorCode::kInvalid,
                      "say what to run, such as 'count-by language' or '-- ./analyse.py'");
  }
  AnalyserSettings settings;
  ASSIGN_OR_RETURN(settings.kind, kind());
  settings.arguments = program_;
  settings.has_network = network_;
  settings.memory_max = kMemoryDefault;
  if (!memory_.empty()) {
    ASSIGN_OR_RETURN(settings.memory_max, parse_bytes("--memory", memory_));
  }
  if (!content_.empty()) {
    ASSIGN_OR_RETURN(settings.content_bytes_max, parse_bytes("--max-content", content_));
  }
  ASSIGN_OR_RETURN(const DispatchSettings times, dispatch());
  base::Duration cpu = times.timeout * 10;
  if (!cpu_.empty()) {
    ASSIGN_OR_RETURN(cpu, parse_duration("--cpu", cpu_));
  }
  settings.cpu_seconds_max = static_cast<std::uint64_t>((cpu.ms() + 999) / 1000);
  if (!fields_.empty() && !lines_) {
    return base::fail(ErrorCode::kInvalid, "--fields is of --lines");
  }
  if (lines_) {
    settings.fields = fields_.empty() ? scan::default_fields() : split_fields(fields_);
    RETURN_IF_ERROR(scan::check_fields(settings.fields));
  }
  // The arguments of built-in ones are looked at before anything is done.
  if (settings.kind == AnalyserKind::kBuiltIn) RETURN_IF_ERROR(scan::make_analyser(settings));
  return settings;
}

base::Result<DispatchSettings> ScanArguments::dispatch() const {
  DispatchSettings settings;
  ASSIGN_OR_RETURN(settings.workers, parse_workers(workers_));
  ASSIGN_OR_RETURN(settings.mode, parse_mode(mode_));
  if (!restart_after_.empty()) {
    ASSIGN_OR_RETURN(settings.restart_after, parse_count("--restart-after", restart_after_));
  }
  if (!tries_.empty()) {
    ASSIGN_OR_RETURN(const std::uint64_t tries, parse_count("--max-tries", tries_));
    if (tries == 0 || tries > kTriesMax) {
      return base::fail(ErrorCode::kInvalid, "--max-tries must be from 1 to {}", kTriesMax);
    }
    settings.tries_max = static_cast<std::uint32_t>(tries);
  }
  if (!timeout_.empty()) {
    ASSIGN_OR_RETURN(settings.timeout, parse_duration("--timeout", timeout_));
    if (settings.timeout <= base::Duration()) {
      return base::fail(ErrorCode::kInvalid, "--timeout must be above 0");
    }
  }
  return settings;
}

std::string describe(const AnalyserSettings& analyser) {
  return fmt::format("{}", fmt::join(analyser.arguments, " "));
}

}  // namespace meguri::app
