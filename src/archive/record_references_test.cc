#include "archive/record_references.h"

#include <gtest/gtest.h>

#include <initializer_list>
#include <utility>

namespace meguri::archive {
namespace {

using Fields = std::initializer_list<std::pair<std::string_view, std::string_view>>;

WarcRecord record_with(std::uint64_t offset, Fields fields) {
  WarcRecord record;
  record.offset = offset;
  for (const auto& [name, value] : fields) record.fields.add(name, value);
  return record;
}

TEST(RecordReferences, NoticeAnIdThatCameBefore) {
  RecordReferences references;
  using Id = RecordReferences::Id;
  const auto add = [&](std::uint64_t offset, const char* id, std::uint32_t file) {
    return references.add(record_with(offset, {{"WARC-Record-ID", id}}), file);
  };
  EXPECT_EQ(add(0, "<urn:a>", 0), Id::kNew);
  EXPECT_EQ(add(1, "<urn:b>", 0), Id::kNew);
  EXPECT_EQ(add(2, "<urn:b>", 0), Id::kOfThisFile);
  EXPECT_EQ(add(0, "<urn:a>", 1), Id::kOfAnotherFile);
  EXPECT_EQ(references.add(record_with(2, {}), 0), Id::kNew);
  EXPECT_EQ(references.add(record_with(3, {}), 0), Id::kNew);
}

TEST(RecordReferences, FindWhatARevisitMeans) {
  const WarcRecord response = record_with(0, {{"WARC-Type", "response"},
                                              {"WARC-Record-ID", "<urn:a>"},
                                              {"WARC-Target-URI", "http://a/"},
                                              {"WARC-Date", "2026-01-01T00:00:00.123Z"},
                                              {"WARC-Payload-Digest", "sha1:ABC"}});
  const auto is_dangling = [&](Fields fields) {
    RecordReferences references;
    WarcRecord revisit = record_with(7, fields);
    revisit.fields.add("WARC-Type", "revisit");
    references.add(revisit, 3);  // before what it refers to
    references.add(response, 4);
    const auto found = references.dangling();
    if (found.empty()) return false;
    EXPECT_EQ(found[0].file, 3U);
    EXPECT_EQ(found[0].offset, 7U);
    return true;
  };
  EXPECT_FALSE(is_dangling({{"WARC-Refers-To", "<urn:a>"}}));
  EXPECT_FALSE(is_dangling({{"WARC-Refers-To-Target-URI", "http://a/"},
                            {"WARC-Refers-To-Date", "2026-01-01T00:00:00Z"}}));
  EXPECT_FALSE(is_dangling({{"WARC-Payload-Digest", "sha1:abc"}}));
  EXPECT_TRUE(is_dangling({{"WARC-Refers-To", "<urn:b>"}}));
  EXPECT_TRUE(is_dangling({{"WARC-Refers-To-Target-URI", "http://a/"},
                           {"WARC-Refers-To-Date", "2026-01-01T00:00:01Z"}}));
  EXPECT_TRUE(is_dangling({}));
}

}  // namespace
}  // namespace meguri::archive
