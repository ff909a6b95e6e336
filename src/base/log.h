// Structured logging: a sentence and fields with names, for people on the console and, as JSON
// lines, for programs.
//
//   log_info("archive opened", {{"dir", dir}, {"pages", pages}});
//
//   2026-11-15T08:09:10.123Z INFO  archive opened dir=/a pages=3
//   {"time":"2026-11-15T08:09:10.123Z","level":"info","message":"archive opened","dir":"/a",...}
//
// Values that come from outside cannot forge a line or a field: what holds spaces, quotes, '=',
// backslashes or control characters is quoted and escaped. A Duration is "2m05s" for people and a
// number of seconds in JSON.
#pragma once

#include <concepts>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <variant>

#include "base/console.h"
#include "base/result.h"
#include "base/time.h"

namespace spdlog::sinks {
class sink;  // NOLINT(readability-identifier-naming): as spdlog calls it
}  // namespace spdlog::sinks

namespace meguri::base {

enum class LogLevel : std::uint8_t { kDebug, kInfo, kWarn, kError, kOff };

std::string_view name_of(LogLevel level);                 // "debug", "info", "warn", "error", "off"
Result<LogLevel> parse_log_level(std::string_view text);  // the same names

// The value of a field. Borrows text until the end of the call it is made for.
class LogValue {
 public:
  using Variant =
      std::variant<std::string_view, std::int64_t, std::uint64_t, double, bool, Instant, Duration>;

  // Not explicit: fields are written as {"name", value}.
  LogValue(std::string_view value) : value_(value) {}
  LogValue(const std::string& value) : value_(std::string_view(value)) {}
  LogValue(const char* value) : value_(std::string_view(value)) {}
  LogValue(const Error& error) : value_(std::string_view(error.message())) {}
  LogValue(bool value) : value_(value) {}
  LogValue(std::signed_integral auto value) : value_(static_cast<std::int64_t>(value)) {}
  LogValue(std::unsigned_integral auto value) : value_(static_cast<std::uint64_t>(value)) {}
  LogValue(std::floating_point auto value) : value_(static_cast<double>(value)) {}
  LogValue(Instant value) : value_(value) {}
  LogValue(Duration value) : value_(value) {}

  const Variant& variant() const { return value_; }

 private:
  Variant value_;
};

struct LogField {
  std::string_view name;  // a word: letters, digits, '_', '-', '.'
  LogValue value;
};

// Thread-safe: any thread may log while another changes the settings.
class Logger {
 public:
  explicit Logger(Console& console);  // borrowed
  Logger(const Logger&) = delete;
  Logger& operator=(const Logger&) = delete;
  ~Logger();

  // The logger of log_info() and the like, on standard error. Never destroyed.
  static Logger& standard();

  void set_level(LogLevel least);  // of both outputs; kInfo at first
  bool is_on(LogLevel level) const;

  // Where the time of a line comes from; an empty function, as at first, means no time. What the
  // function uses must live until another one is set. It must not log itself.
  void set_time_source(std::function<Instant()> utc);

  // JSON lines go here too; nullptr, as at first, means nowhere. env::open_log_file makes one.
  // Shared, because spdlog shares its sinks with its loggers.
  void set_json_sink(std::shared_ptr<spdlog::sinks::sink> sink);

  void log(LogLevel level, std::string_view message, std::initializer_list<LogField> fields = {});

 private:
  struct Parts;
  const std::unique_ptr<Parts> parts_;
};

// The lines themselves, without their end.
std::string log_text(std::string_view time, LogLevel level, std::string_view message,
                     std::initializer_list<LogField> fields);
std::string log_json(std::string_view time, LogLevel level, std::string_view message,
                     std::initializer_list<LogField> fields);

inline void log_debug(std::string_view message, std::initializer_list<LogField> fields = {}) {
  Logger::standard().log(LogLevel::kDebug, message, fields);
}
inline void log_info(std::string_view message, std::initializer_list<LogField> fields = {}) {
  Logger::standard().log(LogLevel::kInfo, message, fields);
}
inline void log_warn(std::string_view message, std::initializer_list<LogField> fields = {}) {
  Logger::standard().log(LogLevel::kWarn, message, fields);
}
inline void log_error(std::string_view message, std::initializer_list<LogField> fields = {}) {
  Logger::standard().log(LogLevel::kError, message, fields);
}

}  // namespace meguri::base
