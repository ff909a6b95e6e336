// Deflate streams as no writer makes them, whose fronts are decoded by themselves.
#include "archive/member_decoder.h"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "archive/gzip_writer.h"
#include "archive/member_head.h"
#include "archive/warc_reader.h"
#include "base/bytes.h"

namespace meguri::archive {
namespace {

constexpr std::size_t kEndOfBlock = 256;

// Of a deflate stream. Numbers begin with their lowest bit, codes with their highest.
class Bits {
 public:
  void put(std::uint32_t value, unsigned count) {
    for (unsigned i = 0; i < count; ++i) put_bit((value >> i & 1U) != 0);
  }
  void put_code(std::uint32_t code, unsigned count) {
    for (unsigned i = count; i > 0; --i) put_bit((code >> (i - 1) & 1U) != 0);
  }
  void align() {
    while (used_ != 0) put_bit(false);
  }
  void put_flush() {
    put(0, 3);
    align();
    bytes_ += std::string_view("\0\0\xff\xff", 4);
  }
  unsigned used() const { return used_; }  // of the last byte
  const std::string& bytes() const { return bytes_; }

 private:
  void put_bit(bool bit) {
    if (used_ == 0) bytes_ += '\0';
    if (bit) bytes_.back() = static_cast<char>(bytes_.back() | 1 << used_);
    used_ = (used_ + 1) % 8;
  }

  std::string bytes_;
  unsigned used_ = 0;
};

// The codes of symbols, by the lengths of all, as deflate orders them.
using Lengths = std::vector<unsigned>;
std::map<std::size_t, std::uint32_t> codes_of(const Lengths& lengths) {
  std::map<std::size_t, std::uint32_t> codes;
  std::uint32_t code = 0;
  for (unsigned length = 1; length <= 15; ++length, code <<= 1U) {
    for (std::size_t symbol = 0; symbol < lengths.size(); ++symbol) {
      if (lengths[symbol] == length) codes[symbol] = code++;
    }
  }
  return codes;
}

// The head of a block with codes of its own, whose lengths have 4 bits each.
void put_block_head(Bits& bits, bool is_last, const Lengths& symbols, const Lengths& distances) {
  bits.put(is_last ? 1 : 0, 1);
  bits.put(2, 2);
  bits.put(static_cast<std::uint32_t>(symbols.size() - 257), 5);
  bits.put(static_cast<std::uint32_t>(distances.size() - 1), 5);
  bits.put(19 - 4, 4);
  for (int i = 0; i < 19; ++i) bits.put(i < 3 ? 0 : 4, 3);  // 16 to 18, which repeat, come first
  for (const Lengths* lengths : {&symbols, &distances}) {
    for (const unsigned length : *lengths) bits.put_code(length, 4);
  }
}

// A member that tells its lengths, and perhaps not the truth.
std::string member_of(const std::string& deflated, std::uint32_t decoded) {
  std::string member;
  begin_told_member(false, &member);
  member += deflated;
  base::put_fixed(member, std::uint32_t{0});  // the sum
  base::put_fixed(member, decoded);
  tell_lengths(decoded, &member);
  return member;
}

class MemberDecoderTest : public ::testing::Test {
 protected:
  std::size_t front_of(const std::string& member) {
    return decoder_.decode_to_flush(member, out_.data(), out_.size());
  }

  MemberDecoder decoder_;
  std::string out_ = std::string(std::size_t{64} << 10U, '\0');
};

// Bytes of a block that look like the end of a flush: and its codes are such that what the decoder
// puts behind a flush, an empty last block, would end it well.
TEST_F(MemberDecoderTest, WhatOnlyLooksLikeAFlushIsNone) {
  constexpr std::size_t kLong = 281;  // a match of 131 bytes and more, in five bits
  Lengths symbols(kLong + 1, 0);
  symbols['A'] = 1;
  symbols[kLong] = 2;
  for (unsigned length = 3; length <= 15; ++length) symbols['A' + length] = length;
  symbols[kEndOfBlock] = 15;
  Lengths distances(29, 0);
  distances[28] = 1;  // 16,385 bytes and more, in 13 bits
  Bits bits;
  put_block_head(bits, true, symbols, distances);
  for (int i = 0; i < 24'100 || bits.used() != 7; ++i) bits.put(0, 1);  // 'A'
  // The rest of a match, and the front of a literal, are what is looked for.
  bits.put_code(2, 2);
  bits.put(0, 5 + 1 + 9);
  bits.put(0xf, 4);
  bits.put(0xfff, 12);
  EXPECT_TRUE(bits.bytes().ends_with(std::string_view("\0\0\xff\xff", 4)));
  bits.put(1, 2);
  for (int i = 0; i < 5'000; ++i) bits.put(0, 1);
  bits.put_code(0x7fff, 15);
  EXPECT_EQ(front_of(member_of(bits.bytes(), 29'300)), 0U);
}

// What libdeflate takes and zlib does not: 32 distances. The front seems to be there, and is not
// when all is decoded.
TEST_F(MemberDecoderTest, AFrontThatGoesAgainHarmsNoReader) {
  Lengths symbols(257, 8);
  symbols[255] = 9;
  symbols[kEndOfBlock] = 9;
  const auto codes = codes_of(symbols);
  for (const std::string_view text :
       {"WARC/1.0\r\nX: y\r\n", "WARC/1.0\r\nContent-Length: 0\r\n\r\n\r\n",
        "WARC/1.0\r\nContent-Length: 9000\r\n\r\n\n"}) {
    Bits bits;
    put_block_head(bits, false, symbols, Lengths(32, 5));
    for (const char c : text) {
      const auto symbol = static_cast<unsigned char>(c);
      bits.put_code(codes.at(symbol), symbols[symbol]);
    }
    bits.put_code(codes.at(kEndOfBlock), 9);
    bits.put_flush();
    const std::string member = member_of(bits.bytes() + std::string(500, '\x55'), 9'000);
    EXPECT_EQ(front_of(member), text.size());
    EXPECT_EQ(out_.substr(0, text.size()), text);
    std::string last;
    GzipWriter().append_member("WARC/1.0\r\nX: last\r\nContent-Length: 0\r\n\r\n", {}, "\r\n\r\n",
                               &last);
    const std::string bytes = member + last;
    const ViewFile file(bytes);
    for (const bool goes_by_heads : {true, false}) {
      WarcReader reader(file, 0, {.goes_by_heads = goes_by_heads});
      std::string seen;
      while (*reader.next()) {
        EXPECT_TRUE(read_rest(reader, 1'000'000));
        EXPECT_TRUE(reader.finish());
        seen = reader.record().get("X");
      }
      EXPECT_EQ(seen, "last") << text;
    }
  }
}

}  // namespace
}  // namespace meguri::archive
