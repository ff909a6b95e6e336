#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "archive/gzip_writer.h"
#include "env/memory_file_system.h"
#include "env/spool_testing.h"
#include "env/testing.h"
#include "scan/analyser_testing.h"

namespace meguri::scan {
namespace {

Document text(std::string body, std::string mime = "text/plain") {
  return document_of("http://a.example/", std::move(mime), std::move(body));
}

TEST(Grep, FindsLinesOfText) {
  EXPECT_EQ(result_of({"grep", "o[nt]"}, text("one\r\ntwo\nnot\nlion")),
            "http://a.example/\tone\nhttp://a.example/\tnot\nhttp://a.example/\tlion\n");
  EXPECT_EQ(result_of({"grep", "^two$"}, text("one\r\ntwo\r\n")), "http://a.example/\ttwo\n");
  EXPECT_EQ(result_of({"grep", "three"}, text("one\ntwo\n")), "");
}

TEST(Grep, LooksAtTheMainTextOfPages) {
  const auto page =
      text("<title>x</title><script>secret</script><p>A <b>secret</b> garden", "text/html");
  EXPECT_EQ(result_of({"grep", "secret"}, page), "http://a.example/\tA secret garden\n");
  EXPECT_EQ(result_of({"grep", "script|<b>"}, page), "");
}

TEST(Grep, LooksAtAllOfOtherText) {
  EXPECT_EQ(
      result_of({"grep", "url"}, text("p { color: red }\nb { background: url(x) }", "text/css")),
      "http://a.example/\tb { background: url(x) }\n");
}

TEST(Grep, ReadsAnyCharset) {
  const auto page = text("caf\xe9\n", "text/plain; charset=iso-8859-1");
  EXPECT_EQ(result_of({"grep", "f.$"}, page), "http://a.example/\tcaf\xC3\xA9\n");
  EXPECT_EQ(result_of({"grep", "-i", "\xC3\x89"}, page), "http://a.example/\tcaf\xC3\xA9\n");
}

TEST(Grep, HasOptions) {
  const auto document = text("One\nTWO\nTwo\n");
  EXPECT_EQ(result_of({"grep", "two"}, document), "");
  EXPECT_EQ(result_of({"grep", "-i", "two"}, document),
            "http://a.example/\tTWO\nhttp://a.example/\tTwo\n");
  EXPECT_EQ(result_of({"grep", "-l", "-i", "two"}, document), "http://a.example/\n");
  EXPECT_EQ(result_of({"grep", "-il", "two"}, document), "http://a.example/\n");
  EXPECT_EQ(result_of({"grep", "--", "-l"}, text("ls -l\n")), "http://a.example/\tls -l\n");
}

TEST(Grep, CutsLongLinesBetweenCharacters) {
  std::string line;
  for (int i = 0; i < 400; ++i) line += "\xE6\x97\xA5";
  EXPECT_EQ(result_of({"grep", "."}, text(line + "\n", "text/plain; charset=utf-8")),
            "http://a.example/\t" + line.substr(0, 999) + "\n");
}

TEST(Grep, WritesNoControls) {
  EXPECT_EQ(result_of({"grep", "b"}, text("a\tb\x1b[0m\n")), "http://a.example/\ta b [0m\n");
}

TEST(Grep, LooksThroughWhatIsLarge) {
  env::MemoryFileSystem fs;
  const auto spool = env::disk_spool(fs);
  std::string body;
  for (int i = 0; i < 1'000'000; ++i) body += "some words\n";
  body += "the last one";
  const auto document = document_of("http://a.example/", "text/plain", env::spooled(*spool, body));
  EXPECT_EQ(result_of({"grep", "last"}, document), "http://a.example/\tthe last one\n");
  EXPECT_EQ(result_of({"grep", "-l", "words"}, document), "http://a.example/\n");
}

TEST(Grep, PutsLargeResultsOnDisk) {
  const env::TempDir dir;
  AnalyserSettings settings = settings_of(AnalyserKind::kBuiltIn, {"grep", "x"});
  settings.scratch = dir.path();
  const auto analyser = make_analyser(settings);
  ASSERT_TRUE(analyser);
  std::string body;
  for (int i = 0; i < 100'000; ++i) body += "x\n";
  GivenDocuments documents({text(body)});
  GivenResults results;
  ASSERT_TRUE((*analyser)->run(documents, results));
  EXPECT_TRUE(results.is_last_on_disk);
  EXPECT_EQ(std::ranges::count(results.texts.front(), '\n'), 100'000);
}

TEST(Grep, UnpacksFilesOfGzip) {
  std::string packed;
  archive::GzipWriter().append_member(
      "<?xml version='1.0'?><urlset xmlns='http://www.sitemaps.org/schemas/sitemap/0.9'>\n"
      "<url><loc>http://a.example/deep</loc></url>\n</urlset>",
      {}, {}, &packed);
  EXPECT_EQ(result_of({"grep", "deep"}, text(packed, "application/gzip")),
            "http://a.example/\t<url><loc>http://a.example/deep</loc></url>\n");
}

TEST(Grep, FindsNothingInWhatIsNoText) {
  EXPECT_EQ(result_of({"grep", "PNG"}, text("\x89PNG\r\n\x1a\n\x01", "image/png")), "");
}

TEST(Grep, SaysWhatIsWrong) {
  EXPECT_EQ(refusal_of({"grep"}), "grep needs a regular expression; use: grep [-i] [-l] REGEX");
  EXPECT_EQ(refusal_of({"grep", "-v", "x"}),
            "grep has no option \"-v\"; use: grep [-i] [-l] REGEX");
  EXPECT_EQ(refusal_of({"grep", "x", "y"}),
            "grep takes one regular expression, but there is also \"y\"; use: grep [-i] [-l] "
            "REGEX");
  EXPECT_EQ(refusal_of({"grep", "a(b"}), "\"a(b\" is no regular expression: missing ): a(b");
}

}  // namespace
}  // namespace meguri::scan
