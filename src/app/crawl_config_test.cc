#include "app/crawl_config.h"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "app/values.h"
#include "crawl/host_rules.h"

namespace meguri::app {
namespace {

// All keys of a config with their values.
std::vector<std::string> values_of(CrawlConfig& config) {
  std::vector<std::string> values;
  for (const auto& key : crawl_keys()) {
    values.push_back(std::string(key.table) + "." + std::string(key.name) + " = " +
                     toml_of(key.field(config)).value_or(std::string(key.sample)));
  }
  return values;
}

CrawlConfig read(std::string_view text) {
  CrawlConfig config;
  const auto status = read_config(text, "f.toml", config);
  EXPECT_TRUE(status) << (status ? "" : status.error().message());
  return config;
}

std::string error_of(std::string_view text) {
  CrawlConfig config;
  const auto status = read_config(text, "f.toml", config);
  if (status) return "no error";
  EXPECT_EQ(status.error().code(), base::ErrorCode::kInvalid);
  return status.error().message();
}

// Takes the '#' before every key away.
std::string uncommented(const std::string& text) {
  std::string all;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = text.find('\n', begin);
    std::string line = text.substr(begin, end - begin);
    if (line.size() > 1 && line[0] == '#' && line[1] != ' ') line.erase(0, 1);
    all += line + "\n";
    begin = end + 1;
  }
  return all;
}

TEST(CrawlConfig, TheExampleIsTheDefaults) {
  CrawlConfig defaults;
  CrawlConfig example = read(config_example({}));
  EXPECT_EQ(values_of(example), values_of(defaults));
  EXPECT_TRUE(example.crawl.hosts.empty());
  ASSERT_TRUE(complete(example, "a"));
  ASSERT_TRUE(complete(defaults, "a"));
  EXPECT_EQ(example.crawl.access.host_wait_ms_min, crawl::AccessLimits().host_wait_ms_min);
}

TEST(CrawlConfig, TheExampleWithEveryLineTakenInIsTheDefaultsToo) {
  CrawlConfig defaults;
  CrawlConfig example = read(uncommented(config_example({})));
  EXPECT_EQ(values_of(example), values_of(defaults));
  ASSERT_EQ(example.crawl.hosts.size(), 1U);
  ASSERT_TRUE(complete(example, "a"));
  EXPECT_EQ(example.crawl.access.host_wait_ms_min, crawl::AccessLimits().host_wait_ms_min)
      << "the delay in the example is the default";
}

TEST(CrawlConfig, TheExampleHasEveryKeyOnceInItsTable) {
  const std::string text = uncommented(config_example({}));
  std::set<std::pair<std::string_view, std::string_view>> seen;
  for (const auto& key : crawl_keys()) {
    EXPECT_TRUE(seen.emplace(key.table, key.name).second) << key.name;
    EXPECT_NE(text.find("\n" + std::string(key.name) + " = "), text.npos) << key.name;
    EXPECT_FALSE(key.help.empty() || key.help.ends_with('.')) << key.name;
  }
  for (const auto& key : host_keys()) {
    EXPECT_NE(text.find("\n" + std::string(key.name) + " = "), text.npos) << key.name;
  }
}

TEST(CrawlConfig, TheExampleHoldsTheSeeds) {
  const std::vector<std::string> seeds = {"http://a.test/", "http://b.test/?q=\"x\\y\""};
  EXPECT_EQ(read(config_example(seeds)).crawl.seeds, seeds);
}

TEST(CrawlConfig, ReadsEveryKindOfValue) {
  const CrawlConfig config = read(R"(
seeds = ["http://a.test/", 'http://b.test/']
contact = "me@example.org"
once = true
for = "10m"
[scope]
within = "domain"
include = "only this"
max_depth = 3
max_redirects = 4
[limits]
max_pages = "10k"
max_pages_per_host = 1_000
body_size = "1GiB"
html_size = "1500"
connect_time = "1500ms"
[politeness]
delay = "2s"
server_gap = "0s"
server_requests = 4
schedule = "lists"
[robots]
obey = false
max_age = "1h"
[network]
http_port = 8080
[archive]
disk_floor = "10MB"
)");
  EXPECT_EQ(config.crawl.seeds.size(), 2U);
  EXPECT_EQ(config.contact, "me@example.org");
  EXPECT_TRUE(config.once);
  EXPECT_EQ(config.time_max, base::Duration::minutes(10));
  EXPECT_EQ(config.crawl.scope.scope, crawl::Scope::kDomain);
  EXPECT_EQ(config.crawl.scope.includes, std::vector<std::string>{"only this"});
  EXPECT_EQ(config.crawl.scope.depth_max, 3U);
  EXPECT_EQ(config.crawl.scope.hops_max, 4U);
  EXPECT_EQ(config.crawl.pages_max, 10'000U);
  EXPECT_EQ(config.crawl.pages_per_host_max, 1000U);
  EXPECT_EQ(config.crawl.fetch.body_bytes_max, 1ULL << 30U);
  EXPECT_EQ(config.crawl.fetch.html_bytes_max, 1500U);
  EXPECT_EQ(config.crawl.fetch.connect, base::Duration::from_ms(1500));
  EXPECT_EQ(config.delay_ms, 2000U);
  EXPECT_EQ(config.crawl.access.server_gap_ms, 0U);
  EXPECT_EQ(config.crawl.access.server_requests_max, 4U);
  EXPECT_EQ(config.crawl.schedule, crawl::AccessScheduleKind::kLists);
  EXPECT_FALSE(config.crawl.obeys_robots);
  EXPECT_EQ(config.crawl.http_port, 8080U);
  EXPECT_EQ(config.crawl.disk_free_min, 10'000'000U);
}

TEST(CrawlConfig, ReadsWhatHoldsForSomeHosts) {
  const CrawlConfig config = read(R"(
[[host]]
match = "*.example.org"
delay = "500ms"
max_pages = 10
obey_robots = false
proxy = "socks5h://127.0.0.1:1080"
user_agent = "me"
fields = { Cookie = "a=b", Authorization = "Basic eA==" }
[[host]]
match = ["a.test", "b.test"]
skip = true
pause = true
)");
  ASSERT_EQ(config.crawl.hosts.size(), 2U);
  const crawl::HostRule& first = config.crawl.hosts[0];
  EXPECT_EQ(first.matches, std::vector<std::string>{"*.example.org"});
  EXPECT_EQ(first.wait_ms, 500U);
  EXPECT_EQ(first.pages_max, 10U);
  EXPECT_EQ(first.obeys_robots, false);
  EXPECT_EQ(first.proxy, "socks5h://127.0.0.1:1080");
  EXPECT_EQ(first.user_agent, "me");
  ASSERT_EQ(first.fields.size(), 2U);
  EXPECT_TRUE(first.fields[0].is_secret);
  EXPECT_FALSE(first.is_skipped);
  EXPECT_EQ(config.crawl.hosts[1].matches.size(), 2U);
  EXPECT_EQ(config.crawl.hosts[1].is_skipped, true);
}

TEST(CrawlConfig, SaysWhatIsWrongAndWhere) {
  const std::vector<std::pair<const char*, const char*>> cases = {
      {"\n[politeness]\ndelya = \"5s\"",
       "f.toml:3: unknown key 'delya' in [politeness] (did you mean 'delay'?)"},
      {"\ncontakt = \"\"", "f.toml:2: unknown key 'contakt' (did you mean 'contact'?)"},
      {"[politness]\ndelay = \"5s\"",
       "f.toml:1: unknown table 'politness' (did you mean 'politeness'?)"},
      {"[scope]\nmax_pages = 1",
       "f.toml:2: unknown key 'max_pages' in [scope] "
       "(it belongs in [limits])"},
      {"[scope]\nonce = true", "(it belongs before all tables)"},
      {"scope = \"host\"", "f.toml:1: scope is a table: write [scope]"},
      {"once = 1", "f.toml:1: once is true or false"},
      {"seeds = 5", "f.toml:1: seeds is a list of texts"},
      {"seeds = [\"a\", 5]", "f.toml:1: seeds is a list of texts"},
      {"contact = 5", "f.toml:1: contact is a text in quotes"},
      {"contact = \"nobody\"", "contact is an address such as mailto:"},
      {"[politeness]\ndelay = 5", "f.toml:2: delay is a text in quotes"},
      {"[politeness]\ndelay = \"soon\"", "f.toml:2: delay takes a duration such as"},
      {"[politeness]\ndelay = \"8d\"", "f.toml:2: delay is at most 7d"},
      {"[politeness]\nmanner = \"rude\"", "manner takes default or gentle, not \"rude\""},
      {"[politeness]\nserver_requests = 0", "server_requests is at least 1"},
      {"[politeness]\nserver_requests = 70000", "server_requests is at most 65535"},
      {"[limits]\nmax_pages = -1", "f.toml:2: max_pages takes a number such as"},
      {"[limits]\nmax_pages = 1.5", "f.toml:2: max_pages is a whole number"},
      {"[limits]\nbody_size = \"much\"", "body_size takes a size such as 10MB or 1GiB"},
      {"[scope]\nwithin = \"world\"", "within takes host, domain, prefix or any, not \"world\""},
      {"[scope]\nexclude = [\"a\", \"(\"]", "f.toml:2: exclude: "},
      {"[scope]\nlanguages = [\"ja\", \"jp\"]",
       "languages takes codes such as ja, de or zh-Hant, not \"jp\""},
      {"[scope]\nforeign_links = \"first\"", "foreign_links takes none or last, not \"first\""},
      {"[network]\nproxy = \"proxy.example.org\"", "f.toml:2: proxy is a URL such as"},
      {"[network]\nproxy = \"socks5://a:1\"", "neither http, https nor socks5h"},
      {"[network]\nproxy = \"http://a\"", "it has no port"},
      {"[network]\nallow_networks = [\"10.0.0.0/99\"]", "10.0.0.0/99"},
      {"[network]\nno_proxy = [\"http://a/\"]", "no_proxy takes hosts such as"},
      {"[archive]\nprefix = \"a/b\"", "prefix is up to 64 letters"},
      {"[robots]\nagent = \"two words\"", "agent is a name of letters"},
      {"[metrics]\nlisten = \"9464\"", "listen is an address and a port"},
      {"user_agent = \"a\\nb\"", "user_agent is one line"},
      {"[host]\nmatch = \"a.test\"", "f.toml:1: what holds for some hosts is written behind"},
      {"[[host]]\ndelay = \"1s\"", "f.toml:1: [[host]] needs match"},
      {"[[host]]\nmatch = \"a b\"", "f.toml:2: match takes hosts such as"},
      {"[[host]]\nmatch = \"a.test\"\ndelai = \"1s\"",
       "f.toml:3: unknown key 'delai' in [host] "
       "(did you mean 'delay'?)"},
      {"[[host]]\nmatch = \"a.test\"\nfields = \"Cookie\"", "f.toml:3: fields is a table such as"},
      {"[[host]]\nmatch = \"a.test\"\nfields = { Host = \"b\" }", "fields takes fields such as"},
      {"[[host]]\nmatch = \"a.test\"\nfields = { Cookie = \"a\\r\\nb\" }", "fields is one line"},
      {"once = tru", "f.toml:1: "},
      {"once = true\nonce = true", "f.toml:2: "},
      {"[scope", "f.toml:1: "},
  };
  for (const auto& [text, sentence] : cases) {
    const std::string error = error_of(text);
    EXPECT_NE(error.find(sentence), error.npos) << text << "\n" << error;
    EXPECT_TRUE(error.starts_with("f.toml:")) << error;
    EXPECT_EQ(error.find('\n'), error.npos) << error;
    EXPECT_FALSE(error.ends_with('.')) << error;
  }
}

TEST(CrawlConfig, GentleIsAMinuteUnlessADelayIsSaid) {
  CrawlConfig gentle = read("[politeness]\nmanner = \"gentle\"");
  ASSERT_TRUE(complete(gentle, "a"));
  EXPECT_EQ(gentle.crawl.access.host_wait_ms_min, 60'000U);
  EXPECT_EQ(gentle.crawl.large_host_pages, 10'000U);
  EXPECT_EQ(gentle.crawl.large_host_wait_ms, 5000U);
  CrawlConfig own = read("[politeness]\nmanner = \"gentle\"\ndelay = \"30s\"");
  ASSERT_TRUE(complete(own, "a"));
  EXPECT_EQ(own.crawl.access.host_wait_ms_min, 30'000U);
  CrawlConfig plain;
  ASSERT_TRUE(complete(plain, "a"));
  EXPECT_EQ(plain.crawl.large_host_pages, 0U);
}

TEST(CrawlConfig, TheUserAgentHoldsTheContact) {
  CrawlConfig config = read("contact = \"me@example.org\"\n[robots]\nagent = \"examplebot\"");
  ASSERT_TRUE(complete(config, "a"));
  EXPECT_NE(config.crawl.user_agent.find("(compatible; examplebot; meguri/"), std::string::npos);
  EXPECT_TRUE(config.crawl.user_agent.ends_with("; +mailto:me@example.org)"));
  EXPECT_EQ(config.crawl.warc.info.contact, "mailto:me@example.org");
  EXPECT_EQ(config.crawl.warc.info.user_agent, config.crawl.user_agent);
}

TEST(CrawlConfig, WarnsWhereNobodyIsNamed) {
  const auto warnings = [](std::string_view text) {
    CrawlConfig config = read(text);
    EXPECT_TRUE(complete(config, "a"));
    return warnings_of(config).size();
  };
  EXPECT_EQ(warnings("seeds = [\"https://www.example.com/\"]"), 1U);
  EXPECT_EQ(warnings("seeds = [\"https://www.example.com/\"]\ncontact = \"me@example.com\""), 0U);
  EXPECT_EQ(warnings("seeds = [\"https://www.example.com/\"]\nuser_agent = \"a (+http://b/)\""),
            0U);
  EXPECT_EQ(warnings("seeds = [\"http://www.a.test/\", \"http://127.0.0.1/\", \"http://box/\"]"),
            0U);
  EXPECT_EQ(warnings("seeds = [\"http://8.8.8.8/\"]"), 1U);
  EXPECT_EQ(warnings("[robots]\nobey = false"), 1U);
  EXPECT_EQ(warnings("[[host]]\nmatch = \"a.test\"\nobey_robots = false"), 1U);
}

TEST(CrawlConfig, ReadsListsOfSeeds) {
  const auto seeds = read_seeds("# mine\n\n http://a.test \r\nhttp://b.test/x#y", "seeds.txt");
  ASSERT_TRUE(seeds);
  EXPECT_EQ(*seeds, (std::vector<std::string>{"http://a.test/", "http://b.test/x"}));
  const auto wrong = read_seeds("http://a.test/\n\nftp://b.test/\n", "seeds.txt");
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error().message(), "seeds.txt:3: \"ftp://b.test/\" is no http or https URL");
}

TEST(CrawlConfig, JoinsEqualSeeds) {
  CrawlConfig config =
      read("seeds = [\"http://a.test\", \"http://A.test/#x\", \"http://b.test/\"]");
  ASSERT_TRUE(complete(config, "a"));
  EXPECT_EQ(config.crawl.seeds, (std::vector<std::string>{"http://a.test/", "http://b.test/"}));
  config.crawl.seeds.emplace_back("nonsense");
  EXPECT_FALSE(complete(config, "a"));
}

TEST(Values, ReadsSizes) {
  EXPECT_EQ(*parse_bytes("x", "512"), 512U);
  EXPECT_EQ(*parse_bytes("x", "512B"), 512U);
  EXPECT_EQ(*parse_bytes("x", "10kB"), 10'000U);
  EXPECT_EQ(*parse_bytes("x", "10KiB"), 10'240U);
  EXPECT_EQ(*parse_bytes("x", "3MB"), 3'000'000U);
  EXPECT_EQ(*parse_bytes("x", "1GiB"), 1ULL << 30U);
  EXPECT_EQ(*parse_bytes("x", "2TB"), 2'000'000'000'000U);
  for (const char* text : {"", "B", "iB", "1iB", "1.5MB", "-1", "1mb", "1 GB", "99999999999TB"}) {
    EXPECT_FALSE(parse_bytes("x", text)) << text;
  }
}

}  // namespace
}  // namespace meguri::app
