#include "scan/document_list.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include "archive/index_entry.h"
#include "base/testing.h"
#include "env/faulty_file_system.h"
#include "env/memory_file_system.h"
#include "env/random.h"

namespace meguri::scan {
namespace {

using archive::EntryKind;
using archive::IndexEntry;
using base::ErrorCode;
using base::Instant;

constexpr std::int64_t kStart = 1'767'225'600'000;  // 2026-01-01

// An item of a snapshot, with what it borrows.
struct Item {
  IndexEntry entry;
  std::optional<IndexEntry> content;
  archive::TimeSpan valid;

  base::Status add_to(DocumentListMaker::Intake& intake) const {
    const archive::EncodedEntry own = archive::encode(entry);
    const auto view = archive::EntryView::parse(own.key, own.value).value();
    if (!content) return intake.add({.entry = view, .valid = valid});
    const archive::EncodedEntry other = archive::encode(*content);
    const auto other_view = archive::EntryView::parse(other.key, other.value).value();
    return intake.add({.entry = view, .valid = valid, .content = &other_view});
  }

  // What a list should say of it.
  DocumentPointer pointer() const {
    const IndexEntry& record = content ? *content : entry;
    const bool is_own = entry.kind == EntryKind::kGone || entry.kind == EntryKind::kError;
    DocumentPointer pointer{.place = record.place, .record_ms = record.date.ms(), .facts = {}};
    pointer.is_missing = !content && !is_own;
    const bool has_url = pointer.is_missing || record.url != entry.url;
    pointer.facts.url = has_url ? entry.url : "";
    pointer.facts.time = entry.date;
    pointer.facts.valid = valid;
    pointer.facts.language =
        (entry.language.empty() ? record.language : entry.language).substr(0, 8);
    return pointer;
  }
};

IndexEntry random_entry(env::Random& random) {
  IndexEntry entry;
  const std::string tail(random.chance(0.05) ? 3700 : random.below(30), 'x');
  entry.url = fmt::format("http://h{}.example/{}{}", random.below(5), random.below(50), tail);
  entry.date = Instant::from_ms(kStart + static_cast<std::int64_t>(random.below(1U << 30U)));
  entry.kind = static_cast<EntryKind>(random.below(4));
  entry.status = 200;
  const std::vector<std::string> languages = {"", "ja", "en", "zh-Hant", "x-klingon-of-old"};
  entry.language = languages[random.below(languages.size())];
  entry.place = {.file = static_cast<std::uint32_t>(1 + random.below(3)),
                 .offset = random.below(200) * 1'000'000'007,
                 .index = static_cast<std::uint32_t>(random.chance(0.1) ? random.below(9) : 0),
                 .length = random.chance(0.1) ? 0 : random.below(1U << 20U)};
  return entry;
}

Item random_item(env::Random& random) {
  Item item{.entry = random_entry(random), .content = std::nullopt, .valid = {}};
  const bool has_content =
      item.entry.kind == EntryKind::kChanged || item.entry.kind == EntryKind::kUnchanged;
  if (has_content && random.chance(0.9)) {
    item.content = random.chance(0.5) ? item.entry : random_entry(random);
    item.content->kind = EntryKind::kChanged;
    if (random.chance(0.5)) item.content->url = item.entry.url;
  }
  item.valid.begin = random.chance(0.8) ? item.entry.date : Instant::from_ms(-5);
  if (random.chance(0.5)) item.valid.end = item.entry.date + base::Duration::hours(1);
  return item;
}

std::vector<Item> random_items(env::Random& random, std::size_t count) {
  std::vector<Item> items;
  for (std::size_t i = 0; i < count; ++i) {
    items.push_back(!items.empty() && random.chance(0.1) ? items[random.below(items.size())]
                                                         : random_item(random));
  }
  return items;
}

auto order_of(const DocumentPointer& pointer) {
  const DocumentFacts& facts = pointer.facts;
  return std::tuple(pointer.place, facts.time, facts.url, pointer.record_ms, facts.valid.begin,
                    facts.valid.end, facts.language, pointer.is_missing);
}

class DocumentListTest : public testing::Test {
 protected:
  DocumentListTest() { EXPECT_TRUE(fs_.make_dirs("/t")); }

  static void take(DocumentListMaker& maker, std::span<const Item> items) {
    DocumentListMaker::Intake intake(maker);
    for (const Item& item : items) ASSERT_TRUE(item.add_to(intake));
    ASSERT_TRUE(intake.flush());
  }

  void write(const std::string& path, std::span<const Item> items,
             std::size_t sort_bytes_max = 1U << 20U) {
    DocumentListMaker maker(fs_, "/t", sort_bytes_max);
    take(maker, items);
    EXPECT_EQ(maker.write(path).value(), items.size());
  }

  base::Result<std::vector<DocumentPointer>> read(const std::string& path) {
    ASSIGN_OR_RETURN(const auto reader, DocumentListReader::open(fs_, path));
    std::vector<DocumentPointer> pointers;
    for (;;) {
      ASSIGN_OR_RETURN(auto pointer, reader->next());
      if (!pointer) break;
      pointers.push_back(*std::move(pointer));
    }
    EXPECT_EQ(reader->size(), pointers.size());
    return pointers;
  }

  // The list holds exactly these, sorted and numbered.
  void check(const std::string& path, std::span<const Item> items) {
    auto found = read(path).value();
    std::vector<DocumentPointer> expected;
    for (const Item& item : items) expected.push_back(item.pointer());
    for (std::size_t i = 0; i < found.size(); ++i) {
      EXPECT_EQ(std::exchange(found[i].facts.number, 0), i);
    }
    EXPECT_TRUE(std::ranges::is_sorted(found, {}, [](const DocumentPointer& pointer) {
      return std::tuple(pointer.place, pointer.facts.time);
    }));
    std::ranges::sort(found, {}, order_of);
    std::ranges::sort(expected, {}, order_of);
    EXPECT_EQ(found, expected);
  }

  env::MemoryFileSystem fs_;
};

using DocumentListThreadsTest = DocumentListTest;

// The worked bytes of docs/formats/scan-run.md.
TEST_F(DocumentListTest, WritesTheDocumentedBytes) {
  Item own;
  own.entry.url = "http://h/a";
  own.entry.date = Instant::from_ms(1000);
  own.entry.language = "ja";
  own.entry.place = {.file = 1, .offset = 300, .index = 0, .length = 200};
  own.content = own.entry;
  own.valid.begin = own.entry.date;
  Item other = own;
  other.entry.url = "http://h/b";
  other.entry.date = Instant::from_ms(1005);
  other.valid = {.begin = other.entry.date, .end = Instant::from_ms(1105)};
  write("/t/list", std::vector{own, other});
  EXPECT_EQ(base::hex_of(env::read_file(fs_, "/t/list").value()),
            "4d47444c"
            "01000000"
            "0100000000000000"
            "0200000000000000"
            "ebce86ebd2f92ee1"
            "e6dc7d3b8e9b0c97"
            "01"
            "4d474442"
            "02000000"
            "2200000000000000"
            "0000000000000000"
            "a7e85f4beda7e63c"
            "d146e896fd66710f"
            "0001ac02c801d00f026a"
            "61160000c8010a09c801026a610a687474703a2f2f682f62");
}

TEST_F(DocumentListTest, NothingSelectedIsAnEmptyList) {
  write("/t/list", {});
  EXPECT_TRUE(read("/t/list").value().empty());
}

TEST_F(DocumentListTest, HoldsWhatWasAddedWhateverMemoryTheSortHas) {
  env::Random random(5);
  for (int round = 0; round < 40; ++round) {
    SCOPED_TRACE(round);
    const std::vector<Item> items = random_items(random, random.below(200));
    const std::string path = fmt::format("/t/list-{}", round);
    write(path, items, 1 + random.below(20'000));
    check(path, items);
  }
}

TEST_F(DocumentListTest, ManyBlocksAndLongUrls) {
  env::Random random(6);
  std::vector<Item> items = random_items(random, 3000);
  for (Item& item : items) item.entry.url += std::string(3700, 'y');
  write("/t/list", items, 1U << 16U);
  EXPECT_GT(fs_.size("/t/list").value(), 2'000'000);
  check("/t/list", items);
}

TEST_F(DocumentListThreadsTest, WhoeverAddsTheListIsTheSame) {
  env::Random random(7);
  const std::vector<Item> items = random_items(random, 4000);
  write("/t/one", items);
  check("/t/one", items);
  DocumentListMaker maker(fs_, "/t", 5000);
  {
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < 4; ++i) {
      threads.emplace_back([&, i] { take(maker, std::span(items).subspan(i * 1000, 1000)); });
    }
  }
  ASSERT_TRUE(maker.write("/t/many"));
  EXPECT_EQ(env::read_file(fs_, "/t/one").value(), env::read_file(fs_, "/t/many").value());
}

TEST_F(DocumentListTest, GoneAndFailedVisitsAreDocumentsOfTheirOwnRecords) {
  env::Random random(8);
  std::vector<Item> items = {random_item(random), random_item(random)};
  items[0].entry.kind = EntryKind::kGone;
  items[1].entry.kind = EntryKind::kError;
  for (Item& item : items) item.content.reset();
  write("/t/list", items);
  check("/t/list", items);
  const std::vector<DocumentPointer> found = read("/t/list").value();
  for (const DocumentPointer& pointer : found) {
    EXPECT_FALSE(pointer.is_missing);
    EXPECT_EQ(pointer.facts.url, "");
  }
}

TEST_F(DocumentListTest, ContentThatTheArchiveLacksIsMissingAndItsUrlKnown) {
  env::Random random(9);
  std::vector<Item> items = {random_item(random), random_item(random)};
  items[0].entry.kind = EntryKind::kChanged;
  items[1].entry.kind = EntryKind::kUnchanged;
  for (Item& item : items) item.content.reset();
  write("/t/list", items);
  check("/t/list", items);
  const std::vector<DocumentPointer> found = read("/t/list").value();
  for (const DocumentPointer& pointer : found) {
    EXPECT_TRUE(pointer.is_missing);
    EXPECT_NE(pointer.facts.url, "");
  }
}

TEST_F(DocumentListTest, DamageOfAnyByteIsFound) {
  env::Random random(10);
  const std::vector<Item> items = random_items(random, 40);
  write("/t/list", items);
  const std::uint64_t size = fs_.size("/t/list").value();
  for (std::uint64_t byte = 0; byte < size; ++byte) {
    const std::uint64_t bit = byte * 8 + random.below(8);
    ASSERT_TRUE(fs_.flip_bit("/t/list", bit));
    const auto found = read("/t/list");
    ASSERT_FALSE(found) << byte;
    EXPECT_EQ(found.error().code(), ErrorCode::kCorrupt);
    ASSERT_TRUE(fs_.flip_bit("/t/list", bit));
  }
  check("/t/list", items);
}

TEST_F(DocumentListTest, AListThatIsCutOrLongerIsDamaged) {
  env::Random random(11);
  write("/t/list", random_items(random, 20));
  const std::string bytes = env::read_file(fs_, "/t/list").value();
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    ASSERT_TRUE(env::write_file_atomically(fs_, "/t/cut", bytes.substr(0, size)));
    const auto found = read("/t/cut");
    ASSERT_FALSE(found) << size;
    EXPECT_EQ(found.error().code(), ErrorCode::kCorrupt);
  }
  ASSERT_TRUE(env::write_file_atomically(fs_, "/t/cut", bytes + '\0'));
  EXPECT_EQ(read("/t/cut").error().code(), ErrorCode::kCorrupt);
}

TEST_F(DocumentListTest, WhatIsNoListIsRefused) {
  EXPECT_EQ(read("/t/none").error().code(), ErrorCode::kNotFound);
  ASSERT_TRUE(env::write_file_atomically(fs_, "/t/text", std::string(500, 'a')));
  EXPECT_EQ(read("/t/text").error().code(), ErrorCode::kCorrupt);
  write("/t/list", {});
  DocumentListMaker maker(fs_, "/t");
  EXPECT_EQ(maker.write("/t/list").error().code(), ErrorCode::kExists);
}

TEST(DocumentListFaults, AFullDiskIsAnErrorAndNothingElse) {
  env::Random random(12);
  const std::vector<Item> items = random_items(random, 300);
  const auto make = [&](env::FaultyFileSystem& fs) -> base::Status {
    RETURN_IF_ERROR(fs.make_dirs("/t"));
    DocumentListMaker maker(fs, "/t", 4000);
    DocumentListMaker::Intake intake(maker);
    for (const Item& item : items) RETURN_IF_ERROR(item.add_to(intake));
    RETURN_IF_ERROR(intake.flush());
    RETURN_IF_ERROR(maker.write("/t/list"));
    return {};
  };
  env::FaultyFileSystem whole;
  ASSERT_TRUE(make(whole));
  for (std::uint64_t change = 0; change < whole.changes(); ++change) {
    env::FaultyFileSystem fs;
    fs.fail_changes_from(change, ErrorCode::kNoSpace);
    const auto status = make(fs);
    ASSERT_FALSE(status) << change;
    EXPECT_EQ(status.error().code(), ErrorCode::kNoSpace);
  }
}

}  // namespace
}  // namespace meguri::scan
