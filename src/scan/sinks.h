// Where the results of a scan go.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "base/result.h"
#include "base/time.h"
#include "env/spooled_bytes.h"
#include "scan/dispatcher.h"
#include "scan/run_folder.h"

namespace meguri::scan {

// A line of JSON that tells of a document without a result, without an end of line.
using DescribeSkipped = std::function<std::string(const SkippedDocument& document)>;

// Into a run's folder, committed now and then. Thread-compatible; borrows the folder.
class FolderSink final : public DispatchSink {
 public:
  static constexpr base::Duration kCommitEvery = base::Duration::seconds(1);

  FolderSink(RunFolder& folder, DescribeSkipped describe)
      : folder_(folder), describe_(std::move(describe)) {}

  base::Status result(std::uint64_t number, const env::SpooledBytes& result) override {
    return folder_.add_result(number, result);
  }
  base::Status skipped(const SkippedDocument& document) override {
    return folder_.add_skipped(document.pointer.facts.number, describe_(document));
  }
  base::Status look(base::Ticks now) override;

 private:
  RunFolder& folder_;
  const DescribeSkipped describe_;
  std::optional<base::Ticks> committed_at_;
};

// Hands results on in the order of the documents. Those that come early are held, and no document
// far ahead of the first that is missing is begun. Thread-compatible; borrows the other sink.
class OrderedSink final : public DispatchSink {
 public:
  static constexpr std::uint64_t kAhead = 4096;  // documents

  // `done` are those that were handed on by an earlier run.
  OrderedSink(DispatchSink& to, const DoneSet& done);

  base::Status result(std::uint64_t number, const env::SpooledBytes& result) override;
  base::Status skipped(const SkippedDocument& document) override;
  std::uint64_t numbers_end() const override { return next_ + kAhead; }
  base::Status look(base::Ticks now) override { return to_.look(now); }

 private:
  struct Held {
    env::SpooledBytes result;
    std::optional<SkippedDocument> skipped;
  };

  base::Status hand_on();
  void pass_done();

  DispatchSink& to_;
  const DoneSet& done_;
  std::uint64_t next_ = 0;  // the first that is missing
  std::map<std::uint64_t, Held> held_;
};

}  // namespace meguri::scan
