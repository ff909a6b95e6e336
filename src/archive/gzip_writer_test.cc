#include "archive/gzip_writer.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include <memory>
#include <string>

#include "archive/member_decoder.h"
#include "env/faulty_file_system.h"
#include "env/memory_file_system.h"
#include "env/random.h"
#include "env/spool_testing.h"

namespace meguri::archive {
namespace {

std::string noise(std::size_t size) {
  env::Random random(size);
  std::string bytes;
  while (bytes.size() < size) bytes += static_cast<char>(random.below(256));
  return bytes;
}

std::string text(std::size_t size) {
  env::Random random(size);
  std::string bytes;
  while (bytes.size() < size) bytes += "etaoin shrdlu<>/\n"[random.below(17)];
  return bytes;
}

std::string member_of(std::string_view front, std::string_view body, std::string_view end) {
  GzipWriter writer;
  std::string out;
  writer.append_member(front, body, end, &out);
  return out;
}

// By zlib, which checks the sum and the length; the member must be all there is.
std::string inflated(const std::string& member) {
  z_stream stream{};
  EXPECT_EQ(inflateInit2(&stream, 15 + 16), Z_OK);
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(member.data()));
  stream.avail_in = static_cast<uInt>(member.size());
  std::string out;
  int code = Z_OK;
  while (code == Z_OK) {
    std::string room(1 << 16, '\0');
    stream.next_out = reinterpret_cast<Bytef*>(room.data());
    stream.avail_out = static_cast<uInt>(room.size());
    code = inflate(&stream, Z_NO_FLUSH);
    out.append(room, 0, room.size() - stream.avail_out);
  }
  EXPECT_EQ(code, Z_STREAM_END);
  EXPECT_EQ(stream.avail_in, 0U);
  inflateEnd(&stream);
  return out;
}

TEST(GzipWriter, ReadsBackEqualWhateverTheSize) {
  for (const std::size_t size : {0UL, 1UL, 1023UL, 1024UL, 65'534UL, 65'535UL, 65'536UL, 131'070UL,
                                 500'000UL, 5'000'000UL}) {
    for (const std::string& body : {noise(size), text(size), std::string(size, 'a')}) {
      for (const std::string& front : {std::string(), text(700), text(100'000), noise(3000)}) {
        const std::string member = member_of(front, body, "\r\n\r\n");
        EXPECT_TRUE(inflated(member) == front + body + "\r\n\r\n") << size;
      }
    }
  }
}

TEST(GzipWriter, ReadsBackEqualFromDiskToo) {
  env::MemoryFileSystem fs;
  const auto spool = env::disk_spool(fs);
  GzipWriter writer;
  for (const std::size_t size : {1UL, 1024UL, 65'536UL, 262'144UL, 262'145UL, 3'000'000UL}) {
    for (const std::string& body : {noise(size), text(size), std::string(size, 'a')}) {
      for (const std::string& front : {text(700), text(100'000), noise(3000)}) {
        env::SpoolWriter out(spool.get());
        const env::SpooledBytes held = env::spooled(*spool, body);
        ASSERT_TRUE(held.is_on_disk());
        ASSERT_TRUE(writer.append_member(front, held, "\r\n\r\n", &out));
        const std::string member = env::text_of(out.finish());
        EXPECT_TRUE(inflated(member) == front + body + "\r\n\r\n") << size;
        const std::size_t at_once = member_of(front, body, "\r\n\r\n").size();
        EXPECT_LT(member.size(), at_once + at_once / 50 + 1000) << size;
      }
    }
  }
}

TEST(GzipWriter, SaysThatTheDiskFailed) {
  env::FaultyFileSystem fs;
  const auto spool = env::disk_spool(fs);
  GzipWriter writer;
  const env::SpooledBytes body = env::spooled(*spool, noise(600'000));
  env::SpoolWriter out(spool.get());
  fs.fail_read_after(5, base::ErrorCode::kIo);  // after the samples and a piece
  EXPECT_FALSE(writer.append_member("front", body, "", &out));
  out.clear();
  fs.fail_change_after(2, base::ErrorCode::kNoSpace);
  EXPECT_FALSE(writer.append_member("front", body, "", &out));
  EXPECT_EQ(out.size(), 0U);
  ASSERT_TRUE(writer.append_member("front", body, "", &out));
  EXPECT_TRUE(inflated(env::text_of(out.finish())) == "front" + noise(600'000));
}

TEST(GzipWriter, StoresWhatIsPackedAndPacksTheFront) {
  const std::string member = member_of(text(2000), noise(200'000), "\r\n\r\n");
  EXPECT_LT(member.size(), 200'000U + 1'300U);
  EXPECT_NE(member.find(noise(200'000).substr(1000, 10'000)), std::string::npos);
}

TEST(GzipWriter, PacksText) {
  EXPECT_LT(member_of(text(600), text(200'000), "\r\n\r\n").size(), 120'000U);
}

TEST(GzipWriter, MakesWhatIsInFrontOfALargeBodyReadableAlone) {
  MemberDecoder decoder;
  std::string out(100'000, '\0');
  for (const std::size_t size : {700UL, 5'000UL, 60'000UL}) {
    for (const std::string& body : {noise(4096), text(4096), text(2'000'000)}) {
      const std::string member = member_of(text(size), body, "\r\n\r\n");
      const std::size_t made = decoder.decode_to_flush(member, out.data(), out.size());
      if (size == 60'000) {
        EXPECT_EQ(made, 0U) << "too far to look for";
      } else {
        EXPECT_EQ(out.substr(0, made), text(size));
        EXPECT_EQ(decoder.decode_to_flush(member, out.data(), size - 1), 0U);
        EXPECT_EQ(decoder.decode_to_flush(member.substr(0, 300), out.data(), out.size()), 0U);
      }
    }
    const std::string small = member_of(text(size), text(4095), "\r\n\r\n");
    EXPECT_EQ(decoder.decode_to_flush(small, out.data(), out.size()), 0U);
  }
}

TEST(GzipWriter, EqualInputMakesEqualMembersWhateverWasBefore) {
  GzipWriter writer;
  std::string first;
  std::string again;
  writer.append_member(text(900), text(30'000), "", &first);
  writer.append_member(text(70'000), noise(90'000), "", &again);
  again.clear();
  writer.append_member(text(900), text(30'000), "", &again);
  EXPECT_EQ(first, again);
}

TEST(GzipWriter, EqualInputMakesEqualMembersWhereverTheWriterIs) {
  GzipWriter here;
  const auto far = std::make_unique<GzipWriter>();
  env::Random random(1);
  std::string other;
  std::string member;
  for (int i = 0; i < 20'000; ++i) {
    std::string line;
    while (line.size() < 40) line += static_cast<char>('a' + random.below(26));
    const std::string lines = line + line + std::string(300, '.');
    member.clear();
    other.clear();
    here.append_member(lines, {}, {}, &member);
    far->append_member({}, lines, {}, &other);
    ASSERT_EQ(member, other) << line;
  }
  const std::string body = text(5'000);
  for (std::size_t size = 0; size < 2'000; ++size) {
    const std::string front = text(size % 40);
    member.clear();
    other.clear();
    here.append_member(front, body, {}, &member);
    far->append_member(front, body, {}, &other);
    ASSERT_EQ(member, other) << front;
  }
}

TEST(LooksPacked, TellsTextFromNoise) {
  EXPECT_TRUE(looks_packed(noise(1024)));
  EXPECT_TRUE(looks_packed(noise(100'000)));
  EXPECT_TRUE(looks_packed(member_of("", text(20'000), "")));
  EXPECT_FALSE(looks_packed(noise(1023))) << "too little to tell";
  EXPECT_FALSE(looks_packed(text(100'000)));
  std::string base64;
  env::Random random(1);
  while (base64.size() < 4000) base64 += static_cast<char>('0' + random.below(64));
  EXPECT_FALSE(looks_packed(base64));
}

}  // namespace
}  // namespace meguri::archive
