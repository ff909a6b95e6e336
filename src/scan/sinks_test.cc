#include "scan/sinks.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "env/memory_file_system.h"

namespace meguri::scan {
namespace {

SkippedDocument skipped(std::uint64_t number) {
  SkippedDocument document;
  document.pointer.facts.number = number;
  return document;
}

// What was handed on, in its order: "3", or "!3" if it was skipped.
class Kept final : public DispatchSink {
 public:
  base::Status result(std::uint64_t number, const env::SpooledBytes& result) override {
    EXPECT_EQ(result, std::to_string(number));
    all.push_back(std::to_string(number));
    return {};
  }
  base::Status skipped(const SkippedDocument& document) override {
    all.push_back("!" + std::to_string(document.pointer.facts.number));
    return {};
  }
  std::vector<std::string> all;
};

void put(DispatchSink& sink, std::uint64_t number) {
  ASSERT_TRUE(sink.result(number, std::to_string(number)));
}

TEST(OrderedSink, HandsOnInOrder) {
  Kept kept;
  const DoneSet done;
  OrderedSink ordered(kept, done);
  put(ordered, 2);
  put(ordered, 1);
  EXPECT_TRUE(kept.all.empty());
  EXPECT_EQ(ordered.numbers_end(), OrderedSink::kAhead);
  ASSERT_TRUE(ordered.skipped(skipped(0)));
  EXPECT_EQ(kept.all, (std::vector<std::string>{"!0", "1", "2"}));
  EXPECT_EQ(ordered.numbers_end(), 3 + OrderedSink::kAhead);
}

TEST(OrderedSink, PassesOverWhatIsDone) {
  Kept kept;
  DoneSet done;
  for (const std::uint64_t number : {0U, 1U, 3U}) done.add(number);
  OrderedSink ordered(kept, done);
  put(ordered, 4);
  EXPECT_TRUE(kept.all.empty());
  put(ordered, 2);
  EXPECT_EQ(kept.all, (std::vector<std::string>{"2", "4"}));
}

TEST(FolderSink, CommitsNowAndThen) {
  env::MemoryFileSystem fs;
  ASSERT_TRUE(fs.make_dirs("/out"));
  {
    const auto folder = RunFolder::create(fs, "/out/x.scan", "{}").value();
    ASSERT_TRUE(folder->begin(3));
    FolderSink sink(*folder, [](const SkippedDocument&) { return std::string("{}"); });
    ASSERT_TRUE(sink.look(base::Ticks::from_ms(0)));
    put(sink, 0);
    ASSERT_TRUE(sink.skipped(skipped(1)));
    ASSERT_TRUE(sink.look(base::Ticks::from_ms(500)));
    ASSERT_TRUE(sink.look(base::Ticks::from_ms(1000)));  // commits
    put(sink, 2);
    ASSERT_TRUE(sink.look(base::Ticks::from_ms(1500)));
  }
  const auto folder = RunFolder::open(fs, "/out/x.scan").value();
  EXPECT_EQ(folder->done().size(), 2U);
  EXPECT_EQ(folder->counts().results, 1U);
  EXPECT_EQ(folder->counts().skipped, 1U);
}

}  // namespace
}  // namespace meguri::scan
