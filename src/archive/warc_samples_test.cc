// One of each record in a file, for the tests of other readers: see warc_peers_test.py.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "archive/warc_file.h"
#include "archive/warc_reader.h"
#include "archive/warc_record.h"
#include "archive/warc_visit.h"
#include "base/check.h"
#include "env/clock.h"
#include "env/memory_file_system.h"
#include "env/posix_file_system.h"
#include "env/random.h"
#include "env/testing.h"
#include "web/http_head.h"

namespace meguri::archive {
namespace {

const base::Instant start = base::Instant::from_ms(1'767'225'600'123);
constexpr std::string_view kHello = "<html><title>hello</title></html>";

class SampleWriter {
 public:
  SampleWriter(env::FileSystem& fs, const std::string& dir, WarcCompression compression)
      : maker_({.compression = compression}) {
    WarcFileOptions options;
    options.series = {.dir = dir, .prefix = "samples", .instance = "0"};
    options.records.compression = compression;
    options.info.software = "meguri/0.1.0";
    options.info.robots = "RFC 9309";
    writer_ = *WarcWriter::open(fs, clock_, random_.split(), options, std::nullopt);
  }

  // Every kind of record, one visit a minute.
  void write() {
    respond("http://example.com/", "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n", kHello);
    respond("http://example.com/chunked",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Type: text/html\r\n", "hi");
    respond("https://example.com/h2", "HTTP/2 200\r\ncontent-length: 3\r\n", "two", "h2");
    respond("http://example.com/icy", "ICY 200 OK\r\nContent-Length: 99\r\n", "noise", {},
            Truncation::kDisconnect);
    respond("http://example.com/moved", "HTTP/1.1 301 Moved\r\nLocation: /\r\n", "");
    respond("http://example.com/" + std::string(3000, 'x'), "HTTP/1.0 404\r\n", "no");
    respond("http://example.com/caf\xc3\xa9", "HTTP/1.1 200 OK\r\n", std::string(300'000, '\0'));
    revisit(RevisitKind::kIdenticalPayload, "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n",
            kHello);
    revisit(RevisitKind::kServerNotModified, "HTTP/1.1 304 Not Modified\r\nETag: \"x\"\r\n", "");
    const FailedFetch failed{.visit = facts("http://gone.example/"),
                             .reason = "dns_not_found",
                             .detail = "no such name"};
    append(maker_.failure(failed, RecordId::draw(random_)));
    CHECK(writer_->sync().has_value());
  }

  const WarcPosition& position() const { return writer_->position(); }

 private:
  VisitFacts facts(std::string_view url) {
    clock_.advance(base::Duration::minutes(1));
    return {.target_uri = url,
            .date = start + (clock_.utc() - env::VirtualClock().utc()),
            .fetch_time = base::Duration::from_ms(12),
            .ip_address = "192.0.2.1",
            .via = "http://example.com/",
            .depth = 1,
            .purpose = {}};
  }

  void respond(std::string_view url, std::string_view fields, std::string_view body,
               std::string_view protocol = {}, Truncation truncation = Truncation::kNone) {
    const auto parsed = parse(fields);
    const Exchange exchange{.visit = facts(url),
                            .request_head = kRequest,
                            .head = parsed.head,
                            .body = std::string(body),
                            .payload_digest = Sha1().of(body),
                            .truncation = truncation,
                            .protocol = protocol};
    const MadeRecords made = maker_.response(exchange, VisitIds::draw(random_)).value();
    if (!original_) {
      original_ = {.id = made.first_id,
                   .target_uri = "http://example.com/",
                   .date = exchange.visit.date,
                   .payload_digest = exchange.payload_digest};
    }
    append(made);
  }

  void revisit(RevisitKind kind, std::string_view fields, std::string_view body) {
    const auto parsed = parse(fields);
    const Exchange exchange{.visit = facts("http://example.com/"),
                            .request_head = kRequest,
                            .head = parsed.head,
                            .body = std::string(body),
                            .payload_digest = Sha1().of(body),
                            .protocol = {}};
    append(maker_.revisit(exchange, *original_, kind, VisitIds::draw(random_)));
  }

  static web::ParsedHead parse(std::string_view fields) {
    return web::parse_head(web::HeadKind::kResponse, fmt::format("{}\r\n", fields));
  }

  void append(const MadeRecords& made) { CHECK(writer_->append(made.bytes).has_value()); }

  static constexpr std::string_view kRequest = "GET / HTTP/1.1\r\nHost: example.com\r\n\r\n";

  env::VirtualClock clock_;
  env::Random random_{2026};
  RecordMaker maker_;
  std::unique_ptr<WarcWriter> writer_;
  std::optional<Original> original_;
};

void write_samples(const std::string& dir) {
  env::PosixFileSystem fs;
  SampleWriter(fs, dir, WarcCompression::kGzip).write();
  SampleWriter(fs, dir, WarcCompression::kNone).write();
}

const env::ChildProgram samples("write_warc_samples", write_samples);

TEST(WarcSamples, HoldEachKindOfRecord) {
  env::MemoryFileSystem fs;
  SampleWriter writer(fs, "d", WarcCompression::kGzip);
  writer.write();
  const auto file = fs.open_read("d/" + writer.position().file);
  ASSERT_TRUE(file);
  WarcReader reader(**file);
  std::vector<std::string> types;
  while (*reader.next()) types.emplace_back(reader.record().type());
  std::vector<std::string> expected = {"warcinfo"};
  for (int i = 0; i < 7; ++i) expected.insert(expected.end(), {"response", "request"});
  for (int i = 0; i < 2; ++i) expected.insert(expected.end(), {"revisit", "request"});
  expected.emplace_back("metadata");
  EXPECT_EQ(types, expected);
  EXPECT_EQ(reader.sound_end(), writer.position().offset);
}

TEST(WarcSamples, TellOfTheirVisitsAgain) {
  env::MemoryFileSystem fs;
  SampleWriter writer(fs, "d", WarcCompression::kGzip);
  writer.write();
  const auto file = fs.open_read("d/" + writer.position().file);
  ASSERT_TRUE(file);
  WarcReader reader(**file);
  std::vector<StoredVisit> visits;
  while (*reader.next()) {
    if (auto visit = visit_of(reader.record())) visits.push_back(*std::move(visit));
  }
  ASSERT_EQ(visits.size(), 10U);
  for (std::size_t i = 0; i < visits.size(); ++i) {
    const auto minutes = static_cast<std::int64_t>(i) + 1;
    EXPECT_EQ(visits[i].date, start + base::Duration::minutes(minutes));
    EXPECT_EQ(visits[i].fetch_time, base::Duration::from_ms(12));
    EXPECT_EQ(visits[i].depth, 1U);
    EXPECT_EQ(visits[i].is_not_modified, i == 8);
  }
  EXPECT_EQ(visits[6].target_uri, "http://example.com/caf%C3%A9");
  EXPECT_EQ(visits[7].kind, StoredVisitKind::kRevisit);
  EXPECT_EQ(visits[8].kind, StoredVisitKind::kRevisit);
  EXPECT_EQ(visits[8].payload_digest, visits[0].payload_digest);
  EXPECT_EQ(visits[9].kind, StoredVisitKind::kFailure);
  EXPECT_EQ(visits[9].target_uri, "http://gone.example/");
  EXPECT_EQ(visits[9].payload_digest, std::nullopt);
}

}  // namespace
}  // namespace meguri::archive
