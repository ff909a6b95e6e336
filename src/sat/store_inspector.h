// StoreInspector: looks at a store that nobody has open, and changes nothing. For people.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "env/file_system.h"
#include "env/overlay_file_system.h"
#include "sat/folder_scan.h"
#include "sat/record.h"
#include "sat/store.h"
#include "sat/store_position.h"

namespace meguri::sat {

// A record, and where it is. Views die when the one who is told of it returns.
struct InspectedRecord {
  Record record;
  Slot slot = 0;
  bool is_out = false;                    // handed out, or about to be
  std::span<const std::string> messages;  // that wait for it, in their order
};

struct StoreFigures {
  std::uint64_t records = 0;
  std::uint64_t out = 0;
  std::uint64_t buckets = 0;         // that lie ahead
  std::uint64_t buckets_filled = 0;  // of these: with records
  std::uint64_t segments = 0;        // files
  std::uint64_t segment_bytes = 0;   // about, what was punched out taken off
  std::uint64_t segment_bytes_used = 0;
  std::uint64_t log_bytes = 0;
  std::uint64_t checkpoint_bytes = 0;
  std::uint64_t index_bytes = 0;    // in memory
  std::uint64_t numbers_given = 0;  // sequence numbers, those of removed records too
};

// The same code as a store's own brings it back, over an OverlayFileSystem: what that writes goes
// to a scratch folder. Needs as much memory as the store. Thread-compatible.
class StoreInspector {
 public:
  // At a position, or if there is none at the newest whole checkpoint with its log up to the last
  // whole block. kNotFound: no store is there. kCorrupt: it cannot be opened.
  static base::Result<std::unique_ptr<StoreInspector>> open(env::FileSystem& files, std::string dir,
                                                            std::string_view position,
                                                            const Scratch& scratch);

  const StorePosition& position() const { return position_; }
  // What was left out of the newest files, in whole sentences.
  const std::vector<std::string>& notes() const { return notes_; }
  const Store& store() const { return *store_; }
  base::Result<StoreFigures> figures();

  // Every record once: what is out, then the rest about in the order of time. Until `use` returns
  // false.
  base::Status for_each_record(
      const std::function<base::Result<bool>(const InspectedRecord&)>& use);

  // Reads every block that is needed, and looks for each record. Whatever is damaged is in the
  // report; an error: nothing could be looked at.
  static base::Result<CheckReport> check(env::FileSystem& files, const std::string& dir,
                                         std::string_view position, const Scratch& scratch);

 private:
  class Check;
  class Walk;
  // Where copies of records lie, and the messages to them.
  struct Holding {
    Slot slot = 0;
    bool is_out = false;
    const TakenBucket* records = nullptr;
    const TakenBucket* messages = nullptr;
  };
  struct Found {
    StorePosition position;
    std::vector<std::string> notes;
  };
  struct ScannedCheckpoint {
    ScannedFile file;
    std::string state;  // the payload of its first block; empty: that is damaged
    bool is_whole = false;
  };

  StoreInspector(env::FileSystem& files, std::string dir, const Scratch& scratch)
      : files_(files), overlay_(files, scratch.files, scratch.dir), dir_(std::move(dir)) {}

  static ScannedCheckpoint scan_checkpoint(env::FileSystem& files, const std::string& path,
                                           CheckReport& report);
  static base::Result<Found> find_newest(env::FileSystem& files, const std::string& dir);
  base::Status open_store();
  base::Status for_each_holding(const std::function<base::Result<bool>(const Holding&)>& use);
  base::Result<bool> tell_records(
      const Holding& holding, const std::function<base::Result<bool>(const InspectedRecord&)>& use);

  env::FileSystem& files_;
  env::OverlayFileSystem overlay_;
  const std::string dir_;
  StorePosition position_;
  std::vector<std::string> notes_;
  std::unique_ptr<Store> store_;
};

}  // namespace meguri::sat
