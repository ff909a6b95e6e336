// HostDirectory and UrlFilter joined as in a crawl: what one finds out the other obeys.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "crawl/host_directory.h"
#include "crawl/url_filter.h"
#include "env/memory_file_system.h"
#include "flow/testing.h"

namespace meguri::crawl {
namespace {

using base::Duration;

// What a script says, one thing after the other, each when the last has been taken.
struct Script {
  std::vector<HostNews> news;
  std::vector<DuePage> due;
  std::vector<Candidate> candidates;
};

class Crawl final : public flow::Module {
 public:
  explicit Crawl(Script script) : script_(std::move(script)) {}
  flow::Out<HostNews> news = out<HostNews>("news");
  flow::Out<DuePage> due = out<DuePage>("due");
  flow::Out<Candidate> candidates = out<Candidate>("candidates");
  flow::In<Refused> refused = in<&Crawl::on_refused>("refused");
  std::vector<Refused> refusals;

 private:
  base::Status start() override {
    for (const std::uint64_t step : {0U, 1U, 2U}) {
      set_timer_after(Duration::seconds(static_cast<std::int64_t>(step) * 10 + 1), step);
    }
    return {};
  }
  void on_timer(std::uint64_t step) override {
    ++steps_;
    if (step == 0) {
      for (HostNews& item : script_.news) {
        item.sample->since = item.sample->until = item.finished = clock().utc();
        news.emit(item);
      }
    } else if (step == 1) {
      for (DuePage& page : script_.due) due.emit(page);
    } else {
      for (Candidate& item : script_.candidates) candidates.emit(item);
    }
  }
  void on_refused(Refused&& item) {
    refusals.push_back(item);
    due.give_back();
  }
  bool idle() const override { return steps_ == 3; }

  Script script_;
  int steps_ = 0;
};

class Sink final : public flow::Module {
 public:
  flow::In<Candidate> accepted = in<&Sink::on_accepted>("accepted");
  std::vector<std::string> urls;

 private:
  void on_accepted(Candidate&& item) { urls.push_back(std::move(item.url)); }
};

HostNews news_of(const std::string& host, int page, int content) {
  HostNews item;
  item.host = host;
  item.url = fmt::format("http://{}/{}", host, page);
  item.status = 200;
  item.sample.emplace().digest.bytes[0] = static_cast<std::uint8_t>(content);
  return item;
}

// Both hosts have the same pages, or different ones. The first page was seen before there were two
// hosts to compare, so it is seen again.
Script visits_of_both(bool is_same) {
  Script script;
  for (int i = 1; i <= 8; ++i) {
    script.news.push_back(news_of("site.example", i, i));
    script.news.push_back(news_of("www.site.example", i, is_same ? i : i + 100));
  }
  script.news.push_back(news_of("site.example", 1, 1));
  return script;
}

Candidate link_to(const std::string& url) {
  return {.url = url, .via = "http://site.example/", .depth = 2, .hops = 0, .offer = Offer::kLink};
}

struct Result {
  std::vector<std::string> urls;
  std::vector<Refused> refusals;
  HostCounts counts;
};

Result run(env::FileSystem& files, Script script, CrawlOptions options = {}) {
  options.revisit.is_on = true;
  options.scope.scope = Scope::kAny;
  options.seeds = {"http://site.example/"};
  flow::Graph graph;
  const auto crawl = graph.add<Crawl>("crawl", {.split = flow::Split::kSingle}, std::move(script));
  const auto filter = graph.add<UrlFilter>("filter", {.split = flow::Split::kSingle}, options.scope,
                                           options.seeds, std::shared_ptr<ExclusionFile>());
  const auto hosts =
      graph.add<HostDirectory>("hosts", {.split = flow::Split::kKey}, options,
                               fetch::AddressPolicy(), std::shared_ptr<ExclusionFile>());
  const auto sink = graph.add<Sink>("sink", {.split = flow::Split::kSingle});
  graph.connect(crawl, &Crawl::news, hosts, &HostDirectory::news);
  graph.connect(crawl, &Crawl::candidates, filter, &UrlFilter::candidates, flow::Edge::spilling());
  graph.connect(hosts, &HostDirectory::offers, filter, &UrlFilter::candidates);
  graph.connect(hosts, &HostDirectory::aliases, filter, &UrlFilter::aliases);
  graph.connect(filter, &UrlFilter::accepted, sink, &Sink::accepted);
  graph.connect(crawl, &Crawl::due, hosts, &HostDirectory::due, flow::Edge::credit(16));
  graph.connect(hosts, &HostDirectory::refused, crawl, &Crawl::refused, flow::Edge::under_credit());
  flow::testing::AnyEngine engine(
      flow::testing::EngineKind::kSimulation, std::move(graph),
      {.files = &files, .state_dir = "state", .epoch_every = Duration::seconds(1), .seed = 1});
  const auto started = engine->start();
  EXPECT_TRUE(started) << started.error().message();
  EXPECT_TRUE(engine->run_until_quiet());
  EXPECT_TRUE(engine->drain());
  return {engine->module(sink).urls, engine->module(crawl).refusals,
          engine->module(hosts).counts()};
}

using Urls = std::vector<std::string>;

TEST(HostAliasFlow, PagesOfAnAliasBecomeThoseOfTheKeptHostAlsoAfterARestart) {
  env::MemoryFileSystem files;
  const std::string url = "http://www.site.example/new";
  Script script = visits_of_both(true);
  script.due = {{.id = page_id_of(url), .candidate = link_to(url), .prior = {}}};
  script.candidates = {link_to("http://www.site.example/a?b"), link_to("http://far.example/")};
  const Result first = run(files, script);
  ASSERT_EQ(first.refusals.size(), 1U);
  EXPECT_EQ(first.refusals[0].reason, Refusal::kAlias);
  EXPECT_EQ(first.refusals[0].wait, AliasOptions().check_every);
  EXPECT_EQ(first.counts.aliases.aliases, 1U);
  const Urls last(first.urls.end() - 3, first.urls.end());
  EXPECT_EQ(last,
            (Urls{"http://site.example/new", "http://site.example/a?b", "http://far.example/"}));

  script.news.clear();
  const Result second = run(files, script);
  ASSERT_EQ(second.refusals.size(), 1U);
  EXPECT_EQ(second.refusals[0].reason, Refusal::kAlias);
  EXPECT_EQ(second.urls, last);
}

TEST(HostAliasFlow, HostsWithOtherPagesStayApart) {
  env::MemoryFileSystem files;
  Script script = visits_of_both(false);
  script.candidates = {link_to("http://www.site.example/a")};
  const Result result = run(files, script);
  EXPECT_EQ(result.counts.aliases.aliases, 0U);
  EXPECT_EQ(result.urls.back(), "http://www.site.example/a");
}

TEST(HostAliasFlow, AliasesEndWhenTheyAreNotWantedAnyMore) {
  env::MemoryFileSystem files;
  Script script = visits_of_both(true);
  script.candidates = {link_to("http://www.site.example/a")};
  EXPECT_EQ(run(files, script).urls.back(), "http://site.example/a");
  CrawlOptions options;
  options.aliases.is_on = false;
  script.news.clear();
  EXPECT_EQ(run(files, script, options).urls, Urls{"http://www.site.example/a"});
}

}  // namespace
}  // namespace meguri::crawl
