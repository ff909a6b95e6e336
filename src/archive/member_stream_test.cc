// Readers that go by what the heads of gzip members tell.
#include "archive/member_stream.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "archive/gzip_writer.h"
#include "archive/member_head.h"
#include "archive/warc_reader.h"
#include "base/bytes.h"
#include "base/check.h"
#include "env/random.h"

namespace meguri::archive {
namespace {

constexpr std::string_view kBlankLines = "\r\n\r\n";
constexpr std::size_t kRequestAt = 16;  // in the head of a member
constexpr std::size_t kStoredAt = 21;
constexpr std::size_t kDecodedAt = 25;

std::string text_of(std::size_t size, bool is_packed, std::uint64_t seed) {
  env::Random random(seed);
  std::string bytes;
  while (bytes.size() < size) {
    const std::size_t next = random.below(is_packed ? 256 : 16);
    bytes += is_packed ? static_cast<char>(next) : "etaoin shrdlu<>\n"[next];
  }
  return bytes;
}

std::string record_of(std::uint64_t number, std::string_view block) {
  return fmt::format(
      "WARC/1.1\r\nWARC-Type: resource\r\nX-Number: {}\r\nContent-Length: {}\r\n\r\n", number,
      block.size());
}

std::string member_of(std::uint64_t number, std::string_view block,
                      GzipWriter::Content content = GzipWriter::Content::kAny) {
  std::string out;
  GzipWriter().append_member(record_of(number, block), block, kBlankLines, &out, content);
  return out;
}

std::string request_of(std::uint64_t number, std::string_view block) {
  return member_of(number, block, GzipWriter::Content::kRequest);
}

struct Seen {
  bool operator==(const Seen&) const = default;

  std::string number;
  std::string front;  // of the block
  std::string faults;
  std::uint64_t offset = 0;
  std::uint64_t length = 0;
  std::uint64_t sound_end = 0;
};

// How much of each block is read is drawn, the same for both ways of reading.
std::vector<Seen> read(std::string_view bytes, bool goes_by_heads, MemberMemory* memory) {
  const ViewFile file(bytes);
  WarcReader reader(file, 0, {.goes_by_heads = goes_by_heads, .memory = memory});
  env::Random random(bytes.size());
  std::vector<Seen> seen;
  while (*reader.next()) {
    const std::size_t most = std::size_t{1} << random.below(22);
    const std::string front = random.below(3) == 0 ? std::string() : *read_rest(reader, most);
    EXPECT_TRUE(reader.finish());
    const WarcRecord& record = reader.record();
    seen.push_back({.number = std::string(record.get("X-Number")),
                    .front = front,
                    .faults = record.faults.to_string(),
                    .offset = record.offset,
                    .length = record.length,
                    .sound_end = reader.sound_end()});
  }
  return seen;
}

std::string draw_file(env::Random& random, std::size_t records) {
  std::string bytes;
  for (std::size_t i = 0; i < records; ++i) {
    const std::size_t size = random.below(std::size_t{1} << random.below(21));
    const std::string block = text_of(size, random.below(3) == 0, random.next());
    if (i + 1 == records && random.below(2) == 0) {
      bytes += record_of(i, block);  // plain
      bytes += block;
      bytes += kBlankLines;
    } else if (random.below(8) == 0) {
      const std::string both =  // in one member
          record_of(i, block) + block + std::string(kBlankLines);
      GzipWriter().append_member(both, both, {}, &bytes);
    } else {
      bytes += member_of(i, block);
    }
  }
  return bytes;
}

TEST(MemberStreamByHeads, ReadersThatGoByThemSeeTheSame) {
  env::Random random(1);
  MemberMemory memory;
  for (int i = 0; i < 60; ++i) {
    const std::string bytes = draw_file(random, 12);
    const auto seen = read(bytes, true, &memory);
    EXPECT_GE(seen.size(), 12U);
    ASSERT_EQ(seen, read(bytes, false, &memory)) << i;
  }
}

TEST(MemberStreamByHeads, ReadersThatGoByThemSeeTheSameOfACutFile) {
  env::Random random(2);
  MemberMemory memory;
  for (int i = 0; i < 10; ++i) {
    const std::string bytes = draw_file(random, 5);
    for (int cut = 0; cut < 40; ++cut) {
      const std::string_view front = std::string_view(bytes).substr(0, random.below(bytes.size()));
      ASSERT_EQ(read(front, true, &memory), read(front, false, &memory)) << i;
    }
  }
}

// Whatever they say, records are found where they are: a length counts only where what stands at
// the end fits it.
TEST(MemberStreamByHeads, ThatAreWrongChangeNothing) {
  MemberMemory memory;
  const std::string first = member_of(1, text_of(20'000, false, 1));
  const std::string rest = member_of(2, text_of(9'000, false, 2)) + member_of(3, "the last");
  const auto expected = read(first + rest, false, &memory);
  for (const std::size_t at : {kStoredAt, kDecodedAt}) {
    for (std::size_t byte = 0; byte < 4; ++byte) {
      for (const int change : {1, 2, 0x40, 0xff}) {
        std::string lying = first;
        lying[at + byte] = static_cast<char>(lying[at + byte] ^ change);
        EXPECT_EQ(read(lying + rest, true, &memory), expected) << at << ' ' << byte;
      }
    }
  }
}

TEST(MemberStreamByHeads, RequestsArePassedOverByWhoGoesByIt) {
  const std::string first = request_of(1, "first") + request_of(2, text_of(90'000, false, 2));
  const std::string second = member_of(3, "second");
  const std::string last = request_of(4, text_of(70'000, true, 4)) + request_of(5, {});
  const std::string bytes = first + second + last;
  MemberMemory memory;
  EXPECT_EQ(read(bytes, false, &memory).size(), 5U);
  const auto seen = read(bytes, true, &memory);
  ASSERT_EQ(seen.size(), 1U);
  EXPECT_EQ(seen[0].number, "3");
  EXPECT_EQ(seen[0].offset, first.size());
  EXPECT_EQ(seen[0].length, second.size());
  EXPECT_EQ(read(first + last, true, &memory).size(), 0U);
}

// As others write them: a record is no longer for the requests behind it.
TEST(MemberStreamByHeads, RequestsBelongToNoRecordBeforeThem) {
  std::string first;
  GzipWriter().append_member(record_of(1, "first"), "first", {}, &first);  // without blank lines
  const std::string request = request_of(2, "second");
  const std::string last = member_of(3, "last");
  MemberMemory memory;
  for (const std::string& bytes : {first + request, first + request + request + last}) {
    const auto seen = read(bytes, true, &memory);
    ASSERT_GE(seen.size(), 1U);
    EXPECT_EQ(seen[0], read(bytes, false, &memory)[0]);
    EXPECT_EQ(seen[0].length, first.size());
    EXPECT_NE(seen[0].faults, "");
  }
}

// Gives the member a head, and an end, that tell of more than there is: 9,216 bytes.
void lie_about_size(std::string& member) {
  const std::string decoded("\x00\x24\0\0", 4);
  member.replace(kDecodedAt, 4, decoded);
  member.replace(member.size() - 4, 4, decoded);
}

// It is a record that is not whole, with so much of its block at most, and reading goes on behind.
void expect_short(const std::string& member, std::size_t bytes_most) {
  const std::string bytes = member + member_of(2, "last");
  MemberMemory memory;
  for (const bool goes_by_heads : {true, false}) {
    const ViewFile file(bytes);
    WarcReader reader(file, 0, {.goes_by_heads = goes_by_heads, .memory = &memory});
    ASSERT_TRUE(*reader.next());
    EXPECT_LE(read_rest(reader, 1'000'000)->size(), bytes_most);
    ASSERT_TRUE(reader.finish());
    EXPECT_FALSE(reader.record().faults.is_whole()) << goes_by_heads;
    ASSERT_TRUE(*reader.next());
    EXPECT_EQ(reader.record().get("X-Number"), "2");
  }
}

// A front of which there is no more, whatever the head says.
TEST(MemberStreamByHeads, AMemberThatEndsWithItsFrontIsShort) {
  constexpr std::size_t kFront = 2048;
  const std::string head = record_of(1, std::string(9'000, 'x'));
  const std::string text = text_of(kFront - head.size(), false, 1);
  std::string member;
  GzipWriter().append_member(head, text, {}, &member);
  lie_about_size(member);
  expect_short(member, text.size());
}

// A member that tells its lengths, of a writer that flushes where he likes.
std::string flushed_member(std::string_view text, const std::vector<std::size_t>& flushes,
                           int level) {
  std::string member;
  begin_told_member(false, &member);
  z_stream stream{};
  CHECK(deflateInit2(&stream, level, Z_DEFLATED, -15, 8, Z_DEFAULT_STRATEGY) == Z_OK);
  std::string room(deflateBound(&stream, text.size()) + 64 * flushes.size(), '\0');
  stream.next_out = reinterpret_cast<Bytef*>(room.data());
  stream.avail_out = static_cast<uInt>(room.size());
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  for (const std::size_t at : flushes) {
    stream.avail_in = static_cast<uInt>(at - stream.total_in);
    const int code = deflate(&stream, Z_SYNC_FLUSH);
    CHECK(code == Z_OK || code == Z_BUF_ERROR);  // where nothing came since the last
  }
  stream.avail_in = static_cast<uInt>(text.size() - stream.total_in);
  CHECK(deflate(&stream, Z_FINISH) == Z_STREAM_END);
  member.append(room, 0, stream.total_out);
  deflateEnd(&stream);
  const auto* const bytes = reinterpret_cast<const Bytef*>(text.data());
  base::put_fixed(member, static_cast<std::uint32_t>(crc32_z(0, bytes, text.size())));
  base::put_fixed(member, static_cast<std::uint32_t>(text.size()));
  tell_lengths(text.size(), &member);
  return member;
}

TEST(MemberStreamByHeads, FrontsMayEndAnywhere) {
  MemberMemory memory;
  const std::string block = text_of(30'000, false, 1);
  const std::string record = record_of(1, block) + block + std::string(kBlankLines);
  const std::string last = member_of(2, "last");
  env::Random random(3);
  for (const int level : {0, 1, 6}) {
    for (std::size_t at = 0; at <= record.size(); at += at < 200 ? 1 : random.below(2'000) + 1) {
      const std::string bytes = flushed_member(record, {at}, level) + last;
      ASSERT_EQ(read(bytes, true, &memory), read(bytes, false, &memory)) << level << ' ' << at;
    }
    const std::string bytes = flushed_member(record, {50, 50, 90, 9'000}, level) + last;
    ASSERT_EQ(read(bytes, true, &memory), read(bytes, false, &memory)) << level;
  }
}

// Behind a record that asks for more than its member has.
TEST(MemberStreamByHeads, FrontsBehindAShortRecordMayEndAnywhere) {
  MemberMemory memory;
  const std::string block = text_of(9'000, false, 1);
  const std::string record = record_of(2, block) + block + std::string(kBlankLines);
  std::string first;
  GzipWriter().append_member(record_of(1, block), block.substr(0, 100), {}, &first);
  for (std::size_t at = 0; at < 120; ++at) {
    const std::string bytes = first + flushed_member(record, {at}, 6) + member_of(3, "last");
    const auto seen = read(bytes, true, &memory);
    ASSERT_EQ(seen.size(), 3U) << at;
    ASSERT_EQ(seen, read(bytes, false, &memory)) << at;
  }
}

// What looks like the end of a flush, in what is stored as it was.
TEST(MemberStreamByHeads, FrontsMayHoldWhatLooksLikeTheirEnd) {
  constexpr std::string_view kFlushEnd("\0\0\xff\xff", 4);
  MemberMemory memory;
  for (std::size_t at = 0; at < 3'000; at += 100) {
    std::string block = text_of(9'000, false, 1);
    block.insert(at, kFlushEnd);
    const std::string record = record_of(1, block) + block + std::string(kBlankLines);
    const std::string bytes = flushed_member(record, {}, 0) + member_of(2, "last");
    ASSERT_EQ(read(bytes, true, &memory), read(bytes, false, &memory)) << at;
  }
}

// Of a text that is all in front of the flush, or less of it than the member tells.
TEST(MemberStreamByHeads, AMemberThatEndsWithItsFlushIsShort) {
  const std::string head = record_of(1, std::string(9'000, 'x'));
  std::string member = flushed_member(head, {head.size()}, 6);
  lie_about_size(member);
  expect_short(member, 0);
}

// Wherever a file is cut, as many records are there, and the same of what is no request.
TEST(MemberStreamByHeads, RequestsThatAreCutAreSeen) {
  const std::string request = request_of(2, text_of(300, false, 2));
  const std::string front = member_of(1, "first");
  MemberMemory memory;
  for (std::size_t size = 1; size < request.size(); ++size) {
    const std::string bytes = front + request.substr(0, size);
    ASSERT_EQ(read(bytes, true, &memory), read(bytes, false, &memory)) << size;
  }
}

TEST(MemberStreamByHeads, ARequestWithWrongLengthsIsSeen) {
  const std::string request = request_of(2, text_of(300, false, 2));
  const std::string rest = member_of(3, "last");
  MemberMemory memory;
  for (const std::size_t at : {kStoredAt, kDecodedAt}) {
    for (std::size_t byte = 0; byte < 4; ++byte) {
      std::string lying = request;
      lying[at + byte] = static_cast<char>(lying[at + byte] ^ 2);
      EXPECT_EQ(read(lying + rest, true, &memory), read(lying + rest, false, &memory)) << byte;
    }
  }
  for (const char value : {'\x01', 'S', '\xff'}) {  // which nobody writes
    std::string other = request;
    other[kRequestAt] = value;
    EXPECT_EQ(read(other + rest, true, &memory).size(), 2U);
  }
}

// A file whose lengths lead over a whole record, to a place that fits: but its own record does not.
TEST(MemberStreamByHeads, ThatLeadOverARecordAreNotBelieved) {
  MemberMemory memory;
  std::string first = member_of(1, text_of(20'000, false, 1));
  const std::string second = member_of(2, text_of(9'000, false, 2));
  const std::string third = member_of(3, "the last");
  const std::size_t both = first.size() + second.size();
  for (std::size_t i = 0; i < 4; ++i) {
    first[kStoredAt + i] = static_cast<char>(both >> (8 * i) & 0xffU);
    first[kDecodedAt + i] = second[second.size() - 4 + i];
  }
  const auto seen = read(first + second + third, true, &memory);
  EXPECT_EQ(seen.size(), 3U);
  EXPECT_EQ(seen, read(first + second + third, false, &memory));
}

// Told of the record or, where it made that longer, of what came behind it.
bool is_seen_whole(WarcReader& reader, std::size_t wanted_bytes) {
  EXPECT_TRUE(*reader.next());
  if (wanted_bytes > 0) {
    EXPECT_TRUE(read_rest(reader, wanted_bytes));
  }
  EXPECT_TRUE(reader.finish());
  const bool is_whole = reader.record().faults.is_whole();
  EXPECT_TRUE(*reader.next());
  EXPECT_EQ(reader.record().get("X-Number"), "2");
  return is_whole && reader.record().faults.is_whole();
}

TEST(MemberStreamByHeads, DamageIsNotSeenInWhatIsPassedOver) {
  const std::string first = member_of(1, text_of(200'000, false, 1));
  const std::string last = member_of(2, "beta");
  env::Random random(4);
  MemberMemory memory;
  for (int i = 0; i < 20; ++i) {
    std::string bytes = first + last;
    const std::size_t at = first.size() / 4 + random.below(first.size() / 2);
    bytes[at] = static_cast<char>(bytes[at] ^ static_cast<char>(1 + random.below(255)));
    const ViewFile file(bytes);
    WarcReader passing(file, 0, {.goes_by_heads = true, .memory = &memory});
    EXPECT_TRUE(is_seen_whole(passing, 0)) << at;
    WarcReader reading_on(file, 0, {.goes_by_heads = true, .memory = &memory});
    EXPECT_FALSE(is_seen_whole(reading_on, 1'000'000)) << at;
    WarcReader reading(file, 0, {.memory = &memory});
    EXPECT_FALSE(is_seen_whole(reading, 0)) << at;
  }
}

}  // namespace
}  // namespace meguri::archive
