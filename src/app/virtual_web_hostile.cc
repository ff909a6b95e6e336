#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <string>

#include "app/virtual_web.h"
#include "sim/hostile.h"

namespace meguri::app {

void VirtualWebHostile::declare(Options options) {
  options.flag("--json", json_, "Print one JSON object for each");
}

base::Status VirtualWebHostile::run(Output& out) {
  for (const sim::HostileHabit& habit : sim::hostile_habits()) {
    if (json_) {
      out.print("{}\n", nlohmann::json{{"name", habit.name},
                                       {"host", sim::HostileWeb::host_of(habit)},
                                       {"what", habit.sentence}}
                            .dump());
    } else {
      out.print("{:<25}{}\n", habit.name, habit.sentence);
    }
  }
  return {};
}

}  // namespace meguri::app
