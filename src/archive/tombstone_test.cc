#include "archive/tombstone.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include <string>

#include "archive/member_stream.h"
#include "env/random.h"

namespace meguri::archive {
namespace {

Tombstone some() {
  env::Random random(5);
  return {.id = RecordId::draw(random),
          .date = base::Instant::from_ms(1'767'225'600'000),
          .records = 2};
}

base::Result<std::string> made(RecordCoding coding, std::uint64_t length) {
  std::string bytes;
  RETURN_IF_ERROR(write_tombstone(some(), coding, length, [&](std::string_view piece) {
    bytes += piece;
    return base::Status();
  }));
  return bytes;
}

// It is one whole record, which takes all of the bytes.
void expect_record(const std::string& bytes) {
  const ViewFile file(bytes);
  WarcReader reader(file);
  ASSERT_TRUE(reader.next().value());
  ASSERT_TRUE(reader.finish());
  EXPECT_TRUE(reader.record().faults.empty()) << reader.record().faults.to_string();
  EXPECT_EQ(reader.record().length, bytes.size());
  EXPECT_TRUE(is_tombstone(reader.record()));
  EXPECT_EQ(reader.record().get("X-Meguri-Removed"), "2");
  EXPECT_EQ(reader.record().type(), "metadata");
  EXPECT_FALSE(reader.next().value());
}

TEST(Tombstone, HasAnyLengthThatIsNotTooShort) {
  for (const RecordCoding coding : {RecordCoding::kPlain, RecordCoding::kGzip}) {
    std::uint64_t least = 0;
    for (std::uint64_t length = 0; length < 400; ++length) {
      const auto bytes = made(coding, length);
      if (!bytes) {
        EXPECT_EQ(bytes.error().code(), base::ErrorCode::kUnsupported);
        EXPECT_EQ(least, 0U) << length;
        continue;
      }
      if (least == 0) least = length;
      ASSERT_EQ(bytes->size(), length);
      expect_record(*bytes);
    }
    EXPECT_LT(least, 215U);
    // Where another block begins, and far behind.
    for (const std::uint64_t middle : {65'553ULL, 131'093ULL, 1'000'000ULL}) {
      for (std::uint64_t length = middle - 20; length < middle + 20; ++length) {
        const auto bytes = made(coding, length);
        ASSERT_TRUE(bytes);
        ASSERT_EQ(bytes->size(), length);
        expect_record(*bytes);
      }
    }
  }
}

TEST(Tombstone, OfZstdIsPassedOver) {
  for (const std::uint64_t length : {8ULL, 9ULL, 1000ULL, 200'000ULL}) {
    const std::string bytes = made(RecordCoding::kZstd, length).value();
    ASSERT_EQ(bytes.size(), length);
    const ViewFile file(bytes);
    WarcReader reader(file);
    EXPECT_FALSE(reader.next().value());
    EXPECT_TRUE(reader.record().faults.empty()) << reader.record().faults.to_string();
  }
  EXPECT_FALSE(made(RecordCoding::kZstd, 7));
}

TEST(Tombstone, IsPackedAsWhatItReplaces) {
  EXPECT_EQ(coding_of("WARC/1.1"), RecordCoding::kPlain);
  EXPECT_EQ(coding_of(made(RecordCoding::kGzip, 500).value()), RecordCoding::kGzip);
  EXPECT_EQ(coding_of("\x28\xb5\x2f\xfd"), RecordCoding::kZstd);
}

}  // namespace
}  // namespace meguri::archive
