#include "crawl/offer_memory.h"

#include <gtest/gtest.h>

#include <string>

namespace meguri::crawl {
namespace {

const base::Id page = base::Id::of("http://example.org/");
const base::Ticks start = base::Ticks::from_ms(5'000);

TEST(OfferMemory, KnowsWhatWasOfferedWithinItsAge) {
  OfferMemory memory(16);
  EXPECT_FALSE(memory.was_offered(page, 3, start));
  EXPECT_TRUE(memory.was_offered(page, 3, start));
  const base::Ticks almost = start + (OfferMemory::kAge - base::Duration::from_ms(1));
  EXPECT_TRUE(memory.was_offered(page, 3, almost));
  EXPECT_FALSE(memory.was_offered(page, 3, start + OfferMemory::kAge));
  EXPECT_TRUE(memory.was_offered(page, 3, start + OfferMemory::kAge));
}

TEST(OfferMemory, LetsNearerOffersPass) {
  OfferMemory memory(16);
  EXPECT_FALSE(memory.was_offered(page, 3, start));
  EXPECT_TRUE(memory.was_offered(page, 4, start));
  EXPECT_FALSE(memory.was_offered(page, 2, start));
  EXPECT_TRUE(memory.was_offered(page, 3, start));
}

TEST(OfferMemory, ForgetsRatherThanTakesOneForAnother) {
  OfferMemory memory(1);
  const base::Id other = base::Id::of("http://example.org/other");
  EXPECT_FALSE(memory.was_offered(page, 1, start));
  EXPECT_FALSE(memory.was_offered(other, 1, start));
  EXPECT_FALSE(memory.was_offered(page, 1, start));
}

TEST(OfferMemory, OfNoSizeKnowsNothing) {
  OfferMemory memory(0);
  EXPECT_FALSE(memory.was_offered(page, 1, start));
  EXPECT_FALSE(memory.was_offered(page, 1, start));
}

TEST(OfferMemory, KnowsNothingAtFirst) {
  OfferMemory memory(4);
  EXPECT_FALSE(memory.was_offered(base::Id(), 0, base::Ticks()));
}

}  // namespace
}  // namespace meguri::crawl
