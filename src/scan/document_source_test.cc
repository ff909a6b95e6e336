#include "scan/document_source.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <zstd.h>

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "archive/snapshot_warc_testing.h"
#include "archive/warc_reader.h"
#include "base/check.h"
#include "env/random.h"

namespace meguri::scan {
namespace {

using archive::gzip_member;
using archive::http_answer;
using archive::IndexEntry;
using base::ErrorCode;

std::string zstd_frame(std::string_view bytes) {
  std::string out(ZSTD_compressBound(bytes.size()), '\0');
  const std::size_t size = ZSTD_compress(out.data(), out.size(), bytes.data(), bytes.size(), 3);
  CHECK(ZSTD_isError(size) == 0);
  out.resize(size);
  return out;
}

std::string response(std::string_view name, std::string_view body) {
  return archive::warc_record("response", fmt::format("http://h/{}", name), "2026-01-01T00:00:00Z",
                              {}, http_answer(body));
}

// Bytes that do not become fewer.
std::string noise(std::size_t size) {
  env::Random random(1);
  std::string bytes(size, '\0');
  std::ranges::generate(bytes, [&] { return static_cast<char>(random.below(256)); });
  return bytes;
}

DocumentPointer pointer_of(const IndexEntry& entry) {
  DocumentPointer pointer;
  pointer.place = entry.place;
  pointer.record_ms = entry.date.ms();
  return pointer;
}

// A record that is alone in its bytes, as a worker reads it.
struct AloneRecord {
  std::string url;
  std::string block;
};
AloneRecord read_alone(std::string_view bytes) {
  const archive::ViewFile file(bytes);
  archive::WarcReader reader(file);
  if (!reader.next().value()) return {};
  AloneRecord record{.url = std::string(reader.record().target_uri()), .block = {}};
  record.block = archive::read_rest(reader, 10'000'000).value();
  EXPECT_TRUE(reader.finish());
  EXPECT_TRUE(reader.record().faults.empty()) << reader.record().faults.to_string();
  EXPECT_FALSE(reader.next().value());
  return record;
}

class DocumentSourceTest : public archive::SnapshotWarcFixture {
 protected:
  // In the order of their places.
  std::vector<DocumentPointer> pointers() const {
    std::vector<DocumentPointer> all;
    for (const IndexEntry& entry : entries()) all.push_back(pointer_of(entry));
    std::ranges::sort(all, {}, &DocumentPointer::place);
    return all;
  }

  std::unique_ptr<DocumentSource> source() {
    return std::make_unique<DocumentSource>(fs_, index_->files(), "/a", "/scratch");
  }

  // All bytes, some at a time.
  static std::string read(RecordBytes& record, std::size_t piece = 100'000) {
    std::string bytes;
    while (bytes.size() < record.size()) {
      const auto some = std::min<std::uint64_t>(piece, record.size() - bytes.size());
      if (!record.read(some, bytes)) return "cannot be read";
    }
    return bytes;
  }
  static std::string read(DocumentSource& source, const DocumentPointer& pointer,
                          std::size_t piece = 100'000) {
    auto record = source.open(pointer);
    return record ? read(**record, piece) : record.error().message();
  }

  static ErrorCode code_of(DocumentSource& source, const DocumentPointer& pointer) {
    const auto record = source.open(pointer);
    EXPECT_FALSE(record);
    return record ? ErrorCode::kFailed : record.error().code();
  }
};

TEST_F(DocumentSourceTest, GzipMembersComeAsTheyStand) {
  const std::vector<std::string> members = {gzip_member(response("a", "one")),
                                            gzip_member(response("b", noise(300'000))),
                                            gzip_member(response("c", noise(65'536)))};
  add_file("x.warc.gz", members[0] + members[1] + members[2]);
  for (const std::size_t piece : {1'000'000U, 7777U, 65'536U}) {
    const auto from = source();
    for (std::size_t i = 0; i < members.size(); ++i) {
      EXPECT_EQ(read(*from, pointers()[i], piece), members[i]);
    }
  }
}

TEST_F(DocumentSourceTest, PlainRecordsComeAsTheyStand) {
  const std::string a = response("a", noise(200'000));
  const std::string b = response("b", "two");
  add_file("x.warc", a + b);
  const auto from = source();
  EXPECT_EQ(read(*from, pointers()[0]), a);
  EXPECT_EQ(read(*from, pointers()[1]), b);
}

TEST_F(DocumentSourceTest, RecordsOfArcFilesAreReadAlone) {
  const std::string answer = http_answer("old");
  const std::string head =
      "filedesc://x.arc 0.0.0.0 19961104142103 text/plain 76\n1 0 Alexa Internet\n"
      "URL IP-address Archive-date Content-type Archive-length\n\n";
  const auto record = [&](std::string_view name) {
    return fmt::format("http://h/{} 192.0.2.1 19961104142103 text/html {}\n{}\n", name,
                       answer.size(), answer);
  };
  add_file("x.arc.gz", gzip_member(head) + gzip_member(record("a")) + gzip_member(record("b")));
  add_file("y.arc", head + record("c") + record("d"));
  const auto from = source();
  std::string urls;
  for (const DocumentPointer& pointer : pointers()) {
    const AloneRecord alone = read_alone(read(*from, pointer));
    EXPECT_EQ(alone.block, answer);
    urls += alone.url.back();
  }
  EXPECT_EQ(urls, "abcd");
}

TEST_F(DocumentSourceTest, OtherFormsBecomeMembersOfTheirOwn) {
  add_file("frames.warc.zst", zstd_frame(response("a", "one")) + zstd_frame(response("b", "two")));
  add_file("shared.warc.gz",
           gzip_member(response("c", "three") + response("d", "four") + response("e", "five")));
  const auto from = source();
  const std::vector<std::string> bodies = {"one", "two", "three", "four", "five"};
  const std::vector<DocumentPointer> all = pointers();
  ASSERT_EQ(all.size(), bodies.size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    const AloneRecord alone = read_alone(read(*from, all[i], 10));
    EXPECT_EQ(alone.block, http_answer(bodies[i]));
    EXPECT_EQ(alone.url.back(), static_cast<char>('a' + i));
  }
}

TEST_F(DocumentSourceTest, ALargeRecordInAnotherFormIsReadFromDisk) {
  const std::string body = noise(5'000'000);
  add_file("x.warc.zst", zstd_frame(response("a", body)));
  const auto from = source();
  EXPECT_EQ(read_alone(read(*from, pointers()[0])).block, http_answer(body));
  EXPECT_EQ(fs_.list("/scratch").value(), std::vector<std::string>());
}

TEST_F(DocumentSourceTest, FilesThatAreMissingOrCutLoseTheirRecordsAlone) {
  add_file("1.warc.gz", gzip_member(response("a", "one")));
  add_file("2.warc.gz", gzip_member(response("b", "two")));
  add_file("3.warc.gz", gzip_member(response("c", noise(100'000))));
  add_file("4.warc.gz", gzip_member(response("d", "four")));
  const std::vector<DocumentPointer> all = pointers();
  ASSERT_TRUE(fs_.remove("/a/warc/1.warc.gz"));
  ASSERT_TRUE(fs_.truncate("/a/warc/2.warc.gz", all[1].place.length - 1));
  ASSERT_TRUE(fs_.truncate("/a/warc/3.warc.gz", all[2].place.length - 1));
  const auto from = source();
  for (const DocumentPointer& pointer : all) from->will_open(pointer);
  for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(code_of(*from, all[i]), ErrorCode::kCorrupt);
  EXPECT_NE(read(*from, all[0]).find("/a/warc/1.warc.gz"), std::string::npos);
  EXPECT_EQ(read(*from, all[1]), "the file ends before it");
  EXPECT_EQ(read(*from, all[2]), "the file ends before it");
  EXPECT_EQ(read_alone(read(*from, all[3])).block, http_answer("four"));
  EXPECT_EQ(from->path_of(all[3]), "/a/warc/4.warc.gz");
}

TEST_F(DocumentSourceTest, WhatIsNotWhereTheIndexSaysIsLost) {
  add_file("x.warc.gz", gzip_member(response("a", "one") + response("b", "two")));
  const std::vector<DocumentPointer> all = pointers();
  const auto from = source();
  DocumentPointer wrong = all[0];
  wrong.place.file = 77;
  EXPECT_EQ(code_of(*from, wrong), ErrorCode::kCorrupt);
  wrong = all[0];
  wrong.place.offset = 3;
  wrong.place.length = 20;
  EXPECT_EQ(code_of(*from, wrong), ErrorCode::kCorrupt);
  wrong = all[1];
  wrong.record_ms += 1;
  EXPECT_EQ(code_of(*from, wrong), ErrorCode::kCorrupt);
  wrong = all[0];
  wrong.is_missing = true;
  EXPECT_EQ(code_of(*from, wrong), ErrorCode::kCorrupt);
  EXPECT_EQ(read_alone(read(*from, all[1])).block, http_answer("two"));
}

TEST_F(DocumentSourceTest, RecordsOutliveTheirSource) {
  const std::string a = gzip_member(response("a", noise(300'000)));
  const std::string b = gzip_member(response("b", noise(300'000)));
  add_file("1.warc.gz", a);
  add_file("2.warc.gz", b);
  auto from = source();
  const auto first = from->open(pointers()[0]).value();
  const auto second = from->open(pointers()[1]).value();
  const auto again = from->open(pointers()[0]).value();
  from.reset();
  EXPECT_EQ(read(*first), a);
  EXPECT_EQ(read(*second), b);
  EXPECT_EQ(read(*again), a);
}

TEST_F(DocumentSourceTest, AFileThatGrewIsReadAsFarAsItIsNow) {
  const std::string a = gzip_member(response("a", "one"));
  const std::string b = gzip_member(response("b", noise(200'000)));
  add_file("1.warc.gz", a);
  const auto from = source();
  DocumentPointer pointer = pointers()[0];
  EXPECT_EQ(read(*from, pointer), a);
  ASSERT_TRUE(fs_.open_append("/a/warc/1.warc.gz").value()->append(b));
  pointer.place.offset = a.size();
  pointer.place.length = b.size();
  EXPECT_EQ(read(*from, pointer), b);
}

}  // namespace
}  // namespace meguri::scan
