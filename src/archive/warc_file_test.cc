#include "archive/warc_file.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "archive/warc_reader.h"
#include "env/clock.h"
#include "env/crash_points.h"
#include "env/faulty_file_system.h"
#include "env/memory_file_system.h"
#include "env/random.h"
#include "env/spool_testing.h"

namespace meguri::archive {
namespace {

WarcFileOptions small_files(std::uint64_t bytes_max = 1500) {
  return {.series = {.dir = "warc", .prefix = "a-b", .instance = "x1"},
          .file_bytes_max = bytes_max,
          .records = {},
          .info = {.software = "meguri",
                   .description = {},
                   .part_of = {},
                   .operator_name = {},
                   .contact = {},
                   .hostname = {},
                   .robots = {},
                   .user_agent = {}}};
}

// Writes failed fetches of http://h/0, http://h/1, ... and counts.
class Visits {
 public:
  std::string next(WarcCompression compression = WarcCompression::kGzip) {
    RecordMaker maker({.compression = compression});
    const std::string url = fmt::format("http://h/{}", count_++);
    VisitFacts facts{.target_uri = url,
                     .date = base::Instant::from_ms(1'767'225'600'000),
                     .fetch_time = {},
                     .ip_address = {},
                     .via = {},
                     .purpose = {}};
    return env::text_of(
        maker.failure({.visit = facts, .reason = "x", .detail = {}}, RecordId::draw(random_))
            .bytes);
  }
  std::uint64_t count() const { return count_; }

 private:
  env::Random random_{5};
  std::uint64_t count_ = 0;
};

// The URLs in all files, in order; fails unless every file is sound to its end.
std::vector<std::string> read_all(env::FileSystem& fs, const WarcSeries& series) {
  std::vector<std::string> urls;
  const auto names = list_files(fs, series);
  EXPECT_TRUE(names);
  for (const WarcName& name : *names) {
    const std::string path = series.dir + "/" + name.to_string();
    const auto file = fs.open_read(path);
    EXPECT_TRUE(file);
    WarcReader reader(**file);
    bool is_first = true;
    while (*reader.next()) {
      EXPECT_TRUE(reader.finish());
      EXPECT_EQ(reader.record().faults.to_string(), "");
      EXPECT_EQ(reader.record().type(), is_first ? "warcinfo" : "metadata");
      if (!is_first) urls.emplace_back(reader.record().target_uri());
      is_first = false;
    }
    EXPECT_EQ(reader.record().faults.to_string(), "") << path;
    EXPECT_EQ(reader.sound_end(), *fs.size(path));
  }
  return urls;
}

std::vector<std::string> urls_up_to(std::uint64_t count) {
  std::vector<std::string> urls;
  for (std::uint64_t i = 0; i < count; ++i) urls.push_back(fmt::format("http://h/{}", i));
  return urls;
}

class WarcFiles : public ::testing::Test {
 protected:
  std::unique_ptr<WarcWriter> open(const std::optional<WarcPosition>& mark) {
    auto writer = WarcWriter::open(fs_, clock_, env::Random(1), options_, mark);
    EXPECT_TRUE(writer) << writer.error().message();
    return writer ? *std::move(writer) : nullptr;
  }

  env::FaultyFileSystem fs_;
  env::VirtualClock clock_;
  WarcFileOptions options_ = small_files();
  Visits visits_;
};

TEST(WarcName, IsReadBackAndInOrder) {
  const WarcName name{.prefix = "my-crawl",
                      .time = base::Instant::from_ms(1'767'225'600'000),
                      .serial = 7,
                      .instance = "n1.w2"};
  EXPECT_EQ(name.to_string(), "my-crawl-20260101000000-00007-n1.w2.warc.gz");
  EXPECT_EQ(WarcName::parse(name.to_string()), name);
  const auto many = WarcName::parse("a-20260101000000-100000-0.warc");
  ASSERT_TRUE(many);
  EXPECT_EQ(many->compression, WarcCompression::kNone);
  EXPECT_TRUE(many->is_after(*WarcName::parse("a-20260101000000-99999-0.warc")));
  EXPECT_TRUE(WarcName::parse("a-20260101000001-00000-0.warc")->is_after(*many));
  for (const std::string_view other :
       {"", ".warc.gz", "a.warc.gz", "a-20260101000000-7-0.warc.gz",
        "a-20260101000000-00007-0.warc.gz.open", "a-20261301000000-00007-0.warc.gz",
        "-20260101000000-00007-0.warc.gz", "a/b-20260101000000-00007-0.warc.gz",
        "a-20260101000000-00007-.warc.gz", "a-20260101000000-000007-0.warc.gz"}) {
    EXPECT_FALSE(WarcName::parse(other)) << other;
  }
}

TEST(WarcPosition, IsReadBack) {
  const WarcPosition position{.file = "a-20260101000000-00007-0.warc.gz", .offset = 12345678901};
  EXPECT_EQ(WarcPosition::decode(position.encode()), position);
  EXPECT_EQ(WarcPosition::decode(WarcPosition{}.encode()), WarcPosition{});
  for (const std::string_view bytes : {"", "7", "x a", "-1 ", "5 ../../etc/passwd"}) {
    EXPECT_FALSE(WarcPosition::decode(bytes)) << bytes;
  }
}

TEST_F(WarcFiles, TurnOverBySize) {
  auto writer = open(std::nullopt);
  EXPECT_EQ(writer->position(), WarcPosition{});
  for (int i = 0; i < 20; ++i) {
    const std::string bytes = visits_.next();
    const auto begin = writer->append(bytes);
    ASSERT_TRUE(begin);
    EXPECT_EQ(begin->file, writer->position().file);
    EXPECT_EQ(begin->offset + bytes.size(), writer->position().offset);
  }
  ASSERT_TRUE(writer->sync());
  const auto names = list_files(fs_, options_.series);
  ASSERT_TRUE(names);
  EXPECT_GT(names->size(), 2U);
  EXPECT_EQ(names->front().to_string(), "a-b-20260101000000-00000-x1.warc.gz");
  EXPECT_EQ(names->back().to_string(), writer->position().file);
  EXPECT_EQ(read_all(fs_, options_.series), urls_up_to(20));
}

TEST_F(WarcFiles, GoOnAtAMark) {
  auto writer = open(std::nullopt);
  ASSERT_TRUE(writer->append(visits_.next()));
  ASSERT_TRUE(writer->sync());
  const WarcPosition mark = writer->position();
  for (int i = 0; i < 10; ++i) ASSERT_TRUE(writer->append(visits_.next()));
  ASSERT_TRUE(writer->sync());
  writer.reset();

  const auto tail = tail_of(fs_, options_.series, mark);
  ASSERT_TRUE(tail);
  ASSERT_GT(tail->size(), 1U);
  EXPECT_EQ(tail->front(), mark);
  EXPECT_EQ(tail->back().offset, 0U);

  writer = open(mark);
  EXPECT_EQ(writer->position(), mark);
  EXPECT_EQ(read_all(fs_, options_.series), urls_up_to(1));
  EXPECT_TRUE(tail_of(fs_, options_.series, mark)->empty());
  Visits again;
  again.next();
  ASSERT_TRUE(writer->append(again.next()));
  EXPECT_EQ(writer->position().file, mark.file);
  EXPECT_EQ(read_all(fs_, options_.series), urls_up_to(2));
}

TEST_F(WarcFiles, AreRemovedWhereNothingCounts) {
  auto writer = open(std::nullopt);
  for (int i = 0; i < 10; ++i) ASSERT_TRUE(writer->append(visits_.next()));
  ASSERT_TRUE(writer->sync());
  writer.reset();
  WarcFileOptions others = options_;
  others.series.instance = "x2";
  auto other = WarcWriter::open(fs_, clock_, env::Random(1), others, std::nullopt);
  ASSERT_TRUE(other);
  ASSERT_TRUE((*other)->append(Visits().next()));
  const std::size_t before = fs_.list("warc")->size();

  const auto cut = cut_to(fs_, options_.series, {});
  ASSERT_TRUE(cut);
  EXPECT_EQ(cut->files_removed, before - 1);
  EXPECT_EQ(*fs_.list("warc"), std::vector{(*other)->position().file});
}

TEST_F(WarcFiles, KeepTheirOrderWhenTheClockGoesBack) {
  auto writer = open(std::nullopt);
  ASSERT_TRUE(writer->append(visits_.next()));
  ASSERT_TRUE(writer->sync());
  const std::string first = writer->position().file;
  const env::VirtualClock earlier(clock_.utc() - base::Duration::days(1));
  auto later = WarcWriter::open(fs_, earlier, env::Random(1), options_, std::nullopt);
  ASSERT_TRUE(later);
  ASSERT_TRUE((*later)->append(visits_.next()));
  EXPECT_TRUE(WarcName::parse((*later)->position().file)->is_after(*WarcName::parse(first)));
  EXPECT_EQ(read_all(fs_, options_.series), urls_up_to(2));
}

TEST_F(WarcFiles, AreMissedWhenAMarkNamesThem) {
  auto writer = open(std::nullopt);
  ASSERT_TRUE(writer->append(visits_.next()));
  WarcPosition mark = writer->position();
  writer.reset();
  ++mark.offset;
  EXPECT_EQ(cut_to(fs_, options_.series, mark).error().code(), base::ErrorCode::kCorrupt);
  mark.file = "a-b-20260101000000-00009-x1.warc.gz";
  EXPECT_EQ(cut_to(fs_, options_.series, mark).error().code(), base::ErrorCode::kCorrupt);
  EXPECT_EQ(fs_.list("warc")->size(), 1U);
}

TEST_F(WarcFiles, RefuseNamesThatWouldNotBeFoundAgain) {
  options_.series.instance = "a-b";
  EXPECT_FALSE(WarcWriter::open(fs_, clock_, env::Random(1), options_, std::nullopt));
  options_.series.instance = "a";
  options_.series.prefix = "../a";
  EXPECT_FALSE(WarcWriter::open(fs_, clock_, env::Random(1), options_, std::nullopt));
}

TEST_F(WarcFiles, TakeRecordsFromDisk) {
  options_ = small_files(1U << 20U);
  const auto spool = env::disk_spool(fs_);
  auto writer = open(std::nullopt);
  std::string many;
  for (int i = 0; i < 2'000; ++i) many += visits_.next();
  ASSERT_GT(many.size(), 2 * env::SpooledBytes::kPieceBytes);
  ASSERT_TRUE(writer->append(env::spooled(*spool, many)));
  ASSERT_TRUE(writer->sync());
  EXPECT_EQ(read_all(fs_, options_.series), urls_up_to(2'000));
}

TEST_F(WarcFiles, HoldNothingOfRecordsThatCannotBeRead) {
  options_ = small_files(1U << 20U);
  const auto spool = env::disk_spool(fs_);
  auto writer = open(std::nullopt);
  ASSERT_TRUE(writer->append(visits_.next()));
  const env::SpooledBytes lost = env::spooled(*spool, std::string(600'000, 'x'));
  fs_.fail_read_after(1, base::ErrorCode::kIo);
  EXPECT_EQ(writer->append(lost).error().code(), base::ErrorCode::kIo);
  ASSERT_TRUE(writer->append(visits_.next()));
  ASSERT_TRUE(writer->sync());
  EXPECT_EQ(read_all(fs_, options_.series), urls_up_to(2));
}

TEST_F(WarcFiles, HoldNothingOfAnAppendThatFailed) {
  options_ = small_files(1U << 20U);
  auto writer = open(std::nullopt);
  ASSERT_TRUE(writer->append(visits_.next()));
  fs_.fail_change_after(0, base::ErrorCode::kNoSpace);
  EXPECT_EQ(writer->append(std::string("lost")).error().code(), base::ErrorCode::kNoSpace);
  ASSERT_TRUE(writer->append(visits_.next()));
  ASSERT_TRUE(writer->sync());
  EXPECT_EQ(read_all(fs_, options_.series), urls_up_to(2));
}

TEST_F(WarcFiles, LeaveNoFileBehindThatCouldNotBegin) {
  auto writer = open(std::nullopt);
  fs_.fail_change_after(1, base::ErrorCode::kNoSpace);  // creating works, warcinfo does not
  EXPECT_EQ(writer->append(visits_.next()).error().code(), base::ErrorCode::kNoSpace);
  EXPECT_TRUE(fs_.list("warc")->empty());
  ASSERT_TRUE(writer->append(Visits().next()));
  EXPECT_EQ(read_all(fs_, options_.series), urls_up_to(1));
}

TEST_F(WarcFiles, AreOfNoUseAfterAFailedSync) {
  auto writer = open(std::nullopt);
  ASSERT_TRUE(writer->append(visits_.next()));
  fs_.fail_sync_after(0);
  EXPECT_EQ(writer->sync().error().code(), base::ErrorCode::kIo);
  EXPECT_EQ(writer->sync().error().code(), base::ErrorCode::kStopped);
  EXPECT_EQ(writer->append(visits_.next()).error().code(), base::ErrorCode::kStopped);
}

// With the power cut at every write: what was acknowledged is there, and after the cut every file
// reads clean and can be gone on with.
void check_crashes(WarcCompression compression) {
  WarcFileOptions options = small_files(1200);
  options.records.compression = compression;
  const env::VirtualClock clock;
  WarcPosition mark;
  std::uint64_t acknowledged = 0;
  const auto run = [&](env::FaultyFileSystem& fs) {
    auto writer = WarcWriter::open(fs, clock, env::Random(1), options, std::nullopt);
    if (!writer) return;
    Visits visits;
    for (int i = 0; i < 9; ++i) {
      if (!(*writer)->append(visits.next(compression))) return;
      if (i % 2 == 1) continue;
      if (!(*writer)->sync()) return;
      mark = (*writer)->position();
      acknowledged = visits.count();
    }
  };
  const std::uint64_t changes = env::for_each_crash_point(
      {},
      [&](env::FaultyFileSystem& fs) {
        mark = {};
        acknowledged = 0;
        ASSERT_TRUE(fs.make_dirs("warc"));
      },
      run,
      [&](env::FaultyFileSystem& fs, env::CrashPoint point) {
        SCOPED_TRACE(fmt::format("change {} outcome {}", point.change, point.outcome));
        auto writer = WarcWriter::open(fs, clock, env::Random(2), options, mark);
        ASSERT_TRUE(writer) << writer.error().message();
        EXPECT_EQ(read_all(fs, options.series), urls_up_to(acknowledged));
        Visits visits;
        while (visits.count() < acknowledged) visits.next();
        ASSERT_TRUE((*writer)->append(visits.next(compression)));
        EXPECT_EQ(read_all(fs, options.series), urls_up_to(acknowledged + 1));
      });
  EXPECT_GT(changes, 15U);
}

TEST(WarcFilesAfterACrash, ReadCleanAtTheMark) { check_crashes(WarcCompression::kGzip); }

TEST(WarcFilesAfterACrash, ReadCleanAtTheMarkWhenPlain) { check_crashes(WarcCompression::kNone); }

// kill -9 leaves all bytes: the tail behind the mark is read up to where it is sound, and what was
// appended as a whole is found again.
TEST_F(WarcFiles, GiveTheirTailBackAfterKill) {
  options_ = small_files(1U << 20U);
  auto writer = open(std::nullopt);
  ASSERT_TRUE(writer->append(visits_.next()));
  ASSERT_TRUE(writer->sync());
  const WarcPosition mark = writer->position();
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(writer->append(visits_.next()));
  const std::uint64_t whole = writer->position().offset;
  ASSERT_TRUE(writer->append(visits_.next().substr(0, 200)));  // torn
  writer.reset();
  fs_.restart();

  const auto tail = tail_of(fs_, options_.series, mark);
  ASSERT_TRUE(tail);
  ASSERT_EQ(tail->size(), 1U);
  const auto file = fs_.open_read("warc/" + tail->front().file);
  ASSERT_TRUE(file);
  WarcReader reader(**file, tail->front().offset, {.skips_damage = false});
  std::vector<std::string> urls;
  while (*reader.next()) {
    ASSERT_TRUE(reader.finish());
    if (reader.record().faults.is_whole()) urls.emplace_back(reader.record().target_uri());
  }
  EXPECT_EQ(urls, (std::vector<std::string>{"http://h/1", "http://h/2", "http://h/3"}));
  EXPECT_EQ(reader.sound_end(), whole);
  writer = open(WarcPosition{.file = mark.file, .offset = reader.sound_end()});
  EXPECT_EQ(read_all(fs_, options_.series), urls_up_to(4));
}

}  // namespace
}  // namespace meguri::archive
