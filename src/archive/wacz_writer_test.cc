#include "archive/wacz_writer.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "archive/sha1.h"
#include "archive/sha256.h"
#include "archive/warc_record.h"
#include "archive/zip_testing.h"
#include "base/check.h"
#include "env/memory_file_system.h"
#include "env/posix_file_system.h"
#include "env/random.h"
#include "env/testing.h"
#include "web/http_head.h"

namespace meguri::archive {
namespace {

const base::Instant start = base::Instant::from_ms(1'767'225'600'123);

WaczOptions options_in(std::string scratch) {
  return {.scratch = std::move(scratch),
          .title = "A \"title\"",
          .description = "What it is.",
          .software = "meguri/0.1.0",
          .created = start,
          .main_page = std::nullopt};
}

// Writes pages one minute after the other.
class PageWriter {
 public:
  // `warc` gets what the WARC file is, if it is not null.
  explicit PageWriter(WaczWriter& wacz, std::string* warc = nullptr) : wacz_(wacz), warc_(warc) {
    append(maker_.warcinfo(WarcinfoFields(), "data.warc.gz", start, RecordId::draw(random_)));
  }

  void write(std::string_view url, std::string_view title, std::string_view body) {
    const auto parsed = web::parse_head(web::HeadKind::kResponse,
                                        "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n");
    date_ = date_ + base::Duration::minutes(1);
    const Exchange exchange{.visit = {.target_uri = url,
                                      .date = date_,
                                      .fetch_time = base::Duration::from_ms(12),
                                      .ip_address = "192.0.2.1",
                                      .via = {},
                                      .depth = 0,
                                      .purpose = {}},
                            .request_head = {},
                            .head = parsed.head,
                            .body = std::string(body),
                            .payload_digest = Sha1().of(body),
                            .protocol = {}};
    MadeRecords made = maker_.response(exchange, VisitIds::draw(random_)).value();
    made.entry.place = {.file = 0, .offset = bytes_, .index = 0, .length = made.first_bytes};
    append(made.bytes.memory());
    CHECK(wacz_.add({.entry = made.entry, .is_page = true, .title = title}).has_value());
  }

 private:
  void append(std::string_view bytes) {
    CHECK(wacz_.append_warc(bytes).has_value());
    bytes_ += bytes.size();
    if (warc_ != nullptr) *warc_ += bytes;
  }

  WaczWriter& wacz_;
  std::string* warc_;
  env::Random random_{2026};
  RecordMaker maker_;
  base::Instant date_ = start;
  std::uint64_t bytes_ = 0;
};

struct Wacz {
  std::string bytes;
  std::string warc;
  WaczCounts counts;

  std::map<std::string, std::string> entries() const {
    std::map<std::string, std::string> entries;
    for (UnzippedEntry& one : unzip(bytes)) entries[one.name] = std::move(one.bytes);
    return entries;
  }
};

ByteSink into(std::string& out) {
  return [&out](std::string_view bytes) -> base::Status {
    out += bytes;
    return {};
  };
}

Wacz wacz_of(const std::vector<std::pair<std::string, std::string>>& pages,
             const WaczOptions& options = options_in("tmp")) {
  env::MemoryFileSystem fs;
  CHECK(fs.make_dirs("tmp").has_value());
  Wacz made;
  WaczWriter wacz(fs, into(made.bytes), options);
  PageWriter writer(wacz, &made.warc);
  for (const auto& [url, title] : pages) writer.write(url, title, "<p>" + title);
  made.counts = wacz.finish().value();
  return made;
}

TEST(WaczWriter, HoldsTheWarcFileItsIndexAndItsPages) {
  const Wacz wacz = wacz_of({{"http://b.example/", "B"}, {"http://a.example/x", "\"A\" \xff"}});
  EXPECT_EQ(wacz.counts.records, 2U);
  EXPECT_EQ(wacz.counts.pages, 2U);
  EXPECT_EQ(wacz.counts.bytes, wacz.bytes.size());
  const auto entries = wacz.entries();
  ASSERT_EQ(entries.size(), 6U);
  EXPECT_EQ(entries.at("archive/data.warc.gz"), wacz.warc);
  EXPECT_NE(wacz.bytes.find(wacz.warc), std::string::npos);  // stored
  EXPECT_NE(wacz.bytes.find(entries.at("indexes/index.cdx.gz")), std::string::npos);
  EXPECT_TRUE(entries.at("indexes/index.idx").starts_with("!meta 0 {"));
  const std::string& pages = entries.at("pages/pages.jsonl");
  EXPECT_EQ(std::ranges::count(pages, '\n'), 3);
  EXPECT_TRUE(pages.starts_with("{\"format\": \"json-pages-1.0\", \"id\": \"pages\""));
  EXPECT_NE(pages.find(R"(, "url": "http://b.example/", "ts": "2026-01-01T00:01:00.123Z", )"
                       R"("title": "B"})"),
            std::string::npos);
  EXPECT_NE(pages.find(R"("title": "\"A\" \ufffd"})"), std::string::npos);
}

TEST(WaczWriter, TheManifestHasTheHashOfEachFile) {
  const auto entries = wacz_of({{"http://b.example/", "B"}}).entries();
  const std::string& manifest = entries.at("datapackage.json");
  for (const auto& [name, bytes] : entries) {
    if (name.starts_with("datapackage")) continue;
    EXPECT_NE(manifest.find(fmt::format(R"("path": "{}", "hash": "{}", "bytes": {}}})", name,
                                        Sha256().of(bytes), bytes.size())),
              std::string::npos)
        << manifest;
  }
  EXPECT_NE(manifest.find(R"("wacz_version": "1.1.1")"), std::string::npos);
  EXPECT_NE(manifest.find(R"("title": "A \"title\"")"), std::string::npos);
  EXPECT_NE(manifest.find(R"("created": "2026-01-01T00:00:00Z")"), std::string::npos);
  EXPECT_NE(manifest.find(R"("mainPageUrl": "http://b.example/")"), std::string::npos);
  EXPECT_NE(manifest.find(R"("mainPageDate": "2026-01-01T00:01:00.123Z")"), std::string::npos);
  EXPECT_EQ(entries.at("datapackage-digest.json"),
            fmt::format("{{\n  \"path\": \"datapackage.json\",\n  \"hash\": \"{}\"\n}}\n",
                        Sha256().of(manifest)));
}

TEST(WaczWriter, TheMainPageCanBeChosen) {
  WaczOptions options = options_in("tmp");
  options.main_page = {.url = "http://c.example/", .date = start};
  const auto entries = wacz_of({{"http://b.example/", "B"}}, options).entries();
  EXPECT_NE(entries.at("datapackage.json").find(R"("mainPageUrl": "http://c.example/")"),
            std::string::npos);
}

TEST(WaczWriter, WithoutRecordsIsStillWhole) {
  const Wacz wacz = wacz_of({});
  EXPECT_EQ(wacz.counts.records, 0U);
  const auto entries = wacz.entries();
  EXPECT_EQ(entries.size(), 6U);
  EXPECT_EQ(std::ranges::count(entries.at("pages/pages.jsonl"), '\n'), 1);
  EXPECT_EQ(entries.at("datapackage.json").find("mainPage"), std::string::npos);
}

TEST(WaczWriter, EqualInputMakesEqualFilesInAnyMemory) {
  std::vector<std::pair<std::string, std::string>> pages;
  for (int i = 0; i < 500; ++i)
    pages.emplace_back(fmt::format("http://h/{}/", i * 7919 % 500), "T");
  WaczOptions small = options_in("tmp");
  small.sort_bytes_max = 1000;
  EXPECT_EQ(wacz_of(pages).bytes, wacz_of(pages, small).bytes);
}

TEST(WaczWriter, GivesTheErrorOfTheSink) {
  env::MemoryFileSystem fs;
  ASSERT_TRUE(fs.make_dirs("tmp"));
  const ByteSink full = [](std::string_view) -> base::Status {
    return base::fail(base::ErrorCode::kNoSpace, "the disk is full");
  };
  WaczWriter wacz(fs, full, options_in("tmp"));
  base::Status status;
  for (int i = 0; i < 100 && status; ++i) status = wacz.append_warc(std::string(10'000, 'x'));
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code(), base::ErrorCode::kNoSpace);
}

// Below: files for wacz_test.py.

// A file in which runs of zeros take no room.
class SparseFile {
 public:
  explicit SparseFile(const std::string& path)
      : file_(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644)) {
    CHECK(file_ >= 0, "cannot write {}", path);
  }
  SparseFile(const SparseFile&) = delete;
  SparseFile& operator=(const SparseFile&) = delete;
  ~SparseFile() { ::close(file_); }

  base::Status append(std::string_view bytes) {
    if (bytes.find_first_not_of('\0') != std::string_view::npos) {
      CHECK(::pwrite(file_, bytes.data(), bytes.size(), size_) ==
            static_cast<ssize_t>(bytes.size()));
    }
    size_ += static_cast<off_t>(bytes.size());
    CHECK(::ftruncate(file_, size_) == 0);
    return {};
  }

 private:
  int file_;
  off_t size_ = 0;
};

// "PATH PAGES ZEROS": the pages http://replay.example/pN/, each with a sentence, and behind their
// records so many bytes, which stand for what makes a WACZ large.
void write_wacz(const std::string& argument) {
  const std::size_t second = argument.rfind(' ');
  const std::size_t first = argument.rfind(' ', second - 1);
  const auto number = [&](std::size_t from) { return std::stoull(argument.substr(from)); };
  env::PosixFileSystem fs;
  SparseFile file(argument.substr(0, first));
  WaczWriter wacz(
      fs, [&](std::string_view bytes) { return file.append(bytes); },
      options_in(env::parent_of(argument.substr(0, first))));
  PageWriter writer(wacz);
  for (std::uint64_t i = 0; i < number(first + 1); ++i) {
    writer.write(fmt::format("http://replay.example/p{}/", i), fmt::format("Page {}", i),
                 fmt::format("<!doctype html><title>Page {}</title><h1>Page {}</h1>"
                             "<p>This is what page {} said.",
                             i, i, i));
  }
  const std::string zeros(std::size_t{1} << 20U, '\0');
  for (std::uint64_t left = number(second + 1); left > 0;) {
    const std::uint64_t some = std::min<std::uint64_t>(left, zeros.size());
    CHECK(wacz.append_warc(std::string_view(zeros).substr(0, some)).has_value());
    left -= some;
  }
  CHECK(wacz.finish().has_value());
}

const env::ChildProgram writes_wacz("write_wacz", write_wacz);

}  // namespace
}  // namespace meguri::archive
