#include "archive/warc_rewriter.h"

#include <gtest/gtest.h>

#include <map>

#include "archive/archive_testing.h"
#include "archive/file_verifier.h"
#include "archive/tombstone.h"
#include "archive/warc_reader.h"
#include "env/crash_points.h"
#include "env/memory_file_system.h"

namespace meguri::archive {
namespace {

const base::Instant today = base::Instant::from_ms(1'800'000'000'000);

Removals removals_of(std::string_view url) {
  Removals removals;
  removals.add(Removal::make(RemovalKind::kUrl, url).value());
  return removals;
}

WarcRewriter rewriter_of(env::FileSystem& files, const Removals& removals) {
  return {files, removals, today, env::Random(1),
          [](std::uint64_t /*offset*/) { return base::Status(); }};
}

void fill(SmallArchive& archive) {
  for (int i = 0; i < 12; ++i) {
    archive.visit(fmt::format("http://h/{}", i % 3), fmt::format("<p>secret {} {}", i % 3, i));
  }
}

std::vector<std::string> paths_of(const TemporalIndex& index) {
  std::vector<std::string> paths;
  for (const auto& [number, file] : index.files()) paths.push_back("/a/" + file.path);
  return paths;
}

// The bytes of each record in a file, by its place, but for tombstones.
std::map<std::uint64_t, std::string> records_of(env::FileSystem& files, const std::string& path) {
  std::map<std::uint64_t, std::string> records;
  const auto file = files.open_read(path).value();
  WarcReader reader(*file);
  while (reader.next().value()) {
    CHECK(reader.finish());
    EXPECT_TRUE(reader.record().faults.empty()) << reader.record().faults.to_string();
    if (is_tombstone(reader.record())) continue;
    std::string& bytes = records[reader.record().offset];
    CHECK(file->read_at(reader.record().offset, reader.record().length, &bytes));
  }
  return records;
}

// No record of the page is left, and all others stand where they stood.
void expect_without(env::FileSystem& files, const std::string& path, std::string_view url,
                    const std::map<std::uint64_t, std::string>& before) {
  const auto after = records_of(files, path);
  const auto file = files.open_read(path).value();
  for (const auto& [offset, bytes] : before) {
    const ViewFile view(bytes);
    WarcReader reader(view);
    ASSERT_TRUE(reader.next().value());
    const bool is_removed = reader.record().target_uri() == url;
    ASSERT_EQ(after.contains(offset), !is_removed) << offset;
    if (!is_removed) {
      EXPECT_EQ(after.at(offset), bytes);
    }
  }
}

TEST(WarcRewriter, TakesOutWhatIsMeantAndMovesNothing) {
  for (const WarcCompression compression : {WarcCompression::kGzip, WarcCompression::kNone}) {
    env::MemoryFileSystem files;
    SmallArchive archive(files, {}, compression);
    fill(archive);
    archive.commit();
    const Removals removals = removals_of("https://h/1");
    WarcRewriter rewriter = rewriter_of(files, removals);
    std::uint64_t removed = 0;
    for (const std::string& path : paths_of(archive.index())) {
      SCOPED_TRACE(path);
      const auto before = records_of(files, path);
      const std::uint64_t size = files.size(path).value();
      RemovedRecords found = rewriter.find(path).value();
      ASSERT_TRUE(rewriter.rewrite(path, found));
      EXPECT_TRUE(found.stuck.empty());
      removed += found.records;
      EXPECT_EQ(files.size(path).value(), size);
      expect_without(files, path, "http://h/1", before);
      EXPECT_EQ(rewriter.find(path)->records, 0U);
      EXPECT_EQ(rewriter.find(path)->before, found.runs.size());
      if (compression == WarcCompression::kNone) {
        EXPECT_FALSE(env::read_file(files, path)->contains("secret 1"));
      }
    }
    EXPECT_EQ(removed, 8U) << "four visits, each a response and its request";
  }
}

TEST(WarcRewriter, TheIndexStaysRightButForTheEntries) {
  env::MemoryFileSystem files;
  SmallArchive archive(files, removals_of("http://h/1"));
  fill(archive);
  archive.commit();
  const Removals& removals = archive.index().removals();
  WarcRewriter rewriter = rewriter_of(files, removals);
  for (const auto& [number, row] : archive.index().files()) {
    RemovedRecords found = rewriter.find("/a/" + row.path).value();
    ASSERT_TRUE(rewriter.rewrite("/a/" + row.path, found));
    FileVerifier verifier(
        removals,
        [](const Damage& damage) -> base::Status {
          ADD_FAILURE() << damage.what;
          return {};
        },
        [](std::uint64_t /*offset*/) { return base::Status(); });
    const auto bytes = files.open_read("/a/" + row.path).value();
    EXPECT_EQ(verifier.verify(*bytes, row)->entries.count, row.entries);
  }
}

TEST(WarcRewriter, AfterACrashTheOldFileOrTheNewOneIsThere) {
  const Removals removals = removals_of("http://h/1");
  std::string path;
  std::string before;
  std::string after;
  {
    env::FaultyFileSystem fs;
    SmallArchive archive(fs);
    fill(archive);
    archive.commit();
    path = paths_of(archive.index()).at(0);
    before = env::read_file(fs, path).value();
    WarcRewriter rewriter = rewriter_of(fs, removals);
    RemovedRecords found = rewriter.find(path).value();
    ASSERT_TRUE(rewriter.rewrite(path, found));
    after = env::read_file(fs, path).value();
    ASSERT_NE(before, after);
  }
  const std::uint64_t changes = env::for_each_crash_point(
      {},
      [&](env::FaultyFileSystem& fs) {
        ASSERT_TRUE(fs.make_dirs("/a/warc"));
        ASSERT_TRUE(env::write_file_atomically(fs, path, before));
      },
      [&](env::FaultyFileSystem& fs) {
        WarcRewriter rewriter = rewriter_of(fs, removals);
        RemovedRecords found = rewriter.find(path).value();
        std::ignore = rewriter.rewrite(path, found);
      },
      [&](env::FaultyFileSystem& fs, env::CrashPoint point) {
        SCOPED_TRACE(point.change);
        const std::string text = env::read_file(fs, path).value();
        EXPECT_TRUE(text == before || text == after);
        WarcRewriter rewriter = rewriter_of(fs, removals);
        RemovedRecords found = rewriter.find(path).value();
        ASSERT_TRUE(rewriter.rewrite(path, found));
        EXPECT_EQ(env::read_file(fs, path).value(), after) << "done again, it ends the same";
        EXPECT_FALSE(fs.exists(path + ".new").value());
      });
  EXPECT_GT(changes, 5U);
}

TEST(WarcRewriter, RecordsThatDoNotStandAloneAreTold) {
  env::MemoryFileSystem files;
  ASSERT_TRUE(files.make_dirs("/a"));
  const std::string arc =
      "http://h/1 192.0.2.1 20200101000000 text/html 24\nHTTP/1.0 200 OK\r\n\r\nhello\n";
  ASSERT_TRUE(env::write_file_atomically(files, "/a/x.arc", arc));
  const Removals removals = removals_of("http://h/1");
  WarcRewriter rewriter = rewriter_of(files, removals);
  RemovedRecords found = rewriter.find("/a/x.arc").value();
  EXPECT_EQ(found.records, 0U);
  EXPECT_EQ(found.stuck, std::vector<std::uint64_t>{0});
  ASSERT_TRUE(rewriter.rewrite("/a/x.arc", found));
  EXPECT_EQ(env::read_file(files, "/a/x.arc").value(), arc);
}

}  // namespace
}  // namespace meguri::archive
