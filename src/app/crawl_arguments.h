// CrawlArguments: what the command line says of a crawl, joined with its file.
#pragma once

#include <deque>
#include <string>
#include <vector>

#include "app/command_line.h"
#include "app/crawl_config.h"
#include "app/crawl_graph.h"
#include "base/result.h"
#include "crawl/options.h"
#include "env/clock.h"
#include "env/file_system.h"

namespace meguri::app {

class CrawlArguments {
 public:
  void declare(Options options);

  // Whether only the file is to be written, and doing so: ARCHIVE/meguri.toml, if there is none
  // yet. Returns where it is.
  bool wants_init() const { return init_; }
  base::Result<std::string> init(const std::string& archive, env::FileSystem& files) const;

  // All that the crawl is told: the file that was named, or ARCHIVE/meguri.toml if there is one;
  // over it the command line; all seeds together. kInvalid: something in it cannot be used.
  base::Result<CrawlConfig> config(const std::string& archive, env::FileSystem& files) const;

  static base::Result<CrawlSeams> seams(const CrawlConfig& config, const env::Clock& clock,
                                        env::FileSystem& files, const std::string& state_dir);

 private:
  // An option, and what was said.
  struct Slot {
    const ConfigKey<CrawlConfig>* key = nullptr;
    bool flag = false;
    std::string text;
    std::vector<std::string> list;
  };

  base::Status read_file(const std::string& archive, env::FileSystem& files,
                         CrawlConfig& config) const;
  base::Status read_options(CrawlConfig& config) const;
  base::Status add_seeds(const std::string& archive, env::FileSystem& files,
                         CrawlConfig& config) const;

  std::vector<std::string> seeds_;
  std::string seeds_file_;
  std::string config_file_;
  bool init_ = false;
  std::deque<Slot> slots_;  // which stay where they are
};

}  // namespace meguri::app
