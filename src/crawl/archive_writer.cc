#include "crawl/archive_writer.h"

#include <fmt/format.h>

#include <optional>
#include <utility>

#include "env/file_system.h"

namespace meguri::crawl {

using archive::WarcPosition;
using base::ErrorCode;

namespace {

// The state of a commit: whether the marked file is ours, then the mark.
constexpr char kOurs = '+';
constexpr char kFoundThere = '-';

// The end of the last file of a series.
base::Result<WarcPosition> end_of(env::FileSystem& files, const archive::WarcSeries& series) {
  ASSIGN_OR_RETURN(const auto names, archive::list_files(files, series));
  if (names.empty()) return WarcPosition{};
  WarcPosition end{.file = names.back().to_string(), .offset = 0};
  ASSIGN_OR_RETURN(end.offset, files.size(fmt::format("{}/{}", series.dir, end.file)));
  return end;
}

base::Result<WarcPosition> position_from(std::string_view text) {
  auto position = WarcPosition::decode(text);
  if (!position) return base::fail(ErrorCode::kCorrupt, "'{}' is no place in a WARC file", text);
  return *std::move(position);
}

}  // namespace

ArchiveWriter::ArchiveWriter(const CrawlOptions& options, ArchiveLimits limits,
                             std::shared_ptr<archive::TemporalIndex> index)
    : options_(options), limits_(limits), index_(std::move(index)) {}

// --- Begin.

base::Status ArchiveWriter::restore(flow::EpochId /*epoch*/, std::string_view state) {
  if (state.empty() || (state.front() != kOurs && state.front() != kFoundThere)) {
    return base::fail(ErrorCode::kCorrupt, "'{}' is no state of an archive", state);
  }
  ASSIGN_OR_RETURN(mark_, position_from(state.substr(1)));
  is_ours_ = state.front() == kOurs;
  is_restored_ = true;
  return {};
}

base::Status ArchiveWriter::start() {
  warc_ = options_.warc;
  warc_.series.instance = fmt::format("{}", instance_index());
  RETURN_IF_ERROR(files().make_dirs(warc_.series.dir));
  if (!is_restored_) RETURN_IF_ERROR(begin_first_life());
  RETURN_IF_ERROR(open_writer());
  return index_ ? open_index() : base::Status();
}

base::Status ArchiveWriter::open_index() {
  if (instance_index() > 0) {
    return base::fail(ErrorCode::kUnsupported, "the index of an archive has one writer");
  }
  const std::string& dir = warc_.series.dir;
  indexer_.emplace(*index_, files(), warc_.series, dir.substr(dir.rfind('/') + 1));
  return indexer_->catch_up(mark_);
}

// No epoch has ended yet. If an earlier life noted what was there before it, that still counts.
base::Status ArchiveWriter::begin_first_life() {
  if (!keeps_state()) {
    ASSIGN_OR_RETURN(mark_, end_of(files(), warc_.series));
    return {};
  }
  ASSIGN_OR_RETURN(const bool is_noted, files().exists(base_path()));
  if (is_noted) {
    ASSIGN_OR_RETURN(const std::string text, env::read_file(files(), base_path()));
    ASSIGN_OR_RETURN(mark_, position_from(text));
    return {};
  }
  ASSIGN_OR_RETURN(mark_, end_of(files(), warc_.series));
  return env::write_file_atomically(files(), base_path(), mark_.encode());
}

// Files that were there before us are not gone on with: nobody knows how they end.
base::Status ArchiveWriter::open_writer() {
  std::optional<WarcPosition> mark = mark_;
  if (!is_ours_) {
    RETURN_IF_ERROR(archive::cut_to(files(), warc_.series, mark_));
    mark.reset();
  }
  ASSIGN_OR_RETURN(writer_,
                   archive::WarcWriter::open(files(), clock(), random().split(), warc_, mark));
  return {};
}

std::string ArchiveWriter::base_path() const {
  return fmt::format("{}/{}.base", state_dir(), name());
}

// --- Findings.

void ArchiveWriter::on_finding(Finding&& finding) {
  if (auto status = append(finding); !status) {
    fail(status.error());
    return;
  }
  const bool is_robots = finding.host.purpose == Purpose::kRobots;
  held_bytes_ += finding.records.bytes.size();
  finding.records.bytes = {};
  if (held_.empty()) set_timer_after(limits_.wait_max, life_);
  held_.push_back(std::move(finding));
  if (is_robots || held_.size() >= limits_.findings_max || held_bytes_ >= limits_.bytes_max) {
    ask_for_epoch();
  }
}

base::Status ArchiveWriter::append(Finding& finding) {
  const env::SpooledBytes& bytes = finding.records.bytes;
  ASSIGN_OR_RETURN(WarcPosition begin, writer_->append(bytes));
  if (indexer_) indexer_->add(begin, finding.records);
  finding.note.warc_file = std::move(begin.file);
  finding.note.warc_offset = begin.offset;
  finding.note.warc_bytes = bytes.size();
  return {};
}

void ArchiveWriter::on_timer(std::uint64_t tag) {
  if (tag == life_ && !held_.empty()) ask_for_epoch();
}

// Emits nothing of its own; at the end of a crawl nobody should wait for the timer.
bool ArchiveWriter::produce() {
  if (draining() && !held_.empty()) ask_for_epoch();
  return false;
}

void ArchiveWriter::ask_for_epoch() {
  if (has_asked_) return;
  has_asked_ = true;
  request_epoch();
}

// --- Epochs.

base::Result<std::string> ArchiveWriter::commit(flow::EpochId epoch) {
  RETURN_IF_ERROR(writer_->sync());
  if (!held_.empty()) {
    mark_ = writer_->position();
    is_ours_ = true;
  }
  for (Finding& finding : held_) tell(std::move(finding));
  held_.clear();
  held_bytes_ = 0;
  has_asked_ = false;
  ++life_;
  if (indexer_) marks_.emplace_back(epoch, mark_);
  return (is_ours_ ? kOurs : kFoundThere) + mark_.encode();
}

void ArchiveWriter::tell(Finding&& finding) {
  for (Candidate& candidate : finding.candidates) candidates.emit(std::move(candidate));
  if (finding.report) reports.emit(*std::move(finding.report));
  news.emit(std::move(finding.host));
  notes.emit(std::move(finding.note));
}

void ArchiveWriter::on_durable(flow::EpochId epoch) {
  if (auto status = apply_to_index(epoch); !status) {
    fail(status.error().with_context("the index"));
    return;
  }
  // The checkpoint says now what the base said.
  if (std::exchange(is_base_gone_, true) || !keeps_state()) return;
  if (auto status = remove_base(); !status) fail(status.error());
}

// At the end of a crawl nothing is left to be read from the files.
base::Status ArchiveWriter::apply_to_index(flow::EpochId epoch) {
  if (!indexer_) return {};
  for (; !marks_.empty() && marks_.front().first <= epoch; marks_.pop_front()) {
    RETURN_IF_ERROR(indexer_->apply(marks_.front().second));
  }
  const std::uint64_t unflushed = indexer_->unflushed_bytes();
  const bool is_due = unflushed >= limits_.unindexed_bytes_max || (draining() && unflushed > 0);
  return is_due ? indexer_->flush() : base::Status();
}

base::Status ArchiveWriter::remove_base() {
  const auto removed = files().remove(base_path());
  if (!removed && removed.error().code() == ErrorCode::kNotFound) return {};
  RETURN_IF_ERROR(removed);
  return files().sync_dir(state_dir());
}

}  // namespace meguri::crawl
