#include "scan/analyser.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "env/spool_testing.h"
#include "scan/listed_documents_testing.h"

namespace meguri::scan {
namespace {

TEST(AnalyserSettings, AreReadAsTheyWereWritten) {
  AnalyserSettings settings;
  settings.kind = AnalyserKind::kLines;
  settings.arguments = {"jq", "-c", "日本", "\xffz"};
  settings.fields = {"url", "title"};
  settings.memory_max = std::uint64_t{1} << 63U;
  settings.cpu_seconds_max = 5;
  settings.has_network = true;
  settings.content_bytes_max = 9;
  settings.scratch = "/tmp/\xfe";
  const auto read = AnalyserSettings::from_json(settings.to_json());
  ASSERT_TRUE(read) << read.error().message();
  EXPECT_EQ(*read, settings);
  EXPECT_NE(settings.to_json().find("日本"), std::string::npos);
}

TEST(AnalyserSettings, WhatIsNoneIsCorrupt) {
  AnalyserSettings settings;
  settings.arguments = {"x"};
  ASSERT_TRUE(AnalyserSettings::from_json(settings.to_json()));
  std::vector<std::string> wrong = {"", "[]", "{}", "{\"kind\":\"program\"}"};
  for (const auto& [from, to] : std::vector<std::pair<std::string, std::string>>{
           {"\"program\"", "\"other\""},
           {"[\"x\"]", "[]"},
           {"[\"x\"]", "[[256]]"},
           {"[\"x\"]", "7"},
           {"false", "0"},
           {"\"memory_max\":0", "\"memory_max\":-1"}}) {
    std::string json = settings.to_json();
    json.replace(json.find(from), from.size(), to);
    wrong.push_back(std::move(json));
  }
  for (const std::string& json : wrong) {
    const auto read = AnalyserSettings::from_json(json);
    ASSERT_FALSE(read) << json;
    EXPECT_EQ(read.error().code(), base::ErrorCode::kCorrupt);
  }
}

TEST(FunctionAnalyser, MakesAResultOfEachDocument) {
  ListedDocuments documents({"a", "bb", ""});
  NumberedResults results;
  FunctionAnalyser analyser([](const Document& document) -> base::Result<env::SpooledBytes> {
    return env::SpooledBytes(std::to_string(document.content.size()));
  });
  ASSERT_TRUE(analyser.start());
  ASSERT_TRUE(analyser.run(documents, results));
  EXPECT_EQ(results.all(), (NumberedResults::All{{0, "1"}, {1, "2"}, {2, "0"}}));
}

TEST(FunctionAnalyser, AnErrorIsAFailureAtThisDocument) {
  ListedDocuments documents({"a", "bad", "c"});
  NumberedResults results;
  FunctionAnalyser analyser([](const Document& document) -> base::Result<env::SpooledBytes> {
    if (env::text_of(document.content) != "bad") return env::SpooledBytes();
    return base::fail(base::ErrorCode::kFailed, "it is bad");
  });
  const auto status = analyser.run(documents, results);
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().message(), "it is bad");
  EXPECT_EQ(results.all(), (NumberedResults::All{{0, ""}}));
}

}  // namespace
}  // namespace meguri::scan
