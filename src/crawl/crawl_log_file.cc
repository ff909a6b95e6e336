#include "crawl/crawl_log_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/log.h"
#include "web/http_text.h"

namespace meguri::crawl {

namespace {

constexpr std::string_view kPrefix = "crawl-";
constexpr std::string_view kSuffix = ".jsonl";
constexpr std::size_t kTimeDigits = 14;

}  // namespace

std::string growing_log(const std::string& dir) { return dir + "/crawl.jsonl"; }

std::optional<std::uint64_t> closed_log_serial(std::string_view name) {
  if (!name.starts_with(kPrefix) || !name.ends_with(kSuffix)) return std::nullopt;
  name.remove_prefix(kPrefix.size());
  name.remove_suffix(kSuffix.size());
  if (name.size() <= kTimeDigits || name[kTimeDigits] != '-') return std::nullopt;
  if (!web::parse_decimal(name.substr(0, kTimeDigits))) return std::nullopt;
  return web::parse_decimal(name.substr(kTimeDigits + 1));
}

std::string CrawlLogMark::encode() const { return fmt::format("{} {}", serial, offset); }

std::optional<CrawlLogMark> CrawlLogMark::decode(std::string_view text) {
  const std::size_t blank = text.find(' ');
  if (blank == std::string_view::npos) return std::nullopt;
  const auto serial = web::parse_decimal(text.substr(0, blank));
  const auto offset = web::parse_decimal(text.substr(blank + 1));
  if (!serial || !offset) return std::nullopt;
  return CrawlLogMark{.serial = *serial, .offset = *offset};
}

base::Result<CrawlLogMark> CrawlLogFile::end_of(env::FileSystem& fs, const std::string& dir) {
  CrawlLogMark end;
  ASSIGN_OR_RETURN(const auto names, fs.list(dir));
  for (const std::string& name : names) {
    if (const auto serial = closed_log_serial(name)) end.serial = std::max(end.serial, *serial + 1);
  }
  ASSIGN_OR_RETURN(const bool exists, fs.exists(growing_log(dir)));
  if (!exists) return end;
  ASSIGN_OR_RETURN(end.offset, fs.size(growing_log(dir)));
  return end;
}

CrawlLogFile::CrawlLogFile(env::FileSystem& fs, const env::Clock& clock, CrawlLogOptions options,
                           const CrawlLogMark& mark)
    : fs_(fs), clock_(clock), options_(std::move(options)), end_(mark) {}

base::Result<std::unique_ptr<CrawlLogFile>> CrawlLogFile::open(env::FileSystem& fs,
                                                               const env::Clock& clock,
                                                               CrawlLogOptions options,
                                                               const CrawlLogMark& mark) {
  auto file = std::unique_ptr<CrawlLogFile>(new CrawlLogFile(fs, clock, std::move(options), mark));
  RETURN_IF_ERROR(file->bring_back());
  RETURN_IF_ERROR(file->cut());
  RETURN_IF_ERROR(file->open_file());
  return file;
}

// Files that were closed after the mark: the marked one grows again, later ones do not count.
base::Status CrawlLogFile::bring_back() {
  ASSIGN_OR_RETURN(const auto names, fs_.list(options_.dir));
  for (const std::string& name : names) {
    const auto serial = closed_log_serial(name);
    if (!serial || *serial < end_.serial) continue;
    const std::string path = fmt::format("{}/{}", options_.dir, name);
    if (*serial == end_.serial) {
      RETURN_IF_ERROR(fs_.rename(path, growing_log(options_.dir)));
    } else {
      RETURN_IF_ERROR(fs_.remove(path));
    }
    RETURN_IF_ERROR(fs_.sync_dir(options_.dir));
  }
  return {};
}

base::Status CrawlLogFile::cut() {
  const std::string path = growing_log(options_.dir);
  ASSIGN_OR_RETURN(const bool exists, fs_.exists(path));
  std::uint64_t size = 0;
  if (exists) {
    ASSIGN_OR_RETURN(size, fs_.size(path));
  }
  if (size > end_.offset) return fs_.truncate(path, end_.offset);
  if (size < end_.offset) {
    base::log_warn("lines of the crawl log are gone",
                   {{"file", path}, {"bytes", size}, {"expected", end_.offset}});
    end_.offset = size;
  }
  return {};
}

base::Status CrawlLogFile::open_file() {
  ASSIGN_OR_RETURN(file_, fs_.open_append(growing_log(options_.dir)));
  name_unsynced_ = true;
  return {};
}

base::Status CrawlLogFile::append(std::string_view lines) {
  if (lines.empty()) return {};
  if (file_ == nullptr) RETURN_IF_ERROR(open_file());
  RETURN_IF_ERROR(file_->append(lines));
  end_.offset += lines.size();
  is_dirty_ = true;
  return {};
}

base::Result<CrawlLogMark> CrawlLogFile::sync() {
  if (is_dirty_) RETURN_IF_ERROR(file_->sync());
  if (name_unsynced_) RETURN_IF_ERROR(fs_.sync_dir(options_.dir));
  is_dirty_ = false;
  name_unsynced_ = false;
  if (end_.offset >= options_.file_bytes_max) RETURN_IF_ERROR(close_file());
  return end_;
}

// The new name is durable before there is a new file, so that a mark in that one vouches for it.
base::Status CrawlLogFile::close_file() {
  file_.reset();
  const std::string name =
      fmt::format("{}{}-{:05}{}", kPrefix, clock_.utc().to_digits(), end_.serial, kSuffix);
  RETURN_IF_ERROR(fs_.rename(growing_log(options_.dir), options_.dir + "/" + name));
  RETURN_IF_ERROR(fs_.sync_dir(options_.dir));
  end_ = {.serial = end_.serial + 1, .offset = 0};
  return {};
}

}  // namespace meguri::crawl
