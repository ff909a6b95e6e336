#include "bench/sat_experiments.h"

#include <fmt/format.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <map>

#include "bench/sat_plan.h"

namespace meguri::bench {
namespace {

constexpr std::uint64_t kKib = 1024;
constexpr std::uint64_t kMib = 1024 * kKib;
constexpr double kContentWriteUs = 310;  // 22.0 KiB at 72 MB/s
constexpr std::size_t kPaperPage = 4 * kKib;
constexpr std::size_t kLargePage = 64 * kKib;
constexpr std::size_t kFixedBytes = 100;
constexpr std::uint32_t kHours = 36;
constexpr std::uint32_t kDays = 5;

std::string with_commas(std::uint64_t number) {
  std::string text = std::to_string(number);
  for (std::size_t at = text.size(); at > 3; at -= 3) text.insert(at - 3, ",");
  return text;
}

std::string size_name(std::uint64_t bytes) {
  if (bytes >= kMib) return fmt::format("{} MiB", bytes / kMib);
  return fmt::format("{} KiB", bytes / kKib);
}

PlotAxis pool_axis(const std::vector<std::uint64_t>& pools) {
  PlotAxis axis{.label = "buffer pool", .is_log = true};
  for (const std::uint64_t bytes : pools) {
    axis.ticks.push_back(static_cast<double>(bytes));
    axis.tick_names.push_back(size_name(bytes));
  }
  return axis;
}

const PlotSeries* series_of(const Plot& plot, std::string_view name) {
  for (const PlotSeries& series : plot.series) {
    if (series.name == name) return &series;
  }
  return nullptr;
}

// "1.5 to 2.5" of the points from the first to the last.
std::string first_to_last(const Plot& plot, std::string_view name) {
  const PlotSeries* series = series_of(plot, name);
  if (series == nullptr || series->points.empty()) return "nothing";
  return fmt::format("{} to {}", plot_number(series->points.front().second),
                     plot_number(series->points.back().second));
}

// Of how many minutes the periods are, and how many records have each.
std::map<std::uint32_t, std::uint64_t> periods_of(const SatLoad& load) {
  std::map<std::uint32_t, std::uint64_t> periods;
  for (std::uint32_t seq = 0; seq < load.records(); ++seq) ++periods[load.period_minutes(seq)];
  return periods;
}

// What part of the records has a period of at most x, in percent; weighted: of those due in a step.
PlotSeries composition_of(const SatLoad& load, bool is_weighted, const std::vector<double>& hours,
                          std::string name) {
  const auto periods = periods_of(load);
  const auto weight = [&](const auto& period) {
    const auto count = static_cast<double>(period.second);
    return is_weighted ? count * load.step_minutes() / period.first : count;
  };
  double all = 0;
  for (const auto& period : periods) all += weight(period);
  PlotSeries series{std::move(name), {}};
  for (const double x : hours) {
    if (x * 60 < load.step_minutes()) continue;
    double part = 0;
    for (const auto& period : periods) {
      if (period.first <= x * 60) part += weight(period);
    }
    series.points.emplace_back(x, 100 * part / all);
  }
  return series;
}

}  // namespace

SatScale SatScale::full() {
  SatScale scale;
  scale.drawn_records = 2'000'000;
  scale.hours_records = kSatRecords;
  scale.tree_hours = 12;
  scale.pools_records = kSatRecords / 4;
  scale.length_records = kSatRecords / 8;
  scale.length_hours = 12;
  scale.units_records = kSatRecords / 4;
  scale.units_hours = 24;
  scale.pool_bytes = 32 * kMib;
  scale.pools = {64 * kKib, 256 * kKib, kMib, 4 * kMib, 16 * kMib, 64 * kMib};
  scale.units_pools = {256 * kKib, kMib, 4 * kMib, 16 * kMib, 64 * kMib};
  return scale;
}

SatScale SatScale::quick() {
  SatScale scale = full();
  scale.drawn_records = 200'000;
  scale.hours_records = 400'000;
  scale.tree_hours = 36;
  scale.pools_records = 200'000;
  scale.length_records = 100'000;
  scale.units_records = 200'000;
  scale.units_hours = 12;
  scale.pool_bytes = 4 * kMib;
  scale.pools = {64 * kKib, 256 * kKib, kMib, 4 * kMib, 16 * kMib};
  scale.units_pools = {256 * kKib, kMib, 4 * kMib, 16 * kMib};
  return scale;
}

base::Status SatExperiments::run() {
  add_composition();
  add_rates();
  RETURN_IF_ERROR(add_lengths());
  RETURN_IF_ERROR(add_hours());
  RETURN_IF_ERROR(add_pools(SatUnit::kDay));
  RETURN_IF_ERROR(add_pools(SatUnit::kHour));
  add_pages();
  return add_units();
}

// --- One store.

SatSetting SatExperiments::setting(const Run& run, const SatLoad& load) const {
  constexpr std::uint64_t kMemoryBytes = 768 * kMib;
  SatSetting setting;
  setting.dir = dir_ + "/store";
  setting.pool_bytes = run.pool_bytes;
  setting.page_bytes = run.page_bytes;
  setting.memory_bytes = kMemoryBytes * load.records() / kSatRecords + run.pool_bytes + 16 * kMib;
  setting.keeps_start = true;
  return setting;
}

base::Result<SatLoaded> SatExperiments::load(const Run& run, const SatLoad& load) {
  clear();
  fmt::print(stderr, "meguri bench sat: loading {}, {} records of {} bytes and a URL\n", run.store,
             load.records(), load.fixed_bytes());
  return load_sat_store(run.store, setting(run, load), load);
}

base::Result<SatCost> SatExperiments::measure(const Run& run, const SatLoad& load) {
  ASSIGN_OR_RETURN(SatCost cost,
                   run_sat_store(run.store, setting(run, load), load, SatStart::kCold));
  fmt::print(stderr, "meguri bench sat: {}, pool {}, pages of {}: {:.2f} µs per record\n",
             run.store, size_name(run.pool_bytes), run.page_bytes, cost.us());
  return cost;
}

void SatExperiments::clear() { std::filesystem::remove_all(dir_ + "/store"); }

// --- What the load is.

void SatExperiments::add_composition() {
  const std::vector<double> hours = {1,   2,   4,   8,    12,   24,       48,      96,
                                     168, 336, 720, 1440, 2880, 24 * 240, 24 * 400};
  const SatLoad hourly(scale_.drawn_records, kFixedBytes, SatUnit::kHour, 1);
  const SatLoad daily(scale_.drawn_records, kFixedBytes, SatUnit::kDay, 1);
  SatFigure figure;
  figure.name = "sat-composition";
  figure.unit = "%";
  figure.text = fmt::format(
      "What part of the records has an access interval of at most so many hours, with intervals in "
      "whole hours and in whole days; weighted: of the records that are due in one hour or day. By "
      "count the two are the same "
      "from a day on. "
      "Counted over {} records.",
      with_commas(scale_.drawn_records));
  figure.paper =
      "(003, figure 2) by days more than 70 % of the records read on a day are read again on the "
      "next, which are 10 % of all; by hours less than 10 %. The load is drawn to that.";
  figure.plot.title = "Composition of access intervals";
  figure.plot.x = {.label = "access interval (hours)", .is_log = true};
  figure.plot.y = {.label = "cumulative share (%)"};
  figure.plot.series = {composition_of(hourly, true, hours, "hourly, weighted"),
                        composition_of(hourly, false, hours, "hourly, by count"),
                        composition_of(daily, true, hours, "daily, weighted"),
                        composition_of(daily, false, hours, "daily, by count")};
  figure.found = fmt::format(
      "of the records of an hour {:.0f} % come every hour; of those of a day {:.0f} % every day, "
      "which are {:.1f} % of all.",
      figure.plot.series[0].points.front().second, figure.plot.series[2].points.front().second,
      figure.plot.series[3].points.front().second);
  figures_.push_back(std::move(figure));
}

void SatExperiments::add_rates() {
  constexpr std::array kUnits = {1.0, 60.0, 1440.0, 43'800.0, 525'600.0};
  constexpr std::array kPaper = {5.13e3, 0.346e6, 2.83e6, 11.4e6, 17.5e6};
  SatFigure figure;
  figure.name = "sat-rates";
  figure.unit = "records";
  figure.text = fmt::format(
      "How many different records of 17,496,056 are read in a unit of time; counted over {} "
      "records "
      "and scaled.",
      with_commas(scale_.drawn_records));
  figure.paper =
      "(000, table 1) the first column. 003 tells 138,000 an hour and 1.74 million a day of the "
      "same pages. The experiments by unit use 000's rates, all others 003's.";
  figure.plot.title = "Records read in a unit of time";
  figure.plot.x = {.label = "unit of time", .is_log = true};
  figure.plot.x.ticks.assign(kUnits.begin(), kUnits.end());
  figure.plot.x.tick_names = {"minute", "hour", "day", "month", "year"};
  figure.plot.y = {.label = "records", .is_log = true};
  PlotSeries paper{"paper 000", {}};
  for (std::size_t i = 0; i < kUnits.size(); ++i) paper.points.emplace_back(kUnits[i], kPaper[i]);
  figure.plot.series.push_back(std::move(paper));
  for (const SatRates rates : {SatRates::k000, SatRates::k003}) {
    const SatLoad load(scale_.drawn_records, kFixedBytes, SatUnit::kHour, 1, rates);
    PlotSeries series{rates == SatRates::k000 ? "drawn to 000" : "drawn to 003", {}};
    for (const double unit : kUnits) {
      double read = 0;
      for (const auto& [minutes, count] : periods_of(load)) {
        read += static_cast<double>(count) * std::min(1.0, unit / minutes);
      }
      series.points.emplace_back(unit, read * kSatRecords / load.records());
    }
    figure.plot.series.push_back(std::move(series));
  }
  figures_.push_back(std::move(figure));
}

// --- Time by hour.

base::Status SatExperiments::add_hours() {
  const SatLoad load_all(scale_.hours_records, kFixedBytes, SatUnit::kHour, kHours);
  const SatLoad load_trees(scale_.hours_records, kFixedBytes, SatUnit::kHour, scale_.tree_hours);
  SatFigure figure;
  figure.name = "sat-hours";
  figure.unit = "µs/record";
  figure.plot.title = "Time per record by hour";
  figure.plot.x = {.label = "hour", .ticks = {0, 6, 12, 18, 24, 30, 36}};
  figure.plot.y = {.label = "µs per record", .is_log = true};
  std::map<std::string, double> means;
  double updates = 0;
  const auto add = [&](const Run& run, const SatLoad& load, const char* name) -> base::Status {
    ASSIGN_OR_RETURN(const SatCost cost, measure(run, load));
    PlotSeries series{name, {}};
    for (std::size_t i = 0; i < cost.steps.size(); ++i) {
      series.points.emplace_back(static_cast<double>(i + 1), cost.steps[i].us());
    }
    updates = static_cast<double>(cost.updates) / load.steps();
    means[name] = cost.us();
    figure.plot.series.push_back(std::move(series));
    return {};
  };
  const std::uint64_t pool = scale_.pool_bytes;
  RETURN_IF_ERROR(load({"sat", pool, kPaperPage}, load_all));
  RETURN_IF_ERROR(add({"sat", pool, kPaperPage}, load_all, "SAT"));
  RETURN_IF_ERROR(add({"sat-sort", pool, kPaperPage}, load_all, "SAT, buckets sorted"));
  RETURN_IF_ERROR(add({"naive", pool, kPaperPage}, load_all, "SAT/Naive"));
  RETURN_IF_ERROR(load({"basic", pool, kPaperPage}, load_all));
  RETURN_IF_ERROR(add({"basic", pool, kPaperPage}, load_all, "SAT/Basic"));
  RETURN_IF_ERROR(load({"bdb", 0, 0}, load_trees));
  RETURN_IF_ERROR(add({"bdb-ro", 0, 0}, load_trees, "B-tree, only read"));
  RETURN_IF_ERROR(add({"bdb", 0, 0}, load_trees, "B-tree"));
  clear();

  hourly_tree_us_ = means["B-tree"];
  const double deadline_us = 3600e6 * load_all.records() / kSatRecords / updates;
  figure.plot.lines = {{PlotLine::Kind::kAtY, "deadline", deadline_us},
                       {PlotLine::Kind::kAtY, "writing a page's content", kContentWriteUs}};
  figure.text = fmt::format(
      "{} records, a fixed part of 100 bytes, {} hourly steps ({} of the B-trees) of about {} "
      "records, pages of 4 KiB, a pool of {}. The B-trees are Berkeley DB by id with sorted keys. "
      "The deadline is an hour, over the records due in it if there were 17,496,056; a page's "
      "content takes 0.31 ms on the papers' disk.",
      with_commas(load_all.records()), kHours, scale_.tree_hours,
      with_commas(static_cast<std::uint64_t>(updates)), size_name(pool));
  figure.paper =
      "(003, figure 6) SAT 20 µs, SAT/Basic 10 µs less, SAT/Naive ten times slower than SAT, the "
      "B-tree that is only read ten times slower, the B-tree 10 to 100 times.";
  figure.found = fmt::format(
      "in the mean SAT {:.2f} µs, with sorted buckets {:.2f}, SAT/Basic {:.2f}, SAT/Naive {:.2f}, "
      "the B-tree that is only read {:.1f} ({:.0f} times SAT), the B-tree {:.1f} ({:.0f} times).",
      means["SAT"], means["SAT, buckets sorted"], means["SAT/Basic"], means["SAT/Naive"],
      means["B-tree, only read"], means["B-tree, only read"] / means["SAT"], means["B-tree"],
      means["B-tree"] / means["SAT"]);
  figures_.push_back(std::move(figure));
  return {};
}

// --- Time by pool.

base::Status SatExperiments::add_by_pool(const std::vector<Variant>& variants, const SatLoad& load,
                                         const std::vector<std::uint64_t>& pools, Plot* plot) {
  RETURN_IF_ERROR(this->load({variants.front().store, scale_.pool_bytes, kPaperPage}, load));
  for (const Variant& variant : variants) {
    PlotSeries series{variant.name, {}};
    for (const std::uint64_t pool : pools) {
      if (pool < 2 * variant.page_bytes) continue;
      ASSIGN_OR_RETURN(const SatCost cost,
                       measure({variant.store, pool, variant.page_bytes}, load));
      series.points.emplace_back(static_cast<double>(pool), cost.us());
    }
    plot->series.push_back(std::move(series));
  }
  clear();
  return {};
}

base::Status SatExperiments::add_pools(SatUnit unit) {
  const bool is_daily = unit == SatUnit::kDay;
  const SatLoad load(scale_.pools_records, kFixedBytes, unit, is_daily ? kDays : kHours);
  SatFigure figure;
  figure.name = is_daily ? "sat-pools-daily" : "sat-pools-hourly";
  figure.unit = "µs/record";
  figure.plot.title =
      fmt::format("Time per record by buffer pool, {}", is_daily ? "daily" : "hourly");
  figure.plot.x = pool_axis(scale_.pools);
  figure.plot.y = {.label = "µs per record", .is_log = true};
  RETURN_IF_ERROR(add_by_pool({{"sat", 512, "SAT, 512-byte pages"},
                               {"sat", kPaperPage, "SAT, 4 KiB pages"},
                               {"sat", kLargePage, "SAT, 64 KiB pages"},
                               {"naive", kPaperPage, "SAT/Naive, 4 KiB pages"},
                               {"naive", kLargePage, "SAT/Naive, 64 KiB pages"}},
                              load, scale_.pools, &figure.plot));
  RETURN_IF_ERROR(add_by_pool({{"basic", kPaperPage, "SAT/Basic, 4 KiB pages"}}, load, scale_.pools,
                              &figure.plot));
  double tree_us = hourly_tree_us_;
  if (is_daily) {
    const SatLoad tree(scale_.length_records, kFixedBytes, unit, kDays);
    RETURN_IF_ERROR(this->load({"bdb", 0, 0}, tree));
    ASSIGN_OR_RETURN(const SatCost cost, measure({"bdb", 0, 0}, tree));
    clear();
    tree_us = cost.us();
  }
  figure.plot.lines = {{PlotLine::Kind::kAtY, "B-tree", tree_us}};
  figure.text = fmt::format(
      "{} records, the mean of {}. The B-tree (Berkeley DB) has {} records and no such pool. The "
      "papers' pool of 32 MiB for 17,496,056 records is one of {:.1f} MiB here.",
      with_commas(load.records()), is_daily ? "5 daily steps" : "36 hourly steps",
      with_commas(is_daily ? scale_.length_records : scale_.hours_records),
      32.0 * load.records() / kSatRecords);
  figure.paper = is_daily
                     ? "(003, figure 7) SAT/Naive is slow with 4 KiB pages and better with 64 KiB, "
                       "but slower than SAT; SAT does not depend on the page where the pool is "
                       "large, and likes small pages where it is small. SAT/Basic takes 10 µs less."
                     : "(003, figure 8) as by days; SAT becomes slower where the pool is small.";
  figure.found = fmt::format(
      "from the smallest pool to the largest, with 4 KiB pages SAT takes {} µs, SAT/Naive {} and "
      "SAT/Basic {}. All buckets are appended to one file, a mebibyte at a time; SAT/Naive has a "
      "file for each, as in the paper, and writes pages as they fill.",
      first_to_last(figure.plot, "SAT, 4 KiB pages"),
      first_to_last(figure.plot, "SAT/Naive, 4 KiB pages"),
      first_to_last(figure.plot, "SAT/Basic, 4 KiB pages"));
  for (const char* name : {"SAT, 4 KiB pages", "SAT, 64 KiB pages"}) {
    const PlotSeries* series = series_of(figure.plot, name);
    if (series == nullptr) continue;
    PlotSeries pages{(is_daily ? "daily" : "hourly") + std::string(name).substr(3), {}};
    const auto page =
        static_cast<double>(std::string_view(name).contains("64") ? kLargePage : kPaperPage);
    for (const auto& [pool, us] : series->points) pages.points.emplace_back(pool / page, us);
    by_pages_.push_back(std::move(pages));
  }
  figures_.push_back(std::move(figure));
  return {};
}

void SatExperiments::add_pages() {
  SatFigure figure;
  figure.name = "sat-pages";
  figure.unit = "µs/record";
  figure.text = "The same runs of SAT by the number of pages in the pool.";
  figure.paper =
      "(003, figure 9) it becomes slower with fewer than about 20 pages by days and 500 by hours, "
      "a "
      "twentieth of the buckets.";
  figure.plot.title = "Time per record by number of pages";
  figure.plot.x = {.label = "pages", .is_log = true};
  figure.plot.y = {.label = "µs per record", .is_log = true};
  figure.plot.series = by_pages_;
  figure.plot.lines = {{PlotLine::Kind::kAtX, "400 buckets / 20", 20},
                       {PlotLine::Kind::kAtX, "9,600 buckets / 20", 480}};
  figures_.push_back(std::move(figure));
}

// --- Size and throughput by record length.

base::Status SatExperiments::add_lengths() {
  SatFigure sizes;
  sizes.name = "sat-size";
  sizes.unit = "GB";
  sizes.plot.title = "Database size by record length";
  sizes.plot.x = {.label = "fixed part (bytes)"};
  sizes.plot.x.ticks = {0, 50, 100, 200, 400};
  sizes.plot.y = {.label = "GB for 17,496,056 records"};
  sizes.plot.series = {{"SAT, hourly", {}},
                       {"SAT, daily", {}},
                       {"B-tree, 4 KiB pages", {}},
                       {"B-tree, 16 KiB pages", {}},
                       {"ids and bodies alone", {}}};
  SatFigure rates;
  rates.name = "sat-throughput";
  rates.unit = "MB/s";
  rates.plot.title = "Throughput by record length, hourly";
  rates.plot.x = {.label = "mean record (bytes)"};
  rates.plot.y = {.label = "MB/s read and written", .is_log = true};
  rates.plot.series = {{"SAT", {}}, {"SAT/Naive", {}}, {"SAT/Basic", {}}, {"B-tree", {}}};
  const std::uint64_t pool = scale_.pool_bytes;
  for (const std::size_t fixed : {50U, 100U, 200U, 400U}) {
    const SatLoad hourly(scale_.length_records, fixed, SatUnit::kHour, scale_.length_hours);
    const SatLoad daily(scale_.length_records, fixed, SatUnit::kDay, 1);
    double bytes = 0;
    for (std::uint32_t seq = 0; seq < hourly.records(); ++seq) {
      bytes += static_cast<double>(hourly.body_bytes(seq));
    }
    const double mean_bytes = bytes / hourly.records();
    const auto add_size = [&](std::size_t i, double disk_bytes) {
      sizes.plot.series[i].points.emplace_back(fixed,
                                               disk_bytes / hourly.records() * kSatRecords / 1e9);
    };
    const auto add_rate = [&](std::size_t i, const Run& run) -> base::Status {
      ASSIGN_OR_RETURN(const SatCost cost, measure(run, hourly));
      rates.plot.series[i].points.emplace_back(mean_bytes, 2 * mean_bytes / cost.us());
      return {};
    };
    ASSIGN_OR_RETURN(const SatLoaded by_hour, load({"sat", pool, kPaperPage}, hourly));
    add_size(0, by_hour.disk_bytes);
    RETURN_IF_ERROR(add_rate(0, {"sat", pool, kPaperPage}));
    RETURN_IF_ERROR(add_rate(1, {"naive", pool, kPaperPage}));
    RETURN_IF_ERROR(load({"basic", pool, kPaperPage}, hourly));
    RETURN_IF_ERROR(add_rate(2, {"basic", pool, kPaperPage}));
    ASSIGN_OR_RETURN(const SatLoaded by_day, load({"sat", pool, kPaperPage}, daily));
    add_size(1, by_day.disk_bytes);
    ASSIGN_OR_RETURN(const SatLoaded small_pages, load({"bdb", 0, kPaperPage}, hourly));
    add_size(2, small_pages.disk_bytes);
    ASSIGN_OR_RETURN(const SatLoaded pages, load({"bdb", 0, 0}, hourly));
    add_size(3, pages.disk_bytes);
    RETURN_IF_ERROR(add_rate(3, {"bdb", 0, 0}));
    add_size(4, bytes + static_cast<double>(sizeof(base::Id)) * hourly.records());
    clear();
  }
  sizes.text = fmt::format(
      "What the files take after loading, measured with {} records and scaled. Keys were sorted "
      "before they were put into the B-trees (Berkeley DB).",
      with_commas(scale_.length_records));
  sizes.paper =
      "(003, figure 5; 000) about 2.7 GB with a fixed part of 100 bytes, the same by days and by "
      "hours; the B-tree with 4 KiB pages takes clearly more.";
  rates.text = fmt::format(
      "{} records, fixed parts of 50, 100, 200 and 400 bytes, {} hourly steps, pages of 4 KiB, a "
      "pool of {}: twice the mean record over the mean time, because each is read and written.",
      with_commas(scale_.length_records), scale_.length_hours, size_name(pool));
  rates.paper =
      "(003, figure 10) SAT 10 to 20 MB/s, a quarter of what the disk could do; the B-tree 0.3 "
      "MB/s.";
  rates.found =
      fmt::format("from the shortest records to the longest SAT does {} MB/s, the B-tree {}.",
                  first_to_last(rates.plot, "SAT"), first_to_last(rates.plot, "B-tree"));
  figures_.push_back(std::move(sizes));
  figures_.push_back(std::move(rates));
  return {};
}

// --- Time by unit.

base::Status SatExperiments::add_units() {
  SatFigure figure;
  figure.name = "sat-units";
  figure.unit = "µs/record";
  figure.plot.title = "Time per record by unit of time and buffer pool";
  figure.plot.x = pool_axis(scale_.units_pools);
  figure.plot.y = {.label = "µs per record", .is_log = true};
  const auto add = [&](SatUnit unit, const char* name) {
    const SatLoad load(scale_.units_records, kFixedBytes, unit,
                       unit == SatUnit::kDay ? kDays : scale_.units_hours, SatRates::k000);
    return add_by_pool({{"sat", kPaperPage, name}}, load, scale_.units_pools, &figure.plot);
  };
  RETURN_IF_ERROR(add(SatUnit::kDay, "day"));
  RETURN_IF_ERROR(add(SatUnit::kHour, "hour"));
  RETURN_IF_ERROR(add(SatUnit::kMinute, "minute"));
  RETURN_IF_ERROR(add(SatUnit::kMixed, "minute, mixed radix"));
  figure.text = fmt::format(
      "{} records at 000's rates, pages of 4 KiB; 5 daily steps, else {} hours. Mixed radix: "
      "minutes "
      "for a day, hours for 32 days, days for 400 days; what is due later is moved to finer "
      "buckets "
      "when its time comes, which is counted.",
      with_commas(scale_.units_records), scale_.units_hours);
  figure.paper =
      "(000, figure 2) by days flat; by hours a jump below 1 MB; by minutes slower with any pool. "
      "Mixed radix is proposed there and was not built.";
  figure.found = fmt::format(
      "from the smallest pool to the largest by days {} µs, by hours {}, by minutes {}, by minutes "
      "with mixed radix {}.",
      first_to_last(figure.plot, "day"), first_to_last(figure.plot, "hour"),
      first_to_last(figure.plot, "minute"), first_to_last(figure.plot, "minute, mixed radix"));
  figures_.push_back(std::move(figure));
  return {};
}

}  // namespace meguri::bench
