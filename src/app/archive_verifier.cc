#include "app/archive_verifier.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "app/archive_index.h"
#include "app/figures.h"
#include "app/found_warcs.h"
#include "app/parallel_work.h"
#include "app/repair_sources.h"
#include "archive/entry_comparison.h"
#include "archive/repair_plan.h"
#include "archive/warc_name.h"

namespace meguri::app {

using archive::Damage;
using archive::EntrySum;
using archive::IndexFile;
using base::ErrorCode;
using base::MutexLock;

namespace {

constexpr std::size_t kComparedEntriesMax = 1'000'000;  // held at a time, but for those of a file
constexpr std::uint64_t kToldOfFileMax = 100;           // entries that differ
constexpr std::string_view kIndexName = "index";

base::Status stopped() { return base::fail(ErrorCode::kStopped, "stopped"); }

}  // namespace

void ArchiveVerifier::tell_index(std::string what) {
  report_.add(std::string(kIndexName), {.what = std::move(what)});
}

base::Status ArchiveVerifier::open() {
  auto index = open_stored_index(files_, archive_);
  if (!index) return open_without_index(index.error());
  index_ = *std::move(index);
  ASSIGN_OR_RETURN(end_, durable_end(files_, archive_));
  if (end_) {
    const auto caught_up = catch_up_index(*index_, files_, archive_, *end_);
    if (!caught_up) tell_index("it cannot be brought level with " + caught_up.error().message());
  }
  for (const auto& [number, row] : index_->files()) rows_.push_back(row);
  for (const IndexFile& row : rows_) bytes_ += row.indexed_to;
  return look_for_strangers();
}

// The files alone.
base::Status ArchiveVerifier::open_without_index(const base::Error& error) {
  ASSIGN_OR_RETURN(const bool exists, files_.exists(archive_ + "/warc"));
  if (!exists) return std::unexpected(error);
  tell_index(error.message());
  ASSIGN_OR_RETURN(const archive::RepairSources sources, repair_sources(files_, archive_));
  ASSIGN_OR_RETURN(archive::RepairPlan plan, archive::plan_repair(files_, archive_, sources));
  rows_ = std::move(plan.files);
  for (IndexFile& row : rows_) {
    row.indexed_to = row.bytes;
    bytes_ += row.bytes;
  }
  for (const IndexFile& row : plan.absent) report_.add(row.path, {.what = "it is missing"});
  return {};
}

// WARC files that nobody knows.
base::Status ArchiveVerifier::look_for_strangers() {
  const auto last = end_ ? archive::WarcName::parse(end_->file) : std::nullopt;
  ASSIGN_OR_RETURN(const bool has_state, files_.exists(archive_ + "/state"));
  ASSIGN_OR_RETURN(const auto found, warcs_of_archive(files_, archive_));
  for (const std::string& path : found) {
    if (index_->find_file(path) != nullptr) continue;
    const auto name = archive::WarcName::parse(path.substr(path.find('/') + 1));
    // What a crawl has begun and not acknowledged is not lost: it is fetched again.
    const bool is_after = last && name && name->prefix == last->prefix &&
                          name->instance == last->instance && name->is_after(*last);
    const bool is_first = !end_ && has_state && name;
    if (is_after || is_first) continue;
    report_.add(path, {.what = fmt::format("the index does not know it; 'meguri repair {}' takes "
                                           "it in",
                                           archive_)});
  }
  return {};
}

base::Status ArchiveVerifier::run(std::size_t workers, bool is_quiet) {
  // The index is read by one thread, as if it were the first file.
  const auto work = [this](std::size_t i, const Stopped& is_stopped) -> base::Status {
    if (i == 0) return index_ ? verify_index(is_stopped) : base::Status();
    return verify_file(i - 1, is_stopped);
  };
  RETURN_IF_ERROR(
      do_in_parallel({.count = rows_.size() + 1, .workers = workers, .work = work, .progress = [&] {
                        return is_quiet ? std::string() : progress();
                      }}));
  return is_walked_ ? compare() : base::Status();
}

std::string ArchiveVerifier::progress() const {
  return fmt::format("verifying: {} of {}, {} of {}, {}, {}", grouped(files_done_),
                     counted(rows_.size(), "file", "files"), bytes_text(bytes_done_),
                     bytes_text(bytes_), counted(entries_, "entry", "entries"),
                     counted(report_.count(), "damage", "damages"));
}

base::Status ArchiveVerifier::verify_index(const Stopped& is_stopped) {
  for (const auto& read : {index_->check(), walk_entries(is_stopped)}) {
    if (read) continue;
    if (read.error().code() == ErrorCode::kStopped) return read;
    tell_index(fmt::format("it is damaged, and 'meguri repair {}' makes it anew: {}", archive_,
                           read.error().message()));
    is_walked_ = false;
    return {};
  }
  return {};
}

base::Status ArchiveVerifier::walk_entries(const Stopped& is_stopped) {
  const auto check = [this](std::string_view key, std::string_view value) -> base::Status {
    check_entry(key, value);
    return {};
  };
  RETURN_IF_ERROR(index_->for_each_entry(
      check, [&is_stopped] { return is_stopped ? stopped() : base::Status(); }));
  is_walked_ = true;
  return {};
}

void ArchiveVerifier::check_entry(std::string_view key, std::string_view value) {
  ++entries_;
  const auto entry = archive::EntryView::parse(key, value);
  if (!entry) {
    tell_index("it holds an entry that is none");
    return;
  }
  const std::uint32_t number = entry->place().file;
  EntrySum& sum = indexed_[number];
  sum.add(key, value);
  if (index_->file(number) == nullptr && sum.count <= kToldOfFileMax) {
    tell_index(fmt::format("{} has an entry of a file that it does not know", entry->url()));
  }
  const archive::Removals& removals = index_->removals();
  if (!removals.empty() && removals.has(entry->url())) {
    tell_index(fmt::format("{} was taken down, and has an entry; 'meguri repair {}' takes it out",
                           entry->url(), archive_));
  }
}

base::Status ArchiveVerifier::verify_file(std::size_t i, const Stopped& is_stopped) {
  const IndexFile& row = rows_[i];
  const auto read = read_file(row, is_stopped);
  ++files_done_;
  if (read || read.error().code() == ErrorCode::kStopped) return read;
  const bool is_missing = read.error().code() == ErrorCode::kNotFound;
  report_.add(row.path,
              {.what = is_missing ? fmt::format("it is missing; {} of it",
                                                counted(row.entries, "entry is", "entries are"))
                                  : read.error().message()});
  return {};
}

base::Status ArchiveVerifier::read_file(const IndexFile& row, const Stopped& is_stopped) {
  ASSIGN_OR_RETURN(const auto bytes, files_.open_read(path_of(row, archive_)));
  ASSIGN_OR_RETURN(const std::uint64_t size, bytes->size());
  check_end(row, size);
  std::uint64_t done = 0;
  const auto tell = [&](const Damage& damage) -> base::Status {
    report_.add(row.path, damage);
    return {};
  };
  const auto advance = [&](std::uint64_t offset) -> base::Status {
    if (is_stopped) return stopped();
    ++records_;
    bytes_done_ += offset - std::exchange(done, offset);
    return {};
  };
  const archive::Removals none;
  archive::FileVerifier verifier(index_ ? index_->removals() : none, tell, advance);
  ASSIGN_OR_RETURN(const auto finding, verifier.verify(*bytes, row));
  bytes_done_ += std::max(row.indexed_to, done) - done;
  const MutexLock lock(mutex_);
  found_[row.number] = finding.entries;
  return {};
}

// A file of the crawl that is not its last ends where the index says.
void ArchiveVerifier::check_end(const IndexFile& row, std::uint64_t size) {
  const bool is_last = !end_ || row.path == "warc/" + end_->file;
  if (row.source != archive::FileSource::kCrawl || is_last || size <= row.bytes) return;
  report_.add(row.path, {.offset = row.bytes,
                         .what = fmt::format("{} follow that the index does not know",
                                             counted(size - row.bytes, "byte", "bytes"))});
}

// What the index has against what the files make.
base::Status ArchiveVerifier::compare() {
  std::vector<const IndexFile*> differing;
  std::uint64_t held = 0;
  for (const IndexFile& row : rows_) {
    const EntrySum indexed = indexed_[row.number];
    if (indexed.count != row.entries) {
      tell_index(fmt::format("it counts {} of {}, and has {}",
                             counted(row.entries, "entry", "entries"), row.path,
                             grouped(indexed.count)));
    }
    EntrySum made;
    {
      const MutexLock lock(mutex_);
      const auto found = found_.find(row.number);
      if (found == found_.end() || found->second == indexed) continue;
      made = found->second;
    }
    differing.push_back(&row);
    held += made.count;
    if (held < kComparedEntriesMax) continue;
    RETURN_IF_ERROR(compare_some(differing));
    held = 0;
  }
  return compare_some(differing);
}

base::Status ArchiveVerifier::compare_some(std::vector<const IndexFile*>& differing) {
  if (differing.empty()) return {};
  archive::EntryComparison comparison(*index_);
  for (const IndexFile* row : differing) {
    ASSIGN_OR_RETURN(const auto bytes, files_.open_read(path_of(*row, archive_)));
    RETURN_IF_ERROR(comparison.add(*bytes, *row));
  }
  std::map<std::uint32_t, std::uint64_t> told;
  RETURN_IF_ERROR(comparison.run([&](std::uint32_t number, const Damage& damage) -> base::Status {
    if (++told[number] <= kToldOfFileMax) report_.add(index_->file(number)->path, damage);
    return {};
  }));
  for (const auto& [number, count] : told) {
    if (count <= kToldOfFileMax) continue;
    report_.add(index_->file(number)->path,
                {.what = fmt::format("{} more of its entries differ from the index",
                                     grouped(count - kToldOfFileMax))});
  }
  differing.clear();
  return {};
}

}  // namespace meguri::app
