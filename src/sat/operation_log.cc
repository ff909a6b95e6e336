#include "sat/operation_log.h"

#include <cstring>
#include <utility>

#include "sat/block_kinds.h"
#include "sat/log_file.h"

namespace meguri::sat {

namespace {

void put_id(const base::Id& id, std::string& out) {
  char bytes[16];
  std::memcpy(bytes, &id.high, 8);
  std::memcpy(bytes + 8, &id.low, 8);
  out.append(bytes, sizeof bytes);
}

bool take_id(std::string_view& bytes, base::Id& id) {
  if (bytes.size() < 16) return false;
  std::memcpy(&id.high, bytes.data(), 8);
  std::memcpy(&id.low, bytes.data() + 8, 8);
  bytes.remove_prefix(16);
  return true;
}

template <typename T>
bool take_number(std::string_view& bytes, T& number) {
  std::uint64_t value = 0;
  if (!take_varint(bytes, value) || value > std::uint64_t{static_cast<T>(-1)}) return false;
  number = static_cast<T>(value);
  return true;
}

bool take_bytes(std::string_view& bytes, std::string_view& out) {
  std::uint64_t size = 0;
  if (!take_varint(bytes, size) || size > bytes.size()) return false;
  out = bytes.substr(0, size);
  bytes.remove_prefix(size);
  return true;
}

void put_bytes(std::string_view bytes, std::string& out) {
  append_varint(bytes.size(), out);
  out.append(bytes);
}

// The most frequent by far, so its numbers are put together first.
void put_reschedule(const Operation& operation, std::string& out) {
  char numbers[5 * kVarintBytesMax];
  char* end = put_varint(operation.seq, numbers);
  end = put_varint(operation.due.seconds, end);
  end = put_varint(operation.schema, end);
  end = put_varint(operation.number, end);
  end = put_varint(operation.bytes.size(), end);
  out.append(numbers, static_cast<std::size_t>(end - numbers));
  out.append(operation.bytes);
}

bool take_operation(std::string_view& bytes, Operation& operation) {
  if (bytes.empty()) return false;
  operation.deed = static_cast<Deed>(bytes.front());
  bytes.remove_prefix(1);
  switch (operation.deed) {
    case Deed::kAdd:
      return take_id(bytes, operation.id) && take_number(bytes, operation.due.seconds) &&
             take_number(bytes, operation.schema) && take_bytes(bytes, operation.bytes);
    case Deed::kAddOut:
      return take_id(bytes, operation.id) && take_number(bytes, operation.schema) &&
             take_bytes(bytes, operation.bytes);
    case Deed::kHold:
      return take_number(bytes, operation.seq) && take_number(bytes, operation.schema) &&
             take_number(bytes, operation.number) && take_bytes(bytes, operation.bytes);
    case Deed::kReschedule:
      return take_number(bytes, operation.seq) && take_number(bytes, operation.due.seconds) &&
             take_number(bytes, operation.schema) && take_number(bytes, operation.number) &&
             take_bytes(bytes, operation.bytes);
    case Deed::kSend:
      return take_number(bytes, operation.seq) && take_bytes(bytes, operation.bytes);
    case Deed::kPull:
      return take_number(bytes, operation.seq) && take_number(bytes, operation.due.seconds);
    case Deed::kRemove: return take_number(bytes, operation.seq);
    case Deed::kMove:
    case Deed::kServePulls: return take_number(bytes, operation.number);
    case Deed::kOpen:
    case Deed::kSetAside:
    case Deed::kCompactOut: return true;
  }
  return false;
}

}  // namespace

base::Result<std::unique_ptr<OperationLog>> OperationLog::create(env::FileSystem& files,
                                                                 const std::string& path) {
  ASSIGN_OR_RETURN(auto file, files.create(path));
  return std::unique_ptr<OperationLog>(new OperationLog(std::move(file)));
}

base::Result<std::unique_ptr<OperationLog>> OperationLog::replay(
    env::FileSystem& files, const std::string& path, std::uint64_t size,
    const std::function<base::Status(const Operation&)>& apply) {
  const auto use = [&](std::string_view payload) -> base::Result<bool> {
    while (!payload.empty()) {
      Operation operation;
      if (!take_operation(payload, operation)) return false;
      RETURN_IF_ERROR(apply(operation));
    }
    return true;
  };
  ASSIGN_OR_RETURN(auto file, reopen_log(files, path, kOperationsKind, size, use));
  return std::unique_ptr<OperationLog>(new OperationLog(std::move(file)));
}

void OperationLog::add(const Operation& operation) {
  std::string& out = pending_.out();
  ++operations_;
  out.push_back(static_cast<char>(operation.deed));
  switch (operation.deed) {
    case Deed::kAdd:
      put_id(operation.id, out);
      append_varint(operation.due.seconds, out);
      append_varint(operation.schema, out);
      put_bytes(operation.bytes, out);
      break;
    case Deed::kAddOut:
      put_id(operation.id, out);
      append_varint(operation.schema, out);
      put_bytes(operation.bytes, out);
      break;
    case Deed::kReschedule: put_reschedule(operation, out); break;
    case Deed::kHold:
      append_varint(operation.seq, out);
      append_varint(operation.schema, out);
      append_varint(operation.number, out);
      put_bytes(operation.bytes, out);
      break;
    case Deed::kSend:
      append_varint(operation.seq, out);
      put_bytes(operation.bytes, out);
      break;
    case Deed::kPull:
      append_varint(operation.seq, out);
      append_varint(operation.due.seconds, out);
      break;
    case Deed::kRemove: append_varint(operation.seq, out); break;
    case Deed::kMove:
    case Deed::kServePulls: append_varint(operation.number, out); break;
    case Deed::kOpen:
    case Deed::kSetAside:
    case Deed::kCompactOut: break;
  }
}

base::Result<std::uint64_t> OperationLog::commit() {
  if (!pending_.empty()) {
    RETURN_IF_ERROR(file_->append(pending_.seal(kOperationsKind, operations_, file_->size())));
    pending_.clear();
    operations_ = 0;
  }
  RETURN_IF_ERROR(file_->sync());
  return file_->size();
}

}  // namespace meguri::sat
