#include "base/base64.h"

#include <gtest/gtest.h>

namespace meguri::base {
namespace {

TEST(Base64, EncodesWhatTheStandardDoes) {
  EXPECT_EQ(base64_of(""), "");
  EXPECT_EQ(base64_of("f"), "Zg==");
  EXPECT_EQ(base64_of("fo"), "Zm8=");
  EXPECT_EQ(base64_of("foo"), "Zm9v");
  EXPECT_EQ(base64_of("foob"), "Zm9vYg==");
  EXPECT_EQ(base64_of("fooba"), "Zm9vYmE=");
  EXPECT_EQ(base64_of("foobar"), "Zm9vYmFy");
  EXPECT_EQ(base64_of(std::string_view("\0\xff\xfe\xfb", 4)), "AP/++w==");
}

}  // namespace
}  // namespace meguri::base
