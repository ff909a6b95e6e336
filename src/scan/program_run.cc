#include "scan/program_run.h"

#include <csignal>
#include <optional>
#include <string_view>
#include <thread>
#include <utility>

namespace meguri::scan {

namespace {

using base::ErrorCode;
using base::MutexLock;
using Event = AnalyserProcess::Event;

// How long output is waited for at a time, and how often in vain before a program counts as silent.
constexpr int kPollMs = 100;
constexpr int kBatchPollMs = 10;
constexpr int kSilentPolls = 10;
constexpr int kBatchSilentPolls = 1;
constexpr std::uint64_t kSecondNs = 1'000'000'000;

// A program that ends must not end us: write() tells it.
void block_pipe_signal() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGPIPE);
  ::pthread_sigmask(SIG_BLOCK, &signals, nullptr);
}

std::unexpected<base::Error> closed_early() {
  return base::fail(ErrorCode::kFailed, "it closed its output before all results");
}

}  // namespace

base::Status ProgramRun::run(DocumentStream& documents, ResultStream& results) {
  std::thread feeder([this, &documents] { feed(documents); });
  base::Status status = take_results(results);
  if (!status) abort(documents);
  feeder.join();
  return status;
}

void ProgramRun::feed(DocumentStream& documents) {
  block_pipe_signal();
  for (;;) {
    const auto document = documents.next();
    if (!document || !*document) {
      return end_feeding(document ? base::Status() : std::unexpected(document.error()));
    }
    AnalyserProcess* const process = begin_document((*document)->facts.number);
    if (process == nullptr || !end_document(options_.write(*process, **document))) return;
  }
}

// The process to write to. Null: nobody wants the document any more.
AnalyserProcess* ProgramRun::begin_document(std::uint64_t number) {
  const MutexLock lock(mutex_);
  feeder_ = Feeder::kHolding;
  changed_.notify_all();
  while (is_input_closed_ && !is_aborted_) changed_.wait(mutex_);
  if (is_aborted_) return nullptr;
  feeder_ = Feeder::kWriting;
  unanswered_.push_back(number);
  ++given_;
  return process_;
}

// False: no further document can be given.
bool ProgramRun::end_document(const base::Result<bool>& written) {
  const MutexLock lock(mutex_);
  const bool goes_on = written && *written;
  feeder_ = goes_on ? Feeder::kWaiting : Feeder::kBroken;
  if (!written) {
    feed_status_ = std::unexpected(written.error());
    process_->kill();
  }
  changed_.notify_all();
  return goes_on;
}

void ProgramRun::end_feeding(base::Status status) {
  const MutexLock lock(mutex_);
  feeder_ = Feeder::kEnded;
  if (!status) process_->kill();
  feed_status_ = std::move(status);
  if (!std::exchange(is_input_closed_, true)) process_->close_input();
  changed_.notify_all();
}

void ProgramRun::abort(DocumentStream& documents) {
  documents.stop();
  const MutexLock lock(mutex_);
  is_aborted_ = true;
  process_->kill();
  process_->stop_writing();
  changed_.notify_all();
}

base::Status ProgramRun::take_results(ResultStream& results) {
  for (;;) {
    AnalyserProcess& process = this->process();
    RETURN_IF_ERROR(take_output(process, results));
    RETURN_IF_ERROR(judge_end(process, results));
    ASSIGN_OR_RETURN(const bool has_more, wait_for_more());
    if (!has_more) return {};
    RETURN_IF_ERROR(go_on());
  }
}

// Until it ends.
base::Status ProgramRun::take_output(AnalyserProcess& process, ResultStream& results) {
  std::string bytes;
  for (;;) {
    int timeout_ms = options_.may_hold_back || options_.cpu_seconds_max > 0 ? kPollMs : -1;
    if (is_batching_) timeout_ms = kBatchPollMs;
    ASSIGN_OR_RETURN(const Event event, process.read(timeout_ms, bytes));
    if (event == Event::kEnd) return {};
    if (event == Event::kBytes) {
      silence_.times = 0;
      RETURN_IF_ERROR(put_all(process, bytes, results));
    } else if (options_.may_hold_back) {
      look_for_silence(process);
    }
    RETURN_IF_ERROR(check_cpu(process));
  }
}

base::Status ProgramRun::put_all(AnalyserProcess& process, std::string_view bytes,
                                 ResultStream& results) {
  while (!bytes.empty()) {
    ASSIGN_OR_RETURN(const auto result, cutter_.next(bytes));
    if (!result) continue;
    ASSIGN_OR_RETURN(const std::uint64_t number, take_number(*result));
    RETURN_IF_ERROR(results.put(number, result->bytes));
    if (options_.cpu_seconds_max > 0) answered_cpu_ns_ = process.cpu_ns();
  }
  return {};
}

// The document that a result is of.
base::Result<std::uint64_t> ProgramRun::take_number(const ResultCutter::Result& result) {
  const MutexLock lock(mutex_);
  if (unanswered_.empty()) {
    return base::fail(ErrorCode::kFailed, "it wrote more results than it was given documents");
  }
  const std::uint64_t number = unanswered_.front();
  if (result.number && *result.number != number) {
    return base::fail(ErrorCode::kFailed,
                      "it wrote a result of document {} where that of document {} was expected",
                      *result.number, number);
  }
  unanswered_.pop_front();
  if (unanswered_.empty() && !is_input_closed_) is_batching_ = false;
  return number;
}

base::Status ProgramRun::check_cpu(const AnalyserProcess& process) {
  if (options_.cpu_seconds_max == 0 || !has_unanswered()) return {};
  const std::uint64_t used_ns = process.cpu_ns();
  if (used_ns < answered_cpu_ns_ ||
      (used_ns - answered_cpu_ns_) / kSecondNs < options_.cpu_seconds_max) {
    return {};
  }
  return base::fail(ErrorCode::kFailed, "it used more than {} s of CPU for one document",
                    options_.cpu_seconds_max);
}

// Closes the input of a program that seems to wait for more before it answers, while there is no
// more to give.
void ProgramRun::look_for_silence(const AnalyserProcess& process) {
  const MutexLock lock(mutex_);
  const std::uint64_t cpu_ns = process.cpu_ns();
  const bool is_silent = feeder_ == Feeder::kWaiting && !unanswered_.empty() && !is_input_closed_ &&
                         process.has_read_all() && silence_.given == given_ &&
                         silence_.cpu_ns == cpu_ns;
  silence_ = {.given = given_, .cpu_ns = cpu_ns, .times = is_silent ? silence_.times + 1 : 0};
  if (silence_.times < (is_batching_ ? kBatchSilentPolls : kSilentPolls)) return;
  is_input_closed_ = true;
  is_batching_ = true;
  process_->close_input();
}

// After its output has ended: an error says what was wrong with that.
base::Status ProgramRun::judge_end(AnalyserProcess& process, ResultStream& results) {
  const std::string fault = may_end() ? process.wait() : process.wait_a_little();
  {
    const MutexLock lock(mutex_);
    RETURN_IF_ERROR(feed_status_);
  }
  if (!fault.empty()) return base::fail(ErrorCode::kFailed, "{}", fault);
  ASSIGN_OR_RETURN(const auto last, cutter_.finish());
  if (last) {
    ASSIGN_OR_RETURN(const std::uint64_t number, take_number(*last));
    RETURN_IF_ERROR(results.put(number, last->bytes));
  }
  if (!has_unanswered()) return {};
  return closed_early();
}

// The program has ended, and well. Whether there are documents for another one.
base::Result<bool> ProgramRun::wait_for_more() {
  const MutexLock lock(mutex_);
  while (unanswered_.empty() && (feeder_ == Feeder::kWaiting || feeder_ == Feeder::kWriting)) {
    changed_.wait(mutex_);
  }
  RETURN_IF_ERROR(feed_status_);
  if (!unanswered_.empty() || feeder_ == Feeder::kBroken) {
    return closed_early();
  }
  return feeder_ == Feeder::kHolding;
}

base::Status ProgramRun::go_on() {
  ASSIGN_OR_RETURN(AnalyserProcess* const process, options_.restart());
  answered_cpu_ns_ = 0;
  silence_ = {};
  const MutexLock lock(mutex_);
  process_ = process;
  is_input_closed_ = false;
  changed_.notify_all();
  return {};
}

AnalyserProcess& ProgramRun::process() {
  const MutexLock lock(mutex_);
  return *process_;
}

bool ProgramRun::may_end() {
  const MutexLock lock(mutex_);
  return unanswered_.empty() && is_input_closed_;
}

bool ProgramRun::has_unanswered() {
  const MutexLock lock(mutex_);
  return !unanswered_.empty();
}

}  // namespace meguri::scan
