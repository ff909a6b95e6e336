// How much of the disk an entry of the temporal index takes, in RocksDB as it is configured.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "archive/index_entry.h"
#include "archive/sha1.h"
#include "archive/temporal_index.h"
#include "env/ordered_store.h"
#include "env/posix_file_system.h"
#include "env/random.h"
#include "env/testing.h"

namespace meguri::archive {
namespace {

constexpr double kBytesMax = 60;  // on average, beyond what a key does not share with the last one

std::uint64_t bytes_in(const std::string& dir) {
  env::PosixFileSystem files;
  std::uint64_t bytes = 0;
  const auto names = files.list(dir);
  EXPECT_TRUE(names);
  for (const std::string& name : *names) {
    if (name.ends_with(".sst")) bytes += *files.size(dir + "/" + name);
  }
  return bytes;
}

// Bytes of keys that the key before each does not have.
std::uint64_t unshared_bytes(const TemporalIndex& index) {
  std::uint64_t bytes = 0;
  std::string last;
  const auto cursor = index.cursor();
  for (cursor->seek("e"); cursor->valid() && cursor->key().starts_with('e'); cursor->next()) {
    const std::string_view key = cursor->key();
    const auto [mine, other] = std::ranges::mismatch(key, last);
    bytes += static_cast<std::uint64_t>(key.end() - mine);
    last = key;
  }
  return bytes;
}

// Pages of hosts of all sizes, with paths as they are, visited in rounds.
class Visits {
 public:
  explicit Visits(int pages) {
    for (int i = 0; i < pages; ++i) {
      const auto host = static_cast<int>(static_cast<double>(pages) / 50 * random_.uniform() *
                                         random_.uniform() * random_.uniform());
      pages_.push_back({fmt::format("https://www.host{}.example/{}/{:x}/page-{}.html", host,
                                    i % 7 == 0 ? "news" : "articles", random_.below(500), i),
                        {}});
    }
  }

  // One round, in no order; a page has changed or not.
  void add_round(TemporalIndex& index, int round) {
    std::ranges::shuffle(pages_, random_);
    IndexBatch batch;
    for (Page& page : pages_) {
      IndexEntry entry;
      entry.url = page.url;
      entry.date = base::Instant::from_ms(1'767'225'600'000 + 86'400'000LL * round + offset_ / 7);
      const bool is_changed = round == 0 || random_.chance(0.3);
      entry.kind = is_changed ? EntryKind::kChanged : EntryKind::kUnchanged;
      entry.status = is_changed ? 200 : 304;
      entry.is_not_modified = !is_changed;
      entry.mime = is_changed ? "text/html" : "";
      if (is_changed) page.digest = sha1_.of(std::to_string(random_.next())).to_string();
      entry.digest = page.digest;
      entry.place = {.file = 1 + static_cast<std::uint32_t>(offset_ >> 27),
                     .offset = static_cast<std::uint64_t>(offset_ & 0x7ffffff),
                     .length = 400 + random_.below(20'000)};
      offset_ += static_cast<std::int64_t>(entry.place.length) + 500;
      batch.add(entry);
    }
    ASSERT_TRUE(index.write(batch));
    ASSERT_TRUE(index.flush());
  }

 private:
  struct Page {
    std::string url;
    std::string digest;  // of its last version
  };

  env::Random random_{5};
  Sha1 sha1_;
  std::vector<Page> pages_;
  std::int64_t offset_ = 0;  // of all files
};

TEST(IndexSize, IsSmall) {
  for (const auto& [pages, rounds] : {std::pair(20'000, 1), std::pair(4'000, 10)}) {
    const env::TempDir folder;
    const std::string dir = folder.path("index");
    const auto index = TemporalIndex::open(env::open_rocksdb_store(dir, {}).value()).value();
    Visits visits(pages);
    for (int round = 0; round < rounds; ++round) visits.add_round(*index, round);
    const double entries = static_cast<double>(pages) * rounds;
    const double bytes = static_cast<double>(bytes_in(dir)) / entries;
    const double unshared = static_cast<double>(unshared_bytes(*index)) / entries;
    fmt::print(
        "{} pages, {} visits each: {:.1f} bytes an entry, of which "
        "{:.1f} of the key\n",
        pages, rounds, bytes, unshared);
    EXPECT_LE(bytes - unshared, kBytesMax) << pages;
    EXPECT_GT(bytes, 20) << "there is a digest in each";
  }
}

}  // namespace
}  // namespace meguri::archive
