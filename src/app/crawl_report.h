// CrawlReport: what a crawl came to, in the figures of paper 002: gathered from its pages, hosts
// and visits one by one, in memory that does not grow with them.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "app/crawl_standing.h"
#include "app/distribution.h"
#include "base/time.h"
#include "crawl/crawl_log_reader.h"
#include "crawl/page_record.h"

namespace meguri::app {

// Of pages with intervals of about the same length.
struct PaceBin {
  std::uint64_t pages = 0;
  std::uint64_t visits = 0;
  std::uint64_t versions = 0;
  double rates = 0;         // of each page: versions by visits; the sum,
  double rate_squares = 0;  // and that of the squares

  double rate_mean() const;
  double rate_deviation() const;  // between pages
};

// Figures 3 and 4: intervals between visits, and how many of these found something new.
struct PageFigures {
  PageFigures();

  void add(const crawl::PageRecord& record);

  std::uint64_t pages = 0;
  std::uint64_t visits = 0;      // tries that failed included
  std::uint64_t versions = 0;    // of content
  std::uint64_t seen_once = 0;   // pages that have an interval, but only by chance
  std::uint64_t seen_again = 0;  // pages in the bins
  std::vector<PaceBin> paces;    // by Distribution::bin_of(interval_edges(), seconds)
  std::map<revisit::Reason, std::uint64_t> reasons;  // why they are visited when they are
  std::optional<base::Instant> first_visit;
  std::optional<base::Instant> last_visit;
};

// What a host is asked for, and what it bears.
struct HostBurden {
  std::string name;
  std::uint64_t pages = 0;
  double visits_a_day = 0;  // L
  base::Duration access;    // I: from one visit to the next, at least
  base::Duration download;  // e, of late; zero: not known

  // Loads are kept by adding and subtracting: what is below this is what rounding left of none.
  static constexpr double kLeastVisitsADay = 1e-6;

  bool is_loaded() const { return visits_a_day >= kLeastVisitsADay; }
  double seconds_between() const { return 86'400 / visits_a_day; }  // 1/L
  bool is_feasible() const { return seconds_between() >= access.in_seconds(); }
};

// Figures 5 to 7. Hosts of which nothing is asked are only counted.
struct HostFigures {
  static constexpr std::size_t kTightestMax = 20;

  // Of all hosts that are to be added, so many are asked for something.
  HostFigures(std::uint64_t loaded, std::uint64_t connections);
  HostFigures() : HostFigures(0, 1) {}

  void add(const HostBurden& host);

  std::uint64_t hosts = 0;
  std::uint64_t loaded = 0;
  std::uint64_t feasible = 0;       // of these: 1/L >= I
  double hosts_per_connection = 0;  // S/C
  double visits_a_day = 0;          // of all
  Distribution between;             // 1/L in seconds
  Distribution downloads;           // e in seconds, where known
  Distribution ratios;              // R = (1/L)/e, where e is known
  std::uint64_t ratio_below_one = 0;
  std::uint64_t ratio_below_share = 0;  // S/C
  std::vector<HostBurden> tightest;     // those with the least room first
};

// Of the crawl log.
struct VisitFigures {
  VisitFigures();

  void add(const crawl::LoggedVisit& visit);

  std::uint64_t pages = 0;   // visits to them
  std::uint64_t robots = 0;  // visits to robots.txt
  std::uint64_t refusals = 0;
  std::uint64_t unanswered = 0;    // of visits to pages
  std::uint64_t not_modified = 0;  // of these: 304
  std::uint64_t bytes = 0;
  std::array<std::uint64_t, crawl::kVisitOutcomes> outcomes{};  // of visits to pages
  base::Duration duration;                                      // of those answered, together
  Distribution downloads;                                       // in seconds, likewise
};

struct CrawlReport {
  std::string archive;
  base::Instant made;
  bool is_running = false;
  std::uint64_t epoch = 0;  // that all of it is of
  CrawlStanding standing;
  std::optional<PageFigures> pages;  // none: they could not be read, and a note says why
  HostFigures hosts;
  std::optional<VisitFigures> visits;  // none: there is no log
  base::Duration host_wait;            // between visits of one host, at least
  std::uint64_t connections = 0;
  std::vector<std::string> notes;  // what it cannot show, in whole sentences

  nlohmann::ordered_json to_json() const;
};

// In seconds, good to read.
std::span<const double> interval_edges();
std::span<const double> download_edges();

// "50 ms", "10 min", "6 h", "400 d".
std::string duration_name(double seconds);

}  // namespace meguri::app
