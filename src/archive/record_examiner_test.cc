#include "archive/record_examiner.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

#include "archive/body_reader.h"
#include "archive/member_stream.h"
#include "archive/sha1.h"

namespace meguri::archive {
namespace {

constexpr std::string_view kHead = "HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=x\r\n\r\n";
constexpr std::string_view kChunkedHead = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
constexpr std::string_view kChunks = "3\r\nabc\r\n2;x\r\nde\r\n0\r\n\r\n";

std::string digest_of(std::string_view bytes) { return Sha1().of(bytes).to_string(); }

std::string record_of(std::string_view fields, std::string_view block) {
  return fmt::format(
      "WARC/1.0\r\n{}Content-Type: application/http; msgtype=response\r\nContent-Length: "
      "{}\r\n\r\n{}\r\n\r\n",
      fields, block.size(), block);
}

Examination examined(const std::string& bytes) {
  const ViewFile file(bytes);
  WarcReader reader(file);
  EXPECT_TRUE(*reader.next());
  return *examine(reader);
}

std::string response_with(std::string_view payload_digest, const std::string& block) {
  return record_of(fmt::format("WARC-Type: response\r\nWARC-Block-Digest: {}\r\n"
                               "WARC-Payload-Digest: {}\r\n",
                               digest_of(block), payload_digest),
                   block);
}

TEST(Examine, TellsStatusTypeAndDigests) {
  const std::string block = fmt::format("{}hello", kHead);
  const Examination found = examined(response_with(digest_of("hello"), block));
  EXPECT_EQ(found.status, 200);
  EXPECT_EQ(found.mime, "text/html");
  EXPECT_EQ(found.block_bytes, block.size());
  EXPECT_EQ(found.block.verdict, DigestVerdict::kRight);
  EXPECT_EQ(found.payload.verdict, DigestVerdict::kRight);
}

TEST(Examine, TakesThePayloadDigestWithChunksOrWithout) {
  const std::string block = fmt::format("{}{}", kChunkedHead, kChunks);
  for (const std::string_view payload : {std::string_view("abcde"), kChunks}) {
    const Examination found = examined(response_with(digest_of(payload), block));
    EXPECT_EQ(found.payload.verdict, DigestVerdict::kRight) << payload;
  }
  const Examination found = examined(response_with(digest_of("abcd"), block));
  EXPECT_EQ(found.payload.verdict, DigestVerdict::kWrong);
  EXPECT_EQ(found.payload.computed, digest_of(kChunks));
}

TEST(Examine, ABodyThatOnlySaysItIsChunked) {
  const std::string block = fmt::format("{}<html>", kChunkedHead);
  EXPECT_EQ(examined(response_with(digest_of("<html>"), block)).payload.verdict,
            DigestVerdict::kRight);
}

TEST(Examine, ARevisitNamesTheDigestOfAnother) {
  const std::string block(kHead);
  const Examination found = examined(record_of(
      fmt::format("WARC-Type: revisit\r\nWARC-Payload-Digest: {}\r\n", digest_of("hello")), block));
  EXPECT_EQ(found.payload.verdict, DigestVerdict::kNone);
  EXPECT_EQ(found.status, 200);
}

TEST(Examine, ABlockWithoutAHeadIsThePayload) {
  const std::string block = "no head at all";
  const Examination found = examined(response_with(digest_of(block), block));
  EXPECT_EQ(found.status, 0);
  EXPECT_EQ(found.block.verdict, DigestVerdict::kRight);
  EXPECT_EQ(found.payload.verdict, DigestVerdict::kRight);
  EXPECT_EQ(found.block_bytes, block.size());
}

TEST(BodyReader, PassesOnWhatFollowsABrokenChunk) {
  const std::string bytes =
      record_of("WARC-Type: response\r\n", fmt::format("{}3\r\nabc\r\nzz\r\nrest", kChunkedHead));
  const ViewFile file(bytes);
  WarcReader reader(file);
  ASSERT_TRUE(*reader.next());
  const auto head = read_http_head(reader, web::HeadKind::kResponse);
  BodyReader body(reader, *head);
  std::string plain;
  for (;;) {
    const BodyReader::Piece piece = *body.read();
    if (piece.stored.empty()) break;
    plain += piece.plain;
  }
  EXPECT_TRUE(plain.starts_with("abc") && plain.ends_with("rest")) << plain;
  EXPECT_EQ(body.chunks(), web::ChunkedState::kBadSize);
}

}  // namespace
}  // namespace meguri::archive
