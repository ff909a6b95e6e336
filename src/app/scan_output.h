// ScanOutput: where the results of a scan are gathered, and what is made of them at its end.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "app/output.h"
#include "base/result.h"
#include "env/file_system.h"
#include "scan/analyser.h"
#include "scan/dispatcher.h"
#include "scan/run_folder.h"
#include "scan/sinks.h"

namespace meguri::app {

// What a run is, as its folder remembers it.
struct ScanDescription {
  std::string archive;
  std::string snapshot;  // "at 2026-11-18T08:00:00.000Z"
  scan::AnalyserSettings analyser;
  bool is_ordered = false;

  std::string to_json() const;
  static base::Result<ScanDescription> from_json(std::string_view text);
};

class ScanOutput {
 public:
  ScanOutput() = default;
  ScanOutput(const ScanOutput&) = delete;
  ScanOutput& operator=(const ScanOutput&) = delete;
  virtual ~ScanOutput() = default;

  virtual std::string list_path() const = 0;
  // The list is there, with so many documents.
  virtual base::Status begin(std::uint64_t documents) = 0;
  virtual const scan::DoneSet& done() const = 0;
  virtual const scan::RunCounts& counts() const = 0;  // of this run and those before it
  virtual scan::DispatchSink& sink() = 0;
  // The run ended before its end: nothing that came is lost.
  virtual base::Status keep() = 0;
  virtual base::Status finish() = 0;
  virtual std::uint64_t bytes() const = 0;                 // written, after finish()
  virtual std::string skipped_path() const { return {}; }  // empty: they were told of
};

// Results go to FILE when all are there; until then they are in the folder FILE.scan, from which a
// later run can go on.
// kExists: a run was not finished.
base::Result<std::unique_ptr<ScanOutput>> make_file_output(env::FileSystem& files,
                                                           const std::string& file,
                                                           const ScanDescription& description,
                                                           scan::DescribeSkipped describe);
// kNotFound: there is none to go on with.
base::Result<std::unique_ptr<ScanOutput>> resume_file_output(env::FileSystem& files,
                                                             const std::string& file,
                                                             ScanDescription& description,
                                                             scan::DescribeSkipped describe);
// Results go to standard output as they come.
base::Result<std::unique_ptr<ScanOutput>> make_stream_output(Output& out,
                                                             const ScanDescription& description,
                                                             scan::DescribeSkipped describe);

}  // namespace meguri::app
