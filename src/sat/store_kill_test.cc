// A process under load that is killed again and again: what it was told to be durable is there.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "env/memory_file_system.h"
#include "env/overlay_file_system.h"
#include "env/posix_file_system.h"
#include "env/random.h"
#include "env/testing.h"
#include "sat/known_ids_testing.h"
#include "sat/store_inspector.h"
#include "sat/store_testing.h"

namespace meguri::sat {
namespace {

using base::put_fixed;
using base::put_text;
using base::take_fixed;

// Small enough that segments, checkpoints, runs and merges come often.
const StoreKind& kind() { return kStoreKinds[1]; }

// What the child knew when a commit was acknowledged.
struct Life {
  Oracle oracle;
  std::string position;
  std::string known_position;
  base::Instant now = kStart;
};

std::string encode(const Life& life) {
  std::string out;
  put_text(out, life.position);
  put_text(out, life.known_position);
  put_fixed(out, static_cast<std::uint64_t>(life.now.ms()));
  put_fixed(out, std::uint64_t{life.oracle.pages.size()});
  for (const auto& [seq, page] : life.oracle.pages) {
    put_fixed(out, seq);
    put_fixed(out, page.id.high);
    put_fixed(out, page.id.low);
    put_text(out, page.body);
    put_fixed(out, static_cast<std::uint64_t>(page.due.ms()));
    put_fixed(out, static_cast<std::uint64_t>(page.since.ms()));
    put_fixed(out, std::uint8_t{page.is_out});
    put_fixed(out, page.schema);
    for (const auto* messages : {&page.messages, &page.late}) {
      put_fixed(out, std::uint64_t{messages->size()});
      for (const std::string& message : *messages) put_text(out, message);
    }
  }
  return out;
}

template <typename T>
T take(std::string_view& bytes) {
  T value{};
  CHECK(take_fixed(bytes, value));
  return value;
}

std::string take_string(std::string_view& bytes) {
  std::string_view text;
  CHECK(base::take_text(bytes, text));
  return std::string(text);
}

base::Instant take_instant(std::string_view& bytes) {
  return base::Instant::from_ms(static_cast<std::int64_t>(take<std::uint64_t>(bytes)));
}

Life decode(std::string_view bytes) {
  Life life;
  life.position = take_string(bytes);
  life.known_position = take_string(bytes);
  life.now = take_instant(bytes);
  for (auto n = take<std::uint64_t>(bytes); n > 0; --n) {
    Oracle::Page& page = life.oracle.pages[take<Seq>(bytes)];
    page.id.high = take<std::uint64_t>(bytes);
    page.id.low = take<std::uint64_t>(bytes);
    page.body = take_string(bytes);
    page.due = take_instant(bytes);
    page.since = take_instant(bytes);
    page.is_out = take<std::uint8_t>(bytes) != 0;
    page.schema = take<std::uint8_t>(bytes);
    for (auto* messages : {&page.messages, &page.late}) {
      for (auto m = take<std::uint64_t>(bytes); m > 0; --m) messages->push_back(take_string(bytes));
    }
  }
  CHECK(bytes.empty());
  return life;
}

// Brings the known ids to what the oracle has, after it has changed.
void follow(KnownIds& known, const Oracle& oracle, std::map<base::Id, Seq>& ids) {
  std::map<base::Id, Seq> now;
  for (const auto& [seq, page] : oracle.pages) now[page.id] = seq;
  for (const auto& [id, seq] : now) {
    if (!ids.contains(id)) CHECK(known.add(id, seq));
  }
  for (const auto& [id, seq] : ids) {
    if (!now.contains(id)) CHECK(known.remove(id));
  }
  ids = std::move(now);
}

// "DIR SEED": goes on from DIR/life for ever. After each commit of both it writes down what is in
// them, beside them, and says the number of that file.
void work_for_ever(const std::string& argument) {
  const std::size_t space = argument.rfind(' ');
  const std::string dir = argument.substr(0, space);
  const std::uint64_t seed = std::stoull(argument.substr(space + 1));
  env::PosixFileSystem files;
  const Life life = decode(env::read_file(files, dir + "/life").value());
  StoreWork work(files, kind(), seed, dir + "/store");
  work.set_out(life.oracle, life.position, life.now);
  CHECK(work.open());
  auto known = KnownIds::open(files, dir + "/known", small(), life.known_position).value();
  std::map<base::Id, Seq> ids;
  for (const auto& [seq, page] : life.oracle.pages) ids[page.id] = seq;
  env::Random random(seed);
  for (std::uint64_t n = 0;; ++n) {
    for (auto steps = random.between(1, 60); steps > 0; --steps) CHECK(work.step_without_commit());
    follow(*known, work.oracle(), ids);
    Life now{work.oracle(), "", "", work.now()};
    now.position = work.store().commit().value();
    now.known_position = known->commit().value();
    // Not synced: a killed process loses nothing that it wrote.
    const auto file = files.create(fmt::format("{}/life-{}-{}", dir, seed, n));
    CHECK(file && (*file)->append(encode(now)));
    env::ChildProgram::say(fmt::format("{}", n));
    if (random.below(4) == 0) continue;
    CHECK(work.store().on_durable());
    CHECK(known->on_durable());
  }
}
const env::ChildProgram worker("sat_work_for_ever", work_for_ever);

// All that was acknowledged is there, once; looked at without changing anything.
void expect_all_there(env::FileSystem& files, const std::string& dir, const Life& life) {
  env::MemoryFileSystem scratch;
  ASSERT_TRUE(scratch.make_dirs("/scratch"));
  env::OverlayFileSystem overlay(files, scratch, "/scratch");
  StoreWork work(overlay, kind(), 1, dir + "/store");
  work.set_out(life.oracle, life.position, life.now);
  base::Status status = work.open();
  ASSERT_TRUE(status) << status.error().message();
  status = work.check_all_there();
  ASSERT_TRUE(status) << status.error().message();
  status = work.finish();
  ASSERT_TRUE(status) << status.error().message();
  auto known = KnownIds::open(overlay, dir + "/known", small(), life.known_position);
  ASSERT_TRUE(known) << known.error().message();
  for (const auto& [seq, page] : life.oracle.pages) {
    const auto found = (*known)->find(page.id);
    ASSERT_TRUE(found) << found.error().message();
    ASSERT_EQ(*found, seq);
  }
  env::MemoryFileSystem more_scratch;
  ASSERT_TRUE(more_scratch.make_dirs("/scratch"));
  const auto report =
      StoreInspector::check(files, dir + "/store", life.position, {more_scratch, "/scratch"});
  ASSERT_TRUE(report) << report.error().message();
  for (const Fault& fault : report->faults) ADD_FAILURE() << fault.file << ": " << fault.what;
  EXPECT_EQ(report->records, life.oracle.pages.size());
}

void kill_and_check(std::uint64_t round) {
  constexpr std::uint64_t kKills = 55;
  const env::TempDir dir;
  env::PosixFileSystem files;
  Life life;
  {
    StoreWork work(files, kind(), 0, dir.path("store"));
    ASSERT_TRUE(work.open());
    life.position = work.store().commit().value();
    const auto known = KnownIds::open(files, dir.path("known"), small(), "");
    ASSERT_TRUE(known);
    life.known_position = (*known)->commit().value();
  }
  env::Random random(17 + round);
  std::uint64_t commits = 0;
  std::size_t pages_max = 0;
  for (std::uint64_t seed = round * kKills + 1; seed <= (round + 1) * kKills; ++seed) {
    SCOPED_TRACE(seed);
    ASSERT_TRUE(env::write_file_atomically(files, dir.path("life"), encode(life)));
    env::ChildProcess child(worker, fmt::format("{} {}", dir.path(), seed));
    // It has begun, and some time later it is gone.
    std::string last;
    for (auto n = random.below(4); n > 0; --n) last = child.read_line();
    ::usleep(static_cast<useconds_t>(random.below(15'000)));
    child.kill();
    for (std::string line = child.read_line(); !line.empty(); line = child.read_line()) last = line;
    if (!last.empty()) {
      commits += std::stoull(last) + 1;
      const std::string path = dir.path(fmt::format("life-{}-{}", seed, last));
      life = decode(env::read_file(files, path).value());
      life.oracle.restart();
    }
    pages_max = std::max(pages_max, life.oracle.pages.size());
    expect_all_there(files, dir.path(), life);
    if (testing::Test::HasFailure()) return;
  }
  EXPECT_GT(commits, kKills);
  EXPECT_GT(pages_max, 100U);
}

TEST(KilledStores, HaveAllThatWasAcknowledged) { kill_and_check(0); }

// Each round with a new store: it grows with every life, and what checks it with it.
TEST(LongKilledStores, HaveAllThatWasAcknowledged) {
  for (std::uint64_t round = 1; round <= 11; ++round) {
    SCOPED_TRACE(round);
    kill_and_check(round);
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace meguri::sat
