#include "scan/document_source.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "archive/arc_line.h"
#include "archive/member_decoder.h"
#include "archive/member_stream.h"
#include "archive/read_ahead.h"
#include "base/time.h"
#include "env/spooled_bytes.h"

namespace meguri::scan {

namespace {

using archive::RecordPlace;
using base::ErrorCode;

// So much of a record is read when it is opened: most of them are not larger.
constexpr std::size_t kFrontBytes = std::size_t{64} << 10U;

std::unexpected<base::Error> lost(const base::Error& error) {
  return std::unexpected(base::Error(ErrorCode::kCorrupt, error.message()));
}

// Whether a reader that is given these bytes alone can tell what they are.
bool stands_alone(std::string_view front) {
  return archive::coding_at(front) == archive::MemberCoding::kGzip ||
         archive::begins_warc_record(front) ||
         archive::arc_line_at(front).state == archive::ArcStart::State::kWhole;
}

// Whether it is the record that the index has there.
base::Status check_date(const archive::WarcRecord& record, std::int64_t date_ms) {
  const auto date = base::Instant::parse_rfc3339(record.get("WARC-Date"));
  if (date && date->ms() == date_ms) return {};
  return base::fail(ErrorCode::kCorrupt, "the index has another record at this place");
}

}  // namespace

class DocumentSource::SharedFile {
 public:
  SharedFile(std::uint32_t number, std::unique_ptr<env::ReadableFile> file)
      : number_(number), file_(std::move(file)) {}

  std::uint32_t number() const { return number_; }

  // Exactly these bytes, into `out` (replaced).
  base::Status read(std::uint64_t offset, std::size_t length, std::string& out) const {
    const auto status = file_->read_at(offset, length, &out);
    if (!status) return lost(status.error());
    if (out.size() == length) return {};
    return base::fail(ErrorCode::kCorrupt, "the file ends before it");
  }

  // Whether the file has this range. Of one that grows it may have more than when it was opened.
  base::Result<bool> has(std::uint64_t offset, std::uint64_t length) {
    const auto fits = [&] { return offset <= size_ && length <= size_ - offset; };
    if (fits()) return true;
    const auto size = file_->size();
    if (!size) return lost(size.error());
    size_ = *size;
    return fits();
  }

  void will_read(const RecordPlace& place) {
    const std::uint64_t length = place.length == 0 ? kFrontBytes : place.length;
    const auto range = hints_.add({.begin = place.offset, .end = place.offset + length});
    if (range) file_->will_read(range->begin, range->end - range->begin);
  }

 private:
  const std::uint32_t number_;
  const std::unique_ptr<env::ReadableFile> file_;
  std::uint64_t size_ = 0;  // as far as it is known
  archive::ReadAhead hints_;
};

namespace {

// A part of a file whose front was read already.
template <typename File>
class FileRange final : public RecordBytes {
 public:
  FileRange(std::shared_ptr<File> file, const RecordPlace& place, std::string front)
      : file_(std::move(file)),
        offset_(place.offset),
        size_(place.length),
        front_(std::move(front)) {}

  std::uint64_t size() const override { return size_; }

  base::Status read(std::size_t length, std::string& out) override {
    if (done_ < front_.size()) {
      const std::size_t some = std::min(length, front_.size() - static_cast<std::size_t>(done_));
      out.append(front_, static_cast<std::size_t>(done_), some);
      done_ += some;
      length -= some;
    }
    if (length == 0) return {};
    RETURN_IF_ERROR(file_->read(offset_ + done_, length, front_));
    out += front_;
    done_ += length;
    front_.clear();
    return {};
  }

 private:
  const std::shared_ptr<File> file_;
  const std::uint64_t offset_;
  const std::uint64_t size_;
  std::string front_;  // later only room for what is read
  std::uint64_t done_ = 0;
};

class SpooledRecord final : public RecordBytes {
 public:
  explicit SpooledRecord(env::SpooledBytes bytes) : bytes_(std::move(bytes)) {}

  std::uint64_t size() const override { return bytes_.size(); }

  base::Status read(std::size_t length, std::string& out) override {
    if (bytes_.is_on_disk()) {
      RETURN_IF_ERROR(bytes_.read_at(done_, length, &piece_));
      out += piece_;
    } else {
      out += bytes_.memory().substr(static_cast<std::size_t>(done_), length);
    }
    done_ += length;
    return {};
  }

 private:
  const env::SpooledBytes bytes_;
  std::string piece_;
  std::uint64_t done_ = 0;
};

}  // namespace

DocumentSource::DocumentSource(env::FileSystem& fs,
                               const std::map<std::uint32_t, archive::IndexFile>& files,
                               std::string archive, std::string scratch)
    : fs_(fs),
      records_(fs, files, std::move(archive)),
      spool_(fs, std::move(scratch), {}),
      renewal_(spool_),
      files_(files) {}

DocumentSource::~DocumentSource() = default;

base::Result<std::shared_ptr<DocumentSource::SharedFile>> DocumentSource::file_of(
    std::uint32_t number) {
  const auto found = std::ranges::find_if(
      open_files_, [number](const auto& file) { return file->number() == number; });
  if (found != open_files_.end()) {
    std::rotate(open_files_.begin(), found, found + 1);
    return open_files_.front();
  }
  if (!files_.contains(number)) {
    return base::fail(ErrorCode::kCorrupt, "the index does not know its file");
  }
  auto file = fs_.open_read(records_.path_of(number));
  if (!file) return lost(file.error());
  if (open_files_.size() == kOpenFilesMax) open_files_.pop_back();
  open_files_.insert(open_files_.begin(), std::make_shared<SharedFile>(number, *std::move(file)));
  return open_files_.front();
}

base::Result<std::shared_ptr<RecordBytes>> DocumentSource::open(const DocumentPointer& pointer) {
  if (pointer.is_missing) {
    return base::fail(ErrorCode::kCorrupt, "the archive does not have the content it refers to");
  }
  const RecordPlace& place = pointer.place;
  if (place.length == 0 || place.index != 0) return renew(pointer);
  ASSIGN_OR_RETURN(auto file, file_of(place.file));
  std::string front;
  const std::uint64_t front_bytes = std::min<std::uint64_t>(place.length, kFrontBytes);
  RETURN_IF_ERROR(file->read(place.offset, front_bytes, front));
  if (!stands_alone(front)) return renew(pointer);
  if (place.length > front_bytes) {
    ASSIGN_OR_RETURN(const bool is_there, file->has(place.offset, place.length));
    if (!is_there) return base::fail(ErrorCode::kCorrupt, "the file ends before it");
  }
  return std::make_shared<FileRange<SharedFile>>(std::move(file), place, std::move(front));
}

base::Result<std::shared_ptr<RecordBytes>> DocumentSource::renew(const DocumentPointer& pointer) {
  ASSIGN_OR_RETURN(archive::WarcReader* const reader, records_.find(pointer.place));
  RETURN_IF_ERROR(check_date(reader->record(), pointer.record_ms));
  ASSIGN_OR_RETURN(env::SpooledBytes bytes, renewal_.renew(*reader));
  return std::make_shared<SpooledRecord>(std::move(bytes));
}

void DocumentSource::will_open(const DocumentPointer& pointer) {
  if (pointer.is_missing) return;
  const auto file = file_of(pointer.place.file);
  if (file) (*file)->will_read(pointer.place);  // else open() will tell
}

std::string DocumentSource::path_of(const DocumentPointer& pointer) const {
  return records_.path_of(pointer.place.file);
}

}  // namespace meguri::scan
