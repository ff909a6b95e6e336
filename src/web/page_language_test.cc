#include "web/page_language.h"

#include <gtest/gtest.h>

namespace meguri::web {
namespace {

Page page_of(std::string_view body) { return read_page(body, {.want_text = true}); }

TEST(PageLanguage, IsThatOfTheText) {
  const Page page = page_of(
      "<html lang=en><p>今日は天気がよいので、散歩に行きました。公園には桜の花が咲いていて、"
      "多くの人が写真を撮っていました。");
  EXPECT_EQ(main_language_of(page, "example.com"), "ja");
}

TEST(PageLanguage, OfLittleTextIsWhatThePageDeclares) {
  EXPECT_EQ(main_language_of(page_of("<html lang=de-AT><p>OK"), "example.com"), "de");
  EXPECT_EQ(main_language_of(page_of("<html lang=HE><p>1"), "example.com"), "iw");
  EXPECT_EQ(main_language_of(page_of("<html><p>1"), "example.com"), "");
}

TEST(PageLanguage, OfAFeedThereIsNone) {
  const Page page = page_of("<rss><channel><title>Tag</title></channel></rss>");
  ASSERT_EQ(page.format, PageFormat::kRss);
  EXPECT_EQ(main_language_of(page, "example.de"), "");
}

TEST(PageLanguage, TagsAreReadInAnySpelling) {
  EXPECT_EQ(plain_language_tag(" zh_TW "), "zh-hant");
  EXPECT_EQ(plain_language_tag("EN-us"), "en-us");
  EXPECT_EQ(plain_language_tag("nb"), "no");
}

}  // namespace
}  // namespace meguri::web
