// How a crawl stands, for people and programs.
#pragma once

#include <array>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "base/result.h"
#include "crawl/access_schedule.h"
#include "crawl/registry.h"
#include "crawl/registry_state.h"

namespace meguri::app {

struct CrawlStanding {
  std::uint64_t known = 0;
  std::uint64_t done = 0;
  std::uint64_t waiting = 0;
  std::uint64_t in_flight = 0;  // without those that are visited again
  std::uint64_t again = 0;      // pages that are done, and due or being visited again
  std::uint64_t revisits = 0;   // begun since the start

  // Pages that were never done, waiting or under way.
  std::uint64_t left() const { return known - done; }
  std::array<std::uint64_t, crawl::kVisitOutcomes> visited{};
  std::array<std::uint64_t, crawl::kRefusals> refused{};

  static CrawlStanding of(const crawl::RegistryCounts& counts);
  void add(const crawl::RegistryState& registry);  // of a checkpoint

  nlohmann::json to_json() const;
  // An error that says why, if a crawl that has ended has visited nothing at all.
  base::Status check_visited() const;

  std::string to_string() const;  // "12 of 40 pages done, 10 changed, 2 gone"
};

// What `meguri status` says of a running crawl.
nlohmann::json status_json(const crawl::RegistryCounts& counts, const crawl::AccessSummary& access);

}  // namespace meguri::app
