// Scheduler: the module that lets visits go when neither their host nor their server minds.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "base/mutex.h"
#include "base/result.h"
#include "base/time.h"
#include "crawl/access_schedule.h"
#include "crawl/control_messages.h"
#include "crawl/messages.h"
#include "crawl/server_key.h"
#include "fetch/address.h"
#include "flow/module.h"

namespace meguri::crawl {

// Counted since the start.
struct SchedulerCounts {
  std::uint64_t added = 0;
  std::uint64_t left = 0;
  std::uint64_t called_off = 0;
  std::uint64_t refused_full = 0;
  std::uint64_t interrupted = 0;
};

// Keeps waiting visits and gives their numbers to an AccessSchedule. Every visit to a page leaves
// once, by `leaving` or as Refused; each that left comes back as one AccessEnd. A visit to
// robots.txt is never refused: where the schedule is full it waits here until there is room, and
// when the crawl ends it is dropped, since nobody waits for it any more.
//
// A host keeps the address of its first visit for as long as it has any, waiting or out, so that
// the server whose gate a visit passed is the server it goes to.
//
// It can be told to let nothing go, or nothing of some hosts, until it is told otherwise: what
// waits then waits on, and what is out comes home. Pauses by hand hold from the first visit after a
// restart, because it reads them itself.
//
// Nobody knows when hosts were asked before a restart, so that after one every host waits its full
// delay first. A file in the state folder tells restarts that no checkpoint knows of.
class Scheduler final : public flow::Module {
 public:
  Scheduler(AccessScheduleKind kind, AccessLimits limits) : kind_(kind), limits_(limits) {}

  static std::uint64_t key_of_visit(const Visit& visit);
  static std::uint64_t key_of_end(const AccessEnd& end);
  static std::uint64_t key_of_question(const SchedulerQuestion& question) { return question.key; }

  flow::In<Visit> visits = in<&Scheduler::on_visit, &Scheduler::key_of_visit>("visits");
  flow::In<AccessEnd> ends = in<&Scheduler::on_end, &Scheduler::key_of_end>("ends");
  flow::Out<Visit> leaving = out<Visit>("leaving");
  flow::In<SchedulerQuestion> questions =
      in<&Scheduler::on_question, &Scheduler::key_of_question>("questions");
  flow::Out<Refused> refused = out<Refused>("refused");
  flow::Out<SchedulerAnswer> answers = out<SchedulerAnswer>("answers");

  // From any thread; at most kSummaryEvery old while anything changes.
  AccessSummary summary() const;
  SchedulerCounts counts() const;

  static constexpr base::Duration kSummaryEvery = base::Duration::from_ms(250);

 private:
  enum Timer : std::uint64_t { kReady, kSummary };

  // What a host is held to while it has visits here.
  struct Pin {
    fetch::IpAddress address;
    std::uint64_t visits = 0;  // waiting or out
    bool ignores_duration = false;
  };

  void on_visit(Visit&& visit);
  void on_end(AccessEnd&& end);
  void on_question(SchedulerQuestion&& question);
  base::Status start() override;
  bool produce() override;
  void on_timer(std::uint64_t tag) override;
  bool idle() const override { return held_ == 0; }
  std::size_t backlog() const override { return held_ - out_; }
  base::Result<std::string> commit(flow::EpochId epoch) override;
  base::Status restore(flow::EpochId epoch, std::string_view state) override;

  base::Result<bool> was_started_before();
  void obey(const PauseOrder& order);
  void set_aside(std::uint64_t host);
  void take_up(std::uint64_t host);
  bool is_paused() const { return paused_all_ || !paused_by_disk_.empty(); }
  bool holds(const base::Id& page) const;
  void admit(Visit&& visit);
  bool add(Visit& visit);
  void unpin(std::uint64_t host);
  void let_out();
  void give_all_back();
  void give_back(const Visit& visit);
  void wake_for_next();
  void tell_summary();

  const AccessScheduleKind kind_;
  const AccessLimits limits_;
  std::unique_ptr<AccessSchedule> schedule_;
  bool is_restored_ = false;

  std::vector<Visit> slab_;  // by payload
  std::vector<std::uint32_t> free_;
  std::deque<Visit> overflow_;  // visits to robots.txt the schedule had no room for
  std::unordered_map<std::uint64_t, Pin> pins_;

  bool paused_all_ = false;
  std::string paused_by_disk_;  // why
  std::unordered_set<std::uint64_t> paused_hosts_;
  std::unordered_map<std::uint64_t, std::deque<Visit>> aside_;  // visits of paused hosts

  std::size_t held_ = 0;  // visits that wait or are out
  std::size_t out_ = 0;
  base::Ticks timer_at_ = base::Ticks::never();
  base::Ticks summary_at_;  // when it may be told again
  bool summary_waits_ = false;

  mutable base::Mutex mutex_;
  AccessSummary summary_ GUARDED_BY(mutex_);
  SchedulerCounts counts_told_ GUARDED_BY(mutex_);
  SchedulerCounts counts_;
};

}  // namespace meguri::crawl
