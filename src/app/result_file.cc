#include "app/result_file.h"

#include <utility>

namespace meguri::app {

namespace {

using base::ErrorCode;

constexpr std::size_t kWriteBytes = std::size_t{1} << 20U;

}  // namespace

base::Result<std::unique_ptr<ResultFile>> ResultFile::open(env::FileSystem& files,
                                                           const std::string& path, Output& out) {
  std::unique_ptr<ResultFile> result(new ResultFile(files, path, out));
  if (is_output(path)) return result;
  // What is left of a run that was killed.
  const auto removed = files.remove(result->part());
  if (!removed && removed.error().code() != ErrorCode::kNotFound) {
    return std::unexpected(removed.error());
  }
  ASSIGN_OR_RETURN(result->file_, files.create(result->part()));
  return result;
}

ResultFile::~ResultFile() {
  if (file_ == nullptr || is_finished_) return;
  file_.reset();
  static_cast<void>(files_.remove(part()).has_value());  // nothing could be done about it
}

base::Status ResultFile::write(std::string_view bytes) {
  bytes_ += bytes.size();
  if (file_ == nullptr) {
    out_.write(bytes);
    // Nobody reads any more; finish() of the output says whether that is an error.
    if (out_.is_broken()) return base::fail(ErrorCode::kStopped, "nobody reads the output");
    return {};
  }
  held_ += bytes;
  return held_.size() < kWriteBytes ? base::Status() : write_out();
}

base::Status ResultFile::write_out() {
  RETURN_IF_ERROR(file_->append(held_));
  held_.clear();
  return {};
}

base::Status ResultFile::finish() {
  if (file_ == nullptr) return {};
  RETURN_IF_ERROR(write_out());
  RETURN_IF_ERROR(file_->sync());
  file_.reset();
  RETURN_IF_ERROR(files_.rename(part(), path_));
  is_finished_ = true;
  return files_.sync_dir(env::parent_of(path_));
}

}  // namespace meguri::app
