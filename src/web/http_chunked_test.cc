#include "web/http_chunked.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "web/http_head.h"
#include "web/testing.h"

namespace meguri::web {
namespace {

struct Decoded {
  std::string out;
  std::size_t used = 0;
  ChunkedState state = ChunkedState::kMore;
};

Decoded decode(std::string_view bytes) {
  ChunkedDecoder decoder;
  Decoded result;
  result.used = decoder.feed(bytes, &result.out);
  result.state = decoder.finish();
  return result;
}

TEST(HttpChunked, ChunksExtensionsAndTrailersAreRead) {
  const std::string body =
      "4\r\nWiki\r\n6;name=value;q=\"a;b\"\r\npedia \r\nE\r\nin \r\n\r\nchunks.\r\n"
      "0\r\nExpires: never\r\nX: y\r\n\r\n";
  ChunkedDecoder decoder;
  std::string out;
  EXPECT_EQ(decoder.feed(body + "HTTP/1.1 200 OK", &out), body.size());
  EXPECT_EQ(decoder.state(), ChunkedState::kComplete);
  EXPECT_EQ(out, "Wikipedia in \r\n\r\nchunks.");
  EXPECT_EQ(decoder.decoded_bytes(), out.size());
  EXPECT_EQ(decoder.trailers().get("expires"), "never");
  EXPECT_FALSE(decoder.is_sloppy());
  EXPECT_EQ(decoder.feed("more", &out), 0);
  EXPECT_EQ(decoder.finish(), ChunkedState::kComplete);
}

TEST(HttpChunked, EveryCutGivesTheSame) {
  const std::string body = "5;a=b\r\nhello\r\n00a \nxxxxxxxxxx\n0;z\r\nA: b\n\r\nrest";
  const Decoded whole = decode(body);
  EXPECT_EQ(whole.state, ChunkedState::kComplete);
  for (std::size_t cut = 0; cut <= body.size(); ++cut) {
    ChunkedDecoder decoder;
    std::string out;
    std::size_t used = decoder.feed(std::string_view(body).substr(0, cut), &out);
    used += decoder.feed(std::string_view(body).substr(cut), &out);
    EXPECT_EQ(out, whole.out);
    EXPECT_EQ(decoder.state(), whole.state);
    EXPECT_EQ(used, whole.used) << cut;
  }
}

TEST(HttpChunked, EveryTruncationIsAState) {
  const std::string body = "5\r\nhello\r\n3;x\r\nabc\r\n0\r\nA: b\r\n\r\n";
  for (std::size_t size = 0; size < body.size(); ++size) {
    const Decoded part = decode(body.substr(0, size));
    EXPECT_EQ(part.state, ChunkedState::kTruncated) << size;
    EXPECT_TRUE(std::string("helloabc").starts_with(part.out));
  }
  ChunkedDecoder decoder;
  std::string out;
  decoder.feed("1\r\na\r\n0\r\n", &out);
  EXPECT_EQ(decoder.finish(), ChunkedState::kTruncated);
  EXPECT_TRUE(decoder.has_last_chunk());
}

TEST(HttpChunked, SloppyLineEndsAndPaddingAreTaken) {
  ChunkedDecoder decoder;
  std::string out;
  decoder.feed("5   \nhello\n0\n\n", &out);
  EXPECT_EQ(decoder.state(), ChunkedState::kComplete);
  EXPECT_EQ(out, "hello");
  EXPECT_TRUE(decoder.is_sloppy());
}

// wget CVE-2017-13089 and -13090: negative and huge sizes.
TEST(HttpChunked, SizesAreStrict) {
  for (const std::string_view body :
       {"-1\r\nx", "-FFFFFD00\r\nx", "+5\r\nhello\r\n", " 5\r\nhello\r\n", "0x5\r\nhello\r\n",
        "\r\n", "\n", ";ext\r\n", "g\r\n", "5 5\r\n", "5\rX", "5;a\rb\r\n", "5;a\x01\r\n",
        "5;\0\r\n"}) {
    EXPECT_NE(decode(body).state, ChunkedState::kComplete) << body;
    EXPECT_NE(decode(body).state, ChunkedState::kMore) << body;
    EXPECT_EQ(decode(body).out, "") << body;
  }
  EXPECT_EQ(decode("-1\r\n").state, ChunkedState::kBadSize);
  EXPECT_EQ(decode("0x5\r\n").state, ChunkedState::kBadSize);
  EXPECT_EQ(decode("7fffffffffffffff\r\nab").state, ChunkedState::kTruncated);
  EXPECT_EQ(decode("7fffffffffffffff\r\nab").out, "ab");
  EXPECT_EQ(decode("8000000000000000\r\nab").state, ChunkedState::kSizeOverflow);
  EXPECT_EQ(decode("10000000000000005\r\nhello\r\n").state, ChunkedState::kSizeOverflow);
  EXPECT_EQ(decode("0000000000000000000005\r\nhello\r\n0\r\n\r\n").out, "hello");
}

TEST(HttpChunked, DataMustEndWithItsChunk) {
  const Decoded longer = decode("3\r\nabcd\r\n0\r\n\r\n");
  EXPECT_EQ(longer.state, ChunkedState::kBadDataEnd);
  EXPECT_EQ(longer.out, "abc");
  EXPECT_EQ(decode("3\r\nabc\rx").state, ChunkedState::kBadDataEnd);
}

TEST(HttpChunked, LinesExtensionsAndTrailersAreBounded) {
  const std::string line = "1;" + std::string(kChunkLineBytesMax, 'x');
  EXPECT_EQ(decode(line).state, ChunkedState::kLineTooLong);
  EXPECT_EQ(decode(std::string(1 << 20, '0')).state, ChunkedState::kLineTooLong);

  std::string many;
  while (many.size() < 2 * kChunkExtensionBytesMax) {
    many += "1;" + std::string(1000, 'x') + "\r\na\r\n";
  }
  EXPECT_EQ(decode(many).state, ChunkedState::kLineTooLong);

  EXPECT_EQ(decode("0\r\n" + std::string(1 << 20, 'x')).state, ChunkedState::kBadTrailer);
  std::string lines = "0\r\n";
  for (int i = 0; i < 100; ++i) lines += "A: b\r\n";
  EXPECT_EQ(decode(lines).state, ChunkedState::kBadTrailer);
}

TEST(HttpChunked, MillionsOfTinyChunksAreLinear) {
  std::string body;
  for (int i = 0; i < 1'000'000; ++i) body += "1\r\na\r\n";
  const Decoded decoded = decode(body + "0\r\n\r\n");
  EXPECT_EQ(decoded.state, ChunkedState::kComplete);
  EXPECT_EQ(decoded.out.size(), 1'000'000);
}

TEST(HttpChunked, BodiesOfRealArchivesAreDecoded) {
  READ_TEST_DATA(warc, "warc/example-iana.org-chunked.warc");
  const std::size_t at = warc.find("\r\n\r\nHTTP/1.1 200");
  ASSERT_NE(at, std::string::npos);
  const std::string_view record = std::string_view(warc).substr(at + 4);
  const ParsedHead parsed = parse_head(HeadKind::kResponse, record);
  ASSERT_EQ(parsed.head.fields.get("Transfer-Encoding"), "chunked");
  EXPECT_EQ(decode(record.substr(parsed.size)).state, ChunkedState::kComplete);
}

}  // namespace
}  // namespace meguri::web
