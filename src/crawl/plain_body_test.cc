#include "crawl/plain_body.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

#include "archive/gzip_writer.h"
#include "env/faulty_file_system.h"
#include "env/random.h"
#include "env/spool_testing.h"
#include "web/page.h"

namespace meguri::crawl {
namespace {

std::string packed(std::string_view text) {
  archive::GzipWriter writer;
  std::string out;
  writer.append_member({}, text, {}, &out);
  return out;
}

std::string noise(std::size_t size) {
  env::Random random(size);
  std::string bytes;
  while (bytes.size() < size) bytes += static_cast<char>(random.below(256));
  return bytes;
}

std::string html(std::size_t size) {
  std::string text = "<html><a href=/x>x</a>";
  while (text.size() < size) text += fmt::format("<p>{} words\n", text.size());
  return text;
}

std::string sitemap(std::size_t size) {
  std::string text = "<urlset>";
  while (text.size() < size) text += fmt::format("<url><loc>http://h/{}</loc></url>", text.size());
  return text;
}

class PlainBodyTest : public ::testing::Test {
 protected:
  static constexpr std::uint64_t kHtmlMax = 6'000'000;

  ReadAnswer answer(std::string_view fields, env::SpooledBytes body) {
    head_ =
        web::parse_head(web::HeadKind::kResponse, fmt::format("HTTP/1.1 200 OK\r\n{}\r\n", fields));
    answer_.fetched.body = std::move(body);
    return {.answer = answer_, .head = head_.head, .digest = {}};
  }

  PlainBody document(std::string_view fields, env::SpooledBytes body) {
    auto plain = PlainBody::read_document(answer(fields, std::move(body)), kHtmlMax, {});
    EXPECT_TRUE(plain);
    return *std::move(plain);
  }

  env::FaultyFileSystem fs_;
  const std::unique_ptr<env::Spool> spool_ = env::disk_spool(fs_);
  Answer answer_;
  web::ParsedHead head_;
};

TEST_F(PlainBodyTest, IsTheSameFromMemoryAndFromDisk) {
  for (const std::size_t size : {0UL, 100UL, 100'000UL, 5'000'000UL, 7'000'000UL}) {
    for (const bool is_packed : {false, true}) {
      const std::string text = html(size);
      const std::string body = is_packed ? packed(text) : text;
      const std::string_view fields = is_packed
                                          ? "Content-Type: text/html\r\nContent-Encoding: gzip\r\n"
                                          : "Content-Type: text/html\r\n";
      const PlainBody memory = document(fields, body);
      const PlainBody disk = document(fields, env::spooled(*spool_, body));
      EXPECT_TRUE(memory.text() == std::string_view(text).substr(0, kHtmlMax)) << size;
      EXPECT_TRUE(disk.text() == memory.text()) << size;
      EXPECT_EQ(disk.fault(), memory.fault());
      EXPECT_EQ(memory.fault().empty(), !is_packed || size <= kHtmlMax) << size;
    }
  }
}

TEST_F(PlainBodyTest, ReadsMoreOfASitemapWhateverItIsCalled) {
  const std::string text = sitemap(9'000'000);
  for (const std::string_view type : {"text/xml", "application/octet-stream", "text/plain"}) {
    const std::string fields = fmt::format("Content-Type: {}\r\n", type);
    EXPECT_TRUE(document(fields, env::spooled(*spool_, text)).text() == text) << type;
    const std::string coded = fields + "Content-Encoding: gzip\r\n";
    EXPECT_TRUE(document(coded, env::spooled(*spool_, packed(text))).text() == text) << type;
    EXPECT_TRUE(document(coded, packed(text)).text() == text) << type;
  }
}

TEST_F(PlainBodyTest, ReadsOnlyTheFrontOfWhatIsNoDocument) {
  const std::string bytes = '\0' + noise(9'000'000);
  const PlainBody plain = document("Content-Type: video/mp4\r\n", env::spooled(*spool_, bytes));
  EXPECT_GT(plain.text().size(), 1'000U);
  EXPECT_LT(plain.text().size(), 100'000U);
  EXPECT_TRUE(bytes.starts_with(plain.text()));
  EXPECT_EQ(plain.fault(), "");
  const PlainBody coded = document("Content-Type: video/mp4\r\nContent-Encoding: gzip\r\n",
                                   env::spooled(*spool_, packed(bytes)));
  EXPECT_LT(coded.text().size(), 100'000U);
  EXPECT_EQ(coded.fault(), "") << "nobody wants to read it";
}

TEST_F(PlainBodyTest, ReadsAFileOfGzipIfItHoldsADocument) {
  const std::string good = packed(sitemap(2'000'000));
  ASSERT_GT(good.size(), 70'000U);
  EXPECT_TRUE(document("", env::spooled(*spool_, good)).text() == good);
  const std::string other = packed('\0' + noise(400'000));
  EXPECT_LT(document("", env::spooled(*spool_, other)).text().size(), 100'000U);
}

TEST_F(PlainBodyTest, EndsWithABomb) {
  const std::string bomb = packed("<html>" + std::string(30'000'000, ' '));
  for (const env::SpooledBytes& body : {env::SpooledBytes(bomb), env::spooled(*spool_, bomb)}) {
    const PlainBody plain = document("Content-Type: text/html\r\nContent-Encoding: gzip\r\n", body);
    EXPECT_TRUE(plain.text().starts_with("<html>"));
    EXPECT_LE(plain.text().size(), kHtmlMax);
    EXPECT_NE(plain.fault(), "");
  }
}

TEST_F(PlainBodyTest, ReadsNoMoreThanAskedFor) {
  const std::string text = html(100'000);
  for (const env::SpooledBytes& body : {env::SpooledBytes(text), env::spooled(*spool_, text)}) {
    const auto plain = PlainBody::read(answer("", body), 500, {});
    ASSERT_TRUE(plain);
    EXPECT_EQ(plain->text(), text.substr(0, 500));
    EXPECT_FALSE(plain->is_broken());
  }
}

TEST_F(PlainBodyTest, SaysThatTheDiskFailed) {
  for (std::uint64_t read = 0; read < 2; ++read) {
    const ReadAnswer asked = answer("", env::spooled(*spool_, html(500'000)));
    fs_.fail_read_after(read, base::ErrorCode::kIo);
    EXPECT_FALSE(PlainBody::read_document(asked, kHtmlMax, {})) << read;
  }
}

}  // namespace
}  // namespace meguri::crawl
