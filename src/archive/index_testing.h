// What the tests of the temporal index share: WARC files of made-up visits, and all that an index
// holds.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "archive/gzip_writer.h"
#include "archive/index_entry.h"
#include "archive/temporal_index.h"
#include "env/file_system.h"

namespace meguri::archive::testing {

// A response record as others write it, without a digest.
inline std::string response_of(std::string_view url, int second, std::string_view body = "hello") {
  const std::string block =
      fmt::format("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n{}", body);
  return fmt::format(
      "WARC/1.0\r\nWARC-Type: response\r\nWARC-Record-ID: "
      "<urn:test:{}>\r\nWARC-Target-URI: {}\r\n"
      "WARC-Date: 2020-01-01T{:02}:{:02}:{:02}Z\r\nContent-Type: "
      "application/http; "
      "msgtype=response\r\nContent-Length: {}\r\n\r\n{}\r\n\r\n",
      second, url, second / 3600, second / 60 % 60, second % 60, block.size(), block);
}

inline std::string gzip_of(std::string_view bytes) {
  std::string out;
  GzipWriter().append_member(bytes, {}, {}, &out);
  return out;
}

// A file of `count` visits, each in a member of its own; `seed` tells files apart.
inline std::string gzip_file_of(int count, int seed) {
  std::string bytes;
  for (int i = 0; i < count; ++i) {
    bytes += gzip_of(response_of(fmt::format("http://h{}.example/{}", i % 3, i), seed * 100 + i));
  }
  return bytes;
}

inline void save(env::FileSystem& files, const std::string& path, std::string_view bytes) {
  ASSERT_TRUE(files.make_dirs(env::parent_of(path)));
  ASSERT_TRUE(env::write_file_atomically(files, path, bytes));
}

// All keys with their values.
inline std::map<std::string, std::string> all_of(const TemporalIndex& index) {
  std::map<std::string, std::string> all;
  const auto cursor = index.cursor();
  for (cursor->seek(""); cursor->valid(); cursor->next()) {
    all.emplace(cursor->key(), cursor->value());
  }
  EXPECT_TRUE(cursor->status());
  return all;
}

// All entries, in the order of their keys.
inline std::vector<IndexEntry> entries_in(const TemporalIndex& index) {
  std::vector<IndexEntry> entries;
  for (const auto& [key, value] : all_of(index)) {
    if (!key.starts_with(kEntryKeyPrefix)) continue;
    const auto view = EntryView::parse(key, value);
    EXPECT_TRUE(view);
    if (view) entries.push_back(view->to_entry());
  }
  return entries;
}

}  // namespace meguri::archive::testing
