#include "web/language.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace meguri::web {
namespace {

using namespace std::string_view_literals;

constexpr std::string_view kEnglish =
    "The shops at the station were still closed when we arrived early in the morning. Three people "
    "were waiting in front of the ticket office, and a man was cleaning the windows. ";
constexpr std::string_view kGerman =
    "Früh am Morgen waren die Läden am Bahnhof noch geschlossen. Vor dem Schalter standen drei "
    "Leute, und ein Mann putzte die Fenster, während der Zug auf sich warten ließ. ";
constexpr std::string_view kJapanese =
    "朝早く駅に着くと、まだ店は開いていなかった。切符売り場の前には三人の客が並んでいて、"
    "駅員が窓を拭いている。次の電車は七時二十分に出るそうだ。";
constexpr std::string_view kTaiwanese =
    "早上到車站的時候，商店還沒有開門。售票處前面站著三個人，工作人員正在擦窗戶。下一班火車七點"
    "二十分出發。我坐在長椅上看報紙，又想了想昨天會議上決定的事情。";

std::string first_language(std::string_view text, const LanguageHints& hints = {}) {
  const LanguageFinding finding = find_languages(text, hints);
  return finding.languages.empty() ? "" : finding.languages.front().code;
}

TEST(Language, OrdinaryTextsAreKnown) {
  EXPECT_EQ(first_language(kEnglish), "en");
  EXPECT_EQ(first_language(kGerman), "de");
  EXPECT_EQ(first_language(kJapanese), "ja");
  EXPECT_EQ(first_language(kTaiwanese), "zh-Hant");
  EXPECT_EQ(first_language("Утром мы пришли на вокзал, но магазины были ещё закрыты."), "ru");
  EXPECT_EQ(first_language("아침 일찍 역에 도착했지만 가게는 아직 문을 열지 않았다."), "ko");
  EXPECT_TRUE(find_languages(kJapanese).reliable);
}

TEST(Language, SharesOfATextInTwoLanguages) {
  std::string text;
  for (int i = 0; i < 10; ++i) text += kGerman;
  for (int i = 0; i < 3; ++i) text += kEnglish;
  const LanguageFinding finding = find_languages(text);
  ASSERT_GE(finding.languages.size(), 2U);
  EXPECT_EQ(finding.languages[0].code, "de");
  EXPECT_EQ(finding.languages[1].code, "en");
  EXPECT_GT(finding.languages[0].percent, finding.languages[1].percent);
  EXPECT_LE(finding.languages[0].percent + finding.languages[1].percent, 100);
}

TEST(Language, NoTextNoLanguage) {
  for (const std::string_view text : {"", "   ", "12345 67890", "\xFF\xFF\xFF", "..."}) {
    const LanguageFinding finding = find_languages(text);
    EXPECT_TRUE(finding.languages.empty()) << text;
    EXPECT_FALSE(finding.reliable) << text;
  }
}

TEST(Language, HintsTipTheBalance) {
  // Words that Danish and Norwegian share.
  const std::string_view text = "og det er en by i landet, hvor mange mennesker bor og arbejder";
  EXPECT_EQ(first_language(text, {.html_lang = "da"}), "da");
  EXPECT_EQ(first_language(kJapanese, {.content_language = "en-US", .html_lang = "en"}), "ja");
}

TEST(Language, HintsOfAnyKindAreHarmless) {
  const std::string long_hint(1 << 20, 'x');
  for (const std::string_view hint :
       {std::string_view("\0\0", 2), std::string_view("%s%n"), std::string_view(",,,-,-"),
        std::string_view(long_hint), std::string_view("ja;q=0.5")}) {
    EXPECT_EQ(first_language(kGerman, {hint, hint, hint}), "de");
  }
}

TEST(Language, ControlsAndBrokenBytesDoNotEndTheText) {
  std::string text("\x01\x7F\xC2\x85\xEF\xBF\xBE\xED\xA0\x80\xFF\0"sv);
  text += kGerman;
  EXPECT_EQ(first_language(text), "de");
}

TEST(Language, OnlyTheStartIsRead) {
  std::string text;
  while (text.size() < kLanguageBytesMax) text += kGerman;
  const LanguageFinding alone = find_languages(text);
  while (text.size() < 4'000'000) text += kEnglish;
  EXPECT_EQ(find_languages(text), alone);
}

}  // namespace
}  // namespace meguri::web
