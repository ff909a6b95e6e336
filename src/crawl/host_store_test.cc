#include "crawl/host_store.h"

#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <string>

#include "env/crash_points.h"
#include "env/memory_file_system.h"

namespace meguri::crawl {
namespace {

using Values = std::map<std::string, std::string>;

HostStore::WriteAll all_of(const Values& values) {
  return [&values](HostStore& store) {
    for (const auto& [key, value] : values) store.put(key, value);
  };
}

base::Result<Values> values_at(env::FileSystem& files, const std::string& state) {
  Values values;
  HostStore store(files, "state/hosts");
  RETURN_IF_ERROR(store.restore(state, [&](std::string_view key, std::string_view value) {
    values[std::string(key)] = value;
    return base::Status();
  }));
  return values;
}

TEST(HostStore, RefusesDamage) {
  env::MemoryFileSystem files;
  ASSERT_TRUE(files.make_dirs("state"));
  const Values values = {{"a", "1"}, {"b", ""}};
  std::string state;
  {
    HostStore store(files, "state/hosts");
    state = *store.commit(1, all_of(values));
  }
  EXPECT_EQ(values_at(files, state).value(), values);
  EXPECT_FALSE(values_at(files, state.substr(1)));
  const auto size = *files.size("state/hosts-1");
  for (std::uint64_t bit = 0; bit < 8 * size; ++bit) {
    ASSERT_TRUE(files.flip_bit("state/hosts-1", bit));
    EXPECT_FALSE(values_at(files, state)) << bit;
    ASSERT_TRUE(files.flip_bit("state/hosts-1", bit));
  }
  ASSERT_TRUE(files.truncate("state/hosts-1", size - 1));
  EXPECT_FALSE(values_at(files, state));
}

// A checkpoint is what the last commit returned before it was said to be durable.
struct Durable {
  flow::EpochId epoch = 0;
  std::optional<std::string> state;
  Values values;
};

// Ten epochs of large values, so that the file is made anew on the way.
void run_epochs(env::FileSystem& files, Durable& durable) {
  HostStore store(files, "state/hosts");
  Values values = durable.values;
  if (durable.state) {
    const auto ignore = [](std::string_view, std::string_view) { return base::Status(); };
    if (!store.restore(*durable.state, ignore)) return;
  }
  for (int i = 0; i < 10; ++i) {
    const flow::EpochId epoch = durable.epoch + 1;
    const std::string key = "host" + std::to_string(epoch % 3);
    values[key] = std::string(300'000, static_cast<char>('a' + epoch % 26));
    store.put(key, values[key]);
    const auto state = store.commit(epoch, all_of(values));
    if (!state) return;
    durable = {epoch, *state, values};
    if (!store.remove_old(epoch)) return;
  }
}

TEST(HostStore, HoldsEveryDurableEpochWheneverThePowerGoes) {
  Durable durable;
  const auto changes = env::for_each_crash_point(
      {.seed = 1, .outcomes = 2},
      [&](env::FaultyFileSystem& files) {
        durable = {};
        ASSERT_TRUE(files.make_dirs("state"));
      },
      [&](env::FaultyFileSystem& files) { run_epochs(files, durable); },
      [&](env::FaultyFileSystem& files, env::CrashPoint point) {
        SCOPED_TRACE(point.change);
        for (int restart = 0; restart < 2; ++restart) {
          if (durable.state) {
            const auto values = values_at(files, *durable.state);
            ASSERT_TRUE(values) << values.error().message();
            EXPECT_TRUE(*values == durable.values);
          }
          const flow::EpochId before = durable.epoch;
          run_epochs(files, durable);
          EXPECT_EQ(durable.epoch, before + 10) << "it goes on";
        }
        EXPECT_EQ(files.list("state")->size(), 1U) << "old files are gone";
      });
  EXPECT_GE(changes, 25U) << "the file was made anew";
}

}  // namespace
}  // namespace meguri::crawl
