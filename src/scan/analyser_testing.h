// For tests: documents made by hand, and analysers run over them.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "env/spool_testing.h"
#include "env/spooled_bytes.h"
#include "scan/analyser.h"
#include "scan/document.h"

namespace meguri::scan {

inline constexpr base::Instant kVisitTime =
    base::Instant::from_ms(1'794'730'150'000);  // 2026-11-15

// As if it had been read from a record.
inline Document document_of(std::string url, std::string mime, env::SpooledBytes content) {
  Document document;
  document.facts.url = std::move(url);
  document.facts.time = kVisitTime;
  document.facts.valid = {.begin = kVisitTime};
  document.status = 200;
  if (!mime.empty()) document.fields.add("Content-Type", mime);
  document.mime = std::move(mime);
  document.content = std::move(content);
  return document;
}

class GivenDocuments final : public DocumentStream {
 public:
  explicit GivenDocuments(std::vector<Document> documents) : documents_(std::move(documents)) {}
  base::Result<std::optional<Document>> next() override {
    if (at_ == documents_.size()) return std::nullopt;
    return documents_[at_++];
  }
  void stop() override { at_ = documents_.size(); }

 private:
  std::vector<Document> documents_;
  std::size_t at_ = 0;
};

class GivenResults final : public ResultStream {
 public:
  base::Status put(std::uint64_t number, const env::SpooledBytes& result) override {
    EXPECT_EQ(number, texts.size());
    texts.push_back(env::text_of(result));
    is_last_on_disk = result.is_on_disk();
    return {};
  }
  std::vector<std::string> texts;
  bool is_last_on_disk = false;
};

struct AnalyserOutcome {
  std::vector<std::string> results;
  std::string failure;  // empty: there was none
};

// Numbers the documents, and runs a started analyser.
inline AnalyserOutcome run_over(Analyser& analyser, std::vector<Document> documents) {
  for (std::size_t i = 0; i < documents.size(); ++i) documents[i].facts.number = i;
  GivenDocuments given(std::move(documents));
  GivenResults kept;
  const auto status = analyser.run(given, kept);
  return {.results = std::move(kept.texts), .failure = status ? "" : status.error().message()};
}

inline AnalyserSettings settings_of(AnalyserKind kind, std::vector<std::string> arguments) {
  AnalyserSettings settings;
  settings.kind = kind;
  settings.arguments = std::move(arguments);
  return settings;
}

// The result of a built-in analyser.
inline std::string result_of(std::vector<std::string> arguments, const Document& document) {
  const auto analyser = make_analyser(settings_of(AnalyserKind::kBuiltIn, std::move(arguments)));
  EXPECT_TRUE(analyser) << analyser.error().message();
  if (!analyser) return {};
  EXPECT_TRUE((*analyser)->start());
  const AnalyserOutcome outcome = run_over(**analyser, {document});
  EXPECT_EQ(outcome.failure, "");
  return outcome.results.empty() ? std::string() : outcome.results.front();
}

// Why there is no such analyser.
inline std::string refusal_of(std::vector<std::string> arguments) {
  const auto analyser = make_analyser(settings_of(AnalyserKind::kBuiltIn, std::move(arguments)));
  EXPECT_FALSE(analyser);
  return analyser ? std::string() : analyser.error().message();
}

}  // namespace meguri::scan
