#include "crawl/durable_log.h"

#include "base/bytes.h"
#include "base/log.h"

namespace meguri::crawl {

using base::ErrorCode;
using base::fail;
using base::put_fixed;
using base::put_text;
using base::Result;
using base::Status;
using base::take_fixed;
using base::take_text;

namespace {

constexpr env::BlockKind kKind = env::block_kind("MGDM");
constexpr std::string_view kSuffix = ".map";

// Changes in a payload: one of these, the key and, of a put, the value.
constexpr std::uint8_t kPut = 1;
constexpr std::uint8_t kErase = 2;

// Takes the first change off the payload; false: there is none.
bool take_change(std::string_view& payload, std::string_view& key,
                 std::optional<std::string_view>& value) {
  std::uint8_t change = 0;
  value.reset();
  if (!take_fixed(payload, change) || !take_text(payload, key)) return false;
  if (change == kErase) return true;
  return change == kPut && take_text(payload, value.emplace());
}

}  // namespace

std::string DurableLog::path_of(std::uint64_t number) const {
  return env::numbered_path(dir_, number, kSuffix);
}

Result<DurableLog::Mark> DurableLog::mark_of(std::string_view state, const std::string& dir) {
  Mark mark;
  if (state.empty()) return mark;
  const bool whole =
      take_fixed(state, mark.number) && take_fixed(state, mark.length) && state.empty();
  if (!whole || (mark.number == 0) != (mark.length == 0)) {
    return fail(ErrorCode::kCorrupt, "the checkpoint's mark of {} is damaged", dir);
  }
  return mark;
}

Result<std::unique_ptr<DurableLog>> DurableLog::open(env::FileSystem& files, std::string dir,
                                                     std::string_view state, const Apply& apply,
                                                     DurableLogLimits limits) {
  ASSIGN_OR_RETURN(const Mark mark, mark_of(state, dir));
  RETURN_IF_ERROR(files.make_dirs(dir));
  std::unique_ptr<DurableLog> log(new DurableLog(files, std::move(dir), limits));
  RETURN_IF_ERROR(log->recover(mark.number, mark.length, apply));
  return log;
}

Status DurableLog::read(env::FileSystem& files, std::string dir, std::string_view state,
                        const Apply& apply) {
  ASSIGN_OR_RETURN(const Mark mark, mark_of(state, dir));
  if (mark.number == 0) return {};
  DurableLog log(files, std::move(dir), {});
  log.file_number_ = mark.number;
  return log.load(mark.length, apply);
}

Status DurableLog::recover(std::uint64_t number, std::uint64_t length, const Apply& apply) {
  file_number_ = number;
  if (number > 0) {
    const std::string path = path_of(number);
    ASSIGN_OR_RETURN(const bool exists, files_.exists(path));
    if (!exists) return fail(ErrorCode::kCorrupt, "{} is missing", path);
    RETURN_IF_ERROR(load(length, apply));
  }
  // Nothing is cut or removed before all that is needed was found to be there.
  RETURN_IF_ERROR(remove_others());
  if (number == 0) return files_.sync_dir(dir_);
  ASSIGN_OR_RETURN(const std::uint64_t size, files_.size(path_of(number)));
  if (size > length) {
    base::log_warn("cut changes that were never acknowledged",
                   {{"file", path_of(number)}, {"bytes", size - length}});
    RETURN_IF_ERROR(files_.truncate(path_of(number), length));
  }
  ASSIGN_OR_RETURN(writer_, files_.open_append(path_of(number)));
  return files_.sync_dir(dir_);
}

Status DurableLog::remove_others() {
  ASSIGN_OR_RETURN(const auto names, files_.list(dir_));
  for (const std::string& name : names) {
    const auto number = env::number_of_name(name, kSuffix);
    if (number && *number != file_number_) RETURN_IF_ERROR(files_.remove(path_of(*number)));
  }
  return {};
}

std::unexpected<base::Error> DurableLog::damaged(std::string_view why) const {
  return fail(ErrorCode::kCorrupt, "{} is damaged at offset {}: {}", path_of(file_number_),
              file_bytes_, why);
}

Status DurableLog::load(std::uint64_t length, const Apply& apply) {
  const std::string path = path_of(file_number_);
  ASSIGN_OR_RETURN(const auto reader, files_.open_read(path));
  ASSIGN_OR_RETURN(const std::uint64_t size, reader->size());
  if (size < length) {
    return fail(ErrorCode::kCorrupt, "{} ends at offset {}, before {} bytes that were written",
                path, size, length);
  }
  env::Block block;
  env::BlockView view;
  while (true) {
    ASSIGN_OR_RETURN(const env::BlockState state,
                     block.read(*reader, kKind, file_bytes_, length, view));
    if (state == env::BlockState::kEnd) return {};
    if (state != env::BlockState::kWhole) return damaged(env::describe(state));
    if (view.number != file_number_) return damaged("the block belongs to another file");
    RETURN_IF_ERROR(use(view, apply));
    file_bytes_ += block.size();
  }
}

Status DurableLog::use(const env::BlockView& block, const Apply& apply) const {
  std::string_view rest = block.payload;
  std::string_view key;
  std::optional<std::string_view> value;
  for (std::uint32_t i = 0; i < block.count; ++i) {
    if (!take_change(rest, key, value)) return damaged("the block holds no changes");
    if (const Status status = apply(key, value); !status) return damaged(status.error().message());
  }
  if (!rest.empty()) return damaged("the block holds more than changes");
  return {};
}

void DurableLog::put(std::string_view key, std::string_view value) {
  put_fixed(pending_.out(), kPut);
  put_text(pending_.out(), key);
  put_text(pending_.out(), value);
  count_change();
}

void DurableLog::erase(std::string_view key) {
  put_fixed(pending_.out(), kErase);
  put_text(pending_.out(), key);
  count_change();
}

void DurableLog::count_change() {
  ++pending_changes_;
  if (pending_.size() < limits_.block_bytes || !status_) return;
  status_ = write_pending();
}

Status DurableLog::write_pending() {
  if (pending_.empty()) return {};
  if (!writer_) RETURN_IF_ERROR(open_file(file_number_ + 1));
  RETURN_IF_ERROR(writer_->append(pending_.seal(kKind, pending_changes_, file_number_)));
  file_bytes_ += pending_.size();
  pending_.clear();
  pending_changes_ = 0;
  return {};
}

Status DurableLog::open_file(std::uint64_t number) {
  ASSIGN_OR_RETURN(writer_, files_.create(path_of(number)));
  file_number_ = number;
  file_bytes_ = 0;
  name_unsynced_ = true;
  return {};
}

Status DurableLog::rewrite(flow::EpochId epoch, const WriteAll& write_all) {
  old_files_.push_back({file_number_, epoch});
  pending_.clear();
  pending_changes_ = 0;
  RETURN_IF_ERROR(open_file(file_number_ + 1));
  write_all(*this);
  return status_;
}

Result<std::string> DurableLog::commit(flow::EpochId epoch, std::uint64_t live_bytes,
                                       const WriteAll& write_all) {
  RETURN_IF_ERROR(status_);
  if (file_number_ > 0 && bytes() > 2 * live_bytes + limits_.slack_bytes) {
    RETURN_IF_ERROR(status_ = rewrite(epoch, write_all));
  }
  RETURN_IF_ERROR(status_ = write_pending());
  if (writer_) RETURN_IF_ERROR(status_ = writer_->sync());
  if (name_unsynced_) RETURN_IF_ERROR(status_ = files_.sync_dir(dir_));
  name_unsynced_ = false;
  std::string state;
  put_fixed(state, file_bytes_ > 0 ? file_number_ : std::uint64_t{0});
  put_fixed(state, file_bytes_);
  return state;
}

Status DurableLog::on_durable(flow::EpochId epoch) {
  while (!old_files_.empty() && old_files_.front().epoch <= epoch) {
    RETURN_IF_ERROR(files_.remove(path_of(old_files_.front().number)));
    old_files_.erase(old_files_.begin());
  }
  return {};
}

}  // namespace meguri::crawl
