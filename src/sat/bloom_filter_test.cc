#include "sat/bloom_filter.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "env/random.h"

namespace meguri::sat {
namespace {

double share_of_errors(double bits_per_id, std::uint64_t leading_bits) {
  constexpr int kIds = 100'000;
  env::Random random(1);
  const auto draw = [&] { return FilterKey::of({random.next() >> leading_bits, random.next()}); };
  BloomFilter filter(kIds, bits_per_id);
  std::vector<FilterKey> keys;
  for (int i = 0; i < kIds; ++i) {
    keys.push_back(draw());
    filter.add(keys.back());
  }
  for (const FilterKey& key : keys) EXPECT_TRUE(filter.may_contain(key));
  BloomFilter again(filter.shape());
  const std::size_t lines = filter.shape().lines;
  for (std::size_t at = 0; at < lines; at += 100) {
    std::string bytes;
    filter.append_lines(at, std::min(lines, at + 100), bytes);
    again.load_lines(at, bytes);
  }
  int errors = 0;
  for (int i = 0; i < kIds; ++i) {
    const FilterKey key = draw();
    EXPECT_EQ(again.may_contain(key), filter.may_contain(key));
    if (filter.may_contain(key)) ++errors;
  }
  return static_cast<double>(errors) / kIds;
}

TEST(BloomFilter, KnowsAllThatWasAddedAndMostThatWasNot) {
  EXPECT_LT(share_of_errors(7, 0), 0.055);
  EXPECT_LT(share_of_errors(10, 0), 0.017);
  EXPECT_LT(share_of_errors(16, 0), 0.003);
}

TEST(BloomFilter, IsUsedEvenlyByIdsThatBeginAlike) { EXPECT_LT(share_of_errors(10, 30), 0.017); }

TEST(BloomFilter, OfNothingContainsNothing) {
  const BloomFilter filter;
  EXPECT_FALSE(filter.may_contain(FilterKey::of({1, 2})));
  EXPECT_EQ(filter.memory_bytes(), 0U);
}

TEST(BloomFilter, ForgetsAllAtOnce) {
  BloomFilter filter(10, 8);
  const FilterKey key = FilterKey::of({1, 2});
  filter.add(key);
  filter.clear();
  EXPECT_FALSE(filter.may_contain(key));
}

}  // namespace
}  // namespace meguri::sat
