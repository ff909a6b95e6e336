// How KnownIds come back: manifests, which name the runs, and the log of what came since.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <utility>

#include "env/block_file.h"
#include "sat/block_kinds.h"
#include "sat/known_ids.h"

namespace meguri::sat {

using base::ErrorCode;

namespace {

constexpr std::uint64_t kVersion = 1;

bool take_mark(std::string_view& bytes, RunMark& mark) {
  std::uint64_t block_ids = 0;
  if (!take_varint(bytes, mark.number) || !take_varint(bytes, mark.ids) ||
      !take_varint(bytes, mark.size) || !take_varint(bytes, block_ids)) {
    return false;
  }
  mark.block_ids = static_cast<std::uint32_t>(block_ids);
  // What follows multiplies these: a run of so many ids does not fit the file otherwise.
  return block_ids > 0 && block_ids <= kBlockIdsMax && mark.ids > 0 &&
         mark.ids <= mark.size / RunBlock::kIdBytes && mark.size < std::uint64_t{1} << 50U;
}

}  // namespace

base::Result<KnownIdsPosition> KnownIdsPosition::parse(std::string_view text) {
  KnownIdsPosition position;
  const char* const end = text.data() + text.size();
  const auto first = std::from_chars(text.data(), end, position.number);
  const auto second =
      first.ptr == end ? first : std::from_chars(first.ptr + 1, end, position.log_size);
  if (first.ec != std::errc() || first.ptr == end || *first.ptr != ' ' ||
      second.ec != std::errc() || second.ptr != end || position.number == 0) {
    return base::fail(ErrorCode::kCorrupt, "\"{}\" is no position of known ids", text);
  }
  return position;
}

std::string KnownIdsPosition::to_string() const { return fmt::format("{} {}", number, log_size); }

std::string KnownIds::path_of(std::string_view what, std::uint64_t number) const {
  return fmt::format("{}/{}-{:08}", dir_, what, number);
}

base::Result<std::unique_ptr<KnownIds>> KnownIds::open(env::FileSystem& files, std::string dir,
                                                       const KnownIdsOptions& options,
                                                       std::string_view position) {
  RETURN_IF_ERROR(files.make_dirs(dir));
  KnownIdsPosition from;
  if (!position.empty()) {
    ASSIGN_OR_RETURN(from, KnownIdsPosition::parse(position));
  }
  std::unique_ptr<KnownIds> known(new KnownIds(files, std::move(dir), options));
  known->number_ = from.number;
  RETURN_IF_ERROR(known->restore(from.log_size));
  return known;
}

base::Status KnownIds::restore(std::uint64_t log_size) {
  if (number_ == 0) {
    RETURN_IF_ERROR(remove_old_files());
    RETURN_IF_ERROR(remove_other_runs());
    return write_manifest();
  }
  // What is there is read before anything is removed, so that damage leaves all as it is.
  RETURN_IF_ERROR(read_manifest());
  ASSIGN_OR_RETURN(log_, IdLog::replay(files_, path_of("log", number_), log_size, traffic_,
                                       [this](const KnownId& known) { put_fresh(known); }));
  RETURN_IF_ERROR(remove_old_files());
  return remove_other_runs();
}

base::Status KnownIds::remove_old_files() const {
  ASSIGN_OR_RETURN(const std::vector<std::string> names, files_.list(dir_));
  for (const std::string& name : names) {
    const bool is_ours = name.starts_with("manifest-") || name.starts_with("log-");
    const bool is_needed = number_ != 0 && name.ends_with(fmt::format("-{:08}", number_));
    if (is_ours && !is_needed) RETURN_IF_ERROR(files_.remove(dir_ + "/" + name));
  }
  return {};
}

base::Status KnownIds::remove_other_runs() const {
  ASSIGN_OR_RETURN(const std::vector<std::string> names, files_.list(dir_));
  for (const std::string& name : names) {
    const auto number = env::number_of_name(name, kRunSuffix);
    if (!number) continue;
    const bool is_needed =
        std::ranges::any_of(runs_, [&](const auto& run) { return run->mark().number == *number; });
    if (!is_needed) RETURN_IF_ERROR(files_.remove(dir_ + "/" + name));
  }
  return {};
}

// --- The manifest.

std::optional<std::vector<RunMark>> KnownIds::decode_manifest(std::string_view payload) {
  std::uint64_t version = 0;
  if (!take_varint(payload, version) || version != kVersion) return std::nullopt;
  std::vector<RunMark> marks;
  while (!payload.empty()) {
    if (!take_mark(payload, marks.emplace_back())) return std::nullopt;
  }
  return marks;
}

base::Status KnownIds::read_manifest() {
  const std::string path = path_of("manifest", number_);
  ASSIGN_OR_RETURN(const std::string bytes, env::read_file(files_, path));
  const auto damaged = [&](std::string_view why) {
    return base::fail(ErrorCode::kCorrupt, "{} is damaged: {}", path, why);
  };
  env::BlockView view;
  const env::BlockState state = env::read_block(bytes, kManifestKind, view);
  if (state != env::BlockState::kWhole) return damaged(env::describe(state));
  const auto marks = decode_manifest(view.payload);
  if (view.number != number_ || !marks) {
    return damaged("it is another's, or of a version that is not known");
  }
  for (const RunMark& mark : *marks) {
    ASSIGN_OR_RETURN(auto run, IdRun::open(files_, dir_, mark, traffic_));
    runs_.push_back(std::move(run));
    next_run_ = std::max(next_run_, mark.number + 1);
  }
  size_by_ids();
  return {};
}

// Everything that it names is synced before it, and it is synced before anybody names it.
base::Status KnownIds::write_manifest() {
  const std::uint64_t number = number_ + 1;
  env::Block block;
  append_varint(kVersion, block.out());
  for (const auto& run : runs_) {
    RETURN_IF_ERROR(run->sync());
    const RunMark& mark = run->mark();
    append_varint(mark.number, block.out());
    append_varint(mark.ids, block.out());
    append_varint(mark.size, block.out());
    append_varint(mark.block_ids, block.out());
  }
  ASSIGN_OR_RETURN(const auto file, files_.create(path_of("manifest", number)));
  RETURN_IF_ERROR(
      file->append(block.seal(kManifestKind, static_cast<std::uint32_t>(runs_.size()), number)));
  RETURN_IF_ERROR(file->sync());
  traffic_.written_bytes += block.size();
  ASSIGN_OR_RETURN(log_, IdLog::create(files_, path_of("log", number), traffic_));
  for (const auto& [id, seq] : fresh_) RETURN_IF_ERROR(log_->add({id, seq}));
  RETURN_IF_ERROR(log_->commit());
  RETURN_IF_ERROR(files_.sync_dir(dir_));
  number_ = number;
  runs_changed_ = false;
  has_old_files_ = true;
  to_remove_.insert(to_remove_.end(), released_.begin(), released_.end());
  released_.clear();
  return {};
}

// --- Commit.

base::Result<std::string> KnownIds::commit() {
  RETURN_IF_ERROR(check_usable());
  auto position = do_commit();
  if (!position) status_ = std::unexpected(position.error());
  return position;
}

base::Result<std::string> KnownIds::do_commit() {
  if (runs_changed_) RETURN_IF_ERROR(write_manifest());
  ASSIGN_OR_RETURN(const std::uint64_t size, log_->commit());
  // So that the commit after the end of a merge has not all of it to wait for.
  if (merge_) RETURN_IF_ERROR(merge_->sync());
  return KnownIdsPosition{number_, size}.to_string();
}

base::Status KnownIds::on_durable() {
  if (!std::exchange(has_old_files_, false)) return {};
  RETURN_IF_ERROR(remove_old_files());
  for (const std::uint64_t number : std::exchange(to_remove_, {})) {
    RETURN_IF_ERROR(files_.remove(env::numbered_path(dir_, number, kRunSuffix)));
  }
  return {};
}

}  // namespace meguri::sat
