#include "crawl/history_reader.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "archive/gzip_writer.h"
#include "archive/warc_record.h"
#include "env/memory_file_system.h"
#include "env/random.h"

namespace meguri::crawl {
namespace {

using base::Instant;

constexpr Instant kNow = Instant::from_ms(1'800'000'000'000);

// A record as anybody may write it.
std::string record_of(std::string_view type, std::string_view fields, std::string_view block) {
  return fmt::format(
      "WARC/1.0\r\nWARC-Type: {}\r\nWARC-Record-ID: <http://others.example/7>\r\n{}"
      "Content-Length: {}\r\n\r\n{}\r\n\r\n",
      type, fields, block.size(), block);
}

std::string response_of(std::string_view url, std::string_view date, std::string_view http,
                        std::string_view more = "") {
  return record_of(
      "response", fmt::format("WARC-Target-URI: {}\r\nWARC-Date: {}\r\n{}", url, date, more), http);
}

struct Reading {
  std::vector<HistoryVisit> visits;
  HistoryCounts counts;
};

base::Result<Reading> try_read(const std::string& bytes) {
  env::MemoryFileSystem files;
  EXPECT_TRUE(files.create("x.warc").value()->append(bytes));
  const auto file = files.open_read("x.warc").value();
  const CrawlOptions options;
  HistoryReader reader(options, kNow);
  Reading reading;
  ASSIGN_OR_RETURN(reading.counts, reader.read(*file, [&](HistoryVisit&& visit) {
    reading.visits.push_back(std::move(visit));
    return base::Status();
  }));
  return reading;
}

Reading read(const std::string& bytes) {
  auto reading = try_read(bytes);
  EXPECT_TRUE(reading) << reading.error().message();
  return reading ? *std::move(reading) : Reading();
}

constexpr std::string_view kPage =
    "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"
    "Last-Modified: Sun, 01 Feb 2026 10:00:00 GMT\r\n\r\n"
    "<title>t</title><p>Some words of this text";

TEST(HistoryReader, ReadsAVisit) {
  const Reading reading =
      read(response_of("HTTP://A.example/%7Ex#y", "2026-02-03T04:05:06Z", kPage));
  ASSERT_EQ(reading.visits.size(), 1U);
  const HistoryVisit& visit = reading.visits[0];
  EXPECT_EQ(visit.url, "http://a.example/~x");
  EXPECT_EQ(visit.date, Instant::parse_rfc3339("2026-02-03T04:05:06Z"));
  EXPECT_EQ(visit.status, 200);
  EXPECT_EQ(visit.digest, archive::Sha1().of("<title>t</title><p>Some words of this text"));
  EXPECT_EQ(visit.last_modified, Instant::parse_rfc3339("2026-02-01T10:00:00Z"));
  ASSERT_TRUE(visit.sketch);
  EXPECT_GT(visit.sketch->words, 3U);
  EXPECT_EQ(reading.counts.records, 1U);
  EXPECT_EQ(reading.counts.damages, 0U);
}

// The body is the same whether its chunks were stored or only the line that tells of them.
TEST(HistoryReader, TakesChunksOffABody) {
  const std::string chunked =
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n6\r\n world\r\n0\r\n\r\n";
  const std::string bare = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nhello world";
  const Reading reading = read(response_of("http://a.example/", "2026-02-03T04:05:06Z", chunked) +
                               response_of("http://a.example/", "2026-02-04T04:05:06Z", bare));
  ASSERT_EQ(reading.visits.size(), 2U);
  EXPECT_EQ(reading.visits[0].digest, archive::Sha1().of("hello world"));
  EXPECT_EQ(reading.visits[1].digest, reading.visits[0].digest);
}

TEST(HistoryReader, ReadsArcFiles) {
  const std::string bytes = fmt::format(
      "filedesc://x.arc 0.0.0.0 20260203040506 text/plain 10\n1 0 Others\n"
      "http://a.example/ 192.0.2.1 20260203040506 text/html {}\n{}\n"
      "dns:a.example 192.0.2.1 20260203040506 text/dns 2\nxy\n",
      kPage.size(), kPage);
  const Reading reading = read(bytes);
  ASSERT_EQ(reading.visits.size(), 1U);
  EXPECT_EQ(reading.visits[0].url, "http://a.example/");
  EXPECT_EQ(reading.visits[0].date, Instant::parse_rfc3339("2026-02-03T04:05:06Z"));
  EXPECT_EQ(reading.visits[0].status, 200);
  EXPECT_EQ(reading.visits[0].digest,
            archive::Sha1().of("<title>t</title><p>Some words of this text"));
  EXPECT_EQ(reading.counts.records, 3U);
  EXPECT_EQ(reading.counts.damages, 0U);
}

// The text of a body counts, however it was packed.
TEST(HistoryReader, UnpacksABodyForItsText) {
  archive::GzipWriter gzip;
  std::string packed;
  gzip.append_member("<p>Some words of this text", {}, {}, &packed);
  const Reading reading = read(
      response_of(
          "http://a.example/", "2026-02-03T04:05:06Z",
          "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Encoding: gzip\r\n\r\n" + packed) +
      response_of("http://a.example/", "2026-02-04T04:05:06Z",
                  "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<p>Some words of this text"));
  ASSERT_EQ(reading.visits.size(), 2U);
  EXPECT_NE(reading.visits[0].digest, reading.visits[1].digest);
  ASSERT_TRUE(reading.visits[0].sketch);
  EXPECT_EQ(reading.visits[0].sketch, reading.visits[1].sketch);
}

TEST(HistoryReader, ReadsRevisitRecords) {
  const std::string at =
      "WARC-Target-URI: http://a.example/\r\nWARC-Date: 2026-02-03T04:05:06Z\r\n";
  const Reading reading = read(
      record_of("revisit",
                at + "WARC-Profile: http://netpreserve.org/warc/1.0/revisit/server-not-modified\r\n"
                     "WARC-Last-Modified: Sun, 01 Feb 2026 10:00:00 GMT\r\n",
                "") +
      record_of(
          "revisit",
          at + "WARC-Profile: http://netpreserve.org/warc/1.0/revisit/identical-payload-digest\r\n"
               "WARC-Payload-Digest: sha1:ABC\r\n",
          "HTTP/1.1 200 OK\r\n\r\n") +
      response_of("http://a.example/", "2026-02-03T04:05:06Z", "HTTP/1.1 200 OK\r\n\r\nx",
                  "WARC-Payload-Digest: SHA1:abc\r\n") +
      response_of("http://a.example/", "2026-02-03T04:05:06Z", "HTTP/1.1 304 Same\r\n\r\n"));
  ASSERT_EQ(reading.visits.size(), 4U);
  EXPECT_TRUE(reading.visits[0].is_not_modified);
  EXPECT_EQ(reading.visits[0].status, 304);
  EXPECT_EQ(reading.visits[0].last_modified, Instant::parse_rfc3339("2026-02-01T10:00:00Z"));
  EXPECT_FALSE(reading.visits[1].is_not_modified);
  EXPECT_EQ(reading.visits[1].status, 200);
  EXPECT_EQ(reading.visits[1].digest, std::nullopt);
  EXPECT_NE(reading.visits[1].said_digest, 0U);
  EXPECT_EQ(reading.visits[1].said_digest, reading.visits[2].said_digest);
  EXPECT_TRUE(reading.visits[3].is_not_modified);
}

TEST(HistoryReader, KnowsRedirectsByWhereTheyLead) {
  const auto to = [](std::string_view location) {
    return response_of("http://a.example/dir/", "2026-02-03T04:05:06Z",
                       fmt::format("HTTP/1.1 301 Moved\r\nLocation: {}\r\n\r\n", location));
  };
  const Reading reading = read(to("/x") + to("http://a.example/x#y") + to("/z"));
  ASSERT_EQ(reading.visits.size(), 3U);
  EXPECT_TRUE(reading.visits[0].target);
  EXPECT_EQ(reading.visits[0].target, reading.visits[1].target);
  EXPECT_NE(reading.visits[0].target, reading.visits[2].target);
}

TEST(HistoryReader, PassesOverWhatIsNoVisitOfAPage) {
  const std::string ok = "HTTP/1.1 200 OK\r\n\r\nx";
  const Reading reading = read(
      record_of("warcinfo", "WARC-Date: 2026-02-03T04:05:06Z\r\n", "software: x\r\n") +
      response_of("http://a.example/robots.txt", "2026-02-03T04:05:06Z", ok) +
      response_of("dns:a.example", "2026-02-03T04:05:06Z", "20260203040506\r\na.example. 1 IN A") +
      response_of("ftp://a.example/x", "2026-02-03T04:05:06Z", ok) +
      response_of("http://a.example/", "2126-02-03T04:05:06Z", ok) +  // it has not come yet
      response_of("http://a.example/", "yesterday", ok) +
      response_of("http://a.example/", "2026-02-03T04:05:06Z", "no HTTP at all") +
      response_of("http://[bad", "2026-02-03T04:05:06Z", ok));
  EXPECT_EQ(reading.visits.size(), 0U);
  EXPECT_EQ(reading.counts.records, 8U);
}

TEST(HistoryReader, ReadsOnBehindDamage) {
  archive::GzipWriter gzip;
  std::string bytes;
  for (int i = 0; i < 3; ++i) {
    std::string member;
    gzip.append_member(
        response_of(fmt::format("http://a.example/{}", i), "2026-02-03T04:05:06Z", kPage), {}, {},
        &member);
    if (i == 1) member[member.size() / 2] = static_cast<char>(member[member.size() / 2] ^ 0x55);
    bytes += member;
  }
  const Reading reading = read(bytes);
  EXPECT_GT(reading.counts.damages, 0U);
  ASSERT_GE(reading.visits.size(), 2U);
  EXPECT_EQ(reading.visits.front().url, "http://a.example/0");
  EXPECT_EQ(reading.visits.back().url, "http://a.example/2");
}

TEST(HistoryReader, SaysWhatIsNoWarcFile) {
  const auto reading = try_read("GIF89a and so on");
  ASSERT_FALSE(reading);
  EXPECT_EQ(reading.error().code(), base::ErrorCode::kInvalid);
  EXPECT_TRUE(try_read(""));  // a file that was just begun
}

}  // namespace
}  // namespace meguri::crawl
