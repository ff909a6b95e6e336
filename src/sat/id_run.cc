#include "sat/id_run.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <utility>

#include "base/bytes.h"
#include "base/check.h"
#include "sat/block_kinds.h"

namespace meguri::sat {

using base::ErrorCode;

namespace {

constexpr std::uint64_t kReadBytes = std::uint64_t{32} << 10U;  // about; whole blocks
constexpr std::size_t kPendingBytes = std::size_t{32} << 10U;
constexpr std::size_t kPartBytes = std::size_t{32} << 10U;
constexpr std::size_t kAhead = 16;
constexpr std::uint32_t kGapBlocks = 2;  // rather read than skipped

template <typename T>
T load(const char* bytes) {
  T value;
  std::memcpy(&value, bytes, sizeof value);
  if constexpr (std::endian::native == std::endian::big) value = std::byteswap(value);
  return value;
}

template <typename T>
char* store(T value, char* out) {
  if constexpr (std::endian::native == std::endian::big) value = std::byteswap(value);
  std::memcpy(out, &value, sizeof value);
  return out + sizeof value;
}

// So that no block passes for one of another run or place.
std::uint64_t block_number(std::uint64_t run, std::uint64_t block) { return run << 32U | block; }

std::uint64_t bytes_of_block(std::uint64_t ids) {
  return env::Block::kHeaderBytes + ids * RunBlock::kIdBytes;
}

}  // namespace

std::uint64_t RunBlock::high(std::size_t at) const {
  return load<std::uint64_t>(payload_.data() + at * 8);
}

std::uint64_t RunBlock::low(std::size_t at) const {
  return load<std::uint64_t>(payload_.data() + (std::size_t{ids_} + at) * 8);
}

Seq RunBlock::seq(std::size_t at) const {
  return load<Seq>(payload_.data() + std::size_t{ids_} * 16 + at * 4);
}

// What is looked for is mostly near.
std::size_t RunBlock::lower_bound(std::size_t at, const base::Id& id) const {
  constexpr std::size_t kStride = 16;
  while (at + kStride < ids_ && high(at + kStride) < id.high) at += kStride;
  while (at < ids_ && high(at) < id.high) ++at;
  while (at < ids_ && high(at) == id.high && low(at) < id.low) ++at;
  return at;
}

// --- IdRun.

base::Result<std::unique_ptr<IdRun>> IdRun::open(env::FileSystem& files, const std::string& dir,
                                                 const RunMark& mark, IdTraffic& traffic) {
  std::unique_ptr<IdRun> run(
      new IdRun(env::numbered_path(dir, mark.number, kRunSuffix), mark, traffic));
  ASSIGN_OR_RETURN(run->file_, files.open_read(run->path_));
  ASSIGN_OR_RETURN(const std::uint64_t size, run->file_->size());
  if (size != mark.size) {
    return base::fail(ErrorCode::kCorrupt, "{} is damaged: it has {} bytes and should have {}",
                      run->path_, size, mark.size);
  }
  RETURN_IF_ERROR(run->read_index());
  return run;
}

std::uint64_t IdRun::offset_of(std::uint64_t block) const {
  const std::uint64_t ids = std::min(mark_.ids, block * mark_.block_ids);
  return block * env::Block::kHeaderBytes + ids * RunBlock::kIdBytes;
}

std::unexpected<base::Error> IdRun::damaged(std::uint64_t at, std::string_view why) const {
  return base::fail(ErrorCode::kCorrupt, "{} is damaged at {}: {}", path_, at, why);
}

base::Status IdRun::read_index_part(std::uint64_t& at, std::uint64_t& part, env::Block& block,
                                    env::BlockView& view) const {
  ASSIGN_OR_RETURN(const env::BlockState state,
                   block.read(*file_, kRunIndexKind, at, mark_.size, view));
  if (state != env::BlockState::kWhole) return damaged(at, env::describe(state));
  if (view.number != block_number(mark_.number, part)) {
    return damaged(at, "the block belongs elsewhere");
  }
  traffic_->read_bytes += block.size();
  at += block.size();
  ++part;
  return {};
}

// The shape of the filter; the first ids of all blocks, in parts; the filter, in parts.
base::Status IdRun::read_index() {
  std::uint64_t at = offset_of(blocks());
  std::uint64_t part = 0;
  env::Block block;
  env::BlockView view;
  const std::uint64_t start = at;
  RETURN_IF_ERROR(read_index_part(at, part, block, view));
  BloomFilter::Shape shape;
  const bool is_whole = base::take_fixed(view.payload, shape.probes) &&
                        base::take_fixed(view.payload, shape.lines) && view.payload.empty();
  // The lines follow, so that there are no more of them than the file has room for.
  if (!is_whole || !BloomFilter::is_shape(shape) ||
      shape.lines > mark_.size / BloomFilter::kLineBytes) {
    return damaged(start, "it has no filter");
  }
  while (firsts_.size() < blocks()) {
    const std::uint64_t begin = at;
    RETURN_IF_ERROR(read_index_part(at, part, block, view));
    if (view.payload.empty() || view.payload.size() % 16 != 0) {
      return damaged(begin, "it holds no ids");
    }
    firsts_.reserve(blocks());
    while (!view.payload.empty()) {
      base::Id& id = firsts_.emplace_back();
      base::take_fixed(view.payload, id.high);
      base::take_fixed(view.payload, id.low);
    }
  }
  if (firsts_.size() != blocks()) return damaged(start, "its index is of another length");
  filter_ = BloomFilter(shape);
  for (std::uint64_t line = 0; line < shape.lines;) {
    const std::uint64_t begin = at;
    RETURN_IF_ERROR(read_index_part(at, part, block, view));
    const std::uint64_t lines = view.payload.size() / BloomFilter::kLineBytes;
    if (lines == 0 || view.payload.size() % BloomFilter::kLineBytes != 0 ||
        lines > shape.lines - line) {
      return damaged(begin, "it is no part of a filter");
    }
    filter_.load_lines(line, view.payload);
    line += lines;
  }
  if (at != mark_.size) return damaged(at, "bytes follow its index");
  return {};
}

// The last one whose first id is not behind `id`; it is not before `from`. Gallops, since what is
// looked for is mostly near.
std::optional<std::size_t> IdRun::block_of(const base::Id& id, std::size_t from) const {
  if (firsts_.empty() || id < firsts_[from]) return std::nullopt;
  std::size_t step = 1;
  std::size_t low = from;
  while (low + step < firsts_.size() && !(id < firsts_[low + step])) {
    low += step;
    step *= 2;
  }
  const auto end =
      firsts_.begin() + static_cast<std::ptrdiff_t>(std::min(firsts_.size(), low + step));
  const auto behind = std::upper_bound(firsts_.begin() + static_cast<std::ptrdiff_t>(low), end, id);
  return static_cast<std::size_t>(behind - firsts_.begin()) - 1;
}

base::Status IdRun::read_blocks(std::uint64_t begin, std::uint64_t end, std::string* bytes) const {
  const std::uint64_t offset = offset_of(begin);
  const std::uint64_t length = offset_of(end) - offset;
  RETURN_IF_ERROR(file_->read_at(offset, length, bytes));
  traffic_->read_bytes += bytes->size();
  if (bytes->size() != length) return damaged(offset, "it ends too early");
  return {};
}

base::Result<RunBlock> IdRun::block_in(std::string_view bytes, std::uint64_t first,
                                       std::uint64_t block) const {
  const std::uint64_t at = offset_of(block);
  const std::uint64_t size = offset_of(block + 1) - at;
  env::BlockView view;
  const env::BlockState state =
      env::read_block(bytes.substr(at - offset_of(first), size), kRunKind, view);
  if (state != env::BlockState::kWhole) return damaged(at, env::describe(state));
  if (view.number != block_number(mark_.number, block) || bytes_of_block(view.count) != size ||
      view.payload.size() != view.count * RunBlock::kIdBytes) {
    return damaged(at, "the block belongs elsewhere");
  }
  return RunBlock(view.payload, view.count);
}

base::Result<std::optional<Seq>> IdRun::find(const base::Id& id) const {
  if (!filter_.may_contain(FilterKey::of(id))) return std::nullopt;
  const std::optional<std::size_t> block = block_of(id, 0);
  if (!block) return std::nullopt;
  std::string bytes;
  RETURN_IF_ERROR(read_blocks(*block, *block + 1, &bytes));
  ASSIGN_OR_RETURN(const RunBlock ids, block_in(bytes, *block, *block));
  const std::size_t at = ids.lower_bound(0, id);
  if (at == ids.ids() || ids[at].id != id) return std::nullopt;
  return ids.seq(at);
}

base::Status IdRun::look_up(std::span<Lookup> lookups, LookupScratch& scratch) const {
  std::vector<Wanted>& wanted = scratch.wanted;
  wanted.clear();
  std::size_t block = 0;
  std::array<FilterKey, kAhead> keys;
  for (std::size_t i = 0; i < lookups.size(); ++i) {
    // So many misses of the processor's cache at once take little longer than one.
    if (i % kAhead == 0) {
      for (std::size_t k = 0; k < kAhead && i + k < lookups.size(); ++k) {
        keys[k] = FilterKey::of(lookups[i + k].id);
        filter_.prefetch(keys[k]);
      }
    }
    const base::Id& id = lookups[i].id;
    if (lookups[i].is_found || !filter_.may_contain(keys[i % kAhead])) continue;
    const std::optional<std::size_t> found = block_of(id, block);
    if (!found) continue;
    block = *found;
    wanted.push_back({static_cast<std::uint32_t>(i), static_cast<std::uint32_t>(block)});
  }
  const std::uint64_t blocks_max =
      std::max<std::uint64_t>(1, kReadBytes / bytes_of_block(mark_.block_ids));
  for (auto begin = wanted.begin(); begin != wanted.end();) {
    auto end = begin + 1;
    while (end != wanted.end() && end->block <= (end - 1)->block + kGapBlocks &&
           end->block < begin->block + blocks_max) {
      ++end;
    }
    RETURN_IF_ERROR(look_up_in(lookups, {begin, end}, &scratch.bytes));
    begin = end;
  }
  return {};
}

base::Status IdRun::look_up_in(std::span<Lookup> lookups, std::span<const Wanted> wanted,
                               std::string* bytes) const {
  const std::uint32_t first = wanted.front().block;
  RETURN_IF_ERROR(read_blocks(first, std::uint64_t{wanted.back().block} + 1, bytes));
  RunBlock ids;
  std::optional<std::uint32_t> block;
  std::size_t at = 0;
  for (const Wanted& one : wanted) {
    if (block != one.block) {
      block = one.block;
      at = 0;
      ASSIGN_OR_RETURN(ids, block_in(*bytes, first, one.block));
    }
    Lookup& lookup = lookups[one.lookup];
    at = ids.lower_bound(at, lookup.id);
    if (at == ids.ids() || ids.high(at) != lookup.id.high || ids.low(at) != lookup.id.low) continue;
    lookup.seq = ids.seq(at);
    lookup.is_found = true;
  }
  return {};
}

base::Status IdRun::sync() {
  if (!unsynced_) return {};
  RETURN_IF_ERROR(unsynced_->sync());
  unsynced_.reset();
  return {};
}

std::size_t IdRun::memory_bytes() const {
  return sizeof *this + firsts_.capacity() * sizeof(base::Id) + filter_.memory_bytes();
}

// --- IdRunCursor.

base::Result<bool> IdRunCursor::next_block() {
  const std::uint64_t blocks = run_->blocks();
  if (next_ == blocks) {
    block_ = {};
    return false;
  }
  if (next_ == end_) {
    first_ = next_;
    end_ = std::min(blocks, first_ + std::max<std::uint64_t>(
                                         1, kReadBytes / bytes_of_block(run_->mark().block_ids)));
    RETURN_IF_ERROR(run_->read_blocks(first_, end_, &bytes_));
  }
  ASSIGN_OR_RETURN(block_, run_->block_in(bytes_, first_, next_));
  ++next_;
  at_ = 0;
  now_ = block_[0];
  return true;
}

// --- IdRunWriter.

base::Result<std::unique_ptr<IdRunWriter>> IdRunWriter::create(
    env::FileSystem& files, std::string dir, std::uint64_t number, std::uint64_t ids_max,
    double bits_per_id, std::uint32_t block_ids, IdTraffic& traffic) {
  CHECK(block_ids > 0 && block_ids <= kBlockIdsMax && number <= 0xffff'ffff);
  std::unique_ptr<IdRunWriter> writer(new IdRunWriter(files, std::move(dir), ids_max, bits_per_id));
  ASSIGN_OR_RETURN(writer->file_,
                   files.create(env::numbered_path(writer->dir_, number, kRunSuffix)));
  writer->mark_.number = number;
  writer->mark_.block_ids = block_ids;
  writer->traffic_ = &traffic;
  writer->firsts_.reserve(ids_max / block_ids + 1);
  return writer;
}

base::Status IdRunWriter::add(const KnownId& known) {
  ids_.push_back(known);
  // Its line is fetched while others come, and is there when the block is full.
  keys_.push_back(FilterKey::of(known.id));
  filter_.prefetch(keys_.back());
  ++mark_.ids;
  if (ids_.size() == mark_.block_ids) end_block();
  return pending_.size() < kPendingBytes ? base::Status() : write_pending();
}

void IdRunWriter::end_block() {
  if (ids_.empty()) return;
  block_.clear();
  std::string& bytes = block_.out();
  const std::size_t header = bytes.size();
  bytes.resize(header + ids_.size() * RunBlock::kIdBytes);
  char* out = bytes.data() + header;
  for (const KnownId& known : ids_) out = store(known.id.high, out);
  for (const KnownId& known : ids_) out = store(known.id.low, out);
  for (const KnownId& known : ids_) out = store(known.seq, out);
  pending_ += block_.seal(kRunKind, static_cast<std::uint32_t>(ids_.size()),
                          block_number(mark_.number, firsts_.size()));
  firsts_.push_back(ids_.front().id);
  ids_.clear();
  for (const FilterKey& key : keys_) filter_.add(key);
  keys_.clear();
}

base::Status IdRunWriter::write_pending() {
  RETURN_IF_ERROR(file_->append(pending_));
  traffic_->written_bytes += pending_.size();
  pending_.clear();
  return {};
}

base::Status IdRunWriter::write_index_part(std::uint32_t count, env::Block& block) {
  pending_ += block.seal(kRunIndexKind, count, block_number(mark_.number, parts_));
  ++parts_;
  block.clear();
  return write_pending();
}

base::Status IdRunWriter::write_index() {
  env::Block& block = block_;
  block.clear();
  const BloomFilter::Shape shape = filter_.shape();
  base::put_fixed(block.out(), shape.probes);
  base::put_fixed(block.out(), shape.lines);
  RETURN_IF_ERROR(write_index_part(1, block));
  for (std::size_t at = 0; at < firsts_.size();) {
    const std::size_t end = std::min(firsts_.size(), at + kPartBytes / 16);
    const auto count = static_cast<std::uint32_t>(end - at);
    for (; at < end; ++at) {
      base::put_fixed(block.out(), firsts_[at].high);
      base::put_fixed(block.out(), firsts_[at].low);
    }
    RETURN_IF_ERROR(write_index_part(count, block));
  }
  for (std::size_t at = 0; at < shape.lines;) {
    const std::size_t end = std::min<std::size_t>(shape.lines, at + kPartBytes / 64);
    filter_.append_lines(at, end, block.out());
    RETURN_IF_ERROR(write_index_part(static_cast<std::uint32_t>(end - at), block));
    at = end;
  }
  return {};
}

base::Result<std::unique_ptr<IdRun>> IdRunWriter::finish() {
  end_block();
  RETURN_IF_ERROR(write_index());
  mark_.size = file_->size();
  std::unique_ptr<IdRun> run(
      new IdRun(env::numbered_path(dir_, mark_.number, kRunSuffix), mark_, *traffic_));
  ASSIGN_OR_RETURN(run->file_, files_.open_read(run->path_));
  run->unsynced_ = std::move(file_);
  firsts_.shrink_to_fit();
  run->firsts_ = std::move(firsts_);
  run->filter_ = std::move(filter_);
  return run;
}

std::size_t IdRunWriter::memory_bytes() const {
  return sizeof *this + filter_.memory_bytes() + firsts_.capacity() * sizeof(base::Id) +
         ids_.capacity() * sizeof(KnownId) + keys_.capacity() * sizeof(FilterKey) +
         block_.capacity() + pending_.capacity();
}

}  // namespace meguri::sat
