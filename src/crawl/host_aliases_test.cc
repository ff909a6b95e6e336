#include "crawl/host_aliases.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "env/memory_file_system.h"

namespace meguri::crawl {
namespace {

using base::Duration;
using base::Instant;

constexpr Instant kNow = Instant::from_ms(1'767'225'600'000);

// A table of aliases and the hosts round it.
class Rig {
 public:
  explicit Rig(const AliasOptions& options = {}) : aliases(options) {}

  // A page was seen; the changes and offers are added to what there was.
  void see(const std::string& url, std::uint64_t content, const std::string& twin = "") {
    PageSample sample;
    sample.digest.bytes[0] = static_cast<std::uint8_t>(content);
    sample.digest.bytes[1] = static_cast<std::uint8_t>(content >> 8U);
    sample.since = sample.until = now;
    sample.twin = twin;
    const auto parsed = web::Url::parse(url);
    auto outcome =
        aliases.take(*parsed, sample, [this](std::string_view name) { return look(name); }, now);
    for (const AliasChange& change : outcome.changes) changes.push_back(change);
    for (const Candidate& offer : outcome.offers) offers.push_back(offer.url);
  }
  void see_both(const std::string& a, const std::string& b, int pages, int first = 0) {
    for (int i = first; i < first + pages; ++i) {
      see(fmt::format("http://{}/{}", a, i), static_cast<std::uint64_t>(i) + 1);
      see(fmt::format("http://{}/{}", b, i), static_cast<std::uint64_t>(i) + 1);
    }
  }
  bool may_visit(const std::string& url, bool is_embed = false) {
    return aliases.may_visit(*web::Url::parse(url), is_embed, now);
  }

  std::optional<HostAliases::Host> look(std::string_view name) const {
    const auto found = hosts.find(std::string(name));
    return found == hosts.end() ? std::nullopt : std::optional(found->second);
  }

  HostAliases aliases;
  std::map<std::string, HostAliases::Host> hosts = {
      {"site.example", {.pages = 100, .server = 1}},
      {"www.site.example", {.pages = 100, .server = 2}},
      {"other.example", {.pages = 100, .server = 1}},
      {"far.example", {.pages = 100, .server = 9}}};
  Instant now = kNow;
  std::vector<AliasChange> changes;
  std::vector<std::string> offers;
};

using Changes = std::vector<AliasChange>;

TEST(HostAliases, NamesakesWithTheSamePagesAreMerged) {
  Rig rig;
  rig.see_both("site.example", "www.site.example", 7);
  EXPECT_EQ(rig.changes, Changes{});
  rig.see_both("site.example", "www.site.example", 1, 7);
  EXPECT_EQ(rig.changes, (Changes{{"www.site.example", "site.example"}}));
  EXPECT_EQ(rig.aliases.kept_of("www.site.example"), "site.example");
  EXPECT_EQ(rig.aliases.kept_of("site.example"), "");
  EXPECT_EQ(rig.aliases.counts().aliases, 1U);
  EXPECT_FALSE(rig.may_visit("http://www.site.example/77"));
  EXPECT_TRUE(rig.may_visit("http://site.example/77"));
}

TEST(HostAliases, AsksForTheOtherHostsPages) {
  Rig rig;
  rig.see("http://www.site.example:8080/a?b", 1);
  EXPECT_EQ(rig.offers, std::vector<std::string>{"http://site.example:8080/a?b"});
}

TEST(HostAliases, HostsOfOneServerAreComparedWhenAPageWasTheSame) {
  Rig rig;
  rig.see_both("site.example", "other.example", 20);
  EXPECT_EQ(rig.aliases.kept_of("other.example"), "");
  EXPECT_EQ(rig.aliases.counts().compared, 0U + 1U);  // the namesake alone
  for (int i = 0; i < 8; ++i) {
    rig.see(fmt::format("http://other.example/{}", i), static_cast<std::uint64_t>(i) + 1,
            fmt::format("http://site.example/{}", i));
  }
  EXPECT_EQ(rig.aliases.kept_of("other.example"), "site.example");
}

TEST(HostAliases, HostsOfDifferentServersAndOtherPathsAreNot) {
  Rig rig;
  for (int i = 0; i < 20; ++i) {
    const auto content = static_cast<std::uint64_t>(i) + 1;
    rig.see(fmt::format("http://far.example/{}", i), content,
            fmt::format("http://site.example/{}", i));
    rig.see(fmt::format("http://other.example/{}", i), content,
            fmt::format("http://site.example/x{}", i));
    rig.see(fmt::format("https://other.example/{}", i), content,
            fmt::format("http://site.example/{}", i));
  }
  EXPECT_EQ(rig.changes, Changes{});
  EXPECT_EQ(rig.aliases.counts().compared, 0U);
}

TEST(HostAliases, TheSeedsNameIsKeptElseThatOfMostPages) {
  Rig seed;
  seed.aliases.add_seed("www.site.example");
  seed.see_both("site.example", "www.site.example", 8);
  EXPECT_EQ(seed.aliases.kept_of("site.example"), "www.site.example");
  Rig large;
  large.hosts["www.site.example"].pages = 500;
  large.see_both("site.example", "www.site.example", 8);
  EXPECT_EQ(large.aliases.kept_of("site.example"), "www.site.example");
}

TEST(HostAliases, OfSmallHostsFewerPagesAreEnough) {
  Rig rig;
  rig.hosts["site.example"].pages = 6;
  rig.hosts["www.site.example"].pages = 5;
  rig.see_both("site.example", "www.site.example", 2);
  EXPECT_EQ(rig.changes.size(), 0U);
  rig.see_both("site.example", "www.site.example", 1, 2);
  EXPECT_EQ(rig.changes.size(), 1U);
}

TEST(HostAliases, ThereAreNoChains) {
  Rig rig;
  rig.see_both("site.example", "www.site.example", 8);
  ASSERT_EQ(rig.aliases.kept_of("www.site.example"), "site.example");
  rig.aliases.add_seed("other.example");  // it would be kept, if the others were not
  for (int i = 0; i < 8; ++i) {
    rig.see(fmt::format("http://other.example/{}", i), static_cast<std::uint64_t>(i) + 1,
            fmt::format("http://site.example/{}", i));
  }
  EXPECT_EQ(rig.changes.size(), 1U);
  EXPECT_EQ(rig.aliases.kept_of("site.example"), "");
}

TEST(HostAliases, AnAliasThatDivergesIsUndoneAndNotMergedAgainSoon) {
  Rig rig;
  rig.see_both("site.example", "www.site.example", 8);
  ASSERT_EQ(rig.changes.size(), 1U);
  for (int i = 0; i < 3; ++i) {
    rig.now = rig.now + Duration::days(7);
    const std::string path = fmt::format("/{}", i);
    EXPECT_FALSE(rig.may_visit("http://www.site.example/style.css", /*is_embed=*/true));
    ASSERT_TRUE(rig.may_visit("http://www.site.example" + path)) << i;
    EXPECT_FALSE(rig.may_visit("http://www.site.example/elsewhere"));
    rig.see("http://www.site.example" + path, 700U + static_cast<std::uint64_t>(i));
    rig.see("http://site.example" + path, 1U + static_cast<std::uint64_t>(i));
  }
  ASSERT_EQ(rig.changes.size(), 2U);
  EXPECT_EQ(rig.changes[1], (AliasChange{"www.site.example", ""}));
  EXPECT_TRUE(rig.may_visit("http://www.site.example/elsewhere"));
  EXPECT_EQ(rig.aliases.counts().parted, 1U);
  rig.see_both("site.example", "www.site.example", 20, 50);
  EXPECT_EQ(rig.changes.size(), 2U);
  rig.now = rig.now + Duration::days(91);
  rig.see_both("site.example", "www.site.example", 8, 50);
  EXPECT_EQ(rig.changes.size(), 3U);
}

TEST(HostAliases, AreDurableAndCanAllBeParted) {
  env::MemoryFileSystem files;
  std::string state;
  {
    Rig rig;
    rig.see_both("site.example", "www.site.example", 8);
    auto log = DurableLog::open(files, "aliases", "", [](auto, auto) { return base::Status(); });
    ASSERT_TRUE(log);
    rig.aliases.save_changes(**log);
    auto mark = (*log)->commit(1, rig.aliases.stored_bytes(),
                               [&](DurableLog& all) { rig.aliases.save_all(all); });
    ASSERT_TRUE(mark);
    state = *mark;
  }
  Rig rig;
  auto log = DurableLog::open(files, "aliases", state,
                              [&](std::string_view key, std::optional<std::string_view> value) {
                                EXPECT_TRUE(rig.aliases.load(key, value));
                                return base::Status();
                              });
  ASSERT_TRUE(log);
  EXPECT_EQ(rig.aliases.kept_of("www.site.example"), "site.example");
  EXPECT_GT(rig.aliases.stored_bytes(), 0U);
  EXPECT_FALSE(rig.aliases.load("hsite.example", "x"));
  EXPECT_EQ(rig.aliases.part_all(kNow), (Changes{{"www.site.example", ""}}));
  EXPECT_EQ(rig.aliases.kept_of("www.site.example"), "");
}

TEST(HostAliases, FindNothingWhereTheyAreNotWanted) {
  Rig rig({.is_on = false});
  rig.see_both("site.example", "www.site.example", 20);
  EXPECT_EQ(rig.changes, Changes{});
  EXPECT_EQ(rig.offers.size(), 0U);
}

TEST(HostAliases, OneHostHasFewPartners) {
  Rig rig;
  for (int i = 0; i < 50; ++i) {
    const std::string host = fmt::format("h{}.example", i);
    rig.hosts[host] = {.pages = 10, .server = 1};
    rig.see("http://" + host + "/", 7, "http://other.example/");
  }
  EXPECT_EQ(rig.aliases.counts().compared, HostAliases::kPartnersMax);
}

}  // namespace
}  // namespace meguri::crawl
