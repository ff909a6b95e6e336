#include "crawl/exclusion_list.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "web/canonical.h"

namespace meguri::crawl {
namespace {

using List = std::shared_ptr<const ExclusionList>;

List list_of(std::string_view text) {
  auto list = ExclusionList::parse(text);
  EXPECT_TRUE(list) << list.error().message();
  return list ? *std::move(list) : std::make_shared<const ExclusionList>();
}

bool excludes(const List& list, std::string_view url) {
  return list->excludes(web::canonical(web::Url::parse(url).value()));
}

TEST(ExclusionList, HoldsHosts) {
  const List list = list_of(
      "# takedown\n\n  Example.ORG \r\nb\xC3\xBC"
      "cher.example\n192.0.2.1\n[2001:db8::1]");
  EXPECT_EQ(list->rules(), 4U);
  EXPECT_TRUE(excludes(list, "http://example.org/"));
  EXPECT_TRUE(excludes(list, "https://EXAMPLE.org:8443/a?b"));
  EXPECT_TRUE(excludes(list, "http://xn--bcher-kva.example/"));
  EXPECT_TRUE(excludes(list, "http://192.0.2.1/x"));
  EXPECT_TRUE(excludes(list, "http://[2001:db8::1]/x"));
  EXPECT_FALSE(excludes(list, "http://www.example.org/"));
  EXPECT_FALSE(excludes(list, "http://example.org.net/"));
}

TEST(ExclusionList, HoldsDomainsWithAllBelowThem) {
  const List list = list_of("*.example.org\n");
  EXPECT_TRUE(excludes(list, "http://example.org/"));
  EXPECT_TRUE(excludes(list, "http://a.b.example.org/"));
  EXPECT_FALSE(excludes(list, "http://anexample.org/"));
  EXPECT_FALSE(excludes(list, "http://org/"));
}

TEST(ExclusionList, HoldsPrefixesOfEitherScheme) {
  const List list = list_of(
      "http://example.org/a\nhttps://example.org/a/b/c\nhttp://example.org/search?q=\n"
      "http://example.net:8080/x/\n");
  EXPECT_TRUE(excludes(list, "http://example.org/a"));
  EXPECT_TRUE(excludes(list, "https://example.org/abc"));
  EXPECT_TRUE(excludes(list, "https://example.org/a/b/c/d")) << "the shorter one holds it";
  EXPECT_TRUE(excludes(list, "https://example.org/a/a"));
  EXPECT_TRUE(excludes(list, "https://example.org/search?q=x"));
  EXPECT_FALSE(excludes(list, "https://example.org/search?p=x"));
  EXPECT_FALSE(excludes(list, "https://example.org/"));
  EXPECT_FALSE(excludes(list, "https://example.org/A"));
  EXPECT_TRUE(excludes(list, "http://example.net:8080/x/y"));
  EXPECT_FALSE(excludes(list, "http://example.net/x/y"));
}

TEST(ExclusionList, HoldsSinglePages) {
  const List list = list_of("=https://Example.org/a/../b?x#y\n= http://example.org/c\n");
  EXPECT_EQ(list->rules(), 2U);
  EXPECT_TRUE(excludes(list, "http://example.org/b?x"));
  EXPECT_TRUE(excludes(list, "https://example.org/c"));
  EXPECT_FALSE(excludes(list, "http://example.org/b?xy"));
  EXPECT_FALSE(excludes(list, "http://example.org/b"));
  EXPECT_FALSE(ExclusionList::parse("=example.org\n"));
}

TEST(ExclusionList, MayStandOnAnother) {
  const auto list = ExclusionList::parse("a.example\n", list_of("b.example\n"));
  ASSERT_TRUE(list);
  EXPECT_EQ((*list)->rules(), 2U);
  EXPECT_TRUE(excludes(*list, "http://a.example/"));
  EXPECT_TRUE(excludes(*list, "http://b.example/"));
  EXPECT_FALSE(excludes(*list, "http://c.example/"));
}

TEST(ExclusionList, HoldsExpressions) {
  const List list = list_of("/\\.(exe|zip)$/\n/^https?://[^/]*\\.example\\.com/[0-9]+$/\n");
  EXPECT_TRUE(excludes(list, "http://example.org/a.zip"));
  EXPECT_FALSE(excludes(list, "http://example.org/a.zip?x"));
  EXPECT_TRUE(excludes(list, "http://a.example.com/123"));
  EXPECT_FALSE(excludes(list, "http://a.example.com/123x"));
}

TEST(ExclusionList, SaysWhichLineIsWrong) {
  for (const auto& [text, what] :
       {std::pair("ok.example\n/a(b/\n", "line 2: \"a(b\" is no regular"),
        std::pair("/abc\n", "line 1: \"/abc\" begins as a regular"),
        std::pair("\n\nexample.org/path\n", "line 3: "), std::pair("user@example.org", "line 1: "),
        std::pair("a b", "line 1: "), std::pair("*", "line 1: "),
        std::pair("ftp://example.org/", "line 1: ")}) {
    const auto list = ExclusionList::parse(text);
    ASSERT_FALSE(list) << text;
    EXPECT_EQ(list.error().code(), base::ErrorCode::kInvalid);
    EXPECT_TRUE(list.error().message().starts_with(what)) << list.error().message();
  }
}

TEST(ExclusionList, WithoutRulesExcludesNothing) {
  EXPECT_FALSE(excludes(list_of(""), "http://example.org/"));
  EXPECT_FALSE(excludes(list_of("# nothing\n"), "http://example.org/"));
}

// As exact as with few, and every rule is found.
TEST(ExclusionList, HoldsManyRules) {
  std::string text;
  for (int i = 0; i < 20'000; ++i) {
    text += fmt::format("h{}.example.org\n*.d{}.example.net\nhttp://example.com/p{}/\n", i, i, i);
    if (i % 20 == 0) text += fmt::format("/[?&]id={}(&|$)/\n", i);
  }
  const List list = list_of(text);
  EXPECT_EQ(list->rules(), 61'000U);
  for (int i = 0; i < 20'000; i += 7) {
    ASSERT_TRUE(excludes(list, fmt::format("http://h{}.example.org/", i))) << i;
    ASSERT_TRUE(excludes(list, fmt::format("http://x.d{}.example.net/", i))) << i;
    ASSERT_TRUE(excludes(list, fmt::format("https://example.com/p{}/x", i))) << i;
    ASSERT_FALSE(excludes(list, fmt::format("http://g{}.example.org/", i))) << i;
    ASSERT_FALSE(excludes(list, fmt::format("http://example.com/p{}", i))) << i;
  }
  EXPECT_TRUE(excludes(list, "http://example.info/?id=19980&x"));
  EXPECT_FALSE(excludes(list, "http://example.info/?id=19981&x"));
}

}  // namespace
}  // namespace meguri::crawl
