#include "archive/page_scope.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace meguri::archive {
namespace {

bool lies_in(const std::vector<KeyRange>& ranges, const std::string& key) {
  for (const KeyRange& range : ranges) {
    if (range.begin <= key && key < range.end) return true;
  }
  return false;
}

// Whether a page is meant; its key lies in the ranges if it is.
bool has(const PageScope& scope, const std::string& url) {
  IndexEntry entry;
  entry.url = url;
  const EncodedEntry bytes = encode(entry);
  const bool holds = scope.holds(*EntryView::parse(bytes.key, bytes.value));
  if (holds) {
    EXPECT_TRUE(lies_in(scope.ranges(), bytes.key)) << url;
  }
  return holds;
}

TEST(PageScope, IsAllPagesIfNothingIsSaid) {
  const PageScope scope;
  EXPECT_TRUE(scope.is_all());
  EXPECT_TRUE(has(scope, "http://example.com/"));
  EXPECT_TRUE(has(scope, "dns:example.com"));
}

TEST(PageScope, KnowsAHostUnderAllItsSchemesAndPorts) {
  PageScope scope;
  ASSERT_TRUE(scope.add_host("www.Example.com"));
  EXPECT_TRUE(has(scope, "http://example.com/a"));
  EXPECT_TRUE(has(scope, "https://www.example.com:8443/a?b"));
  EXPECT_FALSE(has(scope, "https://sub.example.com/"));
  EXPECT_FALSE(has(scope, "https://example.com.evil.org/"));
  EXPECT_FALSE(has(scope, "https://example.community/"));
}

TEST(PageScope, KnowsAHostByItsPort) {
  PageScope scope;
  ASSERT_TRUE(scope.add_host("example.com:8080"));
  EXPECT_TRUE(has(scope, "http://example.com:8080/"));
  EXPECT_FALSE(has(scope, "http://example.com/"));
  EXPECT_FALSE(has(scope, "http://example.com:80801/"));
}

TEST(PageScope, KnowsADomainWithAllBelowIt) {
  PageScope scope;
  ASSERT_TRUE(scope.add_domain("example.com"));
  EXPECT_TRUE(has(scope, "http://example.com/"));
  EXPECT_TRUE(has(scope, "http://a.b.example.com:81/x"));
  EXPECT_FALSE(has(scope, "http://notexample.com/"));
}

TEST(PageScope, KnowsAPrefixAsItIsWritten) {
  PageScope scope;
  ASSERT_TRUE(scope.add_prefix("https://example.com/Docs/"));
  EXPECT_TRUE(has(scope, "https://example.com/Docs/"));
  EXPECT_TRUE(has(scope, "https://example.com/Docs/b?c=1"));
  EXPECT_FALSE(has(scope, "https://example.com/docs/b"));
  EXPECT_FALSE(has(scope, "http://example.com/Docs/b"));
  EXPECT_FALSE(has(scope, "https://example.com/Docsother"));
  PageScope query;
  ASSERT_TRUE(query.add_prefix("https://example.com/p?b=2"));
  EXPECT_TRUE(has(query, "https://example.com/p?b=2&a=1"));
  EXPECT_FALSE(has(query, "https://example.com/p?a=1&b=2"));
}

TEST(PageScope, KnowsAPrefixWithoutASchemeAsKeysHaveIt) {
  PageScope scope;
  ASSERT_TRUE(scope.add_prefix("example.com/docs/"));
  EXPECT_TRUE(has(scope, "https://www.example.com/Docs/a"));
  EXPECT_TRUE(has(scope, "http://example.com/docs"));
  EXPECT_FALSE(has(scope, "http://example.com/docsother"));
}

TEST(PageScope, KnowsOnePageExactly) {
  PageScope scope;
  ASSERT_TRUE(scope.add_url("HTTP://example.com"));
  EXPECT_TRUE(has(scope, "http://example.com/"));
  EXPECT_TRUE(has(scope, "HTTP://example.com"));
  EXPECT_FALSE(has(scope, "https://example.com/"));
  EXPECT_FALSE(has(scope, "http://www.example.com/"));
}

TEST(PageScope, IsAnyOfWhatIsSaid) {
  PageScope scope;
  ASSERT_TRUE(scope.add_host("a.org"));
  ASSERT_TRUE(scope.add_host("b.org"));
  EXPECT_TRUE(has(scope, "http://a.org/"));
  EXPECT_TRUE(has(scope, "http://b.org/"));
  EXPECT_FALSE(has(scope, "http://c.org/"));
}

TEST(PageScope, RefusesWhatIsNone) {
  PageScope scope;
  for (const char* text : {"", "http://example.com/", "a b", "example.com/x", "[::1"}) {
    EXPECT_FALSE(scope.add_host(text)) << text;
  }
  EXPECT_FALSE(scope.add_domain("example.com:80a"));
  EXPECT_FALSE(scope.add_prefix(""));
  EXPECT_FALSE(scope.add_url("example.com/"));
  EXPECT_TRUE(scope.is_all());
}

}  // namespace
}  // namespace meguri::archive
