#include "archive/warc_reader.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "archive/gzip_writer.h"
#include "archive/member_head.h"
#include "archive/sha1.h"
#include "archive/warc_record.h"
#include "env/faulty_file_system.h"
#include "env/random.h"
#include "web/http_head.h"

namespace meguri::archive {
namespace {

std::string record_of(std::string_view id, std::string_view block) {
  return fmt::format(
      "WARC/1.0\r\nWARC-Type: resource\r\nWARC-Record-ID: {}\r\nContent-Length: {}"
      "\r\n\r\n{}\r\n\r\n",
      id, block.size(), block);
}

std::string gzip(std::string_view bytes) {
  std::string out;
  GzipWriter().append_member(bytes, {}, {}, &out);
  return out;
}

// Bytes that no compressor makes smaller.
std::string noise(std::size_t size) {
  env::Random random(size);
  std::string bytes;
  while (bytes.size() < size) bytes += static_cast<char>(random.below(256));
  return bytes;
}

struct Seen {
  std::string id;
  std::string block;
  std::string faults;
  std::uint64_t offset = 0;
  std::uint64_t length = 0;
};

struct Outcome {
  std::vector<Seen> records;
  std::string end_faults;
  std::uint64_t end_offset = 0;  // of what the faults tell of
  std::uint64_t sound_end = 0;

  std::string ids() const {
    std::string text;
    for (const Seen& seen : records) text += seen.id;
    return text;
  }
};

Outcome read_all(std::string_view bytes, WarcReaderOptions options = {}) {
  const ViewFile file(bytes);
  WarcReader reader(file, 0, options);
  Outcome outcome;
  while (*reader.next()) {
    Seen seen;
    seen.block = *read_rest(reader, std::size_t{1} << 30U);
    EXPECT_TRUE(reader.finish());
    seen.id = reader.record().get("warc-record-id");
    seen.faults = reader.record().faults.to_string();
    seen.offset = reader.record().offset;
    seen.length = reader.record().length;
    outcome.records.push_back(std::move(seen));
  }
  outcome.end_faults = reader.record().faults.to_string();
  outcome.end_offset = reader.record().offset;
  outcome.sound_end = reader.sound_end();
  return outcome;
}

class WarcReaderOn : public ::testing::Test {
 protected:
  const std::string a_ = record_of("a", "alpha");
  const std::string b_ = record_of("b", "");
  const std::string c_ = record_of("c", "gamma\r\n\r\nWARC/not");
};

TEST_F(WarcReaderOn, PlainRecords) {
  const Outcome outcome = read_all(a_ + b_ + c_);
  ASSERT_EQ(outcome.ids(), "abc");
  EXPECT_EQ(outcome.records[0].block, "alpha");
  EXPECT_EQ(outcome.records[1].block, "");
  EXPECT_EQ(outcome.records[2].block, "gamma\r\n\r\nWARC/not");
  EXPECT_EQ(outcome.records[1].offset, a_.size());
  EXPECT_EQ(outcome.records[1].length, b_.size());
  for (const Seen& seen : outcome.records) EXPECT_EQ(seen.faults, "");
  EXPECT_EQ(outcome.end_faults, "");
  EXPECT_EQ(outcome.sound_end, a_.size() + b_.size() + c_.size());
}

TEST_F(WarcReaderOn, OneMemberForEachRecord) {
  const std::string first = gzip(a_);
  const std::string second = gzip(b_);
  const std::string bytes = first + second + gzip(c_);
  const Outcome outcome = read_all(bytes);
  ASSERT_EQ(outcome.ids(), "abc");
  EXPECT_EQ(outcome.records[1].offset, first.size());
  EXPECT_EQ(outcome.records[1].length, second.size());
  EXPECT_EQ(outcome.records[2].block, "gamma\r\n\r\nWARC/not");
  for (const Seen& seen : outcome.records) EXPECT_EQ(seen.faults, "");
  EXPECT_EQ(outcome.sound_end, bytes.size());
}

TEST_F(WarcReaderOn, ALastRecordThatIsLostIsNamedByItsPlace) {
  const std::string front = gzip(a_) + gzip(b_);
  std::string last = gzip(c_);
  for (std::size_t bit = 0; bit < 8 * last.size(); ++bit) {
    last[bit / 8] = static_cast<char>(last[bit / 8] ^ (1 << (bit % 8)));
    const Outcome outcome = read_all(front + last);
    if (outcome.records.size() == 2) {
      EXPECT_NE(outcome.end_faults, "") << "bit " << bit;
      EXPECT_EQ(outcome.end_offset, front.size()) << "bit " << bit;
    }
    last[bit / 8] = static_cast<char>(last[bit / 8] ^ (1 << (bit % 8)));
  }
}

TEST_F(WarcReaderOn, OneMemberForAllRecords) {
  const std::string bytes = gzip(a_ + b_ + c_);
  const Outcome outcome = read_all(bytes);
  ASSERT_EQ(outcome.ids(), "abc");
  EXPECT_EQ(outcome.records[0].faults, "");
  EXPECT_EQ(outcome.records[1].faults, "shared_member");
  EXPECT_EQ(outcome.records[2].block, "gamma\r\n\r\nWARC/not");
  EXPECT_EQ(outcome.records[2].length, 0U);
  EXPECT_EQ(outcome.sound_end, bytes.size());
}

TEST_F(WarcReaderOn, RecordsThatGoOnInOtherMembers) {
  const std::string all = a_ + c_ + b_;
  for (std::size_t cut = 1; cut < all.size(); ++cut) {
    const Outcome outcome = read_all(gzip(all.substr(0, cut)) + gzip(all.substr(cut)));
    // Where the second part begins like a record by chance, or a record is torn in its first six
    // bytes, that cannot be told from a broken one.
    const bool is_torn_start = cut < 6 || (cut > a_.size() && cut < a_.size() + 6) ||
                               (cut > a_.size() + c_.size() && cut < a_.size() + c_.size() + 6);
    if (is_torn_start) continue;
    EXPECT_EQ(outcome.ids(), "acb") << cut;
  }
}

TEST_F(WarcReaderOn, EmptyMembers) {
  const std::string bytes = gzip("") + gzip(a_) + gzip("") + gzip("") + gzip(b_) + gzip("");
  const Outcome outcome = read_all(bytes);
  ASSERT_EQ(outcome.ids(), "ab");
  EXPECT_EQ(outcome.records[0].faults, "empty_member");
  EXPECT_EQ(outcome.records[1].faults, "empty_member");
  EXPECT_EQ(outcome.records[1].length, gzip(b_).size());
  EXPECT_EQ(outcome.end_faults, "empty_member");
}

TEST_F(WarcReaderOn, NothingAtAll) {
  EXPECT_EQ(read_all("").end_faults, "");
  EXPECT_EQ(read_all("\r\n").ids(), "");
  EXPECT_EQ(read_all("<html>").end_faults, "damaged, skipped");
  EXPECT_EQ(read_all("WAR").end_faults, "truncated, skipped");
  EXPECT_EQ(read_all("\x1f\x8b").end_faults, "truncated, skipped");
}

TEST_F(WarcReaderOn, LargeRecordsInPieces) {
  const std::string large = noise(3'000'000);
  std::string text;
  for (int i = 0; i < 300'000; ++i) text += "twelve bytes";
  for (const bool is_gzip : {false, true}) {
    std::string bytes;
    for (const std::string& record : {a_, record_of("l", large), record_of("t", text), b_}) {
      bytes += is_gzip ? gzip(record) : record;
    }
    const Outcome outcome = read_all(bytes);
    ASSERT_EQ(outcome.ids(), "altb") << is_gzip;
    EXPECT_TRUE(outcome.records[1].block == large);
    EXPECT_TRUE(outcome.records[2].block == text);
    for (const Seen& seen : outcome.records) EXPECT_EQ(seen.faults, "");
    EXPECT_EQ(outcome.sound_end, bytes.size());
  }
}

TEST_F(WarcReaderOn, HeadsAsOthersWriteThem) {
  const Outcome outcome = read_all(
      "WARC/0.18\nwarc-record-id:   x\t\nWARC-Target-URI: <http://a/>\nFolded: one\n two\n"
      "content-LENGTH: 2\n\nhi\n\n" +
      a_);
  ASSERT_EQ(outcome.ids(), "xa");
  EXPECT_EQ(outcome.records[0].block, "hi");
  EXPECT_EQ(outcome.records[0].faults, "no_blank_lines, odd_head");
  EXPECT_EQ(outcome.records[1].faults, "");
}

TEST(WarcRecord, IsAskedForItsFieldsInAnyCase) {
  const ViewFile file(
      "WARC/2.7\r\nwarc-TARGET-uri: <http://a/>\r\nFolded: one\r\n two\r\nContent-Length: 0"
      "\r\n\r\n\r\n\r\n");
  WarcReader reader(file);
  ASSERT_TRUE(*reader.next());
  EXPECT_EQ(reader.record().version, "2.7");
  EXPECT_EQ(reader.record().target_uri(), "http://a/");
  EXPECT_EQ(reader.record().get("folded"), "one two");
  EXPECT_EQ(reader.record().get("missing"), "");
  EXPECT_EQ(reader.record().faults.to_string(), "odd_version, odd_head");
}

TEST_F(WarcReaderOn, WrongLengthsInPlainFiles) {
  std::string shorter = a_;
  shorter.replace(shorter.find("Length: 5"), 9, "Length: 3");
  const Outcome outcome = read_all(shorter + b_ + c_);
  ASSERT_EQ(outcome.ids(), "abc");
  EXPECT_EQ(outcome.records[0].block, "alp");
  EXPECT_EQ(outcome.records[0].faults, "no_blank_lines");
  EXPECT_EQ(outcome.records[1].faults, "skipped");
  EXPECT_EQ(outcome.sound_end, 0U);

  std::string none = a_;
  none.replace(none.find("Content-Length"), 7, "Dissent");
  EXPECT_EQ(read_all(none + b_).ids(), "ab");
  EXPECT_EQ(read_all(none + b_).records[0].faults, "no_length");
}

TEST_F(WarcReaderOn, WrongLengthsInMembers) {
  for (const std::string_view length : {"3", "6", "9", "90", "9000", "-1", "5, 5"}) {
    std::string wrong = a_;
    wrong.replace(wrong.find("Length: 5"), 9, fmt::format("Length: {}", length));
    const Outcome outcome = read_all(gzip(wrong) + gzip(b_) + gzip(c_));
    EXPECT_EQ(outcome.ids(), "abc") << length;
    EXPECT_NE(outcome.records[0].faults, "") << length;
    EXPECT_EQ(outcome.records[2].faults, "") << length;
  }
}

TEST_F(WarcReaderOn, MissingBlankLines) {
  const std::string bare = a_.substr(0, a_.size() - 4);
  const Outcome outcome = read_all(gzip(bare) + gzip(b_));
  ASSERT_EQ(outcome.ids(), "ab");
  EXPECT_EQ(outcome.records[0].faults, "no_blank_lines");
  EXPECT_EQ(outcome.records[0].length, gzip(bare).size());
  EXPECT_EQ(read_all(bare + "\r\n" + b_).ids(), "ab");
  EXPECT_EQ(read_all(gzip(a_ + "\r\n") + gzip(b_)).records[0].faults, "no_blank_lines");
  EXPECT_EQ(read_all(gzip(a_ + "\r\n") + gzip(b_)).sound_end,
            gzip(a_ + "\r\n").size() + gzip(b_).size());
}

TEST_F(WarcReaderOn, FilesCutAnywhere) {
  for (const bool is_gzip : {false, true}) {
    const std::string first = is_gzip ? gzip(a_) : a_;
    const std::string second = is_gzip ? gzip(c_) : c_;
    const std::string bytes = first + second;
    for (std::size_t size = 0; size < bytes.size(); ++size) {
      const Outcome outcome = read_all(bytes.substr(0, size));
      SCOPED_TRACE(size);
      EXPECT_EQ(outcome.sound_end, size < first.size() ? 0 : first.size());
      if (size == 0 || size == first.size()) {
        EXPECT_EQ(outcome.end_faults, "");
        continue;
      }
      const std::string last = outcome.records.empty() ? "" : outcome.records.back().faults;
      EXPECT_NE(last + outcome.end_faults, "");
    }
  }
}

TEST_F(WarcReaderOn, EveryFlippedBitOfAMember) {
  const std::string first = gzip(a_);
  const std::string second = gzip(c_);
  const std::string good = first + second + gzip(b_);
  for (std::size_t bit = 8 * first.size(); bit < 8 * (first.size() + second.size()); ++bit) {
    std::string bytes = good;
    bytes[bit / 8] =
        static_cast<char>(static_cast<unsigned char>(bytes[bit / 8]) ^ (1U << (bit % 8)));
    const Outcome outcome = read_all(bytes);
    SCOPED_TRACE(bit);
    ASSERT_GE(outcome.records.size(), 2U);
    EXPECT_EQ(outcome.records.front().id, "a");
    EXPECT_EQ(outcome.records.front().faults, "");
    EXPECT_EQ(outcome.records.back().id, "b");
    EXPECT_EQ(outcome.records.back().block, "");
    // Time and system in the header do no harm, nor do the lengths that it tells, nor the bits that
    // fill up the last byte before the checksum.
    const std::size_t byte = bit / 8 - first.size();
    if (byte >= kToldHeadBytes && byte != second.size() - 9) {
      EXPECT_EQ(outcome.sound_end, first.size());
      EXPECT_NE(outcome.records[1].faults + outcome.records.back().faults, "");
    }
    const Outcome strict = read_all(bytes, {.skips_damage = false});
    EXPECT_EQ(strict.sound_end == good.size(), outcome.sound_end == good.size());
  }
}

TEST_F(WarcReaderOn, MuchGarbageBetweenMembers) {
  const std::string bytes = gzip(a_) + noise(1'000'000) + gzip(b_);
  const Outcome outcome = read_all(bytes);
  ASSERT_EQ(outcome.ids(), "ab");
  EXPECT_EQ(outcome.records[1].faults, "damaged, skipped");
  EXPECT_EQ(outcome.records[1].length, gzip(b_).size());
  EXPECT_EQ(read_all(bytes, {.skips_damage = false}).ids(), "a");
  EXPECT_EQ(read_all(a_ + noise(1'000'000) + "\n" + b_).ids(), "ab");
  EXPECT_EQ(read_all(noise(1000) + "\n" + a_ + b_).ids(), "ab");
}

TEST_F(WarcReaderOn, HeadsWithoutEnd) {
  std::string lines = "WARC/1.0\r\n";
  while (lines.size() < 3 * kWarcHeadBytesMax) lines += "WARC/1.0\r\nx: y\r\n";
  const Outcome outcome = read_all(lines + "\r\n" + a_);
  ASSERT_FALSE(outcome.records.empty());
  EXPECT_EQ(outcome.records.back().id, "a");
  const std::string long_line = "WARC/1.0 " + std::string(3 * kWarcHeadBytesMax, 'x') + "\n";
  EXPECT_EQ(read_all(long_line + a_).ids(), "a");
  EXPECT_EQ(read_all(gzip("WARC/1.0\r\na: b\r\n") + gzip(a_)).ids(), "a");
}

TEST_F(WarcReaderOn, MembersOfOneByte) {
  std::string bytes;
  const std::string tail = gzip("x");
  for (int i = 0; i < 200'000; ++i) bytes += tail;
  const Outcome outcome = read_all(gzip("WARC/1.0\r\nA: ") + bytes + gzip(a_));
  EXPECT_EQ(outcome.ids(), "a");
  EXPECT_EQ(outcome.records[0].faults, "bad_head, skipped, split_member");
}

TEST_F(WarcReaderOn, TooManyFields) {
  std::string many = "WARC/1.0\r\nContent-Length: 0\r\n";
  for (std::size_t i = 0; i < kWarcFieldsMax; ++i) many += "a: b\r\n";
  const Outcome outcome = read_all(many + "\r\n\r\n\r\n" + a_);
  ASSERT_EQ(outcome.ids(), "a");
  ASSERT_EQ(outcome.records.size(), 2U);
  EXPECT_EQ(outcome.records[0].faults, "too_many_fields");
}

TEST_F(WarcReaderOn, HeadsOfHttp) {
  const std::string bytes = record_of("h", "HTTP/1.1 200 OK\r\nA: b\r\n\r\nbody");
  const ViewFile file(bytes);
  WarcReader reader(file);
  ASSERT_TRUE(*reader.next());
  const auto parsed = read_http_head(reader, web::HeadKind::kResponse);
  ASSERT_TRUE(parsed);
  EXPECT_EQ(parsed->state, web::HeadState::kComplete);
  EXPECT_EQ(parsed->head.status, 200);
  EXPECT_EQ(parsed->size, 25U);
  EXPECT_EQ(*read_rest(reader, 2), "bo");
  EXPECT_EQ(*read_rest(reader, 100), "dy");
  EXPECT_FALSE(*reader.next());
  EXPECT_EQ(*reader.read_block(), "");
}

TEST_F(WarcReaderOn, DisksThatFail) {
  env::FaultyFileSystem fs;
  {
    auto file = fs.create("f");
    ASSERT_TRUE(file && (*file)->append(gzip(a_)));
  }
  const auto file = fs.open_read("f");
  fs.fail_read_after(0, base::ErrorCode::kIo);
  WarcReader reader(**file);
  EXPECT_EQ(reader.next().error().code(), base::ErrorCode::kIo);
}

}  // namespace
}  // namespace meguri::archive
