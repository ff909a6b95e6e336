#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "archive/member_stream.h"
#include "archive/sha1.h"
#include "archive/warc_reader.h"
#include "env/memory_file_system.h"
#include "env/spool_testing.h"
#include "env/testing.h"
#include "scan/analyser_testing.h"
#include "scan/builtin_analysers.h"
#include "scan/document_reader.h"

namespace meguri::scan {
namespace {

struct ReadRecord {
  archive::WarcRecord record;
  std::string block;
};

// All records of a file.
std::vector<ReadRecord> records_of(std::string_view bytes) {
  const archive::ViewFile file(bytes);
  archive::WarcReader reader(file);
  std::vector<ReadRecord> records;
  while (reader.next().value()) {
    std::string block;
    for (;;) {
      const std::string_view piece = reader.read_block().value();
      if (piece.empty()) break;
      block += piece;
    }
    EXPECT_TRUE(reader.finish());
    EXPECT_TRUE(reader.record().faults.is_whole());
    records.push_back({reader.record(), std::move(block)});
  }
  EXPECT_EQ(reader.sound_end(), bytes.size());
  return records;
}

TEST(WarcAnalyser, WritesAResponseOfItsOwn) {
  Document document = document_of("http://a.example/", "text/html", std::string("<p>hello"));
  document.fields.add("Content-Encoding", "gzip");
  document.fields.add("Transfer-Encoding", "chunked");
  document.fields.add("Content-Length", "99");
  document.facts.language = "en";
  const auto records = records_of(result_of({"warc"}, document));
  ASSERT_EQ(records.size(), 1U);
  const archive::WarcRecord& record = records[0].record;
  EXPECT_EQ(record.version, "1.1");
  EXPECT_EQ(record.type(), "response");
  EXPECT_EQ(record.target_uri(), "http://a.example/");
  EXPECT_EQ(record.get("WARC-Date"), "2026-11-15T08:09:10.000Z");
  EXPECT_EQ(record.get("WARC-Identified-Content-Language"), "en");
  EXPECT_EQ(record.get("Content-Type"), "application/http; msgtype=response");
  EXPECT_EQ(record.get("WARC-Payload-Digest"), archive::Sha1().of("<p>hello").to_string());
  EXPECT_EQ(record.get("WARC-Block-Digest"), archive::Sha1().of(records[0].block).to_string());
  EXPECT_FALSE(record.fields.has("X-Meguri-Depth"));
  EXPECT_FALSE(record.fields.has("X-Meguri-Fetch-Ms"));
  EXPECT_FALSE(record.fields.has("WARC-Truncated"));
  EXPECT_EQ(records[0].block,
            "HTTP/1.1 200 \r\nContent-Type: text/html\r\nX-Archive-Orig-Content-Encoding: gzip\r\n"
            "X-Archive-Orig-Transfer-Encoding: chunked\r\nX-Archive-Orig-Content-Length: 99\r\n"
            "Content-Length: 8\r\n\r\n<p>hello");
}

TEST(WarcAnalyser, WritesWhatIsReadAgainAsTheSameDocument) {
  Document document = document_of("http://a.example/", "text/html", std::string("<p>hello"));
  document.fields.add("Content-Encoding", "gzip");
  const std::string bytes = result_of({"warc"}, document);
  env::Spool spool(1U << 20U);
  DocumentReader reader(spool, 1U << 20U);
  const archive::ViewFile file(bytes);
  const auto again = reader.read(DocumentFacts(), file);
  ASSERT_TRUE(again) << again.error().message();
  EXPECT_EQ(again->facts.url, "http://a.example/");
  EXPECT_EQ(again->status, 200);
  EXPECT_EQ(again->mime, "text/html");
  EXPECT_EQ(again->cut, "");
  EXPECT_TRUE(again->content == "<p>hello");
}

TEST(WarcAnalyser, MakesEqualRecordsOfEqualDocuments) {
  Document document = document_of("http://a.example/", "text/html", std::string("x"));
  const std::string bytes = result_of({"warc"}, document);
  EXPECT_EQ(result_of({"warc"}, document), bytes);
  const auto id_of = [](const Document& each) {
    return std::string(records_of(result_of({"warc"}, each))[0].record.get("WARC-Record-ID"));
  };
  const std::string id = id_of(document);
  document.facts.time = kVisitTime + base::Duration::from_ms(1);
  EXPECT_NE(id_of(document), id);
  document.facts.time = kVisitTime;
  document.fields.add("X", "y");
  EXPECT_NE(id_of(document), id);
}

TEST(WarcAnalyser, KeepsACodingThatCouldNotBeUndone) {
  Document document = document_of("http://a.example/", "text/html", std::string("\x01\x02"));
  document.fields.add("Content-Encoding", "odd");
  document.is_coded = true;
  document.cut = "the coding is unknown";
  const auto records = records_of(result_of({"warc"}, document));
  ASSERT_EQ(records.size(), 1U);
  EXPECT_NE(records[0].block.find("\r\nContent-Encoding: odd\r\n"), std::string::npos);
  EXPECT_FALSE(records[0].record.fields.has("WARC-Truncated"));
}

TEST(WarcAnalyser, SaysThatContentIsNotWhole) {
  Document document = document_of("http://a.example/", "text/html", std::string("x"));
  document.cut = "the content ends early";
  const auto records = records_of(result_of({"warc"}, document));
  ASSERT_EQ(records.size(), 1U);
  EXPECT_EQ(records[0].record.get("WARC-Truncated"), "unspecified");
}

TEST(WarcAnalyser, WritesAResourceOfWhatCameWithoutHttp) {
  Document document = document_of("ftp://a.example/x", "text/plain", std::string("some text"));
  document.status = 0;
  const auto records = records_of(result_of({"warc"}, document));
  ASSERT_EQ(records.size(), 1U);
  EXPECT_EQ(records[0].record.type(), "resource");
  EXPECT_EQ(records[0].record.get("Content-Type"), "text/plain");
  EXPECT_EQ(records[0].record.get("WARC-Payload-Digest"),
            archive::Sha1().of("some text").to_string());
  EXPECT_EQ(records[0].block, "some text");
}

TEST(WarcAnalyser, WritesLargeContentFromDiskToDisk) {
  env::MemoryFileSystem fs;
  const auto spool = env::disk_spool(fs);
  const env::TempDir dir;
  // Not all the same, so that much is left of it.
  std::string body;
  for (unsigned i = 0; body.size() < 6'000'000; ++i) {
    body += fmt::format("{:x} ", i * 2'654'435'761U);
  }
  const std::uint64_t size = body.size();
  AnalyserSettings settings = settings_of(AnalyserKind::kBuiltIn, {"warc"});
  settings.scratch = dir.path();
  const auto analyser = make_analyser(settings);
  ASSERT_TRUE(analyser);
  Document resource = document_of("ftp://a.example/", "", env::spooled(*spool, body));
  resource.status = 0;
  resource.facts.number = 1;
  GivenDocuments documents(
      {document_of("http://a.example/", "text/plain", env::spooled(*spool, body)), resource});
  GivenResults results;
  ASSERT_TRUE((*analyser)->run(documents, results));
  EXPECT_TRUE(results.is_last_on_disk);
  const auto records = records_of(results.texts[0] + results.texts[1]);
  ASSERT_EQ(records.size(), 2U);
  EXPECT_TRUE(records[0].block.ends_with(body));
  EXPECT_NE(records[0].block.find(fmt::format("Content-Length: {}\r\n", size)), std::string::npos);
  EXPECT_EQ(records[1].block, body);
  EXPECT_EQ(records[1].record.get("Content-Type"), "application/octet-stream");
}

TEST(WarcFront, IsAWarcinfoRecord) {
  archive::WarcinfoFields info;
  info.software = "meguri/0.1.0";
  info.description = "a scan";
  const std::string front = warc_front(info, "scan.warc.gz", kVisitTime);
  EXPECT_EQ(warc_front(info, "scan.warc.gz", kVisitTime), front);
  const auto document = document_of("http://a.example/", "text/html", std::string("x"));
  const auto records = records_of(front + result_of({"warc"}, document));
  ASSERT_EQ(records.size(), 2U);
  EXPECT_EQ(records[0].record.type(), "warcinfo");
  EXPECT_EQ(records[0].record.get("WARC-Filename"), "scan.warc.gz");
  EXPECT_NE(records[0].block.find("description: a scan\r\n"), std::string::npos);
  EXPECT_EQ(records[1].record.type(), "response");
}

}  // namespace
}  // namespace meguri::scan
