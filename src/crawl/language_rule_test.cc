#include "crawl/language_rule.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace meguri::crawl {
namespace {

constexpr std::string_view kEnglish =
    "The shops at the station were still closed when we arrived early in the morning. Three people "
    "were waiting in front of the ticket office, and a man was cleaning the windows. ";
constexpr std::string_view kJapanese =
    "朝早く駅に着くと、まだ店は開いていなかった。切符売り場の前には三人の客が並んでいて、"
    "駅員が窓を拭いている。次の電車は七時二十分に出るそうだ。";

web::Page page_of(std::string_view body, std::string_view type = "text/html; charset=utf-8") {
  web::FieldList fields;
  fields.add("Content-Type", type);
  return web::read_page(body, {.fields = &fields, .want_text = true});
}

std::string html_of(std::string_view text, std::string_view lang = "") {
  std::string html = "<html";
  if (!lang.empty()) html.append(" lang=").append(lang);
  return html.append("><p>").append(text).append("</p>");
}

TEST(LanguageRule, WithoutLanguagesNothingIsForeign) {
  const LanguageRule rule({});
  EXPECT_FALSE(rule.is_on());
  EXPECT_FALSE(rule.is_foreign(page_of(html_of(kEnglish)), "example.com"));
}

TEST(LanguageRule, ATextTellsWhateverThePageSays) {
  const LanguageRule rule({"ja"});
  EXPECT_TRUE(rule.is_foreign(page_of(html_of(kEnglish)), "example.jp"));
  EXPECT_TRUE(rule.is_foreign(page_of(html_of(kEnglish, "ja")), "example.jp"));
  EXPECT_FALSE(rule.is_foreign(page_of(html_of(kJapanese)), "example.com"));
  EXPECT_FALSE(rule.is_foreign(page_of(html_of(kJapanese, "en")), "example.com"));
  EXPECT_FALSE(LanguageRule({"ja", "en"}).is_foreign(page_of(html_of(kEnglish)), "example.com"));
}

TEST(LanguageRule, ATextInTwoLanguagesIsInBoth) {
  const std::string text = std::string(kEnglish) + std::string(kJapanese);
  EXPECT_FALSE(LanguageRule({"ja"}).is_foreign(page_of(html_of(text)), "example.com"));
  EXPECT_FALSE(LanguageRule({"en"}).is_foreign(page_of(html_of(text)), "example.com"));
  EXPECT_TRUE(LanguageRule({"ru"}).is_foreign(page_of(html_of(text)), "example.com"));
}

TEST(LanguageRule, WithoutTextThePageIsBelieved) {
  const LanguageRule rule({"ja"});
  EXPECT_FALSE(rule.is_foreign(page_of(html_of("1")), "example.com"));
  EXPECT_FALSE(rule.is_foreign(page_of(html_of("1", "ja-JP")), "example.com"));
  EXPECT_TRUE(rule.is_foreign(page_of(html_of("1", "en")), "example.com"));
  EXPECT_FALSE(rule.is_foreign(page_of(html_of("1"), "text/html; charset=shift_jis"), "a.com"));
  EXPECT_TRUE(rule.is_foreign(page_of(html_of("1"), "text/html; charset=euc-kr"), "a.com"));
  EXPECT_FALSE(rule.is_foreign(page_of(html_of("1"), "text/html; charset=iso-8859-1"), "a.com"));
}

TEST(LanguageRule, OneOfAListOfContentLanguageIsEnough) {
  web::FieldList fields;
  fields.add("Content-Type", "text/html");
  fields.add("Content-Language", "en, ja");
  const web::Page page = web::read_page("<p>1", {.fields = &fields, .want_text = true});
  EXPECT_FALSE(LanguageRule({"ja"}).is_foreign(page, "example.com"));
  EXPECT_TRUE(LanguageRule({"de"}).is_foreign(page, "example.com"));
}

TEST(LanguageRule, ListsForMachinesAreNeverForeign) {
  const LanguageRule rule({"ja"});
  const std::string feed =
      "<rss version=\"2.0\"><channel><title>" + std::string(kEnglish) + "</title></channel></rss>";
  EXPECT_FALSE(rule.is_foreign(page_of(feed, "application/rss+xml"), "example.com"));
  EXPECT_FALSE(rule.is_foreign(page_of("a { color: red }", "text/css"), "example.com"));
}

TEST(LanguageRule, TagsOfOneLanguageAreManyAndOldOnesCount) {
  EXPECT_TRUE(LanguageRule({"zh"}).holds("zh-Hant"));
  EXPECT_TRUE(LanguageRule({"zh"}).holds("ZH_cn"));
  EXPECT_TRUE(LanguageRule({"zh-Hant"}).holds("zh-TW"));
  EXPECT_FALSE(LanguageRule({"zh-Hant"}).holds("zh"));
  EXPECT_TRUE(LanguageRule({"he"}).holds("iw"));
  EXPECT_TRUE(LanguageRule({"iw"}).holds("he-IL"));
  EXPECT_FALSE(LanguageRule({"de"}).holds("den"));
}

TEST(LanguageRule, KnowsTheCodesThatCanBeFound) {
  for (const std::string_view code : {"ja", "de", "zh", "zh-Hant", "zh-TW", "he", "JA"}) {
    EXPECT_TRUE(LanguageRule::is_known(code)) << code;
  }
  for (const std::string_view code : {"", "jp", "japanese", "ja,de", "un"}) {
    EXPECT_FALSE(LanguageRule::is_known(code)) << code;
  }
}

}  // namespace
}  // namespace meguri::crawl
