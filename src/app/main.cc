#include <csignal>
#include <cstdio>
#include <exception>

#include "app/command_line.h"
#include "app/program.h"

int main(int argc, char** argv) {
  // A reader that goes away is an error of write(), which Output understands, not a death.
  std::signal(SIGPIPE, SIG_IGN);
  try {
    return meguri::app::run_program({argv + 1, argv + argc});
  } catch (const std::exception& error) {
    std::fprintf(stderr, "meguri: stopped by an unexpected failure: %s.\n", error.what());
    return meguri::app::kExitFailed;
  }
}
