#include "sat/folder_scan.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace meguri::sat {

using base::ErrorCode;
using env::BlockState;

namespace {

// "checkpoint-00000003" is the third.
std::optional<std::uint64_t> number_in(std::string_view name, std::string_view what) {
  constexpr std::size_t kDigitsMin = 8;
  if (!name.starts_with(what)) return std::nullopt;
  name.remove_prefix(what.size());
  if (!name.starts_with('-') || name.size() < 1 + kDigitsMin) return std::nullopt;
  name.remove_prefix(1);
  std::uint64_t number = 0;
  const char* const last = name.data() + name.size();
  const auto [end, error] = std::from_chars(name.data(), last, number);
  if (error != std::errc() || end != last) return std::nullopt;
  return number;
}

}  // namespace

base::Result<FolderKind> kind_of_folder(env::FileSystem& files, const std::string& dir) {
  ASSIGN_OR_RETURN(const bool is_there, files.exists(dir));
  if (!is_there) return base::fail(ErrorCode::kNotFound, "there is no folder {}", dir);
  ASSIGN_OR_RETURN(const std::vector<std::string> names, files.list(dir));
  const auto has = [&names](std::string_view what) {
    return std::ranges::any_of(
        names, [&](const std::string& name) { return number_in(name, what).has_value(); });
  };
  if (has("checkpoint")) return FolderKind::kStore;
  if (has("manifest")) return FolderKind::kKnownIds;
  if (std::ranges::find(names, "records") != names.end()) {
    return base::fail(
        ErrorCode::kNotFound,
        "{} holds no state store itself, but maybe {}/records does, and {}/ids its ids", dir, dir,
        dir);
  }
  return base::fail(ErrorCode::kNotFound,
                    "{} holds neither a state store nor known ids: no checkpoint and no manifest "
                    "is in it",
                    dir);
}

std::string path_of_number(std::string_view dir, std::string_view what, std::uint64_t number) {
  return fmt::format("{}/{}-{:08}", dir, what, number);
}

base::Result<std::vector<std::uint64_t>> numbers_of(env::FileSystem& files, const std::string& dir,
                                                    std::string_view what) {
  ASSIGN_OR_RETURN(const std::vector<std::string> names, files.list(dir));
  std::vector<std::uint64_t> numbers;
  for (const std::string& name : names) {
    if (const auto number = number_in(name, what)) numbers.push_back(*number);
  }
  std::ranges::sort(numbers, std::ranges::greater());
  return numbers;
}

ScannedFile scan_file(env::FileSystem& files, const std::string& path,
                      const std::vector<env::BlockKind>& kinds, std::optional<std::uint64_t> end,
                      const JudgeBlock& judge, CheckReport& report) {
  ScannedFile scanned;
  const auto fault = [&](std::uint64_t offset, std::uint64_t length, std::string_view what) {
    report.faults.push_back({path, offset, length, std::string(what)});
    scanned.is_damaged = true;
  };
  ++report.files;
  auto scan = BlockScan::open(files, path, kinds, end);
  if (!scan) {
    fault(0, 0, scan.error().message());
    return scanned;
  }
  scanned.size = scan->end();
  report.bytes += scan->end();
  ScannedBlock block;
  for (;;) {
    const auto more = scan->next(block);
    if (!more) {
      fault(scan->at(), scan->end() - scan->at(), more.error().message());
      return scanned;
    }
    if (!*more) break;
    if (block.state == BlockState::kTorn) {
      scanned.is_torn = true;
      continue;
    }
    ++report.blocks;
    const std::string_view wrong =
        block.state == BlockState::kWhole ? judge(block) : env::describe(block.state);
    if (!wrong.empty()) {
      fault(block.offset, block.length, wrong);
    } else if (!scanned.is_damaged) {
      scanned.whole = block.offset + block.length;
    }
  }
  if (end && scanned.size < *end) scanned.is_torn = true;
  return scanned;
}

ScannedFile scan_log(env::FileSystem& files, const std::string& path, env::BlockKind kind,
                     std::optional<std::uint64_t> end, CheckReport& report) {
  const auto judge = [](const ScannedBlock& block) -> std::string_view {
    return block.view.number == block.offset ? "" : "the block belongs elsewhere";
  };
  return scan_file(files, path, {kind}, end, judge, report);
}

}  // namespace meguri::sat
