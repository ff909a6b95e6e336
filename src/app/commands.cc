#include "app/command.h"

namespace meguri::app {

namespace {

constexpr CommandEntry kCommands[] = {
    {"bench", "Measure a part of the program on this machine", "meguri bench flow --quick",
     make_bench_command},
    {"version", "Say which version this is", "meguri version --json", make_version_command},
};

}  // namespace

std::span<const CommandEntry> commands() { return kCommands; }

}  // namespace meguri::app
