// An Extractor between answers and what it finds in them, for its tests.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "crawl/extractor.h"
#include "flow/testing.h"

namespace meguri::crawl::testing {

inline constexpr std::string_view kUrl = "http://example.org/dir/page";

class AnswerSource final : public flow::Module {
 public:
  explicit AnswerSource(std::vector<Answer> all) : all_(std::move(all)) {}
  flow::Out<Answer> answers = out<Answer>("answers");

 private:
  bool produce() override {
    if (next_ == all_.size()) return false;
    answers.emit(all_[next_++]);
    return next_ < all_.size();
  }
  const std::vector<Answer> all_;
  std::size_t next_ = 0;
};

class FindingSink final : public flow::Module {
 public:
  flow::In<Finding> findings = in<&FindingSink::on_finding>("findings");
  std::vector<Finding> got;

 private:
  void on_finding(Finding&& finding) { got.push_back(std::move(finding)); }
};

inline std::vector<Finding> extract_all(flow::testing::EngineKind kind,
                                        const std::vector<Answer>& answers,
                                        const CrawlOptions& options = {}, std::size_t instances = 1,
                                        std::shared_ptr<env::Spool> spool = nullptr) {
  flow::Graph graph;
  auto source = graph.add<AnswerSource>("source", {}, answers);
  auto extractor = graph.add<Extractor>("extractor", {.instances = instances}, options, spool);
  auto sink = graph.add<FindingSink>("sink", {});
  graph.connect(source, &AnswerSource::answers, extractor, &Extractor::answers);
  graph.connect(extractor, &Extractor::findings, sink, &FindingSink::findings);
  flow::testing::AnyEngine engine(kind, std::move(graph));
  EXPECT_TRUE(engine->start());
  EXPECT_TRUE(engine->drain());
  return std::move(engine->module(sink).got);
}

inline Finding extract(const Answer& answer, const CrawlOptions& options = {}) {
  auto findings = extract_all(flow::testing::EngineKind::kSimulation, {answer}, options);
  EXPECT_EQ(findings.size(), 1U);
  return findings.empty() ? Finding() : std::move(findings.front());
}

inline constexpr base::Instant kNow = base::Instant::from_ms(1'767'225'600'000);

inline Answer answer_of(int status, std::string_view fields, std::string body,
                        std::string_view url = kUrl) {
  Answer answer;
  Candidate& candidate = answer.visit.page.candidate;
  candidate = {.url = std::string(url),
               .via = "http://example.org/",
               .depth = 2,
               .hops = 1,
               .offer = Offer::kLink};
  answer.visit.page.id = page_id_of(url);
  fetch::Fetched& fetched = answer.fetched;
  fetched.outcome = fetch::FetchOutcome::kAnswered;
  fetched.status = status;
  fetched.request_head = "GET /dir/page HTTP/1.1\r\nHost: example.org\r\n\r\n";
  fetched.response_head = fmt::format("HTTP/1.1 {} Some\r\n{}\r\n", status, fields);
  fetched.body = std::move(body);
  fetched.connected = fetch::Endpoint{fetch::IpAddress::v4(0xC0000201), 80};
  fetched.times.started = base::Ticks::from_ms(1000);
  fetched.times.finished = base::Ticks::from_ms(1250);
  fetched.times.started_utc = kNow;
  fetched.times.finished_utc = kNow + base::Duration::from_ms(250);
  return answer;
}

inline Answer robots_answer(int status, std::string_view fields, std::string body) {
  Answer answer = answer_of(status, fields, std::move(body), "http://example.org/robots.txt");
  answer.visit.purpose = Purpose::kRobots;
  answer.visit.page.id = {};
  return answer;
}

// The version that an earlier visit stored, one hour ago.
inline PriorVersion prior_of(std::string_view body) {
  PriorVersion prior;
  prior.etag = "\"old\"";
  prior.last_modified = "Thu, 01 Jan 2026 00:00:00 GMT";
  prior.digest = archive::Sha1().of(body);
  prior.record.bytes[0] = 9;
  prior.date = kNow - base::Duration::hours(1);
  return prior;
}

}  // namespace meguri::crawl::testing
