// Registry: knows every page of the crawl, and hands out those whose time has come.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "base/hash.h"
#include "base/result.h"
#include "base/time.h"
#include "crawl/due_queue.h"
#include "crawl/durable_map.h"
#include "crawl/messages.h"
#include "crawl/options.h"
#include "crawl/page_record.h"
#include "flow/module.h"

namespace meguri::crawl {

inline constexpr std::size_t kVisitOutcomes = 5;

// Written by the Registry's thread, read by any: each number is right by itself, while the Registry
// runs they may be a few pages apart. known = waiting + in_flight + done.
struct RegistryCounts {
  using Count = std::atomic<std::uint64_t>;

  Count known{0};
  Count waiting{0};
  Count in_flight{0};
  Count done{0};
  std::array<Count, kVisitOutcomes> visited{};  // done, by VisitOutcome
  std::array<Count, kRefusals> refused{};       // done, by Refusal
  Count hosts{0};

  // Since the start of this process.
  Count handed_out{0};
  Count came_again{0};       // refused for now
  Count offered_again{0};    // candidates that were known
  Count over_pages_max{0};   // candidates refused because there are enough pages,
  Count over_host_max{0};    // or enough of their host
  Count reports_ignored{0};  // not newer than what is known, or of no page
};

// Split by page id. A page is handed out under a credit; it comes home by one Report or Refused,
// and is out once at a time. Nothing is written when it leaves: after a crash all pages that are
// not done wait again, in the order in which they were found.
//
// Lanes, first to last: embeds and targets of redirects, so that they follow their page soon;
// seeds; their links; two levels more; the rest. Within a lane hosts take turns.
//
// With several instances each has its share of pages_max, pages_per_host_max and per_host_max, of
// the last at least 1; the credit edge's limit is for each instance.
class Registry final : public flow::Module {
 public:
  explicit Registry(const CrawlOptions& options);

  flow::In<Candidate> candidates = in<&Registry::on_candidate, &Registry::key>("candidates");
  flow::In<Report> reports = in<&Registry::on_report, &Registry::report_key>("reports");
  flow::In<Refused> refused = in<&Registry::on_refused, &Registry::refused_key>("refused");
  flow::Out<DuePage> due = out<DuePage>("due");

  static std::uint64_t key(const Candidate& item) { return page_id_of(item.url).high; }
  static std::uint64_t report_key(const Report& item) { return item.id.high; }
  static std::uint64_t refused_key(const Refused& item) { return item.id.high; }

  // Any thread, while the module lives.
  const RegistryCounts& counts() const { return counts_; }

  // What is known of a page. Only while nothing runs.
  std::optional<PageRecord> find(const base::Id& id) const;

  // A host that was full is left alone for this long.
  static constexpr base::Duration kRest = base::Duration::seconds(1);

 private:
  static constexpr int kHandOutAtOnce = 256;

  struct IdHash {
    std::size_t operator()(const base::Id& id) const { return id.low; }
  };

  void on_candidate(Candidate&& item);
  void on_report(Report&& item);
  void on_refused(Refused&& item);
  bool produce() override;
  void on_timer(std::uint64_t tag) override;
  bool idle() const override;
  std::size_t backlog() const override { return counts_.waiting; }

  base::Status start() override;
  base::Result<std::string> commit(flow::EpochId epoch) override;
  void on_durable(flow::EpochId epoch) override;
  base::Status restore(flow::EpochId epoch, std::string_view state) override;

  base::Status load_pages();
  void count_done(const PageRecord& record, bool more);
  bool has_room_for(std::uint64_t host_hash);
  void register_page(const base::Id& id, Candidate&& candidate, std::uint64_t host_hash);
  void offer_again(const base::Id& id, std::string_view encoded, Candidate&& candidate);
  std::optional<Index> come_home(const base::Id& id);
  void wait_again(const base::Id& id, const PageRecord& record, Index host);
  bool hand_out_one();
  void store(const base::Id& id, const PageRecord& record);
  std::uint64_t share_of(std::uint64_t total) const;

  const std::uint64_t pages_max_total_;
  const std::uint64_t pages_per_host_max_total_;
  const std::uint64_t per_host_max_total_;
  // This instance's; known from start() on.
  std::uint64_t pages_max_ = 0;
  std::uint64_t pages_per_host_max_ = 0;

  std::string restored_;  // what the map is opened with
  std::unique_ptr<DurableMap> pages_;
  std::unique_ptr<DueQueue> queue_;
  std::unordered_map<base::Id, Index, IdHash> in_flight_;  // with its host
  std::deque<std::pair<base::Ticks, Index>> resting_;      // hosts, by when they wake
  std::uint64_t next_order_ = 0;
  std::string encoded_;
  RegistryCounts counts_;
};

}  // namespace meguri::crawl
