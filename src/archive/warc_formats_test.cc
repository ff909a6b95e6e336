// WarcReader on files that are not gzip of WARC: zstd, with and without a dictionary, and ARC; and
// on files of every format that end anywhere.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <zstd.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "archive/gzip_writer.h"
#include "archive/warc_reader.h"
#include "archive/warc_visit.h"
#include "base/check.h"
#include "env/random.h"

namespace meguri::archive {
namespace {

std::string gzip(std::string_view bytes) {
  std::string out;
  GzipWriter().append_member(bytes, {}, {}, &out);
  return out;
}

std::string zstd(std::string_view bytes, std::string_view dictionary = {}) {
  std::string out(ZSTD_compressBound(bytes.size()), '\0');
  ZSTD_CCtx* context = ZSTD_createCCtx();
  CHECK(ZSTD_isError(ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1)) == 0);
  CHECK(ZSTD_isError(ZSTD_CCtx_loadDictionary(context, dictionary.data(), dictionary.size())) == 0);
  const std::size_t size =
      ZSTD_compress2(context, out.data(), out.size(), bytes.data(), bytes.size());
  ZSTD_freeCCtx(context);
  CHECK(ZSTD_isError(size) == 0);
  out.resize(size);
  return out;
}

std::string skippable(unsigned char kind, std::string_view content) {
  std::string frame = {static_cast<char>(kind), '\x2a', '\x4d', '\x18'};
  for (unsigned i = 0; i < 4; ++i) frame += static_cast<char>(content.size() >> (8 * i) & 0xffU);
  return frame + std::string(content);
}

std::string record_of(std::string_view id, std::string_view block) {
  return fmt::format(
      "WARC/1.0\r\nWARC-Type: resource\r\nWARC-Record-ID: {}\r\nContent-Length: {}"
      "\r\n\r\n{}\r\n\r\n",
      id, block.size(), block);
}

std::string arc_of(std::string_view url, std::string_view document) {
  return fmt::format("{} 192.0.2.1 19961104142103 text/html {}\n{}\n", url, document.size(),
                     document);
}

const std::string arc_info =
    "filedesc://x.arc 0.0.0.0 19961104142103 text/plain 76\n1 0 Alexa Internet\nURL IP-address "
    "Archive-date Content-type Archive-length\n\n";

struct Seen {
  bool operator==(const Seen&) const = default;

  std::string name;  // the last letter of the id or the URL; 'i' for a version block
  std::string block;
  std::string faults;
  std::uint64_t offset = 0;
  std::uint64_t length = 0;
};

struct Outcome {
  std::vector<Seen> records;
  WarcFaults end_faults;

  std::string names() const {
    std::string text;
    for (const Seen& seen : records) text += seen.name;
    return text;
  }
  std::string faults() const {
    std::string text;
    for (const Seen& seen : records) text += seen.faults;
    return text + end_faults.to_string();
  }
};

Outcome read_all(std::string_view bytes, std::uint64_t offset = 0, MemberMemory* memory = nullptr) {
  const ViewFile file(bytes);
  WarcReader reader(file, offset, {.memory = memory});
  Outcome outcome;
  while (*reader.next()) {
    Seen seen;
    seen.block = *read_rest(reader, std::size_t{1} << 30U);
    EXPECT_TRUE(reader.finish());
    const WarcRecord& record = reader.record();
    const std::string_view uri = record.target_uri();
    const std::string_view id = record.get("WARC-Record-ID");
    seen.name = !record.is_arc ? id.substr(id.size() - 1)
                : uri.empty()  ? "i"
                               : uri.substr(uri.size() - 1);
    seen.faults = record.faults.to_string();
    seen.offset = record.offset;
    seen.length = record.length;
    outcome.records.push_back(std::move(seen));
  }
  outcome.end_faults = reader.record().faults;
  return outcome;
}

std::string noise(std::size_t size) {
  env::Random random(size);
  std::string bytes;
  while (bytes.size() < size) bytes += static_cast<char>(random.below(256));
  return bytes;
}

TEST(WarcZstd, OneFrameForEachRecord) {
  const std::string first = zstd(record_of("a", "alpha"));
  const std::string second = zstd(record_of("b", noise(3'000'000)));
  const std::string bytes = first + second + zstd(record_of("c", ""));
  const Outcome outcome = read_all(bytes);
  ASSERT_EQ(outcome.names(), "abc");
  EXPECT_EQ(outcome.faults(), "");
  EXPECT_EQ(outcome.records[0].block, "alpha");
  EXPECT_EQ(outcome.records[1].block, noise(3'000'000));
  EXPECT_EQ(outcome.records[1].offset, first.size());
  EXPECT_EQ(outcome.records[1].length, second.size());
  EXPECT_EQ(read_all(bytes, first.size()).names(), "bc");
}

TEST(WarcZstd, ADictionaryBeforeThem) {
  const std::string dictionary = record_of("dictionary", noise(2000));
  const std::string a = zstd(record_of("a", noise(2000)), dictionary);
  const std::string b = zstd(record_of("b", noise(2000)), dictionary);
  EXPECT_LT(a.size(), 500U);
  for (const std::string& content : {dictionary, zstd(dictionary)}) {
    const std::string front = skippable(0x5d, content);
    const std::string bytes = front + a + b;
    const Outcome outcome = read_all(bytes);
    ASSERT_EQ(outcome.names(), "ab");
    EXPECT_EQ(outcome.faults(), "");
    EXPECT_EQ(outcome.records[0].offset, front.size());
    EXPECT_EQ(outcome.records[1].block, noise(2000));
    // It is found from anywhere.
    EXPECT_EQ(read_all(bytes, front.size() + a.size()).names(), "b");
  }
}

TEST(WarcZstd, FramesWithoutContentAreNoRecords) {
  const std::string bytes = zstd(record_of("a", "alpha")) + skippable(0x50, noise(300'000)) +
                            zstd(record_of("b", "")) + skippable(0x5f, "");
  const Outcome outcome = read_all(bytes);
  EXPECT_EQ(outcome.names(), "ab");
  EXPECT_EQ(outcome.faults(), "");
  EXPECT_TRUE(read_all(bytes.substr(0, bytes.size() - 3)).end_faults.has(WarcFault::kTruncated));
}

TEST(WarcZstd, ARecordBehindADamagedOneIsFound) {
  std::string bytes = zstd(record_of("a", noise(5000)));
  bytes[2500] = static_cast<char>(bytes[2500] ^ 0x55);
  bytes += zstd(record_of("b", noise(400'000)));
  const Outcome outcome = read_all(bytes);
  ASSERT_EQ(outcome.names(), "ab");
  EXPECT_EQ(outcome.records[0].faults, "damaged");
  EXPECT_EQ(outcome.records[1].block, noise(400'000));
}

TEST(WarcZstd, AllRecordsInOneFrame) {
  const Outcome outcome = read_all(zstd(record_of("a", "alpha") + record_of("b", "beta")));
  EXPECT_EQ(outcome.names(), "ab");
  EXPECT_EQ(outcome.faults(), "shared_member");
}

TEST(Arc, PlainRecords) {
  const std::string a = arc_of("http://x/a", "HTTP/1.0 200 OK\r\n\r\nalpha");
  const std::string bytes = arc_info + a + arc_of("http://x/b", "");
  const Outcome outcome = read_all(bytes);
  ASSERT_EQ(outcome.names(), "iab");
  EXPECT_EQ(outcome.faults(), "");
  EXPECT_EQ(outcome.records[1].offset, arc_info.size());
  EXPECT_EQ(outcome.records[1].length, a.size());
  EXPECT_EQ(outcome.records[1].block, "HTTP/1.0 200 OK\r\n\r\nalpha");
  EXPECT_EQ(read_all(bytes, arc_info.size()).names(), "ab");
}

TEST(Arc, OneMemberForEachRecord) {
  const std::string a = gzip(arc_of("http://x/a", noise(400'000)));
  const std::string bytes = gzip(arc_info) + a + gzip(arc_of("http://x/b", "beta"));
  const Outcome outcome = read_all(bytes);
  ASSERT_EQ(outcome.names(), "iab");
  EXPECT_EQ(outcome.faults(), "");
  EXPECT_EQ(outcome.records[1].length, a.size());
  EXPECT_EQ(outcome.records[1].block, noise(400'000));
}

TEST(Arc, TellsOfAVisit) {
  const std::string url = "http://x.example/" + std::string(3700, 'y');
  const std::string bytes = arc_info + arc_of(url, "HTTP/1.0 200 OK\r\n\r\nalpha");
  const ViewFile file(bytes);
  WarcReader reader(file);
  ASSERT_TRUE(*reader.next());
  EXPECT_EQ(visit_of(reader.record()), std::nullopt);
  ASSERT_TRUE(*reader.next());
  const auto visit = visit_of(reader.record());
  ASSERT_TRUE(visit);
  EXPECT_EQ(visit->target_uri, url);
  EXPECT_EQ(visit->date.to_rfc3339(), "1996-11-04T14:21:03Z");
  EXPECT_EQ(visit->ip_address, "192.0.2.1");
  EXPECT_NE(visit->id, RecordId());
  EXPECT_EQ(read_http_head(reader, web::HeadKind::kResponse)->head.status, 200);
}

TEST(Arc, VersionBlocksOfAnyLength) {
  for (const std::string_view length : {"74", "75", "76"}) {
    std::string info = arc_info;
    info.replace(info.find(" 76\n"), 4, fmt::format(" {}\n", length));
    const Outcome outcome = read_all(info + arc_of("http://x/a", "alpha"));
    EXPECT_EQ(outcome.names(), "ia") << length;
    EXPECT_EQ(outcome.faults(), "") << length;
  }
}

TEST(Arc, GoesOnBehindAWrongLength) {
  std::string a = arc_of("http://x/a", "alpha\nbeta\ngamma");
  a.replace(a.find(" 16\n"), 4, " 3\n");
  const Outcome outcome = read_all(arc_info + a + arc_of("http://x/b", "beta"));
  ASSERT_EQ(outcome.names(), "iab");
  EXPECT_EQ(outcome.records[1].faults, "no_blank_lines");
  EXPECT_EQ(outcome.records[2].faults, "skipped");
}

TEST(Arc, ARecordBehindADamagedMemberIsFound) {
  std::string bytes = gzip(arc_info) + gzip(arc_of("http://x/a", noise(5000)));
  bytes[bytes.size() - 2500] = static_cast<char>(bytes[bytes.size() - 2500] ^ 0x55);
  bytes += gzip(arc_of("http://x/b", "beta"));
  const Outcome outcome = read_all(bytes);
  ASSERT_EQ(outcome.names(), "iab");
  EXPECT_EQ(outcome.records[2].block, "beta");
  EXPECT_NE(outcome.faults().find("damaged"), std::string::npos);
}

// What one file leaves in the memory, its dictionary too, is nothing to the next.
TEST(AnyWarc, IsReadTheSameWithMemoryOfAnother) {
  const std::string dictionary = record_of("dictionary", noise(2000));
  const std::string record = record_of("a", noise(2000));
  const std::vector<std::string> files = {
      skippable(0x5d, dictionary) + zstd(record, dictionary),
      zstd(record, dictionary),  // which is missing
      zstd(record),
      zstd(record).substr(0, 1500),
      gzip(record) + gzip(record_of("b", "beta")),
      gzip(record_of("a", std::string(3'000'000, 'x'))).substr(0, 1000),
      record + record,
      record.substr(0, 1000),
      arc_info + arc_of("http://x/a", noise(300)),
      noise(100'000),
      "",
  };
  MemberMemory memory;
  env::Random random(7);
  for (int i = 0; i < 300; ++i) {
    const std::string& bytes = files[random.below(files.size())];
    const Outcome fresh = read_all(bytes);
    const Outcome again = read_all(bytes, 0, &memory);
    ASSERT_EQ(again.records, fresh.records);
    ASSERT_EQ(again.faults(), fresh.faults());
  }
}

// Whatever a file is cut to, what is left is read, and what is missing is told.
TEST(AnyWarc, CutAtEveryByte) {
  const std::vector<std::string> warc = {record_of("a", "alpha"), record_of("b", ""),
                                         record_of("c", noise(300))};
  const std::vector<std::string> arc = {arc_info, arc_of("http://x/a", "alpha"),
                                        arc_of("http://x/b", noise(300))};
  const auto as_is = [](std::string_view bytes) { return std::string(bytes); };
  const auto in_frame = [](std::string_view bytes) { return zstd(bytes); };
  const std::vector<std::string (*)(std::string_view)> codings = {as_is, gzip, in_frame};
  for (const auto& records : {warc, arc}) {
    for (const auto& coding : codings) {
      std::string bytes;
      std::vector<std::size_t> ends = {0};
      for (const std::string& record : records) {
        bytes += coding(record);
        ends.push_back(bytes.size());
      }
      const Outcome whole = read_all(bytes);
      ASSERT_EQ(whole.records.size(), records.size());
      ASSERT_EQ(whole.faults(), "");
      for (std::size_t size = 0; size < bytes.size(); ++size) {
        const Outcome cut = read_all(std::string_view(bytes).substr(0, size));
        const auto count = static_cast<std::size_t>(
            std::ranges::count_if(ends, [&](std::size_t end) { return end <= size; }) - 1);
        ASSERT_GE(cut.records.size(), count) << size;
        ASSERT_LE(cut.records.size(), count + 1) << size;
        for (std::size_t i = 0; i < count; ++i) {
          EXPECT_EQ(cut.records[i].block, whole.records[i].block) << size;
          EXPECT_EQ(cut.records[i].faults, "") << size;
        }
        const bool ends_well = ends[count] == size;
        EXPECT_EQ(cut.faults().empty(), ends_well) << size << ": " << cut.faults();
      }
    }
  }
}

}  // namespace
}  // namespace meguri::archive
