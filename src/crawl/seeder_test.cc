#include "crawl/seeder.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "archive/sha1.h"
#include "env/faulty_file_system.h"
#include "env/memory_file_system.h"
#include "env/memory_ordered_store.h"
#include "flow/testing.h"

namespace meguri::crawl {
namespace {

using base::Duration;
using base::Instant;

// What came, as it stood at the last durable epoch and after it.
class Sink final : public flow::Module {
 public:
  flow::In<Candidate> input = in<&Sink::on_item>("candidates");
  std::vector<std::pair<std::string, bool>> got;  // with a history

 private:
  void on_item(Candidate&& item) { got.emplace_back(std::move(item.url), !item.history.empty()); }
  base::Result<std::string> commit(flow::EpochId) override {
    std::string state;
    for (const auto& [url, has_history] : got) {
      flow::put_text(state, url);
      flow::put_fixed(state, static_cast<std::uint8_t>(has_history ? 1 : 0));
    }
    return state;
  }
  base::Status restore(flow::EpochId, std::string_view state) override {
    std::string_view url;
    std::uint8_t has_history = 0;
    while (flow::take_text(state, url) && flow::take_fixed(state, has_history)) {
      got.emplace_back(url, has_history == 1);
    }
    return {};
  }
};

std::string page_url(int page) { return fmt::format("http://a.example/{}", page); }

class SeederHistory : public ::testing::Test {
 protected:
  void fill(int pages) {
    auto store = HistoryStore::open(files_, "history", disk_.open().value()).value();
    for (int page = 0; page < pages; ++page) {
      HistoryVisit visit{.url = page_url(page), .date = Instant::from_ms(1'767'225'600'000)};
      visit.status = 200;
      visit.digest = archive::Sha1().of("x");
      ASSERT_TRUE(store->add(visit));
    }
    ASSERT_TRUE(store->complete("store"));
  }

  // One life, which may be cut short.
  std::vector<std::pair<std::string, bool>> live(std::vector<std::string> seeds, bool with_history,
                                                 std::optional<Duration> time = std::nullopt) {
    CrawlOptions options;
    options.seeds = std::move(seeds);
    options.revisit.is_on = true;
    std::shared_ptr<HistoryStore> history;
    if (with_history) {
      history = HistoryStore::open(files_, "history", disk_.open().value()).value();
    }
    flow::Graph graph;
    const auto seeder =
        graph.add<Seeder>("seeder", {.split = flow::Split::kSingle}, options, history);
    const auto sink = graph.add<Sink>("sink", {.split = flow::Split::kSingle});
    graph.connect(seeder, &Seeder::candidates, sink, &Sink::input);
    flow::SimulationEngine engine(std::move(graph),
                                  {.files = &files_,
                                   .state_dir = "state",
                                   .epoch_every = Duration::from_ms(1),
                                   .seed = ++seed_},
                                  clock_);
    EXPECT_TRUE(engine.start());
    if (time) {
      EXPECT_TRUE(engine.run_for(*time));
    } else {
      EXPECT_TRUE(engine.run_until_quiet());
      EXPECT_TRUE(engine.end_epoch());
    }
    return engine.module(sink).got;
  }

  env::MemoryFileSystem files_;
  env::MemoryStoreDisk disk_;
  env::VirtualClock clock_;
  std::uint64_t seed_ = 0;
};

TEST_F(SeederHistory, ComesBeforeTheSeedsAndOnce) {
  fill(1000);
  const auto got = live({page_url(7), "http://b.example/"}, true);
  ASSERT_EQ(got.size(), 1001U);
  EXPECT_EQ(got.back(), std::pair(std::string("http://b.example/"), false));
  std::map<std::string, int> times;
  for (const auto& [url, has_history] : got) ++times[url];
  EXPECT_EQ(times.size(), 1001U);
  EXPECT_EQ(times[page_url(7)], 1);  // a seed with a history
  EXPECT_EQ(live({page_url(7), "http://b.example/"}, true), got);
  EXPECT_EQ(live({page_url(7), "http://b.example/"}, false), got);
}

TEST_F(SeederHistory, GoesOnWhereItWas) {
  fill(3000);
  std::size_t before = 0;
  std::vector<std::pair<std::string, bool>> got;
  for (int life = 0; life < 1000 && got.size() < 3001; ++life) {
    got = live({"http://b.example/"}, true, Duration::from_ms(2));
    EXPECT_GE(got.size(), before);
    before = got.size();
  }
  got = live({"http://b.example/"}, true);
  ASSERT_EQ(got.size(), 3001U);
  std::map<std::string, int> times;
  for (const auto& [url, has_history] : got) ++times[url];
  EXPECT_EQ(times.size(), 3001U);
}

}  // namespace
}  // namespace meguri::crawl
