#include "archive/snapshot_walk.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "env/memory_ordered_store.h"
#include "env/random.h"

namespace meguri::archive {
namespace {

using base::Instant;

constexpr std::uint64_t kTimes = 12;  // moments at which something happens

bool one_in(env::Random& random, std::uint64_t n) { return random.below(n) == 0; }

// What a walk handed on, to be compared.
struct Found {
  std::string url;
  Instant date;
  std::uint64_t offset = 0;
  TimeSpan valid;
  std::optional<std::uint64_t> content;  // the offset of its record

  friend bool operator==(const Found&, const Found&) = default;
  friend void PrintTo(const Found& found, std::ostream* out) {
    *out << fmt::format("{} at {} ({}) valid {}..{} content {}", found.url, found.date.ms(),
                        found.offset, found.valid.begin.ms(), found.valid.end.ms(),
                        found.content ? std::to_string(*found.content) : "none");
  }
};

// Random histories of some pages, of which two share a SURT.
std::vector<IndexEntry> random_entries(env::Random& random) {
  const std::vector<std::string> urls = {"http://example.com/a", "https://www.example.com/A",
                                         "http://example.com/b", "http://other.org/"};
  std::vector<IndexEntry> entries;
  std::uint64_t offset = 0;
  for (const std::string& url : urls) {
    // Now and then long enough for the walk to seek instead of stepping.
    const std::uint64_t count = random.between(0, one_in(random, 8) ? 60 : 7);
    for (std::uint64_t i = 0; i < count; ++i) {
      IndexEntry entry;
      entry.url = url;
      entry.date = Instant::from_ms(static_cast<std::int64_t>(random.between(1, kTimes)));
      entry.place = {.file = 1, .offset = ++offset, .index = 0, .length = 10};
      constexpr auto kKinds =
          std::to_array<EntryKind>({EntryKind::kChanged, EntryKind::kChanged, EntryKind::kUnchanged,
                                    EntryKind::kUnchanged, EntryKind::kGone, EntryKind::kError});
      entry.kind = kKinds[random.below(kKinds.size())];
      entry.status = entry.kind == EntryKind::kGone ? 404 : 200;
      const bool has_content =
          entry.kind == EntryKind::kChanged || entry.kind == EntryKind::kUnchanged;
      if (has_content && !one_in(random, 6)) {
        entry.digest = fmt::format("md5:{}", random.between(1, 3));
      }
      if (entry.kind == EntryKind::kChanged) {
        entry.mime = one_in(random, 2) ? "text/html" : "image/png";
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

std::vector<std::vector<IndexEntry>> pages_of(std::vector<IndexEntry> entries) {
  // Newest first, as keys have it.
  std::ranges::sort(entries, {}, [](const IndexEntry& entry) { return key_of(entry); });
  std::vector<std::vector<IndexEntry>> pages;
  for (IndexEntry& entry : entries) {
    if (pages.empty() || pages.back().front().url != entry.url) pages.emplace_back();
    pages.back().push_back(std::move(entry));
  }
  return pages;
}

// The first of the page, from `from` on, whose record an unchanged entry may confirm.
const IndexEntry* model_content(const std::vector<IndexEntry>& page, std::size_t from) {
  const IndexEntry& entry = page[from];
  if (entry.kind == EntryKind::kChanged) return &entry;
  if (entry.kind != EntryKind::kUnchanged) return nullptr;
  for (std::size_t i = from + 1; i < page.size(); ++i) {
    if (page[i].kind != EntryKind::kChanged) continue;
    const bool can_tell = !entry.digest.empty() && !page[i].digest.empty();
    if (!can_tell || entry.digest == page[i].digest) return &page[i];
  }
  return nullptr;
}

bool model_filter(const IndexEntry& entry, const IndexEntry* content, const std::string& mime) {
  if (mime.empty()) return true;
  if (!entry.mime.empty()) return entry.mime == mime;
  return content != nullptr && content->mime == mime;
}

bool is_asked(const SnapshotQuery& query, EntryKind kind) {
  if (kind == EntryKind::kGone) return query.has_gone;
  return kind != EntryKind::kError || query.has_errors;
}

std::optional<std::uint64_t> place_of(const IndexEntry* content) {
  if (content == nullptr) return std::nullopt;
  return content->place.offset;
}

// All visits of a page with the times in which they are valid.
std::vector<Found> model_visits(const SnapshotQuery& query, const std::vector<IndexEntry>& page,
                                const std::string& mime) {
  std::vector<Found> found;
  for (std::size_t i = 0; i < page.size(); ++i) {
    const IndexEntry& entry = page[i];
    Instant end = Instant::max();
    for (std::size_t j = i; j-- > 0;) {
      if (entry.kind != EntryKind::kError && page[j].kind == EntryKind::kError) continue;
      end = page[j].date;
      break;
    }
    const TimeSpan valid{entry.date, end};
    const IndexEntry* content = model_content(page, i);
    if (!is_asked(query, entry.kind) || !query.relations.holds(valid, query.period)) continue;
    if (!model_filter(entry, content, mime)) continue;
    found.push_back({entry.url, entry.date, entry.place.offset, valid, place_of(content)});
  }
  return found;
}

bool model_same(const IndexEntry& newer, const IndexEntry& older) {
  const bool is_gone = newer.kind == EntryKind::kGone;
  if (is_gone || older.kind == EntryKind::kGone) return is_gone && older.kind == newer.kind;
  const bool can_tell = !newer.digest.empty() && !older.digest.empty();
  if (!can_tell) return newer.kind == EntryKind::kUnchanged;
  return newer.digest == older.digest;
}

std::vector<Found> model_versions(const SnapshotQuery& query, const std::vector<IndexEntry>& page,
                                  const std::string& mime) {
  std::vector<std::size_t> steady;  // all but errors
  for (std::size_t i = 0; i < page.size(); ++i) {
    if (page[i].kind != EntryKind::kError) steady.push_back(i);
  }
  std::vector<Found> found;
  Instant end = Instant::max();
  for (std::size_t begin = 0; begin < steady.size();) {
    std::size_t last = begin;
    while (last + 1 < steady.size() && model_same(page[steady[last]], page[steady[last + 1]])) {
      ++last;
    }
    const IndexEntry& first = page[steady[last]];
    const TimeSpan valid{first.date, end};
    const IndexEntry* content = nullptr;
    for (std::size_t i = begin; i <= last; ++i) {
      if (page[steady[i]].kind == EntryKind::kChanged) content = &page[steady[i]];
    }
    if (content == nullptr) content = model_content(page, steady[last]);
    if (is_asked(query, first.kind) && query.relations.holds(valid, query.period) &&
        model_filter(first, content, mime)) {
      found.push_back({first.url, first.date, first.place.offset, valid, place_of(content)});
    }
    end = first.date;
    begin = last + 1;
  }
  return found;
}

std::vector<Found> model(const SnapshotQuery& query,
                         const std::vector<std::vector<IndexEntry>>& pages,
                         const std::string& mime) {
  std::vector<Found> all;
  for (const std::vector<IndexEntry>& page : pages) {
    std::vector<Found> found = query.view == SnapshotView::kVisits
                                   ? model_visits(query, page, mime)
                                   : model_versions(query, page, mime);
    if (!query.has_all && found.size() > 1) found.resize(1);
    all.insert(all.end(), found.begin(), found.end());
  }
  return all;
}

std::vector<Found> walk(const TemporalIndex& index, const SnapshotQuery& query,
                        const std::vector<KeyRange>& ranges) {
  std::vector<Found> found;
  SnapshotWalk walk(index, query);
  for (const KeyRange& range : ranges) {
    const auto done = walk.walk(range, [&](const SnapshotItem& item) -> base::Status {
      Found each{item.entry.url(), item.entry.date(), item.entry.place().offset, item.valid, {}};
      if (item.content != nullptr) each.content = item.content->place().offset;
      found.push_back(std::move(each));
      return {};
    });
    EXPECT_TRUE(done);
  }
  EXPECT_EQ(walk.counts().items, found.size());
  return found;
}

SnapshotQuery random_query(env::Random& random, std::string& mime) {
  SnapshotQuery query;
  const std::uint64_t begin = random.between(0, kTimes);
  const std::uint64_t end = random.between(begin + 1, kTimes + 2);
  query.period = {Instant::from_ms(static_cast<std::int64_t>(begin)),
                  Instant::from_ms(static_cast<std::int64_t>(end))};
  if (one_in(random, 8)) query.period.end = Instant::max();
  query.relations = {};
  if (one_in(random, 2)) {
    query.relations.add(static_cast<Relation>(random.below(kRelations)));
  } else {
    for (std::size_t i = 0; i < kRelations; ++i) {
      if (one_in(random, 3)) query.relations.add(static_cast<Relation>(i));
    }
  }
  query.view = one_in(random, 2) ? SnapshotView::kVisits : SnapshotView::kVersions;
  query.has_all = one_in(random, 2);
  query.has_gone = one_in(random, 2);
  query.has_errors = one_in(random, 2);
  mime = one_in(random, 3) ? "text/html" : "";
  if (!mime.empty()) {
    EXPECT_TRUE(query.filter.add_mime(mime));
  }
  return query;
}

// All 13 relations and their unions, both views, over random histories: unchanged chains, gone,
// errors, equal times, single entries, open ends, URLs that share a SURT.
TEST(SnapshotWalk, FindsWhatABruteForceModelFinds) {
  for (std::uint64_t seed = 1; seed <= 400; ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    env::Random random(seed);
    env::MemoryStoreDisk disk;
    const auto index = TemporalIndex::open(disk.open().value()).value();
    const std::vector<IndexEntry> entries = random_entries(random);
    IndexBatch batch;
    for (const IndexEntry& entry : entries) batch.add(entry);
    ASSERT_TRUE(index->write(batch));
    const auto pages = pages_of(entries);
    for (int i = 0; i < 50; ++i) {
      std::string mime;
      const SnapshotQuery query = random_query(random, mime);
      const std::vector<KeyRange> ranges =
          split(*index, query.scope.ranges(), random.between(1, 4000)).value();
      ASSERT_EQ(walk(*index, query, ranges), model(query, pages, mime)) << fmt::format(
          "query {}: period {}..{}, {}, {}, all {}, gone {}, errors {}, mime {}", i,
          query.period.begin.ms(), query.period.end.ms(), query.relations.to_string(),
          query.view == SnapshotView::kVisits ? "visits" : "versions", query.has_all,
          query.has_gone, query.has_errors, mime);
    }
  }
}

}  // namespace
}  // namespace meguri::archive
