#include "revisit/change_state.h"

#include <gtest/gtest.h>

#include <cmath>
#include <optional>
#include <string>

namespace meguri::revisit {
namespace {

using base::Duration;
using base::Instant;

constexpr Instant kStart = Instant::from_ms(1'767'225'600'000);  // 2026-01-01

// Visits by hours since the start.
class Page {
 public:
  Page& visit(int hour, Outcome outcome, std::optional<double> modified_hour = std::nullopt) {
    Visit visit{.time = at(hour), .outcome = outcome};
    if (modified_hour) visit.last_modified = at(*modified_hour);
    return add(visit);
  }
  Page& add(const Visit& visit) {
    state = with_visit(state, visit);
    return *this;
  }
  static Instant at(double hour) {
    return kStart + Duration::from_ms(static_cast<std::int64_t>(hour * 3'600'000));
  }

  ChangeState state;
};

constexpr auto kChanged = Outcome::kChanged;
constexpr auto kUnchanged = Outcome::kUnchanged;
constexpr auto kGone = Outcome::kGone;
constexpr auto kError = Outcome::kError;

ChangeState busy_page() {
  Page page;
  page.visit(0, kChanged, -5);
  for (int i = 1; i < 100; ++i) {
    page.visit(7 * i, i % 3 == 0 ? kChanged : kUnchanged, 7 * (i - i % 3) - 0.5);
  }
  page.visit(705, kError).visit(707, kError);
  page.state.interval = Duration::hours(7);
  return page.state;
}

TEST(ChangeState, TellsTimeWithAndWithoutChanges) {
  const ChangeState state =
      Page().visit(0, kChanged).visit(5, kUnchanged).visit(8, kChanged).visit(18, kChanged).state;
  EXPECT_EQ(state.first_visit, kStart);
  EXPECT_EQ(state.last_visit, Page::at(18));
  EXPECT_EQ(state.observed, Duration::hours(18));
  EXPECT_EQ(state.stable, Duration::hours(5));
  EXPECT_EQ(state.shortest_change, Duration::hours(3));
  EXPECT_EQ(state.last_interval, Duration::hours(10));
  EXPECT_EQ(state.visits, 4U);
  EXPECT_EQ(state.versions, 3U);
  EXPECT_EQ(state.changes, 2U);
}

TEST(ChangeState, AChangeThatDoesNotCountIsAVersionAndElseNone) {
  Page page;
  page.visit(0, kChanged).add({.time = Page::at(5), .outcome = kChanged, .counts = false});
  EXPECT_EQ(page.state.versions, 2U);
  EXPECT_EQ(page.state.changes, 0U);
  EXPECT_EQ(page.state.stable, Duration::hours(5));
}

TEST(ChangeState, ErrorsTellNothingAndLeaveTheIntervalOpen) {
  Page page;
  page.visit(0, kChanged).visit(5, kError).visit(6, kError);
  EXPECT_EQ(page.state.failures, 2);
  EXPECT_EQ(page.state.observed, Duration());
  page.visit(8, kUnchanged);
  EXPECT_EQ(page.state.failures, 0);
  EXPECT_EQ(page.state.observed, Duration::hours(8));
  EXPECT_EQ(page.state.last_interval, Duration::hours(8));
}

TEST(ChangeState, TimeInWhichThePageWasGoneIsNotObserved) {
  Page page;
  page.visit(0, kChanged).visit(5, kUnchanged).visit(10, kGone).visit(15, kGone);
  EXPECT_EQ(page.state.gones, 2);
  EXPECT_EQ(page.state.failures, 2);
  page.visit(100, kChanged);
  EXPECT_EQ(page.state.gones, 0);
  EXPECT_EQ(page.state.observed, Duration::hours(5));
  EXPECT_EQ(page.state.changes, 0U);
  page.visit(103, kChanged);
  EXPECT_EQ(page.state.observed, Duration::hours(8));
  EXPECT_EQ(page.state.changes, 1U);
}

TEST(ChangeState, RemembersOutcomesOfTheLastVisits) {
  Page page;
  page.visit(0, kChanged).visit(1, kUnchanged).visit(2, kGone).visit(3, kError);
  EXPECT_EQ(outcome_at(page.state, 0), kError);
  EXPECT_EQ(outcome_at(page.state, 1), kGone);
  EXPECT_EQ(outcome_at(page.state, 2), kUnchanged);
  EXPECT_EQ(outcome_at(page.state, 3), kChanged);
  for (int i = 0; i < 31; ++i) page.visit(4 + i, kUnchanged);
  EXPECT_EQ(outcome_at(page.state, 31), kError);
}

TEST(ChangeState, AClockThatGoesBackTellsNothing) {
  const ChangeState state = Page().visit(0, kChanged).visit(5, kUnchanged).visit(3, kChanged).state;
  EXPECT_EQ(state.last_visit, Page::at(5));
  EXPECT_EQ(state.observed, Duration::hours(5));
  EXPECT_EQ(state.changes, 0U);
}

TEST(ChangeState, LastModifiedIsBelievedWhenItWasRightTwice) {
  Page page;
  page.visit(0, kChanged, -3).visit(24, kChanged, 23);
  EXPECT_FALSE(trusts_modified(page.state));
  EXPECT_EQ(page.state.changes, 1U);
  page.visit(48, kUnchanged, 23).visit(72, kChanged, 70);
  EXPECT_TRUE(trusts_modified(page.state));
  EXPECT_EQ(page.state.changes, 1U);
  EXPECT_EQ(page.state.dated_changes, 1U);
  EXPECT_EQ(page.state.stable, Duration::hours(24 + 2));
  EXPECT_EQ(page.state.observed, Duration::hours(48 + 2));
}

TEST(ChangeState, LastModifiedThatWasWrongIsNotBelieved) {
  const auto trusted = [] {
    Page page;
    page.visit(0, kChanged, -3);
    for (int day = 1; day <= 9; ++day) page.visit(24 * day, kChanged, 24 * day - 1);
    return page;
  };
  ASSERT_TRUE(trusts_modified(trusted().state));
  EXPECT_TRUE(trusts_modified(trusted().visit(240, kUnchanged, 215).state));
  EXPECT_TRUE(trusts_modified(trusted().visit(240, kUnchanged).state));
  EXPECT_FALSE(trusts_modified(trusted().visit(240, kChanged, 250).state)) << "in the future";
  EXPECT_FALSE(trusts_modified(trusted().visit(240, kUnchanged, 230).state)) << "moved alone";
  EXPECT_FALSE(trusts_modified(trusted().visit(240, kChanged, 215).state)) << "did not move";
  EXPECT_FALSE(trusts_modified(trusted().visit(240, kChanged, 200).state)) << "before the visit";
  EXPECT_FALSE(trusts_modified(trusted().visit(240, kChanged, 240).state)) << "made for the answer";
  Page page = trusted().visit(240, kChanged, 250);
  EXPECT_EQ(page.state.changes, 2U) << "the change itself is not dated either";
}

TEST(ChangeState, HasItsBytes) {
  for (const ChangeState& state :
       {Page().visit(0, kChanged).state, Page().visit(0, kError).state,
        Page().visit(0, kGone).visit(1, kChanged, -1e6).state, busy_page()}) {
    std::string bytes;
    encode(state, bytes);
    EXPECT_LE(bytes.size(), 64U);
    ChangeState read;
    ASSERT_TRUE(decode(bytes, read));
    EXPECT_EQ(read, state);
  }
}

TEST(ChangeState, RubbishIsNoState) {
  std::string bytes;
  encode(busy_page(), bytes);
  ChangeState read;
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_FALSE(decode(bytes.substr(0, size), read)) << size;
  }
  EXPECT_FALSE(decode(bytes + '\0', read));
  EXPECT_FALSE(decode('\2' + bytes.substr(1), read)) << "of another version";
  EXPECT_EQ(read, ChangeState());

  const auto refuses = [](auto change) {
    ChangeState state = busy_page();
    change(state);
    std::string broken;
    encode(state, broken);
    ChangeState unread;
    return !decode(broken, unread);
  };
  EXPECT_TRUE(refuses([](ChangeState& s) { s.visits = 0; }));
  EXPECT_TRUE(refuses([](ChangeState& s) { s.versions = s.visits + 1; }));
  EXPECT_TRUE(refuses([](ChangeState& s) { s.changes = s.versions + 1; }));
  EXPECT_TRUE(refuses([](ChangeState& s) { s.gones = 3; }));
  EXPECT_TRUE(refuses([](ChangeState& s) { s.modified_trust = 9; }));
  EXPECT_TRUE(refuses([](ChangeState& s) { s.shortest_change = Duration(); }));
  EXPECT_TRUE(refuses([](ChangeState& s) { s.filter.mean = std::nanf(""); }));
  EXPECT_TRUE(refuses([](ChangeState& s) { s.filter.variance = -1; }));
  EXPECT_TRUE(refuses([](ChangeState& s) { s.stable = s.observed; }));
  EXPECT_TRUE(refuses([](ChangeState& s) { s.observed = s.observed + Duration::days(400); }));
  EXPECT_TRUE(refuses([](ChangeState& s) { s.interval = Duration::from_ms(-1); }));
  EXPECT_TRUE(refuses([](ChangeState& s) { s.last_answer = s.first_visit - Duration::hours(1); }));
  EXPECT_FALSE(refuses([](ChangeState& /*state*/) {}));
}

}  // namespace
}  // namespace meguri::revisit
