#include "app/distribution.h"

#include <gtest/gtest.h>

#include <array>

namespace meguri::app {
namespace {

constexpr std::array kEdges = {1.0, 10.0, 100.0, 1000.0};

TEST(Distribution, CountsAValueAtAnEdgeAboveIt) {
  Distribution values(kEdges);
  for (const double value : {0.5, 1.0, 9.9, 10.0, 1000.0, 5000.0}) values.add(value);
  EXPECT_EQ(values.total(), 6U);
  EXPECT_EQ(values.in(0), 1U);
  EXPECT_EQ(values.in(1), 2U);
  EXPECT_EQ(values.in(2), 1U);
  EXPECT_EQ(values.in(3), 0U);
  EXPECT_EQ(values.in(4), 2U);
  EXPECT_EQ(values.below(0), 1U);
  EXPECT_EQ(values.below(1), 3U);
  EXPECT_EQ(values.below(2), 4U);
  EXPECT_EQ(values.below(3), 4U);
}

TEST(Distribution, TellsTheEdgesBetweenNothingAndEverything) {
  Distribution values(kEdges);
  EXPECT_GT(values.telling_edges().first, values.telling_edges().last);
  values.add(50);
  EXPECT_EQ(values.telling_edges().first, 1U);  // below 10: nothing
  EXPECT_EQ(values.telling_edges().last, 2U);   // below 100: all
  values.add(0.1);
  EXPECT_EQ(values.telling_edges().first, 0U);
  values.add(1e9);
  EXPECT_EQ(values.telling_edges().last, 3U);
}

}  // namespace
}  // namespace meguri::app
