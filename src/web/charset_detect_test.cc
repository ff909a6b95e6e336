#include "web/charset_detect.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <string>
#include <string_view>
#include <vector>

#include "base/text.h"
#include "web/charset_testing.h"
#include "web/testing.h"

namespace meguri::web {
namespace {

using namespace std::string_view_literals;

struct EncodingTest {
  std::string data;
  std::string encoding;
};

// Tests as html5lib has them: lines "#data", the document, "#encoding", a name, an empty line.
std::vector<EncodingTest> parse_tests(std::string_view file) {
  constexpr std::string_view kData = "#data\n";
  constexpr std::string_view kEncoding = "\n#encoding\n";
  std::vector<EncodingTest> tests;
  std::size_t at = 0;
  while (file.substr(at).starts_with(kData)) {
    at += kData.size();
    const std::size_t middle = file.find(kEncoding, at);
    if (middle == std::string_view::npos) break;
    const std::size_t name = middle + kEncoding.size();
    const std::size_t end = std::min(file.find('\n', name), file.size());
    tests.push_back(
        {std::string(file.substr(at, middle - at)), std::string(file.substr(name, end - name))});
    at = std::min(file.find_first_not_of('\n', end), file.size());
  }
  EXPECT_EQ(at, file.size()) << "not all of the file is tests";
  return tests;
}

// The expectations are for whole parsing, in which a <meta> behind the first 1024 bytes makes the
// parser start again; so we read kMetaBytesMax of each.
void expect_tests_pass(std::string_view file, std::size_t count) {
  const auto tests = parse_tests(file);
  EXPECT_EQ(tests.size(), count);
  for (const EncodingTest& test : tests) {
    const auto expected = charset_of_label(test.encoding);
    ASSERT_TRUE(expected) << test.encoding;
    const auto bom = charset_of_bom(test.data);
    const auto found = prescan_html(test.data, kMetaBytesMax);
    const Charset charset = bom ? *bom : found ? found->charset : Charset::kWindows1252;
    EXPECT_EQ(charset, *expected) << test.data.substr(0, 200) << "\n-> " << name_of(charset);

    // Detection changes an answer only where the document declares nothing.
    const CharsetFinding all = find_charset(test.data, std::nullopt, MarkupKind::kHtml);
    if (all.source != CharsetSource::kDetected) {
      EXPECT_EQ(all.charset, *expected) << test.data.substr(0, 200);
    }
  }
}

TEST(CharsetPrescan, Html5libTests1Pass) {
  READ_TEST_DATA(file, "encoding/tests1.dat");
  expect_tests_pass(file, 59);
}

TEST(CharsetPrescan, Html5libTests2Pass) {
  READ_TEST_DATA(file, "encoding/tests2.dat");
  expect_tests_pass(file, 22);
}

TEST(CharsetPrescan, Html5libYahooTestPasses) {
  READ_TEST_DATA(file, "encoding/test-yahoo-jp.dat");
  expect_tests_pass(file, 1);
}

std::optional<Charset> prescan(std::string_view html, std::size_t bytes_max = kPrescanBytes) {
  const auto found = prescan_html(html, bytes_max);
  if (!found) return std::nullopt;
  return found->charset;
}

TEST(CharsetPrescan, ReadsOnlySoMuch) {
  const std::string meta = "<meta charset=sjis>";
  for (const std::size_t start : {0UL, 1024 - meta.size(), 1025 - meta.size(), 1100UL}) {
    const std::string html = std::string(start, ' ') + meta;
    const bool inside = start + meta.size() <= kPrescanBytes;
    EXPECT_EQ(prescan(html).has_value(), inside) << start;
    EXPECT_TRUE(prescan(html, kMetaBytesMax));
  }
}

TEST(CharsetPrescan, MetaNeedsAValueThatCounts) {
  EXPECT_EQ(prescan("<META CHARSET=SJIS>"), Charset::kShiftJis);
  EXPECT_EQ(prescan("<meta/charset=sjis/>"), std::nullopt);  // the label is "sjis/"
  EXPECT_EQ(prescan("<meta charset=sjis charset=euc-jp>"), Charset::kShiftJis);
  EXPECT_EQ(prescan("<meta charset=none content='text/html;charset=sjis' "
                    "http-equiv=content-type>"),
            std::nullopt);
  EXPECT_EQ(prescan("<meta content='text/html;charset=sjis' charset=euc-jp>"), Charset::kEucJp);
  EXPECT_EQ(prescan("<meta charset=x-user-defined>"), Charset::kWindows1252);
  EXPECT_EQ(prescan("<meta charset=utf-16be>"), Charset::kUtf8);
  EXPECT_EQ(prescan("<meta =charset=sjis charset=euc-jp>"), Charset::kEucJp);
}

TEST(CharsetPrescan, CommentsAndTagsHideMeta) {
  EXPECT_EQ(prescan("<!--><meta charset=sjis>"), Charset::kShiftJis);
  EXPECT_EQ(prescan("<!--><!-- --!><meta charset=sjis>"), std::nullopt);
  EXPECT_EQ(prescan("<!x '><meta charset=sjis>"), Charset::kShiftJis);
  EXPECT_EQ(prescan("<?php <meta charset=euc-jp> ?><meta charset=sjis>"), Charset::kShiftJis);
  EXPECT_EQ(prescan("</p title='<meta charset=euc-jp>'><meta charset=sjis>"), Charset::kShiftJis);
  EXPECT_EQ(prescan("<1 <meta charset=sjis>"), Charset::kShiftJis);
}

TEST(CharsetPrescan, XmlDeclarationCountsWhereNoMetaDoes) {
  EXPECT_EQ(prescan("<?xml version='1.0' encoding='euc-jp'?><html>"), Charset::kEucJp);
  EXPECT_EQ(prescan("<?xml version='1.0' encoding='euc-jp'?><meta charset=sjis>"),
            Charset::kShiftJis);
  EXPECT_EQ(prescan("<\0?\0x\0m\0"sv), Charset::kUtf16Le);
  EXPECT_EQ(prescan("\0<\0?\0x\0m"sv), Charset::kUtf16Be);
}

TEST(CharsetPrescan, HostileDocumentsTakeLinearTime) {
  for (const std::string_view part :
       {"<"sv, "<!--"sv, "<a "sv, "<meta "sv, "<meta a"sv, "</"sv, "<?"sv,
        "<meta content='charset "sv, "<meta a='"sv, "<x =\""sv}) {
    std::string html;
    while (html.size() < 4'000'000) html += part;
    EXPECT_EQ(prescan(html, html.size()), std::nullopt);
  }
  std::string value;
  while (value.size() < 4'000'000) value += "charset ";
  EXPECT_EQ(charset_of_content_type(value), std::nullopt);
}

TEST(CharsetDeclaration, XmlDeclaration) {
  const auto read = charset_of_xml_declaration;
  EXPECT_EQ(read("<?xml version=\"1.0\" encoding=\"Shift_JIS\"?>"), Charset::kShiftJis);
  EXPECT_EQ(read("<?xml version='1.0' encoding\n=\t'koi8-r' ?>"), Charset::kKoi8R);
  EXPECT_EQ(read("<?xml encoding='utf-16'?>"), Charset::kUtf8);
  EXPECT_EQ(read(" <?xml encoding='sjis'?>"), std::nullopt);
  EXPECT_EQ(read("<?xml encoding='sjis'"), std::nullopt);
  EXPECT_EQ(read("<?xml encoding=sjis?>"), std::nullopt);
  EXPECT_EQ(read("<?xml encoding=' sjis'?>"), std::nullopt);
  EXPECT_EQ(read("<?xml version='1.0'?><a encoding='sjis'>"), std::nullopt);
}

TEST(CharsetDeclaration, CssRule) {
  EXPECT_EQ(charset_of_css_rule("@charset \"sjis\";"), Charset::kShiftJis);
  EXPECT_EQ(charset_of_css_rule("@charset \"utf-16le\";"), Charset::kUtf8);
  EXPECT_EQ(charset_of_css_rule("@charset 'sjis';"), std::nullopt);
  EXPECT_EQ(charset_of_css_rule("@CHARSET \"sjis\";"), std::nullopt);
  EXPECT_EQ(charset_of_css_rule("@charset  \"sjis\";"), std::nullopt);
  EXPECT_EQ(charset_of_css_rule("@charset \"sjis\" ;"), std::nullopt);
  EXPECT_EQ(charset_of_css_rule("@charset \"sjis"), std::nullopt);
}

TEST(CharsetDeclaration, ContentType) {
  EXPECT_EQ(charset_of_content_type("text/html; charset=sjis"), Charset::kShiftJis);
  EXPECT_EQ(charset_of_content_type("text/html;CharSet = 'sjis' ; x"), Charset::kShiftJis);
  EXPECT_EQ(charset_of_content_type("charset charset=sjis"), Charset::kShiftJis);
  EXPECT_EQ(charset_of_content_type("charsetcharset=sjis"), Charset::kShiftJis);
  EXPECT_EQ(charset_of_content_type("text/html; charset=\"sjis"), std::nullopt);
  EXPECT_EQ(charset_of_content_type("text/html; charset="), std::nullopt);
  EXPECT_EQ(charset_of_content_type("text/html"), std::nullopt);
}

TEST(FindCharset, ByteOrderMarkThenHeaderThenDeclarationThenBytes) {
  const std::string_view meta = "<meta charset=sjis>é";
  const std::string bom = "\xEF\xBB\xBF" + std::string(meta);
  const auto html = MarkupKind::kHtml;
  using Source = CharsetSource;
  EXPECT_EQ(find_charset(bom, "euc-jp", html), (CharsetFinding{Charset::kUtf8, Source::kBom}));
  EXPECT_EQ(find_charset("\xFF\xFE<\0"sv, "euc-jp", html),
            (CharsetFinding{Charset::kUtf16Le, Source::kBom}));
  EXPECT_EQ(find_charset("\xFE\xFF\0<"sv, "euc-jp", html),
            (CharsetFinding{Charset::kUtf16Be, Source::kBom}));
  EXPECT_EQ(find_charset(meta, "euc-jp", html), (CharsetFinding{Charset::kEucJp, Source::kHeader}));
  EXPECT_EQ(find_charset(meta, "none", html), (CharsetFinding{Charset::kShiftJis, Source::kMeta}));
  EXPECT_EQ(find_charset("<p>é", {}, html), (CharsetFinding{Charset::kUtf8, Source::kDetected}));
  EXPECT_EQ(find_charset("<p>e", {}, html),
            (CharsetFinding{Charset::kWindows1252, Source::kDefault}));
  EXPECT_EQ(find_charset("", {}, html), (CharsetFinding{Charset::kWindows1252, Source::kDefault}));
}

TEST(FindCharset, KnowsTheDeclarationsOfEachKind) {
  const std::string_view xml = "<?xml version='1.0' encoding='sjis'?>";
  const std::string_view css = "@charset \"sjis\";";
  using Source = CharsetSource;
  EXPECT_EQ(find_charset(xml, {}, MarkupKind::kXml),
            (CharsetFinding{Charset::kShiftJis, Source::kXmlDeclaration}));
  EXPECT_EQ(find_charset("<a/>", {}, MarkupKind::kXml),
            (CharsetFinding{Charset::kUtf8, Source::kDefault}));
  EXPECT_EQ(find_charset(css, {}, MarkupKind::kCss),
            (CharsetFinding{Charset::kShiftJis, Source::kMeta}));
  EXPECT_EQ(find_charset("a{}", {}, MarkupKind::kCss),
            (CharsetFinding{Charset::kUtf8, Source::kDefault}));
  EXPECT_EQ(find_charset(xml, {}, MarkupKind::kText),
            (CharsetFinding{Charset::kWindows1252, Source::kDefault}));
}

constexpr std::string_view kJapanese =
    "朝早く駅に着くと、まだ店は開いていなかった。切符売り場の前には三人の客が並んでいて、"
    "駅員が窓を拭いている。次の電車は七時二十分に出るそうだ。ベンチに座って新聞を読みながら、"
    "昨日の会議で決まったことをもう一度考えてみた。新しい図書館は来年の春に完成する予定で、"
    "子どものための部屋も作られるという。コーヒーを一杯飲んでから、ホームに向かった。";
constexpr std::string_view kRussian =
    "Утром мы пришли на вокзал, но магазины были ещё закрыты. Перед кассой стояли три человека, а "
    "дежурный протирал окна. Следующий поезд отправляется в семь часов двадцать минут. Сидя на "
    "скамейке, я читал газету и думал о том, что решили вчера на собрании. Новая библиотека "
    "откроется весной следующего года, и в ней будет комната для детей.";
constexpr std::string_view kChinese =
    "早上到车站的时候，商店还没有开门。售票处前面站着三个人，工作人员正在擦窗户。下一班火车七点"
    "二十分出发。我坐在长椅上看报纸，又想了想昨天会议上决定的事情。新的图书馆明年春天就要完工了，"
    "里面还会有一个给孩子们准备的房间。喝了一杯咖啡以后，我就向站台走去。";
constexpr std::string_view kTaiwanese =
    "早上到車站的時候，商店還沒有開門。售票處前面站著三個人，工作人員正在擦窗戶。下一班火車七點"
    "二十分出發。我坐在長椅上看報紙，又想了想昨天會議上決定的事情。新的圖書館明年春天就要完工了，"
    "裡面還會有一個給孩子們準備的房間。喝了一杯咖啡以後，我就向月台走去。";
constexpr std::string_view kKorean =
    "아침 일찍 역에 도착했지만 가게는 아직 문을 열지 않았다. 매표소 앞에는 세 사람이 줄을 서 "
    "있었고 역무원은 창문을 닦고 있었다. 다음 열차는 일곱 시 이십 분에 출발한다고 한다. 의자에 "
    "앉아 신문을 읽으면서 어제 회의에서 결정된 일을 다시 한번 생각해 보았다.";
constexpr std::string_view kGerman =
    "Früh am Morgen waren die Läden am Bahnhof noch geschlossen. Vor dem Schalter standen drei "
    "Leute, und ein Mann putzte gemütlich die Fenster. Der nächste Zug fährt um zwanzig nach "
    "sieben. Während ich auf der Bank saß und die Zeitung las, dachte ich über die Beschlüsse "
    "von gestern nach. Die neue Bücherei soll im Frühjahr eröffnet werden und größer sein als "
    "die alte – mit einem Zimmer für Kinder.";

// As part of a page, with markup around it.
std::string page_of(std::string_view text, Charset charset) {
  const std::string html =
      "<!DOCTYPE html>\n<html><head><title>News</title></head>\n<body class=\"main\">\n"
      "<p><a href=\"/index.html\">Home</a></p>\n<p>" +
      std::string(text) + "</p>\n<hr></body></html>\n";
  const auto bytes = encode_text(html, charset);
  EXPECT_TRUE(bytes) << "not written in " << name_of(charset);
  return bytes.value_or("");
}

void expect_detected(std::string_view text, Charset charset, Charset expected) {
  const std::string page = page_of(text, charset);
  const CharsetFinding found = find_charset(page, std::nullopt, MarkupKind::kHtml);
  EXPECT_EQ(found.source, CharsetSource::kDetected);
  EXPECT_EQ(name_of(found.charset), name_of(expected));
  EXPECT_EQ(decode_text(page, found.charset), decode_text(page, charset));
}

TEST(DetectCharset, OrdinaryPagesWithoutDeclaration) {
  expect_detected(kJapanese, Charset::kUtf8, Charset::kUtf8);
  expect_detected(kJapanese, Charset::kShiftJis, Charset::kShiftJis);
  expect_detected(kJapanese, Charset::kEucJp, Charset::kEucJp);
  expect_detected(kJapanese, Charset::kIso2022Jp, Charset::kIso2022Jp);
  expect_detected(kRussian, Charset::kWindows1251, Charset::kWindows1251);
  expect_detected(kRussian, Charset::kKoi8R, Charset::kKoi8R);
  expect_detected(kChinese, Charset::kGbk, Charset::kGb18030);  // GBK is read the same way
  expect_detected(kTaiwanese, Charset::kBig5, Charset::kBig5);
  expect_detected(kKorean, Charset::kEucKr, Charset::kEucKr);
  expect_detected(kGerman, Charset::kWindows1252, Charset::kWindows1252);
}

TEST(DetectCharset, ShortTextsAreInTheLikelierCharset) {
  EXPECT_EQ(detect_charset("<p>caf\xE9</p>"), Charset::kWindows1252);
  EXPECT_EQ(detect_charset("<p>Z\xFCrich</p>"), Charset::kWindows1252);
  expect_detected("Příliš žluťoučký kůň úpěl ďábelské ódy, a město bylo tiché",
                  Charset::kWindows1250, Charset::kWindows1250);
  expect_detected("Zażółć gęślą jaźń, w mieście było już bardzo późno", Charset::kIso8859_2,
                  Charset::kIso8859_2);
  expect_detected("Привет, мир", Charset::kWindows1251, Charset::kWindows1251);
  expect_detected("こんにちは世界", Charset::kShiftJis, Charset::kShiftJis);
  expect_detected("ホームページへようこそ", Charset::kEucJp, Charset::kEucJp);
}

TEST(DetectCharset, MarkupBeforeTheTextDoesNotMatter) {
  std::string page;
  while (page.size() < 300'000) page += "<div class=\"menu\"><a href=\"/x\">item</a></div>\n";
  page += page_of(kJapanese, Charset::kShiftJis);
  EXPECT_EQ(detect_charset(page), Charset::kShiftJis);
}

TEST(DetectCharset, Utf8MayBeCutAtTheEnd) {
  EXPECT_EQ(detect_charset("<p>猫\xE7\x8C"), Charset::kUtf8);
  EXPECT_EQ(detect_charset("<p>caf\xE9"), Charset::kWindows1252);
}

TEST(DetectCharset, TextMayStandFarWithinALine) {
  const std::string line = std::string(200'000, 'x') + page_of(kRussian, Charset::kWindows1251);
  EXPECT_EQ(detect_charset(line), Charset::kWindows1251);
}

TEST(DetectCharset, AFewBrokenBytesDoNotHideUtf8) {
  const std::string page = page_of(kJapanese, Charset::kUtf8);
  EXPECT_EQ(detect_charset(page + "caf\xE9<p>" + page), Charset::kUtf8);
  const std::string german = page_of(kGerman, Charset::kUtf8);
  EXPECT_EQ(detect_charset(german + "<p>\xFF</p>"), Charset::kUtf8);
}

TEST(DetectCharset, AsciiSaysNothing) {
  EXPECT_EQ(detect_charset(""), std::nullopt);
  EXPECT_EQ(detect_charset("plain text"), std::nullopt);
  EXPECT_EQ(detect_charset("\x1B[1mbold\x1B$Z"), std::nullopt);
}

TEST(DetectCharset, LargeHostileTextsAreBounded) {
  for (const std::string_view part : {"\x81"sv, "\xFF<"sv, "\xA4\n"sv, "\x1B$B"sv}) {
    std::string bytes;
    while (bytes.size() < 8'000'000) bytes += part;
    const auto found = detect_charset(bytes);
    EXPECT_EQ(found, detect_charset(std::string_view(bytes).substr(0, kDetectScanMax)));
  }
}

TEST(CharsetDetect, ByteOrderMarksAreTakenOffAndNameTheCharset) {
  const auto read = [](std::string_view bytes) {
    std::string storage;
    return std::string(without_byte_order_mark(bytes, &storage));
  };
  EXPECT_EQ(read("plain"), "plain");
  EXPECT_EQ(read(""), "");
  EXPECT_EQ(read("\xEF\xBB\xBFplain"), "plain");
  EXPECT_EQ(read("\xEF\xBB"), "\xEF\xBB");
  EXPECT_EQ(read(std::string_view("\xFF\xFE"
                                  "a\0\xE9\0",
                                  6)),
            "a\xC3\xA9");
  EXPECT_EQ(read(std::string_view("\xFE\xFF\0a\x30\xC4", 6)), "a\xE3\x83\x84");
}

}  // namespace
}  // namespace meguri::web
