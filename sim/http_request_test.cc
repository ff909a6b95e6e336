#include "sim/http_request.h"

#include <gtest/gtest.h>

#include <string>

namespace meguri::sim {
namespace {

// The head must outlive what was read from it.
struct Read {
  explicit Read(const std::string& bytes)
      : parsed(web::parse_head(web::HeadKind::kRequest, bytes)),
        asked(read_request(parsed.head, "http", 1000)) {
    EXPECT_EQ(parsed.state, web::HeadState::kComplete);
  }
  web::ParsedHead parsed;
  AskedFor asked;
};

int refusal_of(const std::string& bytes) { return Read(bytes).asked.refusal; }

TEST(HttpRequest, HasWhatTheWorldIsAsked) {
  const Read read(
      "GET /a?b HTTP/1.1\r\nHost: A.test:81\r\nIf-None-Match: \"x\"\r\n"
      "If-Modified-Since: then\r\nAccept-Encoding: br, GZIP\r\n\r\n");
  EXPECT_EQ(read.asked.refusal, 0);
  EXPECT_EQ(read.asked.request.method, "GET");
  EXPECT_EQ(read.asked.request.origin.host, "A.test");
  EXPECT_EQ(read.asked.request.target, "/a?b");
  EXPECT_EQ(read.asked.request.if_none_match, "\"x\"");
  EXPECT_EQ(read.asked.request.if_modified_since, "then");
  EXPECT_TRUE(read.asked.request.accepts_gzip);
  EXPECT_TRUE(read.asked.keeps_alive);
  EXPECT_FALSE(read.asked.is_http10);
}

TEST(HttpRequest, KnowsWhoStays) {
  const std::string rest = "\r\nHost: a\r\n";
  EXPECT_FALSE(Read("GET / HTTP/1.0" + rest + "\r\n").asked.keeps_alive);
  EXPECT_TRUE(Read("GET / HTTP/1.0" + rest + "Connection: keep-alive\r\n\r\n").asked.keeps_alive);
  EXPECT_TRUE(Read("GET / HTTP/1.1" + rest + "Connection: x\r\n\r\n").asked.keeps_alive);
  EXPECT_FALSE(Read("GET / HTTP/1.1" + rest + "Connection: x, Close\r\n\r\n").asked.keeps_alive);
}

TEST(HttpRequest, TakesTargetsInAbsoluteForm) {
  const Read read("GET HTTP://a.test:80/x?y HTTP/1.1\r\nHost: other.test\r\n\r\n");
  EXPECT_EQ(read.asked.refusal, 0);
  EXPECT_EQ(read.asked.request.origin.host, "a.test");
  EXPECT_EQ(read.asked.request.target, "/x?y");
  const Read bare("GET https://a.test HTTP/1.0\r\n\r\n");
  EXPECT_EQ(bare.asked.refusal, 0);
  EXPECT_EQ(bare.asked.request.target, "/");
  EXPECT_EQ(refusal_of("GET http:/// HTTP/1.1\r\nHost: a\r\n\r\n"), 400);
  EXPECT_EQ(refusal_of("GET ftp://a/ HTTP/1.1\r\nHost: a\r\n\r\n"), 400);
}

TEST(HttpRequest, WeightsOfZeroMeanNo) {
  const std::string front = "GET / HTTP/1.1\r\nHost: a\r\nAccept-Encoding: ";
  EXPECT_FALSE(Read(front + "gzip;q=0\r\n\r\n").asked.request.accepts_gzip);
  EXPECT_FALSE(Read(front + "gzip;q=0.000\r\n\r\n").asked.request.accepts_gzip);
  EXPECT_TRUE(Read(front + "gzip; q=0.001\r\n\r\n").asked.request.accepts_gzip);
  EXPECT_FALSE(Read(front + "identity, *\r\n\r\n").asked.request.accepts_gzip);
}

TEST(HttpRequest, KnowsBodies) {
  const std::string front = "POST / HTTP/1.1\r\nHost: a\r\n";
  const Read sized(front + "Content-Length: 1000\r\n\r\n");
  EXPECT_EQ(sized.asked.refusal, 0);
  EXPECT_EQ(sized.asked.body, web::BodyEnd::kLength);
  EXPECT_EQ(sized.asked.body_bytes, 1000U);
  EXPECT_EQ(Read(front + "Transfer-Encoding: chunked\r\n\r\n").asked.body, web::BodyEnd::kChunked);
  EXPECT_EQ(refusal_of(front + "Content-Length: 1001\r\n\r\n"), 413);
  EXPECT_EQ(refusal_of(front + "Content-Length: -1\r\n\r\n"), 400);
  EXPECT_EQ(refusal_of(front + "Transfer-Encoding: gzip, chunked\r\n\r\n"), 501);
  EXPECT_EQ(refusal_of(front + "Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n"), 400);
}

}  // namespace
}  // namespace meguri::sim
