#include "crawl/host_table.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "crawl/durable_log.h"
#include "env/crash_points.h"
#include "env/memory_file_system.h"
#include "env/random.h"

namespace meguri::crawl {
namespace {

using base::Duration;
using base::Instant;

constexpr auto kAgent = "meguri";
constexpr DurableLogLimits kSmall = {.block_bytes = 300, .slack_bytes = 500};

// What must be the same after a restart, by the name of the host or the origin of the site.
using Content = std::map<std::string, std::string>;

// Hosts and sites of which nothing was ever noted do not count.
Content content_of(const HostTable& table) {
  Content content;
  for (HostIndex i = 0; i < table.hosts(); ++i) {
    const HostRecord& host = table.host(i);
    if (host.last_access == Instant()) continue;
    content[host.name] =
        fmt::format("{} {} {} {} {}", host.last_access.ms(), host.last_duration.ms(),
                    host.longest_duration.ms(), host.errors, host.crawl_delay_ms);
  }
  for (SiteIndex i = 0; i < table.sites(); ++i) {
    const SiteRecord& site = table.site(i);
    if (!site.robots.is_known && site.robots.failures == 0) continue;
    content[site.origin] = encode_robots(site.robots, kAgent) + std::to_string(site.port);
  }
  return content;
}

base::Result<std::unique_ptr<DurableLog>> open(env::FileSystem& files, std::string_view state,
                                               HostTable& table) {
  const auto load = [&table](std::string_view key, std::optional<std::string_view> value) {
    return table.load(key, value, kAgent);
  };
  return DurableLog::open(files, "d", state, load, kSmall);
}

base::Result<std::string> commit(HostTable& table, DurableLog& log, flow::EpochId epoch) {
  table.save_changes(log, kAgent);
  return log.commit(epoch, table.stored_bytes(),
                    [&](DurableLog& all) { table.save_all(all, kAgent); });
}

// An access to one of twenty hosts; of every other host the robots.txt is answered too.
void change(env::Random& random, HostTable& table, Instant now) {
  const std::uint64_t number = random.below(20);
  const auto url = web::Url::parse(fmt::format("https://h{}.example.org/", number));
  const SiteIndex index = table.site_of(*url, 443);
  SiteRecord& site = table.site(index);
  HostRecord& host = table.host(site.host);
  host.last_access = now;
  host.last_duration = Duration::from_ms(static_cast<std::int64_t>(random.below(9000)));
  host.longest_duration = std::max(host.longest_duration, host.last_duration);
  host.errors = static_cast<std::uint32_t>(random.below(3));
  table.touch_host(site.host);
  if (number % 2 == 0) return;
  const std::string text = fmt::format("User-agent: *\nDisallow: /{}\nCrawl-delay: {}\n",
                                       std::string(random.below(100), 'x'), random.below(9));
  take_robots(site.robots, random.below(4) == 0 ? 503 : 200, text, kAgent, now);
  table.touch_site(index);
  table.update_delay(site.host);
}

// What the last checkpoint would name.
struct Durable {
  flow::EpochId epoch = 0;
  std::string state;
  Content content;
};

base::Status run_epochs(env::FileSystem& files, env::Random& random, int epochs, Durable& durable) {
  HostRules rules{CrawlOptions()};
  HostTable table(rules);
  ASSIGN_OR_RETURN(const auto log, open(files, durable.state, table));
  EXPECT_EQ(content_of(table), durable.content);
  for (int i = 0; i < epochs; ++i) {
    const flow::EpochId epoch = durable.epoch + 1;
    const Instant now = Instant::from_ms(static_cast<std::int64_t>(1000 * epoch));
    for (std::uint64_t n = random.below(8); n > 0; --n) change(random, table, now);
    ASSIGN_OR_RETURN(const std::string state, commit(table, *log, epoch));
    durable = {epoch, state, content_of(table)};
    RETURN_IF_ERROR(log->on_durable(epoch));
  }
  return {};
}

TEST(HostTable, IsTheSameAfterACrashAtAnyWrite) {
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    SCOPED_TRACE(seed);
    Durable durable;
    const std::uint64_t changes = env::for_each_crash_point(
        {.seed = seed, .outcomes = 2}, [&](env::FaultyFileSystem&) { durable = {}; },
        [&](env::FaultyFileSystem& files) {
          env::Random random(seed);
          const auto status = run_epochs(files, random, 20, durable);
          EXPECT_TRUE(status || files.power_is_off());
        },
        [&](env::FaultyFileSystem& files, env::CrashPoint point) {
          SCOPED_TRACE(point.change);
          env::Random random(seed + 1);
          for (int restart = 0; restart < 2; ++restart) {
            const auto status = run_epochs(files, random, 3, durable);
            ASSERT_TRUE(status) << status.error().message();
          }
          EXPECT_LE(files.list("d")->size(), 1U) << "old files are gone";
        });
    EXPECT_GT(changes, 40U);
  }
}

TEST(HostTable, IsWrittenAnewWhenItsLogHasGrownTooLong) {
  env::MemoryFileSystem files;
  env::Random random(1);
  Durable durable;
  ASSERT_TRUE(run_epochs(files, random, 200, durable));
  EXPECT_FALSE(files.exists("d/0000000000000001.map").value());
  HostRules rules{CrawlOptions()};
  HostTable table(rules);
  const auto log = open(files, durable.state, table);
  ASSERT_TRUE(log);
  EXPECT_LE((*log)->bytes(), 2 * table.stored_bytes() + kSmall.slack_bytes + 1500);
  EXPECT_EQ(content_of(table), durable.content);
}

TEST(HostTable, WritesOnlyWhatHasChanged) {
  env::MemoryFileSystem files;
  HostRules rules{CrawlOptions()};
  HostTable table(rules);
  const auto log = open(files, "", table);
  ASSERT_TRUE(log);
  for (int i = 0; i < 100; ++i) {
    const HostIndex host = table.host_of(fmt::format("h{}.example.org", i));
    table.host(host).last_access = Instant::from_ms(1);
    table.touch_host(host);
  }
  ASSERT_TRUE(commit(table, **log, 1));
  const std::uint64_t before = (*log)->bytes();
  table.host_of("never.accessed.example.org");
  ASSERT_TRUE(commit(table, **log, 2));
  EXPECT_EQ((*log)->bytes(), before);
  table.touch_host(7);
  table.touch_host(7);
  ASSERT_TRUE(commit(table, **log, 3));
  EXPECT_EQ((*log)->bytes(), before + env::Block::kHeaderBytes + table.host(7).stored_bytes);
}

TEST(HostTable, RefusesEntriesThatItNeverSaved) {
  HostRules rules{CrawlOptions()};
  HostTable table(rules);
  const std::string host_value(44, '\0');
  EXPECT_TRUE(table.load("ha.example.org", host_value, kAgent));
  EXPECT_FALSE(table.load("ha.example.org", host_value + "x", kAgent));
  EXPECT_FALSE(table.load("ha.example.org", "", kAgent));
  EXPECT_FALSE(table.load("ha.example.org", std::nullopt, kAgent));
  EXPECT_FALSE(table.load("h" + std::string(256, 'a'), host_value, kAgent));
  EXPECT_FALSE(table.load("", host_value, kAgent));
  EXPECT_FALSE(table.load("x", host_value, kAgent));
  EXPECT_FALSE(table.load("s", "", kAgent));
  EXPECT_FALSE(table.load("s\1\1no origin", "", kAgent));
  const auto refused = table.load("s\1\1https://a.example.org", "rubbish", kAgent);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), base::ErrorCode::kCorrupt);
}

}  // namespace
}  // namespace meguri::crawl
