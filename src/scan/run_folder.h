// RunFolder: what a scan leaves on disk while it runs, so that it can go on where it was ended.
// docs/formats/scan-run.md describes the files.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "env/file_system.h"
#include "env/spooled_bytes.h"
#include "scan/done_set.h"

namespace meguri::scan {

// A folder with: run.json (what is run, as the caller describes it), list (DocumentList), results
// (a front, and the bytes of all results so far, one behind the other), skipped.jsonl (a line for
// each document without one), journal (how far these two count, and for which documents), lock.
// What comes behind the last commit() is cut off by open(), so that after any crash each document
// counts once or not yet. After an error nothing can be added any more: it has to be opened again.
// Thread-compatible. The file system outlives it.
class RunFolder {
 public:
  // What was never begun there is removed first. kExists: there is a run that was begun, or files
  // that are none of a run. kBusy: another process is at it. `description` is JSON. The list is
  // written by the caller between create() and begin().
  static base::Result<std::unique_ptr<RunFolder>> create(env::FileSystem& fs, std::string path,
                                                         std::string_view description);
  // kNotFound: there is none, or one that was never begun, which is removed. kBusy: another process
  // is at it. kCorrupt: less is there than was committed.
  static base::Result<std::unique_ptr<RunFolder>> open(env::FileSystem& fs, std::string path);
  RunFolder(const RunFolder&) = delete;
  RunFolder& operator=(const RunFolder&) = delete;
  ~RunFolder();

  const std::string& description() const;
  std::string list_path() const;
  std::string results_path() const;
  std::string skipped_path() const;

  // The list is there, with so many documents: from now on the run can be resumed. Once, and before
  // anything is added. The results begin with `front`.
  base::Status begin(std::uint64_t documents, std::string_view front = {});
  std::uint64_t documents() const;
  // These have all that was added, also since the last commit().
  const DoneSet& done() const;
  const RunCounts& counts() const;
  std::uint64_t result_bytes() const;  // with the front

  // Requires that the document is not done. Counts from the next commit() on.
  base::Status add_result(std::uint64_t number, const env::SpooledBytes& result);
  // Likewise. `line` is JSON, without an end of line.
  base::Status add_skipped(std::uint64_t number, std::string_view line);
  // All that was added survives any crash when this returns, and its files hold it.
  base::Status commit();

  // Commits, and says that nothing more will be added: from now on the files of the results and of
  // the skipped documents may be moved away. After a crash on the way open() says that the run has
  // ended, and whoever opened it does the rest.
  base::Status end();
  bool has_ended() const;

  // Gives everything back, the lock last. Only paths and figures can be asked for afterwards.
  void close();

  // Removes all files of a run, whatever is missing of it; the folder stays. Nobody may be at it.
  // After a crash on the way it is a run, or one that was never begun.
  static base::Status remove(env::FileSystem& fs, const std::string& path);

 private:
  struct State;
  explicit RunFolder(std::unique_ptr<State> state);
  const std::unique_ptr<State> state_;
};

}  // namespace meguri::scan
