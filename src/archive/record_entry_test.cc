#include "archive/record_entry.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "archive/member_stream.h"
#include "archive/warc_record.h"
#include "env/random.h"
#include "env/spool_testing.h"

namespace meguri::archive {
namespace {

const base::Instant date = base::Instant::from_ms(1'767'225'600'123);
constexpr std::string_view kPage =
    "HTTP/1.1 200 OK\r\nContent-Type: Text/HTML; charset=utf-8\r\n\r\n";

VisitFacts facts(std::string_view url = "http://example.com/a") {
  return {.target_uri = url,
          .date = date,
          .fetch_time = base::Duration::from_ms(42),
          .ip_address = "192.0.2.7",
          .via = {},
          .purpose = {}};
}

web::HttpHead head_of(std::string_view bytes) {
  return web::parse_head(web::HeadKind::kResponse, bytes).head;
}

// The entries of all records in these bytes.
std::vector<IndexEntry> entries_in(std::string_view bytes) {
  const ViewFile file(bytes);
  WarcReader reader(file);
  EntryReader entries;
  std::vector<IndexEntry> found;
  while (reader.next().value()) {
    if (auto entry = entries.read(reader).value()) {
      EXPECT_TRUE(reader.finish());
      entry->place.length = reader.record().length;
      found.push_back(*std::move(entry));
    }
  }
  return found;
}

// The entry as it was made with the record, at the beginning of a file.
IndexEntry made_entry(const MadeRecords& made) {
  IndexEntry entry = made.entry;
  entry.place.length = made.first_bytes;
  return entry;
}

class RecordEntry : public ::testing::Test {
 protected:
  Exchange exchange(const web::HttpHead& head, std::string body, VisitFacts visit) {
    const Digest digest = maker_.digest_of(env::SpooledBytes(body)).value();
    return {.visit = visit,
            .request_head = "GET /a HTTP/1.1\r\nHost: example.com\r\n\r\n",
            .head = head,
            .body = std::move(body),
            .payload_digest = digest,
            .protocol = {}};
  }
  // Made and read it is the same.
  IndexEntry expect_same(const MadeRecords& made) {
    const std::string bytes = env::text_of(made.bytes);
    const auto read = entries_in(bytes);
    EXPECT_EQ(read.size(), 1U);
    if (read.size() == 1) {
      EXPECT_EQ(read[0], made_entry(made));
    }
    return made.entry;
  }
  IndexEntry of_response(std::string_view head_bytes, std::string body,
                         VisitFacts visit = facts()) {
    const web::HttpHead head = head_of(head_bytes);
    return expect_same(
        maker_.response(exchange(head, std::move(body), visit), VisitIds::draw(random_)).value());
  }

  RecordMaker maker_;
  env::Random random_{3};
};

TEST_F(RecordEntry, OfAResponseIsTheSameMadeOrRead) {
  VisitFacts visit = facts();
  visit.language = "ja";
  visit.counts = false;
  const IndexEntry entry = of_response(kPage, "<p>a", visit);
  EXPECT_EQ(entry.url, "http://example.com/a");
  EXPECT_EQ(entry.date, date);
  EXPECT_EQ(entry.kind, EntryKind::kChanged);
  EXPECT_EQ(entry.status, 200);
  EXPECT_EQ(entry.mime, "text/html");
  EXPECT_EQ(entry.language, "ja");
  EXPECT_FALSE(entry.counts);
  EXPECT_EQ(entry.digest, Sha1().of("<p>a").to_string());
}

TEST_F(RecordEntry, ToldByTheStatus) {
  const auto kind_of = [this](int status, std::string_view fields = "") {
    return of_response(fmt::format("HTTP/1.1 {} X\r\n{}\r\n", status, fields), "").kind;
  };
  EXPECT_EQ(kind_of(206), EntryKind::kChanged);
  EXPECT_EQ(kind_of(404), EntryKind::kGone);
  EXPECT_EQ(kind_of(410), EntryKind::kGone);
  EXPECT_EQ(kind_of(403), EntryKind::kError);
  EXPECT_EQ(kind_of(503), EntryKind::kError);
  EXPECT_EQ(kind_of(304), EntryKind::kUnchanged);
  EXPECT_EQ(kind_of(301), EntryKind::kError) << "it leads nowhere";
  EXPECT_EQ(kind_of(301, "Location: /b\r\n"), EntryKind::kChanged);
  const auto leads_to = [this](std::string_view target) {
    return of_response(fmt::format("HTTP/1.1 302 X\r\nLocation: {}\r\n\r\n", target), "").target;
  };
  EXPECT_NE(leads_to("/b"), 0U);
  EXPECT_NE(leads_to("/b"), leads_to("/c"));
  EXPECT_EQ(leads_to("/b"), leads_to("/b"));
}

TEST_F(RecordEntry, OfARevisitRefersToItsOwnPageOrToAnother) {
  const web::HttpHead head = head_of(kPage);
  const Exchange visit = exchange(head, "<p>a", facts());
  Original original{.id = RecordId::draw(random_),
                    .target_uri = "http://example.com/a",
                    .date = date - base::Duration::hours(1),
                    .payload_digest = visit.payload_digest};
  const auto ids = VisitIds::draw(random_);
  IndexEntry entry =
      expect_same(maker_.revisit(visit, original, RevisitKind::kIdenticalPayload, ids));
  EXPECT_EQ(entry.kind, EntryKind::kUnchanged);
  EXPECT_FALSE(entry.is_not_modified);
  EXPECT_FALSE(entry.is_cut);
  EXPECT_EQ(entry.mime, "text/html");

  entry = expect_same(maker_.revisit(visit, original, RevisitKind::kServerNotModified, ids));
  EXPECT_EQ(entry.kind, EntryKind::kUnchanged);
  EXPECT_TRUE(entry.is_not_modified);
  EXPECT_EQ(entry.status, 304);
  EXPECT_EQ(entry.digest, visit.payload_digest.to_string());

  original.target_uri = "http://other.example/";
  entry = expect_same(maker_.revisit(visit, original, RevisitKind::kIdenticalPayload, ids));
  EXPECT_EQ(entry.kind, EntryKind::kChanged);
  ASSERT_TRUE(entry.original);
  EXPECT_EQ(entry.original->url, "http://other.example/");
  EXPECT_EQ(entry.original->date, original.date);

  entry = expect_same(maker_.revisit(visit, original, RevisitKind::kServerNotModified, ids));
  EXPECT_EQ(entry.kind, EntryKind::kUnchanged);
  EXPECT_TRUE(entry.original);
}

TEST_F(RecordEntry, OfAFailedFetchIsAnError) {
  const IndexEntry entry = expect_same(
      maker_.failure({.visit = facts("http://h/\x01\xff x"), .reason = "x", .detail = {}},
                     RecordId::draw(random_)));
  EXPECT_EQ(entry.kind, EntryKind::kError);
  EXPECT_EQ(entry.status, 0);
  EXPECT_EQ(entry.url, "http://h/%01%FF%20x");
}

std::string record_of(std::string_view type, std::string_view fields, std::string_view block) {
  return fmt::format(
      "WARC/1.0\r\nWARC-Type: {}\r\nWARC-Date: 2024-05-06T07:08:09Z\r\n"
      "WARC-Record-ID: <urn:uuid:1>\r\n{}Content-Length: {}\r\n\r\n{}\r\n\r\n",
      type, fields, block.size(), block);
}

constexpr std::string_view kHttp =
    "WARC-Target-URI: <http://example.com/x>\r\nContent-Type: application/http\r\n";

TEST(EntryReader, TakesADigestThatIsNotSaid) {
  const auto entries = entries_in(
      record_of("response", kHttp,
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n"));
  ASSERT_EQ(entries.size(), 1U);
  EXPECT_EQ(entries[0].url, "http://example.com/x");
  EXPECT_EQ(entries[0].digest, Sha1().of("abc").to_string()) << "without its chunks";
  EXPECT_EQ(entries[0].date.to_digits(), "20240506070809");
}

TEST(EntryReader, KnowsWhatIsNoVisit) {
  const std::string http(kHttp);
  EXPECT_TRUE(entries_in(record_of("request", http, "GET / HTTP/1.1\r\n\r\n")).empty());
  EXPECT_TRUE(entries_in(record_of("metadata", http, "a: b\r\n")).empty());
  EXPECT_TRUE(entries_in(record_of("conversion", http, "text")).empty());
  EXPECT_TRUE(entries_in(record_of("response", "", "HTTP/1.1 200 OK\r\n\r\n")).empty());
  const auto resources = entries_in(
      record_of("resource", "WARC-Target-URI: urn:x:1\r\nContent-Type: image/png\r\n", "png"));
  ASSERT_EQ(resources.size(), 1U);
  EXPECT_EQ(resources[0].mime, "image/png");
  EXPECT_EQ(resources[0].kind, EntryKind::kChanged);
  const auto names = entries_in(
      record_of("response", "WARC-Target-URI: dns:a.b\r\nContent-Type: text/dns\r\n", "1.2.3.4"));
  ASSERT_EQ(names.size(), 1U);
  EXPECT_EQ(names[0].mime, "text/dns");
}

TEST(EntryReader, ReadsDigestsAndLanguagesAsOthersWriteThem) {
  const auto entries = entries_in(
      record_of("response",
                std::string(kHttp) +
                    "WARC-Payload-Digest: sha1:a9993e364706816aba3e25717850c26c9cd0d89d\r\n"
                    "WARC-Identified-Content-Language: jpn,eng\r\nWARC-Truncated: length\r\n",
                "HTTP/1.1 200 OK\r\n\r\nabc"));
  ASSERT_EQ(entries.size(), 1U);
  EXPECT_EQ(entries[0].digest, "sha1:VGMT4NSHA2AWVOR6EVYXQUGCNSONBWE5");
  EXPECT_EQ(entries[0].language, "jpn");
  EXPECT_TRUE(entries[0].is_cut);
  EXPECT_EQ(entry_digest_of("sha256:AB"), "sha256:AB");
}

}  // namespace
}  // namespace meguri::archive
