#include "archive/zip_writer.h"

#include <gtest/gtest.h>

#include <string>

#include "archive/zip_testing.h"

namespace meguri::archive {
namespace {

const base::Instant date = base::Instant::from_ms(1'767'225'600'123);

ByteSink into(std::string& out) {
  return [&out](std::string_view bytes) -> base::Status {
    out += bytes;
    return {};
  };
}

TEST(ZipWriter, ReadsBackEqual) {
  const std::string zeros(1'000'000, '0');
  std::string out;
  ZipWriter zip(into(out), date);
  ASSERT_TRUE(zip.begin_entry("a/stored", ZipMethod::kStored));
  ASSERT_TRUE(zip.append("one "));
  ASSERT_TRUE(zip.append("two"));
  ASSERT_TRUE(zip.begin_entry("deflated", ZipMethod::kDeflated));
  ASSERT_TRUE(zip.append(zeros));
  ASSERT_TRUE(zip.begin_entry("empty", ZipMethod::kStored));
  ASSERT_TRUE(zip.finish());
  const auto entries = unzip(out);
  ASSERT_EQ(entries.size(), 3U);
  EXPECT_EQ(entries[0].name, "a/stored");
  EXPECT_EQ(entries[0].bytes, "one two");
  EXPECT_EQ(entries[1].name, "deflated");
  EXPECT_EQ(entries[1].bytes, zeros);
  EXPECT_EQ(entries[2].name, "empty");
  EXPECT_EQ(entries[2].bytes, "");
  EXPECT_NE(out.find("one two"), std::string::npos);
  EXPECT_LT(out.size(), 10'000U);
}

TEST(ZipWriter, GivesTheErrorOfTheSink) {
  std::size_t room = 100'000;
  const ByteSink sink = [&room](std::string_view bytes) -> base::Status {
    if (bytes.size() > room) return base::fail(base::ErrorCode::kNoSpace, "the disk is full");
    room -= bytes.size();
    return {};
  };
  ZipWriter zip(sink, date);
  ASSERT_TRUE(zip.begin_entry("x", ZipMethod::kStored));
  base::Status status;
  for (int i = 0; i < 100 && status; ++i) status = zip.append(std::string(10'000, 'x'));
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code(), base::ErrorCode::kNoSpace);
  EXPECT_EQ(status.error().message(), "the disk is full");
}

TEST(ZipWriter, WritesNothingMoreWhenItIsGivenUp) {
  std::string out;
  std::size_t written = 0;
  {
    ZipWriter zip(into(out), date);
    ASSERT_TRUE(zip.begin_entry("x", ZipMethod::kStored));
    ASSERT_TRUE(zip.append(std::string(1'000'000, 'x')));
    written = out.size();
  }
  EXPECT_EQ(out.size(), written);
}

}  // namespace
}  // namespace meguri::archive
