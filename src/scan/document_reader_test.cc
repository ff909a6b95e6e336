#include "scan/document_reader.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "archive/snapshot_warc_testing.h"
#include "env/memory_file_system.h"
#include "env/spool_testing.h"

namespace meguri::scan {
namespace {

using archive::gzip_member;
using archive::http_answer;
using archive::ViewFile;
using archive::warc_record;

constexpr std::string_view kUrl = "http://example.com/a";
constexpr std::string_view kDate = "2026-01-01T00:00:00Z";
constexpr std::uint64_t kNoLimit = std::uint64_t{1} << 40U;

std::string answer_record(std::string_view body, std::string_view fields = {}) {
  return warc_record("response", kUrl, kDate, "WARC-Payload-Digest: sha1:ABC\r\n",
                     http_answer(body, fields));
}

// A record of a block without a head.
std::string plain_record(std::string_view type, std::string_view mime, std::string_view block,
                         std::string_view fields = {}) {
  return fmt::format(
      "WARC/1.1\r\nWARC-Type: {}\r\nWARC-Record-ID: <urn:test:1>\r\nWARC-Date: {}\r\n"
      "WARC-Target-URI: <{}>\r\nContent-Type: {}\r\n{}Content-Length: {}\r\n\r\n{}\r\n\r\n",
      type, kDate, kUrl, mime, fields, block.size(), block);
}

// Pages without pattern, which no coding makes much smaller.
std::string noise(std::size_t size) {
  std::string bytes;
  std::uint64_t state = 1;
  while (bytes.size() < size) {
    state = state * 6364136223846793005U + 1442695040888963407U;
    bytes += static_cast<char>(state >> 56U);
  }
  return bytes;
}

class DocumentReaderFixture : public ::testing::Test {
 protected:
  base::Result<Document> try_read(std::string_view bytes, DocumentFacts facts = {},
                                  std::uint64_t bytes_max = kNoLimit) {
    return DocumentReader(spool_, bytes_max).read(std::move(facts), ViewFile(bytes));
  }
  Document read(std::string_view bytes, std::uint64_t bytes_max = kNoLimit) {
    auto document = try_read(bytes, {}, bytes_max);
    EXPECT_TRUE(document) << document.error().message();
    return document ? *std::move(document) : Document();
  }

  env::Spool spool_{std::uint64_t{1} << 30U};
};

TEST_F(DocumentReaderFixture, TellsWhatTheAnswerSaid) {
  const std::string block =
      "HTTP/1.1 404 Not Found\r\nContent-Type: TEXT/HTML; Charset=Shift_JIS\r\nX-A: b\r\n\r\n<p>";
  const std::string record =
      warc_record("response", kUrl, kDate, "WARC-Payload-Digest: sha1:ABC\r\n", block);
  for (const std::string& bytes : {record, gzip_member(record)}) {
    const Document document = read(bytes);
    EXPECT_EQ(document.facts.url, kUrl);
    EXPECT_EQ(document.status, 404);
    EXPECT_EQ(document.mime, "text/html");
    EXPECT_EQ(document.charset, "shift_jis");
    EXPECT_EQ(document.digest, "sha1:ABC");
    EXPECT_EQ(document.fields.get("x-a"), "b");
    EXPECT_EQ(env::text_of(document.content), "<p>");
    EXPECT_EQ(document.cut, "");
  }
}

TEST_F(DocumentReaderFixture, KeepsTheFactsItWasGiven) {
  DocumentFacts facts;
  facts.number = 7;
  facts.url = "http://example.org/other";
  facts.time = base::Instant::from_ms(5);
  facts.language = "ja";
  EXPECT_EQ(try_read(answer_record("x"), facts).value().facts, facts);
}

TEST_F(DocumentReaderFixture, ChunksAndCodingsAreUndone) {
  EXPECT_EQ(env::text_of(read(answer_record("3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n",
                                            "Transfer-Encoding: chunked\r\n"))
                             .content),
            "abcde");
  const std::string packed = gzip_member("<p>packed");
  const Document document = read(answer_record(packed, "Content-Encoding: gzip\r\n"));
  EXPECT_EQ(env::text_of(document.content), "<p>packed");
  EXPECT_EQ(document.cut, "");
  const std::string chunk = fmt::format("{:x}\r\n{}\r\n0\r\n\r\n", packed.size(), packed);
  EXPECT_EQ(env::text_of(read(answer_record(chunk,
                                            "Content-Encoding: gzip\r\n"
                                            "Transfer-Encoding: chunked\r\n"))
                             .content),
            "<p>packed");
}

TEST_F(DocumentReaderFixture, LargeContentIsDecodedInPiecesAndLiesOnDisk) {
  env::MemoryFileSystem fs;
  const auto spool = env::disk_spool(fs);
  const std::string body = noise(3'000'000);
  DocumentReader reader(*spool, kNoLimit);
  for (const std::string& record :
       {answer_record(body), answer_record(gzip_member(body), "Content-Encoding: gzip\r\n")}) {
    for (const std::string& bytes : {record, gzip_member(record)}) {
      const Document document = reader.read({}, ViewFile(bytes)).value();
      EXPECT_TRUE(document.content.is_on_disk());
      EXPECT_TRUE(document.content == body);
      EXPECT_EQ(document.cut, "");
    }
  }
  EXPECT_EQ(spool->memory_bytes(), 0U);
}

TEST_F(DocumentReaderFixture, OneReaderReadsAllKindsOfFilesInTurn) {
  DocumentReader reader(spool_, kNoLimit);
  const std::string arc =
      "http://example.com/arc 1.2.3.4 20200101000000 text/html 45\n" + http_answer("a") + "\n";
  const std::string plain = answer_record("plain");
  const std::string packed = gzip_member(answer_record("packed"));
  const std::string broken = packed.substr(0, packed.size() / 2);
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(env::text_of(reader.read({}, ViewFile(plain)).value().content), "plain");
    EXPECT_FALSE(reader.read({}, ViewFile("no record at all")));
    EXPECT_EQ(env::text_of(reader.read({}, ViewFile(packed)).value().content), "packed");
    EXPECT_EQ(reader.read({}, ViewFile(arc)).value().facts.url, "http://example.com/arc");
    EXPECT_FALSE(reader.read({}, ViewFile(broken)));
  }
}

TEST_F(DocumentReaderFixture, ARecordWithoutAHeadIsItsBlock) {
  const Document resource = read(plain_record("resource", "text/plain; charset=UTF-8", "words"));
  EXPECT_EQ(env::text_of(resource.content), "words");
  EXPECT_EQ(resource.mime, "text/plain");
  EXPECT_EQ(resource.charset, "utf-8");
  EXPECT_EQ(resource.status, 0);
  EXPECT_EQ(resource.facts.url, kUrl);
  const Document metadata = read(plain_record("metadata", "application/warc-fields", "a: b\r\n"));
  EXPECT_EQ(env::text_of(metadata.content), "a: b\r\n");
  EXPECT_EQ(metadata.mime, "application/warc-fields");
}

TEST_F(DocumentReaderFixture, ABrokenCodingGivesWhatComesBefore) {
  const std::string body = noise(500'000);
  std::string packed = gzip_member(body);
  packed[packed.size() - 100] ^= 0x55;
  const Document document = read(answer_record(packed, "Content-Encoding: gzip\r\n"));
  EXPECT_EQ(document.cut, kBrokenCoding);
  const std::string front = env::text_of(document.content);
  EXPECT_GT(front.size(), 300'000U);
  EXPECT_TRUE(body.substr(0, 300'000) == front.substr(0, 300'000));

  packed = gzip_member(body);
  packed.resize(packed.size() / 2);
  const Document half = read(answer_record(packed, "Content-Encoding: gzip\r\n"));
  EXPECT_EQ(half.cut, kEndsEarly);
  EXPECT_TRUE(body.starts_with(env::text_of(half.content)));
  EXPECT_GT(half.content.size(), 100'000U);
}

TEST_F(DocumentReaderFixture, WhereNoCodingCanBeUndoneTheStoredBytesAreHad) {
  const Document mislabelled = read(answer_record("<p>plain", "Content-Encoding: gzip\r\n"));
  EXPECT_EQ(env::text_of(mislabelled.content), "<p>plain");
  EXPECT_EQ(mislabelled.cut, kBrokenCoding);
  const Document unknown = read(answer_record("stored", "Content-Encoding: sdch\r\n"));
  EXPECT_EQ(env::text_of(unknown.content), "stored");
  EXPECT_NE(unknown.cut.find("sdch"), std::string::npos) << unknown.cut;
  // Likewise where it comes in pieces.
  const std::string large = noise(2'000'000);
  const Document pieces = read(answer_record(large, "Content-Encoding: sdch\r\n"));
  EXPECT_TRUE(pieces.content == large);
  EXPECT_NE(pieces.cut, "");
}

TEST_F(DocumentReaderFixture, ContentAboveTheLimitIsCut) {
  const std::string body = noise(100'000);
  for (const std::string& record :
       {answer_record(body), answer_record(gzip_member(body), "Content-Encoding: gzip\r\n")}) {
    const Document document = read(record, 1000);
    EXPECT_TRUE(document.content == std::string_view(body).substr(0, 1000));
    EXPECT_EQ(document.cut, "the content is larger than 1000 bytes");
    EXPECT_EQ(read(record, body.size()).cut, "");
  }
}

TEST_F(DocumentReaderFixture, ABombIsCut) {
  const std::string packed = gzip_member(std::string(50'000'000, 'a'));
  const Document document = read(answer_record(packed, "Content-Encoding: gzip\r\n"));
  EXPECT_NE(document.cut, "");
  EXPECT_LT(document.content.size(), 50'000'000U);
  EXPECT_GE(document.content.size(), 1'000'000U);
}

TEST_F(DocumentReaderFixture, WhatTheRecordLacksIsSaid) {
  EXPECT_EQ(read(answer_record("5\r\nab", "Transfer-Encoding: chunked\r\n")).cut, kEndsEarly);
  EXPECT_EQ(read(answer_record("2\r\nabc\r\nzz", "Transfer-Encoding: chunked\r\n")).cut,
            "the chunks of the content are broken");
  EXPECT_EQ(read(plain_record("resource", "text/plain", "a", "WARC-Truncated: length\r\n")).cut,
            "the content was cut when it was archived");
  const std::string record = answer_record("abcdef");
  const Document cut = read(std::string_view(record).substr(0, record.size() - 7));
  EXPECT_EQ(env::text_of(cut.content), "abc");
  EXPECT_EQ(cut.cut, "the record ends early");
}

TEST_F(DocumentReaderFixture, DamageIsNoDocument) {
  std::string packed = gzip_member(answer_record(noise(10'000)));
  packed[packed.size() - 6] ^= 1;  // of the sum
  const auto damaged = try_read(packed);
  ASSERT_FALSE(damaged);
  EXPECT_EQ(damaged.error().code(), base::ErrorCode::kCorrupt);
  const auto none = try_read("");
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code(), base::ErrorCode::kCorrupt);
  EXPECT_FALSE(try_read("garbage\r\n" + answer_record("x")));
}

TEST_F(DocumentReaderFixture, AnEmptyBodyIsWhole) {
  for (const std::string_view fields :
       {"", "Content-Encoding: gzip\r\n", "Transfer-Encoding: chunked\r\n"}) {
    const Document document = read(answer_record("", fields));
    EXPECT_TRUE(document.content.empty());
    EXPECT_EQ(document.cut, "");
  }
}

}  // namespace
}  // namespace meguri::scan
