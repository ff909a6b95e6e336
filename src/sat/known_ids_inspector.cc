#include "sat/known_ids_inspector.h"

#include <fmt/format.h>

#include <algorithm>
#include <ranges>
#include <utility>

#include "sat/block_kinds.h"

namespace meguri::sat {

using base::ErrorCode;

namespace {

base::Status expect_known_ids(env::FileSystem& files, const std::string& dir) {
  ASSIGN_OR_RETURN(const FolderKind kind, kind_of_folder(files, dir));
  if (kind == FolderKind::kKnownIds) return {};
  return base::fail(ErrorCode::kNotFound, "{} holds a state store, and no known ids", dir);
}

}  // namespace

KnownIdsInspector::ScannedManifest KnownIdsInspector::scan_manifest(env::FileSystem& files,
                                                                    const std::string& dir,
                                                                    std::uint64_t number,
                                                                    CheckReport& report) {
  ScannedManifest scanned;
  const auto judge = [&](const ScannedBlock& block) -> std::string_view {
    if (block.offset != 0 || block.view.number != number) return "the block belongs elsewhere";
    scanned.payload = block.view.payload;
    return "";
  };
  scanned.file = scan_file(files, path_of_number(dir, "manifest", number), {kManifestKind},
                           std::nullopt, judge, report);
  if (scanned.file.size == 0 && !scanned.file.is_damaged) scanned.file.is_torn = true;
  scanned.is_whole = !scanned.file.is_damaged && !scanned.file.is_torn;
  return scanned;
}

base::Status KnownIdsInspector::find_newest(env::FileSystem& files) {
  ASSIGN_OR_RETURN(const std::vector<std::uint64_t> numbers, numbers_of(files, dir_, "manifest"));
  for (const std::uint64_t number : numbers) {
    CheckReport ignored;
    const ScannedManifest manifest = scan_manifest(files, dir_, number, ignored);
    const std::string log_path = path_of_number(dir_, "log", number);
    ASSIGN_OR_RETURN(const bool has_log, files.exists(log_path));
    if (!manifest.is_whole || !has_log) {
      notes_.push_back(
          fmt::format("{} is not whole, and is left out",
                      manifest.is_whole ? log_path : path_of_number(dir_, "manifest", number)));
      continue;
    }
    const ScannedFile log = scan_log(files, log_path, kIdLogKind, std::nullopt, ignored);
    if (log.whole < log.size) {
      notes_.push_back(fmt::format("{} is not whole, and its last {} bytes are left out", log_path,
                                   log.size - log.whole));
    }
    position_ = {number, log.whole};
    return {};
  }
  return base::fail(ErrorCode::kCorrupt, "no manifest in {} is whole", dir_);
}

base::Result<std::unique_ptr<KnownIdsInspector>> KnownIdsInspector::open(env::FileSystem& files,
                                                                         std::string dir,
                                                                         std::string_view position,
                                                                         const Scratch& scratch) {
  std::unique_ptr<KnownIdsInspector> inspector(
      new KnownIdsInspector(files, std::move(dir), scratch));
  RETURN_IF_ERROR(expect_known_ids(files, inspector->dir_));
  if (position.empty()) {
    RETURN_IF_ERROR(inspector->find_newest(files));
  } else {
    ASSIGN_OR_RETURN(inspector->position_, KnownIdsPosition::parse(position));
  }
  RETURN_IF_ERROR(inspector->open_known());
  return inspector;
}

base::Status KnownIdsInspector::open_known() {
  KnownIdsOptions options;
  options.cache_bytes = 1024;  // nobody asks twice
  ASSIGN_OR_RETURN(known_, KnownIds::open(overlay_, dir_, options, position_.to_string()));
  return {};
}

KnownIdsFigures KnownIdsInspector::figures() const {
  KnownIdsFigures figures;
  for (const auto& run : known_->runs_) {
    const std::uint64_t filter_bytes = run->filter_.memory_bytes();
    figures.runs.push_back({run->mark(), filter_bytes});
    figures.run_bytes += run->mark().size;
    figures.filter_bytes += filter_bytes;
    figures.memory_bytes += run->memory_bytes();
  }
  figures.entries = known_->counts().ids;
  figures.log_entries = known_->fresh_.size();
  figures.log_bytes = position_.log_size;
  return figures;
}

base::Status KnownIdsInspector::for_each_id(const std::function<bool(const KnownId&)>& use) const {
  std::vector<KnownId> fresh;
  for (const auto& [id, seq] : known_->fresh_) fresh.push_back({id, seq});
  std::ranges::sort(fresh, {}, &KnownId::id);
  std::vector<IdRunCursor> cursors;  // the youngest first, so that it wins
  for (const auto& run : std::views::reverse(known_->runs_)) {
    IdRunCursor cursor(*run);
    ASSIGN_OR_RETURN(const bool more, cursor.next());
    if (more) cursors.push_back(std::move(cursor));
  }
  std::size_t next_fresh = 0;
  for (;;) {
    const KnownId* first = next_fresh < fresh.size() ? &fresh[next_fresh] : nullptr;
    for (const IdRunCursor& cursor : cursors) {
      if (first == nullptr || cursor.now().id < first->id) first = &cursor.now();
    }
    if (first == nullptr) return {};
    const KnownId known = *first;
    if (next_fresh < fresh.size() && fresh[next_fresh].id == known.id) ++next_fresh;
    for (std::size_t i = cursors.size(); i > 0; --i) {
      if (cursors[i - 1].now().id != known.id) continue;
      ASSIGN_OR_RETURN(const bool more, cursors[i - 1].next());
      if (!more) cursors.erase(cursors.begin() + static_cast<std::ptrdiff_t>(i - 1));
    }
    if (known.seq != kRemovedSeq && !use(known)) return {};
  }
}

// --- Checking.

class KnownIdsInspector::Check {
 public:
  Check(env::FileSystem& files, const std::string& dir, CheckReport& report)
      : files_(files), dir_(dir), report_(report) {}

  base::Status check_newest();
  void check_given(const KnownIdsPosition& position);
  const std::optional<KnownIdsPosition>& position() const { return position_; }

 private:
  void check_runs(std::uint64_t number, const std::string& manifest);
  void check_run(const RunMark& mark);
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
  std::optional<KnownIdsPosition> position_;
};

void KnownIdsInspector::Check::check_given(const KnownIdsPosition& position) {
  const ScannedManifest manifest = scan_manifest(files_, dir_, position.number, report_);
  if (manifest.file.is_torn) {
    fault(path_of("manifest", position.number), 0, manifest.file.size, "the file is cut off");
  }
  const std::string log_path = path_of("log", position.number);
  const ScannedFile log = scan_log(files_, log_path, kIdLogKind, position.log_size, report_);
  if (log.is_torn) {
    fault(log_path, log.whole, position.log_size - log.whole,
          fmt::format("the file is cut off, and is needed up to {}", position.log_size));
  }
  if (!manifest.is_whole) return;
  check_runs(position.number, manifest.payload);
  if (log.whole == position.log_size) position_ = position;
}

base::Status KnownIdsInspector::Check::check_newest() {
  ASSIGN_OR_RETURN(const std::vector<std::uint64_t> numbers, numbers_of(files_, dir_, "manifest"));
  for (const std::uint64_t number : numbers) {
    const std::string path = path_of("manifest", number);
    const ScannedManifest manifest = scan_manifest(files_, dir_, number, report_);
    const std::string log_path = path_of("log", number);
    ASSIGN_OR_RETURN(const bool has_log, files_.exists(log_path));
    const bool is_last = number == numbers.back();
    // A crash may leave one unfinished, but then the one before it is still there.
    if (manifest.file.is_torn || (manifest.is_whole && !has_log)) {
      if (is_last && !position_) {
        if (!has_log) fault(log_path, 0, 0, "the file is missing");
        if (manifest.file.is_torn) fault(path, 0, manifest.file.size, "the file is cut off");
      } else {
        report_.notes.push_back(fmt::format("{} is unfinished, as a crash leaves it", path));
      }
    }
    ScannedFile log;
    if (has_log) {
      log = scan_log(files_, log_path, kIdLogKind, std::nullopt, report_);
      if (log.is_torn) {
        report_.notes.push_back(fmt::format(
            "{} has an unfinished block from {} on, as a crash leaves it", log_path, log.whole));
      }
    }
    if (position_ || !manifest.is_whole) continue;
    if (has_log) position_ = KnownIdsPosition{number, log.whole};
    if (has_log || is_last) check_runs(number, manifest.payload);
  }
  return {};
}

void KnownIdsInspector::Check::check_runs(std::uint64_t number, const std::string& manifest) {
  const auto marks = KnownIds::decode_manifest(manifest);
  if (!marks) {
    return fault(path_of("manifest", number), 0, 0, "it names no runs, or its version is unknown");
  }
  for (const RunMark& mark : *marks) check_run(mark);
}

// Blocks know their run and their place; the ids of each rise.
void KnownIdsInspector::Check::check_run(const RunMark& mark) {
  const std::string path = env::numbered_path(dir_, mark.number, kRunSuffix);
  const std::uint64_t block_bytes =
      env::Block::kHeaderBytes + std::uint64_t{mark.block_ids} * RunBlock::kIdBytes;
  const auto judge = [&](const ScannedBlock& block) -> std::string_view {
    const std::uint64_t place = block.view.number & 0xffff'ffffU;
    if (block.view.number >> 32U != mark.number) return "the block belongs elsewhere";
    if (block.kind == kRunIndexKind) return "";
    if (block.offset != place * block_bytes) return "the block belongs elsewhere";
    const std::uint32_t count = block.view.count;
    if (count == 0 || block.view.payload.size() != std::uint64_t{count} * RunBlock::kIdBytes) {
      return "it holds something else";
    }
    const RunBlock ids(block.view.payload, count);
    for (std::uint32_t i = 1; i < count; ++i) {
      if (!(ids[i - 1].id < ids[i].id)) return "its ids are not in order";
    }
    return "";
  };
  const ScannedFile run =
      scan_file(files_, path, {kRunKind, kRunIndexKind}, std::nullopt, judge, report_);
  if (run.is_torn) fault(path, run.whole, run.size - run.whole, "the block is cut off");
  if (run.size != mark.size && !run.is_damaged && !run.is_torn) {
    fault(path, std::min(run.size, mark.size), 0,
          fmt::format("the file has {} bytes, and should have {}", run.size, mark.size));
  }
}

base::Status KnownIdsInspector::check_ids(CheckReport& report) const {
  for (const auto& run : known_->runs_) RETURN_IF_ERROR(check_run(*run, report));
  return for_each_id([&](const KnownId&) {
    ++report.records;
    return true;
  });
}

// What is in memory of a run agrees with its ids.
base::Status KnownIdsInspector::check_run(const IdRun& run, CheckReport& report) const {
  IdRunCursor cursor(run);
  std::uint64_t ids = 0;
  std::uint64_t unfiltered = 0;
  std::uint64_t misplaced = 0;
  std::optional<base::Id> before;
  for (;;) {
    ASSIGN_OR_RETURN(const bool more, cursor.next());
    if (!more) break;
    const base::Id& id = cursor.now().id;
    if (!run.may_contain(FilterKey::of(id))) ++unfiltered;
    const bool is_first = ids % run.mark().block_ids == 0;
    const bool is_indexed = !is_first || run.firsts_[ids / run.mark().block_ids] == id;
    if (!is_indexed || (before && !(*before < id))) ++misplaced;
    before = id;
    ++ids;
  }
  const auto wrong = [&](std::string what) {
    report.faults.push_back({run.path_, 0, 0, std::move(what)});
  };
  if (ids != run.mark().ids) {
    wrong(fmt::format("it has {} ids, and should have {}", ids, run.mark().ids));
  }
  if (unfiltered > 0) wrong(fmt::format("its filter does not know {} of its ids", unfiltered));
  if (misplaced > 0) wrong(fmt::format("{} of its ids are not where they belong", misplaced));
  return {};
}

base::Result<CheckReport> KnownIdsInspector::check(env::FileSystem& files, const std::string& dir,
                                                   std::string_view position,
                                                   const Scratch& scratch) {
  RETURN_IF_ERROR(expect_known_ids(files, dir));
  CheckReport report;
  Check check(files, dir, report);
  if (position.empty()) {
    RETURN_IF_ERROR(check.check_newest());
  } else {
    ASSIGN_OR_RETURN(const KnownIdsPosition given, KnownIdsPosition::parse(position));
    check.check_given(given);
  }
  if (!check.position()) return report;
  std::unique_ptr<KnownIdsInspector> inspector(new KnownIdsInspector(files, dir, scratch));
  inspector->position_ = *check.position();
  const bool has_damage = !report.faults.empty();
  base::Status status = inspector->open_known();
  if (status) {
    report.position = inspector->position_.to_string();
    status = inspector->check_ids(report);
  }
  if (status) return report;
  report.records = 0;
  if (has_damage) {
    report.notes.push_back(fmt::format("the ids were not counted: {}", status.error().message()));
  } else {
    report.faults.push_back({dir, 0, 0, status.error().message()});
  }
  return report;
}

}  // namespace meguri::sat
