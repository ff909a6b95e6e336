// How a Store comes back: checkpoints, and the log of what was done since.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "env/block_file.h"
#include "sat/block_kinds.h"
#include "sat/store.h"
#include "sat/store_position.h"

namespace meguri::sat {

using base::ErrorCode;
using base::Instant;

namespace {

// Of a store with an index, and of one without.
constexpr std::uint64_t kVersion = 1;
constexpr std::uint64_t kBasicVersion = 2;
// The out slot may have so many copies left behind, and as many as records.
constexpr std::uint64_t kWasteShare = 5;  // of what is in use
constexpr std::uint64_t kOutCopiesMin = 1000;

void put_text(std::string_view text, std::string& out) {
  append_varint(text.size(), out);
  out.append(text);
}

void put_extents(const std::vector<Extent>& extents, std::string& out) {
  append_varint(extents.size(), out);
  for (const Extent& extent : extents) {
    append_varint(extent.segment, out);
    append_varint(extent.offset, out);
    append_varint(extent.bytes, out);
    append_varint(extent.records, out);
  }
}

void put_taken(const TakenBucket& bucket, std::string& out) {
  append_varint(bucket.slot, out);
  append_varint(static_cast<std::uint64_t>(bucket.opened.ms()), out);
  put_extents(bucket.extents, out);
  append_varint(bucket.tail_records, out);
  put_text(bucket.tail, out);
}

// Most parts of a checkpoint are small, so that many are written at once.
class BlockWriter {
 public:
  explicit BlockWriter(env::WritableFile& file) : file_(file) {}

  // `fill` appends the bytes of the part to what it is given.
  template <typename Fill>
  base::Status add(CheckpointPart part, const Fill& fill) {
    const std::size_t at = bytes_.size();
    bytes_.resize(at + env::Block::kHeaderBytes);
    fill(bytes_);
    env::seal_block(bytes_, at, kCheckpointKind, 1, part);
    return bytes_.size() < kBytesMin ? base::Status() : flush();
  }
  base::Status flush() {
    RETURN_IF_ERROR(file_.append(bytes_));
    file_.will_sync();
    bytes_.clear();
    return {};
  }

 private:
  static constexpr std::size_t kBytesMin = std::size_t{1} << 20U;

  env::WritableFile& file_;
  std::string bytes_;
};

void join(TakenBucket& bucket, const TakenBucket& other) {
  bucket.extents.insert(bucket.extents.end(), other.extents.begin(), other.extents.end());
  bucket.tail += other.tail;
  bucket.tail_records += other.tail_records;
}

// Reads what was put; after anything that is none, all reads give zeros and ok() is false.
class Taker {
 public:
  explicit Taker(std::string_view bytes) : bytes_(bytes) {}

  bool ok() const { return ok_; }
  bool at_end() const { return bytes_.empty(); }

  std::uint64_t number(std::uint64_t max = ~std::uint64_t{0}) {
    std::uint64_t value = 0;
    if (!ok_ || !take_varint(bytes_, value) || value > max) {
      ok_ = false;
      return 0;
    }
    return value;
  }
  std::uint32_t number32() { return static_cast<std::uint32_t>(number(0xffff'ffff)); }
  // A number of things that take at least a byte each.
  std::uint64_t count() { return number(bytes_.size()); }
  std::string_view text() {
    const std::uint64_t size = count();
    if (!ok_ || size > bytes_.size()) {
      ok_ = false;
      return {};
    }
    const std::string_view text = bytes_.substr(0, size);
    bytes_.remove_prefix(size);
    return text;
  }
  std::vector<Extent> extents() {
    std::vector<Extent> extents;
    for (std::uint64_t n = count(); n > 0 && ok_; --n) {
      Extent extent;
      extent.segment = number32();
      extent.offset = number();
      extent.bytes = number32();
      extent.records = number32();
      extents.push_back(extent);
    }
    return extents;
  }
  TakenBucket taken() {
    TakenBucket bucket;
    bucket.slot = number32();
    bucket.opened = Instant::from_ms(static_cast<std::int64_t>(number()));
    bucket.extents = extents();
    bucket.tail_records = number32();
    bucket.tail = text();
    return bucket;
  }

 private:
  std::string_view bytes_;
  bool ok_ = true;
};

}  // namespace

// Records that are out while the log is replayed, with their bodies: what is rescheduled is told as
// a difference to them.
struct Store::Replay {
  struct Out {
    Record record;  // without its body
    std::string body;
  };
  std::unordered_map<Seq, Out> out;
};

std::string Store::path_of(std::string_view what, std::uint64_t number) const {
  return fmt::format("{}/{}-{:08}", dir_, what, number);
}

base::Result<std::unique_ptr<Store>> Store::open(env::FileSystem& files, std::string dir,
                                                 const StoreOptions& options,
                                                 std::string_view position, Instant now) {
  if (!options.has_index && options.sorts_buckets) {
    return base::fail(ErrorCode::kInvalid, "buckets are sorted for messages, which need an index");
  }
  RETURN_IF_ERROR(files.make_dirs(dir));
  StorePosition from;
  from.layout = options.layout;
  if (!position.empty()) {
    ASSIGN_OR_RETURN(from, StorePosition::parse(position));
  }
  std::unique_ptr<Store> store(new Store(files, std::move(dir), options, std::move(from.layout),
                                         position.empty() ? now : Instant()));
  store->number_ = from.number;
  if (position.empty()) {
    RETURN_IF_ERROR(store->remove_files_except(0));
    ASSIGN_OR_RETURN(store->segments_,
                     Segments::open(files, store->dir_ + "/segments", options.segments, "", {}));
    ASSIGN_OR_RETURN(store->log_, OperationLog::create(files, store->path_of("log", 0)));
    RETURN_IF_ERROR(store->write_checkpoint());
    return store;
  }
  // Nothing is removed before it is known that there is something to go on with.
  RETURN_IF_ERROR(store->read_checkpoint());
  RETURN_IF_ERROR(store->remove_files_except(from.number));
  RETURN_IF_ERROR(store->replay_log(from.log_size));
  return store;
}

base::Status Store::remove_files_except(std::uint64_t number) {
  ASSIGN_OR_RETURN(const std::vector<std::string> names, files_.list(dir_));
  for (const std::string& name : names) {
    const bool is_ours = name.starts_with("checkpoint-") || name.starts_with("log-");
    const bool is_needed = number != 0 && name.ends_with(fmt::format("-{:08}", number));
    if (is_ours && !is_needed) RETURN_IF_ERROR(files_.remove(dir_ + "/" + name));
  }
  return {};
}

// --- Commit.

base::Result<std::string> Store::commit() {
  if (!status_) return unusable();
  auto position = do_commit();
  if (!position) status_ = std::unexpected(position.error());
  return position;
}

// The log would take long to do again, or what waits to be freed takes much of the disk.
bool Store::needs_checkpoint() const {
  const std::uint64_t least = index_.byte_count();  // not more often than it can be written
  if (log_->size() > std::max(options_.log_bytes_max, least)) return true;
  return segments_->bytes_released() >
         std::max<std::uint64_t>(
             {segments_->bytes_live() / kWasteShare, options_.pool_bytes, least});
}

base::Result<std::string> Store::do_commit() {
  if (out_copies_ > 2 * index_.live(out_slot()) + kOutCopiesMin) {
    Operation operation;
    operation.deed = Deed::kCompactOut;
    log_->add(operation);
    RETURN_IF_ERROR(compact_out());
  }
  if (std::exchange(wants_checkpoint_, false) || needs_checkpoint()) {
    RETURN_IF_ERROR(write_checkpoint());
  }
  ASSIGN_OR_RETURN(const std::uint64_t size, log_->commit());
  return StorePosition{number_, size, layout_}.to_string();
}

base::Status Store::on_durable() {
  if (!status_) return unusable();
  return note(do_on_durable());
}

base::Status Store::do_on_durable() {
  if (!std::exchange(has_old_files_, false)) return {};
  RETURN_IF_ERROR(remove_files_except(number_));
  return segments_->forget();
}

base::Status Store::write_checkpoint() {
  const std::uint64_t number = number_ + 1;
  ASSIGN_OR_RETURN(const std::string segments_state, segments_->mark());
  ASSIGN_OR_RETURN(const auto file, files_.create(path_of("checkpoint", number)));
  BlockWriter blocks(*file);
  const auto write = [&blocks](CheckpointPart part, std::string_view bytes) {
    return blocks.add(part, [bytes](std::string& out) { out.append(bytes); });
  };
  RETURN_IF_ERROR(write(kStatePart, encode_state(segments_state)));
  for (std::size_t i = 0; i < index_.parts(); ++i) {
    RETURN_IF_ERROR(write(kIndexPart, index_.part(i)));
  }
  for (Slot slot = 0; slot < buffers_.slots(); ++slot) {
    if (buffers_.bytes(slot) == 0) continue;
    RETURN_IF_ERROR(blocks.add(kPagePart, [&](std::string& out) {
      append_varint(slot, out);
      append_varint(buffers_.records(slot), out);
      buffers_.copy(slot, out);
    }));
  }
  RETURN_IF_ERROR(write(kEndPart, {}));
  RETURN_IF_ERROR(blocks.flush());
  RETURN_IF_ERROR(file->sync());
  ASSIGN_OR_RETURN(log_, OperationLog::create(files_, path_of("log", number)));
  RETURN_IF_ERROR(files_.sync_dir(dir_));
  number_ = number;
  has_old_files_ = true;
  ++counts_.checkpoints;
  return {};
}

std::string Store::encode_state(std::string_view segments_state) const {
  std::string out;
  append_varint(options_.has_index ? kVersion : kBasicVersion, out);
  put_text(layout_.encode(), out);
  put_text(front_.encode(), out);
  put_text(segments_state, out);
  append_varint(options_.has_index ? index_.size() : added_, out);
  for (const auto& extents : extents_) put_extents(extents, out);
  for (const std::uint32_t stale : stale_) append_varint(stale, out);
  append_varint(open_.size(), out);
  const auto put_bucket = [&](const OpenBucket& bucket) {
    put_taken(bucket.records, out);
    put_taken(bucket.messages, out);
    if (!options_.has_index) append_varint(bucket.gone, out);
  };
  for (const auto& bucket : open_) put_bucket(*bucket);
  append_varint(sealed_.size(), out);
  for (const SealedBucket& sealed : sealed_) {
    append_varint(sealed.bucket.level, out);
    append_varint(static_cast<std::uint64_t>(sealed.bucket.number), out);
    put_bucket(sealed.taken);
  }
  append_varint(pulls_.size(), out);
  for (const auto& [slot, pulled] : pulls_) {
    append_varint(slot, out);
    append_varint(pulled.size(), out);
    for (const auto& [seq, due] : pulled) {
      append_varint(seq, out);
      append_varint(due.seconds, out);
    }
  }
  // They are with their buckets too; but which of them a record has not seen is only known here.
  append_varint(late_messages_.size(), out);
  for (const auto& [seq, messages] : late_messages_) {
    append_varint(seq, out);
    append_varint(messages.size(), out);
    for (const std::string& message : messages) put_text(message, out);
  }
  return out;
}

// --- And back.

base::Result<TimeLayout> Store::layout_in(std::string_view state) {
  Taker taker(state);
  const std::uint64_t version = taker.number();
  if (version == kBasicVersion) {
    return base::fail(ErrorCode::kUnsupported, "a store without an index cannot be looked into");
  }
  if (version != kVersion) {
    return base::fail(ErrorCode::kCorrupt, "a checkpoint is of a version that is not known");
  }
  return TimeLayout::decode(taker.text());
}

// Returns the state of the segments.
base::Result<std::string> Store::decode_state(std::string_view bytes) {
  Taker taker(bytes);
  const auto corrupt = [this] {
    return base::fail(ErrorCode::kCorrupt, "{} cannot be read", path_of("checkpoint", number_));
  };
  const std::uint64_t version = taker.number();
  if (version == (options_.has_index ? kBasicVersion : kVersion)) {
    return base::fail(ErrorCode::kInvalid, "{} was written by a store {} an index",
                      path_of("checkpoint", number_), options_.has_index ? "without" : "with");
  }
  if (version != kVersion && version != kBasicVersion) return corrupt();
  if (taker.text() != layout_.encode()) return corrupt();
  ASSIGN_OR_RETURN(front_, TimeFront::decode(layout_, taker.text()));
  std::string segments_state(taker.text());
  added_ = taker.number32();  // of a store with an index, its size, for people
  for (auto& extents : extents_) extents = taker.extents();
  for (std::uint32_t& stale : stale_) stale = taker.number32();
  const auto take_bucket = [&](OpenBucket& bucket) {
    bucket.records = taker.taken();
    bucket.messages = taker.taken();
    if (!options_.has_index) bucket.gone = taker.number();
  };
  for (std::uint64_t n = taker.count(); n > 0 && taker.ok(); --n) {
    auto bucket = std::make_unique<OpenBucket>();
    take_bucket(*bucket);
    if (bucket->records.slot > layout_.slots()) return corrupt();
    open_.push_back(std::move(bucket));
  }
  for (std::uint64_t n = taker.count(); n > 0 && taker.ok(); --n) {
    SealedBucket sealed;
    sealed.bucket.level = taker.number32();
    sealed.bucket.number = static_cast<std::int64_t>(taker.number());
    take_bucket(sealed.taken);
    if (sealed.bucket.level >= layout_.levels()) return corrupt();
    if (sealed.taken.records.slot >= layout_.slots()) return corrupt();
    sealed_.push_back(std::move(sealed));
  }
  for (std::uint64_t n = taker.count(); n > 0 && taker.ok(); --n) {
    auto& pulled = pulls_[taker.number32()];
    for (std::uint64_t m = taker.count(); m > 0 && taker.ok(); --m) {
      const Seq seq = taker.number32();
      pulled[seq] = {taker.number32()};
    }
  }
  for (std::uint64_t n = taker.count(); n > 0 && taker.ok(); --n) {
    auto& messages = late_messages_[taker.number32()];
    for (std::uint64_t m = taker.count(); m > 0 && taker.ok(); --m)
      messages.emplace_back(taker.text());
  }
  if (!taker.ok() || !taker.at_end()) return corrupt();
  return segments_state;
}

std::vector<Extent> Store::live_extents() const {
  std::vector<Extent> all;
  const auto add = [&all](const std::vector<Extent>& extents) {
    all.insert(all.end(), extents.begin(), extents.end());
  };
  for (const auto& extents : extents_) add(extents);
  for (const auto& bucket : open_) {
    add(bucket->records.extents);
    add(bucket->messages.extents);
  }
  for (const SealedBucket& sealed : sealed_) {
    add(sealed.taken.records.extents);
    add(sealed.taken.messages.extents);
  }
  return all;
}

base::Status Store::read_checkpoint() {
  const std::string path = path_of("checkpoint", number_);
  ASSIGN_OR_RETURN(const auto file, files_.open_read(path));
  ASSIGN_OR_RETURN(const std::uint64_t size, file->size());
  std::string segments_state;
  std::vector<std::string> pages;
  env::Block block;
  env::BlockView view;
  for (std::uint64_t at = 0; view.number != kEndPart; at += block.size()) {
    ASSIGN_OR_RETURN(const env::BlockState state,
                     block.read(*file, kCheckpointKind, at, size, view));
    if (state != env::BlockState::kWhole) {
      return base::fail(ErrorCode::kCorrupt, "{} is damaged at {}: {}", path, at,
                        env::describe(state));
    }
    switch (view.number) {
      case kStatePart: {
        ASSIGN_OR_RETURN(segments_state, decode_state(view.payload));
        break;
      }
      case kIndexPart: RETURN_IF_ERROR(index_.append_part(view.payload)); break;
      case kPagePart: pages.emplace_back(view.payload); break;
      default: break;
    }
  }
  ASSIGN_OR_RETURN(segments_, Segments::open(files_, dir_ + "/segments", options_.segments,
                                             segments_state, live_extents()));
  for (const std::string& page : pages) RETURN_IF_ERROR(load_page(page));
  return {};
}

// What a buffer held. The pool may be smaller now; then some of it is flushed at once.
base::Status Store::load_page(std::string_view bytes) {
  std::uint64_t slot = 0;
  std::uint64_t records = 0;
  if (!take_varint(bytes, slot) || !take_varint(bytes, records) || slot >= buffers_.slots()) {
    return base::fail(ErrorCode::kCorrupt, "a page of {} cannot be read",
                      path_of("checkpoint", number_));
  }
  Record record;
  while (!bytes.empty()) {
    if (!take(bytes, record)) {
      return base::fail(ErrorCode::kCorrupt, "a record in {} cannot be read",
                        path_of("checkpoint", number_));
    }
    RETURN_IF_ERROR(append(static_cast<Slot>(slot), record));
  }
  return {};
}

base::Status Store::load_out(const OpenBucket& bucket, Replay& replay) {
  const Slot slot = bucket.records.slot;
  ASSIGN_OR_RETURN(const LiveCopies live, LiveCopies::of(*segments_, bucket.records, index_, true));
  BucketReader reader(*segments_, bucket.records);
  Record record;
  for (;;) {
    ASSIGN_OR_RETURN(const bool more, reader.next(record));
    if (!more) return {};
    if (!live.counts(record, slot, index_)) continue;
    Replay::Out& out = replay.out[record.seq];
    out.body = record.body;
    out.record = record;
    out.record.body = {};
  }
}

base::Status Store::replay_log(std::uint64_t size) {
  if (!options_.has_index) {
    const auto redo_one = [this](const Operation& operation) { return redo_basic(operation); };
    ASSIGN_OR_RETURN(log_, OperationLog::replay(files_, path_of("log", number_), size, redo_one));
    return {};
  }
  Replay replay;
  {
    OpenBucket aside;
    aside.records = peek_slot(out_slot());
    RETURN_IF_ERROR(load_out(aside, replay));
    for (const auto& [seq, out] : replay.out) set_aside_[seq] = out.record.generation;
  }
  for (const auto& bucket : open_) RETURN_IF_ERROR(load_out(*bucket, replay));
  ASSIGN_OR_RETURN(log_, OperationLog::replay(
                             files_, path_of("log", number_), size,
                             [&](const Operation& operation) { return redo(operation, replay); }));
  has_old_files_ = false;
  set_aside_.clear();
  late_messages_.clear();
  // All that is out is handed out again, what was set aside too.
  for (const auto& bucket : open_) bucket->is_read = false;
  auto aside = std::make_unique<OpenBucket>(take_slot(out_slot()));
  std::erase_if(open_, [&](const auto& bucket) {
    if (bucket->records.slot != out_slot()) return false;
    join(aside->records, bucket->records);
    join(aside->messages, bucket->messages);
    return true;
  });
  open_.push_front(std::move(aside));
  return {};
}

// As it was done, except that buckets are read at once and not as somebody asks.
base::Status Store::redo(const Operation& operation, Replay& replay) {
  const auto lost = [&] {
    return base::fail(ErrorCode::kCorrupt, "{} speaks of record {}, which is not there",
                      path_of("log", number_), operation.seq);
  };
  switch (operation.deed) {
    case Deed::kAdd: {
      ASSIGN_OR_RETURN(const Seq seq, add(operation.id, operation.schema, operation.bytes,
                                          operation.due.instant()));
      return seq < index_.size() ? base::Status() : lost();
    }
    case Deed::kReschedule: {
      const auto out = replay.out.extract(operation.seq);
      if (!out || !index_.has(operation.seq)) return lost();
      std::string body;
      if (!apply_difference(out.mapped().body, operation.bytes, body)) return lost();
      Record record = out.mapped().record;
      record.schema = operation.schema;
      return do_reschedule(record, body, operation.due, operation.number);
    }
    case Deed::kAddOut: {
      ASSIGN_OR_RETURN(const Record record,
                       add_out(operation.id, operation.schema, operation.bytes));
      Replay::Out& out = replay.out[record.seq];
      out.body = record.body;
      out.record = record;
      out.record.body = {};
      return {};
    }
    case Deed::kHold: {
      const auto found = replay.out.find(operation.seq);
      if (found == replay.out.end() || !index_.has(operation.seq)) return lost();
      Replay::Out& out = found->second;
      std::string body;
      if (!apply_difference(out.body, operation.bytes, body)) return lost();
      out.body = std::move(body);
      out.record.schema = operation.schema;
      RETURN_IF_ERROR(do_hold(out.record, out.body, operation.number));
      out.record.body = {};
      return {};
    }
    case Deed::kRemove:
      if (!index_.has(operation.seq)) return lost();
      replay.out.erase(operation.seq);
      do_remove(operation.seq);
      return {};
    case Deed::kOpen: {
      const std::size_t before = open_.size();
      RETURN_IF_ERROR(open_next());
      if (open_.size() == before) return {};
      OpenBucket& bucket = *open_.back();
      RETURN_IF_ERROR(begin_reading(bucket));
      DueRecord due;
      for (;;) {
        ASSIGN_OR_RETURN(const bool more, read_one(due));
        if (!more) return {};
        Replay::Out& out = replay.out[due.record.seq];
        out.body = due.record.body;
        out.record = due.record;
        out.record.body = {};
      }
    }
    case Deed::kMove: return move_sealed(operation.number);
    case Deed::kSetAside: return set_aside_oldest();
    case Deed::kCompactOut: return compact_out();
    case Deed::kSend:
      return index_.has(operation.seq) ? do_send(operation.seq, operation.bytes) : lost();
    case Deed::kPull:
      if (!index_.has(operation.seq)) return lost();
      do_pull(operation.seq, operation.due);
      return {};
    case Deed::kServePulls:
      if (operation.number >= layout_.slots()) return lost();
      return serve_pulls_of(operation.number);
  }
  return lost();
}

}  // namespace meguri::sat
