// From the lines of robots.txt to the rules that hold for us. Used by Robots::parse().
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "web/robots.h"
#include "web/robots_lines.h"
#include "web/robots_rules.h"

namespace meguri::web {

// What a robots.txt says to `agent`.
struct RobotsFile {
  std::vector<RobotsRule> own = {};  // of the group that holds for us
  std::vector<RobotsRule> others =
      {};  // RobotsScope::kAnyAgent: the Disallow lines of all other groups
  std::optional<base::Duration> crawl_delay = {};
  std::vector<std::string> sitemaps = {};
  RobotsFlags flags = {};
};

RobotsFile parse_robots_file(std::string_view bytes, std::string_view agent, RobotsScope scope);

}  // namespace meguri::web
