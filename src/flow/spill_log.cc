#include "flow/spill_log.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/log.h"
#include "flow/codec.h"

namespace meguri::flow {

using base::ErrorCode;
using base::fail;
using base::Result;
using base::Status;

namespace {

constexpr env::BlockKind kKind = env::block_kind("MGSL");
constexpr std::string_view kSuffix = ".spill";

}  // namespace

std::string SpillMark::encode() const {
  std::string out;
  put_fixed(out, read);
  put_fixed(out, write);
  put_fixed(out, segment);
  put_fixed(out, segment_bytes);
  return out;
}

std::optional<SpillMark> SpillMark::decode(std::string_view bytes) {
  SpillMark mark;
  const bool whole = take_fixed(bytes, mark.read) && take_fixed(bytes, mark.write) &&
                     take_fixed(bytes, mark.segment) && take_fixed(bytes, mark.segment_bytes);
  if (!whole || !bytes.empty() || mark.read > mark.write) return std::nullopt;
  return mark;
}

void SpillBlock::add(std::string_view record) {
  put_text(block_.out(), record);
  ++count_;
}

void SpillBlock::restart(std::uint64_t first) {
  first_ = first;
  count_ = 0;
  block_.clear();
}

bool SpillBlock::take_record(std::string_view& rest, std::string_view& record) {
  return take_text(rest, record);
}

std::string SpillLog::path_of(std::uint64_t first) const {
  return env::numbered_path(dir_, first, kSuffix);
}

Result<std::unique_ptr<SpillLog>> SpillLog::open(env::FileSystem& files, std::string dir,
                                                 const std::optional<SpillMark>& mark,
                                                 std::size_t segment_bytes) {
  RETURN_IF_ERROR(files.make_dirs(dir));
  std::unique_ptr<SpillLog> log(new SpillLog(files, std::move(dir), segment_bytes));
  RETURN_IF_ERROR(log->recover(mark));
  return log;
}

Status SpillLog::recover(const std::optional<SpillMark>& mark) {
  const SpillMark at = mark.value_or(SpillMark{});
  end_ = read_until_ = at.read;
  ASSIGN_OR_RETURN(const auto names, files_.list(dir_));
  for (const std::string& name : names) {  // sorted, so in order of their records
    const auto first = env::number_of_name(name, kSuffix);
    if (first) RETURN_IF_ERROR(keep_segment(*first, at));
  }
  const bool found = !segments_.empty() && segments_.back().first == at.segment;
  if (at.segment_bytes > 0 && !found) {
    return fail(ErrorCode::kCorrupt, "{} is missing", path_of(at.segment));
  }
  for (std::size_t i = 0; i < segments_.size(); ++i) {
    segments_[i].end = i + 1 < segments_.size() ? segments_[i + 1].first : at.write;
  }
  if (!segments_.empty()) end_ = at.write;
  if (damage_.bytes_cut > 0) {
    base::log_warn("cut spilled items that were never acknowledged",
                   {{"dir", dir_}, {"bytes", damage_.bytes_cut}});
  }
  RETURN_IF_ERROR(release_before(at.read));
  return files_.sync_dir(dir_);
}

// Cuts or removes what came after the mark; the rest becomes a segment.
Status SpillLog::keep_segment(std::uint64_t first, const SpillMark& mark) {
  ASSIGN_OR_RETURN(const std::uint64_t size, files_.size(path_of(first)));
  if (mark.segment_bytes == 0 || first > mark.segment) {
    damage_.bytes_cut += size;
    return files_.remove(path_of(first));
  }
  std::uint64_t keep = size;
  if (first == mark.segment) {
    if (size < mark.segment_bytes) {
      return fail(ErrorCode::kCorrupt, "{} has {} bytes, of {} that were written", path_of(first),
                  size, mark.segment_bytes);
    }
    keep = mark.segment_bytes;
    damage_.bytes_cut += size - keep;
    if (keep < size) RETURN_IF_ERROR(files_.truncate(path_of(first), keep));
  }
  segments_.push_back({first, first, keep});
  return {};
}

Status SpillLog::open_segment(std::uint64_t first) {
  ASSIGN_OR_RETURN(auto file, files_.create(path_of(first)));
  if (writer_) unsynced_.push_back(std::move(writer_));
  writer_ = std::move(file);
  segments_.push_back({first, first, 0});
  names_unsynced_ = true;
  return {};
}

Status SpillLog::append(SpillBlock& block) {
  CHECK(block.first() >= end_ && !block.empty(), "spilled records must come in order");
  if (!writer_ || segments_.back().bytes >= segment_bytes_) {
    RETURN_IF_ERROR(open_segment(block.first()));
  }
  RETURN_IF_ERROR(writer_->append(block.block_.seal(kKind, block.count_, block.first())));
  segments_.back().bytes += block.bytes();
  segments_.back().end = block.end();
  if (drained()) read_until_ = block.first();
  end_ = block.end();
  return {};
}

Status SpillLog::append_read(SpillBlock& block) {
  CHECK(drained(), "unread records come before these");
  RETURN_IF_ERROR(append(block));
  read_until_ = end_;
  if (reading_ + 1 != segments_.size()) reader_.reset();
  reading_ = segments_.size() - 1;
  read_offset_ = segments_.back().bytes;
  return {};
}

Status SpillLog::sync() {
  for (const auto& file : unsynced_) RETURN_IF_ERROR(file->sync());
  unsynced_.clear();
  if (writer_) RETURN_IF_ERROR(writer_->sync());
  if (names_unsynced_) RETURN_IF_ERROR(files_.sync_dir(dir_));
  names_unsynced_ = false;
  return {};
}

Result<std::optional<SpillBlock>> SpillLog::read_next() {
  while (!drained()) {
    Segment& segment = segments_[reading_];
    if (read_offset_ >= segment.bytes) {
      if (reading_ + 1 == segments_.size()) break;
      ++reading_;
      read_offset_ = 0;
      reader_.reset();
      continue;
    }
    ASSIGN_OR_RETURN(auto block, read_block(segment));
    if (block) return block;
  }
  read_until_ = end_;
  return std::optional<SpillBlock>();
}

// The block at the reader's place; nullopt when it is damaged and was passed over.
Result<std::optional<SpillBlock>> SpillLog::read_block(Segment& segment) {
  if (!reader_) {
    ASSIGN_OR_RETURN(reader_, files_.open_read(path_of(segment.first)));
  }
  SpillBlock block;
  env::BlockView view;
  ASSIGN_OR_RETURN(const env::BlockState state,
                   block.block_.read(*reader_, kKind, read_offset_, segment.bytes, view));
  if (state != env::BlockState::kWhole && state != env::BlockState::kDamaged) {
    skip_segment(segment, state);
    read_offset_ = segment.bytes;
    read_until_ = segment.end;
    return std::optional<SpillBlock>();
  }
  block.first_ = view.number;
  block.count_ = view.count;
  read_offset_ += block.bytes();
  read_until_ = block.end();
  const bool whole = state == env::BlockState::kWhole && !block.empty() &&
                     block.for_each([](std::uint64_t, std::string_view) {});
  if (whole) return block;
  damage_.records_damaged += block.count_;
  base::log_error("skipped a damaged block of spilled items",
                  {{"file", path_of(segment.first)}, {"items", block.count_}});
  return std::optional<SpillBlock>();
}

void SpillLog::skip_segment(const Segment& segment, env::BlockState why) {
  const std::uint64_t lost = segment.end - std::max(read_until_, segment.first);
  damage_.records_damaged += lost;
  base::log_error("skipped the rest of a damaged file of spilled items",
                  {{"file", path_of(segment.first)}, {"items", lost}, {"why", env::describe(why)}});
}

Status SpillLog::release_before(std::uint64_t number) {
  while (!segments_.empty() && segments_.front().end <= number) {
    const bool open = writer_ && segments_.size() == 1;
    if (open) writer_.reset();
    if (reading_ == 0) {
      reader_.reset();
      read_offset_ = 0;
    } else {
      --reading_;
    }
    RETURN_IF_ERROR(files_.remove(path_of(segments_.front().first)));
    segments_.pop_front();
  }
  return {};
}

SpillMark SpillLog::mark(std::uint64_t read, std::uint64_t write) const {
  if (segments_.empty() || segments_.back().end <= read) return {read, write, 0, 0};
  return {read, write, segments_.back().first, segments_.back().bytes};
}

std::uint64_t SpillLog::bytes() const {
  std::uint64_t sum = 0;
  for (const Segment& segment : segments_) sum += segment.bytes;
  return sum;
}

}  // namespace meguri::flow
