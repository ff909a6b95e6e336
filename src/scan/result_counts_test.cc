#include "scan/result_counts.h"

#include <gtest/gtest.h>

#include <string_view>

namespace meguri::scan {
namespace {

TEST(ResultCounts, SortsByCountAndThenByKey) {
  ResultCounts counts({"language"});
  counts.feed("ja\nen\nde\nen\nja\nen\nfr\n");
  counts.finish();
  EXPECT_EQ(counts.results(), 7U);
  EXPECT_EQ(counts.keys(), 4U);
  EXPECT_EQ(counts.to_lines(), "en\t3\nja\t2\nde\t1\nfr\t1\n");
}

TEST(ResultCounts, CountsTheSameWhereverResultsAreCut) {
  constexpr std::string_view kResults = "ja\t2026-11\nen\t2026-11\nja\t2026-11\n-\t2026-10\n";
  for (std::size_t piece = 1; piece <= kResults.size(); ++piece) {
    ResultCounts counts({"language", "month"});
    for (std::size_t at = 0; at < kResults.size(); at += piece) {
      counts.feed(kResults.substr(at, piece));
    }
    counts.finish();
    EXPECT_EQ(counts.to_lines(), "ja\t2026-11\t2\n-\t2026-10\t1\nen\t2026-11\t1\n");
  }
}

TEST(ResultCounts, MakesAnObjectOfEachKey) {
  ResultCounts counts({"host", "status"});
  counts.feed("a.example\t200\nb\"c\t404\na.example\t200\n");
  counts.finish();
  EXPECT_EQ(counts.to_json(),
            "[\n{\"host\":\"a.example\",\"status\":\"200\",\"count\":2},\n"
            "{\"host\":\"b\\\"c\",\"status\":\"404\",\"count\":1}\n]\n");
}

TEST(ResultCounts, TakesKeysWithOtherColumns) {
  ResultCounts counts({"a", "b"});
  counts.feed("1\n1\t2\t3");
  counts.finish();
  EXPECT_EQ(counts.to_json(),
            "[\n{\"a\":\"1\",\"b\":\"\",\"count\":1},\n"
            "{\"a\":\"1\",\"b\":\"2\\u00093\",\"count\":1}\n]\n");
}

TEST(ResultCounts, IsEmptyWithoutResults) {
  ResultCounts counts({"mime"});
  counts.finish();
  EXPECT_EQ(counts.to_lines(), "");
  EXPECT_EQ(counts.to_json(), "[]\n");
}

}  // namespace
}  // namespace meguri::scan
