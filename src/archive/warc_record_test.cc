#include "archive/warc_record.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "archive/sha1.h"
#include "archive/stored_head.h"
#include "env/faulty_file_system.h"
#include "env/memory_file_system.h"
#include "env/random.h"
#include "env/spool_testing.h"
#include "web/http_head.h"

namespace meguri::archive {
namespace {

constexpr std::string_view kRequest = "GET /a HTTP/1.1\r\nHost: example.com\r\n\r\n";
const base::Instant date = base::Instant::from_ms(1'767'225'600'123);

RecordId id_of(std::uint8_t number) {
  RecordId id;
  id.bytes.fill(number);
  return id;
}

web::HttpHead head_of(std::string_view bytes) {
  return web::parse_head(web::HeadKind::kResponse, bytes).head;
}

VisitFacts facts() {
  return {.target_uri = "http://example.com/a",
          .date = date,
          .fetch_time = base::Duration::from_ms(42),
          .ip_address = "192.0.2.7",
          .via = "http://example.com/",
          .depth = 1,
          .purpose = {}};
}

RecordMaker plain_maker() { return RecordMaker({.compression = WarcCompression::kNone}); }

std::string stored(std::string_view head, std::optional<std::uint64_t> body_bytes) {
  std::string out;
  append_stored_head(head_of(head), body_bytes, &out);
  return out;
}

TEST(Digest, IsWrittenAsTheArchiveWorldWritesIt) {
  Sha1 sha1;
  EXPECT_EQ(sha1.of("").to_string(), "sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ");
  EXPECT_EQ(sha1.of("abc").to_string(), "sha1:VGMT4NSHA2AWVOR6EVYXQUGCNSONBWE5");
  sha1.update("a");
  sha1.update("bc");
  EXPECT_EQ(sha1.finish(), Sha1().of("abc"));
}

TEST(Digest, IsReadInTheFormsOthersUse) {
  const Digest abc = Sha1().of("abc");
  for (const std::string_view text :
       {"sha1:VGMT4NSHA2AWVOR6EVYXQUGCNSONBWE5", "SHA1:vgmt4nsha2awvor6evyxqugcnsonbwe5",
        "VGMT4NSHA2AWVOR6EVYXQUGCNSONBWE5", "sha1:a9993e364706816aba3e25717850c26c9cd0d89d"}) {
    EXPECT_EQ(Digest::parse(text), abc) << text;
    EXPECT_EQ(Digest::is_as_written(text), text == abc.to_string()) << text;
  }
  EXPECT_FALSE(Digest::is_as_written("sha1:VGMT4NSHA2AWVOR6EVYXQUGCNSONBWE"));
  EXPECT_FALSE(Digest::is_as_written("sha1:VGMT4NSHA2AWVOR6EVYXQUGCNSONBWE1"));
  EXPECT_FALSE(Digest::parse("sha1:"));
  EXPECT_FALSE(Digest::parse("sha1:VGMT4NSHA2AWVOR6EVYXQUGCNSONBWE1"));
  EXPECT_FALSE(Digest::parse("md5:VGMT4NSHA2AWVOR6EVYXQUGCNSONBWE5"));
}

TEST(RecordId, IsARandomUuidOfVersionFour) {
  env::Random random(7);
  const RecordId id = RecordId::draw(random);
  const std::string text = id.to_string();
  ASSERT_EQ(text.size(), 47U);
  EXPECT_EQ(text[24], '4');
  EXPECT_NE(std::string_view("89ab").find(text[29]), std::string_view::npos);
  EXPECT_EQ(RecordId::parse(text), id);
  EXPECT_EQ(RecordId::parse(text.substr(1, 45)), id);
  EXPECT_NE(RecordId::draw(random), id);
  env::Random same(7);
  EXPECT_EQ(RecordId::draw(same), id);
  EXPECT_FALSE(RecordId::parse("<urn:uuid:0101>"));
  EXPECT_FALSE(RecordId::parse("<urn:uuid:01010101_0101-0101-0101-010101010101>"));
}

TEST(StoredHead, KeepsAHeadThatFitsItsBody) {
  constexpr std::string_view kHead =
      "HTTP/1.0 200  odd  reason\r\nserver:x\nCONTENT-LENGTH : 5\r\nno colon\r\nA: b\r\n c\r\n\r\n";
  EXPECT_EQ(stored(kHead, 5), kHead);
}

TEST(StoredHead, HidesWhatFramedTheBody) {
  EXPECT_EQ(stored("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nA: b\r\n\r\n", 5),
            "HTTP/1.1 200 OK\r\nX-Archive-Orig-Transfer-Encoding: chunked\r\nA: b\r\n"
            "Content-Length: 5\r\n\r\n");
  EXPECT_EQ(stored("HTTP/1.1 200 OK\r\nContent-Length: 9\r\ncontent-length: 5\r\n\r\n", 5),
            "HTTP/1.1 200 OK\r\nX-Archive-Orig-Content-Length: 9\r\n"
            "X-Archive-Orig-Content-Length: 5\r\nContent-Length: 5\r\n\r\n");
  EXPECT_EQ(stored("HTTP/1.1 200 OK\r\n\r\n", 0), "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
}

TEST(StoredHead, AddsNoLengthWhereThereIsNoBody) {
  EXPECT_EQ(stored("HTTP/1.1 204 No\r\n\r\n", 0), "HTTP/1.1 204 No\r\n\r\n");
  constexpr std::string_view kNotModified = "HTTP/1.1 304 x\r\nContent-Length: 70\r\n\r\n";
  EXPECT_EQ(stored(kNotModified, std::nullopt), kNotModified);
}

TEST(StoredHead, AlwaysBeginsWithALineOfHttp1) {
  EXPECT_EQ(stored("HTTP/2 200\r\nContent-Length: 1\r\n\r\n", 1),
            "HTTP/1.1 200 \r\nContent-Length: 1\r\n\r\n");
  EXPECT_EQ(stored("ICY 200 OK\r\nContent-Length: 1\r\n\r\n", 1),
            "HTTP/1.0 200 OK\r\nX-Archive-Orig-Status-Line: ICY 200 OK\r\n"
            "Content-Length: 1\r\n\r\n");
  EXPECT_EQ(stored("\r\nhttp/1.1\t200 Fine\nContent-Length: 1\n\n", 1),
            "HTTP/1.1 200 Fine\r\nX-Archive-Orig-Status-Line: http/1.1\t200 Fine\r\n"
            "Content-Length: 1\n\n");
}

TEST(StoredHead, EndsAHeadThatBrokeOff) {
  EXPECT_EQ(stored("HTTP/1.1 204 x\r\nA: b\r\nC", 0), "HTTP/1.1 204 x\r\nA: b\r\nC\r\n\r\n");
  EXPECT_EQ(stored("HTTP/1.1 204 x\r\nA: b\r\n\r", 0), "HTTP/1.1 204 x\r\nA: b\r\n\r\n");
}

TEST(RecordMaker, WritesResponseAndRequest) {
  RecordMaker maker = plain_maker();
  const web::HttpHead head = head_of("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
  const Exchange exchange{.visit = facts(),
                          .request_head = kRequest,
                          .head = head,
                          .body = std::string("hello"),
                          .payload_digest = Sha1().of("hello"),
                          .truncation = Truncation::kTime,
                          .protocol = "h2"};
  const auto made = maker.response(exchange, {.first = id_of(1), .request = id_of(2)});
  ASSERT_TRUE(made);
  EXPECT_EQ(made->bytes.memory(),
            "WARC/1.1\r\n"
            "WARC-Type: response\r\n"
            "WARC-Record-ID: <urn:uuid:01010101-0101-0101-0101-010101010101>\r\n"
            "WARC-Date: 2026-01-01T00:00:00.123Z\r\n"
            "WARC-Target-URI: http://example.com/a\r\n"
            "WARC-IP-Address: 192.0.2.7\r\n"
            "X-Meguri-Via: http://example.com/\r\n"
            "X-Meguri-Depth: 1\r\n"
            "X-Meguri-Fetch-Ms: 42\r\n"
            "WARC-Protocol: h2\r\n"
            "WARC-Truncated: time\r\n"
            "WARC-Payload-Digest: sha1:VL2MMHO4YXUKFWV63YHTWSBM3GXKSQ2N\r\n"
            "WARC-Block-Digest: sha1:GM55RHEUERMHFA5K5YHTRFBTLPFJKBTW\r\n"
            "Content-Type: application/http; msgtype=response\r\n"
            "Content-Length: 86\r\n"
            "\r\n"
            "HTTP/1.1 200 OK\r\n"
            "X-Archive-Orig-Transfer-Encoding: chunked\r\n"
            "Content-Length: 5\r\n"
            "\r\n"
            "hello\r\n"
            "\r\n"
            "WARC/1.1\r\n"
            "WARC-Type: request\r\n"
            "WARC-Record-ID: <urn:uuid:02020202-0202-0202-0202-020202020202>\r\n"
            "WARC-Date: 2026-01-01T00:00:00.123Z\r\n"
            "WARC-Target-URI: http://example.com/a\r\n"
            "WARC-Concurrent-To: <urn:uuid:01010101-0101-0101-0101-010101010101>\r\n"
            "WARC-Block-Digest: sha1:JPQRWHDN4K2M2JOW2HFKK5MJFTLKZYVX\r\n"
            "Content-Type: application/http; msgtype=request\r\n"
            "Content-Length: 38\r\n"
            "\r\n"
            "GET /a HTTP/1.1\r\n"
            "Host: example.com\r\n"
            "\r\n"
            "\r\n"
            "\r\n");
  EXPECT_EQ(made->first_bytes, made->bytes.memory().find("WARC/1.1", 1));
  EXPECT_EQ(made->first_id, id_of(1));
}

TEST(RecordMaker, WritesContentWithoutHttpAsAResource) {
  VisitFacts visit = facts();
  visit.ip_address = {};
  visit.via = {};
  visit.is_fetched = false;
  const PlainContent content{.visit = visit,
                             .content_type = "text/plain",
                             .body = std::string("hello"),
                             .payload_digest = Sha1().of("hello"),
                             .truncation = Truncation::kUnspecified};
  const auto made = plain_maker().resource(content, id_of(1));
  ASSERT_TRUE(made);
  EXPECT_EQ(made->memory(),
            "WARC/1.1\r\n"
            "WARC-Type: resource\r\n"
            "WARC-Record-ID: <urn:uuid:01010101-0101-0101-0101-010101010101>\r\n"
            "WARC-Date: 2026-01-01T00:00:00.123Z\r\n"
            "WARC-Target-URI: http://example.com/a\r\n"
            "WARC-Truncated: unspecified\r\n"
            "WARC-Payload-Digest: sha1:VL2MMHO4YXUKFWV63YHTWSBM3GXKSQ2N\r\n"
            "WARC-Block-Digest: sha1:VL2MMHO4YXUKFWV63YHTWSBM3GXKSQ2N\r\n"
            "Content-Type: text/plain\r\n"
            "Content-Length: 5\r\n"
            "\r\n"
            "hello\r\n"
            "\r\n");
  env::MemoryFileSystem fs;
  const auto spool = env::disk_spool(fs);
  PlainContent on_disk = content;
  on_disk.body = env::spooled(*spool, "hello");
  RecordMaker maker({.compression = WarcCompression::kNone}, spool.get());
  const auto same = maker.resource(on_disk, id_of(1));
  ASSERT_TRUE(same);
  EXPECT_EQ(env::text_of(*same), made->memory());
}

TEST(RecordMaker, WritesTheSameFromDisk) {
  env::FaultyFileSystem fs;
  const auto spool = env::disk_spool(fs);
  RecordMaker maker({.compression = WarcCompression::kNone}, spool.get());
  const web::HttpHead head = head_of("HTTP/1.1 200 OK\r\n\r\n");
  const std::string body(600'000, 'b');
  Exchange exchange{.visit = facts(),
                    .request_head = kRequest,
                    .head = head,
                    .body = body,
                    .payload_digest = Sha1().of(body),
                    .protocol = {}};
  const VisitIds ids{.first = id_of(1), .request = id_of(2)};
  const auto from_memory = maker.response(exchange, ids);
  exchange.body = env::spooled(*spool, body);
  const auto from_disk = maker.response(exchange, ids);
  ASSERT_TRUE(from_memory && from_disk);
  EXPECT_TRUE(from_disk->bytes.is_on_disk());
  EXPECT_EQ(from_disk->first_bytes, from_memory->first_bytes);
  EXPECT_TRUE(env::text_of(from_disk->bytes) == env::text_of(from_memory->bytes));

  // Whatever fails, what comes later is as it should be.
  for (std::uint64_t read = 0; read < 6; ++read) {
    fs.fail_read_after(read, base::ErrorCode::kIo);
    EXPECT_FALSE(maker.response(exchange, ids)) << read;
  }
  for (std::uint64_t change = 0; change < 5; ++change) {
    fs.fail_change_after(change, base::ErrorCode::kNoSpace);
    EXPECT_FALSE(maker.response(exchange, ids)) << change;
  }
  EXPECT_EQ(maker.digest_of(exchange.body), exchange.payload_digest);
  const auto again = maker.response(exchange, ids);
  ASSERT_TRUE(again);
  EXPECT_TRUE(env::text_of(again->bytes) == env::text_of(from_memory->bytes));
}

class Revisit : public ::testing::Test {
 protected:
  RecordMaker maker_ = plain_maker();
  Original original_{.id = id_of(9),
                     .target_uri = "http://example.com/a",
                     .date = date - base::Duration::days(1),
                     .payload_digest = Sha1().of("hello")};
};

TEST_F(Revisit, OfAnIdenticalPayloadIsItsHeadAlone) {
  const web::HttpHead head = head_of("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n");
  const Exchange exchange{.visit = facts(),
                          .request_head = {},
                          .head = head,
                          .body = std::string("hello"),
                          .payload_digest = original_.payload_digest,
                          .protocol = {}};
  const MadeRecords made = maker_.revisit(exchange, original_, RevisitKind::kIdenticalPayload,
                                          {.first = id_of(1), .request = {}});
  EXPECT_EQ(made.bytes.memory(),
            "WARC/1.1\r\n"
            "WARC-Type: revisit\r\n"
            "WARC-Record-ID: <urn:uuid:01010101-0101-0101-0101-010101010101>\r\n"
            "WARC-Date: 2026-01-01T00:00:00.123Z\r\n"
            "WARC-Target-URI: http://example.com/a\r\n"
            "WARC-IP-Address: 192.0.2.7\r\n"
            "X-Meguri-Via: http://example.com/\r\n"
            "X-Meguri-Depth: 1\r\n"
            "X-Meguri-Fetch-Ms: 42\r\n"
            "WARC-Profile: http://netpreserve.org/warc/1.1/revisit/identical-payload-digest\r\n"
            "WARC-Refers-To: <urn:uuid:09090909-0909-0909-0909-090909090909>\r\n"
            "WARC-Refers-To-Target-URI: http://example.com/a\r\n"
            "WARC-Refers-To-Date: 2025-12-31T00:00:00.123Z\r\n"
            "WARC-Truncated: length\r\n"
            "WARC-Payload-Digest: sha1:VL2MMHO4YXUKFWV63YHTWSBM3GXKSQ2N\r\n"
            "WARC-Block-Digest: sha1:GMW3SJM2RXYRHM3EZMEEQTP277YNVKZG\r\n"
            "Content-Type: application/http; msgtype=response\r\n"
            "Content-Length: 38\r\n"
            "\r\n"
            "HTTP/1.1 200 OK\r\n"
            "Content-Length: 5\r\n"
            "\r\n"
            "\r\n"
            "\r\n");
  EXPECT_EQ(made.first_bytes, made.bytes.size());
}

TEST_F(Revisit, OfA304HasTheDigestOfTheVersionItConfirms) {
  const web::HttpHead head =
      head_of("HTTP/1.1 304 Not Modified\r\nContent-Length: 70\r\nETag: \"x\"\r\n\r\n");
  const Exchange exchange{.visit = facts(),
                          .request_head = kRequest,
                          .head = head,
                          .body = {},
                          .payload_digest = Sha1().of(""),
                          .protocol = {}};
  const std::string bytes =
      env::text_of(maker_.revisit(exchange, original_, RevisitKind::kServerNotModified, {}).bytes);
  EXPECT_NE(bytes.find("/revisit/server-not-modified\r\n"), std::string::npos);
  EXPECT_NE(bytes.find("WARC-Payload-Digest: sha1:VL2MMHO4YXUKFWV63YHTWSBM3GXKSQ2N\r\n"),
            std::string::npos);
  EXPECT_EQ(bytes.find("Payload-Digest: sha1:3I42H3S6"), std::string::npos);
  EXPECT_EQ(bytes.find("WARC-Truncated"), std::string::npos);
  // Its head would be replayed in place of the original's.
  EXPECT_NE(bytes.find("WARC-Etag: \"x\"\r\n"), std::string::npos);
  EXPECT_NE(bytes.find("Content-Length: 0\r\n\r\n\r\n\r\n"), std::string::npos);
  EXPECT_EQ(bytes.find("HTTP/1.1 304"), std::string::npos);
}

TEST_F(Revisit, NeverRefersToItselfOrToNothing) {
  const web::HttpHead head = head_of("HTTP/1.1 200 OK\r\n\r\n");
  Exchange exchange{.visit = facts(),
                    .request_head = {},
                    .head = head,
                    .body = std::string("hello"),
                    .payload_digest = original_.payload_digest,
                    .protocol = {}};
  EXPECT_TRUE(may_refer(exchange, original_, RevisitKind::kIdenticalPayload));
  original_.date = date - base::Duration::from_ms(123);
  EXPECT_FALSE(may_refer(exchange, original_, RevisitKind::kIdenticalPayload));
  original_.target_uri = "http://example.com/b";
  EXPECT_TRUE(may_refer(exchange, original_, RevisitKind::kIdenticalPayload));
  exchange.body = {};
  EXPECT_FALSE(may_refer(exchange, original_, RevisitKind::kIdenticalPayload));
  EXPECT_TRUE(may_refer(exchange, original_, RevisitKind::kServerNotModified));
}

TEST(RecordMaker, WritesAFailedFetchAsMetadata) {
  RecordMaker maker = plain_maker();
  VisitFacts visit = facts();
  visit.ip_address = {};
  visit.purpose = "robots";
  const MadeRecords made =
      maker.failure({.visit = visit, .reason = "dns_timeout", .detail = "no\r\nanswer"}, id_of(3));
  EXPECT_EQ(made.bytes.memory(),
            "WARC/1.1\r\n"
            "WARC-Type: metadata\r\n"
            "WARC-Record-ID: <urn:uuid:03030303-0303-0303-0303-030303030303>\r\n"
            "WARC-Date: 2026-01-01T00:00:00.123Z\r\n"
            "WARC-Target-URI: http://example.com/a\r\n"
            "X-Meguri-Via: http://example.com/\r\n"
            "X-Meguri-Depth: 1\r\n"
            "X-Meguri-Fetch-Ms: 42\r\n"
            "X-Meguri-Purpose: robots\r\n"
            "WARC-Block-Digest: sha1:QGZMC2T3I2A2KJTC6YHFI6M7BE6T3VUX\r\n"
            "Content-Type: application/warc-fields\r\n"
            "Content-Length: 101\r\n"
            "\r\n"
            "reason: dns_timeout\r\n"
            "detail: no  answer\r\n"
            "via: http://example.com/\r\n"
            "hopsFromSeed: 1\r\n"
            "fetchTimeMs: 42\r\n"
            "\r\n\r\n");
}

TEST(RecordMaker, WritesWarcinfo) {
  RecordMaker maker = plain_maker();
  EXPECT_EQ(maker.warcinfo({.software = "meguri/0.1.0",
                            .description = "a test",
                            .part_of = {},
                            .operator_name = "Ann",
                            .contact = "ann@example.com",
                            .hostname = {},
                            .robots = "RFC 9309",
                            .user_agent = "meguri"},
                           "x.warc", date, id_of(4)),
            "WARC/1.1\r\n"
            "WARC-Type: warcinfo\r\n"
            "WARC-Record-ID: <urn:uuid:04040404-0404-0404-0404-040404040404>\r\n"
            "WARC-Date: 2026-01-01T00:00:00.123Z\r\n"
            "WARC-Filename: x.warc\r\n"
            "WARC-Block-Digest: sha1:WIALDGQCDELP746NKNTPKQVUQZTJCD4E\r\n"
            "Content-Type: application/warc-fields\r\n"
            "Content-Length: 267\r\n"
            "\r\n"
            "software: meguri/0.1.0\r\n"
            "format: WARC File Format 1.1\r\n"
            "conformsTo: "
            "http://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/\r\n"
            "description: a test\r\n"
            "operator: Ann\r\n"
            "http-header-from: ann@example.com\r\n"
            "robots: RFC 9309\r\n"
            "http-header-user-agent: meguri\r\n"
            "\r\n\r\n");
}

TEST(RecordMaker, LetsNoValueAddALine) {
  RecordMaker maker = plain_maker();
  VisitFacts visit = facts();
  visit.target_uri = "http://example.com/\r\nX: y\xc3\xa9 z";
  visit.via = "http://a/\n";
  visit.purpose = "a\r\nb";
  const std::string bytes =
      env::text_of(maker.failure({.visit = visit, .reason = "r\n", .detail = {}}, {}).bytes);
  EXPECT_NE(bytes.find("WARC-Target-URI: http://example.com/%0D%0AX:%20y%C3%A9%20z\r\n"),
            std::string::npos);
  EXPECT_NE(bytes.find("X-Meguri-Via: http://a/%0A\r\n"), std::string::npos);
  EXPECT_NE(bytes.find("X-Meguri-Purpose: a  b\r\n"), std::string::npos);
  EXPECT_NE(bytes.find("reason: r \r\n"), std::string::npos);
}

}  // namespace
}  // namespace meguri::archive
