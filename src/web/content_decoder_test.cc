#include "web/content_decoder.h"

#include <gtest/gtest.h>
#include <zlib.h>
#include <zstd.h>

#include <string>
#include <string_view>

namespace meguri::web {
namespace {

constexpr int kGzipBits = MAX_WBITS + 16;

std::string deflated(std::string_view text, int window_bits) {
  z_stream stream = {};
  EXPECT_EQ(deflateInit2(&stream, 6, Z_DEFLATED, window_bits, 8, Z_DEFAULT_STRATEGY), Z_OK);
  std::string out(deflateBound(&stream, text.size()) + 64, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

std::string gzip(std::string_view text) { return deflated(text, kGzipBits); }

std::string zstd(std::string_view text, int window_log = 0) {
  ZSTD_CCtx* context = ZSTD_createCCtx();
  if (window_log != 0) ZSTD_CCtx_setParameter(context, ZSTD_c_windowLog, window_log);
  ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1);
  std::string out(ZSTD_compressBound(text.size()) + 64, '\0');
  ZSTD_inBuffer input = {text.data(), text.size(), 0};
  ZSTD_outBuffer output = {out.data(), out.size(), 0};
  // Continuing first keeps the size out of the frame, so that the window decides.
  ZSTD_compressStream2(context, &output, &input, ZSTD_e_continue);
  EXPECT_EQ(ZSTD_compressStream2(context, &output, &input, ZSTD_e_end), 0U);
  out.resize(output.pos);
  ZSTD_freeCCtx(context);
  return out;
}

std::string sample() {
  std::string text;
  for (int i = 0; i < 40'000; ++i) text += std::to_string(i * 7919) + (i % 5 == 0 ? "\n" : " <p>");
  return text;
}

// Packing them takes most of the time of these tests, so it is done once.
const std::string& hundred_million_zeros() {
  static const std::string zeros = [] {
    std::string bytes;
    bytes.resize(100'000'000);
    return bytes;
  }();
  return zeros;
}
const std::string& gzip_bomb() {
  static const std::string bomb = gzip(hundred_million_zeros());
  return bomb;
}

// "Meguri reads brotli, brotli, brotli."
const std::string brotli_text(
    "\x1b\x23\x00\xf8\x8d\x94\xab\xed\x68\xd1\xa4\x37\xbc\x5e\xfd\x72\xfe\x44\x52\x4a\x0d\xa5\x88"
    "\x54\xe1\x40\x15\xf9\x28\x42\xa8\x2f\x19\xe6\xba\x98\x00",
    37);

// A hundred million zero bytes.
const std::string brotli_bomb(
    "\xcb\xff\xff\x3f\xf8\x27\x00\xe2\xb1\x40\x20\xf7\xfe\x8f\xff\xff\x7f\xf0\x4f\x00\xc4\x61\x11"
    "\x80\xee\xfd\x1f\xff\xff\xff\xe0\x9f\x00\x88\xc3\x02\x00\xdd\xfb\x3f\xfe\xff\xff\xc1\x3f\x01"
    "\x10\x87\x05\x00\xba\xf7\x7f\xfc\xff\xff\x83\x7f\x02\x20\x0e\x0b\x00\x74\xef\xff\xf8\xff\xff"
    "\x07\xff\x04\x40\x1c\x16\x00\xe8\xde\xff\xf1\xff\xff\x0f\xfe\x09\x80\x38\x2c\x00\xd0\xbd\xff"
    "\xe3\xff\xff\x1f\xfc\x13\x00\x71\x58\x00\xa0\x7b\xff\xc7\xff\xff\x3f\xf8\x27\x00\xe2\xb0\x00"
    "\x40\xf7\xfe\x8f\xff\xff\x7f\xf0\x4f\x00\xc4\x61\x01\x80\xee\xfd\x1f\xff\xff\xff\xe0\x9f\x00"
    "\x88\xc3\x02\x00\xdd\xfb\xbf\xfc\x07\xaf\xc3\x3f\x01\x10\x87\x05\x00\xba\xd8\x75",
    158);

void expect_complete(std::string_view bytes, std::string_view encoding, std::string_view text) {
  const DecodedContent whole = decode_content(bytes, encoding);
  EXPECT_EQ(whole.outcome, DecodeOutcome::kComplete) << encoding;
  EXPECT_TRUE(whole.bytes == text) << encoding;
  EXPECT_FALSE(whole.has_trailing_bytes);
  for (const std::size_t piece : {1U, 2U, 3U, 7U, 1000U}) {
    ContentDecoder decoder(parse_content_codings(encoding), {});
    std::string out;
    for (std::size_t at = 0; at < bytes.size(); at += piece) {
      ASSERT_EQ(decoder.feed(bytes.substr(at, piece), &out), DecodeOutcome::kMore);
    }
    EXPECT_EQ(decoder.finish(), DecodeOutcome::kComplete);
    EXPECT_TRUE(out == text) << encoding << " in pieces of " << piece;
  }
}

TEST(ContentDecoder, EveryCodingIsUndoneHoweverItIsCut) {
  const std::string text = sample();
  expect_complete(gzip(text), "gzip", text);
  expect_complete(gzip(text), "X-GZIP", text);
  expect_complete(deflated(text, MAX_WBITS), "deflate", text);
  expect_complete(deflated(text, -MAX_WBITS), "deflate", text);
  expect_complete(zstd(text), "zstd", text);
  expect_complete(brotli_text, "br", "Meguri reads brotli, brotli, brotli.");
  expect_complete(text, "", text);
  expect_complete(text, "identity, utf-8", text);
  expect_complete(gzip(text), "identity, gzip", text);
}

TEST(ContentDecoder, EmptyTextsAreDecodedInEveryCoding) {
  for (const std::string_view encoding : {"gzip", "deflate", "br", "zstd", "", "gzip, br"}) {
    expect_complete("", encoding, "");
  }
  expect_complete(gzip(""), "gzip", "");
  expect_complete(deflated("", MAX_WBITS), "deflate", "");
  expect_complete(deflated("", -MAX_WBITS), "deflate", "");
  expect_complete(zstd(""), "zstd", "");
  expect_complete("\x06", "br", "");
}

TEST(ContentDecoder, TheCodingAppliedLastIsUndoneFirst) {
  const std::string text = sample();
  expect_complete(zstd(gzip(text)), "gzip, zstd", text);
  expect_complete(gzip(brotli_text), "br, gzip", "Meguri reads brotli, brotli, brotli.");
  EXPECT_EQ(decode_content(zstd(gzip(text)), "zstd, gzip").outcome, DecodeOutcome::kCorrupt);
}

TEST(ContentDecoder, MembersAndFramesMayFollowEachOther) {
  expect_complete(gzip("one ") + gzip("") + gzip("two"), "gzip", "one two");
  const std::string skippable("\x5A\x2A\x4D\x18\x03\x00\x00\x00xyz", 11);
  expect_complete(zstd("one ") + skippable + zstd("two"), "zstd", "one two");
}

TEST(ContentDecoder, BytesBehindTheEndAreIgnoredAndReported) {
  for (const std::string_view junk : {"\0", "\x1f", "\x28", "junk", "\x1fjunk", "\x28\xb5junk"}) {
    const std::string rest = junk.empty() ? std::string(100, '\0') : std::string(junk);
    for (const auto& [bytes, encoding] :
         {std::pair{gzip("text"), "gzip"}, std::pair{deflated("text", MAX_WBITS), "deflate"},
          std::pair{deflated("text", -MAX_WBITS), "deflate"}, std::pair{zstd("text"), "zstd"}}) {
      const DecodedContent decoded = decode_content(bytes + rest, encoding);
      EXPECT_EQ(decoded.outcome, DecodeOutcome::kComplete) << encoding;
      EXPECT_EQ(decoded.bytes, "text");
      EXPECT_TRUE(decoded.has_trailing_bytes) << encoding;
    }
    EXPECT_TRUE(decode_content(brotli_text + rest, "br").has_trailing_bytes);
  }
}

TEST(ContentDecoder, EveryTruncationKeepsWhatCame) {
  const std::string text = sample().substr(0, 3000);
  for (const auto& [bytes, encoding] :
       {std::pair{gzip(text), "gzip"}, std::pair{deflated(text, MAX_WBITS), "deflate"},
        std::pair{deflated(text, -MAX_WBITS), "deflate"}, std::pair{zstd(text), "zstd"},
        std::pair{brotli_text, "br"}, std::pair{zstd(gzip(text)), "gzip, zstd"}}) {
    for (std::size_t size = 1; size < bytes.size(); ++size) {
      const DecodedContent part = decode_content(bytes.substr(0, size), encoding);
      ASSERT_EQ(part.outcome, DecodeOutcome::kTruncated) << encoding << size;
      ASSERT_TRUE(bytes == brotli_text || text.starts_with(part.bytes));
    }
  }
  const std::string long_text = sample();
  const std::string packed = gzip(long_text);
  EXPECT_GT(decode_content(packed.substr(0, packed.size() / 2), "gzip").bytes.size(),
            long_text.size() / 3);
}

TEST(ContentDecoder, WhatIsNotInItsCodingIsCorrupt) {
  for (const std::string_view encoding : {"gzip", "br", "zstd", "deflate"}) {
    const DecodedContent decoded = decode_content("<html><body>plain</body></html>", encoding);
    EXPECT_EQ(decoded.outcome, DecodeOutcome::kCorrupt) << encoding;
  }
  std::string bad_sum = gzip("checked text");
  bad_sum[bad_sum.size() - 6] ^= 1;
  const DecodedContent decoded = decode_content(bad_sum, "gzip");
  EXPECT_EQ(decoded.outcome, DecodeOutcome::kCorrupt);
  EXPECT_EQ(decoded.bytes, "checked text");
  std::string bad_frame = zstd("checked text");
  bad_frame.back() ^= 1;
  EXPECT_EQ(decode_content(bad_frame, "zstd").outcome, DecodeOutcome::kCorrupt);
}

TEST(ContentDecoder, UnsupportedCodingsAreNamed) {
  const DecodedContent compress = decode_content("\x1f\x9d", "x-compress");
  EXPECT_EQ(compress.outcome, DecodeOutcome::kUnsupported);
  EXPECT_TRUE(compress.reason.contains("x-compress")) << compress.reason;
  EXPECT_EQ(decode_content("x", "gzip, dcb").outcome, DecodeOutcome::kUnsupported);
  EXPECT_EQ(decode_content("x", "\x1b[31m").reason.find('\x1b'), std::string::npos);

  // curl CVE-2023-23916: a chain of many codings.
  const DecodedContent chain = decode_content(gzip(gzip(gzip("x"))), "gzip, gzip, gzip");
  EXPECT_EQ(chain.outcome, DecodeOutcome::kUnsupported);
  EXPECT_TRUE(chain.reason.contains("more than 2")) << chain.reason;
  std::string many;
  for (int i = 0; i < 50'000; ++i) many += "gzip,";
  EXPECT_EQ(decode_content("x", many).outcome, DecodeOutcome::kUnsupported);
}

TEST(ContentDecoder, AZstdWindowAboveEightMebibytesIsUnsupported) {
  const std::string text(1000, 'a');
  EXPECT_EQ(decode_content(zstd(text, 23), "zstd").outcome, DecodeOutcome::kComplete);
  EXPECT_EQ(decode_content(zstd(text, 27), "zstd").outcome, DecodeOutcome::kUnsupported);
}

// A hundred million zeros, packed once or twice.
TEST(ContentDecoder, BombsStopAtTheRatio) {
  const std::string& zeros = hundred_million_zeros();
  const std::string& once = gzip_bomb();
  const std::string frame = zstd(zeros);
  const std::string twice = gzip(once);
  ASSERT_LT(once.size(), 200'000U);
  for (const auto& [bytes, encoding] :
       {std::pair{once, "gzip"},
        std::pair{deflated(std::string(5'000'000, '\0'), -MAX_WBITS), "deflate"},
        std::pair{frame, "zstd"}, std::pair{brotli_bomb, "br"}, std::pair{twice, "gzip, gzip"},
        std::pair{gzip(brotli_bomb), "br, gzip"}}) {
    const DecodedContent decoded = decode_content(bytes, encoding);
    EXPECT_EQ(decoded.outcome, DecodeOutcome::kBomb) << encoding;
    // At most one buffer beyond a million bytes or two hundred times the input.
    EXPECT_LE(decoded.bytes.size(), std::max<std::size_t>(1'000'000, bytes.size() * 200) + 65'536);
    EXPECT_GT(decoded.bytes.size(), 900'000U);
  }
}

TEST(ContentDecoder, TheRatioOfTwoStepsIsThatOfBothTogether) {
  const std::string numbers = sample();
  std::string inner;
  for (std::size_t i = 0; i < 20; ++i) {
    const std::string member = gzip(numbers.substr(i * 100, 100) + std::string(10'000, 'z'));
    for (int repeat = 0; repeat < 60; ++repeat) inner += member;
  }
  const std::string outer = gzip(inner);
  const DecodedContent once = decode_content(outer, "gzip");
  EXPECT_EQ(once.outcome, DecodeOutcome::kComplete);
  const DecodedContent second = decode_content(inner, "gzip");
  EXPECT_EQ(second.outcome, DecodeOutcome::kComplete);
  EXPECT_EQ(decode_content(outer, "gzip, gzip").outcome, DecodeOutcome::kBomb);
}

TEST(ContentDecoder, BombsStopAtTheCapOfEveryStep) {
  const std::string& zeros = hundred_million_zeros();
  const DecodeLimits limits{3'000'000, 1'000'000, 0};
  const std::string twice = gzip(gzip_bomb());
  for (const auto& [bytes, encoding] :
       {std::pair{gzip_bomb(), "gzip"}, std::pair{brotli_bomb, "br"}, std::pair{twice, "gzip,gzip"},
        std::pair{zeros, ""}}) {
    const DecodedContent decoded = decode_content(bytes, encoding, limits);
    EXPECT_EQ(decoded.outcome, DecodeOutcome::kTooLarge) << encoding;
    EXPECT_EQ(decoded.bytes.size(), 3'000'000U) << encoding;
  }
  // The first step alone passes the cap; the second never sees an end.
  const DecodedContent inner = decode_content(gzip_bomb(), "gzip,gzip", limits);
  EXPECT_EQ(inner.outcome, DecodeOutcome::kCorrupt);
  const DecodedContent exact = decode_content(gzip(zeros.substr(0, 3'000'000)), "gzip", limits);
  EXPECT_EQ(exact.outcome, DecodeOutcome::kComplete);
}

// What a caller holds is what one feed appends: deflate packs at most 1032 to 1.
TEST(ContentDecoder, LittleInputMakesLittleOutputAtATime) {
  const std::string& bomb = gzip_bomb();
  ContentDecoder decoder(parse_content_codings("gzip"), {200'000'000, 100'000, 0});
  std::uint64_t total = 0;
  for (std::size_t at = 0; at < bomb.size(); at += 512) {
    std::string out;
    decoder.feed(std::string_view(bomb).substr(at, 512), &out);
    total += out.size();
    ASSERT_LE(out.size(), 512U * 1032);
  }
  EXPECT_EQ(decoder.finish(), DecodeOutcome::kComplete);
  EXPECT_EQ(total, 100'000'000U);
}

TEST(ContentDecoder, SmallPagesMayPackWellAndLargeOnesOrdinarily) {
  expect_complete(gzip(std::string(900'000, ' ')), "gzip", std::string(900'000, ' '));
  std::string page;
  while (page.size() < 5'000'000) page += sample();
  EXPECT_EQ(decode_content(gzip(page), "gzip").outcome, DecodeOutcome::kComplete);
}

TEST(ContentDecoder, EndlessEmptyMembersAreLinear) {
  const std::string empty = gzip("");
  std::string bytes;
  for (int i = 0; i < 100'000; ++i) bytes += empty;
  EXPECT_EQ(decode_content(bytes, "gzip").outcome, DecodeOutcome::kComplete);
  const std::string frame = zstd("");
  bytes.clear();
  for (int i = 0; i < 100'000; ++i) bytes += frame;
  EXPECT_EQ(decode_content(bytes, "zstd").outcome, DecodeOutcome::kComplete);
}

}  // namespace
}  // namespace meguri::web
