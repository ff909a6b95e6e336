// How a log line looks: log_text() and log_json() of log.h.
#include <algorithm>
#include <cmath>
#include <iterator>

#include "base/log.h"
#include "base/text.h"

namespace meguri::base {

namespace {

template <typename... Functions>
struct Overloaded : Functions... {
  using Functions::operator()...;
};

std::string_view padded_name_of(LogLevel level) {
  switch (level) {
    case LogLevel::kDebug: return "DEBUG";
    case LogLevel::kInfo: return "INFO ";
    case LogLevel::kWarn: return "WARN ";
    case LogLevel::kError: return "ERROR";
    case LogLevel::kOff: break;
  }
  return "OFF  ";
}

// Writes `text` bare if that is unmistakable: it is printable and has none of `special`.
void append_bare_or_quoted(std::string_view text, std::string_view special, std::string* out) {
  const std::size_t begin = out->size();
  append_printable(text, out);
  const bool is_plain = std::string_view(*out).substr(begin) == text &&
                        text.find_first_of(special) == std::string_view::npos;
  if (is_plain && !text.empty()) return;
  out->resize(begin);
  append_quoted(text, out);
}

constexpr bool is_word_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '-' || c == '.';
}

void append_name(std::string_view name, std::string* out) {
  std::ranges::transform(name, std::back_inserter(*out),
                         [](char c) { return is_word_character(c) ? c : '_'; });
}

template <typename Number>
void append_number(Number number, std::string* out) {
  fmt::format_to(std::back_inserter(*out), "{}", number);
}

void append_text_value(const LogValue& value, std::string* out) {
  std::visit(Overloaded{
                 [&](std::string_view text) { append_bare_or_quoted(text, " \"=\\", out); },
                 [&](Instant time) { *out += time.to_rfc3339(); },
                 [&](Duration duration) { *out += duration.to_string(); },
                 [&](auto number) { append_number(number, out); },
             },
             value.variant());
}

void append_json_number(double number, std::string* out) {
  if (std::isfinite(number)) {
    append_number(number, out);
  } else {
    *out += "null";  // JSON has no word for these
  }
}

void append_json_value(const LogValue& value, std::string* out) {
  std::visit(Overloaded{
                 [&](std::string_view text) { append_json_string(text, out); },
                 [&](Instant time) { append_json_string(time.to_rfc3339_ms(), out); },
                 [&](Duration duration) { append_json_number(duration.in_seconds(), out); },
                 [&](double number) { append_json_number(number, out); },
                 [&](auto number) { append_number(number, out); },
             },
             value.variant());
}

}  // namespace

std::string log_text(std::string_view time, LogLevel level, std::string_view message,
                     std::initializer_list<LogField> fields) {
  std::string line(time);
  if (!line.empty()) line += ' ';
  line.append(padded_name_of(level)).append(" ");
  append_bare_or_quoted(message, "\"=\\", &line);
  for (const LogField& field : fields) {
    line += ' ';
    append_name(field.name, &line);
    line += '=';
    append_text_value(field.value, &line);
  }
  return line;
}

std::string log_json(std::string_view time, LogLevel level, std::string_view message,
                     std::initializer_list<LogField> fields) {
  std::string line = "{";
  if (!time.empty()) {
    line += "\"time\":";
    append_json_string(time, &line);
    line += ',';
  }
  line.append("\"level\":\"").append(name_of(level)).append("\",\"message\":");
  append_json_string(message, &line);
  for (const LogField& field : fields) {
    line += ",\"";
    append_name(field.name, &line);
    const bool is_taken = field.name == "time" || field.name == "level" || field.name == "message";
    line += is_taken ? "_\":" : "\":";
    append_json_value(field.value, &line);
  }
  line += '}';
  return line;
}

}  // namespace meguri::base
