#include "sim/access_log.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "base/text.h"

namespace meguri::sim {
namespace {

using base::ErrorCode;
using base::fail;

constexpr std::size_t kFields = 7;

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '\t': out += "\\t"; break;
      case '\n': out += "\\n"; break;
      case '\r': out += "\\r"; break;
      case '\\': out += "\\\\"; break;
      default: out.push_back(c);
    }
  }
  return out;
}

std::string unescaped(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\' || i + 1 == text.size()) {
      out.push_back(text[i]);
      continue;
    }
    const char c = text[++i];
    out.push_back(c == 't' ? '\t' : (c == 'n' ? '\n' : (c == 'r' ? '\r' : c)));
  }
  return out;
}

template <typename Number>
bool parse_number(std::string_view text, Number* number) {
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, *number);
  return error == std::errc() && stop == end && !text.empty();
}

}  // namespace

std::string to_line(const Access& access) {
  return fmt::format("{}\t{}\t{}\t{}\t{}\t{}\t{}\n", access.arrival.ms(), access.end.ms(),
                     escaped(access.server), escaped(access.host), escaped(access.target),
                     access.status, access.bytes);
}

base::Result<Access> parse_access(std::string_view line) {
  if (line.ends_with('\n')) line.remove_suffix(1);
  std::array<std::string_view, kFields> fields;
  std::size_t count = 0;
  for (std::string_view rest = line;;) {
    const std::size_t tab = rest.find('\t');
    if (count < kFields) fields[count] = rest.substr(0, tab);
    ++count;
    if (tab == std::string_view::npos) break;
    rest.remove_prefix(tab + 1);
  }
  if (count != kFields) {
    return fail(ErrorCode::kCorrupt, "it has {} fields, not {}: {}", count, kFields,
                base::quoted(line));
  }
  Access access;
  std::int64_t arrival = 0;
  std::int64_t end = 0;
  if (!parse_number(fields[0], &arrival) || !parse_number(fields[1], &end) ||
      !parse_number(fields[5], &access.status) || !parse_number(fields[6], &access.bytes)) {
    return fail(ErrorCode::kCorrupt, "times, status and bytes must be numbers: {}",
                base::quoted(line));
  }
  if (end < arrival) {
    return fail(ErrorCode::kCorrupt, "the answer ends before the request: {}", base::quoted(line));
  }
  access.arrival = base::Instant::from_ms(arrival);
  access.end = base::Instant::from_ms(end);
  access.server = unescaped(fields[2]);
  access.host = unescaped(fields[3]);
  access.target = unescaped(fields[4]);
  return access;
}

base::Result<std::vector<Access>> parse_access_log(std::string_view text) {
  std::vector<Access> log;
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::size_t size = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, size);
    text.remove_prefix(std::min(size + 1, text.size()));
    if (line.empty() || line.starts_with('#')) continue;
    auto access = parse_access(line);
    if (!access) {
      return std::unexpected(access.error().with_context(fmt::format("line {}", number)));
    }
    log.push_back(*std::move(access));
  }
  return log;
}

}  // namespace meguri::sim
