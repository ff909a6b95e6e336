#include "app/network_arguments.h"

#include <fmt/format.h>

#include "app/build_info.h"

namespace meguri::app {

void NetworkArguments::declare(Options options) {
  options.option("--user-agent", "TEXT", user_agent_, "Who visits; it should hold a contact");
  options.list("--dns", "HOST:PORT", dns_, "Ask this name server instead of the system's");
  options.list("--allow-network", "CIDR", networks_,
               "Visit hosts in this network though it is not public, such as 127.0.0.0/8");
  options.option("--ca", "FILE", ca_, "Trust the certificates in this PEM file too");
}

std::string NetworkArguments::user_agent() const {
  return user_agent_.empty() ? fmt::format("Mozilla/5.0 (compatible; meguri/{})", version())
                             : user_agent_;
}

base::Result<fetch::CurlOptions> NetworkArguments::http(env::FileSystem& files) const {
  fetch::CurlOptions options;
  ASSIGN_OR_RETURN(options.policy, fetch::AddressPolicy::parse(networks_));
  if (!ca_.empty()) {
    ASSIGN_OR_RETURN(options.extra_ca_pem, env::read_file(files, ca_));
  }
  return options;
}

fetch::AresOptions NetworkArguments::names() const {
  fetch::AresOptions options;
  options.servers = dns_;
  return options;
}

}  // namespace meguri::app
