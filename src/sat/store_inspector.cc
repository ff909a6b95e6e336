#include "sat/store_inspector.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "sat/block_kinds.h"
#include "sat/bucket_reader.h"

namespace meguri::sat {

using base::ErrorCode;

StoreInspector::ScannedCheckpoint StoreInspector::scan_checkpoint(env::FileSystem& files,
                                                                  const std::string& path,
                                                                  CheckReport& report) {
  ScannedCheckpoint scanned;
  bool has_end = false;
  const auto judge = [&](const ScannedBlock& block) -> std::string_view {
    if (has_end) return "the block stands behind the end";
    const bool is_first = block.offset == 0;
    const std::uint64_t part = block.view.number;
    if (part > kEndPart || is_first != (part == kStatePart)) return "the block belongs elsewhere";
    if (is_first) scanned.state = block.view.payload;
    has_end = part == kEndPart;
    return "";
  };
  scanned.file = scan_file(files, path, {kCheckpointKind}, std::nullopt, judge, report);
  if (!scanned.file.is_damaged && !has_end) scanned.file.is_torn = true;
  scanned.is_whole = has_end && !scanned.file.is_damaged && !scanned.file.is_torn;
  return scanned;
}

base::Result<StoreInspector::Found> StoreInspector::find_newest(env::FileSystem& files,
                                                                const std::string& dir) {
  ASSIGN_OR_RETURN(const FolderKind kind, kind_of_folder(files, dir));
  if (kind != FolderKind::kStore) {
    return base::fail(ErrorCode::kNotFound, "{} holds known ids, and no state store", dir);
  }
  Found found;
  ASSIGN_OR_RETURN(const std::vector<std::uint64_t> numbers, numbers_of(files, dir, "checkpoint"));
  for (const std::uint64_t number : numbers) {
    CheckReport ignored;
    const std::string path = path_of_number(dir, "checkpoint", number);
    const ScannedCheckpoint checkpoint = scan_checkpoint(files, path, ignored);
    const std::string log_path = path_of_number(dir, "log", number);
    ASSIGN_OR_RETURN(const bool has_log, files.exists(log_path));
    if (!checkpoint.is_whole || !has_log) {
      found.notes.push_back(
          fmt::format("{} is not whole, and is left out", checkpoint.is_whole ? log_path : path));
      continue;
    }
    const ScannedFile log = scan_log(files, log_path, kOperationsKind, std::nullopt, ignored);
    if (log.whole < log.size) {
      found.notes.push_back(fmt::format("{} is not whole, and its last {} bytes are left out",
                                        log_path, log.size - log.whole));
    }
    found.position.number = number;
    found.position.log_size = log.whole;
    ASSIGN_OR_RETURN(found.position.layout, Store::layout_in(checkpoint.state));
    return found;
  }
  return base::fail(ErrorCode::kCorrupt, "no checkpoint in {} is whole", dir);
}

base::Result<std::unique_ptr<StoreInspector>> StoreInspector::open(env::FileSystem& files,
                                                                   std::string dir,
                                                                   std::string_view position,
                                                                   const Scratch& scratch) {
  std::unique_ptr<StoreInspector> inspector(new StoreInspector(files, std::move(dir), scratch));
  if (position.empty()) {
    ASSIGN_OR_RETURN(Found found, find_newest(files, inspector->dir_));
    inspector->position_ = std::move(found.position);
    inspector->notes_ = std::move(found.notes);
  } else {
    RETURN_IF_ERROR(kind_of_folder(files, inspector->dir_));
    ASSIGN_OR_RETURN(inspector->position_, StorePosition::parse(position));
  }
  RETURN_IF_ERROR(inspector->open_store());
  return inspector;
}

base::Status StoreInspector::open_store() {
  const std::string path = path_of_number(dir_, "checkpoint", position_.number);
  ASSIGN_OR_RETURN(const std::uint64_t size, files_.size(path));
  StoreOptions options;
  // Whatever its pool was: pages and what is left empty in the last of each slot.
  options.pool_bytes = std::max<std::size_t>(
      options.pool_bytes, size + 2 * options.page_bytes * (position_.layout.slots() + 1));
  ASSIGN_OR_RETURN(store_, Store::open(overlay_, dir_, options, position_.to_string(), {}));
  return {};
}

// --- Records.

base::Status StoreInspector::for_each_holding(
    const std::function<base::Result<bool>(const Holding&)>& use) {
  bool goes_on = true;
  const auto tell = [&](const Holding& holding) -> base::Status {
    if (!goes_on) return {};
    ASSIGN_OR_RETURN(goes_on, use(holding));
    return {};
  };
  const auto tell_slot = [&](Slot slot, bool is_out) -> base::Status {
    if (!goes_on) return {};
    const TakenBucket records = store_->peek_slot(slot);
    const TakenBucket messages = store_->peek_slot(store_->message_slot(slot));
    return tell({slot, is_out, &records, &messages});
  };
  for (const auto& open : store_->open_) {
    RETURN_IF_ERROR(tell({open->records.slot, true, &open->records, &open->messages}));
  }
  RETURN_IF_ERROR(tell_slot(store_->out_slot(), true));
  for (const auto& sealed : store_->sealed_) {
    const auto& taken = sealed.taken;
    RETURN_IF_ERROR(tell({taken.records.slot, false, &taken.records, &taken.messages}));
  }
  std::vector<Slot> slots(store_->layout_.slots());
  std::iota(slots.begin(), slots.end(), Slot{0});
  std::ranges::sort(slots, {}, [this](Slot slot) { return store_->front_.order_of(slot); });
  for (const Slot slot : slots) RETURN_IF_ERROR(tell_slot(slot, false));
  return {};
}

base::Status StoreInspector::for_each_record(
    const std::function<base::Result<bool>(const InspectedRecord&)>& use) {
  return for_each_holding([&](const Holding& holding) { return tell_records(holding, use); });
}

base::Result<bool> StoreInspector::tell_records(
    const Holding& holding, const std::function<base::Result<bool>(const InspectedRecord&)>& use) {
  Segments& segments = *store_->segments_;
  ASSIGN_OR_RETURN(const LiveCopies live,
                   LiveCopies::of(segments, *holding.records, store_->index_, true));
  ASSIGN_OR_RETURN(const Store::Messages messages,
                   store_->read_messages(holding.slot, *holding.messages));
  BucketReader reader(segments, *holding.records);
  InspectedRecord inspected;
  inspected.slot = holding.slot;
  inspected.is_out = holding.is_out;
  for (;;) {
    ASSIGN_OR_RETURN(const bool more, reader.next(inspected.record));
    if (!more) return true;
    if (!live.counts(inspected.record, holding.slot, store_->index_)) continue;
    const auto sent = messages.find(inspected.record.seq);
    inspected.messages = {};
    if (sent != messages.end()) inspected.messages = sent->second;
    ASSIGN_OR_RETURN(const bool goes_on, use(inspected));
    if (!goes_on) return false;
  }
}

// --- Figures.

base::Result<StoreFigures> StoreInspector::figures() {
  StoreFigures figures;
  const StoreCounts counts = store_->counts();
  figures.records = counts.records;
  figures.out = counts.out;
  figures.index_bytes = store_->index_.memory_bytes();
  figures.numbers_given = store_->index_.size();
  for (Slot slot = 0; slot < store_->layout_.slots(); ++slot) {
    const bool is_ahead = store_->open_bucket_of(slot) == nullptr;
    figures.buckets_filled += is_ahead && store_->index_.live(slot) > 0 ? 1 : 0;
  }
  figures.buckets = store_->layout_.slots();
  figures.log_bytes = position_.log_size;
  ASSIGN_OR_RETURN(figures.checkpoint_bytes,
                   files_.size(path_of_number(dir_, "checkpoint", position_.number)));
  // What was done since the checkpoint may have been written anew, above the disk.
  RETURN_IF_ERROR(store_->segments_->write_pending());
  figures.segment_bytes = store_->segments_->bytes_on_disk();
  const std::string folder = dir_ + "/segments";
  ASSIGN_OR_RETURN(const auto names, overlay_.list(folder));
  for (const std::string& name : names) {
    ASSIGN_OR_RETURN(const bool is_below, files_.exists(folder + "/" + name));
    if (is_below) {
      ++figures.segments;
      continue;
    }
    ASSIGN_OR_RETURN(const std::uint64_t size, overlay_.size(folder + "/" + name));
    figures.segment_bytes -= std::min(size, figures.segment_bytes);
  }
  for (const Extent& extent : store_->live_extents()) {
    ASSIGN_OR_RETURN(const bool is_below,
                     files_.exists(env::numbered_path(folder, extent.segment, ".seg")));
    if (is_below) figures.segment_bytes_used += Segments::kHeaderBytes + extent.bytes;
  }
  return figures;
}

}  // namespace meguri::sat
