#include "crawl/access_schedule.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "env/random.h"

namespace meguri::crawl {
namespace {

using base::Duration;
using base::Ticks;

std::unique_ptr<AccessSchedule> wheel(const AccessLimits& limits = {}) {
  return make_access_schedule(AccessScheduleKind::kWheel, limits);
}

std::unique_ptr<AccessSchedule> lists(const AccessLimits& limits = {}) {
  return make_access_schedule(AccessScheduleKind::kLists, limits);
}

Job job_of(std::uint64_t payload, std::uint64_t host, std::uint64_t server,
           Priority priority = Priority::kOther, std::uint32_t wait_ms = 0) {
  return {payload, host, server, wait_ms, priority};
}

Ticks at(std::int64_t ms) { return Ticks::from_ms(ms); }
Duration lasting(std::int64_t ms) { return Duration::from_ms(ms); }

std::uint64_t payload_at(AccessSchedule& schedule, std::int64_t ms) {
  const std::optional<Job> job = schedule.next(at(ms));
  return job ? job->payload : 0;
}

TEST(AccessSchedule, GivesNothingWhenItHasNothing) {
  const auto schedule = wheel();
  EXPECT_FALSE(schedule->next(at(5)));
  EXPECT_EQ(schedule->next_ready(), Ticks::never());
  EXPECT_TRUE(schedule->remove(7).empty());
  EXPECT_EQ(schedule->summary().to_string(), "no job waits");
}

TEST(AccessSchedule, LetsAHostWaitFromTheEndOfItsAnswer) {
  const auto schedule = wheel();
  ASSERT_TRUE(schedule->add(job_of(1, 10, 20)));
  ASSERT_TRUE(schedule->add(job_of(2, 10, 20)));
  EXPECT_EQ(payload_at(*schedule, 0), 1U);
  EXPECT_EQ(payload_at(*schedule, 100'000), 0U) << "one at a time";
  schedule->finish(10, at(100'000), lasting(400));
  EXPECT_EQ(payload_at(*schedule, 104'999), 0U);
  EXPECT_EQ(payload_at(*schedule, 105'000), 2U);
}

TEST(AccessSchedule, WaitsTenTimesAsLongAsTheAnswerTook) {
  const auto schedule = wheel();
  ASSERT_TRUE(schedule->add(job_of(1, 10, 20)));
  ASSERT_TRUE(schedule->add(job_of(2, 10, 20)));
  EXPECT_EQ(payload_at(*schedule, 0), 1U);
  schedule->finish(10, at(800), lasting(800));
  EXPECT_EQ(payload_at(*schedule, 8799), 0U);
  EXPECT_EQ(payload_at(*schedule, 8800), 2U);
}

TEST(AccessSchedule, ObeysACrawlDelayThatArrivesWithTheAnswer) {
  const auto schedule = wheel();
  ASSERT_TRUE(schedule->add(job_of(1, 10, 20, Priority::kUrgent)));
  ASSERT_TRUE(schedule->add(job_of(2, 10, 20)));
  EXPECT_EQ(payload_at(*schedule, 0), 1U);
  schedule->finish(10, at(100), lasting(100));
  schedule->set_host_wait(10, 30'000);
  EXPECT_EQ(payload_at(*schedule, 30'096), 0U);
  EXPECT_EQ(payload_at(*schedule, 30'104), 2U);
}

TEST(AccessSchedule, KeepsTheGapBetweenHostsOfOneServer) {
  const auto schedule = wheel();
  ASSERT_TRUE(schedule->add(job_of(1, 10, 20)));
  ASSERT_TRUE(schedule->add(job_of(2, 11, 20)));
  ASSERT_TRUE(schedule->add(job_of(3, 12, 21)));
  EXPECT_EQ(payload_at(*schedule, 0), 1U);
  EXPECT_EQ(payload_at(*schedule, 0), 3U);
  EXPECT_EQ(payload_at(*schedule, 40), 0U);
  schedule->finish(10, at(48), lasting(48));
  EXPECT_EQ(schedule->summary().servers_gap, 1U);
  EXPECT_EQ(payload_at(*schedule, 1047), 0U);
  EXPECT_EQ(payload_at(*schedule, 1048), 2U);
}

TEST(AccessSchedule, AllowsAServerAsManyAsConfigured) {
  AccessLimits limits;
  limits.server_requests_max = 2;
  const auto schedule = wheel(limits);
  for (std::uint64_t host = 1; host <= 3; ++host) ASSERT_TRUE(schedule->add(job_of(host, host, 9)));
  EXPECT_EQ(payload_at(*schedule, 0), 1U);
  EXPECT_EQ(payload_at(*schedule, 0), 2U);
  EXPECT_EQ(payload_at(*schedule, 0), 0U);
  EXPECT_EQ(schedule->summary().servers_busy, 1U);
}

TEST(AccessSchedule, PrefersUrgentJobsAndKeepsTheOrderOfEquals) {
  AccessLimits limits;
  limits.host_wait_ms_min = 0;
  limits.server_gap_ms = 0;
  const auto schedule = wheel(limits);
  ASSERT_TRUE(schedule->add(job_of(1, 10, 20, Priority::kOther)));
  ASSERT_TRUE(schedule->add(job_of(2, 10, 20, Priority::kShallow)));
  ASSERT_TRUE(schedule->add(job_of(3, 10, 20, Priority::kShallow)));
  ASSERT_TRUE(schedule->add(job_of(4, 10, 20, Priority::kUrgent)));
  std::vector<std::uint64_t> order;
  while (const auto job = schedule->next(at(0))) {
    order.push_back(job->payload);
    schedule->finish(10, at(0), lasting(0));
  }
  EXPECT_EQ(order, (std::vector<std::uint64_t>{4, 2, 3, 1}));
}

TEST(AccessSchedule, StarvesNoPriority) {
  AccessLimits limits;
  limits.host_wait_ms_min = 0;
  limits.server_gap_ms = 0;
  const auto schedule = wheel(limits);
  ASSERT_TRUE(schedule->add(job_of(1, 10, 20, Priority::kEmbed)));
  ASSERT_TRUE(schedule->add(job_of(2, 10, 20, Priority::kOther)));
  std::set<std::uint64_t> seen;
  for (std::uint64_t i = 0; i < 64; ++i) {
    ASSERT_TRUE(schedule->add(job_of(100 + i, 10, 20, Priority::kShallow)));
    seen.insert(payload_at(*schedule, 0));
    schedule->finish(10, at(0), lasting(0));
  }
  EXPECT_TRUE(seen.contains(1) && seen.contains(2));
}

TEST(AccessSchedule, StarvesNoHostOfAServer) {
  const auto schedule = wheel();
  std::map<std::uint64_t, int> visits;
  for (std::uint64_t i = 0; i < 40; ++i) {
    for (std::uint64_t host = 0; host < 10; ++host) {
      ASSERT_TRUE(
          schedule->add(job_of(1, host, 20, host < 9 ? Priority::kShallow : Priority::kOther)));
    }
  }
  for (std::int64_t now = 0; now < 200'000; now += 500) {
    const auto job = schedule->next(at(now));
    if (!job) continue;
    ++visits[job->host];
    schedule->finish(job->host, at(now), lasting(10));
  }
  for (std::uint64_t host = 0; host < 10; ++host) EXPECT_GE(visits[host], 5) << host;
  EXPECT_LE(visits[0] - visits[8], 2);
}

TEST(AccessSchedule, RefusesBeyondItsLimits) {
  AccessLimits limits;
  limits.jobs_per_host_max = 2;
  limits.jobs_max = 3;
  const auto schedule = wheel(limits);
  EXPECT_TRUE(schedule->add(job_of(1, 10, 20)));
  EXPECT_TRUE(schedule->add(job_of(2, 10, 20)));
  EXPECT_FALSE(schedule->add(job_of(3, 10, 20)));
  EXPECT_TRUE(schedule->add(job_of(4, 11, 20)));
  EXPECT_FALSE(schedule->add(job_of(5, 12, 20)));
  EXPECT_EQ(schedule->remove(10), (std::vector<std::uint64_t>{1, 2}));
  EXPECT_TRUE(schedule->add(job_of(5, 12, 20)));
}

TEST(AccessSchedule, PinsAHostToItsServerWhileItHasJobs) {
  const auto schedule = wheel();
  ASSERT_TRUE(schedule->add(job_of(1, 10, 20)));
  ASSERT_TRUE(schedule->add(job_of(2, 10, 99)));
  EXPECT_EQ(schedule->next(at(0))->server, 20U);
  schedule->finish(10, at(0), lasting(10));
  EXPECT_EQ(schedule->next(at(5000))->server, 20U);
  schedule->finish(10, at(5000), lasting(10));
  ASSERT_TRUE(schedule->add(job_of(3, 10, 99)));
  EXPECT_FALSE(schedule->next(at(9999))) << "the wait goes with the host";
  EXPECT_EQ(schedule->next(at(10'000))->server, 99U);
}

TEST(AccessSchedule, CountsNoAccessThatWasCalledOff) {
  const auto schedule = wheel();
  ASSERT_TRUE(schedule->add(job_of(1, 10, 20)));
  ASSERT_TRUE(schedule->add(job_of(2, 10, 20)));
  ASSERT_TRUE(schedule->add(job_of(3, 11, 20)));
  EXPECT_EQ(payload_at(*schedule, 0), 1U);
  EXPECT_EQ(payload_at(*schedule, 0), 0U);
  schedule->call_off(10);
  EXPECT_EQ(payload_at(*schedule, 0), 3U) << "neither the host nor the server has to wait";
  schedule->call_off(11);
  EXPECT_EQ(payload_at(*schedule, 0), 2U);
  schedule->finish(10, at(0), lasting(0));
  ASSERT_TRUE(schedule->add(job_of(4, 10, 20)));
  EXPECT_EQ(payload_at(*schedule, 5000), 4U);
  schedule->set_host_wait(10, 8000);
  schedule->call_off(10);
  ASSERT_TRUE(schedule->add(job_of(5, 10, 20, Priority::kOther, 8000)));
  EXPECT_EQ(payload_at(*schedule, 7999), 0U) << "a longer wait counts from the last answer";
  EXPECT_EQ(payload_at(*schedule, 8000), 5U);
}

TEST(AccessSchedule, GoesToTheNextListWhenTheLastJobWasCalledOff) {
  const auto schedule = lists();
  ASSERT_TRUE(schedule->add(job_of(1, 10, 20)));
  ASSERT_TRUE(schedule->add(job_of(2, 10, 20)));
  std::int64_t now = 0;
  while (payload_at(*schedule, now) == 0) now += 1000;
  schedule->call_off(10);
  EXPECT_EQ(schedule->summary().jobs_in_flight, 0U);
  EXPECT_EQ(payload_at(*schedule, now + 10'000), 2U);
}

TEST(AccessSchedule, HoldsAHostAndEveryHostAfterARestart) {
  const auto schedule = wheel();
  schedule->hold(10, at(60'000));
  ASSERT_TRUE(schedule->add(job_of(1, 10, 20)));
  EXPECT_EQ(payload_at(*schedule, 59'999), 0U);
  EXPECT_EQ(payload_at(*schedule, 60'000), 1U);

  const auto restarted = wheel();
  restarted->restart(at(1000));
  ASSERT_TRUE(restarted->add(job_of(1, 10, 20)));
  ASSERT_TRUE(restarted->add(job_of(2, 11, 21, Priority::kOther, 9000)));
  EXPECT_EQ(payload_at(*restarted, 5999), 0U);
  EXPECT_EQ(payload_at(*restarted, 6000), 1U);
  EXPECT_EQ(payload_at(*restarted, 9999), 0U);
  EXPECT_EQ(payload_at(*restarted, 10'000), 2U);
  ASSERT_TRUE(restarted->add(job_of(3, 12, 22)));
  EXPECT_EQ(payload_at(*restarted, 10'000), 3U) << "seen long after the restart";
}

TEST(AccessSchedule, HoldsForEverWithoutTrouble) {
  const auto schedule = wheel();
  schedule->hold(10, Ticks::never());
  ASSERT_TRUE(schedule->add(job_of(1, 10, 20)));
  EXPECT_EQ(payload_at(*schedule, Duration::days(10'000).ms()), 0U);
  EXPECT_EQ(schedule->remove(10), std::vector<std::uint64_t>{1});
}

TEST(AccessSchedule, SaysWhatItWaitsFor) {
  const auto schedule = wheel();
  ASSERT_TRUE(schedule->add(job_of(1, 10, 20)));
  ASSERT_TRUE(schedule->add(job_of(2, 10, 20)));
  ASSERT_TRUE(schedule->add(job_of(3, 11, 21)));
  ASSERT_TRUE(schedule->add(job_of(4, 12, 21)));
  EXPECT_EQ(payload_at(*schedule, 0), 1U);
  EXPECT_EQ(payload_at(*schedule, 0), 3U);
  schedule->finish(10, at(0), lasting(10));
  EXPECT_EQ(
      schedule->summary().to_string(),
      "2 jobs wait: 1 host for its delay, 1 server for its answer; 1 in flight; next in 4.6s");
}

TEST(AccessSchedule, ForgetsHostsWhoseWaitIsOver) {
  const auto schedule = wheel();
  ASSERT_TRUE(schedule->add(job_of(1, 10, 20)));
  EXPECT_EQ(payload_at(*schedule, 0), 1U);
  schedule->finish(10, at(100), lasting(100));
  EXPECT_EQ(schedule->summary().hosts, 1U);
  EXPECT_EQ(payload_at(*schedule, Duration::days(3).ms()), 0U);
  EXPECT_EQ(schedule->summary().hosts, 0U);
  EXPECT_EQ(schedule->summary().servers, 0U);
}

TEST(ListSchedule, LeavesFiveSecondsBetweenLists) {
  const auto schedule = lists();
  ASSERT_TRUE(schedule->add(job_of(1, 10, 20)));
  ASSERT_TRUE(schedule->add(job_of(2, 11, 20)));
  ASSERT_TRUE(schedule->add(job_of(3, 12, 21)));
  EXPECT_EQ(payload_at(*schedule, 0), 0U) << "the timer's sleep";
  EXPECT_EQ(payload_at(*schedule, 5000), 1U);
  EXPECT_EQ(payload_at(*schedule, 5000), 3U);
  schedule->finish(10, at(5100), lasting(100));
  EXPECT_EQ(payload_at(*schedule, 50'000), 0U) << "one of the list is not done";
  schedule->finish(12, at(60'000), lasting(55'000));
  EXPECT_EQ(payload_at(*schedule, 64'999), 0U);
  EXPECT_EQ(payload_at(*schedule, 65'000), 2U);
}

TEST(ListSchedule, PassesOverEmptyListsForACrawlDelay) {
  const auto schedule = lists();
  ASSERT_TRUE(schedule->add(job_of(1, 10, 20, Priority::kOther, 17'000)));
  ASSERT_TRUE(schedule->add(job_of(2, 10, 20, Priority::kOther, 17'000)));
  EXPECT_EQ(payload_at(*schedule, 0), 0U);
  EXPECT_EQ(payload_at(*schedule, 5000), 1U);
  schedule->finish(10, at(5000), lasting(0));
  EXPECT_EQ(payload_at(*schedule, 20'000), 0U);
  EXPECT_EQ(payload_at(*schedule, 24'999), 0U);
  EXPECT_EQ(payload_at(*schedule, 25'000), 2U) << "three empty lists and the timer";
}

TEST(ListSchedule, DropsWhatFindsNoList) {
  AccessLimits limits;
  limits.lists = 4;
  const auto schedule = lists(limits);
  EXPECT_TRUE(schedule->add(job_of(1, 10, 20)));
  EXPECT_TRUE(schedule->add(job_of(2, 10, 20)));
  EXPECT_TRUE(schedule->add(job_of(3, 10, 20)));
  EXPECT_FALSE(schedule->add(job_of(4, 10, 20)));
  EXPECT_TRUE(schedule->add(job_of(5, 10, 21)));
  EXPECT_EQ(schedule->remove(10), (std::vector<std::uint64_t>{1, 5, 2, 3}));
  EXPECT_EQ(schedule->summary().jobs_waiting, 0U);
}

// What a server would see.
struct Visit {
  std::int64_t start = 0;
  std::int64_t end = 0;
  bool ended = true;
};

struct Pending {
  std::uint64_t host;
  std::int64_t end;
  std::int64_t start;
};

// Random jobs and durations; ASSERTs the gates from outside. Returns how many jobs came out.
template <typename Check>
std::size_t run_randomly(AccessSchedule& schedule, std::uint64_t seed, const Check& check) {
  env::Random random(seed);
  std::vector<Pending> pending;
  std::size_t added = 0;
  std::size_t left = 0;
  std::int64_t now = 0;
  for (int step = 0; step < 3000 || (left < added && step < 200'000); ++step) {
    if (step < 1000) {
      const std::uint64_t host = random.below(30);
      const auto level = random.below(kPriorities);
      added += schedule.add(job_of(1, host, host % 7, static_cast<Priority>(level))) ? 1 : 0;
    }
    now += static_cast<std::int64_t>(random.below(300));
    std::erase_if(pending, [&](const Pending& visit) {
      if (visit.end > now) return false;
      schedule.finish(visit.host, at(now), lasting(now - visit.start));
      check(visit.host, now, false);
      return true;
    });
    if (const auto job = schedule.next(at(now))) {
      ++left;
      check(job->host, now, true);
      pending.push_back({job->host, now + static_cast<std::int64_t>(random.below(900)), now});
    }
  }
  EXPECT_EQ(left, added);
  return left;
}

TEST(AccessSchedule, KeepsBothGatesAsServersSeeThem) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const auto schedule = wheel();
    std::map<std::uint64_t, Visit> hosts;
    std::map<std::uint64_t, Visit> servers;
    run_randomly(*schedule, seed, [&](std::uint64_t id, std::int64_t now, bool starts) {
      Visit& host = hosts[id];
      Visit& server = servers[id % 7];
      if (starts) {
        EXPECT_TRUE(host.ended && server.ended);
        const std::int64_t wait = std::max<std::int64_t>(5000, 10 * (host.end - host.start));
        EXPECT_TRUE(host.end == 0 || now - host.end >= wait);
        EXPECT_TRUE(server.end == 0 || now - server.end >= 1000);
        host.start = server.start = now;
      } else {
        host.end = server.end = now;
      }
      host.ended = server.ended = !starts;
    });
    ASSERT_FALSE(HasFailure()) << "seed " << seed;
  }
}

TEST(ListSchedule, KeepsServersFiveSecondsApart) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const auto schedule = lists();
    std::map<std::uint64_t, Visit> servers;
    run_randomly(*schedule, seed, [&](std::uint64_t id, std::int64_t now, bool starts) {
      Visit& server = servers[id % 7];
      if (starts) {
        EXPECT_TRUE(server.ended);
        EXPECT_TRUE(server.end == 0 || now - server.end >= 5000);
      } else {
        server.end = now;
      }
      server.ended = !starts;
    });
    ASSERT_FALSE(HasFailure()) << "seed " << seed;
  }
}

}  // namespace
}  // namespace meguri::crawl
