// The commands within `meguri virtual-web`.
#pragma once

#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "app/command.h"
#include "app/speed_arguments.h"
#include "app/world_arguments.h"
#include "sim/checker.h"

namespace meguri::app {

// `check`: judges a crawler by the access log, and an archive by its captures.
class VirtualWebCheck final : public Command {
 public:
  void declare(Options options) override;
  base::Status run(Output& out) override;

 private:
  base::Result<sim::CheckOptions> read_options() const;
  base::Result<sim::CheckReport> check_log(const sim::World& world, env::FileSystem& files,
                                           nlohmann::json* result, Output& out);
  base::Status check_captures(const sim::World& world, env::FileSystem& files,
                              nlohmann::json* result, Output& out);

  WorldArguments world_;
  std::string log_;
  std::string captures_;
  std::string from_;
  std::string to_;
  std::string agent_;
  std::string host_gap_;
  std::string host_factor_;
  std::string server_gap_;
  std::string server_parallel_;
  std::string tolerance_;
  std::vector<std::string> seeds_;
  bool once_ = false;
  bool json_ = false;
};

// `hostile`: the hosts that mean harm, and what each does.
class VirtualWebHostile final : public Command {
 public:
  void declare(Options options) override;
  base::Status run(Output& out) override;

 private:
  bool json_ = false;
};

// `pages`: the truth, one line for each version of each page.
class VirtualWebPages final : public Command {
 public:
  void declare(Options options) override;
  base::Status run(Output& out) override;

 private:
  WorldArguments world_;
  SpeedArguments speed_;
  std::string from_;
  std::string until_;
  std::string port_;
  std::string agent_;
  std::vector<std::string> hosts_;
  std::vector<std::string> reachable_from_;
  bool https_ = false;
  bool same_host_ = false;
  bool everything_ = false;
  bool hints_ = false;
  bool sitemaps_ = false;
  bool json_ = false;
};

}  // namespace meguri::app
