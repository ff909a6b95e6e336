#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "app/archive_door.h"
#include "app/command.h"
#include "app/crawl_config.h"
#include "app/report_page.h"
#include "app/report_reading.h"
#include "app/values.h"
#include "base/console.h"
#include "base/progress.h"
#include "env/clock.h"
#include "env/posix_file_system.h"

namespace meguri::app {
namespace {

class ReportCommand final : public Command {
 public:
  void declare(Options options) override {
    options.argument("DIR", archive_, "The archive");
    options.option("-o,--output", "FILE", output_,
                   "Where the page is to be; - is standard output (default: DIR/report.html)");
    options.option("--config", "FILE", config_file_,
                   "What the crawl is told, instead of DIR/meguri.toml");
    options.option("--min-delay", "DURATION", min_delay_,
                   "The least delay of the crawl, if its command line said another");
    options.flag("--json", json_, "Print one JSON object; a page only if -o asks for it");
  }

  base::Status run(Output& out) override;

 private:
  base::Result<CrawlConfig> config(env::FileSystem& files) const;
  base::Status write_page(const CrawlReport& report, env::FileSystem& files, Output& out) const;

  std::string archive_;
  std::string output_;
  std::string config_file_;
  std::string min_delay_;
  bool json_ = false;
};

base::Result<CrawlConfig> ReportCommand::config(env::FileSystem& files) const {
  CrawlConfig config;
  const std::string path = config_file_.empty() ? archive_ + "/meguri.toml" : config_file_;
  bool is_there = true;
  if (config_file_.empty()) {
    ASSIGN_OR_RETURN(is_there, files.exists(path));
  }
  if (is_there) {
    ASSIGN_OR_RETURN(const std::string text, env::read_file(files, path));
    RETURN_IF_ERROR(read_config(text, path, config));
  }
  if (!min_delay_.empty()) {
    ASSIGN_OR_RETURN(const base::Duration delay, parse_duration("--min-delay", min_delay_));
    if (delay > base::Duration::days(1)) {
      return base::fail(base::ErrorCode::kInvalid, "--min-delay is a day at most");
    }
    config.delay_ms = static_cast<std::uint32_t>(delay.ms());
  }
  RETURN_IF_ERROR(complete(config, archive_));
  return config;
}

base::Status ReportCommand::run(Output& out) {
  if (json_ && output_ == "-") {
    return base::fail(base::ErrorCode::kInvalid,
                      "--json and -o - both want standard output; say one of them");
  }
  env::PosixFileSystem files;
  bool is_running = false;
  {
    // Nobody waits for this report: a crawl may begin while it is made.
    ASSIGN_OR_RETURN(const ArchiveDoor door, ArchiveDoor::open(files, archive_));
    is_running = door.is_running();
  }
  ASSIGN_OR_RETURN(const CrawlConfig told, config(files));
  const env::RealClock clock;
  base::Progress progress(base::Console::standard_error());
  const auto tell = [&](std::string_view text) { progress.update(clock.ticks(), text); };
  ASSIGN_OR_RETURN(CrawlReport report, read_report(files, {archive_, told.crawl, tell}));
  progress.finish();
  report.made = clock.utc();
  report.is_running = is_running;
  if (json_) {
    out.print("{}\n", report.to_json().dump(-1, ' ', false,
                                            nlohmann::ordered_json::error_handler_t::replace));
    if (output_.empty()) return {};
  }
  return write_page(report, files, out);
}

base::Status ReportCommand::write_page(const CrawlReport& report, env::FileSystem& files,
                                       Output& out) const {
  const std::string page = report_page(report);
  if (output_ == "-") {
    out.write(page);
    return {};
  }
  const std::string path = output_.empty() ? archive_ + "/report.html" : output_;
  if (const auto status = env::write_file_atomically(files, path, page); !status) {
    return base::fail(status.error().code(), "the report cannot be written: {}{}",
                      status.error().message(),
                      output_.empty() ? "; -o FILE writes it elsewhere" : "");
  }
  if (!json_) out.print("the report is in {}\n", path);
  return {};
}

}  // namespace

std::unique_ptr<Command> make_report_command() { return std::make_unique<ReportCommand>(); }

}  // namespace meguri::app
