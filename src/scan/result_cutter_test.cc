#include "scan/result_cutter.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "env/memory_file_system.h"
#include "env/spool_testing.h"

namespace meguri::scan {
namespace {

using Found = std::vector<std::pair<std::optional<std::uint64_t>, std::string>>;

// All results of some bytes that come `step` at a time, then the end.
base::Result<Found> cut(ResultCutter& cutter, std::string_view bytes, std::size_t step) {
  Found found;
  for (std::size_t at = 0; at < bytes.size(); at += step) {
    std::string_view piece = bytes.substr(at, step);
    while (!piece.empty()) {
      ASSIGN_OR_RETURN(const auto result, cutter.next(piece));
      if (result) found.emplace_back(result->number, env::text_of(result->bytes));
    }
  }
  ASSIGN_OR_RETURN(const auto last, cutter.finish());
  if (last) found.emplace_back(last->number, env::text_of(last->bytes));
  return found;
}

base::Result<Found> cut_frames(std::string_view bytes, std::size_t step = 1'000'000) {
  FramedResults cutter(nullptr);
  return cut(cutter, bytes, step);
}

TEST(FramedResults, AreCutByTheirLengthsWhereverTheBytesEnd) {
  const Found expected = {{0, "abc"}, {1, ""}, {18446744073709551615U, "1 2\n"}};
  const std::string_view bytes = "0 3\nabc1 0\n18446744073709551615 4\n1 2\n";
  for (std::size_t step = 1; step <= bytes.size(); ++step) {
    EXPECT_EQ(cut_frames(bytes, step).value(), expected);
  }
}

TEST(FramedResults, WhatIsNoHeadIsShown) {
  for (const std::string_view bytes :
       {"hello\n", "1\n", "1 \n", " 1 2\n", "1 2 \n", "1  2\n", "-1 2\n", "1 +2\n", "\n",
        "1 18446744073709551616\n", "00000000000000000000000000000000000000000000 1\n"}) {
    for (const std::size_t step : {std::size_t{1}, bytes.size()}) {
      const auto found = cut_frames(bytes, step);
      ASSERT_FALSE(found) << bytes;
      EXPECT_TRUE(found.error().message().ends_with("where 'NUMBER LENGTH' was expected"))
          << found.error().message();
    }
  }
  EXPECT_EQ(cut_frames("hello\n").error().message(),
            "it wrote \"hello\" where 'NUMBER LENGTH' was expected");
  EXPECT_LT(cut_frames(std::string(1'000'000, 'x')).error().message().size(), 120U);
}

TEST(FramedResults, AnEndWithinOneIsAFailure) {
  EXPECT_FALSE(cut_frames("1 3\nab"));
  EXPECT_FALSE(cut_frames("1 3\n"));
  EXPECT_FALSE(cut_frames("1"));
  EXPECT_TRUE(cut_frames(""));
}

TEST(LineResults, AreLinesWithTheirEnds) {
  const Found expected = {{std::nullopt, "a\n"}, {std::nullopt, "\n"}, {std::nullopt, "b c\n"}};
  for (const std::string_view bytes : {"a\n\nb c\n", "a\n\nb c"}) {
    for (std::size_t step = 1; step <= bytes.size(); ++step) {
      LineResults cutter(nullptr);
      EXPECT_EQ(cut(cutter, bytes, step).value(), expected);
    }
  }
}

TEST(ResultCutter, LargeResultsLieOnDisk) {
  env::MemoryFileSystem fs;
  const auto spool = env::disk_spool(fs);
  const std::string text(100'000, 'x');
  FramedResults frames(spool.get());
  EXPECT_EQ(cut(frames, "5 100000\n" + text, 4096).value(), (Found{{5, text}}));
  LineResults lines(spool.get());
  std::string_view line = text;
  EXPECT_FALSE(lines.next(line).value());
  EXPECT_EQ(spool->disk_bytes(), text.size());
  EXPECT_EQ(spool->memory_bytes(), 0U);
}

}  // namespace
}  // namespace meguri::scan
