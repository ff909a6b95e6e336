#include "web/byte_order_mark.h"

#include <gtest/gtest.h>

#include <string>

namespace meguri::web {
namespace {

using namespace std::string_literals;

std::string read(const std::string& bytes) {
  std::string storage;
  return std::string(without_byte_order_mark(bytes, &storage));
}

TEST(ByteOrderMark, MarksAreTakenOffAndNameTheEncoding) {
  EXPECT_EQ(read("plain"), "plain");
  EXPECT_EQ(read(""), "");
  EXPECT_EQ(read("\xEF\xBB\xBFplain"), "plain");
  EXPECT_EQ(read("\xEF\xBB"), "\xEF\xBB");
  EXPECT_EQ(read("\xFF\xFE"s + "a\0\xE9\0"s), "a\xC3\xA9");
  EXPECT_EQ(read("\xFE\xFF"s + "\0a\x30\xC4"s), "a\xE3\x83\x84");
}

TEST(ByteOrderMark, SurrogatesPairOrAreReplaced) {
  EXPECT_EQ(utf8_of_utf16("\xD8\x3D\xDE\x00"s, true), "\xF0\x9F\x98\x80");
  EXPECT_EQ(utf8_of_utf16("\xD8\x3D\0a"s, true),
            "\xEF\xBF\xBD"
            "a");
  EXPECT_EQ(utf8_of_utf16("\xDE\x00\0a"s, true),
            "\xEF\xBF\xBD"
            "a");
  EXPECT_EQ(utf8_of_utf16("\xD8\x3D"s, true), "\xEF\xBF\xBD");
  EXPECT_EQ(utf8_of_utf16("\0a\0"s, true), "a\xEF\xBF\xBD");
}

TEST(ByteOrderMark, LatinOneIsItsCodePoints) {
  EXPECT_EQ(utf8_of_latin1("a\x80\xFF"), "a\xC2\x80\xC3\xBF");
}

}  // namespace
}  // namespace meguri::web
