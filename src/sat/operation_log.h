// OperationLog: what was done to the store since its last checkpoint, in order; doing it again
// brings the store back.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "env/block_file.h"
#include "env/file_system.h"
#include "sat/record.h"
#include "sat/time_layout.h"

namespace meguri::sat {

// What can be done to a store. The values are on disk.
enum class Deed : std::uint8_t {
  kAdd = 'A',         // a new record: id, due, schema, body
  kAddOut = 'B',      // a new record that is out at once: id, schema, body
  kReschedule = 'R',  // a record that was out: seq, due, schema, difference of its body
  kHold = 'H',        // a record that stays out: seq, schema, difference of its body
  kRemove = 'X',      // seq
  kOpen = 'O',        // the next bucket is opened
  kMove = 'M',        // n records of the oldest sealed bucket are moved to finer ones
  kSetAside = 'E',    // what is still out of the oldest open bucket gets a place of its own
  kCompactOut = 'C',  // what is in that place is written anew, without copies left behind
  kSend = 'G',        // a message: seq, bytes
  kPull = 'P',        // seq, due
  kServePulls = 'V',  // the records of a slot that were pulled are brought forward: slot
};

struct Operation {
  Deed deed = Deed::kOpen;
  base::Id id;
  Seq seq = 0;
  std::uint32_t number = 0;  // of records to move, the slot, or of messages it has not seen
  DueTime due;
  std::uint8_t schema = 0;
  std::string_view bytes;  // body, difference or message; borrowed
};

// A file of blocks (docs/formats/blocks.md), one for each commit. Thread-compatible.
class OperationLog {
 public:
  static base::Result<std::unique_ptr<OperationLog>> create(env::FileSystem& files,
                                                            const std::string& path);
  // Calls `apply` with every operation up to `size`, cuts the file there, and goes on. kCorrupt: a
  // block is damaged or missing.
  static base::Result<std::unique_ptr<OperationLog>> replay(
      env::FileSystem& files, const std::string& path, std::uint64_t size,
      const std::function<base::Status(const Operation&)>& apply);

  void add(const Operation& operation);
  // Everything added is on the medium when it returns the size of the file.
  base::Result<std::uint64_t> commit();

  std::uint64_t size() const { return file_->size() + pending_.payload().size(); }

 private:
  explicit OperationLog(std::unique_ptr<env::WritableFile> file) : file_(std::move(file)) {}

  std::unique_ptr<env::WritableFile> file_;
  env::Block pending_;
  std::uint32_t operations_ = 0;  // in it
};

}  // namespace meguri::sat
