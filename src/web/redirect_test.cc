#include "web/redirect.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace meguri::web {
namespace {

TEST(Redirect, FiveStatusesRedirect) {
  for (int status = 100; status < 600; ++status) {
    const bool expected =
        status == 301 || status == 302 || status == 303 || status == 307 || status == 308;
    EXPECT_EQ(is_redirect_status(status), expected) << status;
  }
}

TEST(Redirect, LocationIsCleanedAtItsEnds) {
  const auto target = [](int status, std::string_view location) {
    const std::string bytes = "HTTP/1.1 " + std::to_string(status) +
                              " X\r\nlocation: " + std::string(location) + "\r\n\r\n";
    const ParsedHead parsed = parse_head(HeadKind::kResponse, bytes);
    const auto found = redirect_target(parsed.head);
    return found ? std::string(*found) : "none";
  };
  EXPECT_EQ(target(301, "http://example.com/a b"), "http://example.com/a b");
  EXPECT_EQ(target(302, " \x01/caf\xe9\x1f "), "/caf\xe9");
  EXPECT_EQ(target(308, "/\xe2\x82\xac#f"), "/\xe2\x82\xac#f");
  EXPECT_EQ(target(307, "\x01"), "none");
  EXPECT_EQ(target(301, ""), "none");
  EXPECT_EQ(target(200, "/a"), "none");
  EXPECT_EQ(target(300, "/a"), "none");
  EXPECT_EQ(target(304, "/a"), "none");
  HttpHead none = HttpHead::make_response(301, "Moved");
  EXPECT_FALSE(redirect_target(none));
  none.fields.add("Location", "/first");
  none.fields.add("Location", "/second");
  EXPECT_EQ(redirect_target(none), "/first");
}

TEST(Refresh, FollowsTheSharedDeclarativeRefreshSteps) {
  const auto expect = [](std::string_view text, std::uint32_t delay, std::string_view url) {
    EXPECT_EQ(parse_refresh(text), (Refresh{delay, url})) << text;
  };
  expect("5", 5, "");
  expect(" 0 ", 0, "");
  expect("0; url=foo", 0, "foo");
  expect("0;URL = 'foo bar' baz", 0, "foo bar");
  expect("0;url=\"foo", 0, "foo");
  expect("1.5; url=foo", 1, "foo");
  expect("1...5..; url=foo", 1, "foo");
  expect(".9, foo", 0, "foo");
  expect("7 foo", 7, "foo");
  expect("7 , \tfoo", 7, "foo");
  expect("0; 'foo'", 0, "foo");
  expect("0; ur", 0, "ur");
  expect("0; url", 0, "url");
  expect("0; urlfoo=x", 0, "urlfoo=x");
  expect("0; u=x", 0, "u=x");
  expect("0;url=", 0, "");
  expect("0;", 0, "");
  expect("0; ;x", 0, ";x");
  expect("99999999999999999999; url=x", kRefreshSecondsMax, "x");
  for (const std::string_view text :
       {"", " ", "x", "; url=foo", "-1; url=x", "5foo", "+1", "url=x"}) {
    EXPECT_FALSE(parse_refresh(text)) << text;
  }
}

}  // namespace
}  // namespace meguri::web
