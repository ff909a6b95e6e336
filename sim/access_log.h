// The access log of a virtual web, as its servers saw it: one line for each request.
//
//   arrival <TAB> end <TAB> server <TAB> host <TAB> target <TAB> status <TAB> bytes
//
// Times are milliseconds of UTC since 1970: when the request had arrived, and just before the last
// bytes of the answer were handed over. The server is its address. Lines that begin with '#' are
// remarks.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"

namespace meguri::sim {

struct Access {
  base::Instant arrival;
  base::Instant end;
  std::string server;
  std::string host;
  std::string target;  // path and query
  int status = 0;
  std::uint64_t bytes = 0;

  friend bool operator==(const Access&, const Access&) = default;
};

// One line with its line end. Tabs, line ends and backslashes in texts are escaped.
std::string to_line(const Access& access);

// kCorrupt with the reason if `line` is none; the line may end with LF.
base::Result<Access> parse_access(std::string_view line);

// A whole log; errors name the line.
base::Result<std::vector<Access>> parse_access_log(std::string_view text);

}  // namespace meguri::sim
