#include "crawl/crawl_log_reader.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "crawl/crawl_log_line.h"
#include "env/memory_file_system.h"

namespace meguri::crawl {
namespace {

constexpr base::Instant kDate = base::Instant::from_ms(1'767'225'600'123);  // 2026-01-01

VisitNote note_of(int status, VisitOutcome outcome) {
  VisitNote note;
  note.date = kDate;
  note.url = "http://example.org/a";
  note.host = "example.org";
  note.outcome = outcome;
  note.status = status;
  note.bytes = 1234;
  note.duration = base::Duration::from_ms(83);
  note.warc_file = "meguri-20260101000000-00000-0.warc.gz";
  return note;
}

std::string line_of(const auto& note) {
  std::string line;
  append_line(note, &line);
  line.pop_back();
  return line;
}

TEST(CrawlLogReader, ReadsWhatIsWritten) {
  const auto visit = parse_log_line(line_of(note_of(304, VisitOutcome::kUnchanged)));
  ASSERT_TRUE(visit);
  EXPECT_EQ(*visit, (LoggedVisit{.time = kDate,
                                 .kind = LoggedVisit::Kind::kPage,
                                 .status = 304,
                                 .outcome = VisitOutcome::kUnchanged,
                                 .bytes = 1234,
                                 .duration = base::Duration::from_ms(83)}));
  VisitNote failed = note_of(0, VisitOutcome::kError);
  failed.fetch = fetch::FetchOutcome::kReset;
  EXPECT_EQ(parse_log_line(line_of(failed))->status, 0);
  RefusalNote refusal;
  refusal.date = kDate;
  refusal.candidate.url = "http://example.org/";
  EXPECT_EQ(parse_log_line(line_of(refusal))->kind, LoggedVisit::Kind::kRefusal);
}

// Whatever a URL or a sentence says, it says nothing of the visit.
TEST(CrawlLogReader, IsNotMisledByTexts) {
  VisitNote note = note_of(200, VisitOutcome::kChanged);
  note.url = "http://example.org/,\"status\":404,\"ms\":1,\"type\":\"refusal\"";
  note.via = "\\\",\"outcome\":\"gone\"";
  note.mime = "a,\"bytes\":7,";
  const auto visit = parse_log_line(line_of(note));
  ASSERT_TRUE(visit);
  EXPECT_EQ(visit->kind, LoggedVisit::Kind::kPage);
  EXPECT_EQ(visit->status, 200);
  EXPECT_EQ(visit->outcome, VisitOutcome::kChanged);
  EXPECT_EQ(visit->bytes, 1234U);
  EXPECT_EQ(visit->duration.ms(), 83);
}

TEST(CrawlLogReader, KnowsWhatIsNoneOfItsLines) {
  for (const char* line : {"", "{}", "{\"time\":\"2026-01-01T00:00:00Z\"}", "null",
                           "{\"time\":\"never\",\"type\":\"page\"}",
                           "{\"time\":\"2026-01-01T00:00:00Z\",\"type\":\"cat\"}",
                           "{\"time\":\"2026-01-01T00:00:00Z\",\"type\":\"page\""}) {
    EXPECT_FALSE(parse_log_line(line)) << line;
  }
}

class CrawlLogFiles : public testing::Test {
 protected:
  void write(const std::string& name, const std::string& text) {
    ASSERT_TRUE(files_.make_dirs("logs"));
    ASSERT_TRUE(env::write_file_atomically(files_, "logs/" + name, text));
  }
  static std::string lines(int status, int count) {
    std::string text;
    for (int i = 0; i < count; ++i) {
      append_line(note_of(status, VisitOutcome::kChanged), &text);
    }
    return text;
  }
  LogReading read(const CrawlLogMark& mark) {
    statuses_.clear();
    const auto use = [this](const LoggedVisit& visit) { statuses_.push_back(visit.status); };
    return read_crawl_log(files_, "logs", mark, use).value();
  }

  env::MemoryFileSystem files_;
  std::vector<int> statuses_;
};

TEST_F(CrawlLogFiles, AreReadInTheirOrderUpToTheMark) {
  write("crawl-20260101000000-00001.jsonl", lines(201, 2));
  write("crawl-20260102000000-00002.jsonl", lines(202, 1));
  write("crawl.jsonl", lines(203, 3));
  write("notes.txt", "not ours\n");
  const std::uint64_t two = lines(203, 2).size();
  LogReading reading = read({.serial = 3, .offset = two});
  EXPECT_EQ(statuses_, (std::vector<int>{201, 201, 202, 203, 203}));
  EXPECT_EQ(reading.lines, 5U);
  EXPECT_EQ(reading.files_missing + reading.bytes_missing + reading.strange, 0U);

  // The file that grew at the mark was closed since.
  reading = read({.serial = 2, .offset = 0});
  EXPECT_EQ(statuses_, (std::vector<int>{201, 201}));
}

TEST_F(CrawlLogFiles, MayBeMissing) {
  LogReading reading = read({.serial = 1, .offset = 0});
  EXPECT_EQ(reading.lines + reading.bytes_missing, 0U);
  write("crawl.jsonl", lines(200, 1) + "{\"torn");
  reading = read({.serial = 3, .offset = 100'000});
  EXPECT_EQ(statuses_, (std::vector<int>{200}));
  EXPECT_EQ(reading.files_missing, 2U);
  EXPECT_EQ(reading.strange, 1U);
  EXPECT_GT(reading.bytes_missing, 0U);
}

// Longer than what is read at a time.
TEST_F(CrawlLogFiles, MayBeLong) {
  const std::string text = lines(200, 9000);
  ASSERT_GT(text.size(), std::size_t{2} << 20U);
  write("crawl.jsonl", text);
  const LogReading reading = read({.serial = 1, .offset = text.size()});
  EXPECT_EQ(statuses_.size(), 9000U);
  EXPECT_EQ(reading.strange, 0U);
}

}  // namespace
}  // namespace meguri::crawl
