#include "crawl/stored_payloads.h"

#include <gtest/gtest.h>

#include <string>

namespace meguri::crawl {
namespace {

archive::Digest digest_of(int n) { return archive::Sha1().of(std::to_string(n)); }

TEST(StoredPayloads, FindsWhatWasNoted) {
  StoredPayloads payloads;
  EXPECT_EQ(payloads.find(digest_of(1)), nullptr);
  payloads.note(digest_of(1), {"http://example.org/", {}, base::Instant::from_ms(5)});
  ASSERT_NE(payloads.find(digest_of(1)), nullptr);
  EXPECT_EQ(payloads.find(digest_of(1))->url, "http://example.org/");
  EXPECT_EQ(payloads.find(digest_of(2)), nullptr);
}

TEST(StoredPayloads, ForgetsWhatIsLongNotAskedFor) {
  StoredPayloads payloads(10);
  for (int i = 0; i < 1000; ++i) {
    payloads.note(digest_of(i), {std::to_string(i), {}, {}});
    EXPECT_LE(payloads.size(), 20U);
    ASSERT_NE(payloads.find(digest_of(0)), nullptr) << i;  // it is asked for all the time
    if (i >= 9) {
      EXPECT_NE(payloads.find(digest_of(i - 3)), nullptr) << i;
    }
  }
  EXPECT_EQ(payloads.find(digest_of(500)), nullptr);
  EXPECT_EQ(payloads.find(digest_of(0))->url, "0");
}

}  // namespace
}  // namespace meguri::crawl
