#include "sat/segments.h"

#include <algorithm>
#include <set>
#include <utility>

#include "base/check.h"
#include "sat/block_kinds.h"
#include "sat/record.h"

namespace meguri::sat {

using base::ErrorCode;

namespace {

constexpr std::string_view kSuffix = ".seg";

std::uint64_t end_of(const Extent& extent) {
  return extent.offset + Segments::kHeaderBytes + extent.bytes;
}

}  // namespace

std::string Segments::path_of(std::uint32_t segment) const {
  return env::numbered_path(dir_, segment, kSuffix);
}

base::Result<std::unique_ptr<Segments>> Segments::open(env::FileSystem& files, std::string dir,
                                                       const SegmentOptions& options,
                                                       std::string_view state,
                                                       const std::vector<Extent>& live) {
  std::unique_ptr<Segments> segments(new Segments(files, std::move(dir), options));
  RETURN_IF_ERROR(files.make_dirs(segments->dir_));
  RETURN_IF_ERROR(segments->restore(state, live));
  return segments;
}

// The number of the last segment, then number and size of each.
base::Status Segments::restore(std::string_view state, const std::vector<Extent>& live) {
  const auto corrupt = [this] {
    return base::fail(ErrorCode::kCorrupt, "what is known of the segments in {} is damaged", dir_);
  };
  std::uint64_t last = 0;
  if (!state.empty() && !take_varint(state, last)) return corrupt();
  last_ = static_cast<std::uint32_t>(last);
  while (!state.empty()) {
    std::uint64_t number = 0;
    std::uint64_t size = 0;
    if (!take_varint(state, number) || !take_varint(state, size)) return corrupt();
    segments_[static_cast<std::uint32_t>(number)].size = size;
  }
  RETURN_IF_ERROR(cut_all(live));
  // What is live is taken out of what is free.
  for (const Extent& extent : live) {
    const auto found = segments_.find(extent.segment);
    if (found == segments_.end() || end_of(extent) > found->second.size) return corrupt();
    auto& freed = found->second.freed;
    auto range = freed.upper_bound(extent.offset);
    if (range == freed.begin()) return corrupt();
    --range;
    const std::uint64_t end = range->second.end;
    if (end < end_of(extent)) return corrupt();
    if (range->first == extent.offset) {
      freed.erase(range);
    } else {
      range->second.end = extent.offset;
    }
    if (end_of(extent) < end) freed[end_of(extent)] = {end};
    bytes_live_ += kHeaderBytes + extent.bytes;
  }
  // A crash may have come before it was freed.
  for (auto& [number, segment] : segments_) {
    for (auto& [begin, range] : segment.freed) {
      range.kept = range.end - begin;
      bytes_kept_ += range.kept;
    }
  }
  return punch_all_at_least(options_.punch_bytes_min);
}

// To their sizes at the mark. Segments that nothing lives in may have been removed since.
base::Status Segments::cut_all(const std::vector<Extent>& live) {
  std::set<std::uint32_t> needed;
  for (const Extent& extent : live) needed.insert(extent.segment);
  std::erase_if(segments_, [&](const auto& entry) { return !needed.contains(entry.first); });
  RETURN_IF_ERROR(remove_others());
  for (auto& [number, segment] : segments_) {
    ASSIGN_OR_RETURN(const std::uint64_t size, files_.size(path_of(number)));
    if (size < segment.size) {
      return base::fail(ErrorCode::kCorrupt, "{} has {} bytes, and should have {}", path_of(number),
                        size, segment.size);
    }
    if (size > segment.size) RETURN_IF_ERROR(files_.truncate(path_of(number), segment.size));
    segment.freed[0] = {segment.size};
  }
  return {};
}

base::Status Segments::remove_others() {
  ASSIGN_OR_RETURN(const std::vector<std::string> names, files_.list(dir_));
  for (const std::string& name : names) {
    const auto number = env::number_of_name(name, kSuffix);
    const bool is_known =
        number && *number <= last_ && segments_.contains(static_cast<std::uint32_t>(*number));
    if (number && !is_known) RETURN_IF_ERROR(files_.remove(dir_ + "/" + name));
  }
  return {};
}

base::Status Segments::begin_segment() {
  RETURN_IF_ERROR(write_pending());
  if (file_) unsynced_.insert(written_);
  // A number is used once: what a crash left of it cannot be taken for another's.
  ASSIGN_OR_RETURN(file_, files_.create(path_of(++last_)));
  written_ = last_;
  has_new_names_ = true;
  segments_[written_] = {};
  return {};
}

// The segment of the slot is the one that is written from now on. Others are not kept open: there
// are more slots than files may be.
base::Status Segments::begin_segment_of(Slot slot) {
  const auto found = segment_of_slot_.find(slot);
  if (found == segment_of_slot_.end()) {
    RETURN_IF_ERROR(begin_segment());
    segment_of_slot_[slot] = written_;
    slot_of_segment_[written_] = slot;
    return {};
  }
  if (file_ && found->second == written_) return {};
  if (file_) unsynced_.insert(written_);
  ASSIGN_OR_RETURN(file_, files_.open_append(path_of(found->second)));
  written_ = found->second;
  return {};
}

// Its bucket was read, so that what is appended to the slot from now on is of another bucket.
void Segments::close_segment_of_slot(std::uint32_t segment) {
  const auto slot = slot_of_segment_.extract(segment);
  if (!slot) return;
  segment_of_slot_.erase(slot.mapped());
  if (!file_ || written_ != segment) return;
  unsynced_.insert(written_);
  file_.reset();
}

bool Segments::is_written(std::uint32_t segment) const {
  return (file_ && segment == written_) || slot_of_segment_.contains(segment);
}

base::Result<Extent> Segments::append(Slot slot, std::string_view bytes, std::uint32_t records) {
  return append(slot, records, [bytes](std::string& out) { out.append(bytes); });
}

base::Result<Extent> Segments::append(Slot slot, std::uint32_t records,
                                      const std::function<void(std::string&)>& fill) {
  if (options_.has_one_per_slot) {
    RETURN_IF_ERROR(begin_segment_of(slot));
  } else if (!file_ || segments_[written_].size >= options_.bytes_max) {
    RETURN_IF_ERROR(begin_segment());
  }
  if (pending_.size() >= kPendingBytesMax) RETURN_IF_ERROR(write_pending());
  const std::size_t at = pending_.size();
  pending_.resize(at + kHeaderBytes);
  fill(pending_);
  const std::size_t size = pending_.size() - at;
  CHECK(size < 0xffff'ffffU, "an extent has less than 4 GiB");
  env::seal_block(pending_, at, kSegmentKind, records, slot);
  Segment& segment = segments_[written_];
  const Extent extent{written_, static_cast<std::uint32_t>(size - kHeaderBytes), segment.size,
                      records};
  segment.size += size;
  bytes_live_ += size;
  if (options_.aligns_extents) RETURN_IF_ERROR(align_end());
  if (options_.has_one_per_slot) RETURN_IF_ERROR(write_pending());
  return extent;
}

// What is between two extents is free from the beginning.
base::Status Segments::align_end() {
  Segment& segment = segments_[written_];
  const std::uint64_t begin = segment.size;
  const std::uint64_t end = (begin + kBlockBytes - 1) / kBlockBytes * kBlockBytes;
  if (begin == end) return {};
  pending_.resize(pending_.size() + (end - begin));
  segment.size = end;
  return free_range(written_, begin, end);
}

base::Status Segments::write_pending() {
  if (pending_.empty()) return {};
  RETURN_IF_ERROR(file_->append(pending_));
  if (!options_.has_one_per_slot) file_->will_sync();
  pending_.clear();
  return {};
}

base::Result<env::ReadableFile*> Segments::reader_of(std::uint32_t segment) {
  auto& reader = readers_[segment];
  if (!reader) {
    ASSIGN_OR_RETURN(reader, files_.open_read(path_of(segment)));
  }
  return reader.get();
}

void Segments::will_read(const Extent& extent) {
  const auto file = reader_of(extent.segment);
  if (file) (*file)->will_read(extent.offset, kHeaderBytes + extent.bytes);
}

base::Result<std::string_view> Segments::read(Slot slot, const Extent& extent,
                                              std::string* buffer) {
  if (extent.segment == written_ && file_ && end_of(extent) > file_->size()) {
    RETURN_IF_ERROR(write_pending());
  }
  ASSIGN_OR_RETURN(const env::ReadableFile* file, reader_of(extent.segment));
  RETURN_IF_ERROR(file->read_at(extent.offset, kHeaderBytes + extent.bytes, buffer));
  env::BlockView view;
  const env::BlockState state = env::read_block(*buffer, kSegmentKind, view);
  const bool is_it = state == env::BlockState::kWhole && view.number == slot &&
                     view.payload.size() == extent.bytes;
  if (!is_it) {
    return base::fail(
        ErrorCode::kCorrupt, "{} is damaged at {}: {} bytes of bucket slot {}, {}",
        path_of(extent.segment), extent.offset, extent.bytes, slot,
        state == env::BlockState::kWhole ? "but the block is another" : env::describe(state));
  }
  return view.payload;
}

void Segments::release(const Extent& extent) {
  bytes_live_ -= kHeaderBytes + extent.bytes;
  bytes_released_ += kHeaderBytes + extent.bytes;
  released_.push_back(extent);
  close_segment_of_slot(extent.segment);
}

base::Result<std::string> Segments::mark() {
  RETURN_IF_ERROR(write_pending());
  for (const std::uint32_t number : unsynced_) {
    ASSIGN_OR_RETURN(const auto file, files_.open_append(path_of(number)));
    RETURN_IF_ERROR(file->sync());
  }
  unsynced_.clear();
  if (file_) RETURN_IF_ERROR(file_->sync());
  if (std::exchange(has_new_names_, false)) RETURN_IF_ERROR(files_.sync_dir(dir_));
  to_free_.insert(to_free_.end(), released_.begin(), released_.end());
  released_.clear();
  bytes_released_ = 0;
  std::string state;
  append_varint(last_, state);
  for (const auto& [number, segment] : segments_) {
    append_varint(number, state);
    append_varint(segment.size, state);
  }
  return state;
}

// Buckets that follow each other in time were mostly written beside each other, so that what was
// released together is freed in few pieces.
base::Status Segments::forget() {
  std::vector<Extent> extents = std::exchange(to_free_, {});
  std::ranges::sort(extents, {}, [](const Extent& e) { return std::pair(e.segment, e.offset); });
  for (std::size_t i = 0; i < extents.size();) {
    const Extent& first = extents[i];
    std::uint64_t end = end_of(first);
    for (++i; i < extents.size(); ++i) {
      if (extents[i].segment != first.segment || extents[i].offset != end) break;
      end = end_of(extents[i]);
    }
    RETURN_IF_ERROR(free_range(first.segment, first.offset, end));
  }
  constexpr std::uint64_t kKeptShare = 16;  // of what is in use
  constexpr std::uint64_t kKeptPieces = 64;
  const std::uint64_t kept_max =
      std::max(bytes_live_ / kKeptShare, kKeptPieces * options_.punch_bytes_min);
  return bytes_kept_ > kept_max ? punch_all_at_least(1) : base::Status();
}

// Joined with what is free beside it, so that blocks which several extents share go too.
base::Status Segments::free_range(std::uint32_t index, std::uint64_t begin, std::uint64_t end) {
  Segment& segment = segments_.at(index);
  FreeRange joined{end, end - begin};
  bytes_kept_ += joined.kept;
  if (const auto after = segment.freed.find(end); after != segment.freed.end()) {
    joined.end = after->second.end;
    joined.kept += after->second.kept;
    segment.freed.erase(after);
  }
  auto place = segment.freed.lower_bound(begin);
  if (place != segment.freed.begin() && std::prev(place)->second.end == begin) {
    --place;
    joined.kept += place->second.kept;
    place->second = joined;
  } else {
    place = segment.freed.emplace(begin, joined).first;
  }
  if (place->first == 0 && joined.end == segment.size && !is_written(index)) {
    bytes_kept_ -= joined.kept;
    segments_.erase(index);
    readers_.erase(index);
    return files_.remove(path_of(index));
  }
  if (joined.kept < options_.punch_bytes_min) return {};
  return punch(index, place->first, place->second);
}

// The whole blocks of a free range, which may have been punched out in part.
base::Status Segments::punch(std::uint32_t index, std::uint64_t begin, FreeRange& range) {
  bytes_kept_ -= std::exchange(range.kept, 0);
  const std::uint64_t from = (begin + kBlockBytes - 1) / kBlockBytes * kBlockBytes;
  const std::uint64_t until = range.end / kBlockBytes * kBlockBytes;
  if (from >= until) return {};
  return files_.punch(path_of(index), from, until - from);
}

base::Status Segments::punch_all_at_least(std::uint64_t bytes) {
  for (auto& [number, segment] : segments_) {
    for (auto& [begin, range] : segment.freed) {
      if (range.kept >= bytes) RETURN_IF_ERROR(punch(number, begin, range));
    }
  }
  return {};
}

std::uint64_t Segments::bytes_on_disk() const {
  std::uint64_t bytes = 0;
  for (const auto& [number, segment] : segments_) {
    bytes += segment.size;
    for (const auto& [begin, range] : segment.freed) {
      const std::uint64_t from = (begin + kBlockBytes - 1) / kBlockBytes * kBlockBytes;
      const std::uint64_t until = range.end / kBlockBytes * kBlockBytes;
      if (from + range.kept < until) bytes -= until - from - range.kept;
    }
  }
  return bytes;
}

}  // namespace meguri::sat
