// What an analyser may do to the machine it runs on.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"

namespace meguri::scan {

struct ProcessLimits {
  std::uint64_t memory_max = 0;  // address space, bytes; 0: no limit
  bool has_network = false;      // else only sockets of this machine's file system (AF_UNIX)
};

// A filter of system calls, made before a fork and set after it, where little is allowed. With it
// socket() and socketpair() fail with EACCES but for AF_UNIX, io_uring_setup() with ENOSYS, and
// a program for another kind of processor, such as one of 32 bits, is ended by SIGSYS. Sockets that
// are open stay so. It keeps a careless program from the network, and is no prison: whoever may
// write to a socket in the file system may ask those who listen there.
// Thread-compatible.
class NetworkFilter {
 public:
  // Makes one. kFailed: this system has no such filters.
  static base::Result<NetworkFilter> make();
  NetworkFilter(NetworkFilter&&) noexcept;
  NetworkFilter& operator=(NetworkFilter&&) = delete;
  ~NetworkFilter();

  // Of this process, for ever and for all it starts. Async-signal-safe. False: errno says why.
  bool apply() const;

 private:
  struct Program;
  explicit NetworkFilter(Program* program) : program_(program) {}
  Program* program_;
};

// Whether a process of this build can have a limit of memory: not under a sanitizer, which maps
// terabytes for its shadow.
bool can_limit_memory();

// Of this process with all its threads, at once and for ever; for analysers that run in the worker.
// It leaves no core dumps either. Memory has a limit only where it can. kInvalid: the process has
// more already than it may; else an error says what the system does not allow.
base::Status apply_limits(const ProcessLimits& limits);

}  // namespace meguri::scan
