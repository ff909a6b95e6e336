// Dispatcher: feeds documents to workers at full speed, and survives whatever analysers do.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "env/clock.h"
#include "env/spool.h"
#include "env/spooled_bytes.h"
#include "scan/document_list.h"
#include "scan/document_source.h"
#include "scan/frames.h"
#include "scan/workers.h"

namespace meguri::scan {

// How documents come to workers. All three are the paper's; the first is the one to use.
enum class DispatchMode : std::uint8_t {
  kPipelined,  // to whom has nothing unsent, without waiting for results
  kSync,       // to whom has none
  kStatic,     // each worker has its part of the list from the start
};

struct DispatchSettings {
  std::size_t workers = 1;
  DispatchMode mode = DispatchMode::kPipelined;
  std::uint64_t restart_after =
      0;                        // documents that a worker gets before it is started anew; 0: all
  std::uint32_t tries_max = 3;  // of a document
  base::Duration timeout = base::Duration::seconds(60);  // without anything of a result
  // If so many documents in a row failed and none had a result yet, the analyser is at fault.
  std::uint64_t hopeless_after = 20;
  std::string worker_settings;  // the payload of kSettings
};

// Where documents come from.
class DocumentFeed {
 public:
  virtual ~DocumentFeed() = default;
  // The next one of a part: of part 0, or, for kStatic, of the part of each worker. Nullopt: the
  // end of it.
  virtual base::Result<std::optional<DocumentPointer>> next(std::size_t part) = 0;
  // kCorrupt: it is lost, and the message says why.
  virtual base::Result<std::shared_ptr<RecordBytes>> open(const DocumentPointer& pointer) = 0;
};

struct SkippedDocument {
  DocumentPointer pointer;
  std::string reason;       // "it ended with exit status 3"
  std::string said;         // the end of what the analyser said on standard error
  std::uint32_t tries = 0;  // 0: nobody was given it
};

// Where results go: exactly one call for each document, of either kind. An error ends the run.
class DispatchSink {
 public:
  virtual ~DispatchSink() = default;
  virtual base::Status result(std::uint64_t number, const env::SpooledBytes& result) = 0;
  virtual base::Status skipped(const SkippedDocument& document) = 0;
  // Documents of this number and above must wait.
  virtual std::uint64_t numbers_end() const { return std::numeric_limits<std::uint64_t>::max(); }
  virtual base::Status look(base::Ticks /*now*/) { return {}; }  // called now and then
};

struct DispatchCounts {
  std::uint64_t results = 0;
  std::uint64_t skipped = 0;
  std::uint64_t failures = 0;  // ends of workers, or of their patience, that left documents
  std::uint64_t restarts = 0;  // after so many documents
  std::uint64_t bytes = 0;     // of records, sent
};

// What a worker's place did, over all workers that were there.
struct WorkerRecord {
  std::uint64_t results = 0;
  std::uint64_t ready_ns = 0;  // in which one was ready
  std::uint64_t idle_ns = 0;   // of them, in which it had no document
  std::uint64_t cpu_ns = 0;    // of workers and their analysers
  std::int64_t last_ns = 0;    // when the last result came, by Clock::nanoseconds()
};

// A document is held until its result is in. When a worker ends, is silent for too long or breaks
// the protocol, the first document that it had not answered is to blame: it is tried again
// elsewhere, with no other beside it, and given up after tries_max of them. The others go back to
// the front of the queue. Memory is bounded by the workers, not by documents or their size.
// Thread-compatible.
class Dispatcher {
 public:
  using OnUsage = std::function<void(std::size_t worker, const WorkerRecord& record)>;

  // Everything is borrowed. Results that are large on their way go to the spool.
  Dispatcher(DispatchSettings settings, Workers& workers, DocumentFeed& feed, DispatchSink& sink,
             const env::Clock& clock, env::Spool& spool);
  Dispatcher(const Dispatcher&) = delete;
  Dispatcher& operator=(const Dispatcher&) = delete;
  ~Dispatcher();

  void set_on_usage(OnUsage on_usage) { on_usage_ = std::move(on_usage); }

  // All documents of the feed. `is_stopped` is asked now and then: kStopped, and what has a result
  // has it. kFailed: no worker can be started, or the analyser fails at all documents.
  base::Status run(const std::function<bool()>& is_stopped);

  const DispatchCounts& counts() const { return counts_; }
  std::vector<WorkerRecord> records() const;

 private:
  struct Task;
  struct Place;

  base::Status start(Place& place);
  base::Status give_all();
  bool takes_more(const Place& place) const;
  base::Result<std::optional<Task>> next_task(const Place& place);
  base::Result<std::optional<Task>> next_new(const Place& place);
  std::optional<Task> take_retry(const Place& place, bool& must_drain);
  base::Status give(Place& place, Task task);
  base::Status fill(Place& place);
  base::Status pump(Place& place);
  base::Duration time_to_spare() const;
  base::Status wait_for_events();
  base::Status take_bytes(Place& place, std::string_view bytes);
  base::Status take_frame(Place& place, const Frame& frame);
  base::Status begin_result(Place& place, const Frame& frame);
  base::Status append_result(Place& place, std::string_view bytes);
  base::Status end_result(Place& place);
  base::Status take_lost(Place& place, const Frame& frame);
  void take_usage(Place& place, const Frame& frame);
  void give_up_on(Place& place, std::string reason);
  base::Status take_end(Place& place, const WorkerEnd& end);
  base::Status return_documents(Place& place, const WorkerEnd& end);
  base::Status skip(const Task& task, std::string reason, std::string said);
  base::Status check_hope(const SkippedDocument& document) const;
  void check_time();
  bool is_over() const;
  base::Status end_workers();

  const DispatchSettings settings_;
  Workers& workers_;
  DocumentFeed& feed_;
  DispatchSink& sink_;
  const env::Clock& clock_;
  OnUsage on_usage_;
  std::vector<std::unique_ptr<Place>> places_;
  std::deque<Task> retries_;
  std::vector<std::optional<DocumentPointer>> pending_;  // by part: read, and not given yet
  std::vector<bool> is_exhausted_;                       // by part
  std::vector<WorkerEvent> events_;
  std::vector<bool> wanted_;
  DispatchCounts counts_;
  bool is_ending_ = false;
};

}  // namespace meguri::scan
