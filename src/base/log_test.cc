#include "base/log.h"

#include <gtest/gtest.h>
#include <spdlog/sinks/base_sink.h>

#include <cmath>
#include <string>
#include <thread>
#include <vector>

namespace meguri::base {
namespace {

using Lines = std::vector<std::string>;

std::string text_of(std::string_view message, std::initializer_list<LogField> fields) {
  return log_text({}, LogLevel::kInfo, message, fields);
}

std::string json_of(std::string_view message, std::initializer_list<LogField> fields) {
  return log_json({}, LogLevel::kInfo, message, fields);
}

class MemorySink final : public spdlog::sinks::base_sink<std::mutex> {
 public:
  Lines lines;
  bool fails = false;

 protected:
  void sink_it_(const spdlog::details::log_msg& message) override {
    if (fails) throw spdlog::spdlog_ex("the disk is full");
    spdlog::memory_buf_t bytes;
    formatter_->format(message, bytes);
    lines.emplace_back(bytes.data(), bytes.size());
  }
  void flush_() override {}
};

// A logger whose console is a list of lines.
struct LogTest : testing::Test {
  Lines lines;
  Console console{{.write = [this](std::string_view bytes) { lines.emplace_back(bytes); },
                   .is_terminal = false,
                   .columns = {}}};
  Logger logger{console};
};

TEST_F(LogTest, ALineHasTimeLevelMessageAndFields) {
  logger.log(LogLevel::kInfo, "archive opened", {{"dir", "/a"}, {"pages", 3}});
  logger.set_time_source([] { return *Instant::parse_rfc3339("2026-11-15T08:09:10.123Z"); });
  logger.log(LogLevel::kInfo, "archive opened", {{"dir", std::string("/a")}, {"pages", 3U}});
  logger.log(LogLevel::kError, "archive lost");
  logger.set_time_source({});
  logger.log(LogLevel::kWarn, "bye");
  EXPECT_EQ(lines, (Lines{"INFO  archive opened dir=/a pages=3\n",
                          "2026-11-15T08:09:10.123Z INFO  archive opened dir=/a pages=3\n",
                          "2026-11-15T08:09:10.123Z ERROR archive lost\n", "WARN  bye\n"}));
}

TEST_F(LogTest, OnlyLevelsFromTheLeastOnAreWritten) {
  logger.log(LogLevel::kDebug, "hidden");
  EXPECT_TRUE(lines.empty());
  logger.set_level(LogLevel::kDebug);
  logger.log(LogLevel::kDebug, "shown");
  logger.set_level(LogLevel::kError);
  logger.log(LogLevel::kWarn, "hidden");
  EXPECT_FALSE(logger.is_on(LogLevel::kWarn));
  EXPECT_TRUE(logger.is_on(LogLevel::kError));
  logger.set_level(LogLevel::kOff);
  logger.log(LogLevel::kError, "hidden");
  EXPECT_FALSE(logger.is_on(LogLevel::kOff));
  EXPECT_EQ(lines, Lines{"DEBUG shown\n"});
}

TEST_F(LogTest, JsonLinesGoToTheirSinkToo) {
  const auto sink = std::make_shared<MemorySink>();
  logger.set_json_sink(sink);
  logger.set_time_source([] { return Instant::from_ms(1); });
  logger.log(LogLevel::kWarn, "slow \"disk\"", {{"wait", Duration::from_ms(1500)}});
  logger.set_json_sink(nullptr);
  logger.log(LogLevel::kWarn, "not there");
  EXPECT_EQ(sink->lines, Lines{"{\"time\":\"1970-01-01T00:00:00.001Z\",\"level\":\"warn\","
                               "\"message\":\"slow \\\"disk\\\"\",\"wait\":1.5}\n"});
  EXPECT_EQ(lines.size(), 2);
}

TEST_F(LogTest, ASinkThatFailsIsReportedOnceOnTheConsole) {
  const auto sink = std::make_shared<MemorySink>();
  sink->fails = true;
  logger.set_json_sink(sink);
  logger.log(LogLevel::kInfo, "one");
  logger.log(LogLevel::kInfo, "two");
  EXPECT_EQ(lines,
            (Lines{"INFO  one\n", "ERROR cannot write the log file error=\"the disk is full\"\n",
                   "INFO  two\n"}));
}

TEST(LogFormat, EveryKindOfValueIsWritten) {
  const Error error(ErrorCode::kIo, "it broke");
  EXPECT_EQ(text_of("m", {{"a", true}, {"b", -5}, {"c", 0.25}, {"d", ~0ULL}, {"e", error}}),
            "INFO  m a=true b=-5 c=0.25 d=18446744073709551615 e=\"it broke\"");
  EXPECT_EQ(text_of("m", {{"t", Instant::from_ms(0)}, {"w", Duration::seconds(125)}}),
            "INFO  m t=1970-01-01T00:00:00Z w=2m05s");
  EXPECT_EQ(json_of("m", {{"a", true}, {"b", -5}, {"c", 0.25}, {"d", ~0ULL}, {"e", error}}),
            R"({"level":"info","message":"m","a":true,"b":-5,"c":0.25,"d":18446744073709551615,)"
            R"("e":"it broke"})");
  EXPECT_EQ(json_of("m", {{"t", Instant::from_ms(0)}, {"n", std::nan("")}, {"i", INFINITY}}),
            R"({"level":"info","message":"m","t":"1970-01-01T00:00:00.000Z","n":null,"i":null})");
}

TEST(LogFormat, ValuesFromOutsideCannotForgeLinesOrFields) {
  EXPECT_EQ(text_of("m", {{"u", "a b"}}), R"(INFO  m u="a b")");
  EXPECT_EQ(text_of("m", {{"u", "x y=z"}}), R"(INFO  m u="x y=z")");
  EXPECT_EQ(text_of("m", {{"u", "x=z"}}), R"(INFO  m u="x=z")");
  EXPECT_EQ(text_of("m", {{"u", "\" v=1 \""}}), R"(INFO  m u="\" v=1 \"")");
  EXPECT_EQ(text_of("m", {{"u", "a\nERROR forged"}}), R"(INFO  m u="a\nERROR forged")");
  EXPECT_EQ(text_of("m", {{"u", "a\\"}}), R"(INFO  m u="a\\")");
  EXPECT_EQ(text_of("m", {{"u", "\x1b]0;x\x07"}}), R"(INFO  m u="\x1b]0;x\x07")");
  EXPECT_EQ(text_of("m", {{"u", ""}}), R"(INFO  m u="")");
  EXPECT_EQ(text_of("m", {{"u", "https://例え.jp/é"}}), "INFO  m u=https://例え.jp/é");
  EXPECT_EQ(text_of("m\nERROR forged", {}), R"(INFO  "m\nERROR forged")");
  EXPECT_EQ(text_of("m u=1", {}), R"(INFO  "m u=1")");
  EXPECT_EQ(text_of("m", {{"a b=\n", 1}}), "INFO  m a_b__=1");
  EXPECT_EQ(json_of("m", {{"u\"", "\",\"x\":\"\n"}}),
            R"({"level":"info","message":"m","u_":"\",\"x\":\"\u000a"})");
}

TEST(LogFormat, JsonFieldsDoNotHideTheLinesOwn) {
  EXPECT_EQ(json_of("m", {{"level", 1}, {"message", 2}, {"time", 3}}),
            R"({"level":"info","message":"m","level_":1,"message_":2,"time_":3})");
}

TEST(LogLevel, NamesAreReadBack) {
  for (const LogLevel level :
       {LogLevel::kDebug, LogLevel::kInfo, LogLevel::kWarn, LogLevel::kError, LogLevel::kOff}) {
    EXPECT_EQ(parse_log_level(name_of(level)), level);
  }
  EXPECT_EQ(parse_log_level("loud").error().message(),
            "\"loud\" is not a log level: debug, info, warn, error or off");
}

TEST(LogThreads, SettingsMayChangeWhileOthersLog) {
  std::size_t written = 0;
  Console console(
      {.write = [&](std::string_view) { ++written; }, .is_terminal = false, .columns = {}});
  Logger logger(console);
  const auto sink = std::make_shared<MemorySink>();
  constexpr int kThreads = 3;
  constexpr int kLines = 300;
  {
    std::vector<std::jthread> threads;
    threads.reserve(4);
    for (int t = 0; t < kThreads; ++t) {
      threads.emplace_back([&] {
        for (int i = 0; i < kLines; ++i) logger.log(LogLevel::kError, "line", {{"i", i}});
      });
    }
    for (int i = 0; i < kLines; ++i) {
      logger.set_level(i % 2 == 0 ? LogLevel::kDebug : LogLevel::kError);
      logger.set_time_source([i] { return Instant::from_ms(i); });
      logger.set_json_sink(i % 2 == 0 ? sink : nullptr);
    }
  }
  EXPECT_EQ(written, kThreads * kLines);
}

}  // namespace
}  // namespace meguri::base
