#include "web/http_head.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "web/http_text.h"
#include "web/testing.h"

namespace meguri::web {
namespace {

using namespace std::string_literals;

HttpHead response(std::string_view bytes) {
  ParsedHead parsed = parse_head(HeadKind::kResponse, bytes);
  EXPECT_EQ(parsed.state, HeadState::kComplete) << bytes;
  EXPECT_EQ(parsed.head.to_bytes(), bytes.substr(0, parsed.size));
  return parsed.head;
}

HeadState response_state(std::string_view bytes) {
  return parse_head(HeadKind::kResponse, bytes).state;
}

TEST(HttpHead, TheExampleOfRfc9110IsReadWhole) {
  const std::string bytes =
      "HTTP/1.1 200 OK\r\n"
      "Date: Mon, 27 Jul 2009 12:28:53 GMT\r\n"
      "Server: Apache\r\n"
      "Last-Modified: Wed, 22 Jul 2009 19:15:56 GMT\r\n"
      "ETag: \"34aa387-d-1568eb00\"\r\n"
      "Accept-Ranges: bytes\r\n"
      "Content-Length: 51\r\n"
      "Vary: Accept-Encoding\r\n"
      "Content-Type: text/plain\r\n"
      "\r\n";
  const ParsedHead parsed = parse_head(HeadKind::kResponse, bytes + "Hello World!");
  EXPECT_EQ(parsed.state, HeadState::kComplete);
  EXPECT_EQ(parsed.size, bytes.size());
  EXPECT_EQ(parsed.head.version, (HttpVersion{1, 1}));
  EXPECT_EQ(parsed.head.status, 200);
  EXPECT_EQ(parsed.head.reason, "OK");
  EXPECT_EQ(parsed.head.fields.fields().size(), 8);
  EXPECT_EQ(parsed.head.fields.get("content-LENGTH"), "51");
  EXPECT_EQ(parsed.head.fields.get("etag"), "\"34aa387-d-1568eb00\"");
  EXPECT_FALSE(parsed.head.fields.get("Location"));
  EXPECT_TRUE(parsed.head.quirks.empty());
}

TEST(HttpHead, EveryCutGivesTheSame) {
  const std::string bytes =
      "\r\nHTTP/1.1 301 Moved\nLocation: /a\r\nX: 1\r\n  2\r\nbad line\r\nY : z\r\n\r\nbody";
  const ParsedHead whole = parse_head(HeadKind::kResponse, bytes);
  ASSERT_EQ(whole.state, HeadState::kComplete);
  for (std::size_t cut = 0; cut <= bytes.size(); ++cut) {
    HeadParser parser(HeadKind::kResponse);
    std::size_t used = parser.feed(std::string_view(bytes).substr(0, cut));
    used += parser.feed(std::string_view(bytes).substr(used));
    EXPECT_EQ(used, whole.size);
    EXPECT_EQ(parser.state(), HeadState::kComplete);
    EXPECT_EQ(parser.head(), whole.head) << cut;
  }
}

TEST(HttpHead, StatusLinesOfTheWildAreRead) {
  EXPECT_EQ(response("HTTP/1.0 404\r\n\r\n").status, 404);
  EXPECT_TRUE(response("HTTP/1.0 404\r\n\r\n").quirks.has(HeadQuirk::kNoReason));
  EXPECT_FALSE(response("HTTP/1.1 404 \r\n\r\n").quirks.has(HeadQuirk::kNoReason));
  EXPECT_TRUE(response("HTTP/2 200\r\n\r\n").quirks.empty());
  EXPECT_EQ(response("HTTP/2 200\r\n\r\n").version, (HttpVersion{2, 0}));
  EXPECT_TRUE(response("HTTP/2.0 200 OK\r\n\r\n").quirks.has(HeadQuirk::kOddVersion));
  EXPECT_TRUE(response("http/1.1 200 ok\r\n\r\n").quirks.has(HeadQuirk::kLowerCaseName));
  EXPECT_TRUE(response("ICY 200 OK\r\nicy-name: radio\r\n\r\n").quirks.has(HeadQuirk::kIcy));
  EXPECT_EQ(response("ICY 200 OK\r\n\r\n").version, (HttpVersion{1, 0}));
  EXPECT_TRUE(response("HTTP/1.1  200\tOK\r\n\r\n").quirks.has(HeadQuirk::kOddSpacing));
  EXPECT_EQ(response("HTTP/1.1 200OK\r\n\r\n").reason, "OK");
  EXPECT_EQ(response("HTTP/1.1 999 Request denied\r\n\r\n").status, 999);
  EXPECT_EQ(response("HTTP/1.1 200 Ol\xe9\r\n\r\n").reason, "Ol\xe9");
}

TEST(HttpHead, StatusLinesWithoutAStatusAreRefused) {
  for (const std::string_view line :
       {"HTTP/1.1", "HTTP/1.1 ", "HTTP/1.1 OK", "HTTP/1.1 20", "HTTP/1.1 2000 OK",
        "HTTP/1.1 -20 OK", "HTTP/1.1 +200 OK", "HTTP/1.1 099 Low", "HTTP/ 200 OK", "HTTP/1. 200 OK",
        "HTTP/.1 200 OK", "HTTP/1.100 200 OK", "HTTP/4294967297.1 200 OK"}) {
    const std::string bytes = std::string(line) + "\r\nA: b\r\n\r\n";
    const ParsedHead parsed = parse_head(HeadKind::kResponse, bytes);
    EXPECT_EQ(parsed.state, HeadState::kBadStartLine) << line;
    EXPECT_EQ(parsed.head.status, 0);
    EXPECT_EQ(parsed.head.to_bytes(), bytes.substr(0, parsed.size));
  }
}

TEST(HttpHead, BytesWithoutAStatusLineAreAnHttp09Body) {
  for (const std::string_view body :
       {"<html>old</html>", "HTTPS", "Hello\r\n\r\n", "HT\rTP/1.1 200", "\r\n\r\n<p>",
        "\rHTTP/1.1 200 OK\r\n\r\n", "ICYCLE 200"}) {
    const ParsedHead parsed = parse_head(HeadKind::kResponse, body);
    EXPECT_EQ(parsed.state, HeadState::kNotHttp) << body;
    EXPECT_EQ(parsed.head.version, (HttpVersion{0, 9}));
    EXPECT_EQ(parsed.head.to_bytes() + std::string(body.substr(parsed.size)), body);
  }
}

TEST(HttpHead, FoldedLinesAreJoinedAndTheirBytesKept) {
  const HttpHead head = response("HTTP/1.1 200 OK\r\nA: one\r\n \t two\r\n\t\r\nB: \r\n x\r\n\r\n");
  EXPECT_EQ(head.fields.get("A"), "one two");
  EXPECT_EQ(head.fields.get("B"), "x");
  EXPECT_EQ(head.fields.fields()[0].raw, "A: one\r\n \t two\r\n\t\r\n");
  EXPECT_TRUE(head.quirks.has(HeadQuirk::kFolded));
}

TEST(HttpHead, WhiteSpaceBeforeTheFirstFieldMakesItNoField) {
  const HttpHead head = response("HTTP/1.1 200 OK\r\n Evil: 1\r\n\tMore: 2\r\nGood: 3\r\n\r\n");
  EXPECT_FALSE(head.fields.has("Evil"));
  EXPECT_FALSE(head.fields.has("More"));
  EXPECT_EQ(head.fields.get("Good"), "3");
  EXPECT_TRUE(head.quirks.has(HeadQuirk::kSpaceBeforeFirst));
}

TEST(HttpHead, OddLinesAreFlaggedAndKept) {
  const HttpHead head = response(
      "HTTP/1.1 200 OK\r\nLocation : /a\r\nno colon here\r\n: no name\r\nbad name: x\r\n"
      "Empty:\r\n\r\n");
  EXPECT_EQ(head.fields.get("Location"), "/a");
  EXPECT_EQ(head.fields.get("Empty"), "");
  EXPECT_EQ(head.fields.get(""), std::nullopt);
  EXPECT_EQ(head.fields.fields().size(), 5);
  for (const HeadQuirk quirk :
       {HeadQuirk::kSpaceBeforeColon, HeadQuirk::kNoColon, HeadQuirk::kBadName}) {
    EXPECT_TRUE(head.quirks.has(quirk)) << name_of(quirk);
  }
}

TEST(HttpHead, NulAndBareCrBecomeSpacesInValuesAndNeverNames) {
  const HttpHead head =
      response("HTTP/1.1 200 OK\r\nA: x\0y\rSet-Cookie: z\r\n\0Location: /a\r\nB: \x01\r\n\r\n"s);
  EXPECT_EQ(head.fields.get("A"), "x y Set-Cookie: z");
  EXPECT_FALSE(head.fields.has("Location"));
  EXPECT_FALSE(head.fields.has("Set-Cookie"));
  EXPECT_EQ(head.fields.get("B"), "\x01");
  for (const HeadQuirk quirk :
       {HeadQuirk::kNul, HeadQuirk::kBareCr, HeadQuirk::kControl, HeadQuirk::kBadName}) {
    EXPECT_TRUE(head.quirks.has(quirk)) << name_of(quirk);
  }
}

TEST(HttpHead, LineEndsOfAllKindsEndTheHead) {
  EXPECT_TRUE(response("HTTP/1.1 200 OK\nA: b\n\n").quirks.has(HeadQuirk::kBareLf));
  EXPECT_EQ(response("HTTP/1.1 200 OK\nA: b\n\n").fields.get("A"), "b");
  EXPECT_EQ(response("HTTP/1.1 200 OK\r\r\nA: b\r\r\n\r\r\n").fields.get("A"), "b");
}

TEST(HttpHead, RepeatedFieldsKeepTheirOrder) {
  const HttpHead head =
      response("HTTP/1.1 200 OK\r\nVary: a, b\r\nX: 1\r\nvary: \"c, d\" ,,e\r\nVARY:\r\n\r\n");
  EXPECT_EQ(head.fields.all("Vary"), (std::vector<std::string_view>{"a, b", "\"c, d\" ,,e", ""}));
  EXPECT_EQ(head.fields.combined("Vary"), "a, b, \"c, d\" ,,e, ");
  EXPECT_EQ(head.fields.elements("Vary"),
            (std::vector<std::string_view>{"a", "b", "\"c, d\"", "e"}));
}

TEST(HttpHead, ATruncatedHeadKeepsItsWholeLines) {
  const std::string bytes = "HTTP/1.1 302 Found\r\nServer: x\r\nLocation: /lo";
  const ParsedHead parsed = parse_head(HeadKind::kResponse, bytes);
  EXPECT_EQ(parsed.state, HeadState::kTruncated);
  EXPECT_EQ(parsed.head.status, 302);
  EXPECT_EQ(parsed.head.fields.get("Server"), "x");
  EXPECT_FALSE(parsed.head.fields.has("Location"));
  EXPECT_EQ(parsed.head.to_bytes(), bytes);
  EXPECT_EQ(response_state(""), HeadState::kTruncated);
  EXPECT_EQ(response_state("IC"), HeadState::kTruncated);
  EXPECT_EQ(response_state("HTTP/1.1 200 OK"), HeadState::kTruncated);
}

// curl CVE-2023-38039: a server that never stops sending fields.
TEST(HttpHead, FloodsAreCutAtTheLimits) {
  std::string lines = "HTTP/1.1 200 OK\r\n";
  for (int i = 1; i < 200; ++i) lines += "A: b\r\n";
  EXPECT_EQ(response_state(lines + "\r\n"), HeadState::kComplete);
  const ParsedHead many = parse_head(HeadKind::kResponse, lines + "A: b\r\n\r\n");
  EXPECT_EQ(many.state, HeadState::kTooManyLines);
  EXPECT_EQ(many.head.fields.all("A").size(), 199);

  const std::string start = "HTTP/1.1 200 OK\r\nA: ";
  const std::string fits = start + std::string(kHeadBytesMax - start.size() - 4, 'x') + "\r\n\r\n";
  ASSERT_EQ(fits.size(), kHeadBytesMax);
  EXPECT_EQ(response_state(fits), HeadState::kComplete);
  const ParsedHead longer = parse_head(HeadKind::kResponse, start + std::string(1 << 20, 'x'));
  EXPECT_EQ(longer.state, HeadState::kTooLong);
  EXPECT_EQ(longer.size, kHeadBytesMax);

  EXPECT_EQ(response_state(std::string(1 << 20, '\n')), HeadState::kTooManyLines);
  EXPECT_EQ(response_state(std::string(1 << 20, '\r')), HeadState::kTooLong);
  EXPECT_EQ(response_state("HT" + std::string(1 << 20, '\r')), HeadState::kNotHttp);
  EXPECT_EQ(response_state("HTTP/" + std::string(1 << 20, '1')), HeadState::kTooLong);
}

TEST(HttpHead, FeedingByteByByteIsLinear) {
  const std::string bytes = "HTTP/1.1 200 OK\r\nA: " + std::string(200'000, ' ') + "x\r\n\r\n";
  HeadParser parser(HeadKind::kResponse);
  for (const char c : bytes) parser.feed({&c, 1});
  EXPECT_EQ(parser.state(), HeadState::kComplete);
  EXPECT_EQ(parser.head().fields.get("A"), "x");
}

HttpHead request(std::string_view line) {
  const std::string bytes = std::string(line) + "\r\nHost: example.com\r\n\r\n";
  ParsedHead parsed = parse_head(HeadKind::kRequest, bytes);
  EXPECT_EQ(parsed.state, HeadState::kComplete) << line;
  EXPECT_EQ(parsed.head.fields.get("host"), "example.com");
  EXPECT_EQ(parsed.head.to_bytes(), bytes);
  return parsed.head;
}

TEST(HttpHead, RequestLinesAreRead) {
  const HttpHead head = request("GET /hello.txt?a=b HTTP/1.1");
  EXPECT_EQ(head.method, "GET");
  EXPECT_EQ(head.target, "/hello.txt?a=b");
  EXPECT_EQ(head.version, (HttpVersion{1, 1}));
  EXPECT_TRUE(head.quirks.empty());
  EXPECT_EQ(request("OPTIONS * HTTP/1.0").target, "*");
  EXPECT_EQ(request("CONNECT example.com:443 HTTP/1.1").target, "example.com:443");
  EXPECT_TRUE(request("GET /").quirks.has(HeadQuirk::kNoVersion));
  EXPECT_EQ(request("GET /").version, (HttpVersion{0, 9}));
  EXPECT_TRUE(request("GET  /  HTTP/1.1 ").quirks.has(HeadQuirk::kOddSpacing));
  EXPECT_EQ(request("GET  /  HTTP/1.1 ").target, "/");
  EXPECT_TRUE(request("GET /a b HTTP/1.1").quirks.has(HeadQuirk::kSpaceInTarget));
  EXPECT_EQ(request("GET /a b HTTP/1.1").target, "/a b");
  EXPECT_TRUE(request("\r\nGET / HTTP/1.1").quirks.has(HeadQuirk::kLeadingBlankLine));
  for (const std::string_view line : {"GET", " / HTTP/1.1", "G(T / HTTP/1.1", "GET ", "\x16\x03"}) {
    EXPECT_EQ(parse_head(HeadKind::kRequest, std::string(line) + "\r\n\r\n").state,
              HeadState::kBadStartLine)
        << line;
  }
}

TEST(HttpHead, ArchivesRewriteFieldsAndKeepTheOtherBytes) {
  HttpHead head =
      response("HTTP/1.1 200 OK\nserver:x\r\nTransfer-Encoding: chunked\r\nX-A:  b\r\n\r\n");
  EXPECT_EQ(head.fields.rename("transfer-encoding", "X-Archive-Orig-Transfer-Encoding"), 1);
  EXPECT_EQ(head.fields.remove("SERVER"), 1);
  EXPECT_EQ(head.fields.remove("absent"), 0);
  head.fields.add("Content-Length", "5\r\nEvil: yes");
  EXPECT_EQ(head.to_bytes(),
            "HTTP/1.1 200 OK\nX-Archive-Orig-Transfer-Encoding: chunked\r\nX-A:  b\r\n"
            "Content-Length: 5  Evil: yes\r\n\r\n");
}

TEST(HttpHead, HeadsOfOurOwnAreReadBack) {
  HttpHead answer = HttpHead::make_response(503, "Busy\r\nX: y");
  answer.fields.add("Retry-After", "120");
  const HttpHead again = response(answer.to_bytes());
  EXPECT_EQ(again.status, 503);
  EXPECT_EQ(again.fields.fields().size(), 1);
  const HttpHead ask = HttpHead::make_request("GET", "/a");
  EXPECT_EQ(ask.to_bytes(), "GET /a HTTP/1.1\r\n\r\n");
}

TEST(HttpHead, ResponsesOfRealArchivesAreRead) {
  READ_TEST_DATA(warc, "warc/example-iana.org-chunked.warc");
  int heads = 0;
  for (std::size_t at = 0; (at = warc.find("\r\n\r\nHTTP/1.1 ", at)) != std::string::npos;) {
    at += 4;
    const ParsedHead parsed = parse_head(HeadKind::kResponse, std::string_view(warc).substr(at));
    EXPECT_EQ(parsed.state, HeadState::kComplete);
    EXPECT_TRUE(parsed.head.fields.has("Content-Type") || parsed.head.status == 304);
    ++heads;
  }
  EXPECT_GT(heads, 0);
}

TEST(HttpText, NumbersAreStrict) {
  EXPECT_EQ(parse_decimal("18446744073709551615"), 18446744073709551615U);
  EXPECT_EQ(parse_decimal("007"), 7);
  for (const std::string_view text :
       {"", "-1", "+1", " 1", "1 ", "0x1", "1e3", "18446744073709551616", "99999999999999999999"}) {
    EXPECT_FALSE(parse_decimal(text)) << text;
  }
}

}  // namespace
}  // namespace meguri::web
