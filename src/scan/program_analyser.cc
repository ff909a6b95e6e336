#include "scan/program_analyser.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "env/posix_file_system.h"
#include "env/spool.h"
#include "scan/analyser_process.h"
#include "scan/document_json.h"
#include "scan/document_page.h"
#include "scan/limits.h"
#include "scan/program_run.h"
#include "scan/result_cutter.h"

namespace meguri::scan {

namespace {

constexpr std::string_view kUnbufferedPython = "PYTHONUNBUFFERED=1";
// By these stdbuf makes programs write each line at once.
constexpr std::array<std::string_view, 2> kLineVariables = {"LD_PRELOAD=", "_STDBUF_O="};

// What `stdbuf -oL` would set in the environment of a program; nothing where there is none. It is
// asked, and not run before the program, so that whether the program can be started is seen.
std::vector<std::string> line_variables() {
  const auto process = AnalyserProcess::start({.arguments = {"stdbuf", "-oL", "env"}});
  if (!process) return {};
  (*process)->close_input();
  std::string text;
  for (std::string piece;;) {
    const auto event = (*process)->read(-1, piece);
    if (!event || *event == AnalyserProcess::Event::kEnd) break;
    text += piece;
  }
  std::vector<std::string> variables;
  std::string_view rest = text;
  while (!rest.empty()) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    for (const std::string_view front : kLineVariables) {
      if (line.starts_with(front)) variables.emplace_back(line);
    }
    rest.remove_prefix(std::min(line.size() + 1, rest.size()));
  }
  return variables;
}

// Header and content. False: the program does not read any more.
base::Result<bool> write_framed(AnalyserProcess& process, const Document& document) {
  const std::string header = header_line(document);
  const env::SpooledBytes& content = document.content;
  if (!content.is_on_disk()) return process.write(header, content.memory());
  bool is_read = process.write(header);
  std::string piece;
  for (std::uint64_t at = 0; is_read && at < content.size(); at += piece.size()) {
    RETURN_IF_ERROR(content.read_at(at, env::SpooledBytes::kPieceBytes, &piece));
    if (piece.empty()) return base::fail(base::ErrorCode::kCorrupt, "a temporary file ends early");
    is_read = process.write(piece);
  }
  return is_read;
}

class ProgramAnalyser final : public Analyser {
 public:
  explicit ProgramAnalyser(const AnalyserSettings& settings)
      : settings_(settings), is_lines_(settings.kind == AnalyserKind::kLines) {}

  base::Status start() override;
  base::Status run(DocumentStream& documents, ResultStream& results) override;
  std::uint64_t child_cpu_ns() const override;

 private:
  base::Result<AnalyserProcess*> restart();
  base::Result<bool> write(AnalyserProcess& process, const Document& document) const;

  const AnalyserSettings settings_;
  const bool is_lines_;
  env::PosixFileSystem fs_;
  std::vector<std::string> fields_;
  std::optional<NetworkFilter> filter_;
  AnalyserProcessSettings process_settings_;
  mutable base::Mutex mutex_;
  std::unique_ptr<AnalyserProcess> process_ GUARDED_BY(mutex_);
  std::uint64_t ended_cpu_ns_ GUARDED_BY(mutex_) = 0;  // of processes before
};

base::Status ProgramAnalyser::start() {
  process_settings_.arguments = settings_.arguments;
  process_settings_.memory_max = settings_.memory_max;
  if (is_lines_) {
    fields_ = settings_.fields.empty() ? default_fields() : settings_.fields;
    RETURN_IF_ERROR(check_fields(fields_));
    process_settings_.environment = line_variables();
    process_settings_.environment.emplace_back(kUnbufferedPython);
  }
  if (!settings_.has_network) {
    // Where the system has no such filters, the program runs without.
    if (auto filter = NetworkFilter::make()) filter_.emplace(*std::move(filter));
    process_settings_.filter = filter_ ? &*filter_ : nullptr;
  }
  RETURN_IF_ERROR(restart());
  return {};
}

base::Result<AnalyserProcess*> ProgramAnalyser::restart() {
  ASSIGN_OR_RETURN(auto process, AnalyserProcess::start(process_settings_));
  const base::MutexLock lock(mutex_);
  if (process_ != nullptr) ended_cpu_ns_ += process_->cpu_ns();
  process_ = std::move(process);
  return process_.get();
}

base::Result<bool> ProgramAnalyser::write(AnalyserProcess& process,
                                          const Document& document) const {
  if (!is_lines_) return write_framed(process, document);
  DocumentPage page(document, needs_text(document, fields_) ? DocumentPage::Want::kText
                                                            : DocumentPage::Want::kLinks);
  return process.write(fields_line(document, page, fields_));
}

base::Status ProgramAnalyser::run(DocumentStream& documents, ResultStream& results) {
  std::optional<env::Spool> spool;
  if (!settings_.scratch.empty()) spool.emplace(fs_, settings_.scratch, env::SpoolLimits());
  env::Spool* const place = spool ? &*spool : nullptr;
  FramedResults framed(place);
  LineResults lines(place);
  const ProgramRunOptions options{
      .restart = [this] { return restart(); },
      .write = [this](AnalyserProcess& process,
                      const Document& document) { return write(process, document); },
      .cpu_seconds_max = settings_.cpu_seconds_max,
      .may_hold_back = is_lines_};
  AnalyserProcess* process = nullptr;
  {
    const base::MutexLock lock(mutex_);
    process = process_.get();
  }
  ResultCutter& cutter = is_lines_ ? static_cast<ResultCutter&>(lines) : framed;
  return ProgramRun(*process, cutter, options).run(documents, results);
}

std::uint64_t ProgramAnalyser::child_cpu_ns() const {
  const base::MutexLock lock(mutex_);
  return ended_cpu_ns_ + (process_ == nullptr ? 0 : process_->cpu_ns());
}

}  // namespace

std::unique_ptr<Analyser> make_program_analyser(const AnalyserSettings& settings) {
  return std::make_unique<ProgramAnalyser>(settings);
}

}  // namespace meguri::scan
