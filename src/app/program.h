// The program `meguri`, from its arguments to its exit code.
#pragma once

#include <string>
#include <vector>

namespace meguri::app {

// `arguments` are those after the program's name.
int run_program(std::vector<std::string> arguments);

}  // namespace meguri::app
