#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/command.h"
#include "app/figures.h"
#include "app/values.h"
#include "base/progress.h"
#include "env/clock.h"
#include "env/posix_file_system.h"
#include "revisit/baselines.h"
#include "revisit/policy.h"
#include "sim/revisit_run.h"
#include "sim/revisit_world.h"
#include "sim/trace.h"

namespace meguri::app {
namespace {

using Json = nlohmann::ordered_json;
using base::Duration;

constexpr std::string_view kOracle = "oracle";
constexpr const char* kPolicies[] = {"paper",         "adaptive",     "uniform", "nutch",
                                     "nutch-default", "stormcrawler", "oracle"};

constexpr std::size_t kPages = 10'000;
constexpr double kDays = 365;
constexpr double kDaysMax = 20'000;
constexpr std::size_t kChangesMax = 1'000'000'000;
constexpr int kBarColumns = 30;

// What steps do the policies that go by steps take; nullopt: it is none of them.
std::optional<revisit::StepRule> steps_of(std::string_view name) {
  if (name == "nutch") return revisit::nutch_rule();
  if (name == "nutch-default") return revisit::nutch_default_rule();
  if (name == "stormcrawler") return revisit::storm_crawler_rule();
  return std::nullopt;
}

// Null: there is none of that name. An oracle knows no shortest interval. `first`: until the second
// visit, if that was said.
std::unique_ptr<revisit::Policy> policy_of(std::string_view name, revisit::PolicyOptions options,
                                           std::optional<Duration> first) {
  if (auto steps = steps_of(name)) {
    steps->first = first.value_or(steps->first);
    return std::make_unique<revisit::StepPolicy>(options, *steps);
  }
  options.first_max = first.value_or(options.first_max);
  options.first_min = std::min(options.first_min, options.first_max);
  if (name == "paper") return std::make_unique<revisit::PaperPolicy>(options);
  if (name == "adaptive") return std::make_unique<revisit::AdaptivePolicy>(options);
  // Any interval will do: it is scaled to the budget.
  if (name == "uniform") {
    return std::make_unique<revisit::UniformPolicy>(options, Duration::days(1));
  }
  if (name != kOracle) return nullptr;
  options.interval_min = std::min(options.interval_min, Duration::minutes(1));
  return std::make_unique<revisit::OraclePolicy>(options);
}

struct Row {
  std::string policy;
  sim::RevisitReport report;
};

double versus(const sim::RevisitReport& report, const sim::RevisitReport& oracle) {
  const auto captured = static_cast<double>(report.holdings.versions_held);
  const auto best = static_cast<double>(oracle.holdings.versions_held);
  return best > 0 ? captured / best : 1;
}

class SimulateCommand final : public Command {
 public:
  void declare(Options options) override {
    options.option("--policy", "NAME", policy_,
                   "paper, adaptive, uniform, nutch (x0.8 / x1.2), nutch-default (x0.8 / x1.4), "
                   "stormcrawler, oracle, or all (default: paper)");
    options.option("--pages", "N", pages_,
                   "Pages that change at random, every 30 minutes to 400 days, a tenth of them "
                   "daily or faster (default: 10000; with --trace: all)");
    options.option("--days", "D", days_, "For so long (default: 365; with --trace: all of it)");
    options.option("--budget", "B", budget_,
                   "Visits for each change of a page, on the mean over all pages: 1 is one visit "
                   "in each page's mean interval (x = 1), 2 twice as many (x = 0.5); first visits "
                   "are free (default: 1)");
    options.option("--min-interval", "DURATION", min_interval_,
                   "No page is visited more often, except by the oracle (default: 1h)");
    options.option("--first-interval", "DURATION", first_interval_,
                   "From the first visit of a page to the second: at most, by paper (default: 2d), "
                   "exactly, by nutch (14d), nutch-default (30d) and stormcrawler (1d)");
    options.option("--trace", "FILE", trace_,
                   "Pages change as those in FILE: a path, a tab, and seconds since 1970");
    options.option("--seed", "N", seed_, "Which of all such worlds (default: 1)");
    options.flag("--json", json_, "Print one JSON object");
  }

  base::Status run(Output& out) override {
    RETURN_IF_ERROR(read());
    ASSIGN_OR_RETURN(const sim::RevisitWorld world, make_world());
    const sim::RevisitReport oracle = simulate(world, std::string(kOracle));
    std::vector<Row> rows;
    for (const std::string& name : names_) {
      rows.push_back({name, name == kOracle ? oracle : simulate(world, name)});
    }
    progress_.finish();
    if (json_) {
      print_json(world, rows, oracle, out);
    } else {
      print_text(world, rows, oracle, out);
    }
    return {};
  }

 private:
  base::Status read();
  base::Result<sim::RevisitWorld> make_world();
  sim::RevisitReport simulate(const sim::RevisitWorld& world, const std::string& policy);
  void show(const std::string& what, double done);
  void print_json(const sim::RevisitWorld& world, const std::vector<Row>& rows,
                  const sim::RevisitReport& oracle, Output& out) const;
  void print_text(const sim::RevisitWorld& world, const std::vector<Row>& rows,
                  const sim::RevisitReport& oracle, Output& out) const;
  Json json_of(const Row& row, const sim::RevisitReport& oracle) const;

  std::string policy_ = "paper";
  std::string pages_;
  std::string days_;
  std::string budget_;
  std::string min_interval_;
  std::string first_interval_;
  std::string trace_;
  std::string seed_;
  bool json_ = false;

  std::vector<std::string> names_;
  std::optional<std::uint64_t> page_count_;
  std::optional<double> day_count_;
  std::optional<Duration> first_;
  revisit::PolicyOptions policy_options_;
  sim::RevisitOptions run_options_;
  env::RealClock clock_;
  base::Progress progress_{base::Console::standard_error()};
};

base::Status SimulateCommand::read() {
  policy_options_.interval_min = Duration::hours(1);
  const std::vector<std::string> known(std::begin(kPolicies), std::end(kPolicies));
  if (policy_ == "all") {
    names_ = known;
  } else if (policy_of(policy_, policy_options_, first_) != nullptr) {
    names_ = {policy_};
  } else {
    return base::fail(base::ErrorCode::kInvalid, "there is no policy '{}'{}: name {} or all",
                      printable(policy_), suggestion(policy_, known), fmt::join(known, ", "));
  }
  if (!pages_.empty()) {
    ASSIGN_OR_RETURN(page_count_, parse_count("--pages", pages_));
    if (*page_count_ == 0) {
      return base::fail(base::ErrorCode::kInvalid, "--pages takes 1 or more, not 0");
    }
  }
  if (!days_.empty()) {
    ASSIGN_OR_RETURN(day_count_, parse_number("--days", days_));
    if (!(*day_count_ >= 1 && *day_count_ <= kDaysMax)) {
      return base::fail(base::ErrorCode::kInvalid, "--days takes 1 to {}, not {}", kDaysMax,
                        printable(days_));
    }
  }
  if (!budget_.empty()) {
    ASSIGN_OR_RETURN(run_options_.budget, parse_number("--budget", budget_));
    if (!(run_options_.budget >= 0.001 && run_options_.budget <= 1000)) {
      return base::fail(base::ErrorCode::kInvalid, "--budget takes 0.001 to 1000, not {}",
                        printable(budget_));
    }
  }
  if (!min_interval_.empty()) {
    ASSIGN_OR_RETURN(policy_options_.interval_min, parse_duration("--min-interval", min_interval_));
  }
  if (!first_interval_.empty()) {
    ASSIGN_OR_RETURN(first_, parse_duration("--first-interval", first_interval_));
  }
  if (!seed_.empty()) {
    ASSIGN_OR_RETURN(run_options_.seed, parse_count("--seed", seed_));
  }
  return policy_options_.check();
}

base::Result<sim::RevisitWorld> SimulateCommand::make_world() {
  const auto period = [](double days) {
    return Duration::from_ms(static_cast<std::int64_t>(days * 86'400'000));
  };
  if (!trace_.empty()) {
    env::PosixFileSystem files;
    ASSIGN_OR_RETURN(const sim::Trace trace, sim::Trace::read(files, trace_));
    const Duration all = trace.span() + Duration::seconds(1);
    return sim::RevisitWorld::recorded(trace, page_count_.value_or(trace.pages()),
                                       day_count_ ? std::min(period(*day_count_), all) : all);
  }
  const double days = day_count_.value_or(kDays);
  const std::uint64_t pages = page_count_.value_or(kPages);
  if (static_cast<double>(pages) * days > static_cast<double>(kChangesMax)) {
    return base::fail(base::ErrorCode::kInvalid,
                      "{} pages over {} days do not fit in memory: make their product smaller "
                      "than {}",
                      grouped(pages), days, grouped(kChangesMax));
  }
  show("drawing the changes", 0);
  return sim::RevisitWorld::poisson(run_options_.seed,
                                    sim::draw_intervals(run_options_.seed, pages), period(days));
}

sim::RevisitReport SimulateCommand::simulate(const sim::RevisitWorld& world,
                                             const std::string& policy) {
  sim::RevisitOptions options = run_options_;
  options.progress = [&](double done) { show(policy, done); };
  show(policy, 0);
  return sim::run_revisits(world, *policy_of(policy, policy_options_, first_), options);
}

void SimulateCommand::show(const std::string& what, double done) {
  const base::Ticks now = clock_.ticks();
  if (!progress_.is_due(now)) return;
  const auto filled = static_cast<std::size_t>(std::lround(done * kBarColumns));
  const std::string bar = std::string(filled, '#') + std::string(kBarColumns - filled, '.');
  progress_.update(now, fmt::format("{} {:3.0f} %  {}", bar, 100 * done, what));
}

Json SimulateCommand::json_of(const Row& row, const sim::RevisitReport& oracle) const {
  const sim::RevisitReport& report = row.report;
  return {{"policy", row.policy},
          {"captured", report.holdings.versions_held},
          {"recall", report.recall()},
          {"recall_vs_oracle", versus(report, oracle)},
          {"coverage", report.coverage()},
          {"waste", report.waste()},
          {"visits", report.visits},
          {"budget_used", report.budget_used()},
          {"error_share", report.showing.error_share()},
          {"error_mean_seconds", report.showing.error_mean().in_seconds()}};
}

void SimulateCommand::print_json(const sim::RevisitWorld& world, const std::vector<Row>& rows,
                                 const sim::RevisitReport& oracle, Output& out) const {
  Json result = {{"pages", oracle.pages},
                 {"days", world.period().in_seconds() / 86'400},
                 {"versions", oracle.holdings.versions},
                 {"budget", run_options_.budget},
                 {"x", 1 / run_options_.budget},
                 {"budget_visits", oracle.visits_allowed},
                 {"min_interval_seconds", policy_options_.interval_min.in_seconds()},
                 {"seed", run_options_.seed}};
  if (!trace_.empty()) result["trace"] = printable(trace_);
  if (policy_ == "all") {
    Json all = Json::array();
    for (const Row& row : rows) all.push_back(json_of(row, oracle));
    result["policies"] = std::move(all);
  } else {
    result.update(json_of(rows.front(), oracle));
  }
  out.print("{}\n", result.dump(-1, ' ', false, Json::error_handler_t::replace));
}

void SimulateCommand::print_text(const sim::RevisitWorld& world, const std::vector<Row>& rows,
                                 const sim::RevisitReport& oracle, Output& out) const {
  const double days = world.period().in_seconds() / 86'400;
  out.print("{} over {:.0f} days: {} versions to capture, {} visits a day allowed (x = {:g})\n\n",
            counted(oracle.pages, "page", "pages"), days, grouped(oracle.holdings.versions),
            rate_text(oracle.visits_allowed / days), 1 / run_options_.budget);
  out.print("{:<14}{:>8}{:>11}{:>10}{:>8}{:>13}{:>8}{:>12}\n", "policy", "recall", "vs oracle",
            "coverage", "waste", "budget used", "error", "error mean");
  for (const Row& row : rows) {
    const sim::RevisitReport& report = row.report;
    out.print("{:<14}{:>8.4f}{:>11.4f}{:>10.4f}{:>8.4f}{:>13.4f}{:>8.4f}{:>12}\n", row.policy,
              report.recall(), versus(report, oracle), report.coverage(), report.waste(),
              report.budget_used(), report.showing.error_share(),
              report.showing.error_mean().to_string());
  }
  out.print(
      "\nrecall: versions captured. coverage: time whose version is held. waste: visits that found "
      "nothing new.\nerror: moments for which the last visit before them shows what had been "
      "replaced; its mean: how long ago.\n");
}

}  // namespace

std::unique_ptr<Command> make_simulate_command() { return std::make_unique<SimulateCommand>(); }

}  // namespace meguri::app
