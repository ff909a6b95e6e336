#include "sim/revisit_run.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "base/check.h"
#include "sim/dice.h"

namespace meguri::sim {
namespace {

using base::Duration;
using base::Instant;

enum Purpose : std::uint64_t { kChance = 450, kPhase };

constexpr double kDayMs = 86'400'000;
constexpr Duration kNever = Duration::days(100'000);
// Of what can be saved so much shall be, and by so much of its logarithm the level falls when all
// is. What is saved sums up all errors of the past, so that none lasts; more would be felt too
// late, when pages have been visited, and swing.
constexpr double kSavedAim = 0.1;
constexpr double kGain = 0.5;
constexpr double kCorrectionMax = 1;
// The level is exact when this part of the budget is given out.
constexpr double kExact = 0.005;
constexpr int kLevelStepsMax = 16;
constexpr double kBoundsMax = 4;  // as a logarithm
// Pages follow the level when it has risen or fallen by so much since they were scheduled: upwards
// each when it comes due, downwards all at once, which is looked at now and then.
constexpr double kRise = 1.1;
constexpr double kFall = 0.8;
constexpr Duration kLookEvery = Duration::hours(12);
constexpr std::size_t kProgressEvery = 1U << 16U;

Duration duration_of(double ms) { return Duration::from_ms(static_cast<std::int64_t>(ms)); }

// Gives out visits at a rate that grows with the pages. As much can be saved as visits every page
// once.
class Gate {
 public:
  void add_page(double per_ms) {
    per_ms_ += per_ms;
    pages_ += 1;
  }
  // Nothing is saved before.
  void open(Duration time) { free_from_ms_ = static_cast<double>(time.ms()); }
  double rate() const { return per_ms_; }

  // When a page that is due then may be visited. Requires a rate. Dues come in order.
  Duration pass(Duration due) {
    const auto due_ms = static_cast<double>(due.ms());
    const double saved_max = pages_ / per_ms_;
    free_from_ms_ = std::max(free_from_ms_, due_ms - saved_max);
    saved_ = (due_ms - free_from_ms_) / saved_max;
    const double time = std::max(due_ms, free_from_ms_);
    free_from_ms_ += 1 / per_ms_;
    return duration_of(time);
  }
  // At the last visit, as a part of what can be; negative: that visit had to wait.
  double saved() const { return saved_; }

 private:
  double per_ms_ = 0;
  double pages_ = 0;
  double free_from_ms_ = 0;  // the budget from then on is not used
  double saved_ = kSavedAim;
};

struct Due {
  Duration time;
  std::uint32_t page;

  friend bool operator>(const Due& a, const Due& b) {
    return a.time != b.time ? a.time > b.time : a.page > b.page;
  }
};

struct Page {
  explicit Page(const RunningHoldings& captured) : holdings(captured) {}

  RunningHoldings holdings;
  revisit::ChangeState state;
  Duration wait;          // what the policy chose, before it was scaled
  double level = 1;       // at which it was scheduled
  bool is_fixed = false;  // the policy does not look at the page
};

class Run {
 public:
  Run(const RevisitWorld& world, const revisit::Policy& policy, const RevisitOptions& options)
      : world_(world), policy_(policy), options_(options) {}

  RevisitReport run();

 private:
  void add_pages();
  void begin(std::span<const Due> pages);
  void step(const Due& due);
  bool put_back(const Due& due);
  void look(Duration now);
  void solve_level();
  void pull_forward(Duration now);
  void visit(std::uint32_t number, Duration time);
  void schedule(std::uint32_t number, double phase);
  Duration bounded(double wait_ms) const;
  Duration last_visit(const Page& page) const { return page.state.last_visit - Instant(); }
  void push(const Due& due);
  Due pop();
  double level() const;
  RevisitReport report();

  const RevisitWorld& world_;
  const revisit::Policy& policy_;
  const RevisitOptions& options_;
  std::vector<Page> pages_;
  std::vector<double> rates_;  // 1/wait of each page, per millisecond; zero: not visited yet
  std::vector<Due> queue_;     // a heap, the earliest first
  Gate gate_;
  double highest_level_ = 0;  // since all were pulled forward
  double bounds_ = 0;         // what they do to the level, as a logarithm
  Duration next_look_;
  double demand_ = 0;  // the sum of all rates, per millisecond
  std::size_t visits_ = 0;
  double allowed_ = 0;
};

void Run::add_pages() {
  CHECK(world_.pages() <= std::numeric_limits<std::uint32_t>::max());
  pages_.reserve(world_.pages());
  rates_.resize(world_.pages());
  for (std::size_t i = 0; i < world_.pages(); ++i) {
    const auto events = world_.events_of(i);
    pages_.emplace_back(RunningHoldings(events, world_.period()));
    if (events.empty()) continue;
    queue_.push_back({Duration::seconds(events[0]), static_cast<std::uint32_t>(i)});
  }
  std::ranges::make_heap(queue_, std::greater<>());
}

void Run::push(const Due& due) {
  queue_.push_back(due);
  std::ranges::push_heap(queue_, std::greater<>());
}

Due Run::pop() {
  std::ranges::pop_heap(queue_, std::greater<>());
  const Due due = queue_.back();
  queue_.pop_back();
  return due;
}

RevisitReport Run::run() {
  add_pages();
  std::vector<Due> first;  // pages that appear at the same moment
  while (true) {
    const bool is_over = queue_.empty() || queue_.front().time >= world_.period();
    if (!first.empty() && (is_over || queue_.front().time != first.front().time)) {
      begin(first);
      first.clear();
      continue;
    }
    if (is_over) break;
    const Due due = pop();
    if (pages_[due.page].state.visits == 0) {
      first.push_back(due);
    } else {
      step(due);
    }
  }
  return report();
}

// The level is known when all of them have been visited, so they are scheduled then.
void Run::begin(std::span<const Due> pages) {
  if (gate_.rate() <= 0) gate_.open(pages.front().time);
  for (const Due& due : pages) {
    const double rate = options_.budget * world_.rate_of(due.page) / kDayMs;
    gate_.add_page(rate);
    allowed_ += rate * static_cast<double>((world_.period() - due.time).ms());
    visit(due.page, due.time);
  }
  for (const Due& due : pages) {
    Dice dice{kPhase, options_.seed, due.page};
    schedule(due.page, pages_[due.page].is_fixed ? dice.uniform() : 1);
  }
}

void Run::step(const Due& due) {
  if (gate_.rate() <= 0 || put_back(due)) return;
  const Duration time = gate_.pass(due.time);
  if (time >= world_.period()) return;
  visit(due.page, time);
  schedule(due.page, 1);
  look(time);
  if (++visits_ % kProgressEvery == 0 && options_.progress) {
    options_.progress(time.in_seconds() / world_.period().in_seconds());
  }
}

// Whether the level has risen so much that the page is early.
bool Run::put_back(const Due& due) {
  Page& page = pages_[due.page];
  const double now = level();
  if (now < kRise * page.level) return false;
  const Duration last = last_visit(page);
  const double waited = static_cast<double>((due.time - last).ms());
  const Duration time = last + bounded(waited * now / page.level);
  page.level = now;
  if (time <= due.time) return false;
  push({time, due.page});
  return true;
}

void Run::look(Duration now) {
  if (now < next_look_ || !policy_.is_scalable()) return;
  next_look_ = now + kLookEvery;
  solve_level();
  const double level_now = level();
  highest_level_ = std::max(highest_level_, level_now);
  if (level_now < kFall * highest_level_) pull_forward(now);
}

// What bounds keep some pages from taking is for the others.
void Run::solve_level() {
  const double simple = demand_ / gate_.rate();
  const double most = 1 / static_cast<double>(policy_.options().interval_min.ms());
  const double least = 1 / static_cast<double>(policy_.options().interval_max.ms());
  double low = -kBoundsMax;
  double high = kBoundsMax;
  double middle = 0;
  for (int i = 0; i < kLevelStepsMax; ++i) {
    const double scale = simple * std::exp(middle);
    double taken = 0;
    for (const double rate : rates_) {
      if (rate > 0) taken += std::clamp(rate / scale, least, most);
    }
    if (std::abs(taken - gate_.rate()) <= kExact * gate_.rate()) break;
    (taken > gate_.rate() ? low : high) = middle;
    middle = (low + high) / 2;
  }
  bounds_ = middle;
}

// Pages that would be late, after the level has fallen.
void Run::pull_forward(Duration now) {
  const double level_now = level();
  highest_level_ = level_now;
  for (Due& due : queue_) {
    Page& page = pages_[due.page];
    if (page.state.visits == 0 || page.level <= level_now) continue;
    const Duration last = last_visit(page);
    const double waited = static_cast<double>((due.time - last).ms());
    due.time = std::max(std::min(now, due.time), last + bounded(waited * level_now / page.level));
    page.level = level_now;
  }
  std::ranges::make_heap(queue_, std::greater<>());
}

void Run::visit(std::uint32_t number, Duration time) {
  Page& page = pages_[number];
  const Found found = page.holdings.visit(time);
  const revisit::Outcome outcome = found == Found::kNew     ? revisit::Outcome::kChanged
                                   : found == Found::kKnown ? revisit::Outcome::kUnchanged
                                                            : revisit::Outcome::kGone;
  page.state = revisit::with_visit(page.state, {.time = Instant() + time, .outcome = outcome});
  const double per_day = world_.rate_of(number);
  const revisit::Context context = {
      .host = {}, .known_interval = per_day > 0 ? duration_of(kDayMs / per_day) : kNever};
  Dice dice{kChance, options_.seed, number, page.state.visits};
  const revisit::Plan plan = policy_.next(page.state, context, dice.uniform());
  page.state.interval = plan.interval;
  page.wait = plan.is_never ? kNever : plan.wait;
  page.is_fixed = plan.reason == revisit::Reason::kFixed;
  demand_ -= rates_[number];
  rates_[number] = 1 / static_cast<double>(page.wait.ms());
  demand_ += rates_[number];
}

// After `phase` of what the policy chose.
void Run::schedule(std::uint32_t number, double phase) {
  Page& page = pages_[number];
  if (page.wait >= kNever) return;
  page.level = level();
  const double wait = static_cast<double>(page.wait.ms()) * page.level * phase;
  push({last_visit(page) + bounded(wait), number});
}

Duration Run::bounded(double wait_ms) const {
  const auto least = static_cast<double>(policy_.options().interval_min.ms());
  const auto most = static_cast<double>(policy_.options().interval_max.ms());
  return duration_of(std::clamp(wait_ms, least, most));
}

// By which all intervals are multiplied, so that the sum of all rates is the budget.
double Run::level() const {
  if (!policy_.is_scalable() || gate_.rate() <= 0) return 1;
  const double correction = std::min(kGain * (kSavedAim - gate_.saved()), kCorrectionMax);
  return demand_ / gate_.rate() * std::exp(bounds_ + correction);
}

RevisitReport Run::report() {
  RevisitReport report;
  report.visits = visits_;
  report.visits_allowed = allowed_;
  for (Page& page : pages_) {
    page.holdings.finish();
    if (page.state.visits == 0) continue;
    ++report.pages;
    Holdings own = page.holdings.holdings();
    --own.versions;
    --own.versions_held;
    --own.captures;
    report.holdings += own;
    report.showing += page.holdings.showing();
  }
  report.visits_wasted = report.visits - report.holdings.versions_held;
  return report;
}

}  // namespace

double RevisitReport::waste() const {
  return visits == 0 ? 0 : static_cast<double>(visits_wasted) / static_cast<double>(visits);
}

double RevisitReport::budget_used() const {
  return visits_allowed > 0 ? static_cast<double>(visits) / visits_allowed : 0;
}

RevisitReport run_revisits(const RevisitWorld& world, const revisit::Policy& policy,
                           const RevisitOptions& options) {
  return Run(world, policy, options).run();
}

}  // namespace meguri::sim
