#include "web/http_framing.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace meguri::web {
namespace {

HttpHead head_of(HeadKind kind, std::string_view start, std::string_view fields) {
  const std::string bytes = std::string(start) + "\r\n" + std::string(fields) + "\r\n";
  ParsedHead parsed = parse_head(kind, bytes);
  EXPECT_EQ(parsed.state, HeadState::kComplete) << bytes;
  return parsed.head;
}

BodyFraming response(std::string_view fields, std::string_view start = "HTTP/1.1 200 OK",
                     std::string_view method = "GET") {
  return response_framing(head_of(HeadKind::kResponse, start, fields), method);
}

BodyFraming request(std::string_view fields) {
  return request_framing(head_of(HeadKind::kRequest, "POST / HTTP/1.1", fields));
}

TEST(HttpFraming, SomeResponsesNeverHaveABody) {
  constexpr std::string_view kLength = "Content-Length: 5\r\n";
  for (const std::string_view start : {"HTTP/1.1 100 Continue", "HTTP/1.1 103 Early Hints",
                                       "HTTP/1.1 204 No Content", "HTTP/1.1 304 Not Modified"}) {
    EXPECT_EQ(response(kLength, start).end, BodyEnd::kNone) << start;
    EXPECT_EQ(response("Transfer-Encoding: chunked\r\n", start).end, BodyEnd::kNone) << start;
  }
  EXPECT_EQ(response(kLength, "HTTP/1.1 200 OK", "HEAD").end, BodyEnd::kNone);
  EXPECT_EQ(response(kLength, "HTTP/1.1 200 OK", "CONNECT").end, BodyEnd::kNone);
  EXPECT_EQ(response(kLength, "HTTP/1.1 407 No", "CONNECT").end, BodyEnd::kLength);
}

TEST(HttpFraming, LengthChunksOrTheEndOfTheStreamEndABody) {
  const BodyFraming length = response("Content-Length: 42\r\n");
  EXPECT_EQ(length.end, BodyEnd::kLength);
  EXPECT_EQ(length.length, 42);
  EXPECT_FALSE(length.is_faulty);
  EXPECT_EQ(response("transfer-encoding: Chunked\r\n").end, BodyEnd::kChunked);
  EXPECT_EQ(response("").end, BodyEnd::kClose);
  EXPECT_FALSE(response("").is_faulty);
  EXPECT_EQ(response("", "HTTP/1.0 500 Oops").end, BodyEnd::kClose);
  EXPECT_EQ(request("").end, BodyEnd::kNone);
  EXPECT_EQ(request("Content-Length: 3\r\n").length, 3);
}

TEST(HttpFraming, TransferEncodingOverridesLength) {
  const BodyFraming framing = response("Content-Length: 5\r\nTransfer-Encoding: chunked\r\n");
  EXPECT_EQ(framing.end, BodyEnd::kChunked);
  EXPECT_TRUE(framing.length_overridden);
  EXPECT_TRUE(framing.is_faulty);
}

TEST(HttpFraming, OnlyFinalChunkedIsChunked) {
  const BodyFraming gzip = response("Transfer-Encoding: gzip;q=1, chunked\r\n");
  EXPECT_EQ(gzip.end, BodyEnd::kChunked);
  EXPECT_EQ(gzip.codings, std::vector<std::string>{"gzip"});
  EXPECT_FALSE(gzip.is_faulty);
  EXPECT_EQ(response("Transfer-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n").end,
            BodyEnd::kChunked);

  const BodyFraming first = response("Transfer-Encoding: chunked, gzip\r\n");
  EXPECT_EQ(first.end, BodyEnd::kClose);
  EXPECT_TRUE(first.odd_transfer_coding);
  EXPECT_EQ(response("Transfer-Encoding: xchunked\r\n").end, BodyEnd::kClose);
  EXPECT_TRUE(request("Transfer-Encoding: xchunked\r\n").is_faulty);
  EXPECT_TRUE(response("Transfer-Encoding: chunked, chunked\r\n").odd_transfer_coding);

  const BodyFraming identity = response("Transfer-Encoding: identity\r\nContent-Length: 7\r\n");
  EXPECT_EQ(identity.end, BodyEnd::kLength);
}

TEST(HttpFraming, VersionsWithoutTransferEncodingAreFlagged) {
  const BodyFraming old = response("Transfer-Encoding: chunked\r\n", "HTTP/1.0 200 OK");
  EXPECT_EQ(old.end, BodyEnd::kChunked);
  EXPECT_TRUE(old.is_faulty);
  const BodyFraming two =
      response("Transfer-Encoding: chunked\r\nContent-Length: 9\r\n", "HTTP/2 200");
  EXPECT_EQ(two.end, BodyEnd::kLength);
  EXPECT_TRUE(two.odd_transfer_coding);
}

TEST(HttpFraming, LengthsMustBePlainNumbersAndAgree) {
  using State = ContentLength::State;
  const auto state = [](std::string_view fields) {
    return content_length_of(head_of(HeadKind::kResponse, "HTTP/1.1 200 OK", fields).fields).state;
  };
  EXPECT_EQ(state(""), State::kAbsent);
  EXPECT_EQ(state("Content-Length: 0\r\n"), State::kValid);
  EXPECT_EQ(state("Content-Length: 42, 42\r\nContent-Length: 042\r\n"), State::kValid);
  EXPECT_EQ(state("Content-Length: 18446744073709551615\r\n"), State::kValid);
  EXPECT_EQ(state("Content-Length: 1\r\nContent-Length: 2\r\n"), State::kDiffering);
  EXPECT_EQ(state("Content-Length: 1, 2\r\n"), State::kDiffering);
  for (const std::string_view value : {"", "-1", "+1", "0x10", "1 2", "1,", ",", "12abc", "1.5",
                                       "\"5\"", "18446744073709551616", "-18446744073709551615"}) {
    EXPECT_EQ(state("Content-Length: " + std::string(value) + "\r\n"), State::kInvalid) << value;
  }
  const BodyFraming bad = response("Content-Length: -1\r\n");
  EXPECT_EQ(bad.end, BodyEnd::kClose);
  EXPECT_TRUE(bad.bad_length && bad.is_faulty);
  EXPECT_TRUE(request("Content-Length: 1, 2\r\n").is_faulty);
}

}  // namespace
}  // namespace meguri::web
