// What we write is read back equal, whatever it is.
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "archive/sha1.h"
#include "archive/warc_reader.h"
#include "archive/warc_record.h"
#include "archive/warc_visit.h"
#include "env/memory_file_system.h"
#include "env/random.h"
#include "env/spool_testing.h"
#include "web/http_head.h"
#include "web/http_text.h"

namespace meguri::archive {
namespace {

// Draws exchanges, with servers that send odd heads.
class Exchanges {
 public:
  explicit Exchanges(std::uint64_t seed) : random_(seed) {}

  std::string text(std::uint64_t size_max, std::string_view characters) {
    std::string text;
    const std::uint64_t size = random_.between(0, size_max);
    for (std::uint64_t i = 0; i < size; ++i) text += characters[random_.below(characters.size())];
    return text;
  }

  std::string body() {
    if (random_.chance(0.1)) return {};
    const std::uint64_t size_max = random_.chance(0.03) ? 3'000'000 : 20'000;
    if (random_.chance(0.5)) return text(size_max / 4, "abcdefgh \r\n<>WARC/1.0");
    std::string bytes;
    const std::uint64_t size = random_.between(0, size_max);
    while (bytes.size() < size) bytes += static_cast<char>(random_.below(256));
    return bytes;
  }

  std::string head(std::size_t body_bytes) {
    std::string head = random_.chance(0.8) ? "HTTP/1.1 200 OK\r\n" : "\r\nhttp/1.0  404\n";
    const std::uint64_t fields = random_.below(6);
    for (std::uint64_t i = 0; i < fields; ++i) {
      head += "X-" + text(5, "ab") + ": " + text(30, "abc, \t\"\x80") +
              (random_.chance(0.9) ? "\r\n" : "\n");
    }
    if (random_.chance(0.3)) head += "Transfer-Encoding: chunked\r\n";
    if (random_.chance(0.5)) head += "Content-Length: " + std::to_string(body_bytes) + "\r\n";
    if (random_.chance(0.2)) head += "content-length: 17\r\n";
    if (random_.chance(0.9)) head += "\r\n";
    return head;
  }

  env::Random& random() { return random_; }

 private:
  env::Random random_;
};

struct Written {
  std::string url;
  std::string body;
  std::string wire_head;
  Digest digest;
  RecordId id;
  std::uint64_t offset = 0;
  std::uint64_t first_bytes = 0;
};

// With a spool, from disk.
Written write_one(Exchanges& draw, RecordMaker& maker, env::Spool* spool, std::string* file) {
  Written written;
  written.url = "http://example.com/" + draw.text(3000, "abc/?&=%");
  written.body = draw.body();
  written.wire_head = draw.head(written.body.size());
  written.digest = Sha1().of(written.body);
  if (spool != nullptr) {
    EXPECT_EQ(maker.digest_of(env::spooled(*spool, written.body)), written.digest);
  }
  const auto parsed = web::parse_head(web::HeadKind::kResponse, written.wire_head);
  const std::string request = "GET / HTTP/1.1\r\nHost: " + draw.text(9, "ab") + "\r\n\r\n";
  const Exchange exchange{
      .visit = {.target_uri = written.url,
                .date = base::Instant::from_ms(1'767'225'600'000 +
                                               static_cast<std::int64_t>(file->size())),
                .fetch_time = base::Duration::from_ms(static_cast<std::int64_t>(file->size())),
                .ip_address = "2001:db8::1",
                .via = "http://example.com/",
                .depth = static_cast<std::uint32_t>(file->size()),
                .purpose = "robots"},
      .request_head = request,
      .head = parsed.head,
      .body =
          spool == nullptr ? env::SpooledBytes(written.body) : env::spooled(*spool, written.body),
      .payload_digest = written.digest,
      .truncation = Truncation::kLength,
      .protocol = {}};
  const MadeRecords made = maker.response(exchange, VisitIds::draw(draw.random())).value();
  written.id = made.first_id;
  written.offset = file->size();
  written.first_bytes = made.first_bytes;
  *file += env::text_of(made.bytes);
  return written;
}

void check_response(WarcReader& reader, const Written& written) {
  const WarcRecord& record = reader.record();
  EXPECT_EQ(record.offset, written.offset);
  const auto visit = visit_of(record);
  ASSERT_TRUE(visit);
  EXPECT_EQ(visit->kind, StoredVisitKind::kResponse);
  EXPECT_EQ(visit->id, written.id);
  EXPECT_EQ(visit->target_uri, written.url);
  EXPECT_EQ(visit->date.ms(), 1'767'225'600'000 + static_cast<std::int64_t>(written.offset));
  EXPECT_EQ(visit->fetch_time.ms(), static_cast<std::int64_t>(written.offset));
  EXPECT_EQ(visit->depth, written.offset);
  EXPECT_EQ(visit->purpose, "robots");
  EXPECT_EQ(visit->via, "http://example.com/");
  EXPECT_EQ(visit->ip_address, "2001:db8::1");
  EXPECT_EQ(visit->payload_digest, written.digest);

  const auto head = read_http_head(reader, web::HeadKind::kResponse);
  const auto body = read_rest(reader, std::size_t{1} << 30U);
  ASSERT_TRUE(head && body);
  EXPECT_EQ(head->state, web::HeadState::kComplete);
  EXPECT_TRUE(*body == written.body);
  EXPECT_TRUE(head->head.start_raw.starts_with("HTTP/1."));
  EXPECT_FALSE(head->head.fields.has("Transfer-Encoding"));
  EXPECT_EQ(head->head.fields.all("Content-Length").size(), 1U);
  EXPECT_EQ(web::parse_decimal(head->head.fields.get("Content-Length").value_or("")),
            written.body.size());
  // Nothing else of the server's head is gone.
  const auto wire = web::parse_head(web::HeadKind::kResponse, written.wire_head);
  for (const web::HttpField& field : wire.head.fields.fields()) {
    if (!field.name.starts_with("X-")) continue;
    EXPECT_NE(head->head.to_bytes().find(field.raw), std::string::npos);
  }
  Sha1 sha1;
  sha1.update(head->head.to_bytes());
  sha1.update(*body);
  EXPECT_EQ(record.get("WARC-Block-Digest"), sha1.finish().to_string());
  EXPECT_EQ(record.get("WARC-Payload-Digest"), sha1.of(*body).to_string());
  ASSERT_TRUE(reader.finish());
  EXPECT_EQ(record.faults.to_string(), "");
  EXPECT_EQ(record.length, written.first_bytes);
}

void check_round_trips(RecordOptions options, env::Spool* spool = nullptr) {
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    SCOPED_TRACE(seed);
    Exchanges draw(seed);
    RecordMaker maker(options, spool);
    std::string bytes;
    std::vector<Written> all;
    for (int i = 0; i < 10; ++i) all.push_back(write_one(draw, maker, spool, &bytes));
    const ViewFile file(bytes);
    WarcReader reader(file);
    for (const Written& written : all) {
      ASSERT_TRUE(*reader.next());
      check_response(reader, written);
      ASSERT_TRUE(*reader.next());
      EXPECT_EQ(reader.record().type(), "request");
      EXPECT_EQ(reader.record().get("WARC-Concurrent-To"), written.id.to_string());
      EXPECT_FALSE(visit_of(reader.record()));
    }
    EXPECT_FALSE(*reader.next());
    EXPECT_EQ(reader.record().faults.to_string(), "");
    EXPECT_EQ(reader.sound_end(), bytes.size());

    const Written& last = all.back();  // a record can be read alone
    WarcReader alone(file, last.offset);
    ASSERT_TRUE(*alone.next());
    check_response(alone, last);
  }
}

TEST(WarcRoundTrip, GzipReadsBackEqual) { check_round_trips({}); }

TEST(WarcRoundTrip, PlainReadsBackEqual) {
  check_round_trips({.compression = WarcCompression::kNone});
}

TEST(WarcRoundTrip, BodiesOnDiskReadBackEqual) {
  env::MemoryFileSystem fs;
  const auto spool = env::disk_spool(fs);
  check_round_trips({}, spool.get());
  check_round_trips({.compression = WarcCompression::kNone}, spool.get());
  EXPECT_EQ(fs.used(), 0U);
}

}  // namespace
}  // namespace meguri::archive
