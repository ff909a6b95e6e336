// How a process ended, for people.
#pragma once

#include <string>

namespace meguri::scan {

// "it ended with exit status 3", "it was ended by signal 11 (SIGSEGV)"; of what waitpid() said.
std::string describe_end(int status);

}  // namespace meguri::scan
