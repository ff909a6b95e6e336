#include "crawl/page_groups.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "crawl/messages.h"
#include "env/memory_file_system.h"
#include "env/random.h"

namespace meguri::crawl {
namespace {

constexpr std::uint64_t kHost = 7;
constexpr std::uint64_t kKept = 10;

GroupMember member_of(const std::string& url) { return {kHost, page_id_of(url), url}; }

std::unique_ptr<PageGroups> open(env::FileSystem& files, std::string_view state = {}) {
  auto groups = PageGroups::open(files, "/groups", state, kKept, 1);
  EXPECT_TRUE(groups) << groups.error().message();
  return *std::move(groups);
}

TEST(GroupFactors, HoldTheHostsLoad) {
  env::Random random(1);
  for (int i = 0; i < 1000; ++i) {
    const double load = 1 + 1000 * random.uniform();
    const double kept = load * random.uniform();
    const double factor = 1 + 50 * random.uniform();
    const GroupFactors factors = group_factors(load, kept, factor);
    EXPECT_GE(factors.kept, 1);
    EXPECT_GE(factors.rest, factors.kept);
    EXPECT_LE(kept / factors.kept + (load - kept) / factors.rest, load / factor * 1.000001);
  }
  const GroupFactors at_ease = group_factors(10, 1, 1);
  EXPECT_EQ(at_ease.kept, 1);
  EXPECT_EQ(at_ease.rest, 1);
}

TEST(GroupFactors, LetThoseWhoSpeakForOthersKeepTheirPace) {
  // The host bears 100 a day; 20 of the 1,000 are asked for by those.
  const GroupFactors factors = group_factors(1000, 20, 10);
  EXPECT_EQ(factors.kept, 1);
  EXPECT_NEAR(factors.rest, 980.0 / 80, 1e-9);
}

TEST(PageGroups, SlowTheManyAndKeepTheFew) {
  env::MemoryFileSystem files;
  const auto groups = open(files);
  std::vector<std::string> items;
  for (int i = 0; i < 5000; ++i) items.push_back(fmt::format("http://a.test/item/{}", i));
  for (const std::string& url : items) groups->add(member_of(url), 24);
  const std::vector<std::string> few = {"http://a.test/", "http://a.test/news",
                                        "http://a.test/about/us"};
  for (const std::string& url : few) groups->add(member_of(url), 24);

  const double load = 24 * 5003;
  const double factor = 20;
  for (const std::string& url : few) EXPECT_EQ(groups->factor_of(member_of(url), load, factor), 1);
  double left = 0;
  int kept = 0;
  for (const std::string& url : items) {
    const double own = groups->factor_of(member_of(url), load, factor);
    if (own == 1) ++kept;
    left += 24 / own;
  }
  EXPECT_GT(kept, 0);
  EXPECT_LT(kept, 40);  // 10 are expected
  EXPECT_NEAR(left / (load / factor), 1, 0.15);
}

TEST(PageGroups, AHostThatIsNotCountedIsStretched) {
  env::MemoryFileSystem files;
  const auto groups = open(files);
  EXPECT_EQ(groups->factor_of(member_of("http://a.test/"), 100, 3), 3);
}

TEST(PageGroups, ManyTemplatesShareTheLast) {
  env::MemoryFileSystem files;
  const auto groups = open(files);
  for (int i = 0; i < 3000; ++i) {
    // A word each: letters alone are no parameter.
    std::string word;
    for (int rest = i + 1; rest > 0; rest /= 26) word += static_cast<char>('a' + rest % 26);
    groups->add(member_of("http://a.test/" + word), 1);
  }
  int kept = 0;
  for (int i = 0; i < 3000; ++i) {
    std::string word;
    for (int rest = i + 1; rest > 0; rest /= 26) word += static_cast<char>('a' + rest % 26);
    const double factor = groups->factor_of(member_of("http://a.test/" + word), 3000, 2.5);
    if (factor < 2) ++kept;
  }
  EXPECT_GE(kept, static_cast<int>(PageGroups::kTemplatesMax));
  EXPECT_LT(kept, static_cast<int>(PageGroups::kTemplatesMax) + 100);
}

TEST(PageGroups, AreAfterARestartWhatWasCommitted) {
  env::MemoryFileSystem files;
  env::Random random(1);
  std::map<std::string, double> model;
  std::string state;
  std::uint32_t generation = 0;
  for (flow::EpochId epoch = 1; epoch < 60; ++epoch) {
    const auto groups = open(files, state);
    if (epoch == 1) generation = groups->generation();
    EXPECT_EQ(groups->generation(), generation);
    double load = 1;
    for (const auto& [url, own] : model) load += own;
    // One that was never closed says the same.
    env::MemoryFileSystem others;
    const auto fresh = open(others);
    for (const auto& [url, own] : model) fresh->add(member_of(url), own);
    for (const auto& [url, own] : model) {
      const GroupMember page = member_of(url);
      EXPECT_NEAR(groups->factor_of(page, load, 4), fresh->factor_of(page, load, 4), 1e-6) << url;
    }
    for (auto n = random.below(50); n > 0; --n) {
      const std::string url = fmt::format(
          "http://a.test/{}/{}", static_cast<char>('a' + random.below(5)), random.below(400));
      const double own = 1 + 10 * random.uniform();
      const auto found = model.find(url);
      if (found == model.end()) {
        groups->add(member_of(url), own);
      } else {
        groups->change_load(member_of(url), own - found->second);
      }
      model[url] = own;
    }
    const auto committed = groups->commit(epoch);
    ASSERT_TRUE(committed) << committed.error().message();
    ASSERT_TRUE(groups->on_durable(epoch));
    state = *committed;
    groups->add(member_of("http://a.test/lost"), 1000);  // behind the commit
  }
  EXPECT_GT(model.size(), 100U);
}

TEST(PageGroups, AnotherGenerationBeginsAnew) {
  env::MemoryFileSystem files;
  std::string state;
  {
    const auto groups = open(files);
    groups->add(member_of("http://a.test/"), 1);
    state = groups->commit(1).value();
  }
  const auto again = PageGroups::open(files, "/groups", {}, kKept, 2).value();
  EXPECT_EQ(again->generation(), 2U);
  EXPECT_EQ(again->factor_of(member_of("http://a.test/"), 10, 3), 3);
}

}  // namespace
}  // namespace meguri::crawl
