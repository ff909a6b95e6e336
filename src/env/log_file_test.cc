#include "env/log_file.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "base/log.h"
#include "env/posix_file_system.h"
#include "env/testing.h"

namespace meguri::env {
namespace {

using base::Console;
using base::ErrorCode;
using base::LogLevel;

struct LogFileTest : testing::Test {
  TempDir dir;
  PosixFileSystem fs;
  std::string shown;
  Console console{{.write = [this](std::string_view bytes) { shown += bytes; },
                   .is_terminal = false,
                   .columns = {}}};
  base::Logger logger{console};
};

TEST_F(LogFileTest, LinesAreAppendedAsJson) {
  const std::string path = dir.path("log.jsonl");
  for (int i = 0; i < 2; ++i) {
    auto sink = open_log_file(path);
    ASSERT_TRUE(sink) << sink.error().message();
    logger.set_json_sink(*std::move(sink));
    logger.log(LogLevel::kInfo, "opened", {{"time", i}});
    // Each line is in the file at once.
    EXPECT_TRUE(read_file(fs, path)->ends_with(fmt::format("\"time_\":{}}}\n", i)));
  }
  EXPECT_EQ(*read_file(fs, path),
            "{\"level\":\"info\",\"message\":\"opened\",\"time_\":0}\n"
            "{\"level\":\"info\",\"message\":\"opened\",\"time_\":1}\n");
}

TEST_F(LogFileTest, FilesAreTurnedOverAndOldOnesGo) {
  auto sink = open_log_file(dir.path("log.jsonl"), {.bytes_max = 200, .old_files_max = 2});
  ASSERT_TRUE(sink);
  logger.set_json_sink(*std::move(sink));
  for (int i = 0; i < 50; ++i) logger.log(LogLevel::kInfo, "line", {{"number", i}});
  const std::vector<std::string> names = *fs.list(dir.path());
  EXPECT_EQ(names, (std::vector<std::string>{"log.1.jsonl", "log.2.jsonl", "log.jsonl"}));
  for (const std::string& name : names) EXPECT_LE(*fs.size(dir.path(name)), 200);
}

TEST_F(LogFileTest, AMissingFolderIsAnErrorThatNamesTheFile) {
  const auto sink = open_log_file(dir.path("none/log.jsonl"));
  ASSERT_FALSE(sink);
  EXPECT_EQ(sink.error().code(), ErrorCode::kNotFound);
  EXPECT_TRUE(sink.error().message().contains(dir.path("none/log.jsonl")));
  EXPECT_FALSE(std::filesystem::exists(dir.path("none")));
}

TEST_F(LogFileTest, AFullDiskIsSaidOnTheConsole) {
  // /dev/full takes no byte. spdlog is given a name in a folder of ours.
  std::filesystem::create_symlink("/dev/full", dir.path("log.jsonl"));
  auto sink = open_log_file(dir.path("log.jsonl"));
  ASSERT_TRUE(sink) << sink.error().message();
  logger.set_json_sink(*std::move(sink));
  for (int i = 0; i < 3; ++i) logger.log(LogLevel::kInfo, "line");
  EXPECT_TRUE(shown.contains("ERROR cannot write the log file")) << shown;
  EXPECT_EQ(shown.find("ERROR"), shown.rfind("ERROR"));
}

}  // namespace
}  // namespace meguri::env
