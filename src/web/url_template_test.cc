#include "web/url_template.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <set>
#include <string>
#include <vector>

namespace meguri::web {
namespace {

Url url_of(std::string_view rest) { return *Url::parse("http://h.example" + std::string(rest)); }

std::string lexical(std::string_view rest) { return lexical_template(url_of(rest)); }

TEST(UrlTemplate, ParametersAreRecognisedByTheirForm) {
  EXPECT_EQ(lexical("/item/4711/photos?page=2&sid=0123456789abcdef0123"),
            "/item/{id}/photos?page={n}&sid={session}");
  EXPECT_EQ(lexical("/u/550e8400-e29b-41d4-a716-446655440000/x"), "/u/{id}/x");
  EXPECT_EQ(lexical("/commit/9fceb02d0ae598e95dc970b74767f19372d61af8"), "/commit/{id}");
  EXPECT_EQ(lexical("/news-12345.html"), "/news-{id}.html");
  EXPECT_EQ(lexical("/(S(4hqa0555fwsecu455xqckv45))/a.aspx"), "/{session}/a.aspx");
  EXPECT_EQ(lexical("/a;jsessionid=0123456789ABCDEF0123"), "/a;jsessionid={session}");
}

TEST(UrlTemplate, DatesAreOneParameter) {
  EXPECT_EQ(lexical("/blog/2024/07/15/title"), "/blog/{date}/title");
  EXPECT_EQ(lexical("/blog/2024/07/title"), "/blog/{date}/title");
  EXPECT_EQ(lexical("/d/2024-07-15-report.pdf"), "/d/{date}-report.pdf");
  EXPECT_EQ(lexical("/d/20240715?from=2024-07"), "/d/{date}?from={date}");
  EXPECT_EQ(lexical("/d/2024-13-15"), "/d/{id}-{id}-{id}");
}

TEST(UrlTemplate, WordsStay) {
  EXPECT_EQ(lexical("/"), "/");
  EXPECT_EQ(lexical("/h2/mp3/v2/face/deadbeef"), "/h2/mp3/v2/face/deadbeef");
  EXPECT_EQ(lexical("/search?q=hello&lang=de"), "/search?q=hello&lang=de");
  EXPECT_EQ(lexical("/%E3%81%82%E3%81%84"), "/%E3%81%82%E3%81%84");
  EXPECT_EQ(lexical("/a//b/"), "/a//b/");
  EXPECT_EQ(lexical("/a?"), "/a");
  EXPECT_EQ(lexical("/a?b&c="), "/a?b&c=");
}

TEST(UrlTemplate, LongUrlsAreCut) {
  EXPECT_EQ(lexical("/" + std::string(kTemplateFieldBytesMax + 1, 'a')), "/{long}");
  std::string deep;
  for (std::size_t i = 0; i < 100; ++i) deep += "/a";
  EXPECT_TRUE(lexical(deep).ends_with("/a/{rest}"));
  std::string wide = "/?a=b";
  for (std::size_t i = 0; i < 100; ++i) wide += "&a=b";
  EXPECT_TRUE(lexical(wide).ends_with("&a=b&{rest}"));
}

// A word without digits, different for each number.
std::string word(std::uint64_t n) {
  std::string out = "w";
  for (; n > 0; n /= 26) out += static_cast<char>('a' + n % 26);
  return out;
}

TEST(TemplateLearner, FieldsWithManyValuesBecomeParameters) {
  TemplateLearner learner({.values_max = 10});
  for (unsigned i = 0; i < 10; ++i) learner.observe(url_of("/wiki/" + word(i)));
  EXPECT_EQ(learner.template_of(url_of("/wiki/wa")), "/wiki/wa");
  learner.observe(url_of("/wiki/another"));
  EXPECT_EQ(learner.template_of(url_of("/wiki/wa")), "/wiki/{*}");
  EXPECT_EQ(learner.template_of(url_of("/wiki/never-seen")), "/wiki/{*}");
  EXPECT_EQ(learner.template_of(url_of("/about")), "/about") << "another number of segments";
  EXPECT_EQ(learner.template_of(url_of("/wiki/x?action=edit")), "/wiki/x?action=edit");
  EXPECT_EQ(learner.hash_of(url_of("/wiki/a")), learner.hash_of(url_of("/wiki/b")));
}

TEST(TemplateLearner, WhatFollowsAParameterIsLearnedForAllItsValues) {
  TemplateLearner learner({.values_max = 10});
  for (unsigned i = 0; i < 40; ++i) {
    learner.observe(url_of("/" + word(i) + "/profile.html?tab=posts"));
    learner.observe(url_of("/" + word(i) + "/photos.html?tab=posts"));
  }
  EXPECT_EQ(learner.template_of(url_of("/new/photos.html?tab=posts")),
            "/{*}/photos.html?tab=posts");
}

TEST(TemplateLearner, ExtensionsAndValuesOfArgumentsAreLearned) {
  TemplateLearner learner({.values_max = 5});
  for (unsigned i = 0; i < 9; ++i) {
    learner.observe(url_of("/" + word(i) + ".html"));
    learner.observe(url_of("/find?q=" + word(i)));
  }
  EXPECT_EQ(learner.template_of(url_of("/x.html")), "/{*}.html");
  EXPECT_EQ(learner.template_of(url_of("/x.php")), "/x.php");
  EXPECT_EQ(learner.template_of(url_of("/find?q=x")), "/find?q={*}");
}

TEST(TemplateLearner, MemoryAndTemplatesAreBounded) {
  TemplateLearner learner({.nodes_max = 200, .values_max = 8});
  std::mt19937_64 random(3);
  std::vector<Url> urls;
  for (int i = 0; i < 5000; ++i) {
    std::string rest;
    for (auto n = 1 + random() % 6; n > 0; --n) rest += "/" + word(random() % 50);
    if (random() % 2 == 0) rest += "?" + word(random() % 1000) + "=" + word(random() % 1000);
    urls.push_back(url_of(rest));
    learner.observe(urls.back());
    ASSERT_LE(learner.node_count(), 200U);
  }
  std::set<std::string> templates;
  for (const Url& url : urls) templates.insert(learner.template_of(url));
  EXPECT_TRUE(learner.is_full());
  EXPECT_LE(templates.size(), 2 * 200U);
  EXPECT_TRUE(templates.contains("{other}"));
}

TEST(TemplateLearner, TheSameUrlsGiveTheSameTemplates) {
  TemplateLearner one;
  TemplateLearner two;
  for (unsigned i = 0; i < 500; ++i) {
    const Url url = url_of("/" + word(i % 7) + "/" + word(i));
    one.observe(url);
    two.observe(url);
    ASSERT_EQ(one.template_of(url), two.template_of(url));
    ASSERT_EQ(one.node_count(), two.node_count());
  }
}

}  // namespace
}  // namespace meguri::web
