#include "archive/entry_filter.h"

#include <gtest/gtest.h>

#include "archive/content_finder.h"

namespace meguri::archive {
namespace {

HeldEntry held(const IndexEntry& entry) {
  const EncodedEntry bytes = encode(entry);
  return {bytes.key, bytes.value};
}

IndexEntry page() {
  IndexEntry entry;
  entry.url = "http://example.com/";
  entry.status = 200;
  entry.mime = "text/html";
  entry.language = "ja";
  entry.digest = "sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ";
  return entry;
}

TEST(EntryFilter, TakesAnyOfOneKindAndAllKinds) {
  const HeldEntry html = held(page());
  EntryFilter filter;
  EXPECT_TRUE(filter.holds(html.view(), nullptr));
  ASSERT_TRUE(filter.add_mime("image/*"));
  EXPECT_FALSE(filter.holds(html.view(), nullptr));
  ASSERT_TRUE(filter.add_mime("Text/HTML"));
  EXPECT_TRUE(filter.holds(html.view(), nullptr));
  ASSERT_TRUE(filter.add_status("404"));
  EXPECT_FALSE(filter.holds(html.view(), nullptr));
  ASSERT_TRUE(filter.add_status("2xx"));
  EXPECT_TRUE(filter.holds(html.view(), nullptr));
  ASSERT_TRUE(filter.add_language("JA"));
  EXPECT_TRUE(filter.holds(html.view(), nullptr));
  ASSERT_TRUE(filter.add_digest("3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ"));
  EXPECT_TRUE(filter.holds(html.view(), nullptr));
}

TEST(EntryFilter, AsksTheContentForWhatAVisitDoesNotSay) {
  IndexEntry entry;
  entry.url = "http://example.com/";
  entry.kind = EntryKind::kUnchanged;
  entry.status = 304;
  const HeldEntry unchanged = held(entry);
  const HeldEntry content = held(page());
  EntryFilter filter;
  ASSERT_TRUE(filter.add_status("200-299"));
  ASSERT_TRUE(filter.add_mime("text/*"));
  EXPECT_FALSE(filter.is_told_by(unchanged.view()));
  EXPECT_TRUE(filter.holds(unchanged.view(), &content.view()));
  EXPECT_FALSE(filter.holds(unchanged.view(), nullptr));
  EXPECT_TRUE(filter.is_told_by(content.view()));
}

TEST(EntryFilter, RefusesWhatIsNone) {
  EntryFilter filter;
  for (const char* text : {"", "html", "/html", "text/"}) EXPECT_FALSE(filter.add_mime(text));
  for (const char* text : {"", "20x", "1000", "300-200", "a", "2-", "-"}) {
    EXPECT_FALSE(filter.add_status(text)) << text;
  }
  EXPECT_FALSE(filter.add_language(""));
  EXPECT_FALSE(filter.add_digest(""));
  EXPECT_TRUE(filter.is_empty());
}

}  // namespace
}  // namespace meguri::archive
