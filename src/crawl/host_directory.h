// HostDirectory: the module that knows hosts: their addresses, what their robots.txt says, and how
// long they want to rest.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "crawl/control_messages.h"
#include "crawl/durable_log.h"
#include "crawl/exclusion_file.h"
#include "crawl/host_aliases.h"
#include "crawl/host_pause.h"
#include "crawl/host_rules.h"
#include "crawl/host_table.h"
#include "crawl/messages.h"
#include "crawl/options.h"
#include "fetch/address_policy.h"
#include "flow/module.h"

namespace meguri::crawl {

// Counted since the start.
struct HostCounts {
  std::uint64_t hosts = 0;           // known now
  std::uint64_t waiting = 0;         // pages that wait here now
  std::uint64_t robots_awaited = 0;  // robots.txt that pages wait for now
  std::uint64_t names_asked = 0;
  std::uint64_t robots_asked = 0;                  // visits, redirects included
  std::uint64_t visits = 0;                        // to pages
  std::uint64_t cleared = 0;                       // of these, at the last look
  std::array<std::uint64_t, kRefusals> refused{};  // by Refusal
  HostAliases::Counts aliases;
};

// The life of a due page here:
//   address unknown → one NameQuestion for its host; robots.txt unknown or too old → one visit for
//   its site (scheme, host, port), and at most one at a time to any URL; all its pages wait → a
//   Visit to the Scheduler. When the Scheduler lets it go it comes back for a last look, because
//   that may be hours later: by then robots.txt may have changed, or be too old, or the page be on
//   the exclusion list.
// Where a host cannot be asked for a while, its pages are sent back for that while (kLater), so
// that they hold no credits: name servers that fail, robots.txt that cannot be had, visits that are
// not answered (retry_policy.h), and Retry-After. After tries_max they are refused for good.
// Every page leaves exactly once, cleared or refused. How many wait is bounded by the credits of
// whoever sent them.
//
// A host behind a proxy needs no address: the proxy finds it, and of the AddressPolicy only the
// rule for hosts that are addresses themselves can be kept.
//
// Pages of a host that is an alias (host_aliases.h) are refused, and offered under the name that is
// kept; whether they are the same is judged by the pages that HostNews tells of.
//
// An address holds for its TTL (1 minute to 1 day), and longer while the host has visits at the
// Scheduler, up to a day. Redirects of robots.txt are followed to any host, so that there is one
// instance only. HostNews comes when the epoch of an access is durable, so robots.txt takes at
// least one epoch. Durable: robots.txt, last access and errors, as of the last epoch.
class HostDirectory final : public flow::Module {
 public:
  // `exclusions` may be null.
  HostDirectory(const CrawlOptions& options, fetch::AddressPolicy policy,
                std::shared_ptr<ExclusionFile> exclusions = nullptr)
      : options_(options),
        policy_(std::move(policy)),
        exclusions_(std::move(exclusions)),
        rules_(options),
        robots_reader_(options.obeys_any_agent ? options.agent + " *" : options.agent),
        aliases_(options.aliases) {}

  static std::uint64_t key_of_page(const DuePage& page);
  static std::uint64_t key_of_name(const NameAnswer& answer) { return host_hash_of(answer.host); }
  static std::uint64_t key_of_news(const HostNews& item) { return host_hash_of(item.host); }
  static std::uint64_t key_of_visit(const Visit& visit) { return visit.host; }
  static std::uint64_t key_of_asked(const HostQuestion& /*question*/) { return 0; }

  flow::In<DuePage> due = in<&HostDirectory::on_due, &HostDirectory::key_of_page>("due");
  flow::In<NameAnswer> names = in<&HostDirectory::on_name, &HostDirectory::key_of_name>("names");
  flow::In<HostNews> news = in<&HostDirectory::on_news, &HostDirectory::key_of_news>("news");
  flow::In<Visit> leaving = in<&HostDirectory::on_leaving, &HostDirectory::key_of_visit>("leaving");
  flow::In<HostQuestion> asked =
      in<&HostDirectory::on_asked, &HostDirectory::key_of_asked>("asked");
  flow::Out<HostAnswer> answers = out<HostAnswer>("answers");
  flow::Out<NameQuestion> questions = out<NameQuestion>("questions");
  flow::Out<Visit> visits = out<Visit>("visits");    // to the Scheduler
  flow::Out<Visit> cleared = out<Visit>("cleared");  // to the Fetcher
  flow::Out<Refused> refused = out<Refused>("refused");
  flow::Out<AccessEnd> called_off = out<AccessEnd>("called_off");
  flow::Out<AliasChange> aliases = out<AliasChange>("aliases");  // to the UrlFilter,
  flow::Out<Candidate> offers = out<Candidate>("offers");        // as are these

  HostCounts counts() const;  // from any thread

  // For tests and results, while nothing runs.
  const HostTable& table() const { return table_; }

 private:
  // A visit to a robots.txt, and for whom.
  struct Trip {
    struct Want {
      SiteIndex site = 0;
      std::uint8_t hops = 0;  // redirects on its way here
    };
    std::vector<Want> wants;
  };

  using Counter = std::atomic<std::uint64_t>;
  struct Counters {
    Counter hosts, waiting, robots_awaited, names_asked, robots_asked, visits, cleared;
    Counter aliases, compared, parted;
    std::array<Counter, kRefusals> refused;
  };

  void on_due(DuePage&& page) { admit(std::move(page)); }
  void on_name(NameAnswer&& answer);
  void on_news(HostNews&& item);
  void on_leaving(Visit&& visit);
  void on_asked(HostQuestion&& question);
  base::Status start() override;
  bool produce() override;
  void on_timer(std::uint64_t tag) override;
  bool idle() const override { return waiting_ == 0; }
  std::size_t backlog() const override { return waiting_; }
  base::Result<std::string> commit(flow::EpochId epoch) override;
  void on_durable(flow::EpochId epoch) override;
  base::Status restore(flow::EpochId epoch, std::string_view state) override;

  std::uint16_t port_of(const web::Url& url) const;
  void admit(DuePage&& page);
  void admit_all(std::vector<DuePage>& pages);
  void wait(std::vector<DuePage>& line, DuePage&& page);
  void refuse(const DuePage& page, Refusal reason, base::Duration wait = {});
  void refuse_alias(const DuePage& page, const web::Url& url);
  void take_sample(const HostNews& item);
  bool is_excluded(const web::Url& url) const;
  void visit_page(DuePage&& page, const SiteRecord& site);
  void send(Visit&& visit, HostRecord& host);
  base::Ticks not_before(const HostRecord& host) const;
  base::Ticks not_before_since_restart(const HostRecord& host) const;

  void take_load(HostRecord& host, double load);
  HostPace pace_of(const HostRecord& host) const;
  bool has_address(const HostRecord& host) const;
  // It asked to be left alone for longer than anything shall wait, robots.txt included.
  bool is_held(const HostRecord& host) const {
    return host.hold_until > clock().utc() + options_.crawl_delay_max;
  }
  bool is_forbidden_behind_proxy(const HostRecord& host) const;
  void ask_name(HostRecord& host);
  void take_address(HostRecord& host, const NameAnswer& answer);

  RobotsStep step_of(const SiteRecord& site) const;
  void wait_for_robots(SiteIndex index);
  void ask_robots(SiteIndex index, std::string url, std::uint8_t hops);
  void visit_robots(const std::string& text);
  void settle_trip(const std::string& url, int status, std::string_view text,
                   std::string_view location);
  void take_answer(SiteIndex index, int status, std::string_view text);
  void take_stray_robots(const HostNews& item);

  // The reason against a visit that is about to be made, if there is one.
  std::optional<HostPause> last_look(const Visit& visit);
  void give_all_back();

  const CrawlOptions options_;
  const fetch::AddressPolicy policy_;
  const std::shared_ptr<ExclusionFile> exclusions_;
  HostRules rules_;
  const std::string robots_reader_;  // for whom rules are stored; others could not use them
  HostTable table_{rules_};
  HostAliases aliases_;
  std::unordered_map<std::string, Trip> trips_;  // by URL
  std::string restored_;                         // what the store is opened with
  std::unique_ptr<DurableLog> store_;            // of the table; null if nothing is kept on disk
  base::Instant started_utc_;                    // when this run began
  base::Ticks started_;                          // the same
  std::size_t waiting_ = 0;                      // pages in all lines
  std::unordered_map<std::uint64_t, double> server_loads_;  // of its hosts together
  Counters counters_;
};

}  // namespace meguri::crawl
