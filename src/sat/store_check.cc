// How a store is checked: every block that is needed, then every record.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <unordered_map>
#include <utility>

#include "sat/block_kinds.h"
#include "sat/store_inspector.h"

namespace meguri::sat {

using base::ErrorCode;

namespace {

// Records that are named; of more only the number is told.
constexpr std::uint64_t kRecordsNamed = 100;

}  // namespace

// The files, and which position they can be opened at.
class StoreInspector::Check {
 public:
  Check(env::FileSystem& files, const std::string& dir, CheckReport& report)
      : files_(files), dir_(dir), report_(report) {}

  // Without a position, the newest that is whole is chosen.
  base::Status check_files(std::optional<StorePosition> position);
  const std::optional<StorePosition>& position() const { return position_; }

 private:
  struct Needed {
    Extent extent;
    Slot slot = 0;
  };

  base::Status check_newest();
  void check_given(const StorePosition& position);
  void check_segments(std::uint64_t number, const std::string& state);
  void check_segment(const std::string& path, const std::vector<Needed>& needed);
  void check_extent(const env::ReadableFile& file, std::uint64_t size, const std::string& path,
                    const Needed& needed);
  std::string path_of(std::string_view what, std::uint64_t number) const {
    return path_of_number(dir_, what, number);
  }
  void fault(const std::string& file, std::uint64_t offset, std::uint64_t length,
             std::string what) {
    report_.faults.push_back({file, offset, length, std::move(what)});
  }

  env::FileSystem& files_;
  const std::string& dir_;
  CheckReport& report_;
  std::optional<StorePosition> position_;
};

base::Status StoreInspector::Check::check_files(std::optional<StorePosition> position) {
  if (!position) return check_newest();
  check_given(*position);
  return {};
}

// What stands behind a position does not count, and all before it does.
void StoreInspector::Check::check_given(const StorePosition& position) {
  const std::string path = path_of("checkpoint", position.number);
  const ScannedCheckpoint checkpoint = scan_checkpoint(files_, path, report_);
  if (checkpoint.file.is_torn) fault(path, checkpoint.file.whole, 0, "the file is cut off");
  const std::string log_path = path_of("log", position.number);
  const ScannedFile log = scan_log(files_, log_path, kOperationsKind, position.log_size, report_);
  if (log.is_torn) {
    fault(log_path, log.whole, position.log_size - log.whole,
          fmt::format("the file is cut off, and is needed up to {}", position.log_size));
  }
  check_segments(position.number, checkpoint.state);
  if (checkpoint.is_whole && log.whole == position.log_size) position_ = position;
}

base::Status StoreInspector::Check::check_newest() {
  ASSIGN_OR_RETURN(const std::vector<std::uint64_t> numbers,
                   numbers_of(files_, dir_, "checkpoint"));
  for (const std::uint64_t number : numbers) {
    const std::string path = path_of("checkpoint", number);
    const ScannedCheckpoint checkpoint = scan_checkpoint(files_, path, report_);
    const std::string log_path = path_of("log", number);
    ASSIGN_OR_RETURN(const bool has_log, files_.exists(log_path));
    const bool is_last = number == numbers.back();
    // A crash may leave one unfinished, but then the one before it is still there.
    if (checkpoint.file.is_torn || (checkpoint.is_whole && !has_log)) {
      if (is_last && !position_) {
        if (!has_log) fault(log_path, 0, 0, "the file is missing");
        if (checkpoint.file.is_torn) fault(path, checkpoint.file.whole, 0, "the file is cut off");
      } else {
        report_.notes.push_back(fmt::format("{} is unfinished, as a crash leaves it", path));
      }
    }
    ScannedFile log;
    if (has_log) {
      log = scan_log(files_, log_path, kOperationsKind, std::nullopt, report_);
      if (log.is_torn) {
        report_.notes.push_back(fmt::format(
            "{} has an unfinished block from {} on, as a crash leaves it", log_path, log.whole));
      }
    }
    if (position_) continue;
    const bool is_usable = checkpoint.is_whole && has_log;
    if (!is_usable && !is_last) continue;
    check_segments(number, checkpoint.state);
    if (!is_usable) continue;
    position_.emplace();
    position_->number = number;
    position_->log_size = log.whole;
    ASSIGN_OR_RETURN(position_->layout, Store::layout_in(checkpoint.state));
  }
  return {};
}

// All that a checkpoint says of segments is true.
void StoreInspector::Check::check_segments(std::uint64_t number, const std::string& state) {
  const std::string path = path_of("checkpoint", number);
  if (state.empty()) {
    report_.notes.push_back(fmt::format(
        "the segments were not looked at, because {} does not say what is needed of them", path));
    return;
  }
  auto layout = Store::layout_in(state);
  if (!layout) return fault(path, 0, 0, layout.error().message());
  StoreOptions options;
  options.pool_bytes = 0;
  Store store(files_, dir_, options, *std::move(layout), {});
  store.number_ = number;
  if (const auto decoded = store.decode_state(state); !decoded) {
    return fault(path, 0, 0, decoded.error().message());
  }
  std::map<std::uint32_t, std::vector<Needed>> by_segment;
  const auto need = [&](Slot slot, const std::vector<Extent>& extents) {
    for (const Extent& extent : extents) by_segment[extent.segment].push_back({extent, slot});
  };
  const auto need_taken = [&](const Store::OpenBucket& taken) {
    need(taken.records.slot, taken.records.extents);
    need(taken.messages.slot, taken.messages.extents);
  };
  for (Slot slot = 0; slot < store.extents_.size(); ++slot) need(slot, store.extents_[slot]);
  for (const auto& open : store.open_) need_taken(*open);
  for (const auto& sealed : store.sealed_) need_taken(sealed.taken);
  for (auto& [segment, needed] : by_segment) {
    std::ranges::sort(needed, {}, [](const Needed& each) { return each.extent.offset; });
    check_segment(env::numbered_path(dir_ + "/segments", segment, ".seg"), needed);
  }
}

void StoreInspector::Check::check_segment(const std::string& path,
                                          const std::vector<Needed>& needed) {
  ++report_.files;
  const auto file = files_.open_read(path);
  const auto size = file ? (*file)->size() : std::unexpected(file.error());
  if (!size) {
    std::uint64_t records = 0;
    for (const Needed& each : needed) records += each.extent.records;
    const bool is_missing = size.error().code() == ErrorCode::kNotFound;
    return fault(path, 0, 0,
                 fmt::format("{}, and {} blocks with {} records and messages are needed of it",
                             is_missing ? "the file is missing" : size.error().message(),
                             needed.size(), records));
  }
  report_.bytes += *size;
  for (const Needed& each : needed) check_extent(**file, *size, path, each);
}

void StoreInspector::Check::check_extent(const env::ReadableFile& file, std::uint64_t size,
                                         const std::string& path, const Needed& needed) {
  ++report_.blocks;
  const Extent& extent = needed.extent;
  const std::uint64_t length = Segments::kHeaderBytes + std::uint64_t{extent.bytes};
  const auto wrong = [&](std::string_view why) {
    fault(path, extent.offset, length,
          fmt::format("{}; {} records of slot {}", why, extent.records, needed.slot));
  };
  env::Block block;
  env::BlockView view;
  const auto state = block.read(file, kSegmentKind, extent.offset, size, view);
  if (!state) return wrong(state.error().message());
  if (*state == env::BlockState::kEnd) return wrong("the file is cut off before it");
  if (*state != env::BlockState::kWhole) return wrong(env::describe(*state));
  if (view.number != needed.slot || view.count != extent.records ||
      view.payload.size() != extent.bytes) {
    return wrong("the block belongs elsewhere");
  }
  std::string_view rest = view.payload;
  Record record;
  std::uint32_t records = 0;
  while (take(rest, record)) ++records;
  if (!rest.empty() || records != extent.records) wrong("it holds something else");
}

// Every record of an open store, wherever it is.
class StoreInspector::Walk {
 public:
  // `has_damage`: blocks that cannot be read have been named already.
  Walk(StoreInspector& inspector, bool has_damage, CheckReport& report)
      : inspector_(inspector),
        store_(*inspector.store_),
        has_damage_(has_damage),
        report_(report),
        seen_(store_.index_.size()),
        found_(store_.index_.slots()),
        is_damaged_(store_.index_.slots()) {}

  base::Status run();

 private:
  struct Copy {
    std::uint32_t generation = 0;
    std::uint32_t alike = 0;   // copies the index cannot tell from each other
    std::uint32_t copies = 0;  // with this generation
  };
  using Copies = std::unordered_map<Seq, Copy>;

  void take_holding(const Holding& holding);
  void take_part(const Holding& holding, std::string_view bytes, std::uint32_t records,
                 Copies& copies);
  void judge_record(Seq seq);
  void judge_slots();
  void wrong(std::string what) {
    report_.faults.push_back({inspector_.dir_, 0, 0, std::move(what)});
  }
  // Of one record; they may be many.
  void wrong_record(std::string what) {
    if (++records_wrong_ <= kRecordsNamed) wrong(std::move(what));
  }

  StoreInspector& inspector_;
  Store& store_;
  const bool has_damage_;
  CheckReport& report_;
  std::vector<std::uint8_t> seen_;    // by record: copies that count, up to 2
  std::vector<std::uint64_t> found_;  // by slot: records
  std::vector<bool> is_damaged_;      // by slot: not all of it could be read
  std::uint64_t records_wrong_ = 0;
  std::uint64_t records_lost_ = 0;
};

base::Status StoreInspector::Walk::run() {
  RETURN_IF_ERROR(inspector_.for_each_holding([&](const Holding& holding) {
    take_holding(holding);
    return base::Result<bool>(true);
  }));
  for (Seq seq = 0; seq < seen_.size(); ++seq) judge_record(seq);
  judge_slots();
  if (records_wrong_ > kRecordsNamed) {
    wrong(fmt::format("and {} more records", records_wrong_ - kRecordsNamed));
  }
  if (records_lost_ > 0) {
    report_.notes.push_back(
        fmt::format("{} records are lost with the blocks that are damaged", records_lost_));
  }
  return {};
}

void StoreInspector::Walk::take_holding(const Holding& holding) {
  Copies copies;
  std::string buffer;
  for (const Extent& extent : holding.records->extents) {
    const auto bytes = store_.segments_->read(holding.slot, extent, &buffer);
    if (bytes) {
      take_part(holding, *bytes, extent.records, copies);
      continue;
    }
    is_damaged_[holding.slot] = true;
    if (!has_damage_) wrong(bytes.error().message());
  }
  take_part(holding, holding.records->tail, holding.records->tail_records, copies);
  const bool knows_stale = holding.slot == store_.out_slot() || store_.stale_[holding.slot] > 0;
  for (const auto& [seq, copy] : copies) {
    ++found_[holding.slot];
    ++report_.records;
    if (seen_[seq] < 2) ++seen_[seq];
    if (copy.copies > 1) {
      wrong_record(fmt::format("record {} is {} times in slot {}", seq, copy.copies, holding.slot));
    } else if (copy.alike > 1 && !knows_stale) {
      wrong_record(
          fmt::format("record {} has a copy that was left behind in slot {}, which the "
                      "store does not know of",
                      seq, holding.slot));
    }
  }
}

void StoreInspector::Walk::take_part(const Holding& holding, std::string_view bytes,
                                     std::uint32_t records, Copies& copies) {
  Record record;
  std::uint32_t taken = 0;
  while (take(bytes, record)) {
    ++taken;
    if (!store_.index_.counts(record.seq, holding.slot, record.generation)) continue;
    Copy& copy = copies[record.seq];
    ++copy.alike;
    if (copy.copies == 0 || record.generation > copy.generation) {
      copy.generation = record.generation;
      copy.copies = 0;
    }
    if (record.generation == copy.generation) ++copy.copies;
  }
  if (bytes.empty() && taken == records) return;
  is_damaged_[holding.slot] = true;
  wrong(fmt::format("slot {} has {} records where there should be {}, and {} bytes that are none",
                    holding.slot, taken, records, bytes.size()));
}

void StoreInspector::Walk::judge_record(Seq seq) {
  if (!store_.index_.has(seq)) return;
  const Slot slot = store_.index_.slot_of(seq);
  if (seen_[seq] > 1) {
    wrong_record(fmt::format("record {} is in more than one place of slot {}", seq, slot));
  } else if (seen_[seq] == 0 && is_damaged_[slot]) {
    ++records_lost_;
  } else if (seen_[seq] == 0) {
    wrong_record(fmt::format("record {} is missing: the index says slot {}", seq, slot));
  }
}

void StoreInspector::Walk::judge_slots() {
  for (Slot slot = 0; slot < found_.size(); ++slot) {
    if (is_damaged_[slot] || found_[slot] == store_.index_.live(slot)) continue;
    wrong(fmt::format("slot {} holds {} records, and the index says {}", slot, found_[slot],
                      store_.index_.live(slot)));
  }
}

base::Result<CheckReport> StoreInspector::check(env::FileSystem& files, const std::string& dir,
                                                std::string_view position, const Scratch& scratch) {
  ASSIGN_OR_RETURN(const FolderKind kind, kind_of_folder(files, dir));
  if (kind != FolderKind::kStore) {
    return base::fail(ErrorCode::kNotFound, "{} holds known ids, and no state store", dir);
  }
  std::optional<StorePosition> given;
  if (!position.empty()) {
    ASSIGN_OR_RETURN(given, StorePosition::parse(position));
  }
  CheckReport report;
  Check check(files, dir, report);
  RETURN_IF_ERROR(check.check_files(std::move(given)));
  if (!check.position()) return report;
  const bool has_damage = !report.faults.empty();
  std::unique_ptr<StoreInspector> inspector(new StoreInspector(files, dir, scratch));
  inspector->position_ = *check.position();
  if (const base::Status opened = inspector->open_store(); !opened) {
    if (has_damage) {
      report.notes.push_back(
          fmt::format("the records were not counted: {}", opened.error().message()));
    } else {
      report.faults.push_back({dir, 0, 0, opened.error().message()});
    }
    return report;
  }
  report.position = inspector->position_.to_string();
  RETURN_IF_ERROR(Walk(*inspector, has_damage, report).run());
  return report;
}

}  // namespace meguri::sat
