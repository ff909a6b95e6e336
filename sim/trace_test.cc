#include "sim/trace.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include <cstdlib>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "env/memory_file_system.h"
#include "env/posix_file_system.h"
#include "sim/recall.h"
#include "sim/world.h"
#include "sim/world_testing.h"

namespace meguri::sim {
namespace {

using base::Duration;
using base::Instant;

constexpr Instant kStart = kTestStart;
constexpr std::size_t kAll = std::numeric_limits<std::size_t>::max();
constexpr std::uint32_t kDeletion = RecordedChanges::kDeletion;

std::string gzip_of(std::string bytes) {
  z_stream stream{};
  EXPECT_EQ(deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
  std::string out(deflateBound(&stream, bytes.size()) + 64, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(bytes.data());
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

base::Result<Trace> read(std::string_view bytes) {
  env::MemoryFileSystem fs;
  EXPECT_TRUE((*fs.create("trace"))->append(bytes));
  return Trace::read(fs, "trace");
}

std::vector<std::uint32_t> events_of(const Trace& trace, std::size_t page) {
  const auto events = trace.events_of(page);
  return {events.begin(), events.end()};
}

using Events = std::vector<std::uint32_t>;

TEST(Trace, LinesAreReadPlainOrGzip) {
  const std::string text = "a/b\t1000 1005 D1010 1020\nc\t1003\nd\t998 D1001";
  for (const std::string& bytes :
       {text, text + "\n", gzip_of(text), gzip_of(text.substr(0, 9)) + gzip_of(text.substr(9))}) {
    const auto trace = read(bytes);
    ASSERT_TRUE(trace) << trace.error().message();
    ASSERT_EQ(trace->pages(), 3U);
    EXPECT_EQ(trace->events(), 7U);
    EXPECT_EQ(trace->begin(), Instant::from_ms(998'000));
    EXPECT_EQ(trace->span(), Duration::seconds(22));
    EXPECT_EQ(events_of(*trace, 0), (Events{2, 7, 12 | kDeletion, 22}));
    EXPECT_EQ(events_of(*trace, 1), Events{5});
    EXPECT_EQ(events_of(*trace, 2), (Events{0, 3 | kDeletion}));
  }
}

TEST(Trace, WhatNobodyCouldSeeIsLeftOut) {
  const auto trace = read("a\t1 1 2 D2\nb\tD1 2 D3 D4 4\nc\t5 D5 6\nd\tD7\n");
  ASSERT_TRUE(trace);
  EXPECT_EQ(events_of(*trace, 0), (Events{0, 1 | kDeletion}));
  EXPECT_EQ(events_of(*trace, 1), (Events{1, 2 | kDeletion, 3}));
  EXPECT_EQ(events_of(*trace, 2), Events{5});
  EXPECT_EQ(events_of(*trace, 3), Events{});
}

TEST(Trace, ErrorsNameTheLine) {
  const auto message = [](std::string_view bytes) {
    const auto trace = read(bytes);
    return trace ? std::string() : trace.error().message();
  };
  EXPECT_EQ(message("a\t1\nb 2\n"), "trace, line 2: there is no tab between a path and its times");
  EXPECT_EQ(message("a\t1\n\n"), "trace, line 2: there is no tab between a path and its times");
  EXPECT_EQ(message("\t1\n"), "trace, line 1: there is no path");
  EXPECT_EQ(message("a\t\n"), "trace, line 1: \"\" is no time");
  EXPECT_EQ(message("a\t1  2\n"), "trace, line 1: \"\" is no time");
  EXPECT_EQ(message("a\t1 -2\n"), "trace, line 1: \"-2\" is no time");
  EXPECT_EQ(message("a\t1 2x\n"), "trace, line 1: \"2x\" is no time");
  EXPECT_EQ(message("a\t1 E2\n"), "trace, line 1: \"E2\" is no time");
  EXPECT_EQ(message("a\t99999999999999999999\n"),
            "trace, line 1: \"99999999999999999999\" is no time");
  EXPECT_EQ(message("a\t5\nb\t7 D6\n"), "trace, line 2: D6 comes after a later time");
  EXPECT_EQ(message(""), "trace: there are no changes");
  EXPECT_EQ(message("a\t0 3000000000\n"), "trace: its changes spread over more than 68 years");
  const std::string packed = gzip_of("a\t1\nb\t2\n");
  EXPECT_EQ(message(packed.substr(0, packed.size() - 3)),
            "trace, line 3: the gzip file ends before its text");
  std::string damaged = packed;
  damaged[12] = static_cast<char>(damaged[12] ^ 0x55);
  EXPECT_NE(message(damaged), "");
  env::MemoryFileSystem fs;
  EXPECT_EQ(Trace::read(fs, "none").error().code(), base::ErrorCode::kNotFound);
}

// What was there in each of the first `seconds`, told step by step.
std::vector<std::optional<std::size_t>> lived(const RecordedChanges& recorded, int seconds) {
  std::vector<std::optional<std::size_t>> states;
  std::optional<std::size_t> state;
  if (recorded.is_always_there) state = 1000;
  std::size_t next = 0;
  for (std::uint32_t t = 0; t < static_cast<std::uint32_t>(seconds); ++t) {
    if (next < recorded.events.size() && (recorded.events[next] & ~kDeletion) == t) {
      const bool is_deletion = (recorded.events[next] & kDeletion) != 0;
      state = is_deletion && !recorded.is_always_there ? std::nullopt : std::optional(next);
      ++next;
    }
    states.push_back(state);
  }
  return states;
}

void compare(const RecordedChanges& recorded) {
  constexpr int kSeconds = 60;
  const History history(77, recorded);
  const auto states = lived(recorded, kSeconds);
  const auto moment = [](int second) { return kStart + Duration::seconds(second); };
  EXPECT_FALSE(history.exists(kStart - Duration::from_ms(1)));
  EXPECT_FALSE(history.is_gone(kStart - Duration::from_ms(1)));
  std::map<std::size_t, Version> ids;
  bool was_there = false;
  std::vector<Version> expected;  // all versions, in order
  for (int t = 0; t < kSeconds; ++t) {
    const auto& state = states[static_cast<std::size_t>(t)];
    ASSERT_EQ(history.exists(moment(t)), state.has_value()) << t;
    EXPECT_EQ(history.exists(moment(t) + Duration::from_ms(999)), state.has_value());
    EXPECT_EQ(history.is_gone(moment(t)), was_there && !state);
    if (!state) continue;
    was_there = true;
    const Version version = history.at(moment(t));
    if (ids.try_emplace(*state, version).second) {
      EXPECT_EQ(version.since, moment(t));
      expected.push_back(version);
    }
    EXPECT_EQ(ids[*state], version);
    EXPECT_EQ(history.recent(moment(t), kAll),
              (std::vector<Version>(expected.rbegin(), expected.rend())));
    EXPECT_EQ(history.recent(moment(t), 1), std::vector<Version>{version});
    int end = t;
    while (end < kSeconds && states[static_cast<std::size_t>(end)]) ++end;
    EXPECT_EQ(history.end_after(moment(t)),
              end < kSeconds ? std::optional(moment(end)) : std::nullopt);
  }
  EXPECT_EQ(history.versions(kStart - Duration::days(1), moment(kSeconds), kAll), expected);
  for (int from = 0; from < kSeconds; from += 3) {
    for (int to = from; to <= kSeconds; to += 4) {
      std::vector<Version> within;
      for (int t = from; t < to; ++t) {
        const auto& state = states[static_cast<std::size_t>(t)];
        if (!state || (!within.empty() && within.back() == ids[*state])) continue;
        within.push_back(ids[*state]);
      }
      EXPECT_EQ(history.versions(moment(from), moment(to), kAll), within);
      within.resize(std::min<std::size_t>(within.size(), 2));
      EXPECT_EQ(history.versions(moment(from), moment(to), 2), within);
    }
  }
}

TEST(Trace, HistoriesAreWhatWasRecorded) {
  Dice dice{1};
  for (int i = 0; i < 200; ++i) {
    Events events;
    bool is_there = false;
    for (std::uint32_t t = 0; t < 55; ++t) {
      if (!dice.chance(0.15)) continue;
      const bool is_deletion = is_there && dice.chance(0.3);
      events.push_back(is_deletion ? t | kDeletion : t);
      is_there = !is_deletion;
    }
    compare({events, kStart, false});
    compare({events, kStart, true});
    if (testing::Test::HasFailure()) break;
  }
}

TEST(Trace, RecallKnowsThatPagesComeBack) {
  const Events events = {0, 10, 20 | kDeletion, 50, 60};
  const History history(5, RecordedChanges{events, kStart, false});
  const auto moment = [](int second) { return kStart + Duration::seconds(second); };
  const std::vector<Instant> captures = {moment(12), moment(13), moment(30), moment(55)};
  const Holdings holdings = holdings_of(history, captures, kStart, moment(100));
  EXPECT_EQ(holdings.versions, 4U);
  EXPECT_EQ(holdings.versions_held, 2U);
  EXPECT_EQ(holdings.captures, 3U);  // none at 30, when the page was not there
  EXPECT_EQ(holdings.captures_wasted, 1U);
  EXPECT_EQ(holdings.lifetime, Duration::seconds(70));
  EXPECT_EQ(holdings.lifetime_held, Duration::seconds(20));
}

// A world whose pages live through `trace`.
World world_of(base::Result<Trace> trace) {
  WorldOptions options = test_world(30, 1000);
  options.delay_mean = Duration();
  options.trace = std::make_shared<const Trace>(*std::move(trace));
  return World(options);
}

void check_world(const World& world) {
  const Trace& trace = *world.options().trace;
  const Instant end = kStart + trace.span() + Duration::days(1);
  std::set<std::uint64_t> ids;
  std::size_t versions = 0;
  std::size_t gone = 0;
  for (HostNumber host = 0; host < world.census().hosts(); ++host) {
    if (world.census().content_of(host) != host) continue;
    const Site site(world.census(), host);
    EXPECT_TRUE(world.page(site, 0).history().exists(kStart));
    EXPECT_TRUE(world.page(site, 0).history().exists(end));
    for (PageNumber number = 0; number < site.pages(); ++number) {
      const History history = world.page(site, number).history();
      for (const Version& version : history.versions(kStart, end, kAll)) {
        EXPECT_TRUE(ids.insert(version.id).second);
        EXPECT_EQ(history.at(version.since), version);
        ++versions;
      }
      gone += history.is_gone(end) ? 1U : 0U;
    }
  }
  const auto mean = static_cast<double>(trace.events()) / static_cast<double>(trace.pages());
  const auto pages = static_cast<double>(world.census().pages());
  EXPECT_GT(static_cast<double>(versions), 0.5 * mean * pages);
  EXPECT_LT(static_cast<double>(versions), 1.5 * mean * pages);
  EXPECT_GT(gone, 10U);
}

TEST(Trace, PagesOfAWorldLiveThroughIt) {
  const World world = world_of(read("a\t0 100 200\nb\t100 D150\nc\t0 50 D100 150\nd\t300\n"));
  check_world(world);
  Request request;
  const HostNumber host = world.census().host_of_rank(0);
  const std::string name = world.census().name_of(host);
  const Site site(world.census(), host);
  request.origin.host = name;
  std::map<std::vector<int>, int> seen;  // by status at some moments
  for (PageNumber number = 1; number < site.pages(); ++number) {
    const std::string address = site.address_of(number);
    request.target = address;
    std::vector<int> statuses;
    for (const int second : {0, 120, 160, 400}) {
      const int status = world.answer(request, kStart + Duration::seconds(second)).status;
      statuses.push_back(status == 410 ? 404 : status);
    }
    ++seen[statuses];
  }
  EXPECT_GT((seen[{200, 200, 200, 200}]), 5);
  EXPECT_GT((seen[{404, 200, 404, 404}]), 5);
  EXPECT_GT((seen[{200, 404, 200, 200}]), 5);
  EXPECT_GT((seen[{404, 404, 404, 200}]), 5);
}

TEST(Trace, TheRealOneIsRead) {
  const char* folder = std::getenv("MEGURI_TEST_DATA");
  const std::string data = folder != nullptr ? folder : "../shared/data";
  env::PosixFileSystem fs;
  auto trace = Trace::read(fs, data + "/../traces/mdn-content.tsv.gz");
  if (!trace && trace.error().code() == base::ErrorCode::kNotFound) {
    GTEST_SKIP() << "no traces beside MEGURI_TEST_DATA";
  }
  ASSERT_TRUE(trace) << trace.error().message();
  EXPECT_EQ(trace->pages(), 21'634U);
  EXPECT_EQ(trace->events(), 324'316U);
  EXPECT_EQ(trace->begin(), Instant::from_ms(1'600'184'931'000));
  check_world(world_of(std::move(trace)));
}

}  // namespace
}  // namespace meguri::sim
