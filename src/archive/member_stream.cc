#include "archive/member_stream.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "archive/arc_line.h"
#include "base/bytes.h"
#include "base/check.h"
#include "web/ascii.h"

namespace meguri::archive {

namespace {

constexpr std::string_view kRecordStart = "WARC/";
// A member's start needs so many bytes to be told from other bytes: a header without extras, and
// enough of the compressed text; and so much of a line of an ARC file is waited for.
constexpr std::size_t kStartBytes = std::size_t{16} << 10U;
constexpr std::size_t kFrontBytes = kStartBytes;  // of a member, decoded, to tell what it begins
// Where lengths are told, what is decoded at first of a member of this size: what its writer
// flushed first, which may be so much, or else so many bytes, which nearly always have the heads of
// its record and of HTTP; the latter of members that are not compressed only where they are larger.
constexpr std::size_t kFrontBytesMin = std::size_t{4} << 10U;
constexpr std::size_t kFlushedBytesMax = std::size_t{64} << 10U;
constexpr std::size_t kFrontBytesMade = std::size_t{2} << 10U;
constexpr std::size_t kStoredBytesMin = std::size_t{32} << 10U;
constexpr std::size_t kNextBytes = 3;  // tell a gzip member

// What is stored as it was is copied faster than zlib begins.
bool is_worth_inflating_front(const MemberFacts& facts) {
  const bool is_packed = facts.decoded / 4 * 3 < facts.stored;
  return !is_packed || facts.decoded >= kStoredBytesMin;
}

bool begins_arc_record(std::string_view bytes) {
  return arc_line_at(bytes).state == ArcStart::State::kWhole;
}

bool begins_record(std::string_view bytes) {
  return begins_warc_record(bytes) || begins_arc_record(bytes);
}

// Whether it is lines of a record, which is where writers flush.
bool is_front_of_record(std::string_view bytes) {
  return begins_warc_record(bytes) && bytes.ends_with('\n');
}

// Whether these last bytes of a file may be the front of something.
bool is_cut_start(std::string_view bytes) {
  return may_begin_member(bytes) || kRecordStart.starts_with(bytes) ||
         begins_with_arc_scheme(bytes);
}

}  // namespace

bool begins_warc_record(std::string_view bytes) {
  return bytes.starts_with(kRecordStart) && bytes.size() > kRecordStart.size() &&
         web::is_digit(bytes[kRecordStart.size()]);
}

base::Status ViewFile::read_at(std::uint64_t offset, std::size_t length, std::string* out) const {
  const auto from = static_cast<std::size_t>(std::min<std::uint64_t>(offset, bytes_.size()));
  *out = bytes_.substr(from, length);
  return {};
}

MemberMemory::MemberMemory()
    : buffer_(std::make_unique_for_overwrite<char[]>(MemberStream::kHeldBytesMax +
                                                     MemberStream::kOutputBytes)) {}

MemberStream::MemberStream(const env::ReadableFile& file, std::uint64_t offset,
                           MemberMemory* memory, bool goes_by_heads)
    : file_(file),
      own_memory_(memory == nullptr ? std::make_unique<MemberMemory>() : nullptr),
      memory_(memory == nullptr ? *own_memory_ : *memory),
      input_(memory_.input_),
      input_offset_(offset),
      buffer_(memory_.buffer_.get()),
      starts_{{.decoded = 0, .offset = offset}},
      decoder_(memory_.decoder_),
      goes_by_heads_(goes_by_heads),
      member_end_(offset) {
  input_.clear();
}

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
  std::memmove(buffer_, buffer_ + begin_, end_ - begin_);
  end_ -= std::exchange(begin_, 0);
}

base::Result<MemberStream::Event> MemberStream::fill() {
  make_room();
  if (std::exchange(has_whole_member_, false)) return end_member();
  switch (mode_) {
    case Mode::kBetween: return begin_member();
    case Mode::kPlain: return pass_plain();
    case Mode::kFront: return decode_from_front();
    case Mode::kDecoding: return decode_some();
    case Mode::kStopped: return Event::kCorrupt;
  }
  return Event::kCorrupt;
}

MemberStream::Event MemberStream::end_member() {
  member_end_ = file_offset();
  return Event::kMemberEnd;
}

base::Result<MemberStream::Event> MemberStream::begin_member() {
  if (input().size() < kStartBytes && !input_has_end_) RETURN_IF_ERROR(read_input());
  ASSIGN_OR_RETURN(const auto facts, pass_requests());
  ASSIGN_OR_RETURN(const bool are_whole, skip_frames());
  if (!are_whole) {
    mode_ = Mode::kStopped;
    return Event::kTruncated;
  }
  if (input().empty()) return Event::kFileEnd;
  note_start(begins_record(input()));
  if (starts_.back().is_plain) {
    mode_ = Mode::kPlain;
    return pass_plain();
  }
  const MemberCoding coding = coding_at(input());
  if (coding == MemberCoding::kNone) {
    mode_ = Mode::kStopped;
    return is_cut_start(input()) ? Event::kTruncated : Event::kCorrupt;
  }
  if (coding == MemberCoding::kZstd) RETURN_IF_ERROR(load_dictionary());
  if (coding == MemberCoding::kGzip) {
    if (facts && decode_front(*facts)) return Event::kBytes;
    ASSIGN_OR_RETURN(has_whole_member_, decode_whole());
    if (has_whole_member_) return Event::kBytes;
  }
  mode_ = Mode::kDecoding;
  decoder_.begin(coding);
  return decode_some();
}

// Passes over the gzip members that say that they are requests. Returns what the next one tells.
base::Result<std::optional<MemberFacts>> MemberStream::pass_requests() {
  for (;;) {
    ASSIGN_OR_RETURN(const auto facts, facts_to_go_by());
    if (!facts || !facts->is_request) return facts;
    has_passed_requests_ = true;
    RETURN_IF_ERROR(move_to(file_offset() + facts->stored));
    if (input().size() < kStartBytes && !input_has_end_) RETURN_IF_ERROR(read_input());
  }
}

// Passes over zstd frames without content: the dictionary, and what others may put there. False:
// the file ends in one.
base::Result<bool> MemberStream::skip_frames() {
  while (coding_at(input()) == MemberCoding::kSkippable) {
    const std::uint64_t size = skippable_size(input());
    ASSIGN_OR_RETURN(const std::uint64_t end, file_.size());
    note_start(false);
    if (size == 0 || end < file_offset() || size > end - file_offset()) return false;
    RETURN_IF_ERROR(move_to(file_offset() + size));
    if (input().size() < kStartBytes && !input_has_end_) RETURN_IF_ERROR(read_input());
  }
  return true;
}

// The frame at the front of the file, if it is one. What cannot be read of it is told by the frames
// that need it.
base::Status MemberStream::load_dictionary() {
  if (std::exchange(knows_dictionary_, true)) return {};
  decoder_.forget_dictionary();  // another file's
  std::string frame;
  RETURN_IF_ERROR(file_.read_at(0, kDictionaryHeadBytes, &frame));
  const std::uint64_t size = skippable_size(frame);
  if (!is_dictionary_frame(frame) || size == 0 || size > kDictionaryBytesMax) return {};
  RETURN_IF_ERROR(file_.read_at(0, static_cast<std::size_t>(size), &frame));
  decoder_.set_dictionary(std::string_view(frame).substr(kDictionaryHeadBytes));
  return {};
}

// False if the member is not whole in the input, too large, or damaged; decode_some() will tell.
// The last member of the input goes on behind it nearly always: so it is tried twice instead of
// reading what is left of the input again before it is needed.
base::Result<bool> MemberStream::decode_whole() {
  MemberDecoder::Step step = decoder_.decode_whole(input(), buffer_ + end_, kOutputBytes);
  const bool may_go_on = input_begin_ > 0 && !input_has_end_;
  if (step.state != MemberDecoder::State::kEnd && may_go_on) {
    RETURN_IF_ERROR(read_input());
    step = decoder_.decode_whole(input(), buffer_ + end_, kOutputBytes);
  }
  if (step.state != MemberDecoder::State::kEnd) return false;
  input_begin_ += step.taken;
  end_ += step.made;
  decoded_ += step.made;
  return true;
}

// What the member that begins here tells, if what stands at its end is what it says.
base::Result<std::optional<MemberFacts>> MemberStream::facts_to_go_by() {
  if (!goes_by_heads_) return std::nullopt;
  const auto told = told_facts(input());
  if (!told) return std::nullopt;
  // The size of what was decoded, and the start of what follows, if anything does.
  constexpr std::size_t kAroundBytes = sizeof told->decoded + kNextBytes;
  const std::uint64_t begin = file_offset() + told->stored - sizeof told->decoded;
  const std::uint64_t input_end = input_offset_ + input_.size();
  std::string around;
  if (begin + kAroundBytes <= input_end || (begin <= input_end && input_has_end_)) {
    around = input_.substr(static_cast<std::size_t>(begin - input_offset_), kAroundBytes);
  } else {
    RETURN_IF_ERROR(file_.read_at(begin, kAroundBytes, &around));
  }
  std::string_view rest = around;
  std::uint32_t decoded = 0;
  const bool fits = base::take_fixed(rest, decoded) && decoded == told->decoded &&
                    (rest.empty() || coding_at(rest) == MemberCoding::kGzip);
  return fits ? told : std::nullopt;
}

// False: it cannot be done, or is not worth it. The input stays where the member begins, from where
// all of it may be decoded.
bool MemberStream::decode_front(const MemberFacts& facts) {
  if (facts.decoded < kFrontBytesMin) return false;
  front_bytes_ = decoder_.decode_to_flush(input(), buffer_ + end_, kFlushedBytesMax);
  if (!is_front_of_record({buffer_ + end_, front_bytes_})) front_bytes_ = 0;
  if (front_bytes_ == 0 && is_worth_inflating_front(facts)) {
    const bool is_made = decoder_.decode_front(input(), buffer_ + end_, kFrontBytesMade);
    front_bytes_ = is_made ? kFrontBytesMade : 0;
  }
  if (front_bytes_ == 0 || front_bytes_ >= facts.decoded) return false;
  mode_ = Mode::kFront;
  facts_ = facts;
  end_ += front_bytes_;
  decoded_ += front_bytes_;
  return true;
}

// More than the front is wanted: all of the member is decoded over it, which is faster than going
// on.
base::Result<MemberStream::Event> MemberStream::decode_from_front() {
  if (end_ < front_bytes_) {
    const std::size_t held = end_ - begin_;
    std::memmove(buffer_ + front_bytes_ - held, buffer_ + begin_, held);
    begin_ = front_bytes_ - held;
    end_ = front_bytes_;
  }
  const std::size_t front_end = end_;
  end_ -= front_bytes_;
  decoded_ -= front_bytes_;
  auto event = decode_again(front_end);
  if (end_ > front_end) return event;
  // There is no more than that front, though the member told of more.
  begin_ = std::min(begin_, end_);
  if (event && *event == Event::kBytes) {
    event = std::exchange(has_whole_member_, false) ? end_member() : Event::kCorrupt;
  }
  return event;
}

// The member from its beginning, at least up to `front_end` in the buffer, if it has so much.
base::Result<MemberStream::Event> MemberStream::decode_again(std::size_t front_end) {
  mode_ = Mode::kBetween;
  ASSIGN_OR_RETURN(has_whole_member_, decode_whole());
  if (has_whole_member_) return Event::kBytes;
  mode_ = Mode::kDecoding;
  decoder_.begin(MemberCoding::kGzip);
  for (;;) {
    ASSIGN_OR_RETURN(const Event event, decode_some());
    if (end_ > front_end || mode_ != Mode::kDecoding) return event;
  }
}

std::uint64_t MemberStream::told_bytes() const {
  if (mode_ != Mode::kFront) return 0;
  const std::uint64_t here = decoded_ - (end_ - begin_);
  const std::uint64_t start = starts_.back().decoded;
  // What is at hand may begin in the member before.
  return here < start ? 0 : facts_.decoded - (here - start);
}

base::Status MemberStream::pass_told_bytes() {
  CHECK(told_bytes() > 0, "a member that tells no lengths");
  decoded_ = starts_.back().decoded + facts_.decoded;
  begin_ = end_;
  mode_ = Mode::kBetween;
  member_end_ = file_offset() + facts_.stored;
  return move_to(member_end_);
}

base::Result<MemberStream::Event> MemberStream::decode_some() {
  for (;;) {
    if (input().empty() && !input_has_end_) RETURN_IF_ERROR(read_input());
    const MemberDecoder::Step step = decoder_.decode(input(), buffer_ + end_, kOutputBytes);
    input_begin_ += step.taken;
    end_ += step.made;
    decoded_ += step.made;
    if (step.state == MemberDecoder::State::kEnd) {
      mode_ = Mode::kBetween;
      has_whole_member_ = step.made > 0;  // the bytes first, then the end
      return step.made > 0 ? Event::kBytes : end_member();
    }
    const bool is_broken = step.state == MemberDecoder::State::kBroken;
    if (is_broken) mode_ = Mode::kStopped;
    if (step.made > 0) return Event::kBytes;
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
  std::memcpy(buffer_ + end_, input().data(), size);
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
  for (std::size_t at = 0; at < limit; ++at) {
    at = bytes.find_first_of("\x1f\x28\n", at);
    if (at >= limit) return std::nullopt;
    if (bytes[at] == '\n') {
      if (at + 1 < limit && begins_record(bytes.substr(at + 1))) return at + 1;
    } else if (at > 0 && begins_record_in_member(bytes.substr(at))) {
      return at;
    }
  }
  return std::nullopt;
}

bool MemberStream::begins_record_in_member(std::string_view bytes) {
  const MemberCoding coding = coding_at(bytes);
  if (coding != MemberCoding::kGzip && coding != MemberCoding::kZstd) return false;
  const std::string front = decoder_.front_of(bytes, kFrontBytes);
  if (begins_record(front)) return true;
  // A zstd frame tells nothing before its first block is whole.
  return coding == MemberCoding::kZstd && front.empty() && is_frame_head(bytes);
}

}  // namespace meguri::archive
