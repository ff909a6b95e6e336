#include "app/crawl_arguments.h"

#include <fmt/format.h>

#include <string_view>
#include <utility>

#include "app/added_seeds.h"
#include "app/input.h"
#include "fetch/ares_dns.h"
#include "fetch/curl_http_client.h"

namespace meguri::app {

namespace {

constexpr std::string_view kConfigName = "/meguri.toml";

// "Follow so many links from a seed (default: 100)"
std::string help_of(const ConfigKey<CrawlConfig>& key) {
  CrawlConfig defaults;
  std::string value = toml_of(key.field(defaults)).value_or(std::string(key.sample));
  std::erase(value, '"');
  if (value.empty() || value == "0" || value == "[]" || value == "false" || value == "0s") {
    return std::string(key.help);
  }
  return fmt::format("{} (default: {})", key.help, value);
}

void append(std::vector<std::string>& to, const std::vector<std::string>& more) {
  to.insert(to.end(), more.begin(), more.end());
}

}  // namespace

void CrawlArguments::declare(Options options) {
  options.any_arguments("SEED", seeds_, "URLs to begin with");
  options.option("--seeds", "FILE", seeds_file_, "More of them, one a line; - is standard input");
  options.option("--config", "FILE", config_file_,
                 "What the crawl is told, instead of DIR/meguri.toml");
  options.flag("--init", init_, "Write DIR/meguri.toml, with every key explained, and end");
  for (const ConfigKey<CrawlConfig>& key : crawl_keys()) {
    if (key.option.empty()) continue;
    CrawlConfig defaults;
    Slot& slot = slots_.emplace_back();
    slot.key = &key;
    const std::string name(key.option);
    const std::string type(key.type);
    switch (shape_of(key.field(defaults))) {
      case ConfigShape::kBoolean: options.flag(name, slot.flag, help_of(key)); break;
      case ConfigShape::kList: options.list(name, type, slot.list, help_of(key)); break;
      default: options.option(name, type, slot.text, help_of(key)); break;
    }
  }
}

base::Result<std::string> CrawlArguments::init(const std::string& archive,
                                               env::FileSystem& files) const {
  std::string path = archive + std::string(kConfigName);
  ASSIGN_OR_RETURN(const bool exists, files.exists(path));
  if (exists) {
    return base::fail(base::ErrorCode::kExists, "{} is there already; it is left as it is", path);
  }
  CrawlConfig config;
  config.crawl.seeds = seeds_;
  if (!seeds_file_.empty()) {
    ASSIGN_OR_RETURN(const Input input, read_input(seeds_file_));
    ASSIGN_OR_RETURN(const auto more, read_seeds(input.bytes, seeds_file_));
    append(config.crawl.seeds, more);
  }
  RETURN_IF_ERROR(complete(config, archive));
  RETURN_IF_ERROR(files.make_dirs(archive));
  RETURN_IF_ERROR(env::write_file_atomically(files, path, config_example(config.crawl.seeds)));
  return path;
}

base::Result<CrawlConfig> CrawlArguments::config(const std::string& archive,
                                                 env::FileSystem& files) const {
  CrawlConfig config;
  RETURN_IF_ERROR(read_file(archive, files, config));
  RETURN_IF_ERROR(read_options(config));
  RETURN_IF_ERROR(add_seeds(archive, files, config));
  RETURN_IF_ERROR(complete(config, archive));
  if (config.crawl.seeds.empty()) {
    return base::fail(base::ErrorCode::kInvalid,
                      "there are no seeds; name URLs to begin with, or a file of them by --seeds");
  }
  return config;
}

base::Status CrawlArguments::read_file(const std::string& archive, env::FileSystem& files,
                                       CrawlConfig& config) const {
  std::string path = config_file_;
  if (path.empty()) {
    path = archive + std::string(kConfigName);
    ASSIGN_OR_RETURN(const bool exists, files.exists(path));
    if (!exists) return {};
  }
  ASSIGN_OR_RETURN(const std::string text, env::read_file(files, path));
  RETURN_IF_ERROR(read_config(text, path, config));
  // Files that it names stand beside it.
  const std::size_t slash = path.rfind('/');
  const std::string folder = slash == path.npos ? "" : path.substr(0, slash + 1);
  for (std::string* const named : {&config.ca_file, &config.crawl.scope.exclusion_file}) {
    if (!named->empty() && !named->starts_with('/')) *named = folder + *named;
  }
  for (std::string& named : config.history) {
    if (!named.starts_with('/')) named = folder + named;
  }
  return {};
}

base::Status CrawlArguments::read_options(CrawlConfig& config) const {
  for (const Slot& slot : slots_) {
    const ConfigKey<CrawlConfig>& key = *slot.key;
    if (slot.flag) RETURN_IF_ERROR(set_key(key, config, key.option, "true"));
    if (!slot.text.empty()) RETURN_IF_ERROR(set_key(key, config, key.option, slot.text));
    if (!slot.list.empty()) clear_list(key.field(config));
    for (const std::string& text : slot.list) {
      RETURN_IF_ERROR(set_key(key, config, key.option, text));
    }
  }
  return {};
}

base::Status CrawlArguments::add_seeds(const std::string& archive, env::FileSystem& files,
                                       CrawlConfig& config) const {
  append(config.crawl.seeds, seeds_);
  if (!seeds_file_.empty()) {
    ASSIGN_OR_RETURN(const Input input, read_input(seeds_file_));
    ASSIGN_OR_RETURN(const auto more, read_seeds(input.bytes, seeds_file_));
    append(config.crawl.seeds, more);
  }
  ASSIGN_OR_RETURN(const auto more, read_added_seeds(files, archive));
  append(config.crawl.seeds, more);
  return {};
}

base::Result<CrawlSeams> CrawlArguments::seams(const CrawlConfig& config, const env::Clock& clock,
                                               env::FileSystem& files,
                                               const std::string& state_dir) {
  CrawlSeams seams;
  ASSIGN_OR_RETURN(seams.addresses, fetch::AddressPolicy::parse(config.allowed_networks));
  fetch::CurlOptions http;
  http.policy = seams.addresses;
  http.in_flight_max = config.crawl.connections_max;
  seams.spool = make_spool(config.crawl, files, state_dir);
  http.spool = seams.spool;
  if (!config.ca_file.empty()) {
    ASSIGN_OR_RETURN(http.extra_ca_pem, env::read_file(files, config.ca_file));
  }
  fetch::AresOptions names;
  names.servers = config.dns_servers;
  // Made once to find what is wrong with the options; a module cannot say it so well.
  ASSIGN_OR_RETURN(const auto tried_http, fetch::make_curl_http_client(clock, http));
  ASSIGN_OR_RETURN(const auto tried_names, fetch::make_ares_dns(clock, names));
  seams.make_http = [http](const env::Clock& own) {
    return fetch::make_curl_http_client(own, http).value();
  };
  seams.make_dns = [names](const env::Clock& own) {
    return fetch::make_ares_dns(own, names).value();
  };
  return seams;
}

}  // namespace meguri::app
