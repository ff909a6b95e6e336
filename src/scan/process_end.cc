#include "scan/process_end.h"

#include <fmt/format.h>
#include <sys/wait.h>

#include <cstring>

namespace meguri::scan {

std::string describe_end(int status) {
  if (!WIFSIGNALED(status)) {
    return fmt::format("it ended with exit status {}", WEXITSTATUS(status));
  }
  const char* const name = ::sigabbrev_np(WTERMSIG(status));
  if (name == nullptr) return fmt::format("it was ended by signal {}", WTERMSIG(status));
  return fmt::format("it was ended by signal {} (SIG{})", WTERMSIG(status), name);
}

}  // namespace meguri::scan
