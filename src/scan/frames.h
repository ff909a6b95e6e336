// Frames: what a dispatcher and a worker say to each other, as bytes. docs/formats/scan.md is what
// analysers see; this is ours alone, and both ends are of one version.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "scan/document.h"

namespace meguri::scan {

enum class FrameType : std::uint8_t {
  // To the worker.
  kSettings = 1,  // JSON, once, first
  kDocument,      // DocumentHead; that many bytes follow in kBytes
  kBytes,         // at most kFrameBytesMax
  kEnd,           // there are no more documents
  // From the worker.
  kReady,        // the analyser was started, and waits
  kResult,       // ResultHead; that many bytes follow in kBytes
  kLost,         // LostHead: the document cannot be read, by any worker
  kUsage,        // WorkerUsage
  kFailed,       // a sentence's end: the analyser ended, or broke its protocol. The last one
  kCannotStart,  // likewise, before kReady: no worker of this machine can
};

inline constexpr std::size_t kFrameBytesMax = std::size_t{256} << 10U;  // of a payload
inline constexpr std::size_t kFrameHeadBytes = 5;                       // length, type

struct DocumentHead {
  DocumentFacts facts;
  std::uint64_t bytes = 0;  // of the record, as it stands in its file or in a member of its own

  friend bool operator==(const DocumentHead&, const DocumentHead&) = default;
};

struct ResultHead {
  std::uint64_t number = 0;  // of the document
  std::uint64_t bytes = 0;

  friend bool operator==(const ResultHead&, const ResultHead&) = default;
};

struct LostHead {
  std::uint64_t number = 0;
  std::string reason;  // "the record is damaged"

  friend bool operator==(const LostHead&, const LostHead&) = default;
};

// Of a worker, since it was ready; both only grow.
struct WorkerUsage {
  std::uint64_t idle_ns = 0;  // in which it had no document
  std::uint64_t cpu_ns = 0;   // of it and its analyser

  friend bool operator==(const WorkerUsage&, const WorkerUsage&) = default;
};

// Appends a frame. Requires a payload of at most kFrameBytesMax.
void put_frame(std::string& out, FrameType type, std::string_view payload);
// The front of one, for a payload that is appended afterwards.
void put_frame_head(std::string& out, FrameType type, std::size_t payload_bytes);
void put_document_head(std::string& out, const DocumentHead& head);
void put_result_head(std::string& out, const ResultHead& head);
void put_lost(std::string& out, const LostHead& lost);
void put_usage(std::string& out, const WorkerUsage& usage);
// `bytes` in as many frames as they need.
void put_bytes(std::string& out, std::string_view bytes);

// Nullopt: the payload is none.
std::optional<DocumentHead> parse_document_head(std::string_view payload);
std::optional<ResultHead> parse_result_head(std::string_view payload);
std::optional<LostHead> parse_lost(std::string_view payload);
std::optional<WorkerUsage> parse_usage(std::string_view payload);

struct Frame {
  FrameType type = FrameType::kEnd;
  std::string_view payload;  // dies at the next call of the reader
};

// Cuts a stream of bytes into frames. Thread-compatible.
class FrameReader {
 public:
  void feed(std::string_view bytes);
  // Nullopt: what was fed ends here, or within a frame. kCorrupt: these are no frames.
  base::Result<std::optional<Frame>> next();
  bool is_empty() const { return used_ == bytes_.size(); }  // nothing of a frame is left

 private:
  std::string bytes_;
  std::size_t used_ = 0;  // of them
};

}  // namespace meguri::scan
