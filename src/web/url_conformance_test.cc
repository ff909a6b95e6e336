// The conformance data of the Web Platform Tests for URLs and domains.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "web/testing.h"
#include "web/url.h"

namespace meguri::web {
namespace {

using nlohmann::json;

// 0xD8 to 0xDB for the "\\uD8xx" of a first surrogate at `at`, 0xDC to 0xDF for a second; else 0.
unsigned surrogate_at(const std::string& text, std::size_t at) {
  if (text.compare(at, 2, "\\u") != 0 || at + 6 > text.size()) return 0;
  const unsigned high = static_cast<unsigned>(std::stoul(text.substr(at + 2, 2), nullptr, 16));
  return high >= 0xD8 && high <= 0xDF ? high : 0;
}

// The data holds surrogates without their other half, which stand for U+FFFD in a URL.
json parse_json(std::string text) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\') continue;
    const unsigned first = surrogate_at(text, i);
    const bool pair = first >= 0xD8 && first < 0xDC && surrogate_at(text, i + 6) >= 0xDC;
    if (first != 0 && !pair) text.replace(i, 6, "\\ufffd");
    i += pair ? 11 : 1;
  }
  return json::parse(text);
}

std::string text_of(const json& c, const char* name) { return c[name].get<std::string>(); }

std::string shown(const std::optional<Url>& url) { return url ? url->href() : "(failure)"; }

void expect_parts(const json& c, const Url& url) {
  const std::string port = url.port() ? std::to_string(*url.port()) : "";
  EXPECT_EQ(text_of(c, "protocol"), std::string(url.scheme()) + ":");
  EXPECT_EQ(text_of(c, "username"), url.username());
  EXPECT_EQ(text_of(c, "password"), url.password());
  EXPECT_EQ(text_of(c, "hostname"), url.host());
  EXPECT_EQ(text_of(c, "host"), std::string(url.host()) + (port.empty() ? "" : ":" + port));
  EXPECT_EQ(text_of(c, "port"), port);
  EXPECT_EQ(text_of(c, "pathname"), url.path());
  EXPECT_EQ(text_of(c, "search"), url.query().empty() ? "" : "?" + std::string(url.query()));
  EXPECT_EQ(text_of(c, "hash"), url.fragment().empty() ? "" : "#" + std::string(url.fragment()));
  if (c.contains("origin")) {
    EXPECT_EQ(text_of(c, "origin"), url.origin());
  }
}

TEST(UrlConformance, EveryCaseOfUrltestdataPasses) {
  READ_TEST_DATA(text, "url/urltestdata.json");
  std::size_t count = 0;
  for (const json& c : parse_json(text)) {
    if (!c.is_object()) continue;
    ++count;
    const std::string input = text_of(c, "input");
    SCOPED_TRACE(c.dump());
    std::optional<Url> base;
    if (c.contains("base") && !c["base"].is_null()) {
      base = Url::parse(c["base"].get<std::string>());
      ASSERT_TRUE(base || c.value("failure", false));
      if (!base) continue;
    }
    const auto url = Url::parse(input, base ? &*base : nullptr);
    if (c.value("failure", false)) {
      EXPECT_EQ(shown(url), "(failure)");
      continue;
    }
    EXPECT_EQ(shown(url), text_of(c, "href"));
    if (!url) continue;
    expect_parts(c, *url);
    EXPECT_EQ(shown(Url::parse(url->href())), url->href());
  }
  EXPECT_GT(count, 800U);
}

// The domain as part of a URL; characters that would end the host are escaped.
std::string domain_in_url(const std::string& domain) {
  std::string escaped;
  for (const char c : domain) {
    switch (c) {
      case ':': escaped += "%3A"; break;
      case '/': escaped += "%2F"; break;
      case '?': escaped += "%3F"; break;
      case '#': escaped += "%23"; break;
      case '\\': escaped += "%5C"; break;
      default: escaped += c;
    }
  }
  const auto url = Url::parse("https://" + escaped + "/x");
  return url ? std::string(url->host()) : "(failure)";
}

TEST(UrlConformance, EveryCaseOfToasciiPasses) {
  READ_TEST_DATA(text, "url/toascii.json");
  for (const json& c : parse_json(text)) {
    if (!c.is_object()) continue;
    EXPECT_EQ(domain_in_url(c["input"]),
              c["output"].is_null() ? "(failure)" : c["output"].get<std::string>())
        << c.dump();
  }
}

// Cases with characters that came after Unicode 15, the version of ICU 72.
const std::set<std::string> too_new = {
    "\U00032931"
    "20.\u97F3.\uA866"
    "1.",
    "\U00032B9A"
    "9\uA369\u17D3.ss",
    "\U00032B9A"
    "9\uA369\u17D3.SS",
};

TEST(UrlConformance, IdnaTestV2PassesButForCharactersNewerThanIcu) {
  READ_TEST_DATA(text, "url/IdnaTestV2.json");
  std::size_t count = 0;
  std::set<std::string> failed;
  for (const json& c : parse_json(text)) {
    if (!c.is_object() || c["input"].get_ref<const std::string&>().empty()) continue;
    ++count;
    const std::string input = c["input"];
    const std::string expected =
        c["output"].is_null() ? "(failure)" : c["output"].get<std::string>();
    const std::string host = domain_in_url(input);
    if (host == expected) continue;
    failed.insert(input);
    EXPECT_TRUE(too_new.contains(input)) << c.dump(-1, ' ', true) << "\n  got " << host;
  }
  EXPECT_GT(count, 2500U);
  EXPECT_EQ(failed, too_new) << "a listed case passes now";
}

}  // namespace
}  // namespace meguri::web
