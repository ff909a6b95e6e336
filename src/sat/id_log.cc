#include "sat/id_log.h"

#include <string_view>
#include <utility>

#include "base/bytes.h"

namespace meguri::sat {

using base::ErrorCode;

namespace {

constexpr env::BlockKind kKind = env::block_kind("MGKL");
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
  ASSIGN_OR_RETURN(const auto reader, files.open_read(path));
  env::Block block;
  env::BlockView view;
  for (std::uint64_t at = 0; at < size; at += block.size()) {
    ASSIGN_OR_RETURN(const env::BlockState state, block.read(*reader, kKind, at, size, view));
    const auto damaged = [&](std::string_view why) {
      return base::fail(ErrorCode::kCorrupt, "{} is damaged at {}, and is needed up to {}: {}",
                        path, at, size, why);
    };
    if (state != env::BlockState::kWhole) return damaged(env::describe(state));
    if (view.number != at) return damaged("the block belongs elsewhere");
    if (view.payload.size() % kEntryBytes != 0) return damaged("it holds no ids");
    traffic.read_bytes += block.size();
    while (!view.payload.empty()) {
      KnownId known;
      base::take_fixed(view.payload, known.id.high);
      base::take_fixed(view.payload, known.id.low);
      base::take_fixed(view.payload, known.seq);
      apply(known);
    }
  }
  ASSIGN_OR_RETURN(const std::uint64_t there, files.size(path));
  if (there > size) RETURN_IF_ERROR(files.truncate(path, size));
  ASSIGN_OR_RETURN(auto file, files.open_append(path));
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
  RETURN_IF_ERROR(file_->append(pending_.seal(kKind, count, file_->size())));
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
