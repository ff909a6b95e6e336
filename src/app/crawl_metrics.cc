#include "app/crawl_metrics.h"

#include <fmt/format.h>

#include <initializer_list>
#include <iterator>
#include <string_view>
#include <utility>

#include "app/build_info.h"

namespace meguri::app {

namespace {

using Labels = std::initializer_list<std::pair<std::string_view, std::string_view>>;

// One family after the other: its head, then its samples.
class Exposition {
 public:
  void family(std::string_view name, std::string_view type, std::string_view help) {
    name_ = name;
    fmt::format_to(std::back_inserter(text_), "# HELP {0} {1}\n# TYPE {0} {2}\n", name, help, type);
  }
  void sample(Labels labels, auto value) { sample_of("", labels, value); }
  void sample(auto value) { sample_of("", {}, value); }
  // A sample of a histogram or a summary, whose name is longer than that of its family.
  void sample_of(std::string_view suffix, Labels labels, auto value) {
    text_.append(name_).append(suffix);
    char before = '{';
    for (const auto& [name, label] : labels) {
      text_.append(1, before).append(name).append("=\"");
      append_label(label);
      text_ += '"';
      before = ',';
    }
    fmt::format_to(std::back_inserter(text_), "{} {}\n", labels.size() == 0 ? "" : "}", value);
  }

  std::string take() { return std::move(text_); }

 private:
  void append_label(std::string_view value) {
    for (const char c : value) {
      if (c == '\\' || c == '"') text_ += '\\';
      if (c == '\n') {
        text_ += "\\n";
      } else {
        text_ += c;
      }
    }
  }

  std::string_view name_;
  std::string text_;
};

constexpr std::string_view kCounter = "counter";
constexpr std::string_view kGauge = "gauge";

void add_pages(const CrawlSnapshot& now, Exposition& out) {
  const CrawlStanding& pages = now.standing;
  out.family("meguri_pages", kGauge, "Pages the crawl knows, by state.");
  out.sample({{"state", "waiting"}}, pages.waiting);
  out.sample({{"state", "in_flight"}}, pages.in_flight);
  out.sample({{"state", "done"}}, pages.done);
  out.family("meguri_pages_due_again", kGauge,
             "Pages that are done, and due or being visited again.");
  out.sample(pages.again);
  out.family("meguri_revisits_total", kCounter, "Visits begun to pages that were done.");
  out.sample(pages.revisits);
  out.family("meguri_hinted_visits_total", kCounter,
             "Of these, before their time, because a sitemap or feed says that the page changed.");
  out.sample(now.hinted);
  out.family("meguri_hints_total", kCounter,
             "Such visits that found a change, and that found none.");
  out.sample({{"outcome", "right"}}, now.hints_right);
  out.sample({{"outcome", "wrong"}}, now.hints_wrong);
  out.family("meguri_pages_known", kGauge, "Pages the crawl knows.");
  out.sample(pages.known);
  out.family("meguri_pages_visited", kGauge, "Pages that were visited, by their last outcome.");
  for (std::size_t i = 0; i < pages.visited.size(); ++i) {
    out.sample({{"outcome", name_of(static_cast<crawl::VisitOutcome>(i))}}, pages.visited[i]);
  }
  out.family("meguri_pages_refused", kGauge, "Pages that were refused for good, by reason.");
  for (std::size_t i = 0; i < pages.refused.size(); ++i) {
    const auto reason = static_cast<crawl::Refusal>(i);
    if (!comes_again(reason)) out.sample({{"reason", name_of(reason)}}, pages.refused[i]);
  }
  out.family("meguri_pages_put_off_total", kCounter,
             "Times a page was refused for now and waits again.");
  out.sample(now.came_again);
  out.family("meguri_pages_from_history_total", kCounter,
             "Pages that came with what was archived of them before.");
  out.sample(now.from_history);
  out.family("meguri_hosts", kGauge, "Hosts that pages are known of.");
  out.sample(now.hosts);
}

void add_candidates(const CrawlSnapshot& now, Exposition& out) {
  out.family("meguri_candidates_accepted_total", kCounter,
             "URLs that were offered and belong to the crawl.");
  out.sample(now.candidates_accepted);
  out.family("meguri_candidates_renamed_total", kCounter,
             "URLs that were offered on an alias and became those of the host it is of.");
  out.sample(now.candidates_renamed);
  out.family("meguri_candidates_refused_total", kCounter,
             "URLs that were offered and became no pages, by reason.");
  for (std::size_t i = 0; i < now.candidates_refused.size(); ++i) {
    out.sample({{"reason", name_of(static_cast<crawl::UrlReason>(i))}}, now.candidates_refused[i]);
  }
  out.sample({{"reason", "pages-max"}}, now.over_pages_max);
  out.sample({{"reason", "pages-per-host-max"}}, now.over_host_max);
}

void add_durations(const crawl::VisitTotals& visits, Exposition& out) {
  out.family("meguri_fetch_duration_seconds", "histogram",
             "Time from a request to the end of its answer, or to its failure.");
  std::uint64_t below = 0;
  for (std::size_t i = 0; i < crawl::kDurationBoundsMs.size(); ++i) {
    below += visits.by_duration[i];
    const double bound = static_cast<double>(crawl::kDurationBoundsMs[i]) / 1000;
    out.sample_of("_bucket", {{"le", fmt::format("{}", bound)}}, below);
  }
  below += visits.by_duration.back();
  out.sample_of("_bucket", {{"le", "+Inf"}}, below);
  out.sample_of("_sum", {}, visits.duration.in_seconds());
  out.sample_of("_count", {}, below);
}

void add_visits(const CrawlSnapshot& now, Exposition& out) {
  const crawl::VisitTotals& visits = now.visits;
  out.family("meguri_visits_total", kCounter, "Visits that are in the archive, by purpose.");
  out.sample({{"purpose", "page"}}, visits.pages);
  out.sample({{"purpose", "robots"}}, visits.robots);
  out.family("meguri_answers_total", kCounter, "Answers, by the class of their status.");
  for (std::size_t i = 1; i < visits.by_status.size(); ++i) {
    out.sample({{"status", fmt::format("{}xx", i)}}, visits.by_status[i]);
  }
  out.sample({{"status", "other"}}, visits.by_status[0]);
  out.family("meguri_fetch_failures_total", kCounter, "Visits without an answer, by kind.");
  for (std::size_t i = 0; i < visits.by_fetch.size(); ++i) {
    const auto kind = static_cast<fetch::FetchOutcome>(i);
    if (kind == fetch::FetchOutcome::kAnswered) continue;
    out.sample({{"kind", fetch::name_of(kind)}}, visits.by_fetch[i]);
  }
  out.family("meguri_truncated_answers_total", kCounter, "Answers whose body is not whole.");
  out.sample(visits.truncated);
  out.family("meguri_links_total", kCounter, "Links that visited pages offered.");
  out.sample(visits.links);
  out.family("meguri_foreign_links_total", kCounter,
             "Links of pages in none of the wanted languages: not followed, or visited last.");
  out.sample(visits.foreign_links);
  out.family("meguri_received_bytes_total", kCounter, "Bytes of answers, heads included.");
  out.sample(visits.bytes_received);
  out.family("meguri_archived_bytes_total", kCounter, "Bytes of WARC records, compressed.");
  out.sample(visits.bytes_archived);
  add_durations(visits, out);
}

void add_hosts(const CrawlSnapshot& now, Exposition& out) {
  out.family("meguri_requests_open", kGauge, "Requests that wait for their answer.");
  out.sample(now.backlog_of("fetcher"));
  out.family("meguri_name_questions_total", kCounter, "Hosts whose address was asked for.");
  out.sample(now.directory.names_asked);
  out.family("meguri_name_questions_open", kGauge, "Hosts whose address is being asked for.");
  out.sample(now.backlog_of("resolver"));
  out.family("meguri_robots_requests_total", kCounter,
             "Visits to robots.txt that were scheduled, redirects included.");
  out.sample(now.directory.robots_asked);
  out.family("meguri_robots_awaited", kGauge, "robots.txt that pages wait for.");
  out.sample(now.directory.robots_awaited);
  out.family("meguri_visit_refusals_total", kCounter,
             "Due pages that their host refused, for good or for now, by reason.");
  for (std::size_t i = 0; i < now.directory.refused.size(); ++i) {
    out.sample({{"reason", name_of(static_cast<crawl::Refusal>(i))}}, now.directory.refused[i]);
  }
}

void add_aliases(const crawl::HostAliases::Counts& aliases, Exposition& out) {
  out.family("meguri_aliases", kGauge, "Hosts that are aliases of others.");
  out.sample(aliases.aliases);
  out.family("meguri_alias_pairs", kGauge, "Pairs of hosts that are or were compared.");
  out.sample(aliases.compared);
  out.family("meguri_aliases_parted_total", kCounter, "Aliases that turned out to be none.");
  out.sample(aliases.parted);
}

void add_schedule(const CrawlSnapshot& now, Exposition& out) {
  const crawl::AccessSummary& schedule = now.schedule;
  out.family("meguri_schedule_visits", kGauge, "Visits in the schedule of accesses, by state.");
  out.sample({{"state", "waiting"}}, schedule.jobs_waiting);
  out.sample({{"state", "in_flight"}}, schedule.jobs_in_flight);
  out.family("meguri_schedule_hosts_delayed", kGauge,
             "Hosts with waiting visits that are within their delay.");
  out.sample(schedule.hosts_delayed);
  out.family("meguri_schedule_servers", kGauge,
             "Servers with waiting visits, by what these wait for.");
  out.sample({{"waiting_for", "gap"}}, schedule.servers_gap);
  out.sample({{"waiting_for", "answer"}}, schedule.servers_busy);
  out.sample({{"waiting_for", "nothing"}}, schedule.servers_ready);
  out.family("meguri_accesses_total", kCounter, "Visits that the schedule let go.");
  out.sample(now.accesses.left);
  out.family("meguri_accesses_called_off_total", kCounter,
             "Of these, visits that were called off before anything was sent.");
  out.sample(now.accesses.called_off);
}

void add_modules(const flow::Metrics& graph, Exposition& out) {
  const auto each = [&](std::string_view name, std::string_view type, std::string_view help,
                        auto value_of) {
    out.family(name, type, help);
    for (const flow::InstanceMetrics& module : graph.instances) {
      out.sample({{"module", module.name}}, value_of(module));
    }
  };
  using Module = flow::InstanceMetrics;
  each("meguri_module_items_in_total", kCounter, "Items a module has taken.",
       [](const Module& module) { return module.items_in; });
  each("meguri_module_items_out_total", kCounter, "Items a module has emitted.",
       [](const Module& module) { return module.items_out; });
  each("meguri_module_busy_seconds_total", kCounter, "Time a module has run.",
       [](const Module& module) { return module.busy_seconds; });
  each("meguri_module_stalls_total", kCounter, "Runs that ended because an output was full.",
       [](const Module& module) { return module.runs_full; });
  each("meguri_module_backlog", kGauge, "Items a module holds.",
       [](const Module& module) { return module.backlog; });
}

void add_edges(const flow::Metrics& graph, Exposition& out) {
  const auto each = [&](std::string_view name, std::string_view type, std::string_view help,
                        auto value_of) {
    out.family(name, type, help);
    for (const flow::EdgeMetrics& edge : graph.edges) {
      out.sample({{"from", edge.from}, {"to", edge.to}, {"ports", edge.ports}}, value_of(edge));
    }
  };
  using Edge = flow::EdgeMetrics;
  each("meguri_edge_items_total", kCounter, "Items that have entered an edge of the graph.",
       [](const Edge& edge) { return edge.items; });
  each("meguri_edge_depth", kGauge, "Items queued in an edge.",
       [](const Edge& edge) { return edge.depth; });
  each("meguri_edge_waits_total", kCounter, "Times a producer found an edge full.",
       [](const Edge& edge) { return edge.waits; });
}

void add_process(const CrawlSnapshot& now, Exposition& out) {
  out.family("meguri_epoch", kGauge, "The last durable epoch.");
  out.sample(now.graph.durable_epoch);
  out.family("meguri_epoch_duration_seconds", "summary",
             "Time from the begin of an epoch to its checkpoint.");
  out.sample_of("_sum", {}, now.graph.epoch_seconds);
  out.sample_of("_count", {}, now.graph.epochs);
  if (now.disk_free_bytes) {
    out.family("meguri_disk_free_bytes", kGauge, "Free space on the disk of the archive.");
    out.sample(*now.disk_free_bytes);
  }
  out.family("meguri_held", kGauge, "1 while the crawl begins no visits, because it is paused.");
  out.sample(now.held.empty() ? 0 : 1);
  out.family("meguri_running_seconds", kGauge, "Time since the crawl was started.");
  out.sample(now.running.in_seconds());
  out.family("process_cpu_seconds_total", kCounter, "Processor time, user and system.");
  out.sample(now.process.cpu_seconds);
  out.family("process_resident_memory_bytes", kGauge, "Resident memory.");
  out.sample(now.process.resident_bytes);
  out.family("process_open_fds", kGauge, "Open files and sockets.");
  out.sample(now.process.open_files);
  out.family("process_max_fds", kGauge, "How many of these there may be.");
  out.sample(now.process.open_files_max);
}

}  // namespace

std::string metrics_text(const CrawlSnapshot& now) {
  Exposition out;
  out.family("meguri_build_info", kGauge, "What this program was built as.");
  out.sample({{"version", version()}, {"compiler", compiler()}}, 1);
  add_pages(now, out);
  add_candidates(now, out);
  add_visits(now, out);
  add_hosts(now, out);
  add_aliases(now.directory.aliases, out);
  add_schedule(now, out);
  add_modules(now.graph, out);
  add_edges(now.graph, out);
  add_process(now, out);
  return out.take();
}

}  // namespace meguri::app
