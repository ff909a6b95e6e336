#include "archive/index_entry.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/hash.h"
#include "base/testing.h"
#include "env/random.h"
#include "web/surt.h"

namespace meguri::archive {
namespace {

using base::Instant;

constexpr Instant kDate = Instant::from_ms(1'767'225'600'123);

IndexEntry entry_of(std::string url, Instant date = kDate) {
  IndexEntry entry;
  entry.url = std::move(url);
  entry.date = date;
  entry.status = 200;
  entry.mime = "text/html";
  entry.digest = "sha1:VL2MMHO4YXUKFWV63YHTWSBM3GXKSQ2N";
  entry.place = {.file = 7, .offset = 123'456, .index = 0, .length = 4567};
  return entry;
}

IndexEntry read_back(const IndexEntry& entry) {
  const EncodedEntry encoded = encode(entry);
  EXPECT_EQ(encoded.key, key_of(entry));
  const auto view = EntryView::parse(encoded.key, encoded.value);
  EXPECT_TRUE(view);
  return view ? view->to_entry() : IndexEntry{};
}

TEST(IndexEntry, IsReadBackAsItWas) {
  IndexEntry entry = entry_of("http://www.example.com/a?b=1");
  EXPECT_EQ(read_back(entry), entry);
  entry.kind = EntryKind::kUnchanged;
  entry.counts = false;
  entry.is_not_modified = true;
  entry.status = 304;
  entry.mime = "application/x-unheard-of";
  entry.language = "ja";
  entry.original = EntryOriginal{.url = "https://other.example/", .date = Instant::from_ms(5)};
  entry.place.index = 3;
  entry.place.length = 0;
  EXPECT_EQ(read_back(entry), entry);
  entry.kind = EntryKind::kChanged;
  entry.is_cut = true;
  entry.target = 0xdeadbeef;
  entry.original->date = entry.date + base::Duration::days(3);
  entry.digest = "sha256:abcdef";
  entry.mime.clear();
  EXPECT_EQ(read_back(entry), entry);
  entry.digest = "sha1:not-base32";
  entry.place = {.file = 0xffffffff, .offset = ~std::uint64_t{0} >> 1U, .index = 9, .length = 1};
  entry.date = Instant::from_ms(-1);
  EXPECT_EQ(read_back(entry), entry);
}

TEST(IndexEntry, NeedsNoUrlWhereItsSurtImpliesIt) {
  const std::size_t implied = encode(entry_of("http://example.com/a/b.html?x=1&y=2")).value.size();
  for (const char* url : {"https://example.com/a/b.html?x=1&y=2", "http://www.example.com/",
                          "https://www.example.com:8443/x", "http://sub.example.co.jp/"}) {
    EXPECT_EQ(encode(entry_of(url)).value.size(), implied) << url;
    EXPECT_EQ(read_back(entry_of(url)).url, url);
  }
  EXPECT_LE(implied, 30U);
}

// docs/formats/index.md has these bytes.
TEST(IndexEntry, HasTheBytesThatTheDocumentShows) {
  IndexEntry entry = entry_of("https://www.example.com/a");
  entry.language = "ja";
  const EncodedEntry encoded = encode(entry);
  EXPECT_EQ(base::hex_of(encoded.key),
            "65"
            "636f6d2c6578616d706c65292f6100"
            "b88ab03f658102ce"
            "7ffffe6489255784"
            "fffffff8"
            "fffffffffffe1dbf");
  EXPECT_EQ(base::hex_of(encoded.value),
            "e4"
            "05"
            "01"
            "d723"
            "aaf4c61ddcc5e8a2dabede0f3b482cd9aea9434d"
            "026a61");
}

TEST(IndexEntry, KeepsUrlsThatShareASurtApart) {
  const std::vector<std::string> urls = {
      "http://example.com/A",      "http://example.com/a",      "https://www.example.com/a",
      "http://www2.example.com/a", "http://EXAMPLE.com/a",      "http://example.com/a/",
      "http://example.com:80/a",   "http://user@example.com/a", "http://example.com/a?"};
  std::vector<std::string> pages;
  for (const std::string& url : urls) {
    EXPECT_EQ(read_back(entry_of(url)).url, url);
    pages.push_back(page_key_of(url));
    EXPECT_TRUE(key_of(entry_of(url)).starts_with(pages.back()));
  }
  std::ranges::sort(pages);
  EXPECT_EQ(std::ranges::adjacent_find(pages), pages.end());
}

TEST(IndexEntry, TakesAnyUrl) {
  for (const std::string& url :
       {std::string("dns:example.com"), std::string("urn:uuid:1-2-3"), std::string("x"),
        std::string("http://"), std::string("http://a\0b/\xff", 12),
        "http://example.com/" + std::string(3'700, 'a'),
        "http://example.com/" + std::string(100'000, 'b') + "?q", std::string("warcinfo:)/")}) {
    EXPECT_EQ(read_back(entry_of(url)).url, url);
    EXPECT_LT(key_of(entry_of(url)).size(), kKeySurtBytesMax + 64);
  }
}

TEST(IndexEntry, SortsByPageAndThenNewestFirst) {
  std::vector<std::string> keys;
  const auto later = [](int ms) { return kDate + base::Duration::from_ms(ms); };
  IndexEntry entry = entry_of("http://example.com/a", later(2));
  keys.push_back(key_of(entry));
  entry.date = later(1);
  entry.place.file = 8;
  keys.push_back(key_of(entry));
  entry.place.file = 7;
  entry.place.offset = 10;
  keys.push_back(key_of(entry));
  entry.place.offset = 9;
  keys.push_back(key_of(entry));
  entry.date = Instant::from_ms(-5);
  keys.push_back(key_of(entry));
  keys.push_back(key_of(entry_of("http://example.com/a/b", later(9))));
  keys.push_back(key_of(entry_of("http://example.org/", later(9))));
  EXPECT_TRUE(std::ranges::is_sorted(keys));
  EXPECT_LT(page_key_of("http://example.com/a", later(1)), keys[1]);
  EXPECT_GT(page_key_of("http://example.com/a", later(1)), keys[0]);
}

// Whatever the disk has, it is an entry or none.
TEST(IndexEntry, RefusesWhatIsNone) {
  const EncodedEntry good = encode(entry_of("http://example.com/a"));
  EXPECT_TRUE(EntryView::parse(good.key, good.value));
  for (std::size_t size = 0; size < good.value.size(); ++size) {
    EXPECT_FALSE(EntryView::parse(good.key, good.value.substr(0, size))) << size;
  }
  EXPECT_FALSE(EntryView::parse(good.key, good.value + "x"));
  EXPECT_FALSE(EntryView::parse("", good.value));
  EXPECT_FALSE(EntryView::parse("f" + good.key.substr(1), good.value));
  EXPECT_FALSE(EntryView::parse(good.key.substr(good.key.size() - 20), good.value));
  env::Random random(1);
  for (int i = 0; i < 20'000; ++i) {
    std::string key = good.key;
    std::string value = good.value;
    std::string& bytes = i % 2 == 0 ? key : value;
    bytes[static_cast<std::size_t>(random.below(bytes.size()))] ^=
        static_cast<char>(1U << random.below(8));
    if (const auto view = EntryView::parse(key, value)) std::ignore = view->to_entry();
  }
}

}  // namespace
}  // namespace meguri::archive
