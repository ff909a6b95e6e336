#include "app/command_line.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <cstdio>
#include <memory>

namespace meguri::app {
namespace {

const std::vector<std::string> names = {"crawl", "version", "bench", "url"};

TEST(NearestName, FindsSlips) {
  EXPECT_EQ(nearest_name("crwl", names), "crawl");
  EXPECT_EQ(nearest_name("verison", names), "version");
  EXPECT_EQ(nearest_name("benches", names), "bench");
  EXPECT_EQ(nearest_name("ulr", names), "url");
}

TEST(NearestName, DoesNotGuessWildly) {
  EXPECT_EQ(nearest_name("frobnicate", names), std::nullopt);
  EXPECT_EQ(nearest_name("x", names), std::nullopt);
  EXPECT_EQ(nearest_name("", names), std::nullopt);
  EXPECT_EQ(nearest_name(std::string(100'000, 'c'), names), std::nullopt);
  EXPECT_EQ(nearest_name("crawl", {}), std::nullopt);
}

// An Output on a temporary file, and what was written to it.
class OutputTest : public testing::Test {
 protected:
  static std::unique_ptr<std::FILE, int (*)(std::FILE*)> open(const char* path) {
    // tidy: allow a device that is always full, or a pipe, is no file of env::FileSystem.
    return {std::fopen(path, "w"), std::fclose};
  }
};

TEST_F(OutputTest, FullDiskIsAnError) {
  const auto file = open("/dev/full");
  ASSERT_NE(file, nullptr);
  Output out(file.get());
  out.print("{}\n", 42);
  const base::Status status = out.finish();
  ASSERT_FALSE(status.has_value());
  EXPECT_EQ(status.error().code(), base::ErrorCode::kNoSpace);
}

TEST_F(OutputTest, FinishOnNothingWrittenIsDone) {
  const auto file = open("/dev/null");
  ASSERT_NE(file, nullptr);
  Output out(file.get());
  EXPECT_TRUE(out.finish().has_value());
}

TEST(ReportError, WrongUseHasItsOwnExitCode) {
  EXPECT_EQ(report_error("t", base::Error(base::ErrorCode::kInvalid, "x")), kExitWrongUse);
  EXPECT_EQ(report_error("t", base::Error(base::ErrorCode::kNoSpace, "x")), kExitFailed);
}

TEST(CommandLine, ReadsOptionsOfTheCommandThatWasNamed) {
  CommandLine line("program", "about", "");
  std::string where;
  std::string what;
  bool fast = false;
  Options go = line.add_command("go", "goes", "program go x");
  go.option("--where", "PLACE", where, "where to");
  go.flag("--fast", fast, "at once");
  go.argument("WHAT", what, "what goes");
  line.add_command("stay", "stays", "program stay");

  Output out(stdout);
  EXPECT_EQ(line.parse({"go", "--where", "a b", "x"}, out), std::nullopt);
  EXPECT_EQ(where, "a b");
  EXPECT_EQ(what, "x");
  EXPECT_FALSE(fast);
  EXPECT_TRUE(line.was_named("go"));
  EXPECT_FALSE(line.was_named("stay"));
}

TEST(CommandLine, WhatStandsBehindTwoDashesIsTheCommands) {
  CommandLine line("program", "about", "");
  std::string where;
  bool fast = false;
  std::vector<std::string> what;
  Options go = line.add_command("go", "goes", "program go x");
  go.flag("--fast", fast, "at once");
  go.argument("WHERE", where, "where to");
  go.any_arguments("WHAT", what, "what goes");
  Output out(stdout);
  EXPECT_EQ(line.parse({"go", "there", "--fast", "--", "-c", "go", "--fast", "--", "x"}, out),
            std::nullopt);
  EXPECT_EQ(where, "there");
  EXPECT_TRUE(fast);
  EXPECT_EQ(what, (std::vector<std::string>{"-c", "go", "--fast", "--", "x"}));
}

TEST(CommandLine, WrongUseEndsWithTwo) {
  using Arguments = std::vector<std::string>;
  for (const Arguments& arguments :
       {Arguments{"gone"}, Arguments{"go", "--were"}, Arguments{"go", "extra"}, Arguments{"-x"}}) {
    CommandLine line("program", "about", "");
    bool fast = false;
    line.add_command("go", "goes", "program go").flag("--fast", fast, "at once");
    Output out(stdout);
    EXPECT_EQ(line.parse(arguments, out), kExitWrongUse) << arguments.front();
  }
}

}  // namespace
}  // namespace meguri::app
