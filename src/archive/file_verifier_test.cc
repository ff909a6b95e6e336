#include "archive/file_verifier.h"

#include <gtest/gtest.h>

#include <vector>

#include "archive/archive_testing.h"
#include "archive/entry_comparison.h"
#include "archive/gzip_writer.h"
#include "archive/importer.h"
#include "archive/warc_reader.h"
#include "env/memory_file_system.h"

namespace meguri::archive {
namespace {

class FileVerifierTest : public ::testing::Test {
 protected:
  FileVerifierTest() : archive_(files_) {
    for (int i = 0; i < 12; ++i) {
      archive_.visit(fmt::format("http://h/{}", i), fmt::format("<p>page {}", i));
    }
    archive_.commit();
  }

  // The entries that the index has of a file.
  EntrySum indexed(std::uint32_t number) {
    EntrySum sum;
    const auto cursor = archive_.index().cursor();
    for (cursor->seek("e"); cursor->valid() && cursor->key().starts_with('e'); cursor->next()) {
      const auto entry = EntryView::parse(cursor->key(), cursor->value());
      if (entry->place().file == number) sum.add(cursor->key(), cursor->value());
    }
    return sum;
  }

  struct Verified {
    FileVerifier::Finding finding;
    std::vector<Damage> damages;
  };
  Verified verify(const IndexFile& row) {
    Verified verified;
    FileVerifier verifier(
        archive_.index().removals(),
        [&](const Damage& damage) -> base::Status {
          verified.damages.push_back(damage);
          return {};
        },
        [](std::uint64_t /*offset*/) { return base::Status(); });
    const auto bytes = files_.open_read("/a/" + row.path).value();
    verified.finding = verifier.verify(*bytes, row).value();
    return verified;
  }
  bool is_sound(const IndexFile& row) {
    const Verified verified = verify(row);
    return verified.damages.empty() && verified.finding.entries == indexed(row.number);
  }

  // All that a reader of the file gets to see.
  std::string contents(const IndexFile& row) {
    std::string all;
    const auto bytes = files_.open_read("/a/" + row.path).value();
    WarcReader reader(*bytes);
    while (reader.next().value()) {
      reader.record().fields.append_to(&all);
      all += read_rest(reader, 1 << 20).value();
      CHECK(reader.finish());
      all += fmt::format("{} {} {}\n", reader.record().offset, reader.record().length,
                         reader.record().faults.to_string());
    }
    return all;
  }

  env::MemoryFileSystem files_;
  SmallArchive archive_;
};

TEST_F(FileVerifierTest, WhatACrawlWroteIsSound) {
  ASSERT_GT(archive_.index().files().size(), 1U);
  for (const auto& [number, row] : archive_.index().files()) {
    EXPECT_TRUE(is_sound(row));
    EXPECT_GT(verify(row).finding.records, 2 * row.entries) << "requests and warcinfo too";
  }
}

TEST_F(FileVerifierTest, EveryFlippedBitIsFoundUnlessNobodyCouldSeeIt) {
  const IndexFile row = archive_.index().files().begin()->second;
  const std::string before = contents(row);
  const std::uint64_t bits = files_.size("/a/" + row.path).value() * 8;
  std::uint64_t unseen = 0;
  for (std::uint64_t bit = 0; bit < bits; bit += 13) {
    ASSERT_TRUE(files_.flip_bit("/a/" + row.path, bit));
    if (is_sound(row)) {
      ++unseen;
      ASSERT_EQ(contents(row), before) << "bit " << bit;
    }
    ASSERT_TRUE(files_.flip_bit("/a/" + row.path, bit));
  }
  // Those are the bits behind the end of what was deflated, up to the next byte.
  EXPECT_LT(unseen * 100, bits / 13);
}

TEST_F(FileVerifierTest, TheHeadsOfMembersAreChecked) {
  const IndexFile row = archive_.index().files().begin()->second;
  const auto bytes = files_.open_read("/a/" + row.path).value();
  WarcReader reader(*bytes);
  ASSERT_TRUE(reader.next().value() && reader.next().value());
  const std::uint64_t second = reader.record().offset;
  ASSERT_TRUE(files_.flip_bit("/a/" + row.path, (second + 4) * 8));  // its time
  const Verified verified = verify(row);
  ASSERT_EQ(verified.damages.size(), 1U);
  EXPECT_EQ(verified.damages.at(0).offset, second);
}

TEST_F(FileVerifierTest, RecordsWithoutAMemberOfTheirOwnHaveNoHeadToCheck) {
  const std::string record = "WARC/1.1\r\nWARC-Type: metadata\r\nContent-Length: 0\r\n\r\n\r\n\r\n";
  std::string member;
  GzipWriter().append_member(record, record, {}, &member);
  const IndexFile row{
      .path = "warc/shared.warc.gz", .bytes = member.size(), .indexed_to = member.size()};
  ASSERT_TRUE(files_.create("/a/" + row.path).value()->append(member));
  const Verified verified = verify(row);
  EXPECT_EQ(verified.finding.records, 2U);
  EXPECT_TRUE(verified.damages.empty()) << verified.damages.at(0).what;
}

TEST_F(FileVerifierTest, AFileThatWasCutIsTold) {
  const IndexFile row = archive_.index().files().begin()->second;
  ASSERT_TRUE(files_.truncate("/a/" + row.path, row.bytes - 1));
  const Verified verified = verify(row);
  ASSERT_FALSE(verified.damages.empty());
  EXPECT_EQ(verified.damages.at(0).offset, row.bytes - 1);
}

TEST_F(FileVerifierTest, WhatLiesBehindTheMarkIsNobodys) {
  const IndexFile row = archive_.index().files().rbegin()->second;
  ASSERT_TRUE(files_.open_append("/a/" + row.path).value()->append("\x1f\x8b\x08half a record"));
  EXPECT_TRUE(is_sound(row));
}

TEST_F(FileVerifierTest, AnImportedFileThatIsAnotherNowIsTold) {
  IndexFile row = archive_.index().files().begin()->second;
  const auto bytes = files_.open_read("/a/" + row.path).value();
  row.source = FileSource::kReference;
  row.print = file_print(*bytes).value();
  EXPECT_TRUE(verify(row).damages.empty());
  row.print ^= 1;
  ASSERT_EQ(verify(row).damages.size(), 1U);
  EXPECT_TRUE(verify(row).damages.at(0).what.contains("not the file that was imported"));
}

TEST_F(FileVerifierTest, EntriesThatDifferAreNamedBothWays) {
  const IndexFile row = archive_.index().files().begin()->second;
  IndexEntry missing = archive_.index().entries_of("http://h/0").value().at(0);
  IndexEntry other = archive_.index().entries_of("http://h/1").value().at(0);
  IndexEntry false_one = missing;
  false_one.url = "http://h/never";
  IndexBatch batch;
  batch.remove(key_of(missing));
  batch.add(false_one);
  other.status = 201;
  batch.add(other);
  ASSERT_TRUE(archive_.index().write(batch));
  EXPECT_FALSE(is_sound(row));
  EXPECT_TRUE(verify(row).damages.empty()) << "the file itself is sound";
  EntryComparison comparison(archive_.index());
  const auto bytes = files_.open_read("/a/" + row.path).value();
  ASSERT_TRUE(comparison.add(*bytes, row));
  std::vector<std::string> told;
  ASSERT_TRUE(comparison.run([&](std::uint32_t file, const Damage& damage) -> base::Status {
    EXPECT_EQ(file, row.number);
    EXPECT_TRUE(damage.offset == missing.place.offset || damage.offset == other.place.offset);
    told.push_back(damage.what);
    return {};
  }));
  EXPECT_EQ(told, (std::vector<std::string>{
                      "http://h/1 has an entry in the index that is not what its record says",
                      "http://h/never has an entry in the index, and no record here makes it",
                      "http://h/0 has a record here, and no entry in the index"}));
}

}  // namespace
}  // namespace meguri::archive
