#include "archive/wacz_index.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <libdeflate.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "archive/sha256.h"
#include "base/check.h"
#include "env/memory_file_system.h"
#include "env/random.h"
#include "web/surt.h"

namespace meguri::archive {
namespace {

TEST(ReplayKey, IsThatOfWarcioJs) {
  // From node, with warcio.js 2.4.11: getSurt(url).
  const std::vector<std::pair<std::string, std::string>> keys = {
      {"http://example.com/", "com,example)/"},
      {"https://www.example.com/goo/?b=1&a=2", "com,example)/goo/?a=2&b=1"},
      {"http://www23.Example.com:80/A%7Eb/../C", "com,example)/c"},
      {"https://wwwx.example.com:8443/a?", "com,example,wwwx:8443)/a"},
      {"http://www.example.com/%C3%A9?PHPSESSID=0123456789abcdefghijklemopqrstuv",
       "com,example)/%c3%a9?phpsessid=0123456789abcdefghijklemopqrstuv"},
      {"http://[::1]:8080/", "[::1]:8080)/"},
      {"http://195.127.0.11/blah?b&&a=1&b=", "11,0,127,195)/blah?&a=1&b&b="},
      {"dns:example.com", "dns:example.com"},
      {"http://h:99999/", "http://h:99999/"},
      {"http://h/a?x=%26#part", "h)/a?x=%26"},
  };
  for (const auto& [url, key] : keys) EXPECT_EQ(replay_key_of(url), key) << url;
}

IndexEntry entry_of(std::string url, std::int64_t second, std::uint64_t offset = 0) {
  IndexEntry entry;
  entry.url = std::move(url);
  entry.date = base::Instant::from_ms(1'767'225'600'000 + second * 1000);
  entry.status = 200;
  entry.mime = "text/html";
  entry.digest = "sha1:ABC";
  entry.place = {.file = 0, .offset = offset, .index = 0, .length = 77};
  return entry;
}

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    CHECK(end != std::string_view::npos, "a line without an end");
    lines.emplace_back(text.substr(0, end));
    text.remove_prefix(end + 1);
  }
  return lines;
}

std::string gunzip(std::string_view member) {
  std::string out(std::size_t{2} << 20U, '\0');
  libdeflate_decompressor* const inflater = libdeflate_alloc_decompressor();
  std::size_t used = 0;
  std::size_t size = 0;
  CHECK(libdeflate_gzip_decompress_ex(inflater, member.data(), member.size(), out.data(),
                                      out.size(), &used, &size) == LIBDEFLATE_SUCCESS);
  CHECK(used == member.size());
  libdeflate_free_decompressor(inflater);
  out.resize(size);
  return out;
}

struct Block {
  std::string front;
  std::vector<std::string> lines;
};

// Both files, as a reader goes through them: the list says where each block is.
std::vector<Block> read(const std::string& cdx, const std::string& idx) {
  std::vector<std::string> list = lines_of(idx);
  EXPECT_EQ(list.at(0), R"(!meta 0 {"format": "cdxj-gzip-1.0", "filename": "index.cdx.gz"})");
  list.erase(list.begin());
  std::vector<Block> blocks;
  std::size_t end = 0;
  for (const std::string& line : list) {
    const std::size_t json = line.find(" {");
    unsigned long long offset = 0;
    unsigned long long length = 0;
    CHECK(std::sscanf(line.c_str() + json, R"( {"offset": %llu, "length": %llu,)", &offset,
                      &length) == 2);
    EXPECT_EQ(offset, end);
    end += length;
    const std::string_view member = std::string_view(cdx).substr(offset, length);
    EXPECT_TRUE(line.ends_with(fmt::format(R"("digest": "{}"}})", Sha256().of(member))));
    blocks.push_back({.front = line.substr(0, json), .lines = lines_of(gunzip(member))});
  }
  EXPECT_EQ(end, cdx.size());
  return blocks;
}

class WaczIndexTest : public testing::Test {
 protected:
  WaczIndexTest() { EXPECT_TRUE(fs_.make_dirs("tmp")); }

  WaczIndexOptions options(std::size_t block_lines, std::size_t sort_bytes_max = 1 << 20) {
    WaczIndexOptions options;
    options.scratch = "tmp";
    options.sort_bytes_max = sort_bytes_max;
    options.block_lines = block_lines;
    return options;
  }

  static std::vector<Block> write(WaczIndex& index) {
    std::string cdx;
    std::string idx;
    const auto into = [](std::string& out) {
      return [&out](std::string_view bytes) -> base::Status {
        out += bytes;
        return {};
      };
    };
    EXPECT_TRUE(index.write(into(cdx), into(idx)));
    return read(cdx, idx);
  }

  env::MemoryFileSystem fs_;
};

TEST_F(WaczIndexTest, HasALineForEachRecord) {
  WaczIndex index(fs_, options(300));
  ASSERT_TRUE(index.add(entry_of("http://www.example.com/b", 61, 100)));
  ASSERT_TRUE(index.add(entry_of("http://example.com/a?x", 0)));
  EXPECT_EQ(index.records(), 2U);
  const auto blocks = write(index);
  ASSERT_EQ(blocks.size(), 1U);
  EXPECT_EQ(blocks[0].front, "com,example)/a?x 20260101000000");
  const std::vector<std::string> expected = {
      R"(com,example)/a?x 20260101000000 {"url": "http://example.com/a?x", "mime": "text/html", )"
      R"("status": "200", "digest": "sha1:ABC", "length": "77", "offset": "0", )"
      R"("filename": "data.warc.gz"})",
      R"(com,example)/b 20260101000101 {"url": "http://www.example.com/b", "mime": "text/html", )"
      R"("status": "200", "digest": "sha1:ABC", "length": "77", "offset": "100", )"
      R"("filename": "data.warc.gz"})"};
  EXPECT_EQ(blocks[0].lines, expected);
}

TEST_F(WaczIndexTest, NoRecordsAreNoBlocks) {
  WaczIndex index(fs_, options(300));
  EXPECT_TRUE(write(index).empty());
}

TEST_F(WaczIndexTest, RevisitsAreToldApartAndFailuresLeftOut) {
  WaczIndex index(fs_, options(300));
  IndexEntry revisit = entry_of("http://h/", 0);
  revisit.kind = EntryKind::kUnchanged;
  ASSERT_TRUE(index.add(revisit));
  IndexEntry failure = entry_of("http://h/x", 0);
  failure.kind = EntryKind::kError;
  failure.status = 0;
  ASSERT_TRUE(index.add(failure));
  EXPECT_EQ(index.records(), 1U);
  const auto blocks = write(index);
  ASSERT_EQ(blocks.at(0).lines.size(), 1U);
  EXPECT_NE(blocks[0].lines[0].find(R"("mime": "warc/revisit")"), std::string::npos);
}

TEST_F(WaczIndexTest, AUrlWithTwoKeysIsUnderBoth) {
  WaczIndex index(fs_, options(300));
  ASSERT_TRUE(index.add(entry_of("http://h/goo/", 0)));
  EXPECT_EQ(index.records(), 1U);
  const auto blocks = write(index);
  ASSERT_EQ(blocks.at(0).lines.size(), 2U);
  EXPECT_TRUE(blocks[0].lines[0].starts_with("h)/goo 20260101000000 {\"url\": \"http://h/goo/\""));
  EXPECT_TRUE(blocks[0].lines[1].starts_with("h)/goo/ 20260101000000 {\"url\": \"http://h/goo/\""));
}

TEST_F(WaczIndexTest, KeysHoldNoBlanks) {
  WaczIndex index(fs_, options(300));
  ASSERT_TRUE(index.add(entry_of("http://h:99999/a b\n", 0)));
  const auto blocks = write(index);
  for (const std::string& line : blocks.at(0).lines) {
    EXPECT_EQ(line.find(" 20260101000000 {"), line.find(' ')) << line;
  }
}

// By the rule of wabac.js: it goes back from the last block whose front is below the key of the
// URL and "9999", up to the first whose front does not begin with the key.
bool finds(const std::vector<Block>& blocks, const std::string& url) {
  const std::string key = replay_key_of(url);
  const std::string without_query = key.substr(0, key.find('?'));
  const std::string wanted = fmt::format(R"({{"url": "{}",)", url);
  for (auto block = blocks.rbegin(); block != blocks.rend(); ++block) {
    if (block->front >= key + " 9999") continue;
    for (const std::string& line : block->lines) {
      if (line.find(wanted) != std::string::npos) return true;
    }
    if (!block->front.starts_with(without_query)) return false;
  }
  return false;
}

TEST_F(WaczIndexTest, IsSortedAndEveryPageIsFoundWhereReplayLooks) {
  const std::vector<std::string> ends = {"",      "/",    "-x",    ".html", "/?b=1&a=2",
                                         "%7Ex/", "!/y/", "?sid=", "/A/",   "%2F/"};
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    env::Random random(seed);
    WaczIndex index(fs_, options(1 + random.below(9), 1 + random.below(4000)));
    std::vector<std::string> urls;
    for (std::uint64_t i = 0; i < 200; ++i) {
      urls.push_back(fmt::format("http://h{}.example/p{}{}", random.below(3), random.below(30),
                                 ends[random.below(ends.size())]));
      ASSERT_TRUE(index.add(entry_of(urls.back(), static_cast<std::int64_t>(random.below(3)), i)));
    }
    const auto blocks = write(index);
    std::vector<std::string> lines;
    for (const Block& block : blocks) {
      EXPECT_TRUE(block.lines.at(0).starts_with(block.front + " {"));
      lines.insert(lines.end(), block.lines.begin(), block.lines.end());
    }
    EXPECT_EQ(lines.size(), index.lines());
    EXPECT_TRUE(std::ranges::is_sorted(lines));
    for (const std::string& url : urls) EXPECT_TRUE(finds(blocks, url)) << url << " " << seed;
    for (const std::string& url : urls) {
      const std::string front = web::surt_key(url) + " ";
      EXPECT_TRUE(std::ranges::any_of(lines, [&](const std::string& line) {
        return line.starts_with(front) && line.find('"' + url + '"') != std::string::npos;
      })) << url;
    }
  }
}

}  // namespace
}  // namespace meguri::archive
