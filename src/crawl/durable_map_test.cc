#include "crawl/durable_map.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/testing.h"
#include "env/crash_points.h"
#include "env/memory_file_system.h"
#include "env/random.h"
#include "flow/codec.h"

namespace meguri::crawl {
namespace {

using Model = std::map<std::string, std::string>;

constexpr DurableMapLimits kSmall = {.block_bytes = 200, .slack_bytes = 300};
constexpr auto kCheckpoint = "checkpoint";

Model content_of(const DurableMap& map) {
  Model content;
  map.for_each([&](std::string_view key, std::string_view value) {
    EXPECT_TRUE(content.emplace(key, value).second);
  });
  EXPECT_EQ(content.size(), map.size());
  return content;
}

// A random change to both.
void change(env::Random& random, DurableMap& map, Model& model) {
  const std::string key = fmt::format("key {}", random.below(40));
  if (random.below(3) == 0) {
    EXPECT_EQ(map.erase(key), model.erase(key) > 0);
    return;
  }
  const std::string value(random.below(60), static_cast<char>('a' + random.below(26)));
  map.put(key, value);
  model[key] = value;
}

// What a workload did: the model at each epoch, and the last epoch whose checkpoint was written.
struct Past {
  std::map<flow::EpochId, Model> models{{0, {}}};
  flow::EpochId acknowledged = 0;
};

base::Status save_checkpoint(env::FileSystem& files, flow::EpochId epoch, std::string_view state) {
  std::string bytes;
  flow::put_fixed(bytes, epoch);
  bytes += state;
  return env::write_file_atomically(files, kCheckpoint, bytes);
}

// The epoch and the state of the last checkpoint; 0 and nothing if there is none.
std::pair<flow::EpochId, std::string> load_checkpoint(env::FileSystem& files) {
  const auto bytes = env::read_file(files, kCheckpoint);
  if (!bytes) return {0, ""};
  std::string_view rest = *bytes;
  flow::EpochId epoch = 0;
  EXPECT_TRUE(flow::take_fixed(rest, epoch));
  return {epoch, std::string(rest)};
}

// Goes on from the last checkpoint for some epochs, as an engine and a module would.
base::Status run_epochs(env::FileSystem& files, env::Random& random, int epochs, Past& past) {
  auto [epoch, state] = load_checkpoint(files);
  ASSIGN_OR_RETURN(const auto map, DurableMap::open(files, "d", state, kSmall));
  Model model = past.models.at(epoch);
  EXPECT_EQ(content_of(*map), model);
  for (int i = 0; i < epochs; ++i) {
    for (std::uint64_t n = random.below(12); n > 0; --n) change(random, *map, model);
    past.models[++epoch] = model;
    ASSIGN_OR_RETURN(const std::string committed, map->commit(epoch));
    for (std::uint64_t n = random.below(3); n > 0; --n) change(random, *map, model);
    RETURN_IF_ERROR(save_checkpoint(files, epoch, committed));
    past.acknowledged = epoch;
    RETURN_IF_ERROR(map->on_durable(epoch));
  }
  return {};
}

TEST(DurableMap, HoldsWhatAMapHolds) {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    SCOPED_TRACE(seed);
    env::MemoryFileSystem files;
    env::Random random(seed);
    Past past;
    for (int start = 0; start < 5; ++start) {
      const auto status = run_epochs(files, random, 20, past);
      ASSERT_TRUE(status) << status.error().message();
      files.restart();
    }
  }
}

TEST(DurableMap, FindsAndErases) {
  env::MemoryFileSystem files;
  const auto map = DurableMap::open(files, "d", "");
  ASSERT_TRUE(map);
  (*map)->put("a", "1");
  (*map)->put("", "nothing");
  (*map)->put("b", "");
  EXPECT_EQ((*map)->find("a"), "1");
  EXPECT_EQ((*map)->find(""), "nothing");
  EXPECT_EQ((*map)->find("b"), "");
  EXPECT_EQ((*map)->find("c"), std::nullopt);
  EXPECT_TRUE((*map)->erase("a"));
  EXPECT_FALSE((*map)->erase("a"));
  EXPECT_EQ((*map)->find("a"), std::nullopt);
  EXPECT_EQ((*map)->size(), 2U);
  EXPECT_GT((*map)->memory_bytes(), 0U);
}

// The power goes at every change: what a checkpoint names is there, exactly, and the map goes on.
TEST(DurableMap, ReturnsToItsLastCheckpointAfterACrashAtAnyWrite) {
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    SCOPED_TRACE(seed);
    Past past;
    const std::uint64_t changes = env::for_each_crash_point(
        {.seed = seed, .outcomes = 3}, [&](env::FaultyFileSystem&) { past = {}; },
        [&](env::FaultyFileSystem& files) {
          env::Random random(seed);
          const auto status = run_epochs(files, random, 12, past);
          EXPECT_TRUE(status || files.power_is_off());
        },
        [&](env::FaultyFileSystem& files, env::CrashPoint point) {
          SCOPED_TRACE(point.change);
          EXPECT_GE(load_checkpoint(files).first, past.acknowledged);
          env::Random random(seed + 1);
          const auto status = run_epochs(files, random, 3, past);
          ASSERT_TRUE(status) << status.error().message();
          EXPECT_TRUE(run_epochs(files, random, 1, past));
        });
    EXPECT_GT(changes, 50U);
  }
}

// And at every change of the recovery itself.
TEST(DurableMap, ReturnsToItsLastCheckpointAfterACrashWhileItOpens) {
  Past past;
  const auto workload = [&](env::FaultyFileSystem& files) {
    env::Random random(3);
    EXPECT_TRUE(run_epochs(files, random, 10, past));
    {
      auto map = DurableMap::open(files, "d", load_checkpoint(files).second, kSmall);
      ASSERT_TRUE(map);
      Model ignored = content_of(**map);
      for (int i = 0; i < 200; ++i) change(random, **map, ignored);
      ASSERT_TRUE((*map)->commit(99));  // never in a checkpoint
    }
    files.restart();
  };
  env::for_each_crash_point(
      {.seed = 1, .outcomes = 3},
      [&](env::FaultyFileSystem& files) {
        past = {};
        workload(files);
      },
      [&](env::FaultyFileSystem& files) {
        EXPECT_TRUE(DurableMap::open(files, "d", load_checkpoint(files).second, kSmall) ||
                    files.power_is_off());
      },
      [&](env::FaultyFileSystem& files, env::CrashPoint point) {
        SCOPED_TRACE(point.change);
        env::Random random(4);
        const auto status = run_epochs(files, random, 2, past);
        EXPECT_TRUE(status) << status.error().message();
      });
}

TEST(DurableMap, KeepsItsLogShorterThanTwiceItsEntries) {
  env::MemoryFileSystem files;
  auto map = DurableMap::open(files, "d", "", kSmall);
  ASSERT_TRUE(map);
  for (flow::EpochId epoch = 1; epoch <= 100; ++epoch) {
    for (int i = 0; i < 20; ++i) (*map)->put(fmt::format("{}", i), fmt::format("{}", epoch));
    ASSERT_TRUE((*map)->commit(epoch));
    EXPECT_LE((*map)->log_bytes(), 2 * (*map)->live_bytes() + kSmall.slack_bytes + 100);
    ASSERT_TRUE((*map)->on_durable(epoch));
    EXPECT_EQ(files.list("d")->size(), 1U);
  }
}

TEST(DurableMap, KeepsTheOldFileUntilTheNewOneIsInACheckpoint) {
  env::MemoryFileSystem files;
  std::string old_state;
  {
    auto map = DurableMap::open(files, "d", "", kSmall);
    ASSERT_TRUE(map);
    (*map)->put("key", "old");
    old_state = (*map)->commit(1).value();
    for (int i = 0; i < 100; ++i) (*map)->put("key", fmt::format("new {}", i));
    ASSERT_TRUE((*map)->commit(2));
    ASSERT_TRUE((*map)->on_durable(1));
    EXPECT_EQ(files.list("d")->size(), 2U);
  }
  const auto map = DurableMap::open(files, "d", old_state, kSmall);
  ASSERT_TRUE(map) << map.error().message();
  EXPECT_EQ(content_of(**map), (Model{{"key", "old"}}));
  EXPECT_EQ(files.list("d")->size(), 1U);
}

TEST(DurableMap, StartsEmptyWithoutAState) {
  env::MemoryFileSystem files;
  {
    auto map = DurableMap::open(files, "d", "");
    ASSERT_TRUE(map);
    (*map)->put("key", "value");
    ASSERT_TRUE((*map)->commit(1));
  }
  const auto map = DurableMap::open(files, "d", "");
  ASSERT_TRUE(map);
  EXPECT_EQ((*map)->size(), 0U);
  EXPECT_TRUE(files.list("d")->empty());
}

// A map of three entries in one block each, and its state.
std::string write_three_blocks(env::FileSystem& files) {
  auto map = DurableMap::open(files, "d", "");
  std::string state;
  for (const char* const key : {"a", "b", "c"}) {
    (*map)->put(key, "value");
    state = (*map)->commit(1).value();
  }
  return state;
}

TEST(DurableMap, NamesFileAndOffsetOfDamage) {
  env::MemoryFileSystem files;
  const std::string state = write_three_blocks(files);
  const std::string path = "d/0000000000000001.map";
  const auto bytes = env::read_file(files, path);
  ASSERT_TRUE(bytes);
  const std::size_t block = bytes->size() / 3;
  for (std::size_t i = 0; i < bytes->size(); ++i) {
    SCOPED_TRACE(i);
    std::string damaged = *bytes;
    damaged[i] = static_cast<char>(damaged[i] ^ 0x10);
    ASSERT_TRUE(env::write_file_atomically(files, path, damaged));
    const auto map = DurableMap::open(files, "d", state);
    ASSERT_FALSE(map);
    EXPECT_EQ(map.error().code(), base::ErrorCode::kCorrupt);
    const std::string place = fmt::format("{} is damaged at offset {}:", path, i / block * block);
    EXPECT_TRUE(map.error().message().starts_with(place)) << map.error().message();
    EXPECT_EQ(env::read_file(files, path).value(), damaged);  // nothing was cut
  }
}

TEST(DurableMap, RefusesBlocksOfAnotherFile) {
  env::MemoryFileSystem files;
  std::string state = write_three_blocks(files);
  ASSERT_TRUE(files.rename("d/0000000000000001.map", "d/0000000000000002.map"));
  state[0] = 2;
  const auto map = DurableMap::open(files, "d", state);
  ASSERT_FALSE(map);
  EXPECT_EQ(map.error().message(),
            "d/0000000000000002.map is damaged at offset 0: the block belongs to another file");
}

TEST(DurableMap, SaysWhenAcknowledgedBytesAreMissing) {
  env::MemoryFileSystem files;
  const std::string state = write_three_blocks(files);
  const std::string path = "d/0000000000000001.map";
  ASSERT_TRUE(files.truncate(path, files.size(path).value() - 1));
  auto map = DurableMap::open(files, "d", state);
  ASSERT_FALSE(map);
  EXPECT_EQ(map.error().code(), base::ErrorCode::kCorrupt);
  ASSERT_TRUE(files.remove(path));
  map = DurableMap::open(files, "d", state);
  ASSERT_FALSE(map);
  EXPECT_EQ(map.error().message(), path + " is missing");
  EXPECT_FALSE(DurableMap::open(files, "d", "no state"));
}

// The worked bytes of docs/formats/durable-map.md.
TEST(DurableMap, WritesTheDocumentedBytes) {
  env::MemoryFileSystem files;
  auto map = DurableMap::open(files, "d", "");
  ASSERT_TRUE(map);
  (*map)->put("k", "hi");
  (*map)->erase("k");
  ASSERT_TRUE((*map)->commit(1));
  const auto bytes = env::read_file(files, "d/0000000000000001.map");
  ASSERT_TRUE(bytes);
  EXPECT_EQ(base::hex_of(*bytes),
            "4d47444d"
            "02000000"
            "1200000000000000"
            "0100000000000000"
            "718f518e6468742b"
            "fd170542207c5299"
            "01010000006b020000006869"
            "02010000006b");
}

TEST(DurableMap, ReturnsAFailureOfTheDiskFromEveryLaterCommit) {
  env::FaultyFileSystem files;
  auto map = DurableMap::open(files, "d", "", kSmall);
  ASSERT_TRUE(map);
  files.fail_change_after(1, base::ErrorCode::kNoSpace);  // the first append
  (*map)->put("key", std::string(1000, 'x'));
  (*map)->put("key", "");
  for (int i = 0; i < 2; ++i) {
    const auto state = (*map)->commit(1);
    ASSERT_FALSE(state);
    EXPECT_EQ(state.error().code(), base::ErrorCode::kNoSpace);
  }
}

}  // namespace
}  // namespace meguri::crawl
