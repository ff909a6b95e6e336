#include "crawl/fetcher.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/mutex.h"
#include "crawl/server_key.h"
#include "flow/testing.h"

namespace meguri::crawl {
namespace {

using base::Duration;
using fetch::FetchOutcome;
using flow::testing::AnyEngine;
using flow::testing::EngineKind;

// Answers every request after as many milliseconds as its target's length times ten, with the
// outcome its host is named after.
class FakeClient final : public fetch::HttpClient {
 public:
  FakeClient(const env::Clock& clock, std::size_t capacity, std::atomic<std::size_t>* most)
      : clock_(clock), capacity_(capacity), most_(most) {}

  void start(fetch::FetchRequest request) override {
    CHECK(in_flight_ < capacity_, "more than the client can take");
    ++in_flight_;
    *most_ = std::max(most_->load(), in_flight_);
    const Duration time = Duration::from_ms(10 * static_cast<std::int64_t>(request.target.size()));
    fetch::Fetched fetched;
    fetched.tag = request.tag;
    fetched.outcome = FetchOutcome::kAnswered;
    if (request.host == "forbidden.example") fetched.outcome = FetchOutcome::kForbiddenAddress;
    if (request.host == "reset.example") fetched.outcome = FetchOutcome::kReset;
    fetched.request_head = fetch::request_head_of(request);
    fetched.times.started = clock_.ticks();
    fetched.times.finished = clock_.ticks() + time;
    due_.emplace(fetched.times.finished, std::move(fetched));
  }
  std::size_t capacity() const override { return capacity_; }
  std::size_t in_flight() const override { return in_flight_; }
  void poll(Duration wait) override {
    if (wait > Duration()) {
      const base::MutexLock lock(mutex_);
      const base::Ticks now = clock_.ticks();
      const base::Ticks end = std::min(now + wait, next_event());
      if (!is_woken_ && end > now) woken_.wait_for(mutex_, clock_.real_time(end - now));
      is_woken_ = false;
    }
    while (!due_.empty() && due_.begin()->first <= clock_.ticks()) {
      done_.push_back(std::move(due_.begin()->second));
      due_.erase(due_.begin());
    }
  }
  void wake() override {
    {
      const base::MutexLock lock(mutex_);
      is_woken_ = true;
    }
    woken_.notify_one();
  }
  base::Ticks next_event() const override {
    return due_.empty() ? base::Ticks::never() : due_.begin()->first;
  }
  std::vector<fetch::Fetched> take() override {
    in_flight_ -= done_.size();
    return std::exchange(done_, {});
  }
  void cancel_all(std::string_view) override { due_.clear(); }

 private:
  const env::Clock& clock_;
  const std::size_t capacity_;
  std::atomic<std::size_t>* const most_;
  std::multimap<base::Ticks, fetch::Fetched> due_;
  std::vector<fetch::Fetched> done_;
  std::size_t in_flight_ = 0;
  base::Mutex mutex_;
  base::CondVar woken_;
  bool is_woken_ GUARDED_BY(mutex_) = false;
};

Visit visit_to(std::string url, Purpose purpose = Purpose::kPage) {
  Visit visit;
  visit.page.candidate.url = std::move(url);
  visit.page.id = page_id_of(visit.page.candidate.url);
  visit.purpose = purpose;
  visit.host = 7;
  visit.address = {fetch::IpAddress::v4(0xC0000201), 8080};
  return visit;
}

class VisitSource final : public flow::Module {
 public:
  explicit VisitSource(std::vector<Visit> all) : left_(std::move(all)) {}
  flow::Out<Visit> visits = out<Visit>("visits");

 private:
  bool produce() override {
    if (next_ == left_.size()) return false;
    visits.emit(left_[next_++]);
    return next_ < left_.size();
  }
  const std::vector<Visit> left_;
  std::size_t next_ = 0;
};

class AnswerSink final : public flow::Module {
 public:
  flow::In<Answer> answers = in<&AnswerSink::on_answer>("answers");
  flow::In<AccessEnd> ends = in<&AnswerSink::on_end>("ends");
  std::vector<Answer> got;
  std::vector<AccessEnd> ended;

 private:
  void on_answer(Answer&& answer) { got.push_back(std::move(answer)); }
  void on_end(AccessEnd&& end) { ended.push_back(end); }
};

struct Outcome {
  std::vector<Answer> answers;
  std::vector<AccessEnd> ends;
  std::size_t most_in_flight = 0;
};

Outcome fetch_all(EngineKind kind, const std::vector<Visit>& visits, std::size_t capacity,
                  std::uint64_t seed = 1, bool drains_at_once = false) {
  std::atomic<std::size_t> most{0};
  flow::Graph graph;
  auto source = graph.add<VisitSource>("source", {}, visits);
  auto fetcher = graph.add<Fetcher>("fetcher", {.kind = flow::Kind::kPoller}, CrawlOptions(),
                                    Fetcher::MakeClient([capacity, &most](const env::Clock& clock) {
                                      return std::make_unique<FakeClient>(clock, capacity, &most);
                                    }));
  auto sink = graph.add<AnswerSink>("sink", {});
  graph.connect(source, &VisitSource::visits, fetcher, &Fetcher::visits);
  graph.connect(fetcher, &Fetcher::answers, sink, &AnswerSink::answers);
  graph.connect(fetcher, &Fetcher::ends, sink, &AnswerSink::ends);
  AnyEngine engine(kind, std::move(graph), {.seed = seed});
  EXPECT_TRUE(engine->start());
  if (!drains_at_once) {
    EXPECT_TRUE(engine->run_until_quiet());
  }
  EXPECT_TRUE(engine->drain());
  auto& end = engine->module(sink);
  return {std::move(end.got), std::move(end.ended), most};
}

std::vector<Visit> many_visits() {
  std::vector<Visit> visits;
  for (std::size_t i = 0; i < 300; ++i) {
    visits.push_back(visit_to(fmt::format("http://example.org/{}", std::string(i % 40, 'x'))));
    visits.back().host = i;
  }
  return visits;
}

void expect_one_answer_each(const Outcome& outcome, std::size_t count) {
  std::map<std::uint64_t, int> answers;
  std::map<std::uint64_t, int> ends;
  for (const Answer& answer : outcome.answers) ++answers[answer.visit.host];
  for (const AccessEnd& end : outcome.ends) ++ends[end.host];
  EXPECT_EQ(outcome.answers.size(), count);
  EXPECT_EQ(answers.size(), count);
  EXPECT_EQ(outcome.ends.size(), count);
  EXPECT_EQ(ends.size(), count);
}

TEST(Fetcher, AnswersEveryVisitOnceInAnyOrderOfRuns) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const Outcome outcome = fetch_all(EngineKind::kSimulation, many_visits(), 16, seed);
    expect_one_answer_each(outcome, 300);
    EXPECT_EQ(outcome.most_in_flight, 16U);
  }
}

TEST(Fetcher, AnswersWhatItHasWhileDraining) {
  expect_one_answer_each(fetch_all(EngineKind::kSimulation, many_visits(), 16, 1, true), 300);
}

TEST(FetcherThreads, AnswersWhatItHasWhileDraining) {
  expect_one_answer_each(fetch_all(EngineKind::kThreads, many_visits(), 16, 1, true), 300);
}

TEST(FetcherThreads, AnswersEveryVisitOnce) {
  const Outcome outcome = fetch_all(EngineKind::kThreads, many_visits(), 16);
  expect_one_answer_each(outcome, 300);
  EXPECT_LE(outcome.most_in_flight, 16U);
}

TEST(Fetcher, SaysHowLongAnAccessTookAndWhetherThereWasOne) {
  const Outcome outcome =
      fetch_all(EngineKind::kSimulation,
                {visit_to("http://example.org/abcdefghi"), visit_to("http://forbidden.example/"),
                 visit_to("http://reset.example/"), visit_to("gopher://example.org/")},
                10);
  ASSERT_EQ(outcome.answers.size(), 4U);
  std::map<std::string, AccessEnd> ends;
  for (std::size_t i = 0; i < 4; ++i) {
    ends[outcome.answers[i].visit.page.candidate.url] = outcome.ends[i];
  }
  EXPECT_EQ(ends["http://example.org/abcdefghi"].duration, Duration::from_ms(100));
  EXPECT_EQ(ends["http://example.org/abcdefghi"].host, 7U);
  EXPECT_EQ(ends["http://example.org/abcdefghi"].server, 0xC0000201U);
  EXPECT_TRUE(ends["http://example.org/abcdefghi"].happened);
  EXPECT_TRUE(ends["http://reset.example/"].happened);
  EXPECT_FALSE(ends["http://forbidden.example/"].happened);
  EXPECT_FALSE(ends["gopher://example.org/"].happened);
}

TEST(Fetcher, DoesNotCountACancelledRequestThatNeverConnected) {
  fetch::Fetched fetched;
  fetched.outcome = FetchOutcome::kCancelled;
  EXPECT_FALSE(has_happened(fetched));
  fetched.connected = fetch::Endpoint{};
  EXPECT_TRUE(has_happened(fetched));
}

TEST(FetchRequestOfAVisit, KeepsConnectionsOfHostsThatAreAskedSoonAgain) {
  CrawlOptions options;
  options.access.host_wait_ms_min = 0;
  options.access.server_gap_ms = 0;
  Visit visit = visit_to("https://example.org/");
  const auto is_kept = [&] { return request_of(visit, options)->keeps_alive; };
  EXPECT_TRUE(is_kept());
  visit.wait_ms = 2000;
  EXPECT_TRUE(is_kept());
  visit.wait_ms = 2001;
  EXPECT_FALSE(is_kept());
  visit.wait_ms = 0;
  options.access.server_gap_ms = 3000;
  EXPECT_FALSE(is_kept());
  options.access.server_gap_ms = 0;
  options.access.host_wait_ms_min = 5000;
  EXPECT_FALSE(is_kept());
  visit.is_wait_whole = true;
  EXPECT_TRUE(is_kept());
  options.keeps_connections = false;
  EXPECT_FALSE(is_kept());
}

TEST(FetchRequestOfAVisit, AsksForThePage) {
  CrawlOptions options;
  options.user_agent = "meguri/0.1 (+https://example.net/)";
  options.accept_language = "ja, en;q=0.5";
  options.fetch.body_bytes_max = 12345678;
  const auto request = request_of(visit_to("https://example.org:8443/a/b?q=1"), options);
  ASSERT_TRUE(request);
  EXPECT_TRUE(request->is_https);
  EXPECT_EQ(request->address, (fetch::Endpoint{fetch::IpAddress::v4(0xC0000201), 8080}));
  EXPECT_EQ(request->limits.body_bytes_max, 12345678U);
  EXPECT_FALSE(request->keeps_alive);
  EXPECT_EQ(fetch::request_head_of(*request),
            "GET /a/b?q=1 HTTP/1.1\r\n"
            "Host: example.org:8443\r\n"
            "User-Agent: meguri/0.1 (+https://example.net/)\r\n"
            "Accept: text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8\r\n"
            "Accept-Encoding: gzip, br\r\n"
            "Accept-Language: ja, en;q=0.5\r\n\r\n");
}

TEST(FetchRequestOfAVisit, AsksOnlyForWhatChangedSinceThePriorVersion) {
  Visit visit = visit_to("http://[2001:db8::1]/");
  visit.page.prior = PriorVersion{.etag = "W/\"1\"",
                                  .last_modified = "Sun, 06 Nov 1994 08:49:37 GMT",
                                  .digest = {},
                                  .record = {},
                                  .date = {}};
  const auto request = request_of(visit, {});
  ASSERT_TRUE(request);
  EXPECT_EQ(request->host, "[2001:db8::1]");
  EXPECT_EQ(request->port, 80);
  const std::vector<fetch::RequestField> expected = {
      {"If-None-Match", "W/\"1\""}, {"If-Modified-Since", "Sun, 06 Nov 1994 08:49:37 GMT"}};
  EXPECT_EQ(std::vector(request->fields.end() - 2, request->fields.end()), expected);
}

TEST(FetchRequestOfAVisit, HoldsWhatIsSaidOfItsHost) {
  CrawlOptions options;
  options.user_agent = "all";
  options.hosts.resize(1);
  options.hosts[0].matches = {"example.org"};
  options.hosts[0].user_agent = "one";
  options.hosts[0].proxy = "http://proxy:3128";
  options.hosts[0].fields = {{.name = "accept", .value = "x/y", .is_secret = true}};
  HostRules rules(options);
  auto request = request_of(visit_to("http://example.org/"), options);
  ASSERT_TRUE(request);
  set_policy(rules.of("example.org"), *request);
  EXPECT_EQ(request->proxy, "http://proxy:3128");
  EXPECT_EQ(fetch::kept_head_of(*request),
            "GET / HTTP/1.1\r\nHost: example.org\r\nUser-Agent: one\r\n"
            "Accept-Encoding: gzip, br\r\naccept: (hidden)\r\n\r\n");
  auto other = request_of(visit_to("http://example.net/"), options);
  set_policy(rules.of("example.net"), *other);
  EXPECT_EQ(other->user_agent, "all");
  EXPECT_EQ(other->proxy, "");
}

TEST(FetchRequestOfAVisit, ReadsLittleOfRobotsTxt) {
  const auto request = request_of(visit_to("http://example.org/robots.txt", Purpose::kRobots), {});
  ASSERT_TRUE(request);
  EXPECT_EQ(request->limits.body_bytes_max, 524289U);
  EXPECT_EQ(request->limits.html_bytes_max, 524289U);
}

TEST(ServerKey, IsTheAddressOrTheNetworkOfIt) {
  const auto key = [](std::string_view text) {
    return server_key_of(*fetch::IpAddress::parse(text));
  };
  EXPECT_EQ(key("192.0.2.1"), 0xC0000201U);
  EXPECT_EQ(key("2001:db8::1"), key("2001:db8::ffff:2"));
  EXPECT_NE(key("2001:db8::1"), key("2001:db8:0:1::1"));
}

}  // namespace
}  // namespace meguri::crawl
