#include "archive/snapshot_diff.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "env/memory_ordered_store.h"
#include "env/random.h"

namespace meguri::archive {
namespace {

using base::Instant;

constexpr std::uint64_t kTimes = 12;  // moments at which something happens

bool one_in(env::Random& random, std::uint64_t n) { return random.below(n) == 0; }

Instant at(std::uint64_t ms) { return Instant::from_ms(static_cast<std::int64_t>(ms)); }

// What was handed on, to be compared.
struct Found {
  DifferenceKind kind = DifferenceKind::kAdded;
  std::string url;
  std::optional<std::uint64_t> before = {};  // offsets of the visits' records
  std::optional<std::uint64_t> after = {};

  friend bool operator==(const Found&, const Found&) = default;
  friend void PrintTo(const Found& found, std::ostream* out) {
    *out << fmt::format("{} {} ({} to {})", name_of(found.kind), found.url,
                        found.before ? std::to_string(*found.before) : "none",
                        found.after ? std::to_string(*found.after) : "none");
  }
};

class Archive {
 public:
  Archive() : index_(TemporalIndex::open(disk_.open().value()).value()) {}

  void add(const std::vector<IndexEntry>& entries) {
    IndexBatch batch;
    for (const IndexEntry& entry : entries) batch.add(entry);
    ASSERT_TRUE(index_->write(batch));
  }

  std::vector<Found> diff(const DiffQuery& query, std::uint64_t range_bytes = 4000) const {
    std::vector<Found> found;
    SnapshotDiff diff(*index_, query);
    const auto offset = [](const PageVersion* version) -> std::optional<std::uint64_t> {
      if (version == nullptr) return std::nullopt;
      return version->visit.offset;
    };
    const auto ranges = split(*index_, query.scope.ranges(), range_bytes).value();
    for (const KeyRange& range : ranges) {
      EXPECT_TRUE(diff.walk(range, [&](const PageDifference& each) -> base::Status {
        found.push_back(
            {each.kind, std::string(each.url), offset(each.before), offset(each.after)});
        return {};
      }));
    }
    return found;
  }
  std::vector<DifferenceKind> kinds(std::uint64_t from, std::uint64_t to) const {
    std::vector<DifferenceKind> kinds;
    for (const Found& found : diff({.from = at(from), .to = at(to)})) kinds.push_back(found.kind);
    return kinds;
  }
  const TemporalIndex& index() const { return *index_; }

 private:
  env::MemoryStoreDisk disk_;
  std::unique_ptr<TemporalIndex> index_;
};

IndexEntry entry_of(const std::string& url, std::uint64_t time, EntryKind kind,
                    const std::string& digest = "") {
  IndexEntry entry;
  entry.url = url;
  entry.date = at(time);
  entry.kind = kind;
  entry.status = kind == EntryKind::kGone ? 404 : kind == EntryKind::kError ? 500 : 200;
  entry.digest = digest;
  entry.place = {.file = 1, .offset = time, .index = 0, .length = 10};
  return entry;
}

std::vector<IndexEntry> random_entries(env::Random& random) {
  const std::vector<std::string> urls = {"http://example.com/a", "https://www.example.com/A",
                                         "http://example.com/b", "http://example.com/c",
                                         "http://other.org/"};
  constexpr auto kKinds =
      std::to_array<EntryKind>({EntryKind::kChanged, EntryKind::kChanged, EntryKind::kUnchanged,
                                EntryKind::kUnchanged, EntryKind::kGone, EntryKind::kError});
  std::vector<IndexEntry> entries;
  std::uint64_t offset = 0;
  for (const std::string& url : urls) {
    for (std::uint64_t i = random.between(0, one_in(random, 8) ? 40 : 6); i > 0; --i) {
      IndexEntry entry =
          entry_of(url, random.between(1, kTimes), kKinds[random.below(kKinds.size())]);
      entry.place.offset = ++offset;
      const bool is_content =
          entry.kind == EntryKind::kChanged || entry.kind == EntryKind::kUnchanged;
      if (is_content && !one_in(random, 6)) {
        entry.digest = fmt::format("md5:{}", random.between(1, 3));
      }
      if (entry.kind == EntryKind::kChanged) {
        entry.mime = one_in(random, 2) ? "text/html" : "image/png";
        if (one_in(random, 6)) entry.target = static_cast<std::uint32_t>(random.between(1, 2));
      }
      if (entry.kind == EntryKind::kUnchanged && one_in(random, 2)) {
        entry.is_not_modified = true;
        entry.status = 304;
      }
      entries.push_back(std::move(entry));
    }
  }
  return entries;
}

// A page at a moment, found by looking at all of its entries, newest first.
struct State {
  const IndexEntry* visit = nullptr;
  const IndexEntry* content = nullptr;

  bool is_there() const { return visit != nullptr && visit->kind != EntryKind::kGone; }
  std::string digest() const {
    return visit->digest.empty() && content != nullptr ? content->digest : visit->digest;
  }
  bool has_mime(const std::string& mime) const {
    if (!is_there()) return false;
    if (!visit->mime.empty()) return visit->mime == mime;
    return content != nullptr && content->mime == mime;
  }
};

bool may_confirm(const IndexEntry& visit, const IndexEntry& older) {
  if (older.kind != EntryKind::kChanged) return false;
  if (visit.digest.empty() || older.digest.empty()) return true;
  return visit.digest == older.digest && visit.target == older.target;
}

State state_at(const std::vector<IndexEntry>& page, Instant time) {
  const auto visit = std::ranges::find_if(page, [&](const IndexEntry& entry) {
    return entry.kind != EntryKind::kError && entry.date <= time;
  });
  if (visit == page.end()) return {};
  if (visit->kind == EntryKind::kChanged) return {&*visit, &*visit};
  if (visit->kind == EntryKind::kGone) return {&*visit, nullptr};
  const auto content = std::find_if(
      visit + 1, page.end(), [&](const IndexEntry& older) { return may_confirm(*visit, older); });
  return {&*visit, content == page.end() ? nullptr : &*content};
}

bool model_same(const State& before, const State& after) {
  if (before.visit == after.visit) return true;
  if (!before.digest().empty() && !after.digest().empty()) {
    if (before.digest() != after.digest()) return false;
    return before.content == nullptr || after.content == nullptr ||
           before.content->target == after.content->target;
  }
  if (before.content != nullptr && after.content != nullptr) {
    return before.content == after.content;
  }
  return after.visit->kind == EntryKind::kUnchanged && after.content == nullptr &&
         after.digest().empty();
}

std::optional<Found> model_of(const std::vector<IndexEntry>& page, Instant from, Instant to,
                              const std::string& mime) {
  const State before = state_at(page, from);
  const State after = state_at(page, to);
  if (!before.is_there() && !after.is_there()) return std::nullopt;
  if (!mime.empty() && !before.has_mime(mime) && !after.has_mime(mime)) return std::nullopt;
  Found found{.url = page.front().url};
  if (before.visit != nullptr) found.before = before.visit->place.offset;
  if (after.visit != nullptr) found.after = after.visit->place.offset;
  if (!before.is_there()) {
    found.kind = DifferenceKind::kAdded;
  } else if (!after.is_there()) {
    found.kind = DifferenceKind::kGone;
  } else {
    found.kind = model_same(before, after) ? DifferenceKind::kUnchanged : DifferenceKind::kChanged;
  }
  return found;
}

// Of entries in the order of their keys.
std::vector<Found> model(const std::vector<IndexEntry>& entries, Instant from, Instant to,
                         const std::string& mime) {
  std::vector<Found> found;
  for (auto begin = entries.begin(); begin != entries.end();) {
    const auto end = std::find_if(begin, entries.end(),
                                  [&](const IndexEntry& entry) { return entry.url != begin->url; });
    if (auto one = model_of({begin, end}, from, to, mime)) found.push_back(*std::move(one));
    begin = end;
  }
  return found;
}

TEST(SnapshotDiff, FindsWhatABruteForceModelFinds) {
  std::map<DifferenceKind, std::size_t> kinds;
  for (std::uint64_t seed = 1; seed <= 400; ++seed) {
    env::Random random(seed);
    Archive archive;
    std::vector<IndexEntry> entries = random_entries(random);
    std::ranges::sort(entries, {}, [](const IndexEntry& entry) { return key_of(entry); });
    archive.add(entries);
    for (int i = 0; i < 40; ++i) {
      DiffQuery query;
      const std::uint64_t from = random.between(0, kTimes + 1);
      query.from = at(from);
      query.to = at(random.between(from, kTimes + 1));
      const std::string mime = one_in(random, 3) ? "text/html" : "";
      if (!mime.empty()) {
        ASSERT_TRUE(query.filter.add_mime(mime));
      }
      const std::vector<Found> found = archive.diff(query, random.between(1, 4000));
      ASSERT_EQ(found, model(entries, query.from, query.to, mime)) << fmt::format(
          "seed {}, query {}: {} to {}, mime {}", seed, i, query.from.ms(), query.to.ms(), mime);
      for (const Found& each : found) ++kinds[each.kind];
    }
  }
  EXPECT_EQ(kinds.size(), kDifferenceKinds);
}

TEST(SnapshotDiff, NothingDiffersFromItself) {
  env::Random random(5);
  Archive archive;
  archive.add(random_entries(random));
  for (std::uint64_t time = 0; time <= kTimes; ++time) {
    for (const DifferenceKind kind : archive.kinds(time, time)) {
      EXPECT_EQ(kind, DifferenceKind::kUnchanged);
    }
  }
}

TEST(SnapshotDiff, AGonePageThatComesBackIsAdded) {
  Archive archive;
  archive.add({entry_of("http://a.com/", 1, EntryKind::kChanged, "md5:1"),
               entry_of("http://a.com/", 5, EntryKind::kGone),
               entry_of("http://a.com/", 9, EntryKind::kChanged, "md5:1")});
  EXPECT_EQ(archive.diff({.from = at(1), .to = at(5)}),
            (std::vector<Found>{{DifferenceKind::kGone, "http://a.com/", 1, 5}}));
  EXPECT_EQ(archive.diff({.from = at(6), .to = at(9)}),
            (std::vector<Found>{{DifferenceKind::kAdded, "http://a.com/", 5, 9}}));
  EXPECT_EQ(archive.kinds(1, 9), std::vector{DifferenceKind::kUnchanged});
}

TEST(SnapshotDiff, AnErrorChangesNothing) {
  Archive archive;
  archive.add({entry_of("http://a.com/", 1, EntryKind::kChanged, "md5:1"),
               entry_of("http://a.com/", 5, EntryKind::kError)});
  EXPECT_EQ(archive.kinds(1, 6), std::vector{DifferenceKind::kUnchanged});
}

TEST(SnapshotDiff, ARedirectThatLeadsElsewhereIsChanged) {
  Archive archive;
  IndexEntry first = entry_of("http://a.com/", 1, EntryKind::kChanged, "md5:1");
  first.target = 7;
  IndexEntry second = first;
  second.date = at(5);
  second.target = 8;
  second.place.offset = 5;
  archive.add({first, second});
  EXPECT_EQ(archive.kinds(1, 5), std::vector{DifferenceKind::kChanged});
}

TEST(SnapshotDiff, ContentThatIsAnotherPagesRecordIsComparedByItsDigest) {
  Archive archive;
  IndexEntry second = entry_of("http://a.com/", 5, EntryKind::kChanged, "md5:1");
  second.original = EntryOriginal{.url = "http://b.com/", .date = at(2)};
  archive.add({entry_of("http://a.com/", 1, EntryKind::kChanged, "md5:1"), second,
               entry_of("http://b.com/", 2, EntryKind::kChanged, "md5:1")});
  EXPECT_EQ(archive.kinds(2, 5),
            (std::vector{DifferenceKind::kUnchanged, DifferenceKind::kUnchanged}));
}

TEST(SnapshotDiff, ATypeThatChangesIsAChangeOfEither) {
  Archive archive;
  IndexEntry first = entry_of("http://a.com/", 1, EntryKind::kChanged, "md5:1");
  first.mime = "text/html";
  IndexEntry second = entry_of("http://a.com/", 5, EntryKind::kChanged, "md5:2");
  second.mime = "image/png";
  archive.add({first, second});
  for (const char* mime : {"text/html", "image/*"}) {
    DiffQuery query{.from = at(1), .to = at(5)};
    ASSERT_TRUE(query.filter.add_mime(mime));
    EXPECT_EQ(archive.diff(query),
              (std::vector<Found>{{DifferenceKind::kChanged, "http://a.com/", 1, 5}}));
  }
}

TEST(SnapshotDiff, VersionsTellWhatTheyAre) {
  Archive archive;
  IndexEntry first =
      entry_of("http://a.com/", 1, EntryKind::kChanged, "sha1:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA");
  first.mime = "text/html";
  IndexEntry second = entry_of("http://a.com/", 5, EntryKind::kUnchanged);
  second.status = 304;
  second.is_not_modified = true;
  archive.add({first, second});
  const DiffQuery query{.from = at(1), .to = at(5)};
  SnapshotDiff diff(archive.index(), query);
  std::size_t count = 0;
  ASSERT_TRUE(diff.walk(range_of_entries(), [&](const PageDifference& each) -> base::Status {
    ++count;
    EXPECT_EQ(each.kind, DifferenceKind::kUnchanged);
    EXPECT_EQ(each.after->date, at(5));
    for (const PageVersion* version : {each.before, each.after}) {
      EXPECT_EQ(version->status, 200);
      EXPECT_EQ(version->mime, "text/html");
      EXPECT_EQ(digest_text(version->digest, version->is_sha1), first.digest);
      EXPECT_EQ(version->place, first.place);
    }
    return {};
  }));
  EXPECT_EQ(count, 1U);
}

TEST(SnapshotDiff, AnErrorOfTheTakerEndsTheWalk) {
  Archive archive;
  archive.add({entry_of("http://a.com/", 1, EntryKind::kChanged, "md5:1"),
               entry_of("http://b.com/", 1, EntryKind::kChanged, "md5:1")});
  const DiffQuery query{.from = at(0), .to = at(5)};
  SnapshotDiff diff(archive.index(), query);
  std::size_t count = 0;
  const auto status = diff.walk(range_of_entries(), [&](const PageDifference&) -> base::Status {
    ++count;
    return base::fail(base::ErrorCode::kStopped, "stopped");
  });
  EXPECT_FALSE(status);
  EXPECT_EQ(count, 1U);
}

}  // namespace
}  // namespace meguri::archive
