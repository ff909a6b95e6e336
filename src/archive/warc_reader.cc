#include "archive/warc_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "archive/arc_line.h"
#include "archive/record_id.h"
#include "base/check.h"
#include "base/hash.h"
#include "web/ascii.h"
#include "web/http_text.h"

namespace meguri::archive {

namespace {

using Event = MemberStream::Event;

constexpr std::string_view kRecordStart = "WARC/";
constexpr std::size_t kStartSize = kRecordStart.size() + 1;  // and a digit
constexpr std::string_view kBlankLines = "\r\n\r\n";

bool is_line_end(char c) { return c == '\r' || c == '\n'; }

std::size_t count_line_ends(std::string_view bytes) {
  return static_cast<std::size_t>(std::ranges::find_if_not(bytes, is_line_end) - bytes.begin());
}

bool is_known_version(std::string_view version) {
  return version == "1.0" || version == "1.1" || version == "0.17" || version == "0.18";
}

}  // namespace

std::string_view WarcRecord::get(std::string_view name) const {
  return fields.get(name).value_or(std::string_view());
}

std::string_view WarcRecord::target_uri() const {
  const std::string_view uri = get("WARC-Target-URI");
  return uri.starts_with('<') && uri.ends_with('>') ? uri.substr(1, uri.size() - 2) : uri;
}

WarcReader::WarcReader(const env::ReadableFile& file, std::uint64_t offset,
                       WarcReaderOptions options)
    : stream_(file, offset, options.memory, options.goes_by_heads),
      options_(options),
      sound_end_(offset) {}

base::Result<bool> WarcReader::next() {
  RETURN_IF_ERROR(finish());
  web::FieldList fields = std::move(record_.fields);  // its memory serves again
  fields.clear();
  record_ = {};
  record_.fields = std::move(fields);
  for (;;) {
    record_.offset = stream_.offset();
    ASSIGN_OR_RETURN(const bool is_found, find_record());
    if (!is_found) return false;
    ASSIGN_OR_RETURN(const bool has_head, read_head());
    if (has_head) break;
  }
  is_open_ = true;
  block_is_over_ = false;
  end_.reset();
  left_ = record_.content_length;
  pending_ = 0;
  return true;
}

void WarcReader::note_damage(Event event) {
  record_.faults.add(event == Event::kCorrupt ? WarcFault::kDamaged : WarcFault::kTruncated);
  is_broken_ = true;
}

// Wants more bytes of the record that is being read.
base::Result<WarcReader::Step> WarcReader::read_more() {
  boundary_ = stream_.bytes().size();
  bool is_new_member = false;
  for (;;) {
    ASSIGN_OR_RETURN(const Event event, stream_.fill());
    // Of a front that its member, decoded again, turns out not to have.
    boundary_ = std::min(boundary_, stream_.bytes().size());
    // Bytes of a new member that seemed to become the line of an ARC record, and do not.
    const bool has_waited = event != Event::kBytes && stream_.bytes().size() > boundary_;
    if (has_waited) {
      record_.faults.add(WarcFault::kSplitMember);
      return Step::kMore;
    }
    if (event == Event::kMemberEnd) {
      is_new_member = true;
      continue;
    }
    if (event == Event::kFileEnd) return Step::kEnd;
    if (event != Event::kBytes) {
      note_damage(event);
      return Step::kEnd;
    }
    if (!is_new_member) return Step::kMore;
    const Start start = start_at(stream_.bytes().substr(boundary_));
    if (start == Start::kRecord) return Step::kNewRecord;
    const bool may_wait =
        format_ == Format::kArc && stream_.bytes().size() <= MemberStream::kHeldBytesMax;
    if (start == Start::kMore && may_wait) continue;
    record_.faults.add(WarcFault::kSplitMember);
    return Step::kMore;
  }
}

// What begins at the front of some bytes.
WarcReader::Start WarcReader::start_at(std::string_view bytes) const {
  if (begins_warc_record(bytes)) return Start::kRecord;
  if (bytes.size() < kStartSize) return Start::kMore;
  if (format_ == Format::kWarc) return Start::kNone;
  switch (arc_line_at(bytes).state) {
    case ArcStart::State::kWhole: return Start::kRecord;
    case ArcStart::State::kMore: return Start::kMore;
    case ArcStart::State::kNone: break;
  }
  return Start::kNone;
}

// Goes to where a record begins. False: there is none any more.
base::Result<bool> WarcReader::find_record() {
  bool is_new_member = !stream_.is_in_member();  // nothing came of this member yet
  for (;;) {
    if (is_broken_) {
      ASSIGN_OR_RETURN(const bool goes_on, skip_broken());
      if (!goes_on) return false;
    }
    const std::string_view bytes = stream_.bytes();
    const Start start = start_at(bytes);
    if (start == Start::kRecord) return true;
    if (!bytes.empty() && is_line_end(bytes.front())) {
      record_.faults.add(WarcFault::kNoBlankLines);
      stream_.consume(count_line_ends(bytes));
      continue;
    }
    if (start == Start::kNone) {
      skip_garbage();
      if (start_at(stream_.bytes()) == Start::kRecord) return true;
    }
    ASSIGN_OR_RETURN(const Event event, stream_.fill());
    if (event == Event::kCorrupt || event == Event::kTruncated) note_damage(event);
    if (event == Event::kBytes) is_new_member = false;
    if (event != Event::kMemberEnd && event != Event::kFileEnd) continue;
    drop_rest();
    if (event == Event::kFileEnd) return false;
    if (std::exchange(is_new_member, true)) record_.faults.add(WarcFault::kEmptyMember);
  }
}

// What is left of a member, a few bytes, cannot be the front of a record that goes on in the next.
void WarcReader::drop_rest() {
  const std::string_view bytes = stream_.bytes();
  if (bytes.empty()) return;
  is_sound_ = false;
  const bool is_cut = kRecordStart.starts_with(bytes) ||
                      (format_ != Format::kWarc && begins_with_arc_scheme(bytes));
  record_.faults.add(is_cut ? WarcFault::kTruncated : WarcFault::kSkipped);
  record_.skipped_bytes += bytes.size();
  stream_.consume(bytes.size());
}

// Passes over what cannot be decoded. False: reading is over.
base::Result<bool> WarcReader::skip_broken() {
  is_sound_ = false;
  if (!options_.skips_damage || skips_ >= kWarcSkipsMax) return false;
  ++skips_;
  ASSIGN_OR_RETURN(const std::uint64_t skipped, stream_.skip_damage());
  record_.skipped_bytes += skipped;
  record_.faults.add(WarcFault::kSkipped);
  is_broken_ = false;
  return true;
}

// Drops bytes up to the next line that begins like a record or may do so, all if there is none.
void WarcReader::skip_garbage() {
  const std::string_view bytes = stream_.bytes();
  std::size_t at = 0;
  do {
    const std::size_t line_end = bytes.find('\n', at);
    at = line_end == std::string_view::npos ? bytes.size() : line_end + 1;
  } while (at < bytes.size() && start_at(bytes.substr(at)) == Start::kNone);
  record_.skipped_bytes += at;
  record_.faults.add(WarcFault::kSkipped);
  is_sound_ = false;
  stream_.consume(at);
}

// False: what began like a record has no whole head; it was passed over.
base::Result<bool> WarcReader::read_head() {
  record_.offset = stream_.offset();
  if (!stream_.is_member_start()) record_.faults.add(WarcFault::kSharedMember);
  if (!begins_warc_record(stream_.bytes())) {
    read_arc_line();
    return true;
  }
  format_ = Format::kWarc;
  ASSIGN_OR_RETURN(const std::size_t size, find_head_end());
  if (size == 0) {
    record_.faults.add(WarcFault::kBadHead);
    record_.faults.add(WarcFault::kSkipped);
    is_sound_ = false;
    record_.skipped_bytes += boundary_;
    stream_.consume(boundary_);
    return false;
  }
  parse_head(stream_.bytes().substr(0, size));
  parse_length();
  stream_.consume(size);
  return true;
}

// The line of an ARC record, which is whole.
void WarcReader::read_arc_line() {
  const ArcLine line = arc_line_at(stream_.bytes()).line;
  format_ = Format::kArc;
  record_.is_arc = true;
  record_.version = "1.0";
  // The same bytes at the same place have the same id, whoever reads them.
  const std::string_view text = stream_.bytes().substr(0, line.size);
  const base::Id id = base::Id::of(fmt::format("{} {}", record_.offset, text));
  record_.fields = warc_fields_of(line, RecordId::from(id));
  record_.content_length = line.length;
  stream_.consume(line.size);
}

// The size of the head with its empty line; 0: it has none, and the first `boundary_` bytes are to
// be dropped.
base::Result<std::size_t> WarcReader::find_head_end() {
  std::size_t at = 0;
  for (;;) {
    const std::string_view bytes = stream_.bytes();
    while ((at = bytes.find('\n', at)) != std::string_view::npos) {
      const std::string_view rest = bytes.substr(at + 1, 2);
      if (rest.starts_with('\n')) return at + 2;
      if (rest == "\r\n") return at + 3;
      if (rest.size() < 2) break;
      ++at;
    }
    at = std::min(at, bytes.size());
    if (bytes.size() >= kWarcHeadBytesMax) {
      boundary_ = bytes.rfind('\n') + 1;  // no head is whole in there
      if (boundary_ == 0) boundary_ = bytes.size();
      return 0;
    }
    ASSIGN_OR_RETURN(const Step step, read_more());
    if (step == Step::kMore) continue;
    if (step == Step::kEnd && !is_broken_) record_.faults.add(WarcFault::kTruncated);
    return 0;
  }
}

void WarcReader::parse_head(std::string_view head) {
  bool is_first = true;
  while (!head.empty()) {
    const std::string_view line = head.substr(0, head.find('\n') + 1);
    head.remove_prefix(line.size());
    if (!line.ends_with("\r\n")) record_.faults.add(WarcFault::kOddHead);
    const std::string_view text = web::trim(line);
    if (std::exchange(is_first, false)) {
      record_.version = text.substr(kRecordStart.size());
      if (!is_known_version(record_.version)) record_.faults.add(WarcFault::kOddVersion);
    } else if (text.empty()) {
      continue;
    } else if (record_.fields.size() >= kWarcFieldsMax) {
      record_.faults.add(WarcFault::kTooManyFields);
    } else {
      web::HeadQuirks quirks = record_.fields.add_line(line);
      if (quirks.has(web::HeadQuirk::kFolded) || quirks.has(web::HeadQuirk::kNoColon)) {
        record_.faults.add(WarcFault::kOddHead);
      }
    }
  }
}

void WarcReader::parse_length() {
  std::optional<std::uint64_t> length;
  for (const std::string_view value : record_.fields.all("Content-Length")) {
    const auto number = web::parse_decimal(value);
    if (!number || (length && length != number)) {
      length.reset();
      break;
    }
    length = number;
  }
  if (!length) record_.faults.add(WarcFault::kNoLength);
  record_.content_length = length.value_or(0);
}

base::Result<std::string_view> WarcReader::read_block() {
  if (!is_open_) return std::string_view();
  stream_.consume(pending_);
  left_ -= std::exchange(pending_, 0);
  if (left_ == 0 || block_is_over_) return std::string_view();
  if (stream_.bytes().empty()) {
    ASSIGN_OR_RETURN(const Step step, read_more());
    if (step != Step::kMore) {
      block_is_over_ = true;
      if (step == Step::kNewRecord) record_.faults.add(WarcFault::kShortBlock);
      if (step == Step::kEnd && !is_broken_) record_.faults.add(WarcFault::kTruncated);
      return std::string_view();
    }
  }
  const std::string_view bytes = stream_.bytes();
  pending_ = static_cast<std::size_t>(std::min<std::uint64_t>(bytes.size(), left_));
  return bytes.substr(0, pending_);
}

void WarcReader::unread(std::size_t size) {
  CHECK(size <= pending_, "more given back than was read");
  pending_ -= size;
}

base::Status WarcReader::finish() {
  if (!is_open_) return {};
  ASSIGN_OR_RETURN(const bool is_passed, pass_by_length());
  while (!is_passed) {
    ASSIGN_OR_RETURN(const std::string_view piece, read_block());
    if (piece.empty()) break;
  }
  is_open_ = false;
  if (!is_passed && !block_is_over_ && !record_.faults.has(WarcFault::kNoLength)) {
    RETURN_IF_ERROR(end_record());
  }
  is_sound_ = is_sound_ && record_.faults.is_whole();
  if (is_sound_ && end_) sound_end_ = *end_;
  return {};
}

// Passes over the rest of the record, if its member says that it ends where the record should.
base::Result<bool> WarcReader::pass_by_length() {
  const std::uint64_t told = stream_.told_bytes();
  const bool is_exact = told > 0 && told - kBlankLines.size() == left_ && told > kBlankLines.size();
  if (!is_exact || block_is_over_ || record_.is_arc) return false;
  if (record_.faults.has(WarcFault::kSharedMember)) return false;
  RETURN_IF_ERROR(stream_.pass_told_bytes());
  left_ = 0;
  pending_ = 0;
  note_end(stream_.file_offset());
  return true;
}

// The block is behind us.
base::Status WarcReader::end_record() {
  ASSIGN_OR_RETURN(const bool is_exact, record_.is_arc ? read_arc_end() : read_blank_lines());
  if (!is_exact) record_.faults.add(WarcFault::kNoBlankLines);
  if (is_broken_) return {};
  if (!stream_.is_plain()) return settle_member();
  // In a plain file nothing else tells that the length was right.
  if (is_exact) note_end(stream_.offset());
  return {};
}

// Whether exactly two CRLF are next. Passes over them, or over what line ends there are.
base::Result<bool> WarcReader::read_blank_lines() {
  for (;;) {
    const std::string_view bytes = stream_.bytes();
    if (bytes.starts_with(kBlankLines)) {
      stream_.consume(kBlankLines.size());
      return true;
    }
    if (!kBlankLines.starts_with(bytes)) break;
    ASSIGN_OR_RETURN(const Step step, read_more());
    if (step == Step::kMore) continue;
    stream_.consume(boundary_);
    return false;
  }
  stream_.consume(count_line_ends(stream_.bytes()));
  return false;
}

// Whether exactly one line end is next. Passes over what line ends there are. How many of its own
// the version block counts is each writer's choice.
base::Result<bool> WarcReader::read_arc_end() {
  const bool is_version_block = record_.fields.has("WARC-Filename");
  if (stream_.bytes().empty()) {
    if (is_version_block) return true;
    ASSIGN_OR_RETURN(const Step step, read_more());
    if (step != Step::kMore) return false;
  }
  const std::size_t line_ends = count_line_ends(stream_.bytes());
  stream_.consume(line_ends);
  return line_ends == 1 || (is_version_block && line_ends <= 3);
}

// Finds out whether the gzip member ends with the record, as it should, and ends well.
base::Status WarcReader::settle_member() {
  for (;;) {
    const std::string_view bytes = stream_.bytes();
    if (!bytes.empty() && stream_.is_member_start()) {
      note_end(stream_.member_end());
      return {};
    }
    const std::size_t line_ends = count_line_ends(bytes);
    if (line_ends > 0) record_.faults.add(WarcFault::kNoBlankLines);
    stream_.consume(line_ends);
    if (!stream_.bytes().empty()) return {};  // the member goes on with another record
    if (!stream_.is_in_member()) {
      note_end(stream_.member_end());
      return {};
    }
    ASSIGN_OR_RETURN(const Event event, stream_.fill());
    if (event == Event::kCorrupt || event == Event::kTruncated) {
      note_damage(event);
      return {};
    }
  }
}

void WarcReader::note_end(std::uint64_t end) {
  end_ = end;
  if (!record_.faults.has(WarcFault::kSharedMember)) record_.length = end - record_.offset;
}

base::Result<web::ParsedHead> read_http_head(WarcReader& reader, web::HeadKind kind) {
  web::HeadParser parser(kind);
  web::ParsedHead parsed;
  while (parser.state() == web::HeadState::kMore) {
    ASSIGN_OR_RETURN(const std::string_view piece, reader.read_block());
    if (piece.empty()) break;
    const std::size_t used = parser.feed(piece);
    parsed.size += used;
    reader.unread(piece.size() - used);
  }
  parser.finish();
  parsed.state = parser.state();
  parsed.head = std::move(parser.head());
  return parsed;
}

base::Result<std::string> read_rest(WarcReader& reader, std::size_t bytes_max) {
  std::string rest;
  while (rest.size() < bytes_max) {
    ASSIGN_OR_RETURN(const std::string_view piece, reader.read_block());
    if (piece.empty()) break;
    const std::size_t used = std::min(piece.size(), bytes_max - rest.size());
    rest += piece.substr(0, used);
    reader.unread(piece.size() - used);
  }
  return rest;
}

}  // namespace meguri::archive
