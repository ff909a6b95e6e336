// Analyser: what makes results of documents, in a worker.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "env/spooled_bytes.h"
#include "scan/document.h"

namespace meguri::scan {

// Where documents come from, in the order in which their results are to be given.
class DocumentStream {
 public:
  virtual ~DocumentStream() = default;
  // Waits for it. Nullopt: there are no more. One thread.
  virtual base::Result<std::optional<Document>> next() = 0;
  // Whoever waits in next(), now or later, is told that there are no more. Any thread. An analyser
  // that failed calls it, since the thread that it takes documents by may be waiting for one.
  virtual void stop() = 0;
};

// Where results go. One thread, which may be another than that of the documents.
class ResultStream {
 public:
  virtual ~ResultStream() = default;
  // Exactly one for each document, in their order. It is on its way when this returns.
  virtual base::Status put(std::uint64_t number, const env::SpooledBytes& result) = 0;
};

// One in each worker, used once. Thread-compatible.
class Analyser {
 public:
  Analyser() = default;
  Analyser(const Analyser&) = delete;
  Analyser& operator=(const Analyser&) = delete;
  virtual ~Analyser() = default;

  // Makes it ready for documents. An error is a sentence for people: no worker can start it.
  virtual base::Status start() = 0;

  // All documents until their end. Nobody is in next() any more when this returns. An error says
  // how the analyser failed at the first document that has no result yet: "it ended with exit
  // status 3". By the thread that called start(), which lives as long as the analyser.
  virtual base::Status run(DocumentStream& documents, ResultStream& results) = 0;

  // CPU of processes that it started, as far as it is known. Any thread.
  virtual std::uint64_t child_cpu_ns() const { return 0; }
};

// One that makes each result by a function, in this process.
class FunctionAnalyser final : public Analyser {
 public:
  // An error is a failure at this document.
  using Analyse = std::function<base::Result<env::SpooledBytes>(const Document& document)>;

  explicit FunctionAnalyser(Analyse analyse) : analyse_(std::move(analyse)) {}
  base::Status start() override { return {}; }
  base::Status run(DocumentStream& documents, ResultStream& results) override;

 private:
  const Analyse analyse_;
};

// How an analyser is called, and what it may do.
enum class AnalyserKind : std::uint8_t { kBuiltIn, kPlugin, kProgram, kLines };

struct AnalyserSettings {
  AnalyserKind kind = AnalyserKind::kProgram;
  std::vector<std::string> arguments;  // the name, path or program first; not empty
  std::vector<std::string> fields;     // of kLines: of a document's line, in their order
  std::uint64_t memory_max = 0;        // of an analyser's address space, in bytes; 0: no limit
  std::uint64_t cpu_seconds_max = 0;   // of an analyser, for one document; 0: no limit
  bool has_network = false;            // it may open sockets of the Internet
  std::uint64_t content_bytes_max = std::uint64_t{8} << 30U;  // of a document; more is cut
  std::string scratch;  // a folder for what is too large for memory

  std::string to_json() const;
  static base::Result<AnalyserSettings> from_json(std::string_view json);
  friend bool operator==(const AnalyserSettings&, const AnalyserSettings&) = default;
};

// kInvalid: there is no such built-in one, or its arguments are wrong; the sentence says what is
// right. Others are checked by start().
base::Result<std::unique_ptr<Analyser>> make_analyser(const AnalyserSettings& settings);

}  // namespace meguri::scan
