#include "sim/census.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace meguri::sim {
namespace {

Census census_of(std::uint64_t hosts, std::uint64_t pages, std::uint64_t seed = 1) {
  CensusOptions options;
  options.seed = seed;
  options.hosts = hosts;
  options.pages = pages;
  return Census(options);
}

TEST(Census, NamesAreDifferentAndFindTheirHosts) {
  const Census census = census_of(3000, 10'000);
  std::set<std::string> names;
  for (HostNumber host = 0; host < census.hosts(); ++host) {
    const std::string name = census.name_of(host);
    EXPECT_TRUE(names.insert(name).second) << name;
    EXPECT_EQ(census.host_of_name(name), host) << name;
  }
  EXPECT_EQ(census.host_of_name("WWW." + census.name_of(0).substr(4) + "."), HostNumber{0});
}

TEST(Census, OtherNamesAreNobodys) {
  const Census census = census_of(10, 100);
  for (const std::string_view name :
       {"", ".", ".test", "www.test", "x.test", "www..test", "example.com", "www.bababa.tes",
        "www.zuzuzu.test", "ftp.bababa.test", "www.bababababababababa.test", "bababa.test.test"}) {
    EXPECT_FALSE(census.host_of_name(name)) << name;
  }
}

TEST(Census, SizesFollowAPowerLawAndSumUp) {
  const Census census = census_of(100'000, 10'000'000);
  EXPECT_NEAR(static_cast<double>(census.pages()), 1e7, 1e5);
  std::vector<std::uint64_t> sizes;
  std::uint64_t sum = 0;
  for (HostNumber host = 0; host < census.hosts(); ++host) {
    sizes.push_back(census.pages_of(host));
    sum += sizes.back();
    EXPECT_EQ(census.host_of_rank(census.rank_of(host)), host);
  }
  EXPECT_EQ(sum, census.pages());
  std::ranges::sort(sizes, std::ranges::greater());
  EXPECT_GE(sizes.back(), 1U);
  // (r + 1)^-0.9: a tenth of the rank has 10^0.9 = 7.94 times the pages.
  EXPECT_NEAR(static_cast<double>(sizes[99]) / static_cast<double>(sizes[999]), 7.94, 0.1);
  EXPECT_NEAR(static_cast<double>(sizes[999]) / static_cast<double>(sizes[9999]), 7.94, 0.2);
}

TEST(Census, EveryHostHasAPageAtLeast) {
  const Census census = census_of(1000, 1000);
  EXPECT_EQ(census.pages(), 1000U);
}

TEST(Census, AnExactOneHasAsManyPagesAsAskedFor) {
  for (const std::uint64_t hosts : {1U, 2U, 7U, 100U, 999U}) {
    for (const std::uint64_t more : {0U, 1U, 5U, 1234U, 99'999U}) {
      for (const double exponent : {0.0, 0.9, 2.0}) {
        CensusOptions options;
        options.hosts = hosts;
        options.pages = hosts + more;
        options.size_exponent = exponent;
        options.is_exact = true;
        const Census census(options);
        EXPECT_EQ(census.pages(), hosts + more);
        std::uint64_t sum = 0;
        for (std::uint64_t rank = 0; rank < hosts; ++rank) {
          const std::uint64_t pages = census.pages_of(census.host_of_rank(rank));
          EXPECT_TRUE(rank == 0 || pages <= census.pages_of(census.host_of_rank(rank - 1)));
          sum += pages;
        }
        EXPECT_EQ(sum, hosts + more);
      }
    }
  }
}

TEST(Census, WithoutCopiesEveryHostIsItself) {
  CensusOptions options;
  options.hosts = 2000;
  options.has_copies = false;
  const Census census(options);
  for (HostNumber host = 0; host < 2000; ++host) EXPECT_EQ(census.content_of(host), host);
}

TEST(Census, AliasesAndMirrorsPointAtHostsThatAreThemselves) {
  const Census census = census_of(40'000, 100'000);
  std::uint64_t aliases = 0;
  std::uint64_t mirrors = 0;
  for (HostNumber host = 0; host < census.hosts(); ++host) {
    const HostNumber content = census.content_of(host);
    ASSERT_LT(content, census.hosts());
    EXPECT_EQ(census.content_of(content), content);
    if (content == host) continue;
    const bool is_alias = census.name_of(content) == "www." + census.name_of(host);
    ++(is_alias ? aliases : mirrors);
  }
  EXPECT_NEAR(static_cast<double>(aliases), 6000, 300);
  EXPECT_NEAR(static_cast<double>(mirrors), 800, 150);
}

TEST(Census, ServersAreSharedAndSomeHostsHaveSeveral) {
  const Census census = census_of(30'000, 100'000);
  EXPECT_EQ(census.servers(), 10'000U);
  std::map<ServerNumber, int> hosts;
  int several = 0;
  for (HostNumber host = 0; host < census.hosts(); ++host) {
    const auto servers = census.servers_of(host);
    ASSERT_FALSE(servers.empty());
    ASSERT_LE(servers.size(), 4U);
    if (servers.size() > 1) ++several;
    for (const ServerNumber server : servers) {
      ASSERT_LT(server, census.servers());
      ++hosts[server];
    }
  }
  EXPECT_NEAR(several, 3000, 200);
  EXPECT_GT(hosts[0], 100);
}

TEST(Census, OneServerCarriesAll) {
  CensusOptions options;
  options.servers = 1;
  const Census census(options);
  for (HostNumber host = 0; host < census.hosts(); ++host) {
    EXPECT_EQ(census.servers_of(host), std::vector<ServerNumber>{0});
  }
}

TEST(Census, BadOptionsAreExplained) {
  const auto message = [](auto change) {
    CensusOptions options;
    change(options);
    const auto status = options.check();
    return status ? std::string() : status.error().message();
  };
  EXPECT_EQ(message([](CensusOptions&) {}), "");
  EXPECT_EQ(message([](CensusOptions& o) { o.hosts = 0; }), "a web has 1 to 10000000 hosts, not 0");
  EXPECT_EQ(message([](CensusOptions& o) { o.pages = 99; }),
            "100 hosts have at least that many pages and at most 10000000000, not 99");
  EXPECT_NE(message([](CensusOptions& o) { o.servers = 1'000'000'000; }), "");
  EXPECT_NE(message([](CensusOptions& o) { o.size_exponent = 3; }), "");
}

}  // namespace
}  // namespace meguri::sim
