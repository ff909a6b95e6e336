#include "app/warc_walk.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "app/figures.h"
#include "base/console.h"
#include "web/http_text.h"

namespace meguri::app {

namespace {

using archive::WarcFault;
using base::ErrorCode;

constexpr base::Duration kQuietFor = base::Duration::seconds(2);

// What was begun as a record, so that the file is one of ours to read, however little there is.
bool began_a_record(archive::WarcFaults faults) {
  return faults.has(WarcFault::kBadHead) || faults.has(WarcFault::kTruncated);
}

}  // namespace

std::string WarcPlace::to_string() const {
  return index == 0 ? fmt::format("{}", offset) : fmt::format("{}+{}", offset, index);
}

std::optional<WarcPlace> WarcPlace::parse(std::string_view text) {
  const std::size_t plus = text.find('+');
  const auto offset = web::parse_decimal(text.substr(0, plus));
  if (!offset) return std::nullopt;
  if (plus == std::string_view::npos) return WarcPlace{.offset = *offset};
  const auto index = web::parse_decimal(text.substr(plus + 1));
  if (!index) return std::nullopt;
  return WarcPlace{.offset = *offset, .index = *index};
}

WarcPlace PlaceCounter::next(const archive::WarcRecord& record) {
  const bool is_shared = last_ && last_->offset == record.offset;
  last_ = {.offset = record.offset, .index = is_shared ? last_->index + 1 : 0};
  return *last_;
}

base::Result<std::unique_ptr<env::ReadableFile>> open_warc(env::FileSystem& files,
                                                           const std::string& path) {
  if (files.list(path)) {
    return base::fail(ErrorCode::kInvalid, "{} is a folder; name the files in it", path);
  }
  return files.open_read(path);
}

nlohmann::ordered_json json_of(const WalkedRecord& walked, const std::string& path) {
  const archive::WarcRecord& record = walked.record;
  nlohmann::ordered_json json = {{"file", path},
                                 {"offset", walked.place.offset},
                                 {"index", walked.place.index},
                                 {"length", record.length},
                                 {"format", record.is_arc ? "arc" : "warc"},
                                 {"version", record.version},
                                 {"type", record.type()},
                                 {"date", record.get("WARC-Date")},
                                 {"id", record.get("WARC-Record-ID")}};
  if (!record.target_uri().empty()) json["url"] = record.target_uri();
  if (walked.found.status != 0) json["status"] = walked.found.status;
  if (!walked.found.mime.empty()) json["mime"] = walked.found.mime;
  json["content_length"] = record.content_length;
  json["block_digest"] = name_of(walked.found.block.verdict);
  json["payload_digest"] = name_of(walked.found.payload.verdict);
  json["whole"] = record.faults.is_whole();
  json["faults"] = record.faults.names();
  return json;
}

WarcWalk::WarcWalk(env::FileSystem& files, bool shows_progress)
    : files_(files),
      shows_progress_(shows_progress),
      started_(clock_.ticks()),
      progress_(base::Console::standard_error()) {}

base::Result<WalkEnd> WarcWalk::walk(const std::string& path, const Take& take) {
  ASSIGN_OR_RETURN(const auto file, open_warc(files_, path));
  WalkEnd end;
  ASSIGN_OR_RETURN(end.bytes, file->size());
  archive::WarcReader reader(*file);
  PlaceCounter places;
  for (;;) {
    ASSIGN_OR_RETURN(const bool has_record, reader.next());
    if (!has_record) break;
    ++end.records;
    const WarcPlace place = places.next(reader.record());
    show(path, reader.record(), end.bytes);
    ASSIGN_OR_RETURN(const archive::Examination found, archive::examine(reader));
    if (!take({.place = place, .record = reader.record(), .found = found})) return end;
  }
  end.faults = reader.record().faults;
  end.skipped_bytes = reader.record().skipped_bytes;
  if (end.records == 0 && end.bytes > 0 && !began_a_record(end.faults)) {
    return base::fail(ErrorCode::kCorrupt, "{} is no WARC file: no record is in it", path);
  }
  return end;
}

void WarcWalk::show(const std::string& path, const archive::WarcRecord& record,
                    std::uint64_t bytes) {
  if (!shows_progress_) return;
  const base::Ticks now = clock_.ticks();
  if (now - started_ < kQuietFor || !progress_.is_due(now)) return;
  progress_.update(now,
                   fmt::format("{}: {} of {}", path, bytes_text(record.offset), bytes_text(bytes)));
}

void WarcWalk::clear() {
  if (shows_progress_) base::Console::standard_error().show_live("");
}

}  // namespace meguri::app
