#ifdef MEGURI_MIMALLOC
#include <mimalloc.h>
#endif

#include <csignal>
#include <cstdio>
#include <exception>

#include "app/command_line.h"
#include "app/program.h"
#include "app/scan_run.h"

int main(int argc, char** argv) {
#ifdef MEGURI_MIMALLOC
  // What is freed goes back to the system at once: a large document now and then would else be held
  // on to. That saves a crawl some 20 MB and costs it hardly any time. A worker of a scan has one
  // document after the other, and would have to ask for its memory again each time.
  const bool is_worker = argc > 1 && argv[1] == meguri::app::kScanWorker;
  if (!is_worker) mi_option_set(mi_option_decommit_delay, 0);
#endif
  // A reader that goes away is an error of write(), which Output understands, not a death.
  std::signal(SIGPIPE, SIG_IGN);
  try {
    return meguri::app::run_program({argv + 1, argv + argc});
  } catch (const std::exception& error) {
    std::fprintf(stderr, "meguri: stopped by an unexpected failure: %s.\n", error.what());
    return meguri::app::kExitFailed;
  }
}
