#include "archive/labelled_digest.h"

#include <gtest/gtest.h>

#include <string>

namespace meguri::archive {
namespace {

DigestVerdict verdict_of(std::string_view said, std::string_view bytes = "hello") {
  DigestCheck check(said);
  check.update(bytes.substr(0, 2));
  check.update(bytes.substr(2));
  return check.finish();
}

TEST(DigestCheck, TakesEverySpelling) {
  for (const std::string_view said : {
           "sha1:VL2MMHO4YXUKFWV63YHTWSBM3GXKSQ2N",
           "sha1:vl2mmho4yxukfwv63yhtwsbm3gxksq2n",
           "SHA-1:aaf4c61ddcc5e8a2dabede0f3b482cd9aea9434d",
           "sha1:AAF4C61DDCC5E8A2DABEDE0F3B482CD9AEA9434D",
           "sha1:qvTGHdzF6KLavt4PO0gs2a6pQ00=",
           "sha1: qvTGHdzF6KLavt4PO0gs2a6pQ00",
       }) {
    EXPECT_EQ(verdict_of(said), DigestVerdict::kRight) << said;
  }
}

TEST(DigestCheck, TakesTheUrlSafeAlphabet) {
  // Of an empty text, in base64 "2jmj7l5rSw0yVb/vlWAYkK/YBwk=".
  DigestCheck check("sha1:2jmj7l5rSw0yVb_vlWAYkK_YBwk=");
  EXPECT_EQ(check.finish(), DigestVerdict::kRight);
}

TEST(DigestCheck, KnowsOtherAlgorithms) {
  EXPECT_EQ(verdict_of("md5:5d41402abc4b2a76b9719d911017c592"), DigestVerdict::kRight);
  EXPECT_EQ(verdict_of("md5:LVAUAKV4JMVHNOLRTWIRAF6FSI======"), DigestVerdict::kRight);
  EXPECT_EQ(verdict_of("sha256:2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824"),
            DigestVerdict::kRight);
  EXPECT_EQ(verdict_of("sha-256:FTZE3OS7WCRQ4JXIHMVMLOPCTYNRMHS4D6TUEXTTAQZWFE4LTASA"),
            DigestVerdict::kRight);
}

TEST(DigestCheck, SaysWhatIsWrongAndWhatItIs) {
  DigestCheck check("sha1:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA");
  check.update("hello");
  EXPECT_EQ(check.finish(), DigestVerdict::kWrong);
  EXPECT_EQ(check.computed(), "sha1:VL2MMHO4YXUKFWV63YHTWSBM3GXKSQ2N");
  EXPECT_EQ(verdict_of("sha1:"), DigestVerdict::kWrong);
}

TEST(DigestCheck, LeavesWhatItDoesNotKnow) {
  EXPECT_EQ(verdict_of(""), DigestVerdict::kNone);
  EXPECT_EQ(verdict_of("xxh3:00"), DigestVerdict::kUnknown);
  EXPECT_EQ(verdict_of("VL2MMHO4YXUKFWV63YHTWSBM3GXKSQ2N"), DigestVerdict::kUnknown);
}

}  // namespace
}  // namespace meguri::archive
