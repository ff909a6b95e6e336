#include "archive/record_source.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace meguri::archive {

namespace {

using base::ErrorCode;

// Of a member whose length is not known.
constexpr std::uint64_t kFrontBytes = std::uint64_t{64} << 10U;

base::Error lost(const base::Error& error) { return {ErrorCode::kCorrupt, error.message()}; }

}  // namespace

base::Status SourceFile::read_at(std::uint64_t offset, std::size_t length, std::string* out) const {
  const std::uint64_t left = offset < end_ ? end_ - offset : 0;
  const auto wanted = static_cast<std::size_t>(std::min<std::uint64_t>(length, left));
  if (wanted == 0) {
    out->clear();
    return {};
  }
  const auto status = file_->read_at(offset, wanted, out);
  if (!status) return std::unexpected(lost(status.error()));
  return {};
}

void SourceFile::will_read(std::uint64_t offset, std::size_t length) const {
  file_->will_read(offset, length);
}

base::Result<std::uint64_t> SourceFile::size() const {
  const auto size = file_->size();
  if (!size) return std::unexpected(lost(size.error()));
  return std::min(*size, end_);
}

std::string RecordSource::path_of(std::uint32_t file) const {
  const auto found = files_.find(file);
  if (found == files_.end()) return fmt::format("{}: file {} of the index", archive_, file);
  const std::string& path = found->second.path;
  return path.starts_with('/') ? path : archive_ + "/" + path;
}

base::Result<const SourceFile*> RecordSource::open(const RecordPlace& place) {
  if (file_ == nullptr || number_ != place.file) {
    reader_.reset();
    file_.reset();
    if (!files_.contains(place.file)) {
      return base::fail(ErrorCode::kCorrupt, "the index does not know its file");
    }
    auto opened = fs_.open_read(path_of(place.file));
    if (!opened) return std::unexpected(lost(opened.error()));
    file_ = std::make_unique<SourceFile>(*std::move(opened));
    number_ = place.file;
  }
  file_->set_end(place.length == 0 ? SourceFile::kNoEnd : place.offset + place.length);
  return file_.get();
}

void RecordSource::will_read(const RecordPlace& place) {
  if (ahead_number_ != place.file) {
    ahead_number_ = place.file;
    hints_ = {};
    auto opened = fs_.open_read(path_of(place.file));
    ahead_ = opened ? *std::move(opened) : nullptr;
  }
  if (ahead_ == nullptr) return;  // reading it will tell
  const std::uint64_t length = place.length == 0 ? kFrontBytes : place.length;
  const auto range = hints_.add({.begin = place.offset, .end = place.offset + length});
  if (range) ahead_->will_read(range->begin, range->end - range->begin);
}

// A new reader, at the first record of the member.
base::Status RecordSource::begin(const RecordPlace& place) {
  reader_.reset();
  reader_.emplace(*file_, place.offset,
                  WarcReaderOptions{.skips_damage = false, .memory = &memory_});
  ASSIGN_OR_RETURN(const bool is_there, reader_->next());
  if (!is_there || reader_->record().offset != place.offset) {
    return base::fail(ErrorCode::kCorrupt, "there is no record at this place");
  }
  at_ = place;
  at_.index = 0;
  return {};
}

base::Result<WarcReader*> RecordSource::find(const RecordPlace& place) {
  RETURN_IF_ERROR(open(place));
  // Members of many records are decoded once.
  const bool goes_on = reader_ && place.length == 0 && at_.length == 0 &&
                       at_.offset == place.offset && at_.index < place.index;
  if (!goes_on) {
    if (auto begun = begin(place); !begun) {
      reader_.reset();
      return std::unexpected(std::move(begun).error());
    }
  }
  while (at_.index < place.index) {
    const auto is_there = reader_->next();
    if (!is_there || !*is_there || reader_->record().offset != place.offset) {
      reader_.reset();
      return base::fail(ErrorCode::kCorrupt, "its member has no such record");
    }
    ++at_.index;
  }
  return &*reader_;
}

}  // namespace meguri::archive
