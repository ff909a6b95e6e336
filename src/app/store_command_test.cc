#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "app/command_line.h"
#include "app/program.h"
#include "base/base64.h"
#include "env/posix_file_system.h"
#include "env/testing.h"
#include "sat/known_ids.h"
#include "sat/store.h"

namespace meguri::app {
namespace {

using base::Duration;
using nlohmann::json;

constexpr base::Instant kStart = base::Instant::from_ms(1'767'225'600'000);  // 2026-01-01

struct Answer {
  int code = 0;
  std::string out;
  std::string error;
};

Answer meguri_store(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "store");
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  Answer run;
  run.code = run_program(std::move(arguments));
  run.out = testing::internal::GetCapturedStdout();
  run.error = testing::internal::GetCapturedStderr();
  return run;
}

std::vector<json> lines_of(const std::string& text) {
  std::vector<json> lines;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text.find('\n', at);
    lines.push_back(json::parse(text.substr(at, end - at)));
    at = end + 1;
  }
  return lines;
}

// Twenty records, one of them out, and as many known ids.
class StoreCommandTest : public testing::Test {
 protected:
  void SetUp() override {
    make_store();
    make_known_ids();
    for (const std::string& folder : {store_dir_, store_dir_ + "/segments", ids_dir_}) {
      const std::vector<std::string> names = files_.list(folder).value();
      for (const std::string& name : names) {
        const std::string path = folder + "/" + name;
        if (name != "segments") before_[path] = env::read_file(files_, path).value();
      }
    }
  }
  // Whatever was done, all is as it was.
  void TearDown() override {
    for (const auto& [path, bytes] : before_) {
      EXPECT_EQ(env::read_file(files_, path).value_or(""), bytes) << path;
    }
    EXPECT_EQ(files_.list(store_dir_).value(), names_);
  }

  void make_store() {
    const auto store = sat::Store::open(files_, store_dir_, {}, "", kStart).value();
    for (int i = 0; i < 20; ++i) {
      const std::string body = i == 3 ? std::string("\0\xff", 2) : fmt::format("page {}", i);
      ids_.push_back(base::Id::of(body));
      const base::Instant due = kStart + Duration::minutes(i == 0 ? 1 : i * i * 10);
      ASSERT_TRUE(store->add(ids_.back(), 7, body, due));
    }
    ASSERT_TRUE(store->send(4, "a hint"));
    store->request_checkpoint();
    ASSERT_TRUE(store->commit());
    ASSERT_TRUE(store->next_due(kStart + Duration::minutes(5)).value());
    ASSERT_TRUE(store->remove(19));
    position_ = store->commit().value();
    ASSERT_TRUE(store->on_durable());
    names_ = files_.list(store_dir_).value();
  }

  void make_known_ids() {
    sat::KnownIdsOptions options;
    options.fresh_min = 8;
    const auto known = sat::KnownIds::open(files_, ids_dir_, options, "").value();
    for (sat::Seq i = 0; i < ids_.size(); ++i) ASSERT_TRUE(known->add(ids_[i], i));
    ASSERT_TRUE(known->remove(ids_[5]));
    ASSERT_TRUE(known->commit());
    ASSERT_TRUE(known->on_durable());
  }

  // Changes a byte of a file, as if it had always been so.
  void flip(const std::string& path, std::size_t byte) {
    std::string bytes = before_.at(path);
    bytes[byte] = static_cast<char>(bytes[byte] ^ 1);
    ASSERT_TRUE(env::write_file_atomically(files_, path, bytes));
    before_[path] = bytes;
  }

  env::TempDir dir_;
  env::PosixFileSystem files_;
  std::string store_dir_ = dir_.path("store");
  std::string ids_dir_ = dir_.path("ids");
  std::string position_;
  std::vector<base::Id> ids_;
  std::vector<std::string> names_;
  std::map<std::string, std::string> before_;
};

TEST_F(StoreCommandTest, StatCountsWhatIsThere) {
  const Answer run = meguri_store({"stat", store_dir_, "--json"});
  ASSERT_EQ(run.code, kExitDone) << run.error;
  const json stat = json::parse(run.out);
  EXPECT_EQ(stat["kind"], "store");
  EXPECT_EQ(stat["position"], position_);
  EXPECT_EQ(stat["front"], "2026-01-01T00:01:00Z");
  EXPECT_EQ(stat["records"], 19);
  EXPECT_EQ(stat["waiting"], 18);
  EXPECT_EQ(stat["out"], 1);
  EXPECT_EQ(stat["messages"], 1);
  EXPECT_EQ(stat["buckets_filled"], 18);
  EXPECT_EQ(stat["checkpoint_bytes"], before_.at(store_dir_ + "/checkpoint-00000002").size());
  EXPECT_EQ(stat["log_bytes"], before_.at(store_dir_ + "/log-00000002").size());
  std::map<std::string, int> due;
  for (const json& bin : stat["due"]) due[bin["within"]] = bin["records"];
  // Counted from the front, a minute after the start.
  EXPECT_EQ(due["overdue"], 1);
  EXPECT_EQ(due["10 minutes"], 1);  // 10
  EXPECT_EQ(due["40 minutes"], 1);  // 40
  EXPECT_EQ(due["6 hours"], 4);     // 90 to 360
  EXPECT_EQ(due["12 hours"], 2);    // 490, 640
  EXPECT_EQ(due["1 day"], 4);       // 810 to 1440
  EXPECT_EQ(due["2 days"], 4);      // 1690 to 2560
  EXPECT_EQ(due["4 days"], 2);      // 2890, 3240
}

TEST_F(StoreCommandTest, StatIsReadable) {
  const Answer run = meguri_store({"stat", store_dir_, "--at", "2025-12-31"});
  ASSERT_EQ(run.code, kExitDone) << run.error;
  EXPECT_TRUE(run.out.contains("records     19: 18 waiting, 1 out\n")) << run.out;
  EXPECT_TRUE(run.out.contains("due after 2025-12-31T00:00:00Z, within\n")) << run.out;
  EXPECT_TRUE(run.out.contains("  overdue                  0\n")) << run.out;
  EXPECT_TRUE(run.out.contains("##\n")) << run.out;
}

TEST_F(StoreCommandTest, StatKnowsKnownIds) {
  const Answer run = meguri_store({"stat", ids_dir_, "--json"});
  ASSERT_EQ(run.code, kExitDone) << run.error;
  const json stat = json::parse(run.out);
  EXPECT_EQ(stat["kind"], "known_ids");
  EXPECT_EQ(stat["entries"], 21);
  EXPECT_GE(stat["runs"].size(), 1U);
  EXPECT_EQ(meguri_store({"stat", ids_dir_}).code, kExitDone);
}

TEST_F(StoreCommandTest, DumpPrintsEveryRecord) {
  const Answer run = meguri_store({"dump", store_dir_});
  ASSERT_EQ(run.code, kExitDone) << run.error;
  std::map<int, json> records;
  for (const json& line : lines_of(run.out)) records[line["seq"]] = line;
  ASSERT_EQ(records.size(), 19U);
  for (int i = 0; i < 19; ++i) {
    const json& record = records.at(i);
    EXPECT_EQ(record["id"], ids_[static_cast<std::size_t>(i)].to_hex());
    EXPECT_EQ(record["schema"], 7);
    EXPECT_EQ(record["out"], i == 0);
    if (i == 3) {
      EXPECT_EQ(record["body"]["base64"], base::base64_of(std::string_view("\0\xff", 2)));
    } else {
      EXPECT_EQ(record["body"]["text"], fmt::format("page {}", i));
    }
  }
  EXPECT_EQ(records.at(2)["due"], "2026-01-01T00:40:00Z");
  EXPECT_EQ(records.at(4)["messages"], json::parse(R"([{"text":"a hint"}])"));
  EXPECT_TRUE(records.at(5)["messages"].empty());
}

TEST_F(StoreCommandTest, DumpChooses) {
  const auto count = [&](const std::vector<std::string>& more) {
    std::vector<std::string> arguments = {"dump", store_dir_};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const Answer run = meguri_store(arguments);
    EXPECT_EQ(run.code, kExitDone) << run.error;
    return lines_of(run.out).size();
  };
  EXPECT_EQ(count({"--limit", "4"}), 4U);
  EXPECT_EQ(count({"--limit", "0"}), 0U);
  EXPECT_EQ(count({"--due-before", "2026-01-01T00:40:00Z"}), 2U);
  EXPECT_EQ(count({"--id", ids_[8].to_hex()}), 1U);
  EXPECT_EQ(count({"--id", ids_[19].to_hex()}), 0U);
  const Answer known = meguri_store({"dump", ids_dir_});
  EXPECT_EQ(lines_of(known.out).size(), 19U);
  const Answer one = meguri_store({"dump", ids_dir_, "--id", ids_[8].to_hex()});
  EXPECT_EQ(one.out, fmt::format("{{\"id\":\"{}\",\"seq\":8}}\n", ids_[8].to_hex()));
}

TEST_F(StoreCommandTest, CheckFindsNothingInSoundFolders) {
  const Answer run = meguri_store({"check", store_dir_});
  EXPECT_EQ(run.code, kExitDone) << run.error;
  EXPECT_TRUE(run.out.ends_with("19 records: all is well\n")) << run.out;
  const Answer known = meguri_store({"check", ids_dir_, "--json"});
  EXPECT_EQ(known.code, kExitDone) << known.error;
  EXPECT_EQ(json::parse(known.out)["ids"], 19);
  EXPECT_EQ(meguri_store({"check", store_dir_, "--position", position_}).code, kExitDone);
}

TEST_F(StoreCommandTest, CheckNamesDamage) {
  const std::string path = store_dir_ + "/log-00000002";
  flip(path, 41);
  const Answer run = meguri_store({"check", store_dir_});
  EXPECT_EQ(run.code, kExitFailed);
  EXPECT_TRUE(run.out.starts_with(path + " at 0, ")) << run.out;
  EXPECT_TRUE(run.out.contains("the block fails its checksum")) << run.out;
  EXPECT_TRUE(run.out.ends_with("1 fault\n")) << run.out;
  EXPECT_TRUE(run.error.contains("is damaged: 1 fault was found")) << run.error;
  const json report = json::parse(meguri_store({"check", store_dir_, "--json"}).out);
  ASSERT_EQ(report["faults"].size(), 1U);
  EXPECT_EQ(report["faults"][0]["file"], path);
  // The others go on with what is whole, and say so.
  const Answer stat = meguri_store({"stat", store_dir_});
  EXPECT_EQ(stat.code, kExitDone);
  EXPECT_TRUE(stat.out.contains("records     20: 20 waiting, 0 out\n")) << stat.out;
  EXPECT_TRUE(stat.error.contains(path)) << stat.error;
  EXPECT_EQ(meguri_store({"stat", store_dir_, "--position", position_}).code, kExitFailed);
}

TEST_F(StoreCommandTest, WrongUseIsOneSentence) {
  const auto expect = [](const std::vector<std::string>& arguments, int code,
                         std::string_view words) {
    const Answer run = meguri_store(arguments);
    EXPECT_EQ(run.code, code) << run.error;
    EXPECT_TRUE(run.error.contains(words)) << run.error;
    EXPECT_EQ(std::ranges::count(run.error, '\n'), 1) << run.error;
    EXPECT_TRUE(run.out.empty()) << run.out;
  };
  expect({}, kExitWrongUse, "stat, check or dump");
  for (const char* command : {"stat", "check", "dump"}) {
    expect({command}, kExitWrongUse, "DIR is required");
    expect({command, dir_.path("none")}, kExitFailed, "there is no folder");
    expect({command, dir_.path()}, kExitFailed, "neither a state store nor known ids");
    expect({command, store_dir_ + "/log-00000002"}, kExitFailed, "log-00000002");
    expect({command, store_dir_, "--position", "x"}, kExitFailed, "is no position");
  }
  expect({"dump", store_dir_, "--id", "xyz"}, kExitWrongUse, "32 hexadecimal digits");
  expect({"dump", store_dir_, "--limit", "few"}, kExitWrongUse, "--limit");
  expect({"dump", ids_dir_, "--due-before", "now"}, kExitWrongUse, "never due");
}

}  // namespace
}  // namespace meguri::app
