#include "web/url_filter.h"

#include <gtest/gtest.h>

#include <string>

namespace meguri::web {
namespace {

std::string verdict(std::string_view input, UrlFilterLimits limits = {.year_now = 2026}) {
  const auto url = Url::parse(input);
  if (!url) return "(no URL)";
  const auto refusal = check(*url, limits);
  return refusal ? std::string(name_of(*refusal)) : "ok";
}

TEST(UrlFilter, OrdinaryPagesPass) {
  for (const std::string_view url :
       {"http://example.com/", "https://www.example.co.uk/a/b/c.html?x=1&y=2",
        "http://a_b.example.com/", "http://1.2.3.4/", "http://[2001:db8::1]:8080/",
        "https://example.com:8443/2024/07/15/title", "http://example.com/1889/05/06/news",
        "http://example.com/?year=2025&month=12", "http://example.com/?date=2027-01-01",
        "http://example.com/?sid=7", "http://example.com/?session=opening",
        "http://example.com/a/b/a/b/c", "http://example.com/a/a/b", "http://example.com/9999/x",
        "http://xn--bcher-kva.example.com/", "http://example.com./"}) {
    EXPECT_EQ(verdict(url), "ok") << url;
  }
}

TEST(UrlFilter, FormIsJudgedFirst) {
  EXPECT_EQ(verdict("ftp://example.com/"), "scheme");
  EXPECT_EQ(verdict("mailto:a@example.com"), "scheme");
  EXPECT_EQ(verdict("http://./"), "no-host");
  EXPECT_EQ(verdict("http://a..example.com/"), "bad-host");
  EXPECT_EQ(verdict("http://.example.com/"), "bad-host");
  EXPECT_EQ(verdict("http://" + std::string(64, 'a') + ".com/"), "bad-host");
  EXPECT_EQ(verdict("http://" + std::string(63, 'a') + ".com/"), "ok");
  std::string name = "com";
  while (name.size() <= 253) name = "label." + name;
  EXPECT_EQ(verdict("http://" + name + "/"), "bad-host");
  EXPECT_EQ(verdict("http://a$b.com/"), "bad-host");
  EXPECT_EQ(verdict("http://com/"), "bare-suffix");
  EXPECT_EQ(verdict("http://co.uk/"), "bare-suffix");
  EXPECT_EQ(verdict("http://localhost/"), "single-label");
  EXPECT_EQ(verdict("http://example.nosuchtld/"), "unknown-suffix");
  EXPECT_EQ(verdict("http://example.com:0/"), "bad-port");
  EXPECT_EQ(verdict("http://example.com:25/"), "bad-port");
}

TEST(UrlFilter, IntranetNamesPassWhereAllowed) {
  EXPECT_EQ(verdict("http://localhost:8080/", {.allow_intranet = true}), "ok");
  EXPECT_EQ(verdict("http://wiki.internal/", {.allow_intranet = true}), "ok");
  EXPECT_EQ(verdict("http://a..b/", {.allow_intranet = true}), "bad-host");
}

TEST(UrlFilter, LengthCountsWithoutTheFragment) {
  const std::string start = "http://example.com/";
  EXPECT_EQ(verdict(start + std::string(4096 - start.size(), 'a')), "ok");
  EXPECT_EQ(verdict(start + std::string(4097 - start.size(), 'a')), "too-long");
  EXPECT_EQ(verdict(start + "#" + std::string(5000, 'a')), "ok");
}

TEST(UrlFilter, DepthCountsSegmentsThatAreNotEmpty) {
  std::string deep = "http://example.com";
  for (int i = 0; i < 20; ++i) deep += "/" + std::to_string(i);
  EXPECT_EQ(verdict(deep), "ok");
  EXPECT_EQ(verdict(deep + "/"), "ok");
  EXPECT_EQ(verdict(deep + "/x"), "too-deep");
}

TEST(UrlFilter, PathsThatRepeatThreeTimesAreTraps) {
  EXPECT_EQ(verdict("http://example.com/a/a/a"), "repeating-path");
  EXPECT_EQ(verdict("http://example.com/x/a/b/a/b/a/b/y"), "repeating-path");
  EXPECT_EQ(verdict("http://example.com/a//a//a"), "repeating-path");
  EXPECT_EQ(verdict("http://example.com/a/b/c/d/a/b/c/d/a/b/c/d"), "repeating-path");
  EXPECT_EQ(verdict("http://example.com/a/b/a/b/a"), "ok");
  EXPECT_EQ(verdict("http://example.com/a/b/a/c/a"), "ok");
}

TEST(UrlFilter, SessionIdsAreTraps) {
  for (const std::string_view rest :
       {"x;jsessionid=0123456789ABCDEF0123456789ABCDEF",
        "x.do;a=b;JSESSIONID=0123456789ABCDEF.node1", "?PHPSESSID=a1b2c3d4e5f6a7b8c9d0e1f2a3",
        "?a=1&sid=0123456789abcdef0123456789abcdef", "(S(4hqa0555fwsecu455xqckv45))/a.aspx",
        "(4hqa0555fwsecu455xqckv45)/a.aspx", "?ASPSESSIONIDABCDEFGH=ABCDEFGHIJKLMNOPQRSTUVWX",
        "?a=1;osCsid=0123456789abcdef0123"}) {
    EXPECT_EQ(verdict("http://example.com/" + std::string(rest)), "session-id") << rest;
  }
}

TEST(UrlFilter, DatesFarFromNowAreTraps) {
  for (const std::string_view rest :
       {"2094/07/", "cal/2094/7/1", "1066/10/14", "events/2094-07-15", "events/2094-07",
        "?month=7&year=2094", "?y=1500&m=1", "?date=2094-07-15", "?date=20940715",
        "?start=2094-07-15T00:00", "?month=2094-07"}) {
    EXPECT_EQ(verdict("http://example.com/" + std::string(rest)), "calendar") << rest;
  }
  EXPECT_EQ(verdict("http://example.com/2094/07/", {}), "ok") << "no year, no rule";
  EXPECT_EQ(verdict("http://example.com/2094/", {.year_now = 2026}), "ok") << "may be any number";
}

}  // namespace
}  // namespace meguri::web
