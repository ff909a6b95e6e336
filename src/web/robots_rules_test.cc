#include "web/robots_rules.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "web/robots_path.h"
#include "web/robots_testing.h"

namespace meguri::web {
namespace {

std::vector<RobotsRule> rules_of(const std::vector<std::pair<bool, std::string>>& lines) {
  std::vector<RobotsRule> rules;
  for (const auto& [allow, pattern] : lines) {
    rules.push_back(
        {comparable_pattern(pattern), static_cast<std::uint32_t>(rules.size() + 1), allow});
  }
  return rules;
}

bool matches(std::string_view pattern, std::string_view path) {
  const auto rules = rules_of({{false, std::string(pattern)}});
  const std::string blob = compile_robots_rules(rules);
  const auto view = RobotsRulesView::open(blob);
  EXPECT_TRUE(view) << pattern;
  std::string storage;
  return view && view->match(comparable_path(path, &storage)).has_value();
}

std::string comparable(std::string_view path) {
  std::string storage;
  return std::string(comparable_path(path, &storage));
}

TEST(RobotsPath, TheTableOfTheRfcHolds) {
  // RFC 9309, 2.2.2: path, and what it is matched as.
  EXPECT_EQ(comparable("/foo/bar?baz=quz"), "/foo/bar?baz=quz");
  EXPECT_EQ(comparable("/foo/bar/\xE3\x83\x84"), "/foo/bar/%E3%83%84");
  EXPECT_EQ(comparable("/foo/bar/%E3%83%84"), "/foo/bar/%E3%83%84");
  EXPECT_EQ(comparable("/foo/bar/%62%61%7A"), "/foo/bar/baz");
  for (const std::string_view rule :
       {"/foo/bar?baz=https://foo.bar", "/foo/bar?baz=https%3A%2F%2Ffoo.bar",
        "/foo/bar?baz=https%3a%2f%2ffoo.bar"}) {
    EXPECT_TRUE(matches(rule, "/foo/bar?baz=https://foo.bar")) << rule;
    EXPECT_TRUE(matches(rule, "/foo/bar?baz=https%3A%2F%2Ffoo.bar")) << rule;
    EXPECT_FALSE(matches(rule, "/foo/bar?baz=https:%2F%2Efoo.bar")) << rule;
  }
}

TEST(RobotsPath, ReservedCharactersAndTheirEscapesStayDifferentInAPath) {
  EXPECT_TRUE(matches("/a%3cd.html", "/a%3Cd.html"));
  EXPECT_TRUE(matches("/a%2fb.html", "/a%2Fb.html"));
  EXPECT_FALSE(matches("/a%2fb.html", "/a/b.html"));
  EXPECT_FALSE(matches("/a/b.html", "/a%2fb.html"));
  EXPECT_TRUE(matches("/%7ejoe/index.html", "/~joe/index.html"));
  EXPECT_TRUE(matches("/~joe/index.html", "/%7Ejoe/index.html"));
}

TEST(RobotsPath, WhatMayNotStandInAUriIsEscapedOnBothSides) {
  EXPECT_TRUE(matches("/a b", "/a%20b"));
  EXPECT_TRUE(matches("/a%20b", "/a b"));
  EXPECT_TRUE(matches("/a|b", "/a%7cb"));
  EXPECT_TRUE(matches("/caf\xC3\xA9", "/caf%c3%a9/menu"));
  EXPECT_EQ(comparable("/\x01\x7F\xFF"), "/%01%7F%FF");
}

TEST(RobotsPath, ABrokenEscapeIsKept) {
  EXPECT_EQ(comparable("/100%"), "/100%");
  EXPECT_EQ(comparable("/100%2"), "/100%2");
  EXPECT_EQ(comparable("/%zz%4"), "/%zz%4");
  EXPECT_TRUE(matches("/*%", "/a%20b"));
}

TEST(RobotsPath, FragmentsAreDroppedAndASlashIsPutInFront) {
  EXPECT_EQ(comparable("/a#b"), "/a");
  EXPECT_EQ(comparable("/%41#b"), "/A");
  EXPECT_EQ(comparable(""), "/");
  EXPECT_EQ(comparable("?q"), "/?q");
  EXPECT_EQ(comparable("a"), "/a");
}

TEST(RobotsRules, SpecialCharactersOfTheRfcAreMatchedByTheirEscapes) {
  // RFC 9309, 2.2.3.
  EXPECT_TRUE(matches("/path/file-with-a-%2A.html", "/path/file-with-a-*.html"));
  EXPECT_TRUE(matches("/path/foo-%24", "/path/foo-$"));
  EXPECT_FALSE(matches("/path/file-with-a-%2A.html", "/path/file-with-a-x.html"));
  EXPECT_TRUE(matches("/path/$foo", "/path/$foo"));
  EXPECT_FALSE(matches("/path/$foo", "/path/"));
  EXPECT_TRUE(matches("/a*", "/a*b"));
}

TEST(RobotsRules, WildcardsMatchAsGoogleDocumentsThem) {
  struct Case {
    std::string_view pattern;
    std::vector<std::string_view> yes;
    std::vector<std::string_view> no;
  };
  for (const Case& c : std::vector<Case>{
           {"/", {"/", "/any"}, {}},
           {"/*", {"/", "/any"}, {}},
           {"*", {"/", "/any"}, {}},
           {"/$", {"/"}, {"/any", "/?q"}},
           {"/*$", {"/", "/any"}, {}},
           {"/fish",
            {"/fish", "/fish.html", "/fish/salmon.html", "/fishheads", "/fish.php?id=anything"},
            {"/Fish.asp", "/catfish", "/?id=fish", "/desert/fish"}},
           {"/fish*",
            {"/fish", "/fish.html", "/fish/salmon.html", "/fishheads", "/fish.php?id=anything"},
            {"/Fish.asp", "/catfish", "/?id=fish"}},
           {"/fish/",
            {"/fish/", "/fish/?id=anything", "/fish/salmon.htm"},
            {"/fish", "/fish.html", "/animals/fish/", "/Fish/Salmon.asp"}},
           {"/*.php",
            {"/index.php", "/filename.php", "/folder/filename.php", "/folder/any.php.file.html",
             "/filename.php?parameters", "/filename.php/"},
            {"/", "/windows.PHP"}},
           {"/*.php$",
            {"/filename.php", "/folder/filename.php", "/a.php.php"},
            {"/filename.php?parameters", "/filename.php/", "/filename.php5", "/windows.PHP"}},
           {"/fish*.php", {"/fish.php", "/fishheads/catfish.php?parameters"}, {"/Fish.PHP"}},
           {"/a*b*c$", {"/abc", "/a-b-c", "/abcbc"}, {"/ac", "/abcd", "/acb"}},
           {"/a***b", {"/ab", "/a*b"}, {"/a", "/ba"}},
           {"*.gif$", {"/a.gif", "/.gif"}, {"/a.gif?", "/gif"}},
           {"/a$b", {"/a$b", "/a$bc"}, {"/a", "/ab"}},
           {"/ab*b$", {"/abb", "/abab"}, {"/ab"}},
       }) {
    for (const auto path : c.yes) EXPECT_TRUE(matches(c.pattern, path)) << c.pattern << ' ' << path;
    for (const auto path : c.no) EXPECT_FALSE(matches(c.pattern, path)) << c.pattern << ' ' << path;
  }
}

TEST(RobotsRules, TheLongestPatternDecidesAndAllowWinsTies) {
  const auto rules = rules_of({{false, "/"},
                               {true, "/p"},
                               {false, "/page"},
                               {true, "/page"},
                               {false, "/pages/*.html"},
                               {true, "/pages/a"},
                               {false, "/exact$"},
                               {true, "/exact$"},
                               {false, "/x**"},
                               {true, "/xy"}});
  const std::string blob = compile_robots_rules(rules);
  const auto view = RobotsRulesView::open(blob);
  ASSERT_TRUE(view);
  const auto line = [&](std::string_view path) { return view->match(path)->line; };
  EXPECT_EQ(line("/"), 1);
  EXPECT_EQ(line("/other"), 1);
  EXPECT_EQ(line("/people"), 2);
  EXPECT_EQ(line("/page"), 4);
  EXPECT_EQ(line("/pages/a.html"), 5);
  EXPECT_EQ(line("/pages/a.htm"), 6);
  EXPECT_EQ(line("/exact"), 8);
  EXPECT_EQ(line("/exactly"), 1);
  EXPECT_EQ(line("/xy"), 9) << "wildcards count as octets of the pattern";
  EXPECT_EQ(view->match("/pages/a.html")->pattern, "/pages/*.html");
}

// Short texts over few letters make nested, equal and overlapping patterns likely.
class RandomText {
 public:
  explicit RandomText(std::uint32_t seed) : random_(seed) {}

  std::string operator()(std::string_view letters, std::size_t length_max) {
    std::string text = "/";
    const std::size_t length = below(length_max);
    while (text.size() < length) text.push_back(letters[below(letters.size())]);
    return text;
  }
  std::size_t below(std::size_t n) { return random_() % n; }

 private:
  std::mt19937 random_;
};

TEST(RobotsRules, CompiledRulesAgreeWithThePlainMatcherOnRandomOnes) {
  std::size_t matched = 0;
  for (std::uint32_t seed = 0; seed < 1500; ++seed) {
    RandomText text(seed);
    std::vector<RobotsRule> rules;
    const std::size_t count = 1 + text.below(25);
    while (rules.size() < count) {
      const std::string pattern =
          (text.below(6) == 0 ? "*" : "") + text("ab/*?:", 12) + (text.below(5) == 0 ? "$" : "");
      rules.push_back({comparable_pattern(pattern), static_cast<std::uint32_t>(rules.size()),
                       text.below(2) == 0});
    }
    const std::string blob = compile_robots_rules(rules);
    const auto view = RobotsRulesView::open(blob);
    ASSERT_TRUE(view);
    for (int i = 0; i < 40; ++i) {
      const std::string path = comparable(text("aab/?:", 14));
      const auto expected = plain_match(rules, path);
      const auto found = view->match(path);
      ASSERT_EQ(found.has_value(), expected.has_value()) << seed << ' ' << path;
      if (!found) continue;
      ++matched;
      ASSERT_EQ((PlainVerdict{found->pattern.size(), found->allow}), *expected)
          << seed << ' ' << path << ' ' << found->pattern;
      ASSERT_EQ(rules[found->line].pattern, found->pattern);
    }
  }
  EXPECT_GT(matched, 15'000U);
}

TEST(RobotsRules, AHostileFileOfWildcardsGivesUpInsteadOfWorkingForever) {
  std::vector<RobotsRule> rules;
  for (std::uint32_t i = 0; i < kRobotsRulesMax; ++i) {
    const std::string first(1 + i % 150, 'a');
    const std::string second(1 + i / 150, 'a');
    rules.push_back({"/*" + first + "*" + second + "*b", i, false});
  }
  const std::string blob = compile_robots_rules(rules);
  const auto view = RobotsRulesView::open(blob);
  ASSERT_TRUE(view);
  EXPECT_FALSE(view->match("/" + std::string(300, 'a'))) << "an ordinary path is answered";
  const auto match = view->match("/" + std::string(60'000, 'a'));
  ASSERT_TRUE(match);
  EXPECT_TRUE(match->gave_up);
}

TEST(RobotsRules, RepeatedRulesTakeNoRoom) {
  const auto once = rules_of({{false, "/a"}, {true, "/b*c"}});
  const auto twice = rules_of({{false, "/a"}, {true, "/b*c"}, {false, "/a"}, {false, "/b*c"}});
  EXPECT_EQ(compile_robots_rules(once), compile_robots_rules(twice));
  const std::string blob = compile_robots_rules(rules_of({{false, "/a"}, {true, "/a"}}));
  EXPECT_EQ(RobotsRulesView::open(blob)->match("/a")->line, 2);
}

TEST(RobotsRules, ManyStarsDoNotBacktrack) {
  std::string pattern = "/";
  for (int i = 0; i < 1000; ++i) pattern += "*a";
  EXPECT_FALSE(matches(pattern + "*b$", "/" + std::string(100'000, 'a')));
  EXPECT_TRUE(matches(pattern + "*b$", "/" + std::string(100'000, 'a') + "b"));
}

TEST(RobotsRules, NestedPrefixesAreFoundAtEveryDepth) {
  std::vector<RobotsRule> rules;
  for (std::uint32_t i = 1; i <= 900; ++i) {
    rules.push_back({"/" + std::string(i, 'a'), i, i % 2 == 0});
  }
  const std::string blob = compile_robots_rules(rules);
  const auto view = RobotsRulesView::open(blob);
  ASSERT_TRUE(view);
  for (std::uint32_t i = 1; i <= 900; ++i) {
    ASSERT_EQ(view->match("/" + std::string(i, 'a') + "b")->line, i);
    ASSERT_EQ(view->match("/" + std::string(i, 'a'))->line, i);
  }
  EXPECT_EQ(view->match("/" + std::string(2000, 'a'))->line, 900);
  EXPECT_FALSE(view->match("/b"));
}

TEST(RobotsRules, BytesThatPointOutsideThemselvesAreRefused) {
  const auto rules = rules_of({{false, "/a"}, {true, "/a*b"}, {false, "/c$"}, {true, "/?x=:"}});
  const std::string blob = compile_robots_rules(rules);
  ASSERT_TRUE(RobotsRulesView::open(blob));
  for (std::size_t length = 1; length < blob.size(); ++length) {
    EXPECT_FALSE(RobotsRulesView::open(std::string_view(blob).substr(0, length))) << length;
  }
  EXPECT_FALSE(RobotsRulesView::open(blob + "x"));
  for (std::size_t i = 0; i < blob.size(); ++i) {
    for (const char value : {'\x00', '\x7F', '\xFF'}) {
      std::string broken = blob;
      broken[i] = value;
      const auto view = RobotsRulesView::open(broken);
      if (view) static_cast<void>(view->match("/a-b"));  // the sanitizers watch
    }
  }
}

}  // namespace
}  // namespace meguri::web
