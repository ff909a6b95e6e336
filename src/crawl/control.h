// Control: answers what people ask of a running crawl, holds it when they or the disk say so, and
// takes further seeds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "crawl/control_mailbox.h"
#include "crawl/control_messages.h"
#include "crawl/pause_state.h"
#include "flow/module.h"

namespace meguri::crawl {

struct ControlOptions {
  // Instances, each of which is asked.
  std::size_t registries = 1;
  std::size_t schedulers = 1;
  // Fetching rests while the disk of this folder has fewer bytes left than `free_bytes_min`, and
  // goes on by itself when it has an eighth more than that. 0: the disk is not looked at.
  std::string disk = {};
  std::uint64_t free_bytes_min = 0;
};

// A single instance. Takes requests from its mailbox, asks the modules that know, each under a
// credit, joins their answers and completes the request. Every module answers at once, so that a
// request takes as long as the queues before it, and the crawl does not end before it is answered;
// should it be stopped, what was asked fails with kStopped. A Control that nobody asks keeps no
// crawl from ending.
//
// Pauses by hand are in a file of the state folder before they are acknowledged (pause_state.h), so
// the module is a blocking one. What waits while the crawl is paused keeps it from ending.
class Control final : public flow::Module {
 public:
  static constexpr std::size_t kPendingMax = 16;  // requests at a time
  // For the edge of each question: a request asks an instance once at a time, and so does the disk.
  static constexpr std::size_t kCredits = kPendingMax + 1;
  static constexpr base::Duration kDiskEvery = base::Duration::seconds(2);

  Control(std::shared_ptr<ControlMailbox> mailbox, ControlOptions options)
      : mailbox_(std::move(mailbox)), options_(std::move(options)) {}
  ~Control() override;

  flow::Out<RegistryQuestion> ask_registry = out<RegistryQuestion>("ask_registry");
  flow::Out<FilterQuestion> ask_filter = out<FilterQuestion>("ask_filter");
  flow::Out<HostQuestion> ask_hosts = out<HostQuestion>("ask_hosts");
  flow::Out<SchedulerQuestion> ask_scheduler = out<SchedulerQuestion>("ask_scheduler");
  flow::Out<SeedQuestion> ask_seeder = out<SeedQuestion>("ask_seeder");
  flow::In<RegistryAnswer> of_registry = in<&Control::on_registry>("of_registry");
  flow::In<FilterAnswer> of_filter = in<&Control::on_filter>("of_filter");
  flow::In<HostAnswer> of_hosts = in<&Control::on_hosts>("of_hosts");
  flow::In<SchedulerAnswer> of_scheduler = in<&Control::on_scheduler>("of_scheduler");
  flow::In<SeedAnswer> of_seeder = in<&Control::on_seeder>("of_seeder");

 private:
  static constexpr Ticket kDiskTicket = 0;

  struct Pending {
    ControlRequest request;
    ControlDone done;
    ControlReply reply;
    std::size_t awaited = 0;  // answers
    bool is_last = false;     // no further questions follow the answers
  };
  using PendingAt = std::map<Ticket, Pending>::iterator;

  base::Status start() override;
  bool produce() override;
  void on_timer(std::uint64_t tag) override;
  bool idle() const override { return pending_.empty(); }
  std::size_t backlog() const override { return pending_.size(); }

  void on_registry(RegistryAnswer&& answer);
  void on_filter(FilterAnswer&& answer);
  void on_hosts(HostAnswer&& answer);
  void on_scheduler(SchedulerAnswer&& answer);
  void on_seeder(SeedAnswer&& answer);

  void begin(ControlMailbox::Posted&& posted);
  base::Status begin_request(Ticket ticket, Pending& pending, const AddSeeds& request);
  base::Status begin_request(Ticket ticket, Pending& pending, const AskWhy& request);
  base::Status begin_request(Ticket ticket, Pending& pending, const AskHosts& request);
  base::Status begin_request(Ticket ticket, Pending& pending, const ChangePause& request);
  void go_on(Ticket ticket, Pending& pending);
  void ask_why(Ticket ticket, Pending& pending, const WhyFacts& facts);
  void ask_rows(Ticket ticket, Pending& pending, HostList& list);
  void settle(PendingAt pending);
  void finish(PendingAt pending);

  void send(Pending& pending, RegistryQuestion&& question);
  void send(Pending& pending, SchedulerQuestion&& question);
  PauseOrder order() const;
  void look_at_disk();
  void tell_of_disk();
  bool is_paused(const std::string& host) const { return pauses_.hosts.contains(host); }

  const std::shared_ptr<ControlMailbox> mailbox_;
  const ControlOptions options_;
  bool is_open_ = false;  // the mailbox, by us
  std::map<Ticket, Pending> pending_;
  Ticket last_ticket_ = kDiskTicket;
  PauseState pauses_;
  std::string disk_;       // why the disk forbids to fetch; empty: it does not
  std::string disk_told_;  // what the Scheduler heard of it last
  std::size_t disk_awaited_ = 0;
};

}  // namespace meguri::crawl
