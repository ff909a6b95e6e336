#include "web/url.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "web/host.h"
#include "web/idna.h"
#include "web/percent.h"

namespace meguri::web {
namespace {

std::string href(std::string_view input) {
  const auto url = Url::parse(input);
  return url ? url->href() : "(failure)";
}

std::string resolved(std::string_view input, std::string_view base) {
  const auto base_url = Url::parse(base);
  EXPECT_TRUE(base_url) << base;
  const auto url = Url::parse(input, &*base_url);
  return url ? url->href() : "(failure)";
}

UrlFailure failure_of(std::string_view input) {
  UrlFailure failure{};
  EXPECT_FALSE(Url::parse(input, nullptr, Charset::kUtf8, &failure)) << input;
  return failure;
}

TEST(Url, EveryPartIsWhereItWasWritten) {
  const auto url = Url::parse("https://user:pass@example.org:8080/a/b?q=1#part");
  ASSERT_TRUE(url);
  EXPECT_EQ(url->scheme(), "https");
  EXPECT_EQ(url->username(), "user");
  EXPECT_EQ(url->password(), "pass");
  EXPECT_EQ(url->host(), "example.org");
  EXPECT_EQ(url->port(), 8080);
  EXPECT_EQ(url->path(), "/a/b");
  EXPECT_EQ(url->query(), "q=1");
  EXPECT_EQ(url->fragment(), "part");
  EXPECT_EQ(url->without_fragment(), "https://user:pass@example.org:8080/a/b?q=1");
  EXPECT_EQ(url->origin(), "https://example.org:8080");
  EXPECT_TRUE(url->is_special());
  EXPECT_TRUE(url->is_http());
  EXPECT_TRUE(url->has_credentials());
}

TEST(Url, EmptyQueryAndFragmentDifferFromNone) {
  const auto with = Url::parse("http://a/?#");
  const auto without = Url::parse("http://a/");
  ASSERT_TRUE(with && without);
  EXPECT_TRUE(with->has_query());
  EXPECT_TRUE(with->has_fragment());
  EXPECT_EQ(with->query(), "");
  EXPECT_FALSE(without->has_query());
  EXPECT_FALSE(without->has_fragment());
}

TEST(Url, PlainUrlsAndTheGeneralParserAgree) {
  // A tab inside sends the same URL through the general parser.
  for (const std::string rest :
       {"",    "/",      "?",         "#",     "/a",     "/a/b.html?x=1&y=2#z",
        "?q",  "#f",     "/%7Ea",     "/a//b", "/a%2Fb", "/a_b-c~d!$&'()*+,;=:@",
        "/?'", "/#'`",   "/^",        "/{}",   "/%2e/b", "/..",
        "/.a", "/a/./b", "/%2E%2e/c", "/\\x",  "/|"}) {
    for (const std::string host : {"example.org", "a", "x.y.z", "a_b.c", "1.2.3.4", "1.2", "a.1",
                                   "a.b.", "0x7f.1", "a..b", ".a", "xn--a.b", "1a.b1", "a.1b"}) {
      const std::string plain = "http://" + host + rest;
      const std::string with_tab = "ht\ttp://" + host + rest;
      EXPECT_EQ(href(plain), href(with_tab)) << plain;
    }
  }
}

TEST(Url, SpacesAroundAndTabsInsideAreRemoved) {
  EXPECT_EQ(href(" \n http://a/b \t"), "http://a/b");
  EXPECT_EQ(href("http://exa\nmple.org/a\r\tb"), "http://example.org/ab");
}

TEST(Url, BrokenUtf8IsReadAsReplacementCharacters) {
  EXPECT_EQ(href("http://a/\xFF"), "http://a/%EF%BF%BD");
  EXPECT_EQ(href("http://a/\xE3\x81?\xC3#\xF0\x9F\x98"), "http://a/%EF%BF%BD?%EF%BF%BD#%EF%BF%BD");
  EXPECT_EQ(href("http://\xFF/"), "(failure)");
}

TEST(Url, RelativeReferencesOfRfc3986) {
  const std::string base = "http://a/b/c/d;p?q";
  EXPECT_EQ(resolved("g", base), "http://a/b/c/g");
  EXPECT_EQ(resolved("./g", base), "http://a/b/c/g");
  EXPECT_EQ(resolved("g/", base), "http://a/b/c/g/");
  EXPECT_EQ(resolved("/g", base), "http://a/g");
  EXPECT_EQ(resolved("//g", base), "http://g/");
  EXPECT_EQ(resolved("?y", base), "http://a/b/c/d;p?y");
  EXPECT_EQ(resolved("g?y", base), "http://a/b/c/g?y");
  EXPECT_EQ(resolved("#s", base), "http://a/b/c/d;p?q#s");
  EXPECT_EQ(resolved(";x", base), "http://a/b/c/;x");
  EXPECT_EQ(resolved("", base), "http://a/b/c/d;p?q");
  EXPECT_EQ(resolved("..", base), "http://a/b/");
  EXPECT_EQ(resolved("../../../g", base), "http://a/g");
  EXPECT_EQ(resolved("g;x=1/../y", base), "http://a/b/c/y");
  EXPECT_EQ(resolved("mailto:a@b", base), "mailto:a@b");
}

TEST(Url, RelativeReferencesKeepThePortOfTheirBase) {
  const auto base = Url::parse("https://u:p@h:444/a/b");
  const auto url = Url::parse("../c?d", &*base);
  ASSERT_TRUE(url);
  EXPECT_EQ(url->href(), "https://u:p@h:444/c?d");
  EXPECT_EQ(url->port(), 444);
  EXPECT_EQ(url->password(), "p");
  EXPECT_EQ(url->path(), "/c");
}

TEST(Url, FailuresSayWhy) {
  EXPECT_EQ(failure_of("a/b"), UrlFailure::kNoBase);
  EXPECT_EQ(failure_of(""), UrlFailure::kNoBase);
  EXPECT_EQ(failure_of("http://a b/"), UrlFailure::kBadHost);
  EXPECT_EQ(failure_of("http://1.2.3.400/"), UrlFailure::kBadHost);
  EXPECT_EQ(failure_of("http://a:99999/"), UrlFailure::kBadPort);
  EXPECT_EQ(failure_of("http://a:x/"), UrlFailure::kBadPort);
  EXPECT_EQ(failure_of("http://a/" + std::string(kUrlBytesMax, 'a')), UrlFailure::kTooLong);
  EXPECT_EQ(name_of(UrlFailure::kTooLong), "too-long");
}

TEST(Url, LimitHoldsForTheSerialisedFormToo) {
  const std::string longest = "http://a/" + std::string(kUrlBytesMax - 9, 'b');
  EXPECT_EQ(href(longest), longest);
  EXPECT_EQ(failure_of("http://a/" + std::string(kUrlBytesMax / 2, ' ') + "b"),
            UrlFailure::kTooLong);
  // One more byte for the slash of the path.
  EXPECT_EQ(failure_of("http://a?" + std::string(kUrlBytesMax - 9, 'b')), UrlFailure::kTooLong);
}

TEST(Url, ManyDotSegmentsTakeLinearTime) {
  std::string up = "http://a";
  while (up.size() + 6 < kUrlBytesMax) up += "/b/..";
  for (int i = 0; i < 100; ++i) EXPECT_EQ(href(up), "http://a/");
  std::string at = "http://";
  at += std::string(20'000, '@');
  at += "h/";
  EXPECT_EQ(Url::parse(at)->host(), "h");
}

TEST(Url, ReadsNothingBehindItsInput) {
  for (const std::string_view text : {"http://a/%", "http://a/%2", "http://a/b/%2", "http://a/.",
                                      "https:", "http", "http://[", "a:", "file:c", "file://c|"}) {
    // A block of exactly this size, so that a sanitizer sees a read behind its end.
    const auto copy = std::make_unique<char[]>(text.size());
    std::ranges::copy(text, copy.get());
    const auto url = Url::parse({copy.get(), text.size()});
    if (url) {
      EXPECT_EQ(href(url->href()), url->href());
    }
  }
}

TEST(Host, LongNamesOutsideAsciiAreRefused) {
  std::string name;
  while (name.size() <= kIdnaBytesMax) name += "\u00FC.";
  EXPECT_EQ(failure_of("http://" + name + "/"), UrlFailure::kBadHost);
  std::string many;  // of Punycode, which takes time by the square of a label
  for (char32_t c = 0x4E00; many.size() < 60'000; ++c) {
    many += static_cast<char>(0xE0U | (c >> 12U));
    many += static_cast<char>(0x80U | ((c >> 6U) & 0x3FU));
    many += static_cast<char>(0x80U | (c & 0x3FU));
  }
  EXPECT_EQ(failure_of("http://" + many + "/"), UrlFailure::kBadHost);
}

TEST(Host, AddressesAreRecognised) {
  EXPECT_TRUE(is_ip_address("1.2.3.4"));
  EXPECT_TRUE(is_ip_address("[::1]"));
  EXPECT_FALSE(is_ip_address("example.org"));
  EXPECT_FALSE(is_ip_address("1.2.3.com"));
  EXPECT_FALSE(is_ip_address(""));
}

TEST(Punycode, ExamplesOfRfc3492) {
  const auto punycode = [](std::u32string_view label) {
    std::string out;
    EXPECT_TRUE(append_punycode(label, &out));
    return out;
  };
  EXPECT_EQ(punycode(U"bücher"), "bcher-kva");
  EXPECT_EQ(punycode(U"ليهمابتكلموشعربي؟"), "egbpdaj6bu4bxfgehfvwxn");
  EXPECT_EQ(punycode(U"他们为什么不说中文"), "ihqwcrb4cv8a8dqg056pqjye");
  EXPECT_EQ(punycode(U"3年B組金八先生"), "3B-ww4c5e180e575a65lsy2b");
  EXPECT_EQ(punycode(U"安室奈美恵-with-SUPER-MONKEYS"), "-with-SUPER-MONKEYS-pc58ag80a8qai00g7n9n");
  EXPECT_EQ(punycode(U"MajiでKoiする5秒前"), "MajiKoi5-783gue6qz075azm5e");
  EXPECT_EQ(punycode(U"-> $1.00 <-"), "-> $1.00 <--");
}

TEST(Percent, SetsAreThoseOfTheStandard) {
  EXPECT_TRUE(is_in(EncodeSet::kPath, '^'));
  EXPECT_FALSE(is_in(EncodeSet::kQuery, '^'));
  EXPECT_TRUE(is_in(EncodeSet::kSpecialQuery, '\''));
  EXPECT_FALSE(is_in(EncodeSet::kQuery, '\''));
  EXPECT_TRUE(is_in(EncodeSet::kUserinfo, '|'));
  EXPECT_FALSE(is_in(EncodeSet::kPath, '|'));
  EXPECT_TRUE(is_in(EncodeSet::kC0Control, '\x7F'));
  EXPECT_FALSE(is_in(EncodeSet::kC0Control, ' '));
}

TEST(Percent, DecodingIsDoneOnceAndKeepsWhatIsNoEscape) {
  std::string out;
  append_decoded("%41%2541%4%zz%", &out);
  EXPECT_EQ(out, "A%41%4%zz%");
}

}  // namespace
}  // namespace meguri::web
