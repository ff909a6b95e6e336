#include "archive/snapshot_lines.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "archive/index_entry.h"
#include "env/random.h"
#include "web/surt.h"

namespace meguri::archive {
namespace {

using base::Instant;

const std::map<std::uint32_t, IndexFile>& files() {
  static const std::map<std::uint32_t, IndexFile> all = {
      {1, {.number = 1, .path = "warc/a.warc.gz"}},
      {2, {.number = 2, .path = "warc/b.warc.gz"}},
      {4, {.number = 4, .path = "/elsewhere/b.warc.gz"}},
      {5, {.number = 5, .path = "warc/\"q\".warc"}},
  };
  return all;
}

Instant at(std::string_view text) { return Instant::parse_rfc3339(text).value(); }

// An entry with the bytes that its view is of.
class Stored {
 public:
  explicit Stored(const IndexEntry& entry) : bytes_(encode(entry)) {}
  EntryView view() const { return EntryView::parse(bytes_.key, bytes_.value).value(); }

 private:
  EncodedEntry bytes_;
};

IndexEntry visit() {
  return {.url = "https://www.Example.com/a?b=1",
          .date = at("2026-11-15T08:09:10.123Z"),
          .kind = EntryKind::kChanged,
          .status = 200,
          .mime = "text/html",
          .digest = "sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ",
          .language = "ja",
          .place = {.file = 1, .offset = 512, .index = 0, .length = 345}};
}

std::string line_of(const IndexEntry& entry, TimeSpan valid, const IndexEntry* content) {
  const Stored stored(entry);
  const EntryView view = stored.view();
  const std::optional<Stored> other =
      content == nullptr ? std::nullopt : std::optional<Stored>(*content);
  const auto content_view = other ? std::optional(other->view()) : std::nullopt;
  std::string line;
  append_cdxj_line(
      {.entry = view, .valid = valid, .content = content_view ? &*content_view : nullptr},
      CdxjFileNames(files()), line);
  return line;
}

std::string raw_line_of(const IndexEntry& entry) {
  const Stored stored(entry);
  const EntryView view = stored.view();
  std::string line;
  append_raw_cdxj_line({.entry = view, .valid = {}}, CdxjFileNames(files()), line);
  return line;
}

TEST(SnapshotLines, UrlIsExact) {
  const Stored stored(visit());
  const EntryView view = stored.view();
  std::string line = "before\n";
  append_url_line({.entry = view, .valid = {}}, line);
  EXPECT_EQ(line, "before\nhttps://www.Example.com/a?b=1\n");
}

TEST(SnapshotLines, VisitWithContentOfItsOwn) {
  const IndexEntry entry = visit();
  EXPECT_EQ(line_of(entry, {.begin = entry.date}, &entry),
            R"(com,example)/a?b=1 20261115080910 {"url": "https://www.Example.com/a?b=1", )"
            R"("mime": "text/html", "status": "200", )"
            R"("digest": "sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ", "length": "345", )"
            R"("offset": "512", "filename": "a.warc.gz", "kind": "changed", )"
            R"("date": "2026-11-15T08:09:10.123Z", "valid_from": "2026-11-15T08:09:10.123Z", )"
            R"("language": "ja"})"
            "\n");
}

TEST(SnapshotLines, UnchangedVisitPointsToTheContent) {
  const IndexEntry content = visit();
  IndexEntry entry = content;
  entry.kind = EntryKind::kUnchanged;
  entry.date = at("2026-11-16T00:00:00Z");
  entry.status = 304;
  entry.mime.clear();
  entry.language.clear();
  entry.place = {.file = 2, .offset = 7, .index = 0, .length = 9};
  EXPECT_EQ(line_of(entry, {.begin = entry.date, .end = at("2026-11-17T00:00:00Z")}, &content),
            R"(com,example)/a?b=1 20261116000000 {"url": "https://www.Example.com/a?b=1", )"
            R"("mime": "text/html", "status": "200", )"
            R"("digest": "sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ", "length": "345", )"
            R"("offset": "512", "filename": "a.warc.gz", "kind": "unchanged", )"
            R"("date": "2026-11-16T00:00:00.000Z", "valid_from": "2026-11-16T00:00:00.000Z", )"
            R"("valid_to": "2026-11-17T00:00:00.000Z", "language": "ja"})"
            "\n");
}

TEST(SnapshotLines, FailureIsItsOwnRecordAndSaysOnlyWhatIsKnown) {
  const IndexEntry entry{.url = "http://h/",
                         .date = at("2026-11-16T00:00:00Z"),
                         .kind = EntryKind::kError,
                         .place = {.file = 2, .offset = 7, .index = 3, .length = 0}};
  EXPECT_EQ(line_of(entry, {.begin = entry.date}, nullptr),
            R"(h)/ 20261116000000 {"url": "http://h/", "offset": "7", )"
            R"("filename": "warc/b.warc.gz", "index": "3", "kind": "error", )"
            R"("date": "2026-11-16T00:00:00.000Z", "valid_from": "2026-11-16T00:00:00.000Z"})"
            "\n");
}

TEST(SnapshotLines, RawIsTheRecordAlone) {
  IndexEntry entry = visit();
  EXPECT_EQ(raw_line_of(entry),
            R"(com,example)/a?b=1 20261115080910 {"url": "https://www.Example.com/a?b=1", )"
            R"("mime": "text/html", "status": "200", )"
            R"("digest": "sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ", "length": "345", )"
            R"("offset": "512", "filename": "a.warc.gz"})"
            "\n");
  entry.original = {.url = "http://other/", .date = entry.date};
  EXPECT_NE(raw_line_of(entry).find(R"("mime": "warc/revisit")"), std::string::npos);
  entry.original.reset();
  entry.kind = EntryKind::kUnchanged;
  EXPECT_NE(raw_line_of(entry).find(R"("mime": "warc/revisit")"), std::string::npos);
}

TEST(SnapshotLines, FilesThatShareANameGoByTheirPaths) {
  const CdxjFileNames names(files());
  EXPECT_EQ(names.json_of(1), "a.warc.gz");
  EXPECT_EQ(names.json_of(2), "warc/b.warc.gz");
  EXPECT_EQ(names.json_of(4), "/elsewhere/b.warc.gz");
  EXPECT_EQ(names.json_of(5), R"(\"q\".warc)");
  EXPECT_EQ(names.json_of(0), "");
  EXPECT_EQ(names.json_of(3), "");
  EXPECT_EQ(names.json_of(6), "");
}

TEST(SnapshotLines, MomentsAreThoseOfInstant) {
  env::Random random(5);
  IndexEntry entry = visit();
  const auto check = [&entry](Instant date) {
    entry.date = date;
    const std::string line = line_of(entry, {.begin = date}, &entry);
    const std::string expected = date.to_digits() + " {";
    EXPECT_EQ(line.substr(line.find(' ') + 1, expected.size()), expected);
    EXPECT_NE(line.find("\"date\": \"" + date.to_rfc3339_ms() + "\""), std::string::npos) << line;
  };
  for (const char* text :
       {"0000-01-01T00:00:00Z", "9999-12-31T23:59:59.999Z", "1969-12-31T23:59:59.999Z",
        "1970-01-01T00:00:00Z", "2000-02-29T12:00:00Z"}) {
    check(at(text));
  }
  const std::int64_t first = at("0000-01-01T00:00:00Z").ms();
  const std::int64_t last = at("9999-12-31T23:59:59.999Z").ms();
  check(Instant::from_ms(first - 1));
  check(Instant::from_ms(last + 1));
  for (int i = 0; i < 2000; ++i) {
    check(Instant::from_ms(
        first + static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(last - first)))));
  }
}

// Any URL comes back from its line, and never makes two lines or more fields of one.
TEST(SnapshotLines, AnyBytesAreEscaped) {
  env::Random random(9);
  for (int i = 0; i < 2000; ++i) {
    IndexEntry entry = visit();
    entry.url = i % 2 == 0 ? "http://h/" : "";
    const std::uint64_t length = 1 + random.below(20);
    for (std::uint64_t j = 0; j < length; ++j) {
      entry.url +=
          static_cast<char>(static_cast<unsigned char>(random.below(i % 3 == 0 ? 256 : 128)));
    }
    const std::string line = line_of(entry, {.begin = entry.date}, &entry);
    ASSERT_EQ(line.find('\n'), line.size() - 1);
    const std::size_t first = line.find(' ');
    const std::size_t second = line.find(' ', first + 1);
    ASSERT_EQ(line.substr(first + 1, second - first - 1), "20261115080910") << entry.url;
    const auto object = nlohmann::json::parse(line.substr(second + 1));
    if (i % 3 != 0) {
      ASSERT_EQ(object.at("url").get<std::string>(), entry.url);
    }
    ASSERT_EQ(object.at("offset"), "512");
  }
}

// Whatever pages share a SURT, and whenever they were visited.
TEST(SnapshotLines, LinesAreSortedByTheirBytes) {
  env::Random random(21);
  std::map<std::string, std::string> index;
  for (int i = 0; i < 500; ++i) {
    IndexEntry entry = visit();
    entry.url = fmt::format("http{}://{}h/{}", random.below(2) == 0 ? "s" : "",
                            random.below(2) == 0 ? "www." : "", random.below(20));
    entry.date =
        entry.date + base::Duration::seconds(static_cast<std::int64_t>(random.below(1000)));
    entry.place.offset = static_cast<std::uint64_t>(i);
    EncodedEntry encoded = encode(entry);
    index.emplace(std::move(encoded.key), std::move(encoded.value));
  }
  const CdxjFileNames names(files());
  for (const bool is_raw : {false, true}) {
    CdxjLines lines(names, is_raw);
    std::string out;
    std::vector<std::string> expected;
    for (const auto& [key, value] : index) {
      const EntryView view = EntryView::parse(key, value).value();
      const SnapshotItem item{.entry = view, .valid = {.begin = view.date()}, .content = &view};
      lines.add(item, out);
      std::string& line = expected.emplace_back();
      is_raw ? append_raw_cdxj_line(item, names, line) : append_cdxj_line(item, names, line);
    }
    lines.finish(out);
    std::ranges::sort(expected);
    EXPECT_EQ(out, fmt::format("{}", fmt::join(expected, "")));
  }
}

TEST(SnapshotLines, SurtLongerThanItsKeyIsWhole) {
  IndexEntry entry = visit();
  entry.url = "http://h/" + std::string(20'000, 'x');
  const std::string line = line_of(entry, {.begin = entry.date}, &entry);
  EXPECT_EQ(line.substr(0, line.find(' ')), web::surt_key(entry.url));
}

}  // namespace
}  // namespace meguri::archive
