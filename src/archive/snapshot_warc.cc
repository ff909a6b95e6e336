#include "archive/snapshot_warc.h"

#include <fmt/format.h>

#include <algorithm>
#include <compare>
#include <optional>
#include <span>
#include <utility>

#include "archive/member_decoder.h"
#include "archive/member_stream.h"
#include "archive/page_front.h"
#include "archive/pointer_queue.h"
#include "archive/record_entry.h"
#include "archive/record_id.h"
#include "archive/record_renewal.h"
#include "archive/record_source.h"
#include "archive/warc_reader.h"
#include "base/hash.h"
#include "env/spool.h"
#include "env/spooled_bytes.h"
#include "env/spooled_file.h"

namespace meguri::archive {

namespace {

using base::ErrorCode;

constexpr std::size_t kHeldPointersMax = 1024;  // of an intake
constexpr std::size_t kMemberFrontBytes = 16;   // tell its coding
constexpr std::size_t kCopyBytes = std::size_t{1} << 20U;

enum class Use : std::uint32_t {
  kAsIs,
  kMade,       // as the content of another page
  kNoContent,  // it refers to content that the archive does not have
};

// A record that is to be written. Those of one content are next to each other.
struct ContentPointer {
  RecordPlace place;
  Use use = Use::kAsIs;
  std::uint64_t page = 0;     // of kMade: a hash of the page it is made for
  std::int64_t visit_ms = 0;  // and when that was visited
  std::uint64_t front = 0;    // and where the front of its revisit is
  std::uint64_t front_bytes = 0;
  std::int64_t date_ms = 0;  // of the record

  friend auto operator<=>(const ContentPointer&, const ContentPointer&) = default;

  bool makes_the_same(const ContentPointer& other) const {
    return place == other.place && use == other.use && page == other.page;
  }
};

// A revisit of another page's record, and what will be made of it.
struct RevisitPointer {
  RecordPlace place;
  std::int64_t date_ms = 0;
  ContentPointer content;

  friend auto operator<=>(const RevisitPointer&, const RevisitPointer&) = default;
};

// What a member was found to be.
struct Finding {
  IndexEntry entry;
  WarcFaults faults;
  std::uint64_t length = 0;
  bool is_arc = false;
  std::optional<PageFront> page;
};

// Whether it is the record that the index has there.
base::Status check_date(const WarcRecord& record, std::int64_t date_ms) {
  const auto date = base::Instant::parse_rfc3339(record.get("WARC-Date"));
  if (date && date->ms() == date_ms) return {};
  return base::fail(ErrorCode::kCorrupt, "the index has another record at this place");
}

// What fails behind the first byte that was written is more than a lost record.
base::Status not_survivable(base::Status status) {
  if (status || status.error().code() != ErrorCode::kCorrupt) return status;
  return std::unexpected(base::Error(ErrorCode::kFailed, status.error().message()));
}

}  // namespace

struct SnapshotWarc::Lists {
  Lists(env::FileSystem& fs, const SnapshotWarcOptions& options)
      : contents(fs, options.scratch, options.sort_bytes_max / 2),
        revisits(fs, options.scratch, options.sort_bytes_max / 2) {}

  ExternalSort<ContentPointer> contents;
  ExternalSort<RevisitPointer> revisits;
};

struct SnapshotWarc::Intake::Held {
  std::vector<ContentPointer> contents;
  std::vector<RevisitPointer> revisits;
};

SnapshotWarc::Intake::Intake(SnapshotWarc& warc) : warc_(warc), held_(std::make_unique<Held>()) {}
SnapshotWarc::Intake::~Intake() = default;

base::Status SnapshotWarc::Intake::add(const SnapshotItem& item) {
  const EntryView& visit = item.entry;
  const EntryView& record = item.content == nullptr ? visit : *item.content;
  ContentPointer content{.place = record.place(), .date_ms = record.date().ms()};
  if (item.content == nullptr) {
    const bool is_own = visit.kind() == EntryKind::kGone || visit.kind() == EntryKind::kError;
    content.use = is_own ? Use::kAsIs : Use::kNoContent;
    held_->contents.push_back(content);
  } else if (record.page() == visit.page()) {
    held_->contents.push_back(content);
  } else {
    content.use = Use::kMade;
    content.page = base::hash64(visit.page());
    content.visit_ms = visit.date().ms();
    held_->revisits.push_back(
        {.place = visit.place(), .date_ms = visit.date().ms(), .content = content});
  }
  const std::size_t held = held_->contents.size() + held_->revisits.size();
  return held < kHeldPointersMax ? base::Status() : flush();
}

base::Status SnapshotWarc::Intake::flush() {
  RETURN_IF_ERROR(warc_.lists_->contents.add(held_->contents));
  RETURN_IF_ERROR(warc_.lists_->revisits.add(held_->revisits));
  held_->contents.clear();
  held_->revisits.clear();
  return {};
}

// Writes the file, once everything has been added.
class SnapshotWarc::Writing {
 public:
  Writing(SnapshotWarc& warc, const ByteSink& out, const SnapshotWarcEvents& events)
      : options_(warc.options_),
        fs_(warc.fs_),
        lists_(*warc.lists_),
        out_(out),
        events_(events),
        source_(warc.fs_, warc.files_, warc.options_.archive),
        spool_(warc.fs_, warc.options_.scratch, {}),
        renewal_(spool_) {}

  base::Result<SnapshotWarcCounts> run() {
    RETURN_IF_ERROR(write_warcinfo());
    RETURN_IF_ERROR(read_fronts());
    RETURN_IF_ERROR(lists_.contents.finish());
    PointerQueue contents(lists_.contents, source_);
    std::optional<ContentPointer> last;
    for (;;) {
      ASSIGN_OR_RETURN(const auto pointer, contents.next());
      if (!pointer) return counts_;
      if (last && pointer->makes_the_same(*last)) continue;
      last = pointer;
      RETURN_IF_ERROR(survive(write_content(*pointer), pointer->place));
    }
  }

 private:
  base::Status write_warcinfo();
  base::Status read_fronts();
  base::Result<ContentPointer> read_front(const RevisitPointer& pointer);
  base::Status write_content(const ContentPointer& pointer);
  base::Result<bool> copy(const ContentPointer& pointer);
  base::Result<env::SpooledBytes> make(const ContentPointer& pointer, WarcReader& reader);
  base::Result<Finding> look_at(const env::ReadableFile& file, std::uint64_t offset);
  base::Status put(const env::ReadableFile& file, std::uint64_t offset, Finding& finding);
  base::Status survive(base::Status status, const RecordPlace& place);

  const SnapshotWarcOptions& options_;
  env::FileSystem& fs_;
  Lists& lists_;
  const ByteSink& out_;
  const SnapshotWarcEvents& events_;
  RecordSource source_;
  env::Spool spool_;  // never opened, which would clear the folder: its files have no names
  RecordRenewal renewal_;
  MemberMemory memory_;  // for look_at()
  EntryReader entries_;
  std::unique_ptr<env::TemporaryFile> fronts_;  // of revisits; null: there are none
  std::uint64_t fronts_bytes_ = 0;
  SnapshotWarcCounts counts_;
};

// A record that cannot be read is told of; other errors are ours.
base::Status SnapshotWarc::Writing::survive(base::Status status, const RecordPlace& place) {
  if (status || status.error().code() != ErrorCode::kCorrupt) return status;
  ++counts_.lost;
  if (events_.lost) {
    events_.lost({.path = source_.path_of(place.file),
                  .offset = place.offset,
                  .reason = status.error().message()});
  }
  return {};
}

base::Status SnapshotWarc::Writing::write_warcinfo() {
  // Equal files have equal ids.
  const base::Id hash = base::Id::of(
      fmt::format("{} {} {}", options_.name, options_.info.description, options_.date.ms()));
  const std::string record =
      RecordMaker().warcinfo(options_.info, options_.name, options_.date, RecordId::from(hash));
  RETURN_IF_ERROR(out_(record));
  counts_.bytes = record.size();
  return {};
}

// Reads all revisits of other pages' records, in the order of their files, and keeps what they say
// for when their content is read.
base::Status SnapshotWarc::Writing::read_fronts() {
  RETURN_IF_ERROR(lists_.revisits.finish());
  PointerQueue revisits(lists_.revisits, source_);
  for (;;) {
    ASSIGN_OR_RETURN(const auto pointer, revisits.next());
    if (!pointer) return {};
    const auto content = read_front(*pointer);
    if (content) {
      RETURN_IF_ERROR(lists_.contents.add(std::span(&*content, 1)));
    } else {
      RETURN_IF_ERROR(survive(std::unexpected(content.error()), pointer->place));
    }
  }
}

base::Result<ContentPointer> SnapshotWarc::Writing::read_front(const RevisitPointer& pointer) {
  ASSIGN_OR_RETURN(WarcReader* const reader, source_.find(pointer.place));
  RETURN_IF_ERROR(check_date(reader->record(), pointer.date_ms));
  ASSIGN_OR_RETURN(const RevisitFront front, read_revisit_front(*reader));
  const std::string bytes = front.encode();
  if (fronts_ == nullptr) {
    ASSIGN_OR_RETURN(fronts_, fs_.open_temporary(options_.scratch));
  }
  RETURN_IF_ERROR(fronts_->append(bytes));
  ContentPointer content = pointer.content;
  content.front = fronts_bytes_;
  content.front_bytes = bytes.size();
  fronts_bytes_ += bytes.size();
  return content;
}

base::Status SnapshotWarc::Writing::write_content(const ContentPointer& pointer) {
  if (pointer.use == Use::kNoContent) {
    return base::fail(ErrorCode::kCorrupt, "the archive does not have the content it refers to");
  }
  if (pointer.use == Use::kAsIs) {
    ASSIGN_OR_RETURN(const bool is_copied, copy(pointer));
    if (is_copied) return {};
  }
  ASSIGN_OR_RETURN(WarcReader* const reader, source_.find(pointer.place));
  RETURN_IF_ERROR(check_date(reader->record(), pointer.date_ms));
  ASSIGN_OR_RETURN(const env::SpooledBytes member, make(pointer, *reader));
  const env::SpooledFile file(member);
  ASSIGN_OR_RETURN(Finding finding, look_at(file, 0));
  RETURN_IF_ERROR(put(file, 0, finding));
  ++(pointer.use == Use::kMade ? counts_.made : counts_.renewed);
  return {};
}

// Copies a member that holds exactly one record, of which nothing is missing. False: it is none.
base::Result<bool> SnapshotWarc::Writing::copy(const ContentPointer& pointer) {
  const RecordPlace& place = pointer.place;
  if (place.length == 0 || place.index != 0) return false;
  ASSIGN_OR_RETURN(const SourceFile* const file, source_.open(place));
  std::string front;
  RETURN_IF_ERROR(file->read_at(place.offset, kMemberFrontBytes, &front));
  if (coding_at(front) != MemberCoding::kGzip) return false;
  ASSIGN_OR_RETURN(Finding finding, look_at(*file, place.offset));
  if (finding.is_arc || !finding.faults.empty() || finding.length != place.length) return false;
  if (finding.entry.date.ms() != pointer.date_ms) return false;  // it will be told of
  RETURN_IF_ERROR(put(*file, place.offset, finding));
  ++counts_.copied;
  return true;
}

base::Result<env::SpooledBytes> SnapshotWarc::Writing::make(const ContentPointer& pointer,
                                                            WarcReader& reader) {
  if (pointer.use == Use::kAsIs) return renewal_.renew(reader);
  std::string bytes;
  RETURN_IF_ERROR(fronts_->read_at(pointer.front, pointer.front_bytes, &bytes));
  const auto front = RevisitFront::decode(bytes);
  if (!front) return base::fail(ErrorCode::kIo, "a temporary file is not what was written to it");
  return renewal_.resolve(*front, reader);
}

// Reads the record of a member to its end.
base::Result<Finding> SnapshotWarc::Writing::look_at(const env::ReadableFile& file,
                                                     std::uint64_t offset) {
  const WarcReaderOptions options{.skips_damage = false, .memory = &memory_};
  WarcReader reader(file, offset, options);
  ASSIGN_OR_RETURN(const bool is_there, reader.next());
  if (!is_there) return base::fail(ErrorCode::kCorrupt, "there is no record at this place");
  ASSIGN_OR_RETURN(auto entry, entries_.read(reader));
  RETURN_IF_ERROR(reader.finish());
  if (!entry) return base::fail(ErrorCode::kCorrupt, "the record there is of no visit");
  Finding finding{.entry = *std::move(entry),
                  .faults = reader.record().faults,
                  .length = reader.record().length,
                  .is_arc = reader.record().is_arc,
                  .page = std::nullopt};
  if (!options_.reads_pages || !is_page(finding.entry)) return finding;
  WarcReader again(file, offset, options);  // the first one is done
  ASSIGN_OR_RETURN(const bool is_again, again.next());
  if (!is_again) return finding;
  ASSIGN_OR_RETURN(finding.page, read_page_front(again));
  return finding;
}

// Appends the member at `offset` to the output.
base::Status SnapshotWarc::Writing::put(const env::ReadableFile& file, std::uint64_t offset,
                                        Finding& finding) {
  std::string piece;
  for (std::uint64_t done = 0; done < finding.length; done += piece.size()) {
    const std::uint64_t left = finding.length - done;
    const auto wanted = static_cast<std::size_t>(std::min<std::uint64_t>(left, kCopyBytes));
    RETURN_IF_ERROR(not_survivable(file.read_at(offset + done, wanted, &piece)));
    if (piece.size() != wanted) {
      return base::fail(ErrorCode::kIo, "a file of the archive became shorter while it was read");
    }
    RETURN_IF_ERROR(not_survivable(out_(piece)));
  }
  finding.entry.place = {.file = 0, .offset = counts_.bytes, .index = 0, .length = finding.length};
  counts_.bytes += finding.length;
  if (!events_.written) return {};
  WrittenRecord written{.entry = finding.entry};
  if (finding.page) {
    written.is_page = true;
    written.title = finding.page->title;
    written.text = finding.page->text;
  }
  return not_survivable(events_.written(written));
}

SnapshotWarc::SnapshotWarc(env::FileSystem& fs, const std::map<std::uint32_t, IndexFile>& files,
                           SnapshotWarcOptions options)
    : fs_(fs),
      files_(files),
      options_(std::move(options)),
      lists_(std::make_unique<Lists>(fs, options_)) {}

SnapshotWarc::~SnapshotWarc() = default;

base::Result<SnapshotWarcCounts> SnapshotWarc::write(const ByteSink& out,
                                                     const SnapshotWarcEvents& events) {
  return Writing(*this, out, events).run();
}

}  // namespace meguri::archive
