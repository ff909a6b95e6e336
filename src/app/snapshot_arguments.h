// SnapshotArguments: how pages, visits and times are chosen on the command line, the same for every
// command that does so.
#pragma once

#include <string>
#include <vector>

#include "app/command_line.h"
#include "archive/snapshot_query.h"
#include "base/result.h"
#include "base/time.h"

namespace meguri::app {

// Which pages, and what their visits found.
class PageArguments {
 public:
  void declare(Options options);
  // kInvalid: one of them is none.
  base::Status apply(archive::SnapshotQuery& query) const;

 private:
  std::vector<std::string> hosts_;
  std::vector<std::string> domains_;
  std::vector<std::string> prefixes_;
  std::vector<std::string> urls_;
  std::vector<std::string> mimes_;
  std::vector<std::string> statuses_;
  std::vector<std::string> languages_;
  std::vector<std::string> digests_;
};

// All of a snapshot: pages, and times.
class SnapshotArguments {
 public:
  void declare(Options options);
  // kInvalid: one of them is none, or two contradict each other.
  base::Result<archive::SnapshotQuery> query(base::Instant now) const;

 private:
  base::Status apply_times(base::Instant now, archive::SnapshotQuery& query) const;

  PageArguments pages_;
  std::string at_;
  std::string during_;
  std::string relations_;
  std::string view_;
  bool all_ = false;
  bool gone_ = false;
  bool errors_ = false;
};

// "at 2026-11-18T08:00:00.000Z", "during A..B (relations)", in times that mean the same tomorrow;
// "by the newest visits".
std::string describe(const archive::SnapshotQuery& query);

}  // namespace meguri::app
