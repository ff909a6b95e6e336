// What a dispatcher knows of one of its workers.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>

#include "base/time.h"
#include "env/spool.h"
#include "scan/dispatcher.h"
#include "scan/document_source.h"
#include "scan/frames.h"

namespace meguri::scan {

// A document that is to have a result.
struct Dispatcher::Task {
  DocumentPointer pointer;
  std::uint32_t tries = 0;
  bool is_alone = false;                        // it failed before: nothing else goes with it
  std::optional<std::size_t> last_worker = {};  // where it failed
  std::optional<std::string> lost = {};         // why its bytes stopped coming
};

// The place of a worker, over all that are there one after the other.
struct Dispatcher::Place {
  static constexpr std::size_t kWindowMin = 2;  // documents at a worker
  static constexpr std::size_t kWindowMax = 256;
  static constexpr double kWindowNs = 100e6;  // of work that a worker has before it
  static constexpr double kFirstServiceNs = 10e6;

  enum class State : std::uint8_t { kOff, kStarting, kReady };

  Place(std::size_t number, env::Spool& spool) : index(number), result(&spool) {}

  bool has_unsent() const { return sent < unsent.size() || rest != nullptr; }
  std::size_t window() const {
    return std::clamp(static_cast<std::size_t>(kWindowNs / std::max(service_ns, 1.0)), kWindowMin,
                      kWindowMax);
  }
  // As newly made, for the next worker.
  void reset();

  const std::size_t index;
  State state = State::kOff;
  bool is_ending = false;   // it was told that no more documents come
  std::deque<Task> given;   // without a result, the oldest first
  std::uint64_t taken = 0;  // documents, of this worker
  std::string unsent;
  std::size_t sent = 0;               // of it
  std::shared_ptr<RecordBytes> rest;  // of the last document; null: all of it is in `unsent`
  std::uint64_t rest_bytes = 0;
  FrameReader frames;
  std::optional<ResultHead> head;  // of the result that is coming
  env::SpoolWriter result;
  std::string reason;        // why it will end; empty: not known
  std::string cannot_start;  // likewise
  base::Ticks heard_at;  // when something of the first document's result came, or could begin to
  double service_ns = kFirstServiceNs;  // that a document takes, about
  std::int64_t served_ns = 0;           // when the last one was done, or the first was given
  std::uint64_t batch = 0;              // results of the event that is being handled
  std::int64_t ready_ns = 0;            // when it became ready
  WorkerUsage usage;                    // of this worker
  WorkerRecord record;                  // of those before it
  std::uint32_t bad_starts = 0;
  std::uint32_t idle_ends = 0;
};

inline void Dispatcher::Place::reset() {
  state = State::kOff;
  is_ending = false;
  given.clear();
  taken = 0;
  unsent.clear();
  sent = 0;
  rest = nullptr;
  rest_bytes = 0;
  frames = FrameReader();
  head.reset();
  result.clear();
  reason.clear();
  usage = {};
}

}  // namespace meguri::scan
