#include "archive/member_head.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "archive/gzip_writer.h"

namespace meguri::archive {
namespace {

using Content = GzipWriter::Content;

constexpr std::string_view kFront = "what stands before\r\n";

std::string member_of(std::string_view block, Content content = Content::kAny) {
  std::string out;
  GzipWriter().append_member(kFront, block, {}, &out, content);
  return out;
}

TEST(MemberHead, AreToldOfWhatWasWritten) {
  for (const std::size_t size : {0U, 1U, 5'000U, 3'000'000U}) {
    for (const Content content : {Content::kAny, Content::kRequest}) {
      const std::string member = member_of(std::string(size, 'x'), content);
      const auto told = told_facts(member + "and more");
      ASSERT_TRUE(told);
      EXPECT_EQ(told->stored, member.size());
      EXPECT_EQ(told->decoded, kFront.size() + size);
      EXPECT_EQ(told->is_request, content == Content::kRequest);
    }
  }
}

TEST(MemberHead, AreFoundAmongOtherFieldsAndBeforeNames) {
  const std::string_view other("ab\x03\0xyz", 7);
  const std::string_view field("sl\x08\0\x30\0\0\0\x40\0\0\0", 12);
  const auto head = [](char flags, std::string_view extra) {
    std::string bytes = std::string("\x1f\x8b\x08") + flags + std::string("\0\0\0\0\0\xff", 6);
    bytes += static_cast<char>(extra.size());
    bytes += '\0';
    return bytes + std::string(extra) + std::string("name\0\x03\0", 7);
  };
  const MemberFacts told{.stored = 0x30, .decoded = 0x40};
  EXPECT_EQ(told_facts(head('\x04', field)), told);
  EXPECT_EQ(told_facts(head('\x0c', field)), told);
  EXPECT_EQ(told_facts(head('\x04', std::string(other) + std::string(field))), told);
  EXPECT_EQ(told_facts(head('\x04', other)), std::nullopt);
  EXPECT_EQ(told_facts(head('\x08', field)), std::nullopt);
  EXPECT_EQ(plain_head_size(head('\x04', field)), 24U);
  EXPECT_EQ(plain_head_size(head('\x0c', field)), 0U);
  EXPECT_EQ(plain_head_size(kGzipMemberHead), kGzipMemberHead.size());
  const std::string whole = head('\x04', std::string(other) + std::string(field));
  for (std::size_t size = 0; size < 31; ++size) {
    EXPECT_EQ(told_facts(whole.substr(0, size)), std::nullopt) << size;
  }
}

TEST(MemberHead, TellOwnHeadsFromOthers) {
  const std::string member = member_of(std::string(5'000, 'x'));
  const MemberFacts right = *told_facts(member);
  EXPECT_TRUE(has_own_head(member, right));
  EXPECT_TRUE(has_own_head(kGzipMemberHead, right));
  EXPECT_FALSE(has_own_head(member, {.stored = right.stored + 1, .decoded = right.decoded}));
  EXPECT_FALSE(
      has_own_head(member, {.stored = right.stored, .decoded = right.decoded, .is_request = true}));
  for (std::size_t bit = 0; bit < 8 * kToldHeadBytes; ++bit) {
    std::string other = member;
    other[bit / 8] = static_cast<char>(other[bit / 8] ^ 1 << bit % 8);
    // Without the flag the extra field is what is deflated, which its decoder will tell.
    EXPECT_EQ(has_own_head(other, right), bit == 8 * 3 + 2) << bit;
  }
}

}  // namespace
}  // namespace meguri::archive
