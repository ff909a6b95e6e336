#include "scan/builtin_burn.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "scan/document.h"

namespace meguri::scan {
namespace {

TEST(Burn, CostsAreSkewedAndHaveTheirMean) {
  constexpr std::uint64_t kDocuments = 400'000;
  std::vector<double> costs;
  double sum = 0;
  for (std::uint64_t i = 0; i < kDocuments; ++i) {
    costs.push_back(static_cast<double>(burn_ns_of(i)));
    sum += costs.back();
  }
  EXPECT_NEAR(sum / kDocuments, 300'000, 30'000);
  EXPECT_LE(std::ranges::max(costs), static_cast<double>(kBurnNsMax));
  EXPECT_GT(std::ranges::max(costs), 20'000'000);
  std::ranges::sort(costs);
  EXPECT_LT(costs[kDocuments / 2], 220'000);  // most are cheap
  double dear = 0;
  for (std::uint64_t i = kDocuments * 99 / 100; i < kDocuments; ++i) dear += costs[i];
  EXPECT_GT(dear / sum, 0.12);  // and a hundredth costs much of all
}

TEST(Burn, NeighboursAreAlike) {
  std::vector<double> sums;
  for (std::uint64_t part = 0; part < 20; ++part) {
    double sum = 0;
    for (std::uint64_t i = 0; i < kBurnAlike; ++i) {
      sum += static_cast<double>(burn_ns_of(part * kBurnAlike + i));
    }
    sums.push_back(sum);
  }
  EXPECT_GT(std::ranges::max(sums), 1.5 * std::ranges::min(sums));
}

TEST(Burn, ReadsTheContent) {
  const std::vector<std::string> arguments = {"nothing"};
  const auto burn = make_burn(arguments).value();
  Document document;
  document.facts.number = 7;
  std::string content(130, '\x01');  // the first, 65th and 129th count
  content[64] = '\xff';
  document.content = env::SpooledBytes(content);
  EXPECT_TRUE(burn(document).value() == "7 257\n");
}

TEST(Burn, WhatIsUsedUpDoesNotChangeTheResult) {
  const std::vector<std::string> arguments = {"skewed"};
  const auto burn = make_burn(arguments).value();
  EXPECT_TRUE(burn(Document()).value() == "0 0\n");
}

TEST(Burn, TakesOneOfThreeWords) {
  const std::vector<std::string> wrong = {"much"};
  EXPECT_EQ(make_burn(wrong).error().code(), base::ErrorCode::kInvalid);
  EXPECT_EQ(make_burn({}).error().code(), base::ErrorCode::kInvalid);
}

}  // namespace
}  // namespace meguri::scan
