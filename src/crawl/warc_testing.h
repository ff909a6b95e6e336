// Reading back what was archived, for the tests of the modules that write it.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "archive/warc_reader.h"
#include "env/memory_file_system.h"
#include "env/spool_testing.h"

namespace meguri::crawl::testing {

struct StoredRecord {
  std::string type;
  std::string url;
  std::string id;
  std::string purpose;
  std::string refers_to;
  std::string block;
};

// All records of a file, each of which must be whole.
inline std::vector<StoredRecord> read_records(env::FileSystem& files, const std::string& path) {
  std::vector<StoredRecord> records;
  const auto file = files.open_read(path);
  EXPECT_TRUE(file) << path;
  if (!file) return records;
  archive::WarcReader reader(**file);
  for (;;) {
    const auto has_record = reader.next();
    EXPECT_TRUE(has_record);
    if (!has_record || !*has_record) break;
    const archive::WarcRecord& head = reader.record();
    StoredRecord record{.type = std::string(head.type()),
                        .url = std::string(head.target_uri()),
                        .id = std::string(head.get("WARC-Record-ID")),
                        .purpose = std::string(head.get("X-Meguri-Purpose")),
                        .refers_to = std::string(head.get("WARC-Refers-To")),
                        .block = {}};
    if (auto block = read_rest(reader, 1U << 20U)) record.block = *std::move(block);
    EXPECT_TRUE(reader.finish());
    EXPECT_TRUE(reader.record().faults.empty()) << reader.record().faults.to_string();
    records.push_back(std::move(record));
  }
  EXPECT_TRUE(reader.record().faults.empty()) << path << ": what is behind the last record";
  return records;
}

// The same of bytes.
inline std::vector<StoredRecord> read_records(const env::SpooledBytes& bytes) {
  env::MemoryFileSystem files;
  const auto file = files.create("x.warc.gz");
  EXPECT_TRUE(file && (*file)->append(env::text_of(bytes)));
  return read_records(files, "x.warc.gz");
}

}  // namespace meguri::crawl::testing
