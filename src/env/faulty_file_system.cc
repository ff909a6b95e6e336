#include "env/faulty_file_system.h"

#include <tuple>
#include <utility>

namespace meguri::env {

using base::ErrorCode;
using base::fail;
using base::MutexLock;

class FaultyFile final : public WritableFile {
 public:
  FaultyFile(FaultyFileSystem& fs, std::unique_ptr<MemoryFile> file, std::string path)
      : fs_(fs), file_(std::move(file)), path_(std::move(path)) {}

  base::Status append(std::string_view bytes) override {
    const auto verdict = fs_.judge(fmt::format("append to {}", path_));
    switch (verdict.outcome) {
      case FaultyFileSystem::Outcome::kWorks: return file_->append(bytes);
      case FaultyFileSystem::Outcome::kFails:
      case FaultyFileSystem::Outcome::kPowerGoes:
        file_->append_torn(bytes.substr(0, fs_.draw_part(bytes.size())));
        break;
      case FaultyFileSystem::Outcome::kPowerIsOff: break;
    }
    return verdict.status;
  }

  base::Status sync() override {
    const auto verdict = fs_.judge(fmt::format("sync {}", path_), true);
    switch (verdict.outcome) {
      case FaultyFileSystem::Outcome::kWorks: return file_->sync();
      case FaultyFileSystem::Outcome::kFails: file_->fail_sync(); break;
      case FaultyFileSystem::Outcome::kPowerGoes:
        if (fs_.draw_whether_done()) std::ignore = file_->sync();
        break;
      case FaultyFileSystem::Outcome::kPowerIsOff: break;
    }
    return verdict.status;
  }

  std::uint64_t size() const override { return file_->size(); }

 private:
  FaultyFileSystem& fs_;
  std::unique_ptr<MemoryFile> file_;
  std::string path_;
};

class FaultyReadableFile final : public ReadableFile {
 public:
  FaultyReadableFile(FaultyFileSystem& fs, std::unique_ptr<ReadableFile> file, std::string path)
      : fs_(fs), file_(std::move(file)), path_(std::move(path)) {}

  base::Status read_at(std::uint64_t offset, std::size_t length, std::string* out) const override {
    RETURN_IF_ERROR(fs_.judge_read(path_));
    return file_->read_at(offset, length, out);
  }
  base::Result<std::uint64_t> size() const override {
    RETURN_IF_ERROR(fs_.check_power(path_));
    return file_->size();
  }

 private:
  FaultyFileSystem& fs_;
  std::unique_ptr<ReadableFile> file_;
  std::string path_;
};

class FaultyTemporaryFile final : public TemporaryFile {
 public:
  FaultyTemporaryFile(FaultyFileSystem& fs, std::unique_ptr<TemporaryFile> file, std::string path)
      : fs_(fs), file_(std::move(file)), path_(std::move(path)) {}

  base::Status append(std::string_view bytes) override {
    const auto verdict = fs_.judge(fmt::format("append to {}", path_));
    if (verdict.outcome == FaultyFileSystem::Outcome::kWorks) return file_->append(bytes);
    std::ignore = file_->append(bytes.substr(0, fs_.draw_part(bytes.size())));
    return verdict.status;
  }
  base::Status read_at(std::uint64_t offset, std::size_t length, std::string* out) const override {
    RETURN_IF_ERROR(fs_.judge_read(path_));
    return file_->read_at(offset, length, out);
  }
  base::Result<std::uint64_t> size() const override {
    RETURN_IF_ERROR(fs_.check_power(path_));
    return file_->size();
  }

 private:
  FaultyFileSystem& fs_;
  std::unique_ptr<TemporaryFile> file_;
  std::string path_;
};

FaultyFileSystem::FaultyFileSystem(std::uint64_t seed) : random_(seed) {}

FaultyFileSystem::Verdict FaultyFileSystem::judge(const std::string& what, bool is_sync) {
  const MutexLock lock(mutex_);
  if (power_is_off_) {
    return {Outcome::kPowerIsOff, fail(ErrorCode::kIo, "cannot {}: the power is off", what)};
  }
  const std::uint64_t change = changes_++;
  const std::uint64_t sync = is_sync ? syncs_++ : 0;
  if (cut_at_ == change) {
    power_is_off_ = true;
    return {Outcome::kPowerGoes, fail(ErrorCode::kIo, "cannot {}: the power went", what)};
  }
  const auto failure = [&](ErrorCode code) {
    return Verdict{Outcome::kFails, fail(code, "cannot {}: a fault was asked for", what)};
  };
  if (auto found = failing_changes_.extract(change)) return failure(found.mapped());
  if (is_sync) {
    if (auto found = failing_syncs_.extract(sync)) return failure(found.mapped());
  }
  if (failing_from_ && change >= failing_from_->first) return failure(failing_from_->second);
  return {};
}

base::Status FaultyFileSystem::judge_read(const std::string& path) {
  RETURN_IF_ERROR(check_power(path));
  const MutexLock lock(mutex_);
  if (auto found = failing_reads_.extract(reads_++)) {
    return fail(found.mapped(), "cannot read {}: a fault was asked for", path);
  }
  return {};
}

base::Status FaultyFileSystem::check_power(const std::string& what) const {
  const MutexLock lock(mutex_);
  if (power_is_off_) return fail(ErrorCode::kIo, "cannot use {}: the power is off", what);
  return {};
}

std::size_t FaultyFileSystem::draw_part(std::size_t size) {
  const MutexLock lock(mutex_);
  return random_.between(0, size);
}

bool FaultyFileSystem::draw_whether_done() {
  const MutexLock lock(mutex_);
  return random_.chance(0.5);
}

template <typename Operation>
base::Status FaultyFileSystem::change(const std::string& what, const Operation& operation) {
  const Verdict verdict = judge(what);
  if (verdict.outcome == Outcome::kWorks) return operation();
  if (verdict.outcome == Outcome::kPowerGoes && draw_whether_done()) std::ignore = operation();
  return verdict.status;
}

base::Result<std::unique_ptr<WritableFile>> FaultyFileSystem::open(const std::string& path,
                                                                   bool must_be_new) {
  RETURN_IF_ERROR(check_power(path));
  std::unique_ptr<MemoryFile> file;
  const auto open_it = [&]() -> base::Status {
    ASSIGN_OR_RETURN(file, disk_.open_file(path, must_be_new));
    return {};
  };
  ASSIGN_OR_RETURN(const bool is_there, disk_.exists(path));
  // Opening what is there changes nothing.
  RETURN_IF_ERROR(is_there ? open_it() : change(fmt::format("create {}", path), open_it));
  return std::make_unique<FaultyFile>(*this, std::move(file), path);
}

base::Result<std::unique_ptr<WritableFile>> FaultyFileSystem::open_append(const std::string& path) {
  return open(path, false);
}

base::Result<std::unique_ptr<WritableFile>> FaultyFileSystem::create(const std::string& path) {
  return open(path, true);
}

base::Result<std::unique_ptr<ReadableFile>> FaultyFileSystem::open_read(const std::string& path) {
  RETURN_IF_ERROR(check_power(path));
  ASSIGN_OR_RETURN(auto file, disk_.open_read(path));
  return std::make_unique<FaultyReadableFile>(*this, std::move(file), path);
}

base::Result<std::unique_ptr<TemporaryFile>> FaultyFileSystem::open_temporary(
    const std::string& dir) {
  std::unique_ptr<TemporaryFile> file;
  std::string path = fmt::format("a temporary file in {}", dir);
  RETURN_IF_ERROR(change(fmt::format("open {}", path), [&]() -> base::Status {
    ASSIGN_OR_RETURN(file, disk_.open_temporary(dir));
    return {};
  }));
  return std::make_unique<FaultyTemporaryFile>(*this, std::move(file), std::move(path));
}

base::Status FaultyFileSystem::truncate(const std::string& path, std::uint64_t size) {
  return change(fmt::format("cut {}", path), [&] { return disk_.truncate(path, size); });
}

base::Status FaultyFileSystem::punch(const std::string& path, std::uint64_t offset,
                                     std::uint64_t length) {
  return change(fmt::format("punch {}", path), [&] { return disk_.punch(path, offset, length); });
}

base::Status FaultyFileSystem::rename(const std::string& from, const std::string& to) {
  return change(fmt::format("rename {} to {}", from, to), [&] { return disk_.rename(from, to); });
}

base::Status FaultyFileSystem::remove(const std::string& path) {
  return change(fmt::format("remove {}", path), [&] { return disk_.remove(path); });
}

base::Status FaultyFileSystem::make_dirs(const std::string& path) {
  return change(fmt::format("make folder {}", path), [&] { return disk_.make_dirs(path); });
}

base::Status FaultyFileSystem::sync_dir(const std::string& path) {
  return change(fmt::format("sync folder {}", path), [&] { return disk_.sync_dir(path); });
}

base::Result<bool> FaultyFileSystem::exists(const std::string& path) {
  RETURN_IF_ERROR(check_power(path));
  return disk_.exists(path);
}

base::Result<std::uint64_t> FaultyFileSystem::size(const std::string& path) {
  RETURN_IF_ERROR(check_power(path));
  return disk_.size(path);
}

base::Result<FileStamp> FaultyFileSystem::stamp(const std::string& path) {
  RETURN_IF_ERROR(check_power(path));
  return disk_.stamp(path);
}

base::Result<std::vector<std::string>> FaultyFileSystem::list(const std::string& path) {
  RETURN_IF_ERROR(check_power(path));
  return disk_.list(path);
}

base::Result<std::uint64_t> FaultyFileSystem::free_space(const std::string& path) {
  RETURN_IF_ERROR(check_power(path));
  return disk_.free_space(path);
}

base::Result<std::unique_ptr<FileLock>> FaultyFileSystem::lock(const std::string& path) {
  RETURN_IF_ERROR(check_power(path));
  std::unique_ptr<FileLock> held;
  const auto take = [&]() -> base::Status {
    ASSIGN_OR_RETURN(held, disk_.lock(path));
    return {};
  };
  ASSIGN_OR_RETURN(const bool is_there, disk_.exists(path));
  RETURN_IF_ERROR(is_there ? take() : change(fmt::format("create {}", path), take));
  return held;
}

std::uint64_t FaultyFileSystem::changes() const {
  const MutexLock lock(mutex_);
  return changes_;
}

void FaultyFileSystem::fail_change_after(std::uint64_t n, ErrorCode code) {
  const MutexLock lock(mutex_);
  failing_changes_[changes_ + n] = code;
}

void FaultyFileSystem::fail_changes_from(std::uint64_t n, ErrorCode code) {
  const MutexLock lock(mutex_);
  failing_from_.emplace(changes_ + n, code);
}

void FaultyFileSystem::fail_sync_after(std::uint64_t n) {
  const MutexLock lock(mutex_);
  failing_syncs_[syncs_ + n] = ErrorCode::kIo;
}

void FaultyFileSystem::fail_read_after(std::uint64_t n, ErrorCode code) {
  const MutexLock lock(mutex_);
  failing_reads_[reads_ + n] = code;
}

void FaultyFileSystem::cut_power_after(std::uint64_t n) {
  const MutexLock lock(mutex_);
  cut_at_ = changes_ + n;
}

bool FaultyFileSystem::power_is_off() const {
  const MutexLock lock(mutex_);
  return power_is_off_;
}

void FaultyFileSystem::clear_faults() {
  failing_changes_.clear();
  failing_syncs_.clear();
  failing_reads_.clear();
  failing_from_.reset();
  cut_at_.reset();
  power_is_off_ = false;
}

void FaultyFileSystem::crash(Random* random) {
  const MutexLock lock(mutex_);
  clear_faults();
  disk_.crash(random);
}

void FaultyFileSystem::restart() {
  const MutexLock lock(mutex_);
  clear_faults();
  disk_.restart();
}

}  // namespace meguri::env
