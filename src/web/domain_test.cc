#include "web/domain.h"

#include <gtest/gtest.h>

#include <string>

namespace meguri::web {
namespace {

TEST(Domain, RegistrableDomainIsOneLabelBelowTheSuffix) {
  EXPECT_EQ(registrable_domain("www.example.com"), "example.com");
  EXPECT_EQ(registrable_domain("a.b.example.co.uk"), "example.co.uk");
  EXPECT_EQ(registrable_domain("example.co.jp"), "example.co.jp");
  EXPECT_EQ(registrable_domain("user.github.io"), "user.github.io");
  EXPECT_EQ(registrable_domain("www.example.com."), "example.com");
  EXPECT_EQ(registrable_domain("www.xn--85x722f.xn--55qx5d.cn"), "xn--85x722f.xn--55qx5d.cn");
  EXPECT_EQ(registrable_domain("x.www.ck"), "www.ck");
  EXPECT_EQ(registrable_domain("x.y.z.ck"), "y.z.ck");
}

TEST(Domain, SuffixesAddressesAndSingleLabelsHaveNone) {
  EXPECT_EQ(registrable_domain("com"), "");
  EXPECT_EQ(registrable_domain("co.uk"), "");
  EXPECT_EQ(registrable_domain("localhost"), "");
  EXPECT_EQ(registrable_domain("1.2.3.4"), "");
  EXPECT_EQ(registrable_domain("[::1]"), "");
  EXPECT_EQ(registrable_domain(""), "");
  EXPECT_EQ(registrable_domain("."), "");
  EXPECT_EQ(registrable_domain(std::string(300, 'a') + ".com"), "");
}

TEST(Domain, UnknownSuffixesAreNotKnown) {
  EXPECT_TRUE(has_known_suffix("example.com"));
  EXPECT_TRUE(has_known_suffix("foo.bar.ck"));
  EXPECT_TRUE(has_known_suffix("xn--fiqs8s"));
  EXPECT_FALSE(has_known_suffix("example.nosuchtld"));
  EXPECT_FALSE(has_known_suffix("localhost"));
  EXPECT_FALSE(has_known_suffix("1.2.3.4"));
  EXPECT_FALSE(has_known_suffix(""));
  EXPECT_FALSE(has_known_suffix(".nosuchtld"));
  EXPECT_EQ(registrable_domain("a.example.nosuchtld"), "example.nosuchtld");
}

TEST(Domain, PublicSuffixesAreThoseOfTheList) {
  EXPECT_TRUE(is_public_suffix("com"));
  EXPECT_TRUE(is_public_suffix("co.uk"));
  EXPECT_FALSE(is_public_suffix("example.com"));
  EXPECT_FALSE(is_public_suffix("nosuchtld"));
}

}  // namespace
}  // namespace meguri::web
