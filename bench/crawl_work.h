// A crawl as the product makes it, without its waits, in a child process; and the sample of pages
// that peers fetch.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bench/process.h"
#include "sim/world.h"

namespace meguri::bench {

struct CrawlLoad {
  std::uint64_t servers = 2'000;  // and as many hosts
  std::uint64_t pages = 200'000;
  std::size_t sample = 5'000;  // pages for the peers

  sim::World world() const;
  std::vector<std::string> web_arguments(const std::string& ca_file) const;
};

// Of one crawl, everything on.
struct CrawlCost {
  struct Module {
    std::string name;
    double seconds;  // of CPU
  };

  double pages = 0;   // answered with content, which was stored
  double visits = 0;  // of pages, with any outcome
  double offers = 0;  // candidates that documents named
  double epochs = 0;
  double seconds = 0;  // of real time
  double cpu_seconds = 0;
  double peak_mb = 0;
  double warc_mb = 0;
  std::vector<Module> modules;
};

base::Result<CrawlCost> measure_crawl(const WebProcess& web, bool is_https,
                                      const std::string& ca_file, const std::string& archive);

// Some of its pages.
struct SamplePage {
  std::string host;
  std::string target;
};
std::vector<SamplePage> sample_pages(const CrawlLoad& load);

}  // namespace meguri::bench
