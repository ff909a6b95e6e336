// SpeedArguments: how fast a program's clock runs, and since when, so that several can share one.
#pragma once

#include <memory>
#include <string>

#include "app/command_line.h"
#include "base/result.h"
#include "env/clock.h"

namespace meguri::app {

class SpeedArguments {
 public:
  void declare(Options options);
  base::Result<std::unique_ptr<env::Clock>> make() const;

 private:
  std::string speed_;
  std::string origin_;
};

}  // namespace meguri::app
