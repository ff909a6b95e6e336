#include "archive/member_stream.h"

#include <libdeflate.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "base/check.h"
#include "web/ascii.h"

namespace meguri::archive {

namespace {

constexpr std::string_view kGzipStart("\x1f\x8b\x08", 3);
constexpr std::string_view kRecordStart = "WARC/";
// A member's start needs so many bytes to be told from other bytes: a header without extras, and
// enough of the deflated text.
constexpr std::size_t kStartBytes = 1024;
constexpr int kGzipOnly = 15 + 16;  // for zlib: the largest window, a gzip header

// Plain text of a record: "WARC/1".
bool begins_record(std::string_view bytes) {
  return bytes.starts_with(kRecordStart) && bytes.size() > kRecordStart.size() &&
         web::is_digit(bytes[kRecordStart.size()]);
}

}  // namespace

base::Status ViewFile::read_at(std::uint64_t offset, std::size_t length, std::string* out) const {
  const auto from = static_cast<std::size_t>(std::min<std::uint64_t>(offset, bytes_.size()));
  *out = bytes_.substr(from, length);
  return {};
}

struct MemberStream::Inflater {
  z_stream zlib{};
  libdeflate_decompressor* whole = libdeflate_alloc_decompressor();

  Inflater() {
    CHECK(whole != nullptr && inflateInit2(&zlib, kGzipOnly) == Z_OK, "no memory to inflate");
  }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;
  ~Inflater() {
    inflateEnd(&zlib);
    libdeflate_free_decompressor(whole);
  }
  void set_input(std::string_view bytes) {
    // zlib does not write there, but its type does not say so.
    zlib.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
    zlib.avail_in = static_cast<uInt>(bytes.size());
  }
  void set_output(char* data, std::size_t size) {
    zlib.next_out = reinterpret_cast<Bytef*>(data);
    zlib.avail_out = static_cast<uInt>(size);
  }
};

MemberStream::MemberStream(const env::ReadableFile& file, std::uint64_t offset)
    : file_(file),
      input_offset_(offset),
      buffer_(std::make_unique_for_overwrite<char[]>(kHeldBytesMax + kOutputBytes)),
      starts_{{.decoded = 0, .offset = offset}},
      inflater_(std::make_unique<Inflater>()) {}

MemberStream::~MemberStream() = default;

void MemberStream::consume(std::size_t size) {
  CHECK(size <= end_ - begin_);
  begin_ += size;
  const std::uint64_t here = decoded_ - (end_ - begin_);
  // The last start that is not behind `here` is the one that counts.
  const auto next =
      std::ranges::find_if(starts_, [&](const MemberStart& start) { return start.decoded > here; });
  if (next - starts_.begin() > 1) starts_.erase(starts_.begin(), next - 1);
}

std::uint64_t MemberStream::offset() const {
  // With nothing at hand between two members, the next byte is the next member's.
  if (begin_ == end_ && mode_ != Mode::kPlain && !is_in_member()) return file_offset();
  const MemberStart& start = starts_.front();
  return start.offset + (start.is_plain ? decoded_ - (end_ - begin_) - start.decoded : 0);
}

bool MemberStream::is_member_start() const {
  const MemberStart& start = starts_.front();
  return start.is_plain || start.decoded == decoded_ - (end_ - begin_);
}

void MemberStream::note_start(bool is_plain) {
  if (begin_ == end_) starts_.clear();
  // Empty members, one after the other, leave one start.
  if (!starts_.empty() && starts_.back().decoded == decoded_) starts_.pop_back();
  starts_.push_back({.decoded = decoded_, .offset = file_offset(), .is_plain = is_plain});
}

base::Status MemberStream::move_to(std::uint64_t offset) {
  if (offset >= input_offset_ && offset - input_offset_ <= input_.size()) {
    input_begin_ = static_cast<std::size_t>(offset - input_offset_);
    return {};
  }
  input_begin_ = 0;
  input_offset_ = offset;
  return read_input();
}

// Fills the input from where it stands.
base::Status MemberStream::read_input() {
  input_offset_ += std::exchange(input_begin_, 0);
  RETURN_IF_ERROR(file_.read_at(input_offset_, kInputBytes, &input_));
  input_has_end_ = input_.size() < kInputBytes;
  return {};
}

// Bytes are moved only when the room is used up, so that many small members stay cheap.
void MemberStream::make_room() {
  CHECK(end_ - begin_ <= kHeldBytesMax, "too many bytes held");
  if (begin_ != end_ && end_ <= kHeldBytesMax) return;
  std::memmove(buffer_.get(), buffer_.get() + begin_, end_ - begin_);
  end_ -= std::exchange(begin_, 0);
}

base::Result<MemberStream::Event> MemberStream::fill() {
  make_room();
  if (std::exchange(has_whole_member_, false)) return Event::kMemberEnd;
  switch (mode_) {
    case Mode::kBetween: return begin_member();
    case Mode::kPlain: return pass_plain();
    case Mode::kInflating: return inflate_some();
    case Mode::kStopped: return Event::kCorrupt;
  }
  return Event::kCorrupt;
}

base::Result<MemberStream::Event> MemberStream::begin_member() {
  if (input().size() < kInputBytes / 2 && !input_has_end_) RETURN_IF_ERROR(read_input());
  if (input().empty()) return Event::kFileEnd;
  note_start(begins_record(input()));
  if (starts_.back().is_plain) {
    mode_ = Mode::kPlain;
    return pass_plain();
  }
  if (!input().starts_with(kGzipStart)) {
    mode_ = Mode::kStopped;
    const bool is_cut = kGzipStart.starts_with(input()) || kRecordStart.starts_with(input());
    return is_cut ? Event::kTruncated : Event::kCorrupt;
  }
  if (inflate_whole()) {
    has_whole_member_ = true;
    return Event::kBytes;
  }
  mode_ = Mode::kInflating;
  CHECK(inflateReset(&inflater_->zlib) == Z_OK);
  return inflate_some();
}

// False if the member is not whole in the input, too large, or damaged; zlib will tell which.
bool MemberStream::inflate_whole() {
  std::size_t taken = 0;
  std::size_t made = 0;
  const libdeflate_result result =
      libdeflate_gzip_decompress_ex(inflater_->whole, input().data(), input().size(),
                                    buffer_.get() + end_, kOutputBytes, &taken, &made);
  if (result != LIBDEFLATE_SUCCESS || made == 0) return false;
  input_begin_ += taken;
  end_ += made;
  decoded_ += made;
  return true;
}

base::Result<MemberStream::Event> MemberStream::inflate_some() {
  for (;;) {
    if (input().empty() && !input_has_end_) RETURN_IF_ERROR(read_input());
    const std::size_t given = input().size();
    inflater_->set_input(input());
    inflater_->set_output(buffer_.get() + end_, kOutputBytes);
    const int code = inflate(&inflater_->zlib, Z_NO_FLUSH);
    input_begin_ += given - inflater_->zlib.avail_in;
    const std::size_t made = kOutputBytes - inflater_->zlib.avail_out;
    end_ += made;
    decoded_ += made;
    if (code == Z_STREAM_END) {
      mode_ = Mode::kBetween;
      has_whole_member_ = made > 0;  // the bytes first, then the end
      return made > 0 ? Event::kBytes : Event::kMemberEnd;
    }
    const bool is_broken = code != Z_OK && code != Z_BUF_ERROR;
    if (is_broken) mode_ = Mode::kStopped;
    if (made > 0) return Event::kBytes;
    if (is_broken) return Event::kCorrupt;
    if (input().empty() && input_has_end_) {
      mode_ = Mode::kStopped;
      return Event::kTruncated;
    }
  }
}

base::Result<MemberStream::Event> MemberStream::pass_plain() {
  if (input().empty() && !input_has_end_) RETURN_IF_ERROR(read_input());
  if (input().empty()) return Event::kFileEnd;
  const std::size_t size = std::min(input().size(), kOutputBytes);
  std::memcpy(buffer_.get() + end_, input().data(), size);
  input_begin_ += size;
  end_ += size;
  decoded_ += size;
  return Event::kBytes;
}

base::Result<std::uint64_t> MemberStream::skip_damage() {
  const std::uint64_t bad = starts_.back().offset;
  const std::uint64_t stopped = file_offset();
  const std::uint64_t back = stopped > kLookBackBytes ? stopped - kLookBackBytes : 0;
  begin_ = end_;
  mode_ = Mode::kBetween;
  RETURN_IF_ERROR(move_to(std::max(bad, back)));
  for (;;) {
    if (const auto found = find_start()) {
      input_begin_ += *found;
      break;
    }
    if (input_has_end_) {
      input_begin_ = input_.size();
      break;
    }
    input_begin_ += input().size() - std::min(input().size(), kStartBytes);
    RETURN_IF_ERROR(read_input());
  }
  note_start(false);
  return file_offset() - bad;
}

// Where in the input a record seems to begin, its first byte left out; without the end of the
// file, only where enough follows to tell.
std::optional<std::size_t> MemberStream::find_start() {
  const std::string_view bytes = input();
  const std::size_t limit =
      input_has_end_ ? bytes.size() : bytes.size() - std::min(bytes.size(), kStartBytes - 1);
  for (std::size_t at = 1; at < limit; ++at) {
    at = bytes.find_first_of("\x1fW", at);
    if (at >= limit) return std::nullopt;
    const std::string_view here = bytes.substr(at);
    if (here.starts_with(kGzipStart) && begins_record_in_gzip(here)) return at;
    if (bytes[at - 1] == '\n' && begins_record(here)) return at;
  }
  return std::nullopt;
}

bool MemberStream::begins_record_in_gzip(std::string_view bytes) {
  std::array<char, kRecordStart.size() + 1> text{};
  CHECK(inflateReset(&inflater_->zlib) == Z_OK);
  inflater_->set_input(bytes.substr(0, kStartBytes));
  inflater_->set_output(text.data(), text.size());
  inflate(&inflater_->zlib, Z_SYNC_FLUSH);
  return inflater_->zlib.avail_out == 0 && begins_record({text.data(), text.size()});
}

}  // namespace meguri::archive
