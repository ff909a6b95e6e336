// KnownIdsInspector: looks at known ids that nobody has open, and changes nothing. For people.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "env/file_system.h"
#include "env/overlay_file_system.h"
#include "sat/folder_scan.h"
#include "sat/known_ids.h"

namespace meguri::sat {

struct KnownIdsFigures {
  struct Run {
    RunMark mark;
    std::uint64_t filter_bytes = 0;
  };
  std::vector<Run> runs;      // the oldest first
  std::uint64_t entries = 0;  // in runs and the log, removed and repeated ids too
  std::uint64_t log_entries = 0;
  std::uint64_t log_bytes = 0;
  std::uint64_t run_bytes = 0;
  std::uint64_t filter_bytes = 0;  // in memory
  std::uint64_t memory_bytes = 0;  // of filters and first ids
};

// As StoreInspector. Thread-compatible.
class KnownIdsInspector {
 public:
  // At a position, or if there is none at the newest whole manifest with its log up to the last
  // whole block. kNotFound: no known ids are there. kCorrupt: they cannot be opened.
  static base::Result<std::unique_ptr<KnownIdsInspector>> open(env::FileSystem& files,
                                                               std::string dir,
                                                               std::string_view position,
                                                               const Scratch& scratch);

  const KnownIdsPosition& position() const { return position_; }
  const std::vector<std::string>& notes() const { return notes_; }
  KnownIdsFigures figures() const;
  base::Result<std::optional<Seq>> find(const base::Id& id) { return known_->find(id); }

  // Every known id once, in their order, until `use` returns false.
  base::Status for_each_id(const std::function<bool(const KnownId&)>& use) const;

  // Reads every block that is needed, and every id. Whatever is damaged is in the report.
  static base::Result<CheckReport> check(env::FileSystem& files, const std::string& dir,
                                         std::string_view position, const Scratch& scratch);

 private:
  class Check;

  KnownIdsInspector(env::FileSystem& files, std::string dir, const Scratch& scratch)
      : overlay_(files, scratch.files, scratch.dir), dir_(std::move(dir)) {}

  struct ScannedManifest {
    ScannedFile file;
    std::string payload;
    bool is_whole = false;
  };
  static ScannedManifest scan_manifest(env::FileSystem& files, const std::string& dir,
                                       std::uint64_t number, CheckReport& report);
  base::Status find_newest(env::FileSystem& files);
  base::Status open_known();
  base::Status check_ids(CheckReport& report) const;
  base::Status check_run(const IdRun& run, CheckReport& report) const;

  env::OverlayFileSystem overlay_;
  const std::string dir_;
  KnownIdsPosition position_;
  std::vector<std::string> notes_;
  std::unique_ptr<KnownIds> known_;
};

}  // namespace meguri::sat
