#include "archive/content_text.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "archive/snapshot_warc_testing.h"

namespace meguri::archive {
namespace {

constexpr std::string_view kUrl = "http://example.com/";
constexpr std::string_view kDate = "2026-01-01T00:00:00Z";

base::Result<std::optional<std::string>> text_of(std::string_view bytes) {
  const ViewFile file(bytes);
  WarcReader reader(file);
  EXPECT_TRUE(reader.next().value());
  return read_content_text(reader);
}

std::string text_of_answer(std::string_view body, std::string_view fields = {}) {
  return text_of(warc_record("response", kUrl, kDate, "", http_answer(body, fields)))
      .value()
      .value();
}

TEST(ContentText, IsTheMainTextOfAPage) {
  EXPECT_EQ(text_of_answer("<nav>Home</nav><p>One<p>Two"), "One\nTwo\n");
}

TEST(ContentText, CodingsAndCharsetsAreUndone) {
  EXPECT_EQ(text_of_answer(gzip_member("<p>One"), "Content-Encoding: gzip\r\n"), "One\n");
  EXPECT_EQ(text_of_answer("6\r\n<p>One\r\n0\r\n\r\n", "Transfer-Encoding: chunked\r\n"), "One\n");
  EXPECT_EQ(text_of_answer("<meta charset=iso-8859-1><p>caf\xe9"), "café\n");
}

TEST(ContentText, OfABrokenCodingIsWhatComesBefore) {
  std::string body;
  for (int i = 0; i < 100'000; ++i) body += fmt::format("<p>Paragraph {}", i);
  std::string packed = gzip_member(body);
  packed.resize(packed.size() / 2);
  EXPECT_TRUE(text_of_answer(packed, "Content-Encoding: gzip\r\n").starts_with("Paragraph 0\n"));
}

TEST(ContentText, ABombIsCut) {
  const std::string packed = gzip_member(std::string(200'000'000, 'a'));
  EXPECT_LE(text_of_answer(packed, "Content-Encoding: gzip\r\n").size(), kContentTextBytesMax);
}

TEST(ContentText, AnImageHasNone) {
  const std::string image("\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\1", 20);
  const std::string block = "HTTP/1.1 200 OK\r\nContent-Type: image/png\r\n\r\n" + image;
  EXPECT_EQ(text_of(warc_record("response", kUrl, kDate, "", block)).value(), std::nullopt);
}

TEST(ContentText, AResourceHasNoHead) {
  const std::string block = "words of its own";
  const std::string record = fmt::format(
      "WARC/1.0\r\nWARC-Type: resource\r\nWARC-Record-ID: <urn:test:1>\r\nWARC-Date: {}\r\n"
      "WARC-Target-URI: {}\r\nContent-Type: text/plain\r\nContent-Length: {}\r\n\r\n{}\r\n\r\n",
      kDate, kUrl, block.size(), block);
  EXPECT_EQ(text_of(record).value(), block);
}

TEST(ContentText, OfADamagedRecordThereIsNone) {
  std::string record = warc_record("response", kUrl, kDate, "", http_answer("<p>One<p>Two"));
  record.resize(record.size() - 8);
  const auto text = text_of(record);
  ASSERT_FALSE(text);
  EXPECT_EQ(text.error().code(), base::ErrorCode::kCorrupt);
}

}  // namespace
}  // namespace meguri::archive
