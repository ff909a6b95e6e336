#include "bench/benches.h"

#include <array>

namespace meguri::bench {

namespace {

constexpr std::array kBenches = {
    Bench{"flow", "items per second through the flow runtime, against oneTBB", &run_flow},
};

}  // namespace

std::span<const Bench> benches() { return kBenches; }

}  // namespace meguri::bench
