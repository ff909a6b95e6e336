// Registry: knows every page of the crawl, and hands out those whose time has come.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <queue>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/hash.h"
#include "base/result.h"
#include "base/time.h"
#include "crawl/control_messages.h"
#include "crawl/due_queue.h"
#include "crawl/host_page_counts.h"
#include "crawl/host_rules.h"
#include "crawl/messages.h"
#include "crawl/options.h"
#include "crawl/page_groups.h"
#include "crawl/page_record.h"
#include "crawl/page_store.h"
#include "crawl/registry_state.h"
#include "crawl/revisit_plan.h"
#include "flow/module.h"

namespace meguri::crawl {

// Written by the Registry's thread, read by any: each number is right by itself, while the Registry
// runs they may be a few pages apart. known = waiting + in_flight - in_flight_again + done: a page
// that was visited or refused once is done, whatever becomes of it.
struct RegistryCounts {
  using Count = std::atomic<std::uint64_t>;

  Count known{0};
  Count waiting{0};
  Count in_flight{0};
  Count in_flight_again{0};  // of these, pages that are done
  Count due_again{0};        // pages that are done, whose time has come, and that wait in memory
  Count done{0};
  std::array<Count, kVisitOutcomes> visited{};  // done, by the last VisitOutcome
  std::array<Count, kRefusals> refused{};       // done, by the last Refusal
  Count hosts{0};

  // Since the start of this process.
  Count handed_out{0};
  Count handed_out_again{0};  // of these, pages that are done
  Count came_again{0};        // refused for now
  Count tries_failed{0};      // visits that are to be made again
  Count offered_again{0};     // candidates that were known
  Count over_pages_max{0};    // candidates refused because there are enough pages,
  Count over_host_max{0};     // or enough of their host
  Count reports_ignored{0};   // not newer than what is known, or of no page
  Count hints_heeded{0};      // candidates with a date of change that may be news
  Count from_history{0};      // pages that came with their history
  Count hinted{0};            // of the pages handed out again, before their own time by such
  Count hints_right{0};       // of these, that had changed,
  Count hints_wrong{0};       // and had not
};

// Counters have one writer, so they need no atomic addition.
inline void add(RegistryCounts::Count& count, std::uint64_t n = 1) {
  count.store(count.load(std::memory_order_relaxed) + n, std::memory_order_relaxed);
}
inline void subtract(RegistryCounts::Count& count) { add(count, std::uint64_t(-1)); }

// Where a page that is due stands in the queue.
std::size_t lane_of(const PageRecord& record);

// Split by page id. All pages are in a PageStore on disk, by the time of their next visit; those
// whose time has come stand in a queue in memory. A page is handed out under a credit; it comes
// home by one Report or Refused, and is out once at a time. Nothing is written when it leaves:
// after a crash all pages that are not done are due again.
//
// A page that was visited is visited again for ever, when its RevisitPlan says; or never, where
// pages are visited once. New and known pages take turns.
//
// A known page that is offered with a date of change since its last visit, as sitemaps and feeds
// do, is visited before its own time: RevisitPlan says when, by how often what its host says was
// right. That is judged when the page is read from the store, and again when it is handed out, so
// that a host which turns out to be lying is left alone before all that it named was visited. Of a
// page that is out nothing is kept: it is visited now anyway, and of what it came home with after
// such a date the next sitemap or feed tells.
//
// A page that comes with a history counts as visited then, and has the time of its next visit from
// it. If that is over, it is visited soon: within what lies between its visits, and within a day,
// so that not all are due at once; a seed now. Where pages are visited once, it is as any other.
//
// A page whose visit failed in a way that may pass waits for another try, tries_max in all; when
// that is, is durable. A host that cannot be asked for a while rests, and all its pages with it.
//
// The queue has a limit. Beyond half of it a host with more than its share, of which new and known
// pages have a half each, has the rest wait in the store, each page for the time it will take those
// before it; what then finds no place waits again. Of a host that is visited for ever no more than
// a day's worth is queued or given such times; the rest goes back for three days. When the queue is
// full, all that is new waits in the store.
//
// Lanes, first to last: embeds and targets of redirects, so that they follow their page soon;
// seeds; their links; two levels more; the rest; links of pages in a foreign language. Within a
// lane hosts take turns.
//
// Pages of a host that the configuration pauses wait until it no longer does; a crawl ends without
// them.
//
// With several instances each has its share of pages_max, pages_per_host_max and per_host_max, of
// the last at least 1; the credit edge's limit is for each instance.
class Registry final : public flow::Module {
 public:
  explicit Registry(const CrawlOptions& options);

  flow::In<Candidate> candidates = in<&Registry::on_candidate, &Registry::key>("candidates");
  flow::In<Report> reports = in<&Registry::on_report, &Registry::report_key>("reports");
  flow::In<Refused> refused = in<&Registry::on_refused, &Registry::refused_key>("refused");
  flow::In<RegistryQuestion> questions =
      in<&Registry::on_question, &Registry::question_key>("questions");
  flow::Out<DuePage> due = out<DuePage>("due");
  flow::Out<RegistryAnswer> answers = out<RegistryAnswer>("answers");
  flow::Out<RefusalNote> notes = out<RefusalNote>("notes");

  static std::uint64_t key(const Candidate& item) { return page_id_of(item.url).high; }
  static std::uint64_t report_key(const Report& item) { return item.id.high; }
  static std::uint64_t refused_key(const Refused& item) { return item.id.high; }
  static std::uint64_t question_key(const RegistryQuestion& item) { return item.key; }

  // Any thread, while the module lives.
  const RegistryCounts& counts() const { return counts_; }
  bool goes_on() const { return revisit_.is_on; }  // for ever

  // What is known of a page. Only while nothing runs.
  base::Result<std::optional<PageRecord>> find(const base::Id& id) { return pages_->find(id); }

  // A host that was full is left alone for this long, and at most this long where it is said.
  static constexpr base::Duration kRest = base::Duration::seconds(1);
  static constexpr base::Duration kRestMax = base::Duration::hours(1);
  // Where pages are visited once, one that is done and due is put off by this.
  static constexpr base::Duration kDoneWait = base::Duration::days(1);
  // What a host cannot be asked for within the first is put off by the second.
  static constexpr base::Duration kQueuedTime = base::Duration::days(1);
  static constexpr base::Duration kOverloadWait = base::Duration::days(3);
  // Whether a candidate is new is found out within this.
  static constexpr base::Duration kDecideWithin = base::Duration::seconds(5);
  // Hints are gathered for so long, since each of them may need its bucket to be read; and for so
  // many times as long as reading took.
  static constexpr base::Duration kHintsWithin = base::Duration::minutes(1);
  static constexpr int kHintsRest = 20;

 private:
  static constexpr int kHandOutAtOnce = 256;
  // A host may have so many pages in the queue, however many hosts there are.
  static constexpr std::size_t kHostShareMin = 128;

  struct IdHash {
    std::size_t operator()(const base::Id& id) const { return id.low; }
  };

  void on_candidate(Candidate&& item);
  void on_report(Report&& item);
  void on_refused(Refused&& item);
  void on_question(RegistryQuestion&& question);
  bool produce() override;
  void on_timer(std::uint64_t tag) override;
  bool idle() const override;
  std::size_t backlog() const override { return counts_.waiting; }

  base::Status start() override;
  base::Result<std::string> commit(flow::EpochId epoch) override;
  void on_durable(flow::EpochId epoch) override;
  base::Status restore(flow::EpochId epoch, std::string_view state) override;

  void load_hosts();
  bool check(const base::Status& status);  // a failure stops the graph
  RegistryCounts::Count& end_count_of(const PageRecord& record);
  void count_end(Index host, const PageRecord& before, const PageRecord& record);
  std::uint64_t host_limit_of(const HostPolicy& policy) const;
  bool has_room_for(std::string_view host_name, std::uint64_t host_hash);
  Index host_of(std::string_view name, std::uint64_t hash);
  void count_waiting(Index host, std::uint64_t n);
  void take_new(const base::Id& id, Candidate&& candidate);
  bool take_history(const base::Id& id, PageRecord& record, Index host);
  void take_known(const base::Id& id, Candidate&& candidate);
  bool heeds(const Candidate& candidate) const;
  void serve_hints_soon();
  base::Status serve_hints();
  double trust_in(Index host) const;
  base::Result<bool> goes_back(const base::Id& id, PageRecord& record,
                               std::optional<base::Instant> modified, Index host);
  void count_hint(const Report& report, const PageRecord& before, const PageRecord& record,
                  Index host);
  void decide_soon();
  base::Status decide();
  bool has_share_left(Index host, bool is_again) const;
  base::Duration pace_of(Index host) const;
  base::Instant next_slot(Index host);
  base::Status queue_or_store(const base::Id& id, const PageRecord& record, Index host);
  base::Status take_due(PageStore::Due&& page, Index host);
  base::Result<bool> refill();
  struct InFlight {
    Index host = kNoIndex;
    bool is_again = false;  // it was done before
  };
  std::optional<InFlight> come_home(const base::Id& id);
  void count_waiting(const PageRecord& record, Index host);
  void wait_again(const base::Id& id, const PageRecord& record, Index host, base::Duration rest);
  bool may_try_again(const Report& item, const PageRecord& record) const;
  base::Status wait_for_try(const base::Id& id, const PageRecord& record, Index host);
  void wait_until(base::Instant time, const base::Id& id, Index host);
  void plan_visit(const Report& item, PageRecord& record, Index host);
  void count_in_group(const base::Id& id, const PageRecord& before, PageRecord& record,
                      const HostPace& pace);
  base::Status finish(const base::Id& id, const PageRecord& before, const PageRecord& record,
                      Index host);
  void set_timer_for(base::Ticks at);
  void set_timer_for_store();
  bool hand_out_one();
  HostPages pages_of(Index host) const;
  std::vector<HostPages> first_hosts(HostOrder order, std::size_t limit) const;
  std::uint64_t share_of(std::uint64_t total) const;

  const std::uint64_t pages_max_total_;
  const std::uint64_t per_host_max_total_;
  const std::uint32_t tries_max_;
  const base::Duration hold_max_;  // a page that must wait longer for its next try is given up
  HostRules rules_;
  // This instance's; known from start() on.
  std::uint64_t pages_max_ = 0;

  const RevisitOptions revisit_;
  const bool pulls_;                 // hints count
  std::optional<RevisitPlan> plan_;  // from start() on

  const std::size_t queued_max_;
  const sat::IdStoreOptions store_options_;

  RegistryState restored_;  // what the stores are opened with
  std::unique_ptr<PageStore> pages_;
  std::unique_ptr<HostPageCounts> host_counts_;  // with the indices of the queue
  std::unique_ptr<PageGroups> groups_;           // where overloaded hosts are spared by them
  std::unique_ptr<DueQueue> queue_;
  std::vector<base::Instant> slots_;      // by host: the last time that a page of it was given
  std::vector<base::Duration> paces_;     // by host: from one visit to the next, as it last was
  std::vector<std::uint32_t> again_out_;  // by host: pages in flight that are done
  std::unordered_map<base::Id, InFlight, IdHash> in_flight_;
  std::vector<bool> is_paused_;       // by host
  std::uint64_t paused_waiting_ = 0;  // of the waiting pages, those of paused hosts
  using Resting = std::pair<base::Ticks, Index>;
  using Later = std::tuple<base::Ticks, base::Id, Index>;
  template <typename T>
  using FirstOf = std::priority_queue<T, std::vector<T>, std::greater<>>;
  FirstOf<Resting> resting_;                     // hosts, by when they wake
  FirstOf<Later> later_;                         // pages, by when they may be tried again
  base::Ticks timer_at_ = base::Ticks::never();  // the earliest that is set
  base::Ticks decide_at_ = base::Ticks::never();
  base::Ticks hints_at_ = base::Ticks::never();  // from then on they are served
  base::Ticks hints_not_before_;
  base::Duration hints_took_;  // since they began to be served
  RegistryCounts counts_;
};

}  // namespace meguri::crawl
