// ProgramRun: documents to a program and results from it, by two threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <string>

#include "base/mutex.h"
#include "base/result.h"
#include "scan/analyser.h"
#include "scan/analyser_process.h"
#include "scan/document.h"
#include "scan/result_cutter.h"

namespace meguri::scan {

struct ProgramRunOptions {
  // Starts the program anew; the process lives until the next call.
  std::function<base::Result<AnalyserProcess*>()> restart;
  // Writes a document. False: the program does not read any more.
  std::function<base::Result<bool>(AnalyserProcess& process, const Document& document)> write;
  std::uint64_t cpu_seconds_max = 0;  // for one document; 0: no limit
  // Whether the program may hold results back until its input ends, as awk, cut and others do that
  // were not told otherwise. When it has read all there is, and neither works nor answers for a
  // second, its input is closed; it is started anew for further documents, which it then gets in
  // batches, of what is at hand each, until it answers without that.
  bool may_hold_back = false;
};

// One thread takes documents and writes them, the caller's reads results; so neither waits for the
// other. The caller's also starts programs, since they end with the thread that did so.
// Used once. Borrows all that it is given.
class ProgramRun {
 public:
  ProgramRun(AnalyserProcess& process, ResultCutter& cutter, const ProgramRunOptions& options)
      : cutter_(cutter), options_(options), process_(&process) {}
  ProgramRun(const ProgramRun&) = delete;
  ProgramRun& operator=(const ProgramRun&) = delete;

  // As Analyser::run().
  base::Status run(DocumentStream& documents, ResultStream& results);

 private:
  enum class Feeder : std::uint8_t {
    kWaiting,  // for a document
    kHolding,  // has one, and waits for a program whose input is open
    kWriting,
    kBroken,  // the program does not read any more. The thread has ended
    kEnded,   // there are no more documents, or they cannot be had. Likewise
  };

  // Of the thread that writes.
  void feed(DocumentStream& documents);
  AnalyserProcess* begin_document(std::uint64_t number) EXCLUDES(mutex_);
  bool end_document(const base::Result<bool>& written) EXCLUDES(mutex_);
  void end_feeding(base::Status status) EXCLUDES(mutex_);

  // Of the caller's.
  void abort(DocumentStream& documents) EXCLUDES(mutex_);
  base::Status take_results(ResultStream& results);
  base::Status take_output(AnalyserProcess& process, ResultStream& results);
  base::Status put_all(AnalyserProcess& process, std::string_view bytes, ResultStream& results);
  base::Result<std::uint64_t> take_number(const ResultCutter::Result& result) EXCLUDES(mutex_);
  base::Status check_cpu(const AnalyserProcess& process) EXCLUDES(mutex_);
  void look_for_silence(const AnalyserProcess& process) EXCLUDES(mutex_);
  base::Status judge_end(AnalyserProcess& process, ResultStream& results) EXCLUDES(mutex_);
  base::Result<bool> wait_for_more() EXCLUDES(mutex_);
  base::Status go_on() EXCLUDES(mutex_);
  AnalyserProcess& process() EXCLUDES(mutex_);
  bool has_unanswered() EXCLUDES(mutex_);
  bool may_end() EXCLUDES(mutex_);  // it has nothing left to do

  ResultCutter& cutter_;
  const ProgramRunOptions& options_;

  // What the program had done when it last said nothing.
  struct Silence {
    std::uint64_t given = 0;
    std::uint64_t cpu_ns = 0;
    int times = 0;  // in which nothing of this has changed
  };
  Silence silence_;
  bool is_batching_ = false;
  std::uint64_t answered_cpu_ns_ = 0;  // that it had used when it last answered

  base::Mutex mutex_;
  base::CondVar changed_;
  AnalyserProcess* process_ GUARDED_BY(mutex_);
  Feeder feeder_ GUARDED_BY(mutex_) = Feeder::kWaiting;
  base::Status feed_status_ GUARDED_BY(mutex_);
  std::deque<std::uint64_t> unanswered_ GUARDED_BY(mutex_);  // documents, in their order
  std::uint64_t given_ GUARDED_BY(mutex_) = 0;               // how many, in all
  bool is_input_closed_ GUARDED_BY(mutex_) = false;
  bool is_aborted_ GUARDED_BY(mutex_) = false;
};

}  // namespace meguri::scan
