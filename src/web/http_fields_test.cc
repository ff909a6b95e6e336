#include "web/http_fields.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "web/content_type.h"

namespace meguri::web {
namespace {

using base::Duration;
using base::Instant;

constexpr Instant kNow = Instant::from_ms(784'111'777'000);  // Sun, 06 Nov 1994 08:49:37 GMT

FieldList fields_of(std::initializer_list<std::pair<std::string_view, std::string_view>> fields) {
  FieldList list;
  for (const auto& [name, value] : fields) list.add(name, value);
  return list;
}

TEST(CacheControl, DirectivesAreRead) {
  const CacheControl control = parse_cache_control(
      "Max-Age=60, s-maxage=\"120\" , no-cache=\"Set-Cookie, X\", immutable,public,"
      "stale-while-revalidate=5, stale-if-error=6, unknown=\"a, no-store\", max-age=9");
  EXPECT_EQ(control.max_age, Duration::seconds(60));
  EXPECT_EQ(control.s_maxage, Duration::seconds(120));
  EXPECT_EQ(control.stale_while_revalidate, Duration::seconds(5));
  EXPECT_EQ(control.stale_if_error, Duration::seconds(6));
  EXPECT_TRUE(control.no_cache && control.immutable && control.is_public);
  EXPECT_FALSE(control.no_store || control.is_private || control.must_revalidate);
  EXPECT_TRUE(parse_cache_control("private, no-store, must-revalidate").no_store);
}

TEST(CacheControl, BadAgesAreStaleAndHugeOnesClamped) {
  for (const std::string_view text : {"max-age", "max-age=", "max-age=-1", "max-age=abc",
                                      "max-age=1.5", "max-age=\"", "max-age = x"}) {
    EXPECT_EQ(parse_cache_control(text).max_age, Duration()) << text;
  }
  EXPECT_EQ(parse_cache_control("max-age=99999999999999999999999").max_age,
            Duration::seconds(kDeltaSecondsMax));
  EXPECT_FALSE(parse_cache_control("").max_age);
}

TEST(Freshness, MaxAgeThenExpiresMinusDate) {
  const std::string_view date = "Sun, 06 Nov 1994 08:00:00 GMT";
  const std::string_view later = "Sun, 06 Nov 1994 09:00:00 GMT";
  const auto lifetime = [](const FieldList& fields) { return freshness_of(fields, kNow).lifetime; };
  EXPECT_EQ(freshness_of({}, kNow).source, Freshness::Source::kNone);
  EXPECT_EQ(lifetime(fields_of({{"Expires", later}, {"Cache-Control", "max-age=7"}})),
            Duration::seconds(7));
  EXPECT_EQ(lifetime(fields_of({{"Expires", later}, {"Date", date}})), Duration::hours(1));
  EXPECT_EQ(lifetime(fields_of({{"Expires", later}})), Duration::seconds(623));
  EXPECT_EQ(lifetime(fields_of({{"Expires", date}, {"Date", later}})), Duration());
  const Freshness zero = freshness_of(fields_of({{"Expires", "0"}}), kNow);
  EXPECT_EQ(zero.source, Freshness::Source::kExpires);
  EXPECT_EQ(zero.lifetime, Duration());
}

TEST(RetryAfter, SecondsAndDatesAreClamped) {
  EXPECT_EQ(parse_retry_after("120", kNow), Duration::seconds(120));
  EXPECT_EQ(parse_retry_after(" 0 ", kNow), Duration());
  EXPECT_EQ(parse_retry_after("Sun, 06 Nov 1994 08:50:37 GMT", kNow), Duration::minutes(1));
  EXPECT_EQ(parse_retry_after("Sun, 06 Nov 1984 08:50:37 GMT", kNow), Duration());
  EXPECT_EQ(parse_retry_after("Sun, 06 Nov 2094 08:50:37 GMT", kNow), kRetryAfterMax);
  EXPECT_EQ(parse_retry_after("99999999999999999999", kNow), kRetryAfterMax);
  for (const std::string_view text : {"", "-5", "soon", "1.5h", "12 minutes"}) {
    EXPECT_FALSE(parse_retry_after(text, kNow)) << text;
  }
}

TEST(HttpFields, DatesAndAgeAreRead) {
  const FieldList fields = fields_of({{"Last-Modified", "Sun, 06 Nov 1994 08:49:37 GMT"},
                                      {"Date", "yesterday"},
                                      {"Age", "10, 20"}});
  EXPECT_EQ(last_modified_of(fields, 2026), kNow);
  EXPECT_FALSE(date_of(fields, 2026));
  EXPECT_EQ(age_of(fields), Duration::seconds(10));
  EXPECT_FALSE(age_of(fields_of({{"Age", "-1"}})));
}

TEST(HeaderLinks, TheExamplesOfRfc8288AreRead) {
  const auto links = parse_links(
      "<http://example.com/TheBook/chapter2>; rel=\"previous\"; title=\"previous chapter\"");
  ASSERT_EQ(links.size(), 1);
  EXPECT_EQ(links[0].target, "http://example.com/TheBook/chapter2");
  EXPECT_TRUE(links[0].has_rel("previous"));
  EXPECT_EQ(links[0].title, "previous chapter");

  const auto root = parse_links("</>; rel=\"http://example.net/foo\"");
  EXPECT_EQ(root.at(0).rels, std::vector<std::string>{"http://example.net/foo"});
  EXPECT_EQ(parse_links("</terms>; rel=\"copyright\"; anchor=\"#foo\"").at(0).anchor, "#foo");

  const auto german = parse_links(
      "</TheBook/chapter2>; rel=\"previous\"; title*=UTF-8'de'letztes%20Kapitel,"
      "</TheBook/chapter4>; rel=\"next\"; title*=UTF-8'de'n%c3%a4chstes%20Kapitel");
  ASSERT_EQ(german.size(), 2);
  EXPECT_EQ(german[0].title, "letztes Kapitel");
  EXPECT_EQ(german[1].title, "nächstes Kapitel");

  const auto two = parse_links("<http://example.org/>; rel=\"start http://example.net/relation\"");
  EXPECT_EQ(two.at(0).rels, (std::vector<std::string>{"start", "http://example.net/relation"}));
  EXPECT_EQ(parse_links("<https://a/>; rel=\"start\", <https://b/>; rel=\"index\"").size(), 2);
}

TEST(HeaderLinks, CommasAndQuotesInsideDoNotDivide) {
  const auto links = parse_links(
      "<http://a/?x=1,2;3>; rel=\"a, b\"; title=\"q\\\"<x>, y\" , ,junk; rel=\"x\", bare,"
      "< /s >;rel=Next ; TYPE = text/html;hreflang=de;hreflang=en;rel=ignored;media=print");
  ASSERT_EQ(links.size(), 2);
  EXPECT_EQ(links[0].target, "http://a/?x=1,2;3");
  EXPECT_EQ(links[0].title, "q\"<x>, y");
  EXPECT_EQ(links[0].rels, (std::vector<std::string>{"a,", "b"}));
  EXPECT_EQ(links[1].target, "/s");
  EXPECT_EQ(links[1].rels, std::vector<std::string>{"next"});
  EXPECT_EQ(links[1].type, "text/html");
  EXPECT_EQ(links[1].media, "print");
  EXPECT_EQ(links[1].hreflangs, (std::vector<std::string>{"de", "en"}));
}

TEST(HeaderLinks, BrokenLinksEndQuietly) {
  EXPECT_TRUE(parse_links("").empty());
  EXPECT_TRUE(parse_links("<http://a").empty());
  EXPECT_TRUE(parse_links("http://a/; rel=next").empty());
  EXPECT_EQ(parse_links("<a>; rel=\"unclosed, <b>; rel=next").size(), 1);
  EXPECT_EQ(parse_links("<a>;;;=;=x;\"y\";rel").at(0).target, "a");
}

TEST(HeaderLinks, ManyLinksAndParametersAreBoundedAndLinear) {
  std::string text;
  for (int i = 0; i < 200'000; ++i) text += "<a>;rel=x,";
  EXPECT_EQ(parse_links(text).size(), kHeaderLinksMax);
  text = "<a>";
  for (int i = 0; i < 500'000; ++i) text += ";hreflang=x";
  EXPECT_EQ(parse_links(text).at(0).hreflangs.size(), kFieldParametersMax);
  EXPECT_TRUE(parse_links(std::string(3'000'000, '<')).empty());
  text.clear();
  for (int i = 0; i < 1'000'000; ++i) text += "x,";
  EXPECT_TRUE(parse_links(text).empty());
  EXPECT_TRUE(parse_links(std::string(3'000'000, '"')).empty());
}

std::string mime(std::string_view text) {
  const auto type = parse_content_type(text);
  return type ? type->to_string() : "none";
}

// Cases of the kinds that web-platform-tests hold for mimesniff.
TEST(ContentType, ParsesAsTheMimeSniffingStandardSays) {
  EXPECT_EQ(mime("text/html;charset=gbk"), "text/html;charset=gbk");
  EXPECT_EQ(mime("TEXT/HTML;CHARSET=GBK"), "text/html;charset=GBK");
  EXPECT_EQ(mime("text/html;charset=gbk("), "text/html;charset=\"gbk(\"");
  EXPECT_EQ(mime("text/html;x=(;charset=gbk"), "text/html;x=\"(\";charset=gbk");
  EXPECT_EQ(mime("text/html;charset=gbk;charset=windows-1255"), "text/html;charset=gbk");
  EXPECT_EQ(mime("text/html;charset=();charset=GBK"), "text/html;charset=\"()\"");
  EXPECT_EQ(mime("text/html;charset =gbk"), "text/html");
  EXPECT_EQ(mime("text/html ;charset=gbk"), "text/html;charset=gbk");
  EXPECT_EQ(mime("text/html; charset=gbk"), "text/html;charset=gbk");
  EXPECT_EQ(mime("text/html;charset= gbk"), "text/html;charset=\" gbk\"");
  EXPECT_EQ(mime("text/html;charset=\"gbk\""), "text/html;charset=gbk");
  EXPECT_EQ(mime("text/html;charset=\"gbk"), "text/html;charset=gbk");
  EXPECT_EQ(mime("text/html;charset=\"\\ gbk\""), "text/html;charset=\" gbk\"");
  EXPECT_EQ(mime("text/html;charset=\"gbk\"x"), "text/html;charset=gbk");
  EXPECT_EQ(mime("text/html;charset=';charset=GBK"), "text/html;charset='");
  EXPECT_EQ(mime("text/html;charset=\"\";charset=GBK"), "text/html;charset=\"\"");
  EXPECT_EQ(mime("text/html;charset=\";charset=GBK"), "text/html;charset=\";charset=GBK\"");
  EXPECT_EQ(mime("text/html;;;;charset=gbk"), "text/html;charset=gbk");
  EXPECT_EQ(mime("text/html;test;charset=gbk"), "text/html;charset=gbk");
  EXPECT_EQ(mime("\t\n text/html;\r charset=x \n"), "text/html;charset=x");
  EXPECT_EQ(mime("!#$%&'*+-.^_`|~/x"), "!#$%&'*+-.^_`|~/x");
  EXPECT_EQ(mime("x/x;x=\"\\\""), "x/x;x=\"\\\"\"");
  EXPECT_EQ(mime("x/x;x=\"\\\\\""), "x/x;x=\"\\\\\"");
  for (const std::string_view text :
       {"", "\t", "/", "bogus", "bogus/", "bogus/ ", "bogus/bogus/;", "bogus/<;", "</bogus", "(/x",
        "text/html(;doesnot=matter", "{/}", "\xc4\xb0/x", "text/html,text/plain"}) {
    EXPECT_EQ(mime(text), "none") << text;
  }
}

TEST(ContentType, TheLastValidFieldCountsAndInheritsItsCharset) {
  const auto extract = [](std::initializer_list<std::pair<std::string_view, std::string_view>> f) {
    const auto type = content_type_of(fields_of(f));
    return type ? type->to_string() : "none";
  };
  // The examples of the Fetch standard.
  EXPECT_EQ(extract({{"Content-Type", "text/plain;charset=gbk, text/html"}}), "text/html");
  EXPECT_EQ(extract({{"Content-Type", "text/html;charset=gbk;a=b, text/html;x=y"}}),
            "text/html;x=y;charset=gbk");
  EXPECT_EQ(
      extract({{"Content-Type", "text/html;charset=gbk;a=b"}, {"Content-Type", "text/html;x=y"}}),
      "text/html;x=y;charset=gbk");
  EXPECT_EQ(extract({{"Content-Type", "text/html;charset=gbk, x/x, text/html;x=y"}}),
            "text/html;x=y");
  EXPECT_EQ(extract({{"Content-Type", "text/html, cannot-parse"}}), "text/html");
  EXPECT_EQ(extract({{"Content-Type", "text/html, */*"}}), "text/html");
  EXPECT_EQ(extract({}), "none");
}

TEST(ContentType, ManyParametersAreBounded) {
  std::string text = "a/b";
  for (int i = 0; i < 300'000; ++i) text += ";p" + std::to_string(i) + "=x";
  EXPECT_EQ(parse_content_type(text)->parameters.size(), kFieldParametersMax);
}

TEST(EntityTag, ComparesAsTheTableOfRfc9110) {
  const auto tag = [](std::string_view text) { return *parse_etag(text); };
  EXPECT_FALSE(tag("W/\"1\"").strong_equals(tag("W/\"1\"")));
  EXPECT_TRUE(tag("W/\"1\"").weak_equals(tag("W/\"1\"")));
  EXPECT_FALSE(tag("W/\"1\"").weak_equals(tag("W/\"2\"")));
  EXPECT_FALSE(tag("W/\"1\"").strong_equals(tag("\"1\"")));
  EXPECT_TRUE(tag("W/\"1\"").weak_equals(tag("\"1\"")));
  EXPECT_TRUE(tag("\"1\"").strong_equals(tag("\"1\"")));
  EXPECT_EQ(tag(" \"x\" ").text, "\"x\"");
  EXPECT_TRUE(tag("\"\"").is_well_formed);
  for (const std::string_view text : {"x", "\"", "\"a", "\"a\"b\"", "w/\"a\"", "\"a b\"", "W/x"}) {
    EXPECT_FALSE(tag(text).is_well_formed) << text;
  }
  EXPECT_FALSE(parse_etag(" "));
}

TEST(ContentRange, OnlySoundRangesAreRead) {
  EXPECT_EQ(parse_content_range("bytes 0-499/1234"), (ContentRange{0, 499, 1234}));
  EXPECT_EQ(parse_content_range("Bytes 42-1233/*"), (ContentRange{42, 1233, std::nullopt}));
  EXPECT_EQ(parse_content_range("bytes */1234"), (ContentRange{std::nullopt, std::nullopt, 1234}));
  for (const std::string_view text :
       {"", "bytes", "bytes ", "bytes 0-499", "bytes 5-4/10", "bytes 0-10/10", "bytes */*",
        "items 0-1/2", "bytes -1-2/3", "bytes 0-18446744073709551616/*", "bytes=0-1/2"}) {
    EXPECT_FALSE(parse_content_range(text)) << text;
  }
}

TEST(ContentDisposition, ExtendedNamesWin) {
  const auto parsed = parse_content_disposition(
      "attachment; filename=\"EURO rates\"; filename*=utf-8''%e2%82%ac%20rates");
  ASSERT_TRUE(parsed);
  EXPECT_TRUE(parsed->is_attachment);
  EXPECT_EQ(parsed->filename, "€ rates");
  EXPECT_FALSE(parse_content_disposition("INLINE; filename=a.txt")->is_attachment);
  EXPECT_EQ(parse_content_disposition("inline; filename=a.txt")->filename, "a.txt");
  EXPECT_EQ(parse_content_disposition("filename=\"x; y\"")->filename, "x; y");
  EXPECT_EQ(parse_content_disposition("attachment; filename*=iso-8859-1'en'%A3")->filename, "£");
  EXPECT_EQ(parse_content_disposition("attachment; filename=a; filename*=utf-8''%e")->filename,
            "a");
  EXPECT_FALSE(parse_content_disposition("attachment")->filename);
  EXPECT_FALSE(parse_content_disposition(""));
}

}  // namespace
}  // namespace meguri::web
