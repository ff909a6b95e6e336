#include "crawl/crawl_log.h"

#include <utility>

#include "crawl/crawl_log_line.h"
#include "env/file_system.h"

namespace meguri::crawl {

using base::ErrorCode;

namespace {

base::Result<CrawlLogMark> mark_from(std::string_view text) {
  const auto mark = CrawlLogMark::decode(text);
  if (!mark) return base::fail(ErrorCode::kCorrupt, "'{}' is no place in a crawl log", text);
  return *mark;
}

}  // namespace

base::Status CrawlLog::restore(flow::EpochId /*epoch*/, std::string_view state) {
  ASSIGN_OR_RETURN(restored_, mark_from(state));
  return {};
}

base::Status CrawlLog::start() {
  if (!is_on()) return {};
  if (instance_count() != 1) {
    return base::fail(ErrorCode::kInvalid, "{} cannot be divided into instances", name());
  }
  RETURN_IF_ERROR(files().make_dirs(options_.dir));
  CrawlLogMark mark;
  if (restored_) {
    mark = *restored_;
  } else {
    ASSIGN_OR_RETURN(mark, first_mark());
  }
  ASSIGN_OR_RETURN(file_, CrawlLogFile::open(files(), clock(), options_, mark));
  return {};
}

// No epoch has ended yet. If an earlier life noted what was there before it, that still counts.
base::Result<CrawlLogMark> CrawlLog::first_mark() {
  if (!keeps_state()) return CrawlLogFile::end_of(files(), options_.dir);
  ASSIGN_OR_RETURN(const bool is_noted, files().exists(base_path()));
  if (is_noted) {
    ASSIGN_OR_RETURN(const std::string text, env::read_file(files(), base_path()));
    return mark_from(text);
  }
  ASSIGN_OR_RETURN(const CrawlLogMark mark, CrawlLogFile::end_of(files(), options_.dir));
  RETURN_IF_ERROR(env::write_file_atomically(files(), base_path(), mark.encode()));
  return mark;
}

std::string CrawlLog::base_path() const { return state_dir() + "/" + name() + ".base"; }

void CrawlLog::on_visit(VisitNote&& note) {
  tally_.add(note);
  if (!is_on()) return;
  append_line(note, &buffer_);
  write_if_much();
}

void CrawlLog::on_refusal(RefusalNote&& note) {
  if (!is_on()) return;
  append_line(note, &buffer_);
  write_if_much();
}

void CrawlLog::write_if_much() {
  if (buffer_.size() < kBufferBytes) return;
  if (auto status = write(); !status) fail(status.error());
}

base::Status CrawlLog::write() {
  RETURN_IF_ERROR(file_->append(buffer_));
  buffer_.clear();
  return {};
}

base::Result<std::string> CrawlLog::commit(flow::EpochId /*epoch*/) {
  if (!is_on()) return std::string();
  RETURN_IF_ERROR(write());
  ASSIGN_OR_RETURN(const CrawlLogMark mark, file_->sync());
  return mark.encode();
}

// The checkpoint says now what the base said.
void CrawlLog::on_durable(flow::EpochId /*epoch*/) {
  if (!is_on() || !keeps_state() || std::exchange(is_base_gone_, true)) return;
  if (auto status = remove_base(); !status) fail(status.error());
}

base::Status CrawlLog::remove_base() {
  const auto removed = files().remove(base_path());
  if (!removed && removed.error().code() == ErrorCode::kNotFound) return {};
  RETURN_IF_ERROR(removed);
  return files().sync_dir(state_dir());
}

}  // namespace meguri::crawl
