#include "archive/removals.h"

#include <gtest/gtest.h>

#include "archive/index_entry.h"
#include "env/crash_points.h"
#include "env/memory_file_system.h"

namespace meguri::archive {
namespace {

Removals with(RemovalKind kind, std::string_view text) {
  Removals removals;
  removals.add(Removal::make(kind, text).value());
  return removals;
}

TEST(Removals, AUrlIsOnePageByHttpAndHttps) {
  const Removals removals = with(RemovalKind::kUrl, "HTTP://Example.org:80/a/../b?x#part");
  EXPECT_TRUE(removals.has("http://example.org/b?x"));
  EXPECT_TRUE(removals.has("https://example.org/b?x"));
  EXPECT_TRUE(removals.has("http://EXAMPLE.org/%62?x")) << "as others spell it";
  EXPECT_FALSE(removals.has("http://example.org/b"));
  EXPECT_FALSE(removals.has("http://example.org/b?xy"));
  EXPECT_FALSE(removals.has("http://www.example.org/b?x"));
  EXPECT_FALSE(removals.has("dns:example.org"));
  EXPECT_FALSE(removals.has(""));
}

TEST(Removals, APrefixIsAllThatBeginsSo) {
  Removals removals = with(RemovalKind::kPrefix, "https://example.org/a/b");
  removals.add(Removal::make(RemovalKind::kPrefix, "https://example.org/a").value());
  removals.add(Removal::make(RemovalKind::kPrefix, "https://example.org/a/c").value());
  EXPECT_TRUE(removals.has("http://example.org/abc"));
  EXPECT_TRUE(removals.has("http://example.org/a/d"));
  EXPECT_FALSE(removals.has("http://example.org/"));
  EXPECT_FALSE(removals.has("http://example.org:8080/a"));
}

TEST(Removals, AHostIsAllOfItAndADomainAllBelow) {
  const Removals host = with(RemovalKind::kHost, "Example.org");
  EXPECT_TRUE(host.has("https://example.org:8443/x"));
  EXPECT_FALSE(host.has("https://www.example.org/"));
  const Removals domain = with(RemovalKind::kDomain, "example.org.");
  EXPECT_TRUE(domain.has("https://example.org/"));
  EXPECT_TRUE(domain.has("http://a.b.example.org:81/"));
  EXPECT_FALSE(domain.has("http://badexample.org/"));
}

TEST(Removals, TheKeysOfWhatItMeansBeginWithItsFront) {
  const std::vector<std::pair<Removal, std::vector<std::string>>> cases = {
      {Removal::make(RemovalKind::kUrl, "http://www.example.org/A?b=1&a=2").value(),
       {"https://www.example.org/A?b=1&a=2"}},
      {Removal::make(RemovalKind::kPrefix, "http://example.org/a").value(),
       {"http://example.org/a", "https://example.org/abc/d", "http://example.org/A/../a?q"}},
      {Removal::make(RemovalKind::kHost, "www.example.org").value(),
       {"http://www.example.org/", "http://www.example.org:81/x"}},
      {Removal::make(RemovalKind::kHost, "192.0.2.7").value(), {"http://192.0.2.7/x"}},
      {Removal::make(RemovalKind::kDomain, "example.org").value(),
       {"http://example.org/", "http://www2.example.org/", "http://a.b.example.org:81/"}}};
  for (const auto& [removal, urls] : cases) {
    Removals removals;
    removals.add(removal);
    for (const std::string& url : urls) {
      SCOPED_TRACE(url);
      EXPECT_TRUE(removals.has(url));
      EXPECT_TRUE(page_key_of(url).starts_with(removal.key_front()));
    }
  }
}

TEST(Removals, AreReadAsTheyWereWritten) {
  Removal removal = Removal::make(RemovalKind::kDomain, "bücher.example").value();
  removal.date = base::Instant::from_ms(1'767'225'600'000);
  removal.by = "root";
  removal.reason = "court order \"7\"\n";
  removal.rewrites = true;
  EXPECT_EQ(removal.what, "xn--bcher-kva.example");
  EXPECT_EQ(Removal::parse(removal.to_json()).value(), removal);
  EXPECT_EQ(removal.exclusion_rule(), "*.xn--bcher-kva.example");
  EXPECT_FALSE(Removal::make(RemovalKind::kHost, "a b"));
  EXPECT_FALSE(Removal::make(RemovalKind::kUrl, "ftp://example.org/"));
}

TEST(Removals, ALineThatIsNoneIsNotOverlooked) {
  EXPECT_TRUE(Removals::parse("\n{\"host\":\"a.example\"}\n \n"));
  for (const char* text : {"{\"host\":\"a.example\"}\nx\n", "{}", "{\"url\":7}",
                           "{\"url\":\"http://a/\",\"host\":\"a\"}", "[]"}) {
    const auto removals = Removals::parse(text);
    ASSERT_FALSE(removals) << text;
    EXPECT_EQ(removals.error().code(), base::ErrorCode::kCorrupt);
    EXPECT_TRUE(removals.error().message().starts_with("line ")) << removals.error().message();
  }
}

TEST(Removals, OnceAcknowledgedTheyAreThereAfterACrashAtAnyMoment) {
  std::size_t acknowledged = 0;
  env::for_each_crash_point(
      {},
      [&](env::FaultyFileSystem& fs) {
        ASSERT_TRUE(fs.make_dirs("/a"));
        acknowledged = 0;
      },
      [&](env::FaultyFileSystem& fs) {
        for (const char* host : {"a", "b", "c"}) {
          if (!Removals::append(fs, "/a", Removal::make(RemovalKind::kHost, host).value())) return;
          ++acknowledged;
        }
      },
      [&](env::FaultyFileSystem& fs, env::CrashPoint point) {
        SCOPED_TRACE(point.change);
        const auto removals = Removals::load(fs, "/a");
        ASSERT_TRUE(removals);
        EXPECT_GE(removals->all().size(), acknowledged);
      });
}

}  // namespace
}  // namespace meguri::archive
