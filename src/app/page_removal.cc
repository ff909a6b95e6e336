#include "app/page_removal.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "app/archive_index.h"
#include "app/figures.h"
#include "app/parallel_work.h"
#include "app/repair_sources.h"
#include "archive/importer.h"
#include "archive/index_removal.h"
#include "crawl/exclusion_file.h"
#include "env/random.h"

namespace meguri::app {

using archive::FileSource;
using archive::IndexFile;
using archive::Removal;
using archive::Removals;
using base::ErrorCode;
using base::MutexLock;

namespace {

constexpr std::size_t kToldUrls = 10;
constexpr std::string_view kExclusionsBegin =
    "# What was taken down by 'meguri remove': crawls of this archive do not visit it.\n";

bool has_line(std::string_view text, std::string_view line) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    if (text.substr(0, end) == line) return true;
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return false;
}

}  // namespace

base::Status PageRemoval::record(const Removal& removal) {
  ASSIGN_OR_RETURN(const Removals known, Removals::load(files_, archive_));
  const bool is_known = std::ranges::any_of(known.all(), [&](const Removal& one) {
    return one.is_same(removal) && (one.rewrites || !removal.rewrites);
  });
  if (is_known || is_dry_) return {};
  return Removals::append(files_, archive_, removal);
}

base::Status PageRemoval::exclude(const Removal& removal) {
  if (is_dry_) return {};
  const std::string path = fmt::format("{}/{}", archive_, crawl::kOwnExclusionsName);
  ASSIGN_OR_RETURN(const bool exists, files_.exists(path));
  std::string text(kExclusionsBegin);
  if (exists) {
    ASSIGN_OR_RETURN(text, env::read_file(files_, path));
  }
  if (has_line(text, removal.exclusion_rule())) return {};
  if (!text.empty() && !text.ends_with('\n')) text += '\n';
  return env::write_file_atomically(files_, path, text + removal.exclusion_rule() + "\n");
}

// Level with the files of the crawl, as at its start.
base::Status PageRemoval::open_index() {
  if (is_dry_) {
    ASSIGN_OR_RETURN(index_, open_archive_index(files_, archive_));
    return {};
  }
  ASSIGN_OR_RETURN(index_, open_index_for_writing(archive_));
  ASSIGN_OR_RETURN(const auto end, durable_end(files_, archive_));
  const auto look = [this] { return signals_.check(); };
  return end ? catch_up_index(*index_, files_, archive_, *end, look) : base::Status();
}

base::Result<std::uint64_t> PageRemoval::remove_entries(const Removal& removal) {
  Removals meant;
  meant.add(removal);
  // A dry run changes no more than what is in memory.
  const auto is_meant = [&](const archive::EntryView& entry) { return meant.has(entry.url()); };
  const auto look = [this] { return signals_.check(); };
  ASSIGN_OR_RETURN(const auto removed,
                   archive::remove_entries(*index_, removal.key_front(), is_meant, look));
  RETURN_IF_ERROR(index_->flush());
  std::uint64_t count = 0;
  for (const auto& [file, entries] : removed) count += entries;
  return count;
}

base::Result<PageRemoval::Dangling> PageRemoval::find_dangling(const Removals& removals) const {
  Dangling found;
  const auto look_at = [&](std::string_view key, std::string_view value) -> base::Status {
    const auto entry = archive::EntryView::parse(key, value);
    if (!entry || !entry->has_original() || !removals.has(entry->original()->url)) return {};
    ++found.visits;
    std::string url = entry->url();
    const bool is_new = found.urls.empty() || found.urls.back() != url;
    if (is_new && found.urls.size() < kToldUrls) found.urls.push_back(std::move(url));
    return {};
  };
  RETURN_IF_ERROR(index_->for_each_entry(look_at, [this] { return signals_.check(); }));
  return found;
}

// Those of the index, and those that stand in the archive's folder without it.
base::Result<std::vector<IndexFile>> PageRemoval::all_files() const {
  std::vector<IndexFile> rows;
  for (const auto& [number, row] : index_->files()) rows.push_back(row);
  ASSIGN_OR_RETURN(const auto found, warcs_of_archive(files_, archive_));
  for (const std::string& path : found) {
    if (index_->find_file(path) != nullptr) continue;
    IndexFile row;
    row.path = path;
    rows.push_back(std::move(row));
  }
  return rows;
}

base::Status PageRemoval::rewrite(const Removals& removals, base::Instant date, std::size_t workers,
                                  bool is_quiet) {
  if (removals.empty()) return {};
  ASSIGN_OR_RETURN(const std::vector<IndexFile> rows, all_files());
  env::Random random = env::Random::from_system();
  const auto work = [&](std::size_t i, const Stopped& is_stopped) -> base::Status {
    const auto advance = [&](std::uint64_t /*offset*/) -> base::Status {
      return is_stopped ? base::fail(ErrorCode::kStopped, "stopped") : base::Status();
    };
    archive::WarcRewriter rewriter(
        files_, removals, date,
        [&] {
          const MutexLock lock(mutex_);
          return random.split();
        }(),
        advance);
    const auto done = rewrite_file(rows[i], rewriter);
    ++files_done_;
    // Verifying tells of files that are missing; nothing of them can be removed.
    if (!done && done.error().code() == ErrorCode::kNotFound) return {};
    return done;
  };
  const auto progress = [&] {
    if (is_quiet) return std::string();
    return fmt::format("{}: {} of {}, {}", is_dry_ ? "looking" : "removing", grouped(files_done_),
                       counted(rows.size(), "file", "files"), bytes_text(bytes_done_));
  };
  RETURN_IF_ERROR(do_in_parallel(
      {.count = rows.size(), .workers = workers, .work = work, .progress = progress}));
  return is_dry_ ? base::Status() : index_->flush();
}

base::Status PageRemoval::rewrite_file(const IndexFile& row, archive::WarcRewriter& rewriter) {
  const std::string path = path_of(row, archive_);
  ASSIGN_OR_RETURN(archive::RemovedRecords found, rewriter.find(path));
  ASSIGN_OR_RETURN(const std::uint64_t size, files_.size(path));
  const bool is_reference = row.source == FileSource::kReference;
  if (!is_reference && !is_dry_) RETURN_IF_ERROR(rewriter.rewrite(path, found));
  bytes_done_ += size;
  // What a crawl has not acknowledged is cut off at its next start.
  std::erase_if(found.stuck, [&](std::uint64_t offset) {
    return row.source == FileSource::kCrawl && offset >= row.indexed_to;
  });
  const bool was_changed = found.records > 0 || found.before > 0 || path.ends_with(".zst");
  if (row.source == FileSource::kCopy && was_changed && !is_dry_) {
    RETURN_IF_ERROR(note_print(row));
  }
  if (found.records == 0 && found.stuck.empty()) return {};
  const MutexLock lock(mutex_);
  rewritten_[row.path] = {.path = row.path,
                          .records = found.records,
                          .bytes = found.bytes,
                          .is_reference = is_reference,
                          .stuck = std::move(found.stuck)};
  return {};
}

// The index knows an imported file by its print, which tombstones change.
base::Status PageRemoval::note_print(IndexFile row) {
  ASSIGN_OR_RETURN(const auto bytes, files_.open_read(path_of(row, archive_)));
  ASSIGN_OR_RETURN(const std::uint64_t print, archive::file_print(*bytes));
  ASSIGN_OR_RETURN(const std::uint64_t size, bytes->size());
  if (row.number == 0 || size != row.bytes || print == row.print) return {};
  const MutexLock lock(mutex_);
  row.print = print;
  archive::IndexBatch batch;
  batch.set(row);
  return index_->write(batch);
}

}  // namespace meguri::app
