#include "archive/arc_line.h"

#include <gtest/gtest.h>

#include <string>

namespace meguri::archive {
namespace {

using State = ArcStart::State;

TEST(ArcLine, VersionOne) {
  const std::string bytes = "http://a.example/b?c 192.0.2.1 19961104142103 text/html 1234\nbody";
  const ArcStart start = arc_line_at(bytes);
  ASSERT_EQ(start.state, State::kWhole);
  EXPECT_EQ(start.line.url, "http://a.example/b?c");
  EXPECT_EQ(start.line.ip_address, "192.0.2.1");
  EXPECT_EQ(start.line.mime, "text/html");
  EXPECT_EQ(start.line.length, 1234U);
  EXPECT_EQ(start.line.size, bytes.find('\n') + 1);
  EXPECT_EQ(start.line.instant()->to_rfc3339(), "1996-11-04T14:21:03Z");
}

TEST(ArcLine, VersionTwo) {
  const ArcStart start = arc_line_at(
      "http://a.example/ 192.0.2.1 19961104142103 text/html 200 fac069150613fe55599cc7fa88aa089d "
      "- 209 IA-001102.arc 202\r\n");
  ASSERT_EQ(start.state, State::kWhole);
  EXPECT_EQ(start.line.mime, "text/html");
  EXPECT_EQ(start.line.length, 202U);
}

TEST(ArcLine, SpacesWhereTheyShouldNotBe) {
  const ArcStart start =
      arc_line_at("http://a.example/b c d 192.0.2.1 19961104142103 text/html; charset=x 5\n");
  ASSERT_EQ(start.state, State::kWhole);
  EXPECT_EQ(start.line.url, "http://a.example/b c d");
  EXPECT_EQ(start.line.mime, "text/html");
  EXPECT_EQ(start.line.length, 5U);
}

TEST(ArcLine, OtherLines) {
  for (const std::string_view text :
       {"WARC/1.0\n", "hello world\n", "http://a.example/ 192.0.2.1 text/html 5\n",
        "http://a.example/ 192.0.2.1 19961104142103 text/html five\n", "1: 2 3 4 5\n",
        "http://a.example/ somewhere 19961104142103 text/html 5\n", "\n"}) {
    EXPECT_EQ(arc_line_at(text).state, State::kNone) << text;
  }
}

TEST(ArcLine, IsWaitedForUpToItsLimit) {
  EXPECT_EQ(arc_line_at("htt").state, State::kMore);
  EXPECT_EQ(arc_line_at("http://a.example/ 192.0.2.1").state, State::kMore);
  const std::string url = "http://a.example/" + std::string(3700, 'x');
  EXPECT_EQ(arc_line_at(url).state, State::kMore);
  EXPECT_EQ(arc_line_at(url + " 192.0.2.1 19961104142103 a/b 1\n").line.url, url);
  EXPECT_EQ(arc_line_at("http:" + std::string(kArcLineBytesMax, 'x')).state, State::kNone);
}

TEST(ArcLine, AsFieldsOfAWarcRecord) {
  const auto fields_of = [](std::string_view text) {
    return warc_fields_of(arc_line_at(text).line, RecordId());
  };
  const auto page = fields_of("http://a.example/ 192.0.2.1 19961104142103 text/html 5\n");
  EXPECT_EQ(page.get("WARC-Type"), "response");
  EXPECT_EQ(page.get("WARC-Date"), "1996-11-04T14:21:03Z");
  EXPECT_EQ(page.get("WARC-IP-Address"), "192.0.2.1");
  EXPECT_EQ(page.get("Content-Type"), "application/http; msgtype=response");
  const auto name = fields_of("dns:a.example 192.0.2.1 19961104142103 text/dns 5\n");
  EXPECT_EQ(name.get("WARC-Type"), "response");
  EXPECT_EQ(name.get("Content-Type"), "text/dns");
  const auto info = fields_of("filedesc://d/x.arc 0.0.0.0 19961104142103 text/plain 5\n");
  EXPECT_EQ(info.get("WARC-Type"), "warcinfo");
  EXPECT_EQ(info.get("WARC-Filename"), "x.arc");
  EXPECT_FALSE(info.has("WARC-Target-URI") || info.has("WARC-IP-Address"));
  const auto file = fields_of("ftp://a.example/x 0.0.0.0 199611041421 text/plain 5\n");
  EXPECT_EQ(file.get("WARC-Type"), "resource");
  EXPECT_EQ(file.get("WARC-Date"), "1996-11-04T14:21:00Z");
}

}  // namespace
}  // namespace meguri::archive
