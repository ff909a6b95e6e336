#include "crawl/durable_map.h"

#include <fmt/format.h>

#include <charconv>
#include <utility>

#include "base/check.h"
#include "base/log.h"
#include "flow/codec.h"

namespace meguri::crawl {

using base::ErrorCode;
using base::fail;
using base::Result;
using base::Status;
using flow::put_fixed;
using flow::put_text;
using flow::take_fixed;
using flow::take_text;

namespace {

// A block on disk: magic, 4 zero bytes, payload length, hash of the payload, hash of this header.
constexpr std::uint32_t kMagic = 0x4d44474d;  // "MGDM"
constexpr std::size_t kHeaderBytes = 32;
constexpr std::string_view kSuffix = ".map";

// Changes in a payload: one of these, the key and, of a put, the value.
constexpr std::uint8_t kPut = 1;
constexpr std::uint8_t kErase = 2;

struct Header {
  std::uint64_t length = 0;
  std::uint64_t payload_hash = 0;
};

std::string encode_header(std::string_view payload) {
  std::string out;
  put_fixed(out, kMagic);
  put_fixed(out, std::uint32_t{0});
  put_fixed(out, std::uint64_t{payload.size()});
  put_fixed(out, base::hash64(payload));
  put_fixed(out, base::hash64(out));
  return out;
}

std::optional<Header> decode_header(std::string_view bytes) {
  if (bytes.size() != kHeaderBytes) return std::nullopt;
  const std::uint64_t expected = base::hash64(bytes.substr(0, kHeaderBytes - 8));
  std::uint32_t magic = 0;
  std::uint32_t zeros = 0;
  std::uint64_t hash = 0;
  Header header;
  const bool whole = take_fixed(bytes, magic) && take_fixed(bytes, zeros) &&
                     take_fixed(bytes, header.length) && take_fixed(bytes, header.payload_hash) &&
                     take_fixed(bytes, hash);
  if (!whole || magic != kMagic || zeros != 0 || hash != expected) return std::nullopt;
  return header;
}

void add_put(std::string& out, std::string_view key, std::string_view value) {
  put_fixed(out, kPut);
  put_text(out, key);
  put_text(out, value);
}

// What an entry takes in a log.
std::uint64_t bytes_of(std::string_view key, std::string_view value) {
  return 1 + 4 + key.size() + 4 + value.size();
}

std::optional<std::uint64_t> number_of(std::string_view name) {
  if (name.size() != 16 + kSuffix.size() || !name.ends_with(kSuffix)) return std::nullopt;
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + 16, number, 16);
  if (error != std::errc() || end != name.data() + 16) return std::nullopt;
  return number;
}

}  // namespace

std::string DurableMap::path_of(std::uint64_t number) const {
  return fmt::format("{}/{:016x}{}", dir_, number, kSuffix);
}

Result<DurableMap::Mark> DurableMap::mark_of(std::string_view state, const std::string& dir) {
  Mark mark;
  if (state.empty()) return mark;
  const bool whole =
      take_fixed(state, mark.number) && take_fixed(state, mark.length) && state.empty();
  if (!whole || (mark.number == 0) != (mark.length == 0)) {
    return fail(ErrorCode::kCorrupt, "the checkpoint's mark of {} is damaged", dir);
  }
  return mark;
}

Result<std::unique_ptr<DurableMap>> DurableMap::open(env::FileSystem& files, std::string dir,
                                                     std::string_view state,
                                                     DurableMapLimits limits) {
  ASSIGN_OR_RETURN(const Mark mark, mark_of(state, dir));
  RETURN_IF_ERROR(files.make_dirs(dir));
  std::unique_ptr<DurableMap> map(new DurableMap(files, std::move(dir), limits));
  RETURN_IF_ERROR(map->recover(mark.number, mark.length));
  return map;
}

Result<std::unique_ptr<DurableMap>> DurableMap::open_read_only(env::FileSystem& files,
                                                               std::string dir,
                                                               std::string_view state) {
  ASSIGN_OR_RETURN(const Mark mark, mark_of(state, dir));
  std::unique_ptr<DurableMap> map(new DurableMap(files, std::move(dir), {}));
  map->file_number_ = mark.number;
  if (mark.number > 0) RETURN_IF_ERROR(map->load(mark.length));
  return map;
}

Status DurableMap::recover(std::uint64_t number, std::uint64_t length) {
  file_number_ = number;
  if (number > 0) {
    const std::string path = path_of(number);
    ASSIGN_OR_RETURN(const bool exists, files_.exists(path));
    if (!exists) return fail(ErrorCode::kCorrupt, "{} is missing", path);
    RETURN_IF_ERROR(load(length));
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

Status DurableMap::remove_others() {
  ASSIGN_OR_RETURN(const auto names, files_.list(dir_));
  for (const std::string& name : names) {
    const auto number = number_of(name);
    if (number && *number != file_number_) RETURN_IF_ERROR(files_.remove(path_of(*number)));
  }
  return {};
}

Status DurableMap::load(std::uint64_t length) {
  const std::string path = path_of(file_number_);
  ASSIGN_OR_RETURN(const auto reader, files_.open_read(path));
  ASSIGN_OR_RETURN(const std::uint64_t size, reader->size());
  if (size < length) {
    return fail(ErrorCode::kCorrupt, "{} ends at offset {}, before {} bytes that were written",
                path, size, length);
  }
  std::string bytes;
  while (file_bytes_ < length) {
    RETURN_IF_ERROR(reader->read_at(file_bytes_, kHeaderBytes, &bytes));
    const auto header = decode_header(bytes);
    const std::uint64_t left = length - file_bytes_;
    if (!header || left < kHeaderBytes || header->length > left - kHeaderBytes) {
      return fail(ErrorCode::kCorrupt, "{} is damaged at offset {}: no block begins there", path,
                  file_bytes_);
    }
    RETURN_IF_ERROR(reader->read_at(file_bytes_ + kHeaderBytes, header->length, &bytes));
    if (bytes.size() != header->length || base::hash64(bytes) != header->payload_hash) {
      return fail(ErrorCode::kCorrupt, "{} is damaged at offset {}: the block fails its checksum",
                  path, file_bytes_);
    }
    RETURN_IF_ERROR(apply(bytes, file_bytes_));
    file_bytes_ += kHeaderBytes + header->length;
  }
  return {};
}

Status DurableMap::apply(std::string_view payload, std::uint64_t offset) {
  while (!payload.empty()) {
    std::uint8_t change = 0;
    std::string_view key;
    std::string_view value;
    bool whole = take_fixed(payload, change) && take_text(payload, key);
    if (change == kPut) {
      whole = whole && take_text(payload, value);
      if (whole) set(key, value);
    } else if (change == kErase) {
      if (whole) drop(key);
    } else {
      whole = false;
    }
    if (!whole) {
      return fail(ErrorCode::kCorrupt, "{} is damaged at offset {}: the block holds no changes",
                  path_of(file_number_), offset);
    }
  }
  return {};
}

void DurableMap::set(std::string_view key, std::string_view value) {
  const auto found = entries_.find(key);
  if (found == entries_.end()) {
    entries_.emplace(key, value);
  } else {
    live_bytes_ -= bytes_of(key, found->second);
    found->second = value;
  }
  live_bytes_ += bytes_of(key, value);
}

bool DurableMap::drop(std::string_view key) {
  const auto found = entries_.find(key);
  if (found == entries_.end()) return false;
  live_bytes_ -= bytes_of(key, found->second);
  entries_.erase(found);
  return true;
}

void DurableMap::put(std::string_view key, std::string_view value) {
  add_put(pending_, key, value);
  set(key, value);
  write_if_full();
}

bool DurableMap::erase(std::string_view key) {
  if (!entries_.contains(key)) return false;
  put_fixed(pending_, kErase);
  put_text(pending_, key);
  drop(key);
  write_if_full();
  return true;
}

std::optional<std::string_view> DurableMap::find(std::string_view key) const {
  const auto found = entries_.find(key);
  if (found == entries_.end()) return std::nullopt;
  return found->second;
}

std::size_t DurableMap::memory_bytes() const {
  constexpr std::size_t kNodeBytes = 2 * sizeof(std::string) + 2 * sizeof(void*) + 16;
  return entries_.bucket_count() * sizeof(void*) + entries_.size() * kNodeBytes + live_bytes_ +
         pending_.capacity();
}

void DurableMap::write_if_full() {
  if (pending_.size() < limits_.block_bytes || !status_) return;
  status_ = write_pending();
}

Status DurableMap::write_pending() {
  if (pending_.empty()) return {};
  if (!writer_) RETURN_IF_ERROR(open_file(file_number_ + 1));
  std::string bytes = encode_header(pending_);
  bytes += pending_;
  pending_.clear();
  RETURN_IF_ERROR(writer_->append(bytes));
  file_bytes_ += bytes.size();
  return {};
}

Status DurableMap::open_file(std::uint64_t number) {
  ASSIGN_OR_RETURN(writer_, files_.create(path_of(number)));
  file_number_ = number;
  file_bytes_ = 0;
  name_unsynced_ = true;
  return {};
}

bool DurableMap::must_compact() const {
  return file_number_ > 0 && log_bytes() > 2 * live_bytes_ + limits_.slack_bytes;
}

Status DurableMap::compact(flow::EpochId epoch) {
  old_files_.push_back({file_number_, epoch});
  pending_.clear();
  RETURN_IF_ERROR(open_file(file_number_ + 1));
  for (const auto& [key, value] : entries_) {
    add_put(pending_, key, value);
    if (pending_.size() >= limits_.block_bytes) RETURN_IF_ERROR(write_pending());
  }
  return {};
}

Result<std::string> DurableMap::commit(flow::EpochId epoch) {
  RETURN_IF_ERROR(status_);
  if (must_compact()) {
    RETURN_IF_ERROR(status_ = compact(epoch));
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

Status DurableMap::on_durable(flow::EpochId epoch) {
  while (!old_files_.empty() && old_files_.front().epoch <= epoch) {
    RETURN_IF_ERROR(files_.remove(path_of(old_files_.front().number)));
    old_files_.erase(old_files_.begin());
  }
  return {};
}

}  // namespace meguri::crawl
