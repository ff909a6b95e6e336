#include "scan/frames.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

#include "base/testing.h"

namespace meguri::scan {
namespace {

using base::Instant;

DocumentHead head_of_page() {
  DocumentHead head;
  head.facts.number = 300;
  head.facts.url = "http://example.com/\xe3\x81\x82";
  head.facts.time = Instant::from_ms(1'767'225'600'123);
  head.facts.valid = {.begin = Instant::from_ms(-5), .end = Instant::max()};
  head.facts.language = "ja";
  head.bytes = 7000;
  return head;
}

// All frames of some bytes that were fed `step` at a time, as their types and payloads.
std::vector<std::pair<FrameType, std::string>> frames_of(std::string_view bytes, std::size_t step) {
  std::vector<std::pair<FrameType, std::string>> frames;
  FrameReader reader;
  for (std::size_t at = 0; at < bytes.size(); at += step) {
    reader.feed(bytes.substr(at, step));
    for (;;) {
      const auto frame = reader.next().value();
      if (!frame) break;
      frames.emplace_back(frame->type, frame->payload);
    }
  }
  EXPECT_TRUE(reader.is_empty());
  return frames;
}

TEST(Frames, HeadsAreReadAsTheyWereWritten) {
  const DocumentHead document = head_of_page();
  const ResultHead result{.number = 5, .bytes = std::numeric_limits<std::uint64_t>::max()};
  const LostHead lost{.number = 6, .reason = "the record is damaged"};
  const WorkerUsage usage{.idle_ns = 1'000'000'007, .cpu_ns = 3};
  std::string bytes;
  put_document_head(bytes, document);
  put_result_head(bytes, result);
  put_lost(bytes, lost);
  put_usage(bytes, usage);
  const auto frames = frames_of(bytes, bytes.size());
  ASSERT_EQ(frames.size(), 4U);
  EXPECT_EQ(frames[0].first, FrameType::kDocument);
  EXPECT_EQ(parse_document_head(frames[0].second), document);
  EXPECT_EQ(frames[1].first, FrameType::kResult);
  EXPECT_EQ(parse_result_head(frames[1].second), result);
  EXPECT_EQ(frames[2].first, FrameType::kLost);
  EXPECT_EQ(parse_lost(frames[2].second), lost);
  EXPECT_EQ(frames[3].first, FrameType::kUsage);
  EXPECT_EQ(parse_usage(frames[3].second), usage);
}

TEST(Frames, ALengthAndATypeComeBeforeThePayload) {
  std::string bytes;
  put_frame(bytes, FrameType::kSettings, "{}");
  EXPECT_EQ(base::hex_of(bytes), "02000000017b7d");
  EXPECT_EQ(bytes.size(), kFrameHeadBytes + 2);
}

TEST(Frames, CutsOfTheStreamMakeNoDifference) {
  std::string bytes;
  put_document_head(bytes, head_of_page());
  put_bytes(bytes, "some bytes");
  put_frame(bytes, FrameType::kEnd, {});
  const auto whole = frames_of(bytes, bytes.size());
  ASSERT_EQ(whole.size(), 3U);
  for (std::size_t step = 1; step < bytes.size(); ++step) EXPECT_EQ(frames_of(bytes, step), whole);
}

TEST(Frames, ManyBytesTakeSeveralFrames) {
  const std::string many(2 * kFrameBytesMax + 1, 'x');
  std::string bytes;
  put_bytes(bytes, many);
  const auto frames = frames_of(bytes, 10'000);
  ASSERT_EQ(frames.size(), 3U);
  EXPECT_EQ(frames[0].second + frames[1].second + frames[2].second, many);
  EXPECT_EQ(frames[2].second.size(), 1U);
  std::string none;
  put_bytes(none, {});
  EXPECT_TRUE(none.empty());
}

TEST(Frames, AHeadThatIsCutOrTooLongIsNone) {
  std::string bytes;
  put_document_head(bytes, head_of_page());
  const std::string payload = bytes.substr(kFrameHeadBytes);
  for (std::size_t size = 0; size < payload.size(); ++size) {
    EXPECT_EQ(parse_document_head(std::string_view(payload).substr(0, size)), std::nullopt);
  }
  EXPECT_EQ(parse_document_head(payload + "x"), std::nullopt);
  EXPECT_EQ(parse_result_head(payload), std::nullopt);
  EXPECT_EQ(parse_lost(payload), std::nullopt);
  EXPECT_EQ(parse_usage(""), std::nullopt);
}

TEST(Frames, ALongReasonIsCut) {
  std::string bytes;
  put_lost(bytes, {.number = 1, .reason = std::string(1'000'000, 'r')});
  const auto frames = frames_of(bytes, bytes.size());
  const auto lost = parse_lost(frames.at(0).second);
  ASSERT_TRUE(lost);
  EXPECT_EQ(lost->reason, std::string(4096, 'r'));
}

TEST(Frames, WhatIsNoFrameIsCorrupt) {
  FrameReader reader;
  reader.feed("HTTP/1.1 200 OK");
  const auto frame = reader.next();
  ASSERT_FALSE(frame);
  EXPECT_EQ(frame.error().code(), base::ErrorCode::kCorrupt);

  FrameReader other;
  other.feed(std::string("\0\0\0\0\0", 5));
  EXPECT_FALSE(other.next());
}

TEST(Frames, WhatIsLeftOfAFrameIsSeen) {
  std::string bytes;
  put_frame(bytes, FrameType::kEnd, "left");
  FrameReader reader;
  reader.feed(std::string_view(bytes).substr(0, bytes.size() - 1));
  EXPECT_EQ(reader.next().value().has_value(), false);
  EXPECT_FALSE(reader.is_empty());
}

}  // namespace
}  // namespace meguri::scan
