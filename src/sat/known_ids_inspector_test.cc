#include "sat/known_ids_inspector.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "env/memory_file_system.h"
#include "env/random.h"
#include "sat/inspector_testing.h"
#include "sat/known_ids_testing.h"

namespace meguri::sat {
namespace {

using base::ErrorCode;
using base::Id;

class KnownIdsInspectorTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(scratch_files_.make_dirs("/scratch"));
    const auto known = open_at(files_, "");
    env::Random random(1);
    for (int i = 0; i < 600; ++i) {
      const Id id = id_of(random.below(400));
      if (random.below(5) == 0) {
        ASSERT_TRUE(known->remove(id));
        model_.erase(id);
      } else {
        const auto seq = static_cast<Seq>(i);
        ASSERT_TRUE(known->add(id, seq));
        model_[id] = seq;
      }
      if (i % 7 != 0) continue;
      position_ = known->commit().value();
      ASSERT_TRUE(known->on_durable());
    }
    for (Seq i = 0; i < 8; ++i) {
      ASSERT_TRUE(known->add(id_of(1000 + i), i));
      model_[id_of(1000 + i)] = i;
      position_ = known->commit().value();
    }
    ASSERT_TRUE(known->on_durable());
    // Runs that were being written are nobody's.
    ASSERT_TRUE(open_at(files_, position_));
  }

  Scratch scratch() { return {scratch_files_, "/scratch"}; }
  CheckReport check(std::string_view position = "") {
    auto report = KnownIdsInspector::check(files_, kDir, position, scratch());
    EXPECT_TRUE(report) << report.error().message();
    return report ? *report : CheckReport{};
  }

  env::MemoryFileSystem files_;
  env::MemoryFileSystem scratch_files_;
  std::map<Id, Seq> model_;
  std::string position_;
};

TEST_F(KnownIdsInspectorTest, TellsEveryIdOnceAndChangesNothing) {
  const auto before = bytes_in(files_, kDir);
  for (const std::string& position : {std::string(), position_}) {
    const auto inspector = KnownIdsInspector::open(files_, kDir, position, scratch());
    ASSERT_TRUE(inspector) << inspector.error().message();
    EXPECT_EQ((*inspector)->position().to_string(), position_);
    EXPECT_TRUE((*inspector)->notes().empty());
    auto expected = model_.begin();
    ASSERT_TRUE((*inspector)->for_each_id([&](const KnownId& known) {
      EXPECT_TRUE(expected != model_.end() && known.id == expected->first &&
                  known.seq == expected->second);
      if (expected != model_.end()) ++expected;
      return !HasFailure();
    }));
    EXPECT_EQ(expected, model_.end());
    const KnownIdsFigures figures = (*inspector)->figures();
    EXPECT_GE(figures.entries, model_.size());
    EXPECT_GE(figures.runs.size(), 2U);
    EXPECT_GE(figures.log_entries, 3U);
    EXPECT_GT(figures.filter_bytes, 0U);
    const CheckReport report = check(position);
    EXPECT_TRUE(report.faults.empty() && report.notes.empty()) << described(report);
    EXPECT_EQ(report.records, model_.size());
  }
  EXPECT_EQ(bytes_in(files_, kDir), before);
}

TEST_F(KnownIdsInspectorTest, NamesEveryBlockThatIsDamaged) {
  const std::vector<BlockPlace> places = blocks_in(files_, kDir);
  EXPECT_GT(places.size(), 20U);
  for (const BlockPlace& place : places) {
    for (const std::uint64_t byte : {std::uint64_t{9}, place.length - 1}) {
      SCOPED_TRACE(fmt::format("{} at {}, byte {}", place.path, place.offset, byte));
      const std::uint64_t bit = (place.offset + byte) * 8 + byte % 8;
      ASSERT_TRUE(files_.flip_bit(place.path, bit));
      for (const std::string& position : {std::string(), position_}) {
        const CheckReport report = check(position);
        ASSERT_EQ(report.faults.size(), 1U) << described(report);
        const Fault& fault = report.faults[0];
        EXPECT_EQ(fault.file, place.path);
        EXPECT_EQ(fault.offset, place.offset);
        EXPECT_EQ(fault.length, place.length);
      }
      ASSERT_TRUE(files_.flip_bit(place.path, bit));
    }
  }
  EXPECT_TRUE(check().faults.empty());
}

TEST_F(KnownIdsInspectorTest, MissesRunsAndLogs) {
  const auto names = files_.list(kDir).value();
  for (const std::string& name : names) {
    SCOPED_TRACE(name);
    if (name.starts_with("manifest")) continue;
    const std::string path = std::string(kDir) + "/" + name;
    const std::string bytes = env::read_file(files_, path).value();
    ASSERT_TRUE(files_.remove(path));
    const CheckReport report = check();
    ASSERT_EQ(report.faults.size(), 1U) << described(report);
    EXPECT_EQ(report.faults[0].file, path);
    EXPECT_FALSE(KnownIdsInspector::open(files_, kDir, "", scratch()));
    ASSERT_TRUE(env::write_file_atomically(files_, path, bytes));
  }
}

TEST_F(KnownIdsInspectorTest, KnowsWhatIsNone) {
  EXPECT_EQ(kind_of_folder(files_, kDir).value(), FolderKind::kKnownIds);
  EXPECT_EQ(kind_of_folder(files_, "/none").error().code(), ErrorCode::kNotFound);
  ASSERT_TRUE(files_.make_dirs("/empty"));
  EXPECT_EQ(KnownIdsInspector::open(files_, "/empty", "", scratch()).error().code(),
            ErrorCode::kNotFound);
  EXPECT_EQ(KnownIdsInspector::check(files_, kDir, "7", scratch()).error().code(),
            ErrorCode::kCorrupt);
}

}  // namespace
}  // namespace meguri::sat
