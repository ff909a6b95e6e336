// WorldArguments: the options that say which virtual web is meant, shared by all that speak of one.
#pragma once

#include <string>
#include <vector>

#include "app/command_line.h"
#include "base/result.h"
#include "env/file_system.h"
#include "sim/world.h"

namespace meguri::app {

// Declared once, then read after the parse. The same arguments give the same web.
class WorldArguments {
 public:
  void declare(Options options);
  base::Result<sim::WorldOptions> read(env::FileSystem& files) const;

 private:
  base::Result<std::vector<std::string>> read_hostile() const;

  std::string hosts_;
  std::string pages_;
  std::string seed_;
  std::string servers_;
  std::string size_exponent_;
  std::string start_;
  std::string delay_;
  std::string copies_until_;
  bool no_crawl_delay_ = false;
  std::string trace_;
  std::string graph_;
  bool still_ = false;
  bool sound_ = false;
  std::string hostile_;
  std::string lists_;
};

}  // namespace meguri::app
