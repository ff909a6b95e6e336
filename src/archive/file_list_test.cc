#include "archive/file_list.h"

#include <gtest/gtest.h>

#include "env/crash_points.h"
#include "env/memory_file_system.h"

namespace meguri::archive {
namespace {

IndexFile file_of(std::uint32_t number, std::string path, FileSource source) {
  IndexFile file;
  file.number = number;
  file.path = std::move(path);
  file.source = source;
  if (source != FileSource::kCrawl) {
    file.bytes = 1000 + number;
    file.print = 0xfedcba9876543210 + number;
  }
  return file;
}

TEST(FileList, TellsWhatWasWritten) {
  env::MemoryFileSystem files;
  ASSERT_TRUE(files.make_dirs("/a"));
  const IndexFile crawl = file_of(1, "warc/meguri-1.warc.gz", FileSource::kCrawl);
  const IndexFile odd = file_of(2, "/x/a \\ b\nc\xff.warc", FileSource::kReference);
  const IndexFile copy = file_of(7, "warc/imported/c.warc.gz", FileSource::kCopy);
  {
    const auto list = FileList::open(files, "/a").value();
    for (const IndexFile& file : {crawl, odd, copy}) ASSERT_TRUE(list->set(file));
    ASSERT_TRUE(list->remove(7));
  }
  const auto listed = ListedFiles::load(files, "/a").value();
  EXPECT_EQ(listed.files, (std::map<std::uint32_t, IndexFile>{{1, crawl}, {2, odd}}));
  EXPECT_EQ(listed.next_number, 8U) << "a number is not given again";
}

TEST(FileList, WritesNothingTwice) {
  env::MemoryFileSystem files;
  ASSERT_TRUE(files.make_dirs("/a"));
  IndexFile crawl = file_of(1, "warc/a.warc.gz", FileSource::kCrawl);
  ASSERT_TRUE(FileList::open(files, "/a").value()->set(crawl));
  const std::uint64_t size = files.size("/a/files.txt").value();
  crawl.bytes = 77;
  crawl.indexed_to = 77;
  crawl.entries = 3;
  ASSERT_TRUE(FileList::open(files, "/a").value()->set(crawl));
  EXPECT_EQ(files.size("/a/files.txt").value(), size) << "how far it is indexed is no news";
  crawl.path = "warc/b.warc.gz";
  ASSERT_TRUE(FileList::open(files, "/a").value()->set(crawl));
  EXPECT_EQ(ListedFiles::load(files, "/a").value().files.at(1).path, "warc/b.warc.gz");
}

TEST(FileList, PassesOverWhatIsNoLine) {
  const auto listed = ListedFiles::parse(
      "1 crawl 0 0000000000000000 warc/a\nx\n2 other 0 0 warc/b\n3 copy x 0 c\n0 crawl 0 0 z\n"
      "4294967295 crawl 0 0 z\n5 reference 9 00000000000000ff /r\n6 crawl 0 0 torn");
  ASSERT_EQ(listed.files.size(), 2U);
  EXPECT_EQ(listed.files.at(5).print, 255U);
  EXPECT_EQ(listed.next_number, 6U);
}

TEST(FileList, WhatWasSyncedIsThereAfterACrashAtAnyMoment) {
  std::uint32_t synced = 0;
  env::for_each_crash_point(
      {},
      [&](env::FaultyFileSystem& fs) {
        ASSERT_TRUE(fs.make_dirs("/a"));
        synced = 0;
      },
      [&](env::FaultyFileSystem& fs) {
        const auto list = FileList::open(fs, "/a");
        for (std::uint32_t i = 1; list && i <= 3; ++i) {
          const std::string path = "warc/" + std::to_string(i);
          if (!(*list)->set(file_of(i, path, FileSource::kCopy)) || !(*list)->sync()) return;
          synced = i;
        }
      },
      [&](env::FaultyFileSystem& fs, env::CrashPoint point) {
        SCOPED_TRACE(point.change);
        const auto list = FileList::open(fs, "/a");
        ASSERT_TRUE(list);
        ASSERT_TRUE((*list)->set(file_of(9, "warc/9", FileSource::kCopy)));
        const auto listed = ListedFiles::load(fs, "/a").value();
        for (std::uint32_t i = 1; i <= synced; ++i) EXPECT_TRUE(listed.files.contains(i));
        EXPECT_TRUE(listed.files.contains(9)) << "a torn line spoils no other";
      });
}

}  // namespace
}  // namespace meguri::archive
