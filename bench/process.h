// Processes that a benchmark starts and measures: what they cost, and the virtual web.
#pragma once

#include <sys/types.h>

#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/result.h"

namespace meguri::bench {

// What became of a child.
struct ChildEnd {
  bool is_good = false;    // it ended with 0
  double cpu_seconds = 0;  // in user mode and in the kernel, all its threads
  double peak_mb = 0;      // of memory
  std::string output;      // what it wrote to standard output
};

// Runs `work` in a child and waits for its end. The caller has one thread.
ChildEnd run_child(const std::function<int()>& work);
// The same of a program, which is looked for in PATH. Its error output is dropped.
ChildEnd run_program(const std::vector<std::string>& words);

// The folder that this program is in.
std::string program_folder();

// `meguri virtual-web` in a process of its own, until the destructor.
class WebProcess {
 public:
  // `arguments` besides those of ports; it listens where there is room.
  static base::Result<std::unique_ptr<WebProcess>> start(std::vector<std::string> arguments);
  WebProcess(const WebProcess&) = delete;
  WebProcess& operator=(const WebProcess&) = delete;
  ~WebProcess();

  int port() const { return ready_["port"].get<int>(); }
  int https_port() const { return ready_["https_port"].get<int>(); }
  std::string dns() const { return ready_["dns"].get<std::string>(); }
  std::string first() const { return ready_["first"].get<std::string>(); }  // a URL to begin with

 private:
  WebProcess(pid_t pid, nlohmann::json ready) : pid_(pid), ready_(std::move(ready)) {}

  const pid_t pid_;
  const nlohmann::json ready_;
};

}  // namespace meguri::bench
