#include "archive/repair_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <ranges>
#include <set>
#include <string_view>
#include <utility>

#include "archive/importer.h"
#include "archive/warc_name.h"
#include "base/hash.h"

namespace meguri::archive {

namespace {

constexpr std::string_view kFolder = "warc/";

// What a crawl of this archive would have called a file in its folder.
std::optional<WarcName> crawl_name(std::string_view path) {
  if (!path.starts_with(kFolder)) return std::nullopt;
  return WarcName::parse(path.substr(kFolder.size()));
}

// In the order in which crawls wrote them; then all others by their paths.
bool comes_first(const std::string& a, const std::string& b) {
  const auto first = crawl_name(a);
  const auto second = crawl_name(b);
  if (!first || !second) return first.has_value() != second.has_value() ? first.has_value() : a < b;
  if (first->prefix != second->prefix) return first->prefix < second->prefix;
  if (first->instance != second->instance) return first->instance < second->instance;
  return second->is_after(*first);
}

class Planner {
 public:
  Planner(env::FileSystem& files, const std::string& archive, const RepairSources& sources)
      : files_(files), archive_(archive), sources_(sources) {}

  base::Result<RepairPlan> plan() {
    gather_known();
    std::vector<std::string> found = sources_.found;
    std::ranges::sort(found, comes_first);
    for (const std::string& path : found) RETURN_IF_ERROR(add_found(path));
    for (const auto& [path, file] : known_) {
      if (!seen_.contains(path)) RETURN_IF_ERROR(add_elsewhere(file));
    }
    return std::move(plan_);
  }

 private:
  void gather_known() {
    plan_.next_number = std::max(sources_.next_number, sources_.listed.next_number);
    for (const auto& [number, file] : sources_.indexed) know(file);
    // Of two numbers of one path the later was given when the index had lost the other.
    for (const auto& [number, file] : std::views::reverse(sources_.listed.files)) {
      if (!known_.contains(file.path)) know(file);
    }
  }

  void know(const IndexFile& file) {
    IndexFile row;
    row.number = numbers_.contains(file.number) ? plan_.next_number++ : file.number;
    row.path = file.path;
    row.source = file.source;
    row.bytes = file.bytes;
    row.print = file.print;
    numbers_.insert(row.number);
    plan_.next_number = std::max(plan_.next_number, row.number + 1);
    known_.emplace(file.path, std::move(row));
  }

  base::Status add_found(const std::string& path) {
    const auto name = crawl_name(path);
    const auto known = known_.find(path);
    IndexFile row;
    if (known != known_.end()) {
      row = known->second;
    } else {
      row.path = path;
      row.source = name ? FileSource::kCrawl : FileSource::kCopy;
    }
    seen_.insert(path);
    if (row.source != FileSource::kCrawl) {
      if (row.number == 0) row.number = plan_.next_number++;
      return add_imported(row);
    }
    ASSIGN_OR_RETURN(row.bytes, files_.size(place_of(row)));
    row.print = 0;
    if (name && !is_durable(*name, row)) return {};
    if (row.number == 0) row.number = plan_.next_number++;
    plan_.files.push_back(std::move(row));
    return {};
  }

  // Whether a file of the crawl counts, and as far as it does.
  bool is_durable(const WarcName& name, IndexFile& row) {
    if (!sources_.end) return true;
    const auto last = WarcName::parse(sources_.end->file);
    // Without a file nothing counts that the crawl itself wrote, and nobody knows which that is.
    if (!last || name.prefix != last->prefix || name.instance != last->instance) return true;
    if (name.is_after(*last)) return false;
    if (name != *last) return true;
    if (row.bytes < sources_.end->offset) {
      plan_.notes.push_back(fmt::format("{} ends at {}, but a crawl has acknowledged {} bytes",
                                        row.path, row.bytes, sources_.end->offset));
    }
    row.bytes = std::min(row.bytes, sources_.end->offset);
    return true;
  }

  base::Status add_imported(IndexFile row) {
    const std::uint64_t print = row.print;
    ASSIGN_OR_RETURN(const auto bytes, files_.open_read(place_of(row)));
    ASSIGN_OR_RETURN(row.bytes, bytes->size());
    ASSIGN_OR_RETURN(row.print, file_print(*bytes));
    if (print != 0 && print != row.print) {
      plan_.notes.push_back(
          fmt::format("{} is not the file that was imported; it is taken as it is now", row.path));
    }
    plan_.files.push_back(std::move(row));
    return {};
  }

  // Of what was not found in the archive's folder.
  base::Status add_elsewhere(const IndexFile& file) {
    const bool is_reference = file.source == FileSource::kReference;
    ASSIGN_OR_RETURN(const bool exists, files_.exists(place_of(file)));
    if (exists && is_reference) return add_imported(file);
    const bool is_indexed = sources_.indexed.contains(file.number) &&
                            sources_.indexed.at(file.number).path == file.path;
    // One of the crawl that only the list knows was begun and never acknowledged.
    if (is_indexed || file.source != FileSource::kCrawl) plan_.absent.push_back(file);
    return {};
  }

  std::string place_of(const IndexFile& file) const {
    return file.path.starts_with('/') ? file.path : fmt::format("{}/{}", archive_, file.path);
  }

  env::FileSystem& files_;
  const std::string& archive_;
  const RepairSources& sources_;
  RepairPlan plan_;
  std::map<std::string, IndexFile> known_;  // by their paths
  std::set<std::uint32_t> numbers_;         // of these
  std::set<std::string> seen_;
};

}  // namespace

std::uint64_t RepairPlan::fingerprint() const {
  std::uint64_t print = next_number;
  for (const auto* rows : {&files, &absent}) {
    for (const IndexFile& file : *rows) print = base::hash64(key_of(file) + value_of(file), print);
    print = base::hash64("|", print);
  }
  return print;
}

base::Result<RepairPlan> plan_repair(env::FileSystem& files, const std::string& archive,
                                     const RepairSources& sources) {
  return Planner(files, archive, sources).plan();
}

}  // namespace meguri::archive
