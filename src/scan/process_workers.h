// ProcessWorkers: workers as processes of this machine, each with a socket to us.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "scan/workers.h"

namespace meguri::scan {

// The descriptor of the socket in a worker's process. Its standard output and error come to us,
// too.
inline constexpr int kWorkerDescriptor = 3;

struct ProcessWorkersOptions {
  std::string program;                 // whose path is started
  std::vector<std::string> arguments;  // behind its name
  std::size_t workers = 1;
  bool shows_errors = false;  // what they say on standard error goes on to ours
};

// Each is in a process group of its own, so that a signal of the terminal reaches us alone, and its
// end is that of all in the group. If we die, so do they.
class ProcessWorkers final : public Workers {
 public:
  static constexpr std::size_t kSaidBytesMax = 4096;

  explicit ProcessWorkers(ProcessWorkersOptions options);
  ~ProcessWorkers() override;

  base::Status start(std::size_t worker) override;
  std::size_t send(std::size_t worker, std::string_view bytes) override;
  void kill(std::size_t worker) override;
  base::Status wait(base::Duration limit, const std::vector<bool>& wanted,
                    std::vector<WorkerEvent>& events) override;
  void rest(base::Duration duration) override;

 private:
  struct Process {
    pid_t id = 0;      // 0: none runs
    int handle = -1;   // of the process, readable when it has ended
    int socket = -1;   // -1: it closed its end
    int errors = -1;   // likewise
    std::string said;  // the last of it
  };

  bool read_socket(std::size_t worker, std::vector<WorkerEvent>& events);
  bool read_errors(Process& process);
  void end(std::size_t worker, std::vector<WorkerEvent>& events);

  const ProcessWorkersOptions options_;
  std::vector<Process> processes_;
  std::string buffer_;
};

}  // namespace meguri::scan
