// CrawlArguments: what the command line says of a crawl, as options and seams.
#pragma once

#include <string>
#include <vector>

#include "app/command_line.h"
#include "app/crawl_graph.h"
#include "app/network_arguments.h"
#include "base/result.h"
#include "crawl/options.h"
#include "env/clock.h"
#include "env/file_system.h"

namespace meguri::app {

class CrawlArguments {
 public:
  void declare(Options options);

  // kInvalid: an argument is none that can be used.
  base::Result<crawl::CrawlOptions> options(const std::string& archive) const;
  base::Result<CrawlSeams> seams(const crawl::CrawlOptions& options, const env::Clock& clock,
                                 env::FileSystem& files) const;

 private:
  std::vector<std::string> seeds_;
  std::string scope_;
  std::vector<std::string> includes_;
  std::vector<std::string> excludes_;
  std::string pages_max_;
  std::string pages_per_host_max_;
  std::string depth_max_;
  std::string delay_;
  std::string server_gap_;
  NetworkArguments network_;
};

}  // namespace meguri::app
