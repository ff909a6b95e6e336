#include "web/field_list.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>

namespace meguri::web {
namespace {

std::string bytes_of(const FieldList& list) {
  std::string bytes;
  list.append_to(&bytes);
  return bytes;
}

TEST(FieldList, CopiesLiveByThemselves) {
  FieldList first;
  first.add_line("A: one\r\n");
  FieldList second = first;
  EXPECT_EQ(first, second);
  second.add_line("B: two\r\n");
  first.clear();
  EXPECT_TRUE(first.empty());
  EXPECT_EQ(bytes_of(first), "");
  EXPECT_EQ(bytes_of(second), "A: one\r\nB: two\r\n");
  first = std::move(second);
  EXPECT_EQ(first.get("b"), "two");
}

TEST(FieldList, AClearedListTakesOtherFields) {
  FieldList list;
  list.add_line("A: a value that is longer than the next one\r\n");
  list.add("Own", "of our own");
  list.clear();
  list.add_line("B: b\r\n");
  EXPECT_FALSE(list.has("A"));
  EXPECT_FALSE(list.has("Own"));
  EXPECT_EQ(list.get("B"), "b");
  EXPECT_EQ(list.size(), 1);
}

TEST(FieldList, LinesFoldWhateverWasDoneToTheLastField) {
  FieldList list;
  list.add_line("A: one\r\n");
  list.add_line("B: two\r\n");
  list.remove("B");
  list.add_line(" more\r\n");  // of A, whose bytes are not the last ones
  EXPECT_EQ(list.get("A"), "one more");
  EXPECT_EQ(list.fields()[0].raw, "A: one\r\n more\r\n");
  list.add("C", "three");
  list.add_line("\t\r\n");
  list.add_line(" four\r\n");
  EXPECT_EQ(list.get("C"), "three four");
  EXPECT_EQ(list.get("A"), "one more");
}

TEST(FieldList, AnEmptyValueFolds) {
  FieldList list;
  list.add_line("A:\r\n");
  list.add_line(" one\r\n");
  list.add_line(" two\r\n");
  EXPECT_EQ(list.get("A"), "one two");
  EXPECT_EQ(bytes_of(list), "A:\r\n one\r\n two\r\n");
}

TEST(FieldList, OddBytesAreToldWhereverTheyStand) {
  for (std::size_t at = 0; at < 20; ++at) {
    for (const auto& [byte, quirk] :
         {std::pair('\0', HeadQuirk::kNul), std::pair('\r', HeadQuirk::kBareCr),
          std::pair('\x1f', HeadQuirk::kControl), std::pair('\x7f', HeadQuirk::kControl),
          std::pair('\x80', HeadQuirk::kNotAscii), std::pair('\xff', HeadQuirk::kNotAscii)}) {
      std::string value(20, 'x');
      value[at] = byte;
      FieldList list;
      const HeadQuirks quirks = list.add_line("Name: " + value + "\r\n");
      EXPECT_TRUE(quirks.has(quirk)) << at;
      EXPECT_EQ(list.fields()[0].raw, "Name: " + value + "\r\n");
    }
  }
  FieldList list;
  EXPECT_TRUE(list.add_line("Name: !~ and all between\r\n").empty());
}

}  // namespace
}  // namespace meguri::web
