// For tests: archives of a few files in memory, and what a snapshot of all visits would hand on.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "archive/file_indexer.h"
#include "archive/gzip_writer.h"
#include "archive/index_entry.h"
#include "archive/member_stream.h"
#include "archive/snapshot_item.h"
#include "archive/snapshot_warc.h"
#include "archive/temporal_index.h"
#include "archive/warc_reader.h"
#include "env/memory_file_system.h"
#include "env/memory_ordered_store.h"

namespace meguri::archive {

inline std::string gzip_member(std::string_view bytes) {
  std::string out;
  GzipWriter().append_member(bytes, {}, {}, &out);
  return out;
}

// A record with further fields, each with its line end.
inline std::string warc_record(std::string_view type, std::string_view url, std::string_view date,
                               std::string_view fields, std::string_view block) {
  return fmt::format(
      "WARC/1.0\r\nWARC-Type: {}\r\nWARC-Record-ID: <urn:uuid:00000000-0000-4000-8000-{:012x}>"
      "\r\nWARC-Date: {}\r\nWARC-Target-URI: {}\r\n{}Content-Type: application/http; "
      "msgtype=response\r\nContent-Length: {}\r\n\r\n{}\r\n\r\n",
      type, base::hash64(fmt::format("{}{}", url, date)) >> 16U, date, url, fields, block.size(),
      block);
}

inline std::string http_answer(std::string_view body, std::string_view fields = {}) {
  return fmt::format("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n{}\r\n{}", fields, body);
}

// What a written record is, for comparison.
struct WrittenCopy {
  IndexEntry entry;
  bool is_page = false;
  std::string title;
  std::string text;
};

struct WarcOutcome {
  std::string bytes;
  std::vector<WrittenCopy> written;
  std::vector<LostRecord> lost;
  SnapshotWarcCounts counts;

  // The bytes of the `number`th record in the file, after the warcinfo.
  std::string_view member(std::size_t number) const {
    const RecordPlace& place = written.at(number).entry.place;
    return std::string_view(bytes).substr(place.offset, place.length);
  }
  // Its text.
  std::string plain(std::size_t number) const {
    const ViewFile file(member(number));
    MemberStream stream(file, 0);
    std::string text;
    for (;;) {
      const auto event = stream.fill().value();
      text += stream.bytes();
      stream.consume(stream.bytes().size());
      if (event != MemberStream::Event::kBytes) return text;
    }
  }
};

class SnapshotWarcFixture : public ::testing::Test {
 protected:
  SnapshotWarcFixture() {
    EXPECT_TRUE(fs_.make_dirs("/a/warc"));
    EXPECT_TRUE(fs_.make_dirs("/scratch"));
    index_ = TemporalIndex::open(disk_.open().value()).value();
    options_.archive = "/a";
    options_.scratch = "/scratch";
    options_.name = "snapshot.warc.gz";
    options_.info.software = "meguri/0";
    options_.info.description = "everything";
    options_.date = base::Instant::from_ms(1'767'225'600'123);
  }

  void write_file(const std::string& path, std::string_view bytes) {
    const auto file = fs_.create(path).value();
    ASSERT_TRUE(file->append(bytes));
  }

  // Writes a file to the archive and indexes it.
  void add_file(const std::string& name, std::string_view bytes) {
    write_file("/a/warc/" + name, bytes);
    IndexFile file{.number = index_->next_number(), .path = "warc/" + name};
    const auto apply = [this](IndexBatch& batch) { return index_->write(batch); };
    ASSERT_TRUE(FileIndexer(index_->removals()).index(ViewFile(bytes), bytes.size(), file, apply));
  }

  // Everything that is in the index, by SURT and newest first.
  std::vector<IndexEntry> entries() const {
    std::vector<IndexEntry> all;
    const auto cursor = index_->cursor();
    for (cursor->seek(std::string(1, kEntryKeyPrefix)); cursor->valid(); cursor->next()) {
      const auto view = EntryView::parse(cursor->key(), cursor->value());
      if (view) all.push_back(view->to_entry());
    }
    return all;
  }

  // The entry whose record has the content of `entry`; null: there is none.
  static const IndexEntry* content_of(const std::vector<IndexEntry>& all, const IndexEntry& entry) {
    if (entry.kind == EntryKind::kGone || entry.kind == EntryKind::kError) return nullptr;
    if (entry.original) {
      const auto found = std::ranges::find_if(all, [&entry](const IndexEntry& other) {
        return other.url == entry.original->url && other.date == entry.original->date;
      });
      return found == all.end() ? nullptr : &*found;
    }
    if (entry.kind == EntryKind::kChanged) return &entry;
    const auto before = std::ranges::find_if(all, [&entry](const IndexEntry& other) {
      return other.url == entry.url && other.date < entry.date && other.kind == EntryKind::kChanged;
    });
    return before == all.end() ? nullptr : content_of(all, *before);
  }

  // Adds all visits that are `wanted`.
  void select(SnapshotWarc& warc, const std::function<bool(const IndexEntry&)>& wanted) const {
    SnapshotWarc::Intake intake(warc);
    const std::vector<IndexEntry> all = entries();
    for (const IndexEntry& entry : all) {
      if (!wanted(entry)) continue;
      const EncodedEntry own = encode(entry);
      const EntryView view = EntryView::parse(own.key, own.value).value();
      const IndexEntry* const content = content_of(all, entry);
      const EncodedEntry other = content == nullptr ? EncodedEntry() : encode(*content);
      const auto other_view = EntryView::parse(other.key, other.value);
      ASSERT_TRUE(intake.add({.entry = view,
                              .valid = {.begin = entry.date},
                              .content = other_view ? &*other_view : nullptr}));
    }
    ASSERT_TRUE(intake.flush());
  }

  WarcOutcome write(const std::function<bool(const IndexEntry&)>& wanted) {
    SnapshotWarc warc(fs_, index_->files(), options_);
    select(warc, wanted);
    WarcOutcome outcome;
    const SnapshotWarcEvents events{
        .written = [&outcome](const WrittenRecord& record) -> base::Status {
          outcome.written.push_back({.entry = record.entry,
                                     .is_page = record.is_page,
                                     .title = std::string(record.title),
                                     .text = std::string(record.text)});
          return {};
        },
        .lost = [&outcome](const LostRecord& record) { outcome.lost.push_back(record); }};
    const auto sink = [&outcome](std::string_view bytes) -> base::Status {
      outcome.bytes += bytes;
      return {};
    };
    outcome.counts = warc.write(sink, events).value();
    return outcome;
  }
  WarcOutcome write_all() {
    return write([](const IndexEntry&) { return true; });
  }

  env::MemoryFileSystem fs_;
  env::MemoryStoreDisk disk_;
  std::unique_ptr<TemporalIndex> index_;
  SnapshotWarcOptions options_;
};

}  // namespace meguri::archive
