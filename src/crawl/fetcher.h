// Fetcher: makes the accesses that were allowed, and hands on what came of each.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <unordered_map>

#include "base/time.h"
#include "crawl/host_rules.h"
#include "crawl/messages.h"
#include "crawl/options.h"
#include "env/clock.h"
#include "fetch/http_client.h"
#include "flow/module.h"

namespace meguri::crawl {

// What is read of a robots.txt: RFC 9309's 500 KiB and more, and one byte that tells of a longer
// one.
inline constexpr std::uint64_t kRobotsBytesMax = std::uint64_t{512} * 1024 + 1;

// The request of a visit. Nullopt: its URL is none that can be asked for.
std::optional<fetch::FetchRequest> request_of(const Visit& visit, const CrawlOptions& options);

// What holds for its host: user agent, fields and proxy.
void set_policy(const HostPolicy& policy, fetch::FetchRequest& request);

// Whether anything was sent, so that the server must be left alone for a while.
bool has_happened(const fetch::Fetched& fetched);

// A poller; one HttpClient for each instance. Every visit leads to exactly one Answer and one
// AccessEnd. Visits beyond the client's capacity wait inside, in order. While draining it goes on
// until all of them are answered: the Scheduler sends no more.
class Fetcher final : public flow::Module {
 public:
  using MakeClient = std::function<std::unique_ptr<fetch::HttpClient>(const env::Clock&)>;

  Fetcher(const CrawlOptions& options, MakeClient make);

  flow::In<Visit> visits = in<&Fetcher::on_visit>("visits");
  flow::Out<Answer> answers = out<Answer>("answers");
  flow::Out<AccessEnd> ends = out<AccessEnd>("ends");

 private:
  void on_visit(Visit&& visit);
  base::Status start() override;
  bool idle() const override { return backlog() == 0; }
  std::size_t backlog() const override { return waiting_.size() + under_way_.size(); }
  void poll(base::Duration wait) override;
  void wake() override { client_->wake(); }
  base::Ticks next_poll() const override;

  void begin(Visit&& visit);
  void begin_waiting();
  void end(Visit&& visit, fetch::Fetched&& fetched);
  bool has_room() const { return client_->in_flight() < client_->capacity(); }

  const CrawlOptions options_;
  HostRules rules_;
  const MakeClient make_;
  std::unique_ptr<fetch::HttpClient> client_;
  std::deque<Visit> waiting_;
  std::unordered_map<std::uint64_t, Visit> under_way_;  // by tag
  std::uint64_t next_tag_ = 0;
};

}  // namespace meguri::crawl
