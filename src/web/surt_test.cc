#include "web/surt.h"

#include <gtest/gtest.h>

#include <array>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <random>
#include <string>

#include "web/surt_steps.h"
#include "web/testing.h"

namespace meguri::web {
namespace {

std::string google(std::string_view url) {
  auto parts = SurtUrl::parse(url);
  if (!parts || !parts->canonicalize_google()) return "(refused)";
  return parts->to_url();
}

std::string ia(std::string_view url) {
  auto parts = SurtUrl::parse(url);
  if (!parts) return "(refused)";
  parts->canonicalize_ia();
  return parts->to_url();
}

std::string default_ia(std::string_view url) {
  auto parts = SurtUrl::parse(url);
  if (!parts || !parts->canonicalize_google()) return "(refused)";
  parts->canonicalize_ia();
  return parts->to_url();
}

// Some keys of the data are bytes written as the characters of the same number: those with a
// character from U+0080 to U+009F, which nobody writes on purpose.
std::string bytes_of(const std::string& key) {
  std::string latin1;
  bool has_control = false;
  for (std::size_t i = 0; i < key.size(); ++i) {
    const auto lead = static_cast<unsigned char>(key[i]);
    if (lead < 0x80) {
      latin1 += key[i];
    } else if (lead == 0xC2 || lead == 0xC3) {
      const unsigned value =
          ((lead & 0x1FU) << 6U) | (static_cast<unsigned char>(key[++i]) & 0x3FU);
      has_control = has_control || value < 0xA0;
      latin1 += static_cast<char>(value);
    } else {
      return key;
    }
  }
  return has_control ? latin1 : key;
}

TEST(Surt, EveryCaseOfTheSharedDataPasses) {
  READ_TEST_DATA(text, "url/surt.json");
  const std::map<std::string, std::function<std::string(const std::string&)>> steps = {
      {"Canonicalizer.DefaultIA", default_ia},
      {"google", google},
      {"googleSupplementalFromSurt", google},
      {"unescapeRepeatedly", unescape_repeatedly},
      {"Canonicalizer.IA", ia},
      {"alphaRorderQuery", alpha_reorder_query},
      {"massageHost", [](const std::string& host) { return std::string(massage_host(host)); }},
      {"stripPathSessionId", strip_path_session_id},
      {"defaultIASurt", [](const std::string& url) { return surt_key(url); }},
  };
  std::size_t count = 0;
  const nlohmann::json groups = nlohmann::json::parse(text);
  for (const auto& [group, cases] : groups.items()) {
    ASSERT_TRUE(steps.contains(group)) << group;
    for (const auto& [input, output] : cases.items()) {
      EXPECT_EQ(steps.at(group)(bytes_of(input)), output.get<std::string>())
          << group << " " << input;
      ++count;
    }
  }
  EXPECT_GE(count, 80U);
}

// Keys that the package (0.3.1) gave.
TEST(Surt, KeysOfThePackage) {
  EXPECT_EQ(surt_key("http://www.example.com/"), "com,example)/");
  EXPECT_EQ(surt_key("http://user:pw@example.com:80/A/B/"), "com,example)/a/b");
  EXPECT_EQ(surt_key("https://example.com:80/"), "com,example:80)/");
  EXPECT_EQ(surt_key("http://[::1]:8080/"), "::1:8080)/");
  EXPECT_EQ(surt_key("http://127.0.0.1/"), "1,0,0,127)/");
  EXPECT_EQ(surt_key("http://010.1/"), "1,0,0,8)/");
  EXPECT_EQ(surt_key("http://0.9/"), "9,0)/");
  EXPECT_EQ(surt_key("http:///example.com/x"), "com,example)/x");
  EXPECT_EQ(surt_key("http://https://example.com/"), "com,example)/");
  EXPECT_EQ(surt_key("example.com:80/x"), "example.com:80/x");
  EXPECT_EQ(surt_key("http://a/../../b//c/./d/.."), "a)/b/c");
  EXPECT_EQ(surt_key("http://straße.de/"), "de,strasse)/");
  EXPECT_EQ(surt_key("http://\u1E9E.de/"), "de,ss)/");
  EXPECT_EQ(surt_key("http://ファイル.jp/"), "jp,xn--bckg9lpd)/");
  EXPECT_EQ(surt_key("http://a/%E3%81%82?B=%E3%81%82"), "a)/%e3%81%82?b=%e3%81%82");
  EXPECT_EQ(surt_key("mailto:Foo@example.com"), "mailto:foo@example.com");
}

TEST(Surt, WhatThePackageRefusesStaysAsItIs) {
  EXPECT_EQ(surt_key("  "), "  ");
  EXPECT_EQ(surt_key("http://a:b/"), "http://a:b/");
  EXPECT_EQ(surt_key("http://a:70000/"), "http://a:70000/");
}

TEST(Surt, HostsThatAreNotUtf8KeepTheirBytes) {
  EXPECT_EQ(surt_key("http://a\x80.com/"), "com,a%80)/");
}

TEST(Surt, ParsedUrlsHaveTheKeyOfTheirText) {
  constexpr std::array kPieces = {"/",
                                  "//",
                                  "/a",
                                  "/B",
                                  "/(S(4hqa0555fwsecu455xqckv45))",
                                  "/(4hqa0555fwsecu455xqckv45)",
                                  "/x.aspx",
                                  "%41",
                                  "%2541",
                                  "%2F",
                                  "?",
                                  "&",
                                  "=",
                                  "a",
                                  "b=1",
                                  "B=2",
                                  "&sid=",
                                  "0123456789abcdef0123456789abcdef",
                                  "cfid=1&cftoken=2",
                                  "ASPSESSIONIDabcdefgh=",
                                  "abcdefghijklmnopqrstuvwx",
                                  "\u00E9",
                                  "#",
                                  "%",
                                  "..",
                                  "id=",
                                  "jsessionid="};
  constexpr std::array kHosts = {"http://www.a.org", "https://a.b:81", "http://1.2.3.4",
                                 "http://a..b",      "http://[::1]",   "http://www2.x_y.z:443",
                                 "http://a.1b",      "http://u@h",     "http://a:0",
                                 "ftp://a.org",      "http://b.org."};
  std::mt19937_64 random(11);
  for (int i = 0; i < 50'000; ++i) {
    std::string input = kHosts.at(random() % kHosts.size());
    for (auto n = random() % 10; n > 0; --n) input += kPieces.at(random() % kPieces.size());
    const auto url = Url::parse(input);
    if (!url) continue;
    ASSERT_EQ(surt_key(*url), surt_key(std::string_view(url->href()))) << input;
  }
}

TEST(Surt, KeysMayBeLongerThanTheirUrl) {
  const auto url = Url::parse("http://a.org/?" + std::string(100, '%'));
  std::string escaped;
  for (int i = 0; i < 100; ++i) escaped += "%25";
  EXPECT_EQ(surt_key(*url), "org,a)/?" + escaped);
}

TEST(Surt, NestedEscapesAndRepeatedPatternsTakeLinearTime) {
  constexpr std::size_t kBytes = 1'000'000;
  std::string nested = "%";
  while (nested.size() < kBytes) nested += "25";
  EXPECT_EQ(unescape_repeatedly(nested + "41"), "A");
  const auto repeated = [](std::string_view piece) {
    std::string text;
    while (text.size() < kBytes) text += piece;
    return text;
  };
  for (const std::string_view piece : {"cfid=", "sid=sid=&", "cfid=&cftoken=", "jsessionid=0"}) {
    const std::string query = repeated(piece);
    EXPECT_TRUE(strip_query_session_id(query) == query) << piece;
  }
  for (const std::string_view piece :
       {"/(S(4hqa0555fwsecu455xqckv45)", "/(4hqa0555fwsecu455xqckv45)/", "/(S(?.aspx"}) {
    const std::string path = repeated(piece);
    EXPECT_TRUE(strip_path_session_id(path) == path) << piece;
  }
  EXPECT_EQ(normalize_path(repeated("/a/..")), "/");
  EXPECT_EQ(alpha_reorder_query(repeated("bbbbb=1&a&")).size(), kBytes);
}

}  // namespace
}  // namespace meguri::web
