#include "base/log.h"

#include <spdlog/logger.h>
#include <spdlog/sinks/base_sink.h>
#include <spdlog/sinks/sink.h>

#include <array>
#include <atomic>
#include <utility>

#include "base/mutex.h"
#include "base/text.h"

namespace meguri::base {

namespace {

constexpr std::array kNames = {
    std::pair{LogLevel::kDebug, std::string_view("debug")},
    std::pair{LogLevel::kInfo, std::string_view("info")},
    std::pair{LogLevel::kWarn, std::string_view("warn")},
    std::pair{LogLevel::kError, std::string_view("error")},
    std::pair{LogLevel::kOff, std::string_view("off")},
};

spdlog::level::level_enum spdlog_level(LogLevel level) {
  switch (level) {
    case LogLevel::kDebug: return spdlog::level::debug;
    case LogLevel::kInfo: return spdlog::level::info;
    case LogLevel::kWarn: return spdlog::level::warn;
    case LogLevel::kError: return spdlog::level::err;
    case LogLevel::kOff: break;
  }
  return spdlog::level::off;
}

// The console locks for itself.
class ConsoleSink final : public spdlog::sinks::base_sink<spdlog::details::null_mutex> {
 public:
  explicit ConsoleSink(Console& console) : console_(console) {}

 protected:
  void sink_it_(const spdlog::details::log_msg& message) override {
    console_.write_line({message.payload.data(), message.payload.size()});
  }
  void flush_() override {}

 private:
  Console& console_;
};

// A line that is complete already, without a time of spdlog's own.
void write(spdlog::logger& to, LogLevel level, std::string_view line) {
  to.log(spdlog::log_clock::time_point(), spdlog::source_loc(), spdlog_level(level),
         spdlog::string_view_t(line.data(), line.size()));
}

}  // namespace

struct Logger::Parts {
  explicit Parts(Console& to) : console(to), text("text", std::make_shared<ConsoleSink>(to)) {
    text.set_level(spdlog::level::trace);
  }

  Console& console;
  std::atomic<LogLevel> least = LogLevel::kInfo;
  spdlog::logger text;
  Mutex mutex;
  std::function<Instant()> utc GUARDED_BY(mutex);
  // Shared with lines that are being written while another sink is set.
  std::shared_ptr<spdlog::logger> json GUARDED_BY(mutex);
};

std::string_view name_of(LogLevel level) {
  for (const auto& [value, name] : kNames) {
    if (value == level) return name;
  }
  return "unknown";
}

Result<LogLevel> parse_log_level(std::string_view text) {
  for (const auto& [level, name] : kNames) {
    if (name == text) return level;
  }
  return fail(ErrorCode::kInvalid, "{} is not a log level: debug, info, warn, error or off",
              quoted(text));
}

Logger::Logger(Console& console) : parts_(std::make_unique<Parts>(console)) {}

Logger::~Logger() = default;

Logger& Logger::standard() {
  // Never destroyed, because threads and destructors of static objects may still log.
  static Logger& logger = *new Logger(Console::standard_error());
  return logger;
}

void Logger::set_level(LogLevel least) { parts_->least = least; }

bool Logger::is_on(LogLevel level) const {
  return level != LogLevel::kOff && level >= parts_->least;
}

void Logger::set_time_source(std::function<Instant()> utc) {
  const MutexLock lock(parts_->mutex);
  parts_->utc = std::move(utc);
}

void Logger::set_json_sink(std::shared_ptr<spdlog::sinks::sink> sink) {
  std::shared_ptr<spdlog::logger> json;
  if (sink) {
    sink->set_pattern("%v");
    json = std::make_shared<spdlog::logger>("json", std::move(sink));
    json->set_level(spdlog::level::trace);
    json->flush_on(spdlog::level::trace);  // lines must outlive kill -9
    // Said once: a full disk would otherwise fill the console too.
    json->set_error_handler(
        [&console = parts_->console,
         is_said = std::make_shared<std::atomic_flag>()](const std::string& problem) {
          if (is_said->test_and_set()) return;
          console.write_line(
              log_text({}, LogLevel::kError, "cannot write the log file", {{"error", problem}}));
        });
  }
  const MutexLock lock(parts_->mutex);
  parts_->json = std::move(json);
}

void Logger::log(LogLevel level, std::string_view message, std::initializer_list<LogField> fields) {
  if (!is_on(level)) return;
  std::string time;
  std::shared_ptr<spdlog::logger> json;
  {
    const MutexLock lock(parts_->mutex);
    if (parts_->utc) time = parts_->utc().to_rfc3339_ms();
    json = parts_->json;
  }
  write(parts_->text, level, log_text(time, level, message, fields));
  if (json) write(*json, level, log_json(time, level, message, fields));
}

}  // namespace meguri::base
