// NetworkArguments: how a command reaches the web: as whom, through which name servers, and where
// it may connect to.
#pragma once

#include <string>
#include <vector>

#include "app/command_line.h"
#include "base/result.h"
#include "env/file_system.h"
#include "fetch/ares_dns.h"
#include "fetch/curl_http_client.h"

namespace meguri::app {

class NetworkArguments {
 public:
  void declare(Options options);

  std::string user_agent() const;  // as given, or the program's own
  // kInvalid: an argument is none that can be used.
  base::Result<fetch::CurlOptions> http(env::FileSystem& files) const;
  fetch::AresOptions names() const;

 private:
  std::string user_agent_;
  std::vector<std::string> dns_;
  std::vector<std::string> networks_;
  std::string ca_;
};

}  // namespace meguri::app
