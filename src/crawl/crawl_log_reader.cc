#include "crawl/crawl_log_reader.h"

#include <algorithm>
#include <limits>
#include <map>
#include <memory>

#include "web/http_text.h"

namespace meguri::crawl {

namespace {

constexpr std::size_t kPieceBytes = std::size_t{1} << 20U;
constexpr std::size_t kLineBytesMax = std::size_t{1} << 20U;  // a longer one is none of ours

// What stands behind `,"name":`. Within a text every quote has a backslash before it, so that this
// is found nowhere else.
std::optional<std::string_view> field(std::string_view line, std::string_view name) {
  for (std::size_t at = line.find(name); at != line.npos; at = line.find(name, at + 1)) {
    if (at < 2 || line.substr(at - 2, 2) != ",\"") continue;
    const std::string_view behind = line.substr(at + name.size());
    if (behind.starts_with("\":")) return behind.substr(2);
  }
  return std::nullopt;
}

// Of a text that needs no escapes.
std::optional<std::string_view> text_of(std::string_view line, std::string_view name) {
  auto value = field(line, name);
  if (!value || !value->starts_with('"')) return std::nullopt;
  value->remove_prefix(1);
  const std::size_t end = value->find('"');
  if (end == value->npos) return std::nullopt;
  return value->substr(0, end);
}

std::optional<std::uint64_t> number_of(std::string_view line, std::string_view name) {
  const auto value = field(line, name);
  if (!value) return std::nullopt;
  return web::parse_decimal(value->substr(0, value->find_first_not_of("0123456789")));
}

std::optional<LoggedVisit::Kind> kind_of(std::string_view name) {
  if (name == "page") return LoggedVisit::Kind::kPage;
  if (name == "robots") return LoggedVisit::Kind::kRobots;
  if (name == "refusal") return LoggedVisit::Kind::kRefusal;
  return std::nullopt;
}

std::optional<VisitOutcome> outcome_of(std::string_view name) {
  for (const VisitOutcome outcome :
       {VisitOutcome::kChanged, VisitOutcome::kUnchanged, VisitOutcome::kGone,
        VisitOutcome::kRedirected, VisitOutcome::kError}) {
    if (name_of(outcome) == name) return outcome;
  }
  return std::nullopt;
}

// The lines of one file up to `end`.
class FileReading {
 public:
  FileReading(LogReading& reading, const std::function<void(const LoggedVisit&)>& use)
      : reading_(reading), use_(use) {}

  base::Status read(const env::ReadableFile& file, std::uint64_t end) {
    std::string piece;
    for (std::uint64_t at = 0; at < end;) {
      const auto wanted = static_cast<std::size_t>(std::min<std::uint64_t>(kPieceBytes, end - at));
      RETURN_IF_ERROR(file.read_at(at, wanted, &piece));
      if (piece.empty()) {
        reading_.bytes_missing += end - at;
        break;
      }
      at += piece.size();
      take(piece);
    }
    if (!rest_.empty()) take("\n");
    return {};
  }

 private:
  void take(std::string_view piece) {
    for (std::size_t end = piece.find('\n'); end != piece.npos; end = piece.find('\n')) {
      if (rest_.empty()) {
        take_line(piece.substr(0, end));
      } else {
        take_line(rest_.append(piece.substr(0, end)));
        rest_.clear();
      }
      piece.remove_prefix(end + 1);
    }
    if (rest_.size() < kLineBytesMax) rest_.append(piece);
  }

  void take_line(std::string_view line) {
    ++reading_.lines;
    const auto visit = parse_log_line(line);
    if (visit) {
      use_(*visit);
    } else {
      ++reading_.strange;
    }
  }

  LogReading& reading_;
  const std::function<void(const LoggedVisit&)>& use_;
  std::string rest_;  // of a line that has begun
};

constexpr std::uint64_t kWhole = std::numeric_limits<std::uint64_t>::max();

base::Status read_closed(env::FileSystem& files, const std::string& path, std::uint64_t end,
                         FileReading& reading) {
  ASSIGN_OR_RETURN(const auto file, files.open_read(path));
  if (end == kWhole) {
    ASSIGN_OR_RETURN(end, file->size());
  }
  return reading.read(*file, end);
}

}  // namespace

std::optional<LoggedVisit> parse_log_line(std::string_view line) {
  constexpr std::string_view kTime = "{\"time\":\"";
  if (!line.starts_with(kTime) || !line.ends_with('}')) return std::nullopt;
  const std::string_view behind = line.substr(kTime.size());
  const auto time = base::Instant::parse_rfc3339(behind.substr(0, behind.find('"')));
  const auto type = text_of(line, "type");
  const auto kind = type ? kind_of(*type) : std::nullopt;
  if (!time || !kind) return std::nullopt;
  LoggedVisit visit;
  visit.time = *time;
  visit.kind = *kind;
  if (visit.kind == LoggedVisit::Kind::kRefusal) return visit;
  const auto status = number_of(line, "status");
  visit.status = status && *status < 1000 ? static_cast<int>(*status) : 0;
  if (const auto outcome = text_of(line, "outcome")) visit.outcome = outcome_of(*outcome);
  visit.bytes = number_of(line, "bytes").value_or(0);
  constexpr std::uint64_t kMsMax = 86'400'000;
  const std::uint64_t ms = std::min(number_of(line, "ms").value_or(0), kMsMax);
  visit.duration = base::Duration::from_ms(static_cast<std::int64_t>(ms));
  return visit;
}

base::Result<LogReading> read_crawl_log(env::FileSystem& files, const std::string& dir,
                                        const CrawlLogMark& mark,
                                        const std::function<void(const LoggedVisit& visit)>& use) {
  LogReading reading;
  // Opened before the names are listed: if it is closed in between, the list has its new name.
  auto growing = files.open_read(growing_log(dir));
  if (!growing && growing.error().code() != base::ErrorCode::kNotFound) {
    return std::unexpected(growing.error());
  }
  std::map<std::uint64_t, std::string> closed;
  const auto names = files.list(dir);
  if (!names && names.error().code() != base::ErrorCode::kNotFound) {
    return std::unexpected(names.error());
  }
  if (names) {
    for (const std::string& name : *names) {
      if (const auto serial = closed_log_serial(name)) closed[*serial] = dir + "/" + name;
    }
  }
  for (const auto& [serial, path] : closed) {
    FileReading file(reading, use);
    if (serial < mark.serial) RETURN_IF_ERROR(read_closed(files, path, kWhole, file));
    if (serial == mark.serial) RETURN_IF_ERROR(read_closed(files, path, mark.offset, file));
  }
  for (std::uint64_t serial = 1; serial < mark.serial; ++serial) {
    if (!closed.contains(serial)) ++reading.files_missing;
  }
  if (closed.contains(mark.serial)) return reading;
  if (growing) {
    FileReading file(reading, use);
    RETURN_IF_ERROR(file.read(**growing, mark.offset));
  } else {
    reading.bytes_missing = mark.offset;
  }
  return reading;
}

}  // namespace meguri::crawl
