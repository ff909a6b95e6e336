#include "archive/warc_rewriter.h"

#include <algorithm>
#include <memory>

#include "archive/record_id.h"
#include "archive/tombstone.h"
#include "archive/warc_reader.h"

namespace meguri::archive {

namespace {

constexpr std::size_t kCopyBytes = std::size_t{1} << 20U;
constexpr std::size_t kMagicBytes = 4;

void add_run(const WarcRecord& record, RemovedRecords& found) {
  ++found.records;
  found.bytes += record.length;
  if (!found.runs.empty()) {
    RemovedRecords::Run& last = found.runs.back();
    if (last.offset + last.length == record.offset) {
      last.length += record.length;
      ++last.records;
      return;
    }
  }
  found.runs.push_back({.offset = record.offset, .length = record.length, .records = 1});
}

// Whether nothing else stands in its bytes, and all of it does.
bool stands_alone(const WarcRecord& record) {
  return record.length > 0 && !record.is_arc &&
         record.faults.without(WarcFault::kSkipped).is_whole();
}

}  // namespace

base::Result<RemovedRecords> WarcRewriter::find(const std::string& path) {
  RemovedRecords found;
  ASSIGN_OR_RETURN(const auto bytes, files_.open_read(path));
  WarcReader reader(*bytes);
  for (;;) {
    ASSIGN_OR_RETURN(const bool is_there, reader.next());
    if (!is_there) break;
    const WarcRecord& record = reader.record();
    const bool is_meant = removals_.has(record.target_uri());
    RETURN_IF_ERROR(reader.finish());
    RETURN_IF_ERROR(progress_(record.offset));
    if (is_tombstone(record)) ++found.before;
    if (!is_meant) continue;
    if (stands_alone(record)) {
      add_run(record, found);
    } else {
      found.stuck.push_back(record.offset);
    }
  }
  return found;
}

base::Status WarcRewriter::rewrite(const std::string& path, RemovedRecords& found) {
  if (found.runs.empty()) return {};
  const std::string beside = path + ".new";
  if (auto removed = files_.remove(beside);
      !removed && removed.error().code() != base::ErrorCode::kNotFound) {
    return removed;
  }
  ASSIGN_OR_RETURN(const auto from, files_.open_read(path));
  ASSIGN_OR_RETURN(const auto to, files_.create(beside));
  if (auto written = write(*from, found, *to); !written) {
    RETURN_IF_ERROR(files_.remove(beside));  // it may take the last space of the disk
    return written;
  }
  RETURN_IF_ERROR(to->sync());
  RETURN_IF_ERROR(files_.rename(beside, path));
  return files_.sync_dir(env::parent_of(path));
}

base::Status WarcRewriter::write(const env::ReadableFile& from, RemovedRecords& found,
                                 env::WritableFile& to) {
  std::uint64_t at = 0;
  for (const RemovedRecords::Run& run : found.runs) {
    RETURN_IF_ERROR(copy(from, at, run.offset, to));
    std::string magic;
    RETURN_IF_ERROR(from.read_at(run.offset, kMagicBytes, &magic));
    const Tombstone tombstone{.id = RecordId::draw(random_), .date = date_, .records = run.records};
    at = run.offset;
    const auto written =
        write_tombstone(tombstone, coding_of(magic), run.length,
                        [&to](std::string_view bytes) { return to.append(bytes); });
    if (written) {
      at += run.length;
    } else if (written.error().code() == base::ErrorCode::kUnsupported) {
      found.stuck.push_back(run.offset);
      found.records -= run.records;
      found.bytes -= run.length;
    } else {
      return written;
    }
  }
  ASSIGN_OR_RETURN(const std::uint64_t end, from.size());
  return copy(from, at, end, to);
}

base::Status WarcRewriter::copy(const env::ReadableFile& from, std::uint64_t begin,
                                std::uint64_t end, env::WritableFile& to) {
  std::string piece;
  while (begin < end) {
    const std::uint64_t wanted = std::min<std::uint64_t>(end - begin, kCopyBytes);
    RETURN_IF_ERROR(from.read_at(begin, static_cast<std::size_t>(wanted), &piece));
    if (piece.empty()) {
      return base::fail(base::ErrorCode::kIo, "the file became shorter while it was copied");
    }
    RETURN_IF_ERROR(to.append(piece));
    begin += piece.size();
    RETURN_IF_ERROR(progress_(begin));
  }
  return {};
}

}  // namespace meguri::archive
