#include "sat/id_log.h"

#include <string_view>
#include <utility>

#include "base/bytes.h"
#include "sat/block_kinds.h"
#include "sat/log_file.h"

namespace meguri::sat {

namespace {

constexpr std::size_t kEntryBytes = 8 + 8 + 4;
constexpr std::size_t kPendingBytes = std::size_t{16} << 10U;

}  // namespace

base::Result<std::unique_ptr<IdLog>> IdLog::create(env::FileSystem& files, const std::string& path,
                                                   IdTraffic& traffic) {
  ASSIGN_OR_RETURN(auto file, files.create(path));
  return std::unique_ptr<IdLog>(new IdLog(std::move(file), traffic));
}

base::Result<std::unique_ptr<IdLog>> IdLog::replay(
    env::FileSystem& files, const std::string& path, std::uint64_t size, IdTraffic& traffic,
    const std::function<void(const KnownId&)>& apply) {
  const auto use = [&](std::string_view payload) -> base::Result<bool> {
    if (payload.size() % kEntryBytes != 0) return false;
    while (!payload.empty()) {
      KnownId known;
      base::take_fixed(payload, known.id.high);
      base::take_fixed(payload, known.id.low);
      base::take_fixed(payload, known.seq);
      apply(known);
    }
    return true;
  };
  ASSIGN_OR_RETURN(auto file, reopen_log(files, path, kIdLogKind, size, use));
  traffic.read_bytes += size;
  return std::unique_ptr<IdLog>(new IdLog(std::move(file), traffic));
}

base::Status IdLog::add(const KnownId& known) {
  base::put_fixed(pending_.out(), known.id.high);
  base::put_fixed(pending_.out(), known.id.low);
  base::put_fixed(pending_.out(), known.seq);
  return pending_.size() < kPendingBytes ? base::Status() : write_pending();
}

base::Status IdLog::write_pending() {
  if (pending_.empty()) return {};
  const auto count = static_cast<std::uint32_t>(pending_.payload().size() / kEntryBytes);
  RETURN_IF_ERROR(file_->append(pending_.seal(kIdLogKind, count, file_->size())));
  traffic_->written_bytes += pending_.size();
  pending_.clear();
  return {};
}

base::Result<std::uint64_t> IdLog::commit() {
  RETURN_IF_ERROR(write_pending());
  RETURN_IF_ERROR(file_->sync());
  return file_->size();
}

}  // namespace meguri::sat
