// Queries in the charset of their document.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "web/charset.h"
#include "web/testing.h"
#include "web/url.h"

namespace meguri::web {
namespace {

std::string query_in(Charset charset, const std::string& input,
                     const std::string& scheme = "http") {
  const auto url = Url::parse(scheme + "://a/?" + input + "#f", nullptr, charset);
  return url ? std::string(url->query()) : "(failure)";
}

TEST(UrlCharset, EveryCaseOfPercentEncodingPasses) {
  READ_TEST_DATA(text, "url/percent-encoding.json");
  std::size_t count = 0;
  for (const nlohmann::json& c : nlohmann::json::parse(text)) {
    if (!c.is_object()) continue;
    for (const auto& [label, output] : c["output"].items()) {
      const auto charset = charset_of_label(label);
      ASSERT_TRUE(charset) << label;
      EXPECT_EQ(query_in(*charset, c["input"]), output.get<std::string>()) << label << c.dump();
      ++count;
    }
  }
  EXPECT_GE(count, 15U);
}

TEST(UrlCharset, WhatTheCharsetCannotWriteBecomesACharacterReference) {
  EXPECT_EQ(query_in(Charset::kWindows1252, "a=\u3042&b=1"), "a=%26%2312354%3B&b=1");
}

TEST(UrlCharset, OnlyTheQueryIsWrittenInIt) {
  const auto url = Url::parse("http://a/\u00E9?\u3042#\u00E9", nullptr, Charset::kWindows1252);
  ASSERT_TRUE(url);
  EXPECT_EQ(url->path(), "/%C3%A9");
  EXPECT_EQ(url->fragment(), "%C3%A9");
}

TEST(UrlCharset, SocketsOtherSchemesAndUtf16UseUtf8) {
  EXPECT_EQ(query_in(Charset::kWindows1252, "\u00E9", "ws"), "%C3%A9");
  EXPECT_EQ(query_in(Charset::kWindows1252, "\u00E9", "sc"), "%C3%A9");
  EXPECT_EQ(query_in(Charset::kUtf16Le, "\u00E9"), "%C3%A9");
  EXPECT_EQ(query_in(Charset::kReplacement, "\u00E9"), "%C3%A9");
}

}  // namespace
}  // namespace meguri::web
