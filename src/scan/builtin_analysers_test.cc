#include "scan/builtin_analysers.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "env/memory_file_system.h"
#include "env/spool_testing.h"
#include "scan/analyser_testing.h"

namespace meguri::scan {
namespace {

Document html(std::string body, std::string url = "http://www.example.co.uk/a") {
  return document_of(std::move(url), "text/html", std::move(body));
}

TEST(BuiltinAnalysers, AreNamedInTheHelp) {
  for (const BuiltinAnalyser& analyser : builtin_analysers()) {
    EXPECT_TRUE(is_builtin(analyser.name));
    EXPECT_TRUE(analyser.use.starts_with(analyser.name));
    EXPECT_FALSE(analyser.what.empty());
  }
  EXPECT_FALSE(is_builtin("wc"));
  EXPECT_EQ(refusal_of({"wc"}),
            "there is no analyser \"wc\"; Meguri has count-by, links, text, grep, warc");
}

TEST(BuiltinAnalysers, TakeOnlyTheirArguments) {
  for (const std::string name : {"links", "text", "warc"}) {
    EXPECT_EQ(refusal_of({name, "-x"}), name + " takes no arguments, but there is \"-x\"");
  }
}

TEST(BuiltinAnalysers, SayWhatIsDoneWithTheirResults) {
  const auto counting = settings_of(AnalyserKind::kBuiltIn, {"count-by", "host,month", "mime"});
  EXPECT_TRUE(counts_results(counting));
  EXPECT_FALSE(writes_warc(counting));
  EXPECT_EQ(result_columns(counting), (std::vector<std::string>{"host", "month", "mime"}));
  EXPECT_FALSE(counts_results(settings_of(AnalyserKind::kProgram, {"count-by", "host"})));
  EXPECT_TRUE(writes_warc(settings_of(AnalyserKind::kBuiltIn, {"warc"})));
  EXPECT_FALSE(writes_warc(settings_of(AnalyserKind::kProgram, {"warc"})));
}

TEST(CountBy, MakesAKeyOfWhatIsKnown) {
  Document document = html("<html lang=ja><title>x</title>");
  document.charset = "shift_jis";
  document.fields.remove("Content-Type");
  document.fields.add("Content-Type", "text/html; charset=Shift_JIS");
  EXPECT_EQ(result_of({"count-by", "host"}, document), "www.example.co.uk\n");
  EXPECT_EQ(result_of({"count-by", "domain"}, document), "example.co.uk\n");
  EXPECT_EQ(result_of({"count-by", "mime"}, document), "text/html\n");
  EXPECT_EQ(result_of({"count-by", "status"}, document), "200\n");
  EXPECT_EQ(result_of({"count-by", "month"}, document), "2026-11\n");
  EXPECT_EQ(result_of({"count-by", "day"}, document), "2026-11-15\n");
  EXPECT_EQ(result_of({"count-by", "charset"}, document), "shift_jis\n");
  EXPECT_EQ(result_of({"count-by", "language"}, document), "ja\n");
  document.facts.language = "de";
  EXPECT_EQ(result_of({"count-by", "language"}, document), "de\n");
}

TEST(CountBy, CombinesKeysInTheirOrder) {
  const Document document = html("<html lang=ja>");
  EXPECT_EQ(result_of({"count-by", "language", "month"}, document), "ja\t2026-11\n");
  EXPECT_EQ(result_of({"count-by", "month,language", "status"}, document), "2026-11\tja\t200\n");
}

TEST(CountBy, WritesADashForWhatIsNotKnown) {
  Document document = document_of("what", "", std::string("\x01\x02\x03"));
  document.status = 0;
  EXPECT_EQ(result_of({"count-by", "host,domain,mime,status,language,charset"}, document),
            "-\t-\t-\t-\t-\t-\n");
}

TEST(CountBy, TakesAnAddressForADomain) {
  EXPECT_EQ(result_of({"count-by", "domain"}, html("", "http://192.0.2.1:8080/")), "192.0.2.1\n");
  EXPECT_EQ(result_of({"count-by", "domain"}, html("", "http://localhost/")), "localhost\n");
}

TEST(CountBy, LetsNoValueAddAColumnOrALine) {
  Document document = html("");
  document.mime = "text/\thtml\n\xff";
  EXPECT_EQ(result_of({"count-by", "mime"}, document), "text/ html \xEF\xBF\xBD\n");
}

TEST(CountBy, SaysWhichKeysThereAre) {
  EXPECT_EQ(refusal_of({"count-by"}),
            "count-by needs one key or more of host, domain, mime, status, language, month, day "
            "and charset");
  EXPECT_EQ(refusal_of({"count-by", "host,"}),
            "count-by knows no key \"\"; there are host, domain, mime, status, language, month, "
            "day and charset");
  EXPECT_EQ(refusal_of({"count-by", "host", "day,host"}),
            "count-by has the key \"host\" twice; name it once");
}

TEST(Links, ListsEachEdgeOnce) {
  const Document document = html(
      "<a href=/b>b</a><a href='/b#part'>b again</a><img src=/b><a href=http://other.example/>o</a>"
      "<a href=mailto:x@y.example>m</a><a href=#top>top</a><a href=/a>self</a>");
  EXPECT_EQ(result_of({"links"}, document),
            "http://www.example.co.uk/a\thttp://www.example.co.uk/b\tnavigation\n"
            "http://www.example.co.uk/a\thttp://www.example.co.uk/b\tembed\n"
            "http://www.example.co.uk/a\thttp://other.example/\tnavigation\n"
            "http://www.example.co.uk/a\thttp://www.example.co.uk/a\tnavigation\n");
}

TEST(Links, HasNoneOfWhatIsNoText) {
  const auto picture =
      document_of("http://a.example/", "image/png", std::string("\x89PNG\r\n\x1a"));
  EXPECT_EQ(result_of({"links"}, picture), "");
}

TEST(Text, IsALineOfJson) {
  Document document = html("<html lang=en><title>A \"title\"</title><p>Some text\n<p>and more");
  document.facts.language = "en";
  EXPECT_EQ(result_of({"text"}, document),
            "{\"url\":\"http://www.example.co.uk/a\",\"time\":\"2026-11-15T08:09:10.000Z\","
            "\"title\":\"A \\\"title\\\"\",\"language\":\"en\",\"text\":\"Some text\\u000aand "
            "more\\u000a\"}\n");
}

TEST(Text, IsNothingOfWhatIsNoText) {
  const auto picture =
      document_of("http://a.example/", "image/png", std::string("\x89PNG\r\n\x1a"));
  EXPECT_EQ(result_of({"text"}, picture), "");
}

}  // namespace
}  // namespace meguri::scan
