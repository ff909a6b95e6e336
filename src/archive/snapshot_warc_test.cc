#include "archive/snapshot_warc.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <zstd.h>

#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "archive/record_examiner.h"
#include "archive/sha1.h"
#include "archive/snapshot_warc_testing.h"
#include "base/check.h"
#include "env/random.h"

namespace meguri::archive {
namespace {

constexpr std::string_view kBody = "<html><title>One &amp; two</title>text</html>";

std::string zstd_frame(std::string_view bytes) {
  std::string out(ZSTD_compressBound(bytes.size()), '\0');
  const std::size_t size = ZSTD_compress(out.data(), out.size(), bytes.data(), bytes.size(), 3);
  CHECK(ZSTD_isError(size) == 0);
  out.resize(size);
  return out;
}

std::string digest_of(std::string_view bytes) { return Sha1().of(bytes).to_string(); }

std::string response(std::string_view url, std::string_view date, std::string_view body) {
  const std::string block = http_answer(body);
  return warc_record("response", url, date,
                     fmt::format("WARC-Payload-Digest: {}\r\nWARC-Block-Digest: {}\r\n",
                                 digest_of(body), digest_of(block)),
                     block);
}

std::string revisit(std::string_view url, std::string_view date, std::string_view original_url,
                    std::string_view original_date, std::string_view body,
                    std::string_view block =
                        "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"
                        "Set-Cookie: mine\r\n\r\n") {
  return warc_record("revisit", url, date,
                     fmt::format("WARC-Profile: http://netpreserve.org/warc/1.1/revisit/"
                                 "identical-payload-digest\r\nWARC-IP-Address: 192.0.2.9\r\n"
                                 "WARC-Refers-To-Target-URI: {}\r\nWARC-Refers-To-Date: {}\r\n"
                                 "WARC-Payload-Digest: {}\r\nWARC-Truncated: length\r\n",
                                 original_url, original_date, digest_of(body)),
                     block);
}

class SnapshotWarcTest : public SnapshotWarcFixture {
 protected:
  // All records are whole and alone in their members, all digests right; says how many.
  static std::size_t check_file(const WarcOutcome& outcome) {
    const ViewFile file(outcome.bytes);
    WarcReader reader(file);
    std::size_t records = 0;
    while (reader.next().value()) {
      const Examination found = examine(reader).value();
      EXPECT_NE(found.block.verdict, DigestVerdict::kWrong) << found.block.computed;
      EXPECT_NE(found.payload.verdict, DigestVerdict::kWrong) << found.payload.computed;
      EXPECT_TRUE(reader.record().faults.empty()) << reader.record().faults.to_string();
      if (records > 0) {
        const RecordPlace& place = outcome.written.at(records - 1).entry.place;
        EXPECT_EQ(place.offset, reader.record().offset);
        EXPECT_EQ(place.length, reader.record().length);
      }
      ++records;
    }
    EXPECT_TRUE(reader.record().faults.empty());
    EXPECT_EQ(outcome.counts.bytes, outcome.bytes.size());
    EXPECT_EQ(outcome.counts.records(), outcome.written.size());
    EXPECT_EQ(outcome.counts.lost, outcome.lost.size());
    return records;
  }
};

TEST_F(SnapshotWarcTest, NothingSelectedIsAWarcinfoAlone) {
  const WarcOutcome outcome = write_all();
  EXPECT_EQ(check_file(outcome), 1);
  const ViewFile file(outcome.bytes);
  WarcReader reader(file);
  ASSERT_TRUE(reader.next().value());
  EXPECT_EQ(reader.record().type(), "warcinfo");
  EXPECT_EQ(reader.record().get("WARC-Filename"), "snapshot.warc.gz");
  const std::string block = read_rest(reader, 10'000).value();
  EXPECT_NE(block.find("description: everything\r\n"), std::string::npos);
}

TEST_F(SnapshotWarcTest, MembersOfOneRecordAreCopiedAsTheyAre) {
  const std::string a = gzip_member(response("http://h/a", "2026-01-01T00:00:00Z", kBody));
  const std::string b = gzip_member(response("http://h/b", "2026-01-01T00:00:01Z", "b"));
  add_file("x.warc.gz", b + a);
  const WarcOutcome outcome = write_all();
  EXPECT_EQ(check_file(outcome), 3);
  EXPECT_EQ(outcome.counts.copied, 2);
  EXPECT_EQ(outcome.member(0), b);  // in the order of the file
  EXPECT_EQ(outcome.member(1), a);
  EXPECT_EQ(outcome.written.at(1).entry.url, "http://h/a");
  EXPECT_EQ(outcome.written.at(1).entry.digest, digest_of(kBody));
  EXPECT_EQ(outcome.written.at(1).entry.status, 200);
  EXPECT_EQ(outcome.written.at(1).entry.mime, "text/html");
  EXPECT_FALSE(outcome.written.at(1).is_page);
}

TEST_F(SnapshotWarcTest, ContentThatManyVisitsHaveIsWrittenOnce) {
  std::string bytes = gzip_member(response("http://h/a", "2026-01-01T00:00:00Z", kBody));
  const std::string first = bytes;
  for (int i = 1; i < 9; ++i) {
    bytes += gzip_member(revisit("http://h/a", fmt::format("2026-01-0{}T00:00:01Z", i),
                                 "http://h/a", "2026-01-01T00:00:00Z", kBody));
  }
  add_file("x.warc.gz", bytes);
  const WarcOutcome outcome = write_all();
  EXPECT_EQ(check_file(outcome), 2);
  EXPECT_EQ(outcome.member(0), first);
}

TEST_F(SnapshotWarcTest, OtherFormsBecomeMembersOfTheirOwn) {
  const std::string a = response("http://h/a", "2026-01-01T00:00:00Z", kBody);
  const std::string b = response("http://h/b", "2026-01-01T00:00:00Z", "b");
  const std::string c = response("http://h/c", "2026-01-01T00:00:00Z", "c");
  add_file("plain.warc", a + b);
  add_file("frames.warc.zst", zstd_frame(response("http://h/d", "2026-01-01T00:00:00Z", "d")));
  add_file("shared.warc.gz", gzip_member(response("http://h/e", "2026-01-01T00:00:00Z", "e") +
                                         response("http://h/f", "2026-01-01T00:00:00Z", "f") +
                                         response("http://h/g", "2026-01-01T00:00:00Z", "g")));
  const WarcOutcome outcome = write_all();
  EXPECT_EQ(check_file(outcome), 7);
  EXPECT_EQ(outcome.counts.renewed, 6);
  // The same fields and bytes, but for the version.
  EXPECT_EQ(outcome.plain(0).substr(8), a.substr(8));
  EXPECT_EQ(outcome.plain(0).substr(0, 10), "WARC/1.1\r\n");
  std::string urls;
  for (const WrittenCopy& record : outcome.written) urls += record.entry.url.back();
  EXPECT_EQ(urls, "abdefg");
}

TEST_F(SnapshotWarcTest, ArcBecomesWarc) {
  const std::string answer = http_answer("old");
  add_file("x.arc.gz",
           gzip_member("filedesc://x.arc 0.0.0.0 19961104142103 text/plain 76\n1 0 Alexa Internet\n"
                       "URL IP-address Archive-date Content-type Archive-length\n\n") +
               gzip_member(fmt::format("http://h/arc 192.0.2.1 19961104142103 text/html {}\n{}\n",
                                       answer.size(), answer)));
  const WarcOutcome outcome = write_all();
  EXPECT_EQ(check_file(outcome), 2);
  EXPECT_EQ(outcome.counts.renewed, 1);
  EXPECT_EQ(outcome.written.at(0).entry.url, "http://h/arc");
  EXPECT_EQ(outcome.written.at(0).entry.date.to_digits(), "19961104142103");
  EXPECT_TRUE(outcome.plain(0).ends_with(answer + "\r\n\r\n"));
}

TEST_F(SnapshotWarcTest, ContentOfAnotherPageBecomesAResponseOfItsOwn) {
  const std::string a = gzip_member(response("http://h/a", "2026-01-01T00:00:00Z", kBody));
  add_file("x.warc.gz", gzip_member(revisit("http://h/b", "2026-01-02T00:00:00Z", "http://h/a",
                                            "2026-01-01T00:00:00Z", kBody)) +
                            a);
  const auto is_b = [](const IndexEntry& entry) { return entry.url == "http://h/b"; };
  const WarcOutcome outcome = write(is_b);
  EXPECT_EQ(check_file(outcome), 2);
  EXPECT_EQ(outcome.counts.made, 1);
  const IndexEntry& entry = outcome.written.at(0).entry;
  EXPECT_EQ(entry.url, "http://h/b");
  EXPECT_EQ(entry.date.to_digits(), "20260102000000");
  EXPECT_EQ(entry.kind, EntryKind::kChanged);
  EXPECT_FALSE(entry.original);
  EXPECT_EQ(entry.digest, digest_of(kBody));
  const std::string text = outcome.plain(0);
  EXPECT_TRUE(text.starts_with("WARC/1.1\r\nWARC-Type: response\r\n")) << text;
  EXPECT_NE(text.find("\r\nWARC-IP-Address: 192.0.2.9\r\n"), std::string::npos);
  EXPECT_EQ(text.find("Refers-To"), std::string::npos);
  EXPECT_EQ(text.find("WARC-Truncated"), std::string::npos);
  EXPECT_TRUE(
      text.ends_with(fmt::format("\r\n\r\nHTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"
                                 "Set-Cookie: mine\r\nContent-Length: {}\r\n\r\n{}"
                                 "\r\n\r\n",
                                 kBody.size(), kBody)))
      << text;
  EXPECT_EQ(write(is_b).bytes, outcome.bytes);
  // Beside the content that it is made of.
  const WarcOutcome both = write_all();
  EXPECT_EQ(check_file(both), 3);
  EXPECT_EQ(both.member(0), a);
  EXPECT_EQ(both.member(1), outcome.member(0));
}

TEST_F(SnapshotWarcTest, RevisitWithoutAHeadTakesThatOfTheContent) {
  const std::string body = "0123456789";
  const std::string chunked = "4\r\n0123\r\n6\r\n456789\r\n0\r\n\r\n";
  const std::string block = http_answer(chunked, "Transfer-Encoding: chunked\r\n");
  add_file("x.warc.gz",
           gzip_member(warc_record("response", "http://h/a", "2026-01-01T00:00:00Z", "", block)) +
               gzip_member(revisit("http://h/b", "2026-01-02T00:00:00Z", "http://h/a",
                                   "2026-01-01T00:00:00Z", body, "")));
  const WarcOutcome outcome =
      write([](const IndexEntry& entry) { return entry.url == "http://h/b"; });
  EXPECT_EQ(check_file(outcome), 2);
  EXPECT_TRUE(outcome.plain(0).ends_with(
      "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nX-Archive-Orig-Transfer-Encoding: chunked\r\n"
      "Content-Length: 10\r\n\r\n0123456789\r\n\r\n"))
      << outcome.plain(0);
}

// All visits of a page that found the same content of another are one record, of the first visit.
TEST_F(SnapshotWarcTest, ContentOfAnotherPageIsMadeOnceForEachPage) {
  std::string bytes = gzip_member(response("http://h/a", "2026-01-01T00:00:00Z", kBody));
  for (int day = 2; day < 9; ++day) {
    for (const char* page : {"http://h/b", "http://h/c"}) {
      bytes += gzip_member(revisit(page, fmt::format("2026-01-0{}T00:00:00Z", day), "http://h/a",
                                   "2026-01-01T00:00:00Z", kBody));
    }
  }
  add_file("x.warc.gz", bytes);
  const WarcOutcome outcome = write_all();
  EXPECT_EQ(check_file(outcome), 4);
  EXPECT_EQ(outcome.counts.made, 2);
  for (const std::size_t i : {1U, 2U}) {
    EXPECT_EQ(outcome.written.at(i).entry.date.to_digits(), "20260102000000");
  }
}

TEST_F(SnapshotWarcTest, WhatIsGoneIsItsOwnRecord) {
  const std::string gone =
      gzip_member(warc_record("response", "http://h/a", "2026-01-01T00:00:00Z", "",
                              "HTTP/1.1 404 Not Found\r\nContent-Length: 2\r\n\r\nno"));
  add_file("x.warc.gz", gone);
  const WarcOutcome outcome = write_all();
  EXPECT_EQ(check_file(outcome), 2);
  EXPECT_EQ(outcome.member(0), gone);
}

TEST_F(SnapshotWarcTest, LostRecordsAreToldAndTheRestIsWritten) {
  const std::string a = gzip_member(response("http://h/a", "2026-01-01T00:00:00Z", kBody));
  const std::string b = gzip_member(response("http://h/b", "2026-01-01T00:00:00Z", "bbbbbbb"));
  const std::string c = gzip_member(response("http://h/c", "2026-01-01T00:00:00Z", "c"));
  add_file("damaged.warc.gz", a + b + c);
  add_file("missing.warc.gz", gzip_member(response("http://h/d", "2026-01-01T00:00:00Z", "d")));
  add_file("replaced.warc.gz", gzip_member(response("http://h/e", "2026-01-01T00:00:00Z", "e")));
  add_file("dangling.warc.gz",
           gzip_member(revisit("http://h/f", "2026-01-02T00:00:00Z", "http://nowhere/",
                               "2026-01-01T00:00:00Z", kBody)));
  ASSERT_TRUE(fs_.flip_bit("/a/warc/damaged.warc.gz", 8 * (a.size() + b.size() - 6)));  // its sum
  ASSERT_TRUE(fs_.remove("/a/warc/missing.warc.gz"));
  ASSERT_TRUE(fs_.remove("/a/warc/replaced.warc.gz"));
  write_file("/a/warc/replaced.warc.gz",
             gzip_member(response("http://h/e", "2026-01-05T00:00:00Z", "e")));
  const WarcOutcome outcome = write_all();
  EXPECT_EQ(check_file(outcome), 3);
  EXPECT_EQ(outcome.member(0), a);
  EXPECT_EQ(outcome.member(1), c);
  ASSERT_EQ(outcome.lost.size(), 4);
  EXPECT_EQ(outcome.lost[0].path, "/a/warc/damaged.warc.gz");
  EXPECT_EQ(outcome.lost[0].offset, a.size());
  EXPECT_EQ(outcome.lost[0].reason, "its record is not whole (damaged)");
  EXPECT_EQ(outcome.lost[1].path, "/a/warc/missing.warc.gz");
  EXPECT_EQ(outcome.lost[2].reason, "the index has another record at this place");
  EXPECT_EQ(outcome.lost[3].reason, "the archive does not have the content it refers to");
}

TEST_F(SnapshotWarcTest, LargeRecordsGoThroughTheDisk) {
  env::Random random(1);
  std::string body;
  while (body.size() < 5'000'000) body += fmt::format("{:x} ", random.next());
  add_file("plain.warc", response("http://h/a", "2026-01-01T00:00:00Z", body));
  add_file("x.warc.gz", gzip_member(response("http://h/b", "2026-01-01T00:00:00Z", body + "b")) +
                            gzip_member(revisit("http://h/c", "2026-01-02T00:00:00Z", "http://h/a",
                                                "2026-01-01T00:00:00Z", body)));
  const WarcOutcome outcome = write_all();
  EXPECT_EQ(check_file(outcome), 4);
  EXPECT_EQ(outcome.counts.renewed, 1);
  EXPECT_EQ(outcome.counts.made, 1);
  EXPECT_EQ(outcome.counts.copied, 1);
  EXPECT_EQ(outcome.written.at(1).entry.url, "http://h/c");
  EXPECT_EQ(outcome.written.at(1).entry.digest, digest_of(body));
}

TEST_F(SnapshotWarcTest, PagesHaveTitlesAndTextWhereTheyAreAskedFor) {
  const std::string latin = "<title>caf\xe9</title>" + std::string(100'000, 'x');
  const std::string packed = gzip_member("<title>packed</title>");
  add_file("x.warc.gz",
           gzip_member(response("http://h/a", "2026-01-01T00:00:00Z", kBody)) +
               gzip_member(warc_record(
                   "response", "http://h/b", "2026-01-01T00:00:00Z", "",
                   "HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=latin1\r\n\r\n" + latin)) +
               gzip_member(warc_record("response", "http://h/c", "2026-01-01T00:00:00Z", "",
                                       http_answer(packed, "Content-Encoding: gzip\r\n"))) +
               gzip_member(warc_record("response", "http://h/d", "2026-01-01T00:00:00Z", "",
                                       "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\nd")));
  options_.reads_pages = true;
  const WarcOutcome outcome = write_all();
  EXPECT_EQ(check_file(outcome), 5);
  EXPECT_TRUE(outcome.written.at(0).is_page);
  EXPECT_EQ(outcome.written.at(0).title, "One & two");
  EXPECT_EQ(outcome.written.at(0).text, kBody);
  EXPECT_EQ(outcome.written.at(1).title, "caf\xc3\xa9");
  EXPECT_EQ(outcome.written.at(1).text.size(), (std::size_t{64} << 10U) + 1);
  EXPECT_EQ(outcome.written.at(2).title, "packed");
  EXPECT_FALSE(outcome.written.at(3).is_page);
}

TEST_F(SnapshotWarcTest, TakesFromThreadsInAnyOrderAndLittleMemory) {
  constexpr int kPages = 300;
  std::string bytes;
  for (int i = 0; i < kPages; ++i) {
    bytes += gzip_member(
        response(fmt::format("http://h/{}", i), "2026-01-01T00:00:00Z", fmt::format("body {}", i)));
  }
  add_file("x.warc.gz", bytes);
  const WarcOutcome expected = write_all();
  options_.sort_bytes_max = 1000;
  SnapshotWarc warc(fs_, index_->files(), options_);
  std::vector<std::thread> threads;
  for (std::size_t part = 0; part < 3; ++part) {
    threads.emplace_back([this, &warc, part] {
      select(warc, [part](const IndexEntry& entry) {
        return static_cast<std::size_t>(entry.url.back()) % 3 == part;
      });
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::string written;
  const auto sink = [&written](std::string_view piece) -> base::Status {
    written += piece;
    return {};
  };
  EXPECT_EQ(warc.write(sink, {})->copied, kPages);
  EXPECT_EQ(written, expected.bytes);
}

TEST_F(SnapshotWarcTest, LeavesTheScratchFolderAsItWas) {
  ASSERT_TRUE(fs_.make_dirs("/scratch/spool"));
  write_file("/scratch/mine", "of somebody else");
  write_file("/scratch/spool/mine", "of somebody else");
  const std::uint64_t used = fs_.used();
  const std::string large =
      response("http://h/a", "2026-01-01T00:00:00Z", std::string(3'000'000, 'x'));
  add_file("plain.warc", large);
  options_.sort_bytes_max = 1;
  EXPECT_EQ(write_all().counts.renewed, 1);
  EXPECT_EQ(fs_.used(), used + large.size());
  EXPECT_EQ(fs_.list("/scratch").value(), (std::vector<std::string>{"mine", "spool"}));
  EXPECT_EQ(fs_.list("/scratch/spool").value(), std::vector<std::string>{"mine"});
}

TEST_F(SnapshotWarcTest, FailingSinkEndsTheWriting) {
  add_file("x.warc.gz", gzip_member(response("http://h/a", "2026-01-01T00:00:00Z", kBody)));
  for (const base::ErrorCode code : {base::ErrorCode::kNoSpace, base::ErrorCode::kCorrupt}) {
    for (const std::size_t room : {0U, 400U}) {
      SnapshotWarc warc(fs_, index_->files(), options_);
      select(warc, [](const IndexEntry&) { return true; });
      std::size_t taken = 0;
      const auto sink = [&](std::string_view bytes) -> base::Status {
        taken += bytes.size();
        if (taken > room) return base::fail(code, "cannot write /o: the disk is full");
        return {};
      };
      const auto counts = warc.write(sink, {});
      ASSERT_FALSE(counts);
      EXPECT_EQ(counts.error().message(), "cannot write /o: the disk is full");
    }
  }
}

TEST_F(SnapshotWarcTest, FullScratchDiskIsAnErrorNotALostRecord) {
  add_file("plain.warc",
           response("http://h/a", "2026-01-01T00:00:00Z", std::string(3'000'000, 'x')));
  SnapshotWarc warc(fs_, index_->files(), options_);
  select(warc, [](const IndexEntry&) { return true; });
  fs_.set_capacity(fs_.used() + 1'500'000);
  const auto sink = [](std::string_view) { return base::Status(); };
  const auto counts = warc.write(sink, {});
  ASSERT_FALSE(counts);
  EXPECT_EQ(counts.error().code(), base::ErrorCode::kNoSpace);
}

}  // namespace
}  // namespace meguri::archive
