// RevisitRun: a policy's visits over a world of pages, in virtual time, and what they hold.
#pragma once

#include <cstdint>
#include <functional>

#include "base/time.h"
#include "revisit/policy.h"
#include "sim/recall.h"
#include "sim/revisit_world.h"

namespace meguri::sim {

struct RevisitOptions {
  // The budget: visits for each change, over all pages that have appeared. 1 is the level of paper
  // 002, at which a page is visited once in its mean interval (x = λT = 1); 2 is x = 0.5.
  double budget = 1;
  std::uint64_t seed = 1;  // of the policy's chance
  // Told now and then which part of the work is done.
  std::function<void(double)> progress = {};
};

// First visits are free, and so is what they find: every policy has it, and discovery has its own
// half of a crawler's capacity. Nothing of it is counted here but that the version is held.
struct RevisitReport {
  std::size_t pages = 0;  // that appeared
  std::size_t visits = 0;
  double visits_allowed = 0;
  std::size_t visits_wasted = 0;  // that found no new version
  Holdings holdings;              // of versions that came after a page's first visit
  Showing showing;

  double recall() const { return holdings.recall(); }
  double coverage() const { return holdings.coverage(); }
  double waste() const;
  double budget_used() const;
};

// Pages are visited when they are due, in due order, as long as the budget allows; else they wait.
// As much of the budget can be saved as visits every page once.
//
// A policy that can be scaled gets the whole budget and no more: all its intervals are multiplied
// by one level, so that the rates they sum up to, within the policy's bounds, are the budget. Pages
// that are scheduled already follow it when it moves.
RevisitReport run_revisits(const RevisitWorld& world, const revisit::Policy& policy,
                           const RevisitOptions& options);

}  // namespace meguri::sim
