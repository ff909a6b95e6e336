#include "archive/file_indexer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "archive/index_testing.h"
#include "archive/member_stream.h"
#include "env/memory_ordered_store.h"

namespace meguri::archive {
namespace {

using base::ErrorCode;

// An index that files are read into, in batches of a few entries.
class FileIndexerTest : public ::testing::Test {
 protected:
  FileIndexerTest() { begin_anew(); }

  // Nothing is flushed, so that an index that is opened again is empty.
  void begin_anew() {
    index_.reset();
    index_ = TemporalIndex::open(disk_.open().value()).value();
    file_ = {};
    file_.number = 1;
  }

  // `stop_at` is the batch, from 1 on, after which it ends as by a crash.
  base::Status index(std::string_view bytes, int stop_at = 0) {
    const ViewFile view(bytes);
    int batches = 0;
    return indexer_.index(view, bytes.size(), file_, [&](IndexBatch& batch) -> base::Status {
      RETURN_IF_ERROR(index_->write(batch));
      batches_ = ++batches;
      if (batches == stop_at) return base::fail(ErrorCode::kStopped, "stopped");
      return {};
    });
  }

  env::MemoryStoreDisk disk_;
  std::unique_ptr<TemporalIndex> index_;
  const Removals removals_;
  FileIndexer indexer_{removals_, FileIndexer::Reading::kAll, 300};
  IndexFile file_;
  int batches_ = 0;
};

const std::string arc_head =
    "filedesc://x.arc 0.0.0.0 20010203040506 text/plain 76\n1 0 Alexa Internet\n"
    "URL IP-address Archive-date Content-type Archive-length\n\n";

// Files of every kind, some of them damaged.
std::map<std::string, std::string> some_files() {
  std::map<std::string, std::string> files;
  std::string arc = arc_head;
  for (int i = 0; i < 30; ++i) {
    const std::string response = testing::response_of(fmt::format("http://x/{}", i), i);
    files["plain"] += response;
    files["gzip"] += testing::gzip_of(response);
    arc += fmt::format(
        "http://x/{} 192.0.2.1 2001020304{:02}06 text/html 21\nHTTP/1.0 200\r\n\r\nhello\n", i, i);
  }
  files["arc"] = arc;
  // Several records in each member.
  for (int i = 0; i < 10; ++i) {
    std::string member;
    for (int j = 0; j < 3; ++j) {
      member += testing::response_of(fmt::format("http://x/{}", j), 3 * i + j);
    }
    files["shared"] += testing::gzip_of(member);
  }
  for (const char* kind : {"plain", "gzip", "arc", "shared"}) {
    std::string bytes = files[kind];
    bytes.replace(bytes.size() / 3, 5, "\xff\xff\xff\xff\xff");
    bytes.insert(bytes.size() / 2, "rubbish");
    files[std::string("damaged ") + kind] = bytes.substr(0, bytes.size() - 20);
  }
  return files;
}

TEST_F(FileIndexerTest, HasAnEntryForEachVisit) {
  const std::string bytes = testing::gzip_file_of(20, 1);
  ASSERT_TRUE(index(bytes));
  const auto entries = testing::entries_in(*index_);
  ASSERT_EQ(entries.size(), 20U);
  std::uint64_t length = 0;
  for (const IndexEntry& entry : entries) {
    EXPECT_EQ(entry.status, 200);
    EXPECT_EQ(entry.mime, "text/html");
    EXPECT_EQ(entry.digest, "sha1:VL2MMHO4YXUKFWV63YHTWSBM3GXKSQ2N") << "which the record lacks";
    EXPECT_EQ(entry.place.file, 1U);
    length += entry.place.length;
  }
  EXPECT_EQ(length, bytes.size());
  EXPECT_EQ(file_.entries, 20U);
  EXPECT_EQ(file_.damages, 0U);
  EXPECT_EQ(file_.indexed_to, bytes.size());
  EXPECT_EQ(*index_->file(1), file_);
}

TEST_F(FileIndexerTest, NumbersTheRecordsOfAMember) {
  ASSERT_TRUE(index(some_files()["shared"]));
  std::map<std::uint64_t, std::vector<std::uint32_t>> indexes;
  for (const IndexEntry& entry : testing::entries_in(*index_)) {
    indexes[entry.place.offset].push_back(entry.place.index);
  }
  ASSERT_EQ(indexes.size(), 10U);
  for (const auto& [offset, found] : indexes) {
    EXPECT_EQ(found, (std::vector<std::uint32_t>{0, 1, 2})) << offset;
  }
}

// Stopped behind any batch, what comes of it in the end is the same.
TEST_F(FileIndexerTest, GoesOnWhereItWas) {
  for (const auto& [kind, bytes] : some_files()) {
    SCOPED_TRACE(kind);
    begin_anew();
    ASSERT_TRUE(index(bytes));
    const int batches = batches_;
    const IndexFile expected = file_;
    EXPECT_GT(batches, 3);
    EXPECT_EQ(file_.damages > 0, kind.starts_with("damaged"));
    const auto all = testing::all_of(*index_);
    for (int stop_at = 1; stop_at < batches; ++stop_at) {
      SCOPED_TRACE(stop_at);
      begin_anew();
      EXPECT_EQ(index(bytes, stop_at).error().code(), ErrorCode::kStopped);
      file_ = *index_->file(1);
      ASSERT_TRUE(index(bytes));
      EXPECT_EQ(file_, expected);
      EXPECT_EQ(testing::all_of(*index_), all);
    }
  }
}

// Requests between the visits, and bodies that are passed over.
TEST_F(FileIndexerTest, FrontsTellAsMuchAsAllOfTheFile) {
  auto files = some_files();
  GzipWriter gzip;
  for (int i = 0; i < 30; ++i) {
    const std::string body(std::size_t{1} << (i % 18), 'b');
    gzip.append_member(testing::response_of(fmt::format("http://x/{}", i), i, body), {}, {},
                       &files["crawled"]);
    gzip.append_member("WARC/1.0\r\nWARC-Type: request\r\nContent-Length: 0\r\n\r\n\r\n\r\n", {},
                       {}, &files["crawled"], GzipWriter::Content::kRequest);
  }
  for (const auto& [kind, bytes] : files) {
    SCOPED_TRACE(kind);
    begin_anew();
    ASSERT_TRUE(index(bytes));
    const IndexFile expected = file_;
    const auto all = testing::all_of(*index_);
    begin_anew();
    const ViewFile view(bytes);
    FileIndexer fronts(removals_, FileIndexer::Reading::kFronts);
    ASSERT_TRUE(fronts.index(view, bytes.size(), file_,
                             [&](IndexBatch& batch) { return index_->write(batch); }));
    EXPECT_EQ(file_, expected);
    EXPECT_EQ(testing::all_of(*index_), all);
  }
}

TEST_F(FileIndexerTest, AFileOfRequestsIsOneOfNoVisits) {
  std::string bytes;
  GzipWriter().append_member("WARC/1.0\r\nWARC-Type: request\r\nContent-Length: 0\r\n\r\n", {},
                             "\r\n\r\n", &bytes, GzipWriter::Content::kRequest);
  const ViewFile view(bytes);
  FileIndexer fronts(removals_, FileIndexer::Reading::kFronts);
  ASSERT_TRUE(fronts.index(view, bytes.size(), file_,
                           [&](IndexBatch& batch) { return index_->write(batch); }));
  EXPECT_EQ(file_.entries, 0U);
  EXPECT_EQ(file_.indexed_to, bytes.size());
}

TEST_F(FileIndexerTest, CountsAnewFromTheBeginning) {
  const std::string bytes = some_files()["damaged gzip"];
  ASSERT_TRUE(index(bytes));
  const IndexFile expected = file_;
  file_.indexed_to = 0;  // as after a removal that did not come to its end
  ASSERT_TRUE(index(bytes));
  EXPECT_EQ(file_, expected);
}

TEST_F(FileIndexerTest, RefusesWhatIsNoWarcFile) {
  EXPECT_EQ(index(std::string(5000, 'x')).error().code(), ErrorCode::kInvalid);
  EXPECT_TRUE(testing::all_of(*index_).empty());
  EXPECT_TRUE(index("")) << "a file of nothing";
}

// Other crawlers do not escape what they were given.
TEST_F(FileIndexerTest, TakesAnyUrl) {
  const std::vector<std::string> urls = {
      "http://example.com/" + std::string(3'700, 'a'),
      "http://example.com/" + std::string(65'536 - 19, 'b'),
      "http://example.com/" + std::string(65'000, 'b') + "?c",
      "http://example.com/caf\xc3\xa9?q=\xe5\xb7\xa1\xe3\x82\x8a",
      ("http://b\xc3\xbc"
       "cher.example/\xff\xfe"),
      std::string("http://example.com/a\0b", 22),
      std::string("http://exa\0mple.com/", 20),
      "dns:example.com",
      "urn:uuid:1234"};
  std::string plain;
  std::string packed;
  for (const std::string& url : urls) {
    plain += testing::response_of(url, 1);
    packed += testing::gzip_of(testing::response_of(url, 2));
  }
  ASSERT_TRUE(index(plain));
  file_ = {};
  file_.number = 2;
  ASSERT_TRUE(index(packed));
  EXPECT_EQ(file_.damages, 0U);
  EXPECT_EQ(testing::entries_in(*index_).size(), 2 * urls.size());
  for (std::string url : urls) {
    std::ranges::replace(url, '\0',
                         ' ');  // as the fields of all records are read
    const auto entries = index_->entries_of(url).value();
    ASSERT_EQ(entries.size(), 2U) << url.substr(0, 50);
    for (const IndexEntry& entry : entries) EXPECT_EQ(entry.url, url);
  }
}

}  // namespace
}  // namespace meguri::archive
