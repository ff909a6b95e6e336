// ListSchedule: the list scheduler of paper 004 (its Algorithms 1 and 2), to compare with.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "crawl/access_schedule.h"

namespace meguri::crawl {

// L lists of waiting jobs, and a table that says for every address (modulo H) which list its next
// job goes to: the one ceil(wait / 5 s) lists after that of the job before it, so that no list has
// two jobs of one address. Jobs for which no list is left are dropped: add() is false. The lists
// are downloaded one after another; a list leaves 5 s after all answers to the one before it, and
// an empty list costs 5 s as well. Two addresses may share an entry of the table, which only
// separates them further.
//
// As the paper has it, there are no priorities, hosts do not matter beside their address, waits are
// counted in lists of which one is the least, and nothing depends on how long an answer took;
// limits other than jobs_max are not used. Beyond it, time is passed in instead of slept through,
// so that jobs can be added while a sleep lasts; remove() looks through all lists; hold() and
// restart() have no place here and do nothing. The paper runs many instances, so that one downloads
// while others wait.
class ListSchedule final : public AccessSchedule {
 public:
  explicit ListSchedule(const AccessLimits& limits);

  bool add(const Job& job) override;
  std::optional<Job> next(base::Ticks now) override;
  base::Ticks next_ready() const override;
  void finish(std::uint64_t host, base::Ticks now, base::Duration duration) override;
  void call_off(std::uint64_t host) override;
  std::vector<std::uint64_t> remove(std::uint64_t host) override;
  void set_host_wait(std::uint64_t /*host*/, std::uint32_t /*wait_ms*/) override {}
  void hold(std::uint64_t /*host*/, base::Ticks /*until*/) override {}
  void restart(base::Ticks /*now*/) override {}
  AccessSummary summary() const override;
  std::optional<HostAccess> look(std::uint64_t host) const override;
  std::size_t memory_bytes() const override;

 private:
  void go_next();
  void take_list(std::vector<Job>& list);

  const AccessLimits limits_;
  base::Ticks now_;
  std::vector<std::vector<Job>> lists_;  // l
  std::vector<std::int64_t> table_;      // n
  std::int64_t step_ = -1;               // c
  std::uint64_t unfinished_ = 0;         // p: of the current list, left or not
  std::vector<Job> current_;             // what of the current list has not left, last first
  base::Ticks wake_;                     // when the sleep ends that is being slept
  std::uint32_t passed_ = 0;             // m: lists looked at since the last one that had jobs
  std::uint64_t waiting_ = 0;
};

}  // namespace meguri::crawl
