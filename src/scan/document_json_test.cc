#include "scan/document_json.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "env/memory_file_system.h"
#include "env/spool_testing.h"

namespace meguri::scan {
namespace {

using Json = nlohmann::json;

Document page_document(std::string_view html) {
  Document document;
  document.facts.number = 12;
  document.facts.url = "https://www.example.com:8080/dir/page";
  document.facts.time = base::Instant::parse_rfc3339("2026-11-18T08:09:10.5Z").value();
  document.facts.valid = {.begin = document.facts.time, .end = base::Instant::max()};
  document.status = 200;
  document.mime = "text/html";
  document.digest = "sha1:ABC";
  document.fields.add("Content-Type", "text/html");
  document.content = std::string(html);
  return document;
}

Json line_of(const Document& document, const std::vector<std::string>& fields) {
  DocumentPage page(document);
  const std::string line = fields_line(document, page, fields);
  EXPECT_TRUE(line.ends_with('\n'));
  EXPECT_EQ(line.find('\n'), line.size() - 1);
  return Json::parse(line);
}

TEST(DocumentJson, TheHeaderTellsWhatIsKnown) {
  Document document = page_document("<p>x");
  document.charset = "utf-8";
  document.facts.language = "ja";
  EXPECT_EQ(header_line(document),
            R"({"number":12,"url":"https://www.example.com:8080/dir/page",)"
            R"("time":"2026-11-18T08:09:10.500Z","valid_from":"2026-11-18T08:09:10.500Z",)"
            R"("valid_to":null,"status":200,"mime":"text/html","charset":"utf-8",)"
            R"("language":"ja","digest":"sha1:ABC","length":4})"
            "\n");
  document.cut = "the content ends early";
  document.facts.valid.end = base::Instant::from_ms(0);
  const Json header = Json::parse(header_line(document));
  EXPECT_EQ(header["cut"], "the content ends early");
  EXPECT_EQ(header["valid_to"], "1970-01-01T00:00:00.000Z");
}

TEST(DocumentJson, DefaultFieldsTellWhatThePageSays) {
  const Json line = line_of(
      page_document("<html lang=de><title>Titel</title><p>Ein Satz.<a href=../b>weiter</a>"),
      default_fields());
  EXPECT_EQ(line.size(), 11U);
  EXPECT_EQ(line["url"], "https://www.example.com:8080/dir/page");
  EXPECT_EQ(line["title"], "Titel");
  EXPECT_EQ(line["language"], "de");
  EXPECT_EQ(line["status"], 200);
  EXPECT_EQ(line["links"], Json::array({"https://www.example.com:8080/b"}));
  EXPECT_NE(line["text"].get<std::string>().find("Ein Satz."), std::string::npos);
  EXPECT_TRUE(line["valid_to"].is_null());
}

TEST(DocumentJson, FieldsComeAsTheyWereAskedFor) {
  const Document document = page_document("<p>x");
  DocumentPage page(document);
  const std::vector<std::string> fields = {"month", "host", "length", "digest"};
  EXPECT_EQ(fields_line(document, page, fields),
            R"({"month":"2026-11","host":"www.example.com","length":4,"digest":"sha1:ABC"})"
            "\n");
}

TEST(DocumentJson, TheLanguageOfTheIndexCounts) {
  Document document = page_document("<html lang=de><p>Ein Satz.");
  document.facts.language = "ja";
  EXPECT_EQ(line_of(document, {"language"})["language"], "ja");
}

TEST(DocumentJson, TheCharsetIsTheOneThatWasFound) {
  Document document = page_document("<meta charset=euc-jp><p>x");
  EXPECT_EQ(line_of(document, {"charset"})["charset"], "euc-jp");
  document.charset = "utf-8";
  document.fields = {};
  document.content = std::string("\0\1\2\3", 4);
  EXPECT_EQ(line_of(document, {"charset"})["charset"], "utf-8");
}

TEST(DocumentJson, NoBytesBreakALine) {
  Document document = page_document("<title>a\xff\"\\\n</title><p>\xc3");
  document.facts.url = "http://example.com/\xff\n\"";
  document.mime = "\xfe";
  std::vector<std::string> fields = default_fields();
  fields.insert(fields.end(), {"digest", "length", "month", "host"});
  EXPECT_EQ(line_of(document, fields)["url"], "http://example.com/\xef\xbf\xbd\n\"");
  EXPECT_EQ(Json::parse(header_line(document))["mime"], "\xef\xbf\xbd");
}

TEST(DocumentJson, FieldsThatThereAreNotAreRefused) {
  EXPECT_TRUE(check_fields(default_fields()));
  const std::vector<std::string> wrong = {"url", "body"};
  const auto status = check_fields(wrong);
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code(), base::ErrorCode::kInvalid);
  EXPECT_EQ(status.error().message().find(R"("body" is no field of a document; there are url,)"),
            0U)
      << status.error().message();
  EXPECT_FALSE(check_fields({}));
}

TEST(DocumentPage, ReadsNoMoreThanTheFrontOfAFile) {
  env::MemoryFileSystem fs;
  const auto spool = env::disk_spool(fs);
  Document document = page_document("");
  const std::string front = "<title>large</title><p>";
  document.content =
      env::spooled(*spool, front + std::string(DocumentPage::kBytesMax, ' ') + "<p>behind");
  ASSERT_TRUE(document.content.is_on_disk());
  DocumentPage page(document);
  EXPECT_EQ(page.page().title, "large");
  EXPECT_EQ(page.page().main_text.find("behind"), std::string::npos);
  EXPECT_TRUE(page.is_text());
}

TEST(DocumentPage, APictureIsNoText) {
  Document document = page_document("");
  document.fields = {};
  document.fields.add("Content-Type", "image/png");
  document.content = std::string("\x89PNG\r\n\x1a\n\0\0\0\rIHDR", 16);
  EXPECT_FALSE(DocumentPage(document).is_text());
}

}  // namespace
}  // namespace meguri::scan
