#include "app/world_arguments.h"

#include <algorithm>
#include <memory>
#include <ranges>
#include <utility>

#include "app/values.h"
#include "base/text.h"
#include "sim/graph.h"
#include "sim/hostile.h"
#include "sim/trace.h"

namespace meguri::app {
namespace {

// The web of a seed is the same at all times, so it begins at a fixed one.
constexpr base::Instant kStart = base::Instant::from_ms(1'767'225'600'000);  // 2026-01-01

base::Result<sim::ListHabit> read_lists(const std::string& name) {
  if (name.empty() || name == "mixed") return sim::ListHabit::kMixed;
  if (name == "true") return sim::ListHabit::kTrue;
  if (name == "lying") return sim::ListHabit::kLying;
  return base::fail(base::ErrorCode::kInvalid, "--lists takes mixed, true or lying, not {}",
                    base::quoted(name));
}

}  // namespace

void WorldArguments::declare(Options options) {
  options.option("--hosts", "N", hosts_, "How many hosts it has (default: 100)");
  options.option("--pages", "N", pages_,
                 "How many pages all have together (default: 10000, or ten a host)");
  options.option("--seed", "N", seed_, "Which of all such webs (default: 1)");
  options.option("--servers", "N", servers_, "On how many addresses (default: a third of hosts)");
  options.option("--size-exponent", "X", size_exponent_,
                 "Hosts are as large as their rank to the power of -X; 0: alike (default: 0.9)");
  options.option("--start", "TIME", start_,
                 "When its pages begin to be born and to die (default: 2026-01-01)");
  options.option("--delay", "DURATION", delay_,
                 "How long answers take on the mean; 0 for none (default: 850ms)");
  options.option("--copies-until", "TIME", copies_until_,
                 "From then on aliases and mirrors of other hosts have pages of their own");
  options.flag("--no-crawl-delay", no_crawl_delay_, "No host asks for one in its robots.txt");
  options.option("--trace", "FILE", trace_,
                 "Pages change as those in FILE: a path, a tab, and seconds since 1970");
  options.option("--graph", "FILE", graph_,
                 "Pages link as the nodes in FILE: a list of edges or of neighbours");
  options.flag("--still", still_, "Every page stays as it was at --start, whatever the time");
  options.flag("--sound", sound_, "Every page is there and every link leads to one; nothing fails");
  options.option("--hostile", "NAME,...", hostile_,
                 "Hosts that mean harm beside the others, or all; 'meguri virtual-web hostile' "
                 "lists them");
  options.option("--lists", "HABIT", lists_,
                 "Sitemaps and feeds: mixed, or true or lying dates everywhere (default: mixed)");
}

base::Result<std::vector<std::string>> WorldArguments::read_hostile() const {
  std::vector<std::string> names;
  std::vector<std::string> known = {"all"};
  for (const sim::HostileHabit& habit : sim::hostile_habits()) known.emplace_back(habit.name);
  for (const auto part : std::views::split(hostile_, ',')) {
    std::string name(part.begin(), part.end());
    if (name.empty()) continue;
    if (std::ranges::find(known, name) == known.end()) {
      return base::fail(base::ErrorCode::kInvalid,
                        "--hostile takes names that 'meguri virtual-web hostile' lists, not {}{}",
                        base::quoted(name), suggestion(name, known));
    }
    names.push_back(std::move(name));
  }
  return names;
}

base::Result<sim::WorldOptions> WorldArguments::read(env::FileSystem& files) const {
  sim::WorldOptions world;
  world.start = kStart;
  world.is_still = still_;
  if (sound_) world.make_sound();
  if (!hosts_.empty()) {
    ASSIGN_OR_RETURN(world.census.hosts, parse_count("--hosts", hosts_));
  }
  world.census.pages = std::max(world.census.pages, world.census.hosts * 10);
  if (!pages_.empty()) {
    ASSIGN_OR_RETURN(world.census.pages, parse_count("--pages", pages_));
  }
  if (!seed_.empty()) {
    ASSIGN_OR_RETURN(world.census.seed, parse_count("--seed", seed_));
  }
  if (!servers_.empty()) {
    ASSIGN_OR_RETURN(world.census.servers, parse_count("--servers", servers_));
  }
  if (!size_exponent_.empty()) {
    ASSIGN_OR_RETURN(world.census.size_exponent, parse_number("--size-exponent", size_exponent_));
  }
  if (!start_.empty()) {
    ASSIGN_OR_RETURN(world.start, parse_time("--start", start_, kStart));
  }
  if (!delay_.empty()) {
    ASSIGN_OR_RETURN(world.delay_mean, parse_duration("--delay", delay_));
  }
  if (!copies_until_.empty()) {
    ASSIGN_OR_RETURN(world.copies_until, parse_time("--copies-until", copies_until_, kStart));
  }
  world.crawl_delays = !no_crawl_delay_;
  if (!trace_.empty()) {
    ASSIGN_OR_RETURN(sim::Trace trace, sim::Trace::read(files, trace_));
    world.trace = std::make_shared<const sim::Trace>(std::move(trace));
  }
  if (!graph_.empty()) {
    if (!pages_.empty()) {
      return base::fail(base::ErrorCode::kInvalid,
                        "--pages has no meaning beside --graph: each node is a page");
    }
    ASSIGN_OR_RETURN(sim::Graph graph, sim::Graph::read(files, graph_));
    world.use_graph(std::make_shared<const sim::Graph>(std::move(graph)));
  }
  ASSIGN_OR_RETURN(world.hostile, read_hostile());
  ASSIGN_OR_RETURN(world.census.lists, read_lists(lists_));
  RETURN_IF_ERROR(world.check());
  return world;
}

}  // namespace meguri::app
