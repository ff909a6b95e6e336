#include "crawl/host_page_counts.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "env/memory_file_system.h"
#include "env/random.h"

namespace meguri::crawl {
namespace {

TEST(HostPageCounts, AreAfterARestartWhatWasCommitted) {
  env::MemoryFileSystem files;
  env::Random random(1);
  std::vector<HostPageCounts::Host> model;
  std::string state;
  for (flow::EpochId epoch = 1; epoch < 200; ++epoch) {
    auto counts = HostPageCounts::open(files, "/counts", state);
    ASSERT_TRUE(counts) << counts.error().message();
    ASSERT_EQ((*counts)->size(), model.size());
    const auto seen = state.empty() ? std::vector<HostPageCounts::Host>()
                                    : HostPageCounts::read(files, "/counts", state).value();
    ASSERT_EQ(seen.size(), model.size());
    for (Index i = 0; i < model.size(); ++i) {
      EXPECT_EQ((**counts)[i].name, model[i].name);
      EXPECT_EQ((**counts)[i].pages, model[i].pages);
      EXPECT_EQ((**counts)[i].done, model[i].done);
      EXPECT_EQ((**counts)[i].since, model[i].since);
      EXPECT_EQ((**counts)[i].hints, model[i].hints);
      EXPECT_EQ(seen[i].name, model[i].name);
      EXPECT_EQ(seen[i].hints, model[i].hints);
    }
    for (auto n = random.below(300); n > 0; --n) {
      const auto host = static_cast<Index>(random.below(model.size() + 1));
      if (host == model.size()) {
        const auto since = base::Instant::from_ms(static_cast<std::int64_t>(epoch));
        model.push_back({.name = fmt::format("h{}.example.com", host), .since = since});
        EXPECT_EQ((*counts)->add_host(model.back().name, since), host);
      }
      const double right = static_cast<double>(random.below(100)) / 7;
      model[host].hints = {.right = right, .wrong = 1, .as_of = model[host].since};
      (*counts)->set_hints(host, model[host].hints);
      (*counts)->count_page(host);
      ++model[host].pages;
      if (random.below(2) == 0) continue;
      (*counts)->count_done(host);
      ++model[host].done;
    }
    const auto committed = (*counts)->commit(epoch);
    ASSERT_TRUE(committed) << committed.error().message();
    ASSERT_TRUE((*counts)->on_durable(epoch));
    state = *committed;
    // What comes after it is lost.
    (*counts)->add_host("lost.example.com", {});
  }
  EXPECT_GT(model.size(), 20U);
}

}  // namespace
}  // namespace meguri::crawl
