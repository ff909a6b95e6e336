// AnalyserProcess: a program that was started with pipes at its standard input and output.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/mutex.h"
#include "base/result.h"
#include "scan/limits.h"

namespace meguri::scan {

struct AnalyserProcessSettings {
  std::vector<std::string> arguments;         // the program first, looked up as shells do
  std::vector<std::string> environment = {};  // "NAME=value", beside what this process has
  std::uint64_t memory_max = 0;               // of its address space, in bytes; 0: no limit
  const NetworkFilter* filter = nullptr;
};

// Killed and reaped by its destructor, and by the system if the thread that started it ends. What
// it says on standard error goes to ours. One thread writes and one reads; unless a call says that
// any thread may call it, it is the reader's.
class AnalyserProcess {
 public:
  // An error says why it cannot be started: "cannot start 'jqq': No such file or directory". The
  // standard descriptors of this process are open.
  static base::Result<std::unique_ptr<AnalyserProcess>> start(
      const AnalyserProcessSettings& settings);
  AnalyserProcess(const AnalyserProcess&) = delete;
  AnalyserProcess& operator=(const AnalyserProcess&) = delete;
  ~AnalyserProcess();

  // Both parts, one behind the other; waits until it has taken them. False: it does not read any
  // more, or stop_writing() was called. Requires that SIGPIPE is blocked in this thread.
  bool write(std::string_view first, std::string_view second = {});
  // Now or later write() does not wait. Any thread.
  void stop_writing();
  // Its input ends here. Any thread, but not while another is in write().
  void close_input();
  // Whether it has read all that was written. Requires that the input is not closed.
  bool has_read_all() const;

  enum class Event : std::uint8_t { kBytes, kEnd, kNothing };
  // Up to kReadBytes of its output into `out` (replaced). kNothing: none came within this time;
  // negative: wait for ever. An error is the machine's.
  base::Result<Event> read(int timeout_ms, std::string& out);

  void kill();  // any thread
  // Waits for its end. What it did wrong: "it was ended by signal 11 (SIGSEGV)"; empty: nothing.
  std::string wait();
  // The same, but it is killed if it does not end within about a second.
  std::string wait_a_little();

  // That it has used, with its children after wait(). Any thread.
  std::uint64_t cpu_ns() const EXCLUDES(mutex_);

  static constexpr std::size_t kReadBytes = std::size_t{256} << 10U;

 private:
  AnalyserProcess(pid_t id, int input, int output, int wake)
      : id_(id), input_(input), output_(output), wake_(wake) {}
  bool wait_for_room() const;
  void reap() EXCLUDES(mutex_);

  const pid_t id_;
  int input_;  // -1: closed
  const int output_;
  const int wake_;  // readable when write() must not wait
  mutable base::Mutex mutex_;
  bool is_reaped_ GUARDED_BY(mutex_) = false;  // the number may be another's
  int status_ GUARDED_BY(mutex_) = 0;
  std::uint64_t cpu_ns_ GUARDED_BY(mutex_) = 0;  // when it was reaped
};

}  // namespace meguri::scan
