// CrawlConfig: what a crawl is told, by its file `meguri.toml` and by its command line. One table
// of keys says what there is to tell; reading, the example and the help all come from it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "app/config_field.h"
#include "base/result.h"
#include "base/time.h"
#include "crawl/options.h"

namespace meguri::app {

// Values before complete() are those that were told; after it the options of the crawl are whole.
struct CrawlConfig {
  crawl::CrawlOptions crawl;
  std::vector<std::string> history;  // paths of WARC files that tell of visits before this crawl
  bool once = false;
  base::Duration time_max;  // of real time that the crawl runs; zero: no limit
  std::string contact;      // "mailto:…" or a URL
  Politeness politeness = Politeness::kDefault;
  std::optional<std::uint32_t> delay_ms;  // unset: what politeness says
  std::vector<std::string> dns_servers;   // empty: the system's
  std::vector<std::string> allowed_networks;
  std::string ca_file;
  std::string metrics;  // where metrics are served, "127.0.0.1:9464"; empty: nowhere
};

// One key of the file. T is what its field is in: CrawlConfig, or crawl::HostRule for [[host]].
template <typename T>
struct ConfigKey {
  std::string_view table;   // "politeness"; empty: before all tables
  std::string_view name;    // "delay"
  std::string_view option;  // "--min-delay"; empty: only in the file
  std::string_view type;    // what the option's value is called in the help
  std::string_view help;    // one line, without a stop at its end
  ConfigField (*field)(T&);
  std::string_view sample = {};  // a value for the example, where the default is not set
  bool is_positive = false;      // zero is not allowed
  // What else can be wrong with the value; `name` begins the sentence.
  base::Status (*check)(std::string_view name, const T&) = nullptr;
};

std::span<const ConfigKey<CrawlConfig>> crawl_keys();
std::span<const ConfigKey<crawl::HostRule>> host_keys();

// Sets one key from a text; `name` is what sentences call it.
template <typename T>
base::Status set_key(const ConfigKey<T>& key, T& to, std::string_view name, std::string_view text) {
  const ConfigField field = key.field(to);
  RETURN_IF_ERROR(set_field(field, name, text));
  if (key.is_positive && toml_of(field) == "0") {
    return base::fail(base::ErrorCode::kInvalid, "{} is at least 1", name);
  }
  return key.check == nullptr ? base::Status() : key.check(name, to);
}

// Reads a file's text into `config`, over what is there. kInvalid: one sentence with the file, the
// line and, for a slip, what may be meant.
base::Status read_config(std::string_view text, const std::string& file, CrawlConfig& config);

// The file with every key, its default and its explanation, and these seeds. Defaults are commented
// out, without a blank behind the '#'.
std::string config_example(const std::vector<std::string>& seeds);

// Lines of a list of seeds: one URL each; empty ones and those that begin with '#' are passed over.
// kInvalid: a line is no URL; the sentence says which.
base::Result<std::vector<std::string>> read_seeds(std::string_view text, const std::string& file);

// Makes the options whole: canonical seeds, politeness, user agent, what WARC files say of us.
base::Status complete(CrawlConfig& config, const std::string& archive);

// What somebody should know before such a crawl begins, each one sentence. Of a whole config.
std::vector<std::string> warnings_of(const CrawlConfig& config);

}  // namespace meguri::app
