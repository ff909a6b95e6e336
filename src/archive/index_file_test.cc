#include "archive/index_file.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <tuple>

#include "base/testing.h"
#include "env/random.h"

namespace meguri::archive {
namespace {

IndexFile example() {
  IndexFile file;
  file.number = 3;
  file.path = "/old/a.warc.gz";
  file.source = FileSource::kReference;
  file.bytes = 5000;
  file.print = 0x0123456789abcdef;
  file.indexed_to = 5000;
  file.is_complete = true;
  file.entries = 12;
  file.damages = 1;
  return file;
}

TEST(IndexFile, IsReadBackAsItWas) {
  IndexFile file = example();
  EXPECT_EQ(parse_index_file(key_of(file), value_of(file)), file);
  file.source = FileSource::kCopy;
  file.is_complete = false;
  file.number = std::numeric_limits<std::uint32_t>::max();
  file.bytes = std::numeric_limits<std::uint64_t>::max();
  file.path = std::string("\0\xff ", 3) + std::string(5000, 'x');
  EXPECT_EQ(parse_index_file(key_of(file), value_of(file)), file);
  EXPECT_EQ(parse_index_file(key_of(IndexFile{}), value_of(IndexFile{})), IndexFile{});
}

// docs/formats/index.md has these bytes.
TEST(IndexFile, HasTheBytesThatTheDocumentShows) {
  EXPECT_EQ(base::hex_of(key_of(example())), "6600000003");
  EXPECT_EQ(base::hex_of(value_of(example())),
            "06"
            "0e2f6f6c642f612e776172632e677a"
            "8827"
            "efcdab8967452301"
            "8827"
            "0c"
            "01");
}

TEST(IndexFile, SortsByNumber) {
  EXPECT_LT(file_key_of(255), file_key_of(256));
  EXPECT_LT(file_key_of(65535), file_key_of(65536));
}

// Whatever the disk has, it is a file or none.
TEST(IndexFile, RefusesWhatIsNone) {
  const std::string key = key_of(example());
  const std::string value = value_of(example());
  for (std::size_t size = 0; size < value.size(); ++size) {
    EXPECT_FALSE(parse_index_file(key, value.substr(0, size))) << size;
  }
  EXPECT_FALSE(parse_index_file(key, value + "x"));
  EXPECT_FALSE(parse_index_file(key + "x", value));
  EXPECT_FALSE(parse_index_file(key.substr(0, 4), value));
  EXPECT_FALSE(parse_index_file("e" + key.substr(1), value));
  EXPECT_FALSE(parse_index_file(key, "\x03" + value.substr(1))) << "there is no such source";
  env::Random random(1);
  for (int i = 0; i < 10'000; ++i) {
    std::string bytes = value;
    bytes[static_cast<std::size_t>(random.below(bytes.size()))] ^=
        static_cast<char>(1U << random.below(8));
    std::ignore = parse_index_file(key, bytes);
  }
}

}  // namespace
}  // namespace meguri::archive
