// ChildProgram: this program once more, in a process of its own, with other arguments.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"

namespace meguri::app {

// Killed by its destructor if it still runs, and by the system if this process dies. It is in a
// process group of its own, so that Ctrl-C reaches this process alone, which decides.
// Thread-compatible.
class ChildProgram {
 public:
  // What it says goes to `out_path` and `error_path`, files that are made new. Requires that no
  // other thread of this process runs, since the child is a fork of it.
  static base::Result<ChildProgram> start(const std::vector<std::string>& arguments,
                                          const std::string& out_path,
                                          const std::string& error_path);

  ChildProgram(ChildProgram&& other) noexcept;
  ChildProgram& operator=(ChildProgram&&) = delete;
  ~ChildProgram();

  // Its exit code, 128 and the signal's number if one ended it; nullopt: it runs.
  std::optional<int> exit_code();
  void send(int signal) const;  // nothing if it has ended
  int wait();                   // until it ends; its exit code

 private:
  explicit ChildProgram(pid_t id) : id_(id) {}
  void take_status(int status);

  pid_t id_;  // 0: moved away
  std::optional<int> exit_code_;
};

}  // namespace meguri::app
