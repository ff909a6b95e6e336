#include "sat/store_inspector.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "env/faulty_file_system.h"
#include "env/memory_file_system.h"
#include "sat/inspector_testing.h"
#include "sat/store_testing.h"

namespace meguri::sat {
namespace {

using base::ErrorCode;

constexpr const char* kStoreDir = "/store";

// A folder to write in that is new each time.
struct FreshScratch {
  FreshScratch() { EXPECT_TRUE(files.make_dirs("/scratch")); }
  operator Scratch() { return {files, "/scratch"}; }  // NOLINT(google-explicit-constructor)
  env::MemoryFileSystem files;
};

std::unique_ptr<StoreInspector> inspect(env::FileSystem& files, FreshScratch& scratch,
                                        std::string_view position = "") {
  auto inspector = StoreInspector::open(files, kStoreDir, position, scratch);
  EXPECT_TRUE(inspector) << inspector.error().message();
  return inspector ? *std::move(inspector) : nullptr;
}

CheckReport check(env::FileSystem& files, std::string_view position = "") {
  FreshScratch scratch;
  auto report = StoreInspector::check(files, kStoreDir, position, scratch);
  EXPECT_TRUE(report) << report.error().message();
  return report ? *report : CheckReport{};
}

void expect_as_the_oracle(StoreInspector& inspector, const Oracle& oracle) {
  std::map<Seq, int> seen;
  const base::Status status =
      inspector.for_each_record([&](const InspectedRecord& inspected) -> base::Result<bool> {
        const Record& record = inspected.record;
        ++seen[record.seq];
        const auto found = oracle.pages.find(record.seq);
        EXPECT_NE(found, oracle.pages.end()) << record.seq;
        if (found == oracle.pages.end()) return false;
        const Oracle::Page& page = found->second;
        EXPECT_EQ(record.id, page.id);
        EXPECT_EQ(record.body, page.body);
        EXPECT_EQ(record.schema, page.schema);
        EXPECT_EQ(std::vector<std::string>(inspected.messages.begin(), inspected.messages.end()),
                  page.messages)
            << record.seq;
        if (!inspected.is_out) {
          EXPECT_EQ(record.due.instant(), page.due) << record.seq;
        }
        return true;
      });
  ASSERT_TRUE(status) << status.error().message();
  EXPECT_EQ(seen.size(), oracle.pages.size());
  for (const auto& [seq, times] : seen) EXPECT_EQ(times, 1) << seq;
}

class StoreInspectors : public testing::TestWithParam<StoreKind> {};

TEST_P(StoreInspectors, TellEveryRecordOnceAndChangeNothing) {
  for (std::uint64_t seed = 0; seed < 6; ++seed) {
    SCOPED_TRACE(seed);
    env::MemoryFileSystem files;
    StoreWork work(files, GetParam(), seed);
    ASSERT_TRUE(work.open());
    for (std::uint64_t i = 0; i < 200 + 700 * seed; ++i) ASSERT_TRUE(work.step());
    ASSERT_TRUE(work.commit());
    const StoreCounts counts = work.store().counts();
    work.lose();
    const auto before = bytes_in(files, kStoreDir);
    for (const std::string& position : {std::string(), work.position()}) {
      FreshScratch scratch;
      const auto inspector = inspect(files, scratch, position);
      ASSERT_NE(inspector, nullptr);
      EXPECT_EQ(inspector->position().to_string(), work.position());
      EXPECT_EQ(inspector->notes(), std::vector<std::string>{});
      expect_as_the_oracle(*inspector, work.oracle());
      const auto figures = inspector->figures();
      ASSERT_TRUE(figures);
      EXPECT_EQ(figures->records, work.oracle().pages.size());
      EXPECT_EQ(figures->out, counts.out);
      EXPECT_LE(figures->segment_bytes_used, figures->segment_bytes);
      EXPECT_GT(figures->checkpoint_bytes, 0U);
      const CheckReport report = check(files, position);
      EXPECT_TRUE(report.faults.empty() && report.notes.empty()) << described(report);
      EXPECT_EQ(report.position, work.position());
      EXPECT_EQ(report.records, work.oracle().pages.size());
      if (HasFailure()) return;
    }
    EXPECT_EQ(bytes_in(files, kStoreDir), before);
    ASSERT_TRUE(work.open());
    ASSERT_TRUE(work.check_all_there());
  }
}

// What a killed process leaves is no damage; nor is what a power cut leaves, to who knows the last
// position. Who does not cannot tell a half-written end from a damaged one.
TEST_P(StoreInspectors, FindNoFaultInWhatACrashLeaves) {
  env::Random cuts(3);
  std::uint64_t notes = 0;
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    SCOPED_TRACE(seed);
    const bool is_killed = seed % 2 == 0;
    env::FaultyFileSystem files(seed);
    StoreWork work(files, GetParam(), seed);
    ASSERT_TRUE(work.open());
    ASSERT_TRUE(work.commit());
    files.cut_power_after(cuts.below(400));
    base::Status status;
    for (int i = 0; i < 3000 && status && !files.power_is_off(); ++i) status = work.step();
    work.lose();
    is_killed ? files.restart() : files.crash(&cuts);
    const CheckReport report = check(files, work.position());
    EXPECT_TRUE(report.faults.empty()) << described(report);
    const CheckReport newest = check(files);
    notes += newest.notes.size();
    EXPECT_TRUE(!is_killed || newest.faults.empty()) << described(newest);
    FreshScratch scratch;
    ASSERT_NE(inspect(files, scratch), nullptr);
    const auto inspector = inspect(files, scratch, work.position());
    ASSERT_NE(inspector, nullptr);
    expect_as_the_oracle(*inspector, work.oracle());
    if (HasFailure()) return;
  }
  // Where every page is a write, a checkpoint or a commit is hardly ever hit.
  EXPECT_TRUE(notes > 0 || GetParam().naive);
}

INSTANTIATE_TEST_SUITE_P(Kinds, StoreInspectors, testing::ValuesIn(kStoreKinds),
                         [](const auto& kind) { return std::string(kind.param.name); });

// A store of which every block is needed, and nothing is torn.
class DamagedStore : public testing::Test {
 protected:
  void SetUp() override {
    StoreOptions options;
    options.layout = TimeLayout::decode("60000x60,3600000x48").value();
    options.page_bytes = 64;
    options.pool_bytes = 64 * 40;  // at least what the largest record needs
    options.segments.bytes_max = 100'000;
    auto store = Store::open(files_, kStoreDir, options, "", kStart).value();
    const auto add = [&](int n) {
      for (int i = 0; i < n; ++i) {
        const base::Id id{records_, 7};
        const auto due =
            kStart + base::Duration::minutes(static_cast<std::int64_t>(records_ * 37 % 2000));
        const Seq seq = store->add(id, 1, std::string(3000, 'x'), due).value();
        if (i % 50 == 0) {
          ASSERT_TRUE(store->send(seq, "hello"));
        }
        ++records_;
      }
    };
    add(500);
    store->request_checkpoint();
    ASSERT_TRUE(store->commit());
    for (int i = 0; i < 5; ++i) {
      add(5);
      position_ = store->commit().value();
      ASSERT_TRUE(store->on_durable());
    }
  }

  void flip(const std::string& path, std::uint64_t byte) {
    ASSERT_TRUE(files_.flip_bit(path, byte * 8 + byte % 8));
  }

  // Writes a checkpoint again, block by block, as `change` makes them.
  void rewrite_checkpoint(
      const std::function<void(std::uint64_t part, std::string payload,
                               const std::function<void(std::string)>& write)>& change) {
    const std::string path = "/store/checkpoint-00000002";
    std::string written;
    auto scan = BlockScan::open(files_, path, {kCheckpointKind}).value();
    ScannedBlock block;
    while (scan.next(block).value()) {
      const std::uint64_t part = block.view.number;
      change(part, std::string(block.view.payload), [&](const std::string& payload) {
        env::Block sealed;
        sealed.out() += payload;
        written += sealed.seal(kCheckpointKind, 1, part);
      });
    }
    ASSERT_TRUE(env::write_file_atomically(files_, path, written));
  }

  env::MemoryFileSystem files_;
  std::string position_;
  std::uint64_t records_ = 0;
};

TEST_F(DamagedStore, IsNamedBlockByBlock) {
  const CheckReport sound = check(files_);
  ASSERT_TRUE(sound.faults.empty()) << described(sound);
  const std::vector<BlockPlace> places = blocks_in(files_, kStoreDir);
  EXPECT_EQ(sound.blocks, places.size());
  EXPECT_EQ(sound.records, records_);
  std::map<std::string, int> by_file;
  for (const BlockPlace& place : places) {
    ++by_file[place.path];
    for (const std::uint64_t byte : {std::uint64_t{9}, place.length - 1}) {
      SCOPED_TRACE(fmt::format("{} at {}, byte {}", place.path, place.offset, byte));
      flip(place.path, place.offset + byte);
      for (const std::string& position : {std::string(), position_}) {
        const CheckReport report = check(files_, position);
        const auto named = std::ranges::count_if(report.faults, [&](const Fault& fault) {
          return fault.file == place.path && fault.offset == place.offset &&
                 fault.length == place.length && !fault.what.empty();
        });
        ASSERT_EQ(named, 1) << described(report);
        // Nothing else is wrong.
        ASSERT_EQ(report.faults.size(), 1U) << described(report);
      }
      flip(place.path, place.offset + byte);
    }
  }
  EXPECT_GE(by_file.size(), 6U);  // several segments, a checkpoint, a log
  EXPECT_GE(by_file["/store/log-00000002"], 5);
  EXPECT_TRUE(check(files_).faults.empty());
}

TEST_F(DamagedStore, IsNamedWholeWhereAllBlocksAre) {
  const std::vector<BlockPlace> places = blocks_in(files_, kStoreDir);
  std::size_t damaged = 0;  // outside the segments, of which then nobody knows what is needed
  for (const BlockPlace& place : places) {
    if (place.length == env::Block::kHeaderBytes) continue;
    flip(place.path, place.offset + env::Block::kHeaderBytes);
    damaged += place.path.ends_with(".seg") ? 0 : 1;
  }
  const auto before = bytes_in(files_, kStoreDir);
  const CheckReport report = check(files_, position_);
  EXPECT_GT(damaged, 20U);
  EXPECT_EQ(report.faults.size(), damaged) << described(report);
  ASSERT_EQ(report.notes.size(), 1U);
  EXPECT_TRUE(report.notes[0].contains("segments were not looked at")) << described(report);
  EXPECT_EQ(bytes_in(files_, kStoreDir), before);
}

TEST_F(DamagedStore, SaysHowManyRecordsAreLost) {
  const std::vector<BlockPlace> places = blocks_in(files_, kStoreDir);
  const auto segment = std::ranges::find_if(
      places, [](const BlockPlace& place) { return place.path.ends_with(".seg"); });
  ASSERT_NE(segment, places.end());
  flip(segment->path, segment->offset + 100);
  const CheckReport report = check(files_);
  ASSERT_EQ(report.faults.size(), 1U);
  EXPECT_TRUE(report.faults[0].what.contains("records of slot")) << described(report);
  ASSERT_EQ(report.notes.size(), 1U);
  EXPECT_TRUE(report.notes[0].contains("records are lost")) << described(report);
  EXPECT_LT(report.records, records_);
}

TEST_F(DamagedStore, MissesItsSegments) {
  const std::string path = "/store/segments/0000000000000002.seg";
  const std::string bytes = env::read_file(files_, path).value();
  ASSERT_TRUE(files_.remove(path));
  CheckReport report = check(files_);
  ASSERT_EQ(report.faults.size(), 1U) << described(report);
  EXPECT_EQ(report.faults[0].file, path);
  EXPECT_TRUE(report.faults[0].what.starts_with("the file is missing")) << described(report);
  FreshScratch scratch;
  EXPECT_FALSE(StoreInspector::open(files_, kStoreDir, "", scratch));
  // Cut off, every block behind the cut is named.
  ASSERT_TRUE(env::write_file_atomically(files_, path, bytes.substr(0, bytes.size() / 2)));
  report = check(files_);
  EXPECT_GT(report.faults.size(), 1U);
  for (const Fault& fault : report.faults) {
    EXPECT_EQ(fault.file, path);
    EXPECT_GT(fault.offset + fault.length, bytes.size() / 2);
  }
}

TEST_F(DamagedStore, IsReadUpToItsLastWholeBlock) {
  const std::string path = "/store/log-00000002";
  const std::string bytes = env::read_file(files_, path).value();
  ASSERT_TRUE(env::write_file_atomically(files_, path, bytes.substr(0, bytes.size() - 3)));
  FreshScratch scratch;
  const auto inspector = inspect(files_, scratch);
  ASSERT_NE(inspector, nullptr);
  EXPECT_EQ(inspector->figures()->records, records_ - 5);
  ASSERT_EQ(inspector->notes().size(), 1U);
  EXPECT_TRUE(inspector->notes()[0].contains(path));
  // A crash may have done that, unless somebody knows of a commit there.
  EXPECT_TRUE(check(files_).faults.empty());
  EXPECT_EQ(check(files_).notes.size(), 1U);
  const CheckReport report = check(files_, position_);
  ASSERT_EQ(report.faults.size(), 1U) << described(report);
  EXPECT_EQ(report.faults[0].file, path);
}

TEST_F(DamagedStore, MissesARecordThatTheIndexHas) {
  rewrite_checkpoint([](std::uint64_t part, std::string payload, const auto& write) {
    // The first record is said to be where the tenth is.
    if (part == kIndexPart) payload.replace(0, 3, payload.substr(30, 3));
    write(payload);
  });
  const CheckReport report = check(files_);
  ASSERT_FALSE(report.faults.empty());
  EXPECT_TRUE(report.faults[0].what.starts_with("record 0 is missing")) << described(report);
}

TEST_F(DamagedStore, HasARecordTwice) {
  int pages = 0;
  rewrite_checkpoint([&](std::uint64_t part, const std::string& payload, const auto& write) {
    write(payload);
    if (part == kPagePart && ++pages == 1) write(payload);
  });
  ASSERT_GT(pages, 0);
  const CheckReport report = check(files_);
  ASSERT_FALSE(report.faults.empty());
  EXPECT_TRUE(report.faults[0].what.contains("2 times in slot")) << described(report);
}

TEST(NoStore, IsSaidClearly) {
  env::MemoryFileSystem files;
  const auto code = [&](const std::string& dir) {
    FreshScratch scratch;
    const auto opened = StoreInspector::open(files, dir, "", scratch);
    const auto checked = StoreInspector::check(files, dir, "", scratch);
    EXPECT_FALSE(opened);
    EXPECT_FALSE(checked);
    EXPECT_EQ(opened.error().code(), checked.error().code());
    EXPECT_TRUE(opened.error().message().contains(dir)) << opened.error().message();
    return opened.error().code();
  };
  EXPECT_EQ(code("/none"), ErrorCode::kNotFound);
  ASSERT_TRUE(files.make_dirs("/empty"));
  EXPECT_EQ(code("/empty"), ErrorCode::kNotFound);
  ASSERT_TRUE(files.make_dirs("/other"));
  ASSERT_TRUE(env::write_file_atomically(files, "/other/checkpoint-x", "?"));
  ASSERT_TRUE(env::write_file_atomically(files, "/other/log-00000001", "?"));
  EXPECT_EQ(code("/other"), ErrorCode::kNotFound);
}

TEST(NoStore, IsARubbishCheckpoint) {
  env::MemoryFileSystem files;
  ASSERT_TRUE(files.make_dirs(kStoreDir));
  for (const std::string& rubbish :
       {std::string(), std::string("x"), std::string(100'000, 'M'), std::string(50'000, '\0')}) {
    ASSERT_TRUE(env::write_file_atomically(files, "/store/checkpoint-00000001", rubbish));
    ASSERT_TRUE(env::write_file_atomically(files, "/store/log-00000001", rubbish));
    FreshScratch scratch;
    const auto opened = StoreInspector::open(files, kStoreDir, "", scratch);
    ASSERT_FALSE(opened);
    EXPECT_EQ(opened.error().code(), ErrorCode::kCorrupt);
    EXPECT_FALSE(check(files).faults.empty());
  }
}

}  // namespace
}  // namespace meguri::sat
