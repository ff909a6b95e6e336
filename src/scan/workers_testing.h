// PlayedWorkers: workers in a play with virtual time, that fail as analysers do.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/check.h"
#include "env/clock.h"
#include "env/random.h"
#include "scan/frames.h"
#include "scan/workers.h"

namespace meguri::scan {

// What befalls a worker at a document, each with a chance in ten thousand.
struct PlayedFaults {
  std::uint64_t crash = 0;
  std::uint64_t crash_within_result = 0;  // half of it was sent
  std::uint64_t hang = 0;
  std::uint64_t rubbish = 0;            // bytes that are no frames
  std::uint64_t wrong_number = 0;       // the result of another document
  std::uint64_t failed = 0;             // tells that its analyser failed
  std::uint64_t early_end = 0;          // ends as if all was done
  std::uint64_t bad_start = 0;          // of a start
  std::uint64_t no_end = 0;             // goes on when it is told to end
  std::set<std::uint64_t> poison = {};  // documents that crash every worker
  std::set<std::uint64_t> lost = {};    // documents that no worker can read
};

// The result of a document in the play.
inline std::string played_result(std::uint64_t number, std::uint64_t bytes) {
  return "document " + std::to_string(number) + " of " + std::to_string(bytes);
}

class PlayedWorkers final : public Workers {
 public:
  static constexpr std::size_t kSocketBytes = 100'000;

  PlayedWorkers(std::size_t workers, PlayedFaults faults, std::uint64_t seed,
                env::VirtualClock& clock)
      : faults_(std::move(faults)), clock_(clock), random_(seed), actors_(workers) {}

  base::Status start(std::size_t worker) override {
    Actor& actor = actors_[worker];
    CHECK(!actor.is_running, "a worker started twice");
    actor = Actor();
    actor.is_running = true;
    actor.free_at = clock_.ticks() + base::Duration::from_ms(5);
    ++starts_;
    return {};
  }
  std::size_t send(std::size_t worker, std::string_view bytes) override {
    Actor& actor = actors_[worker];
    if (!actor.is_running) return 0;
    const std::size_t room = kSocketBytes - std::min(kSocketBytes, actor.inbox.size());
    const std::size_t taken = std::min(bytes.size(), room);
    actor.inbox += bytes.substr(0, taken);
    return taken;
  }
  void kill(std::size_t worker) override {
    Actor& actor = actors_[worker];
    if (actor.is_running && !actor.end) actor.end = "it was ended by signal 9 (SIGKILL)";
  }
  base::Status wait(base::Duration limit, const std::vector<bool>& /*wanted*/,
                    std::vector<WorkerEvent>& events) override {
    const base::Ticks end = clock_.ticks() + limit;
    for (;;) {
      for (std::size_t i = 0; i < actors_.size(); ++i) act(i, events);
      if (!events.empty() || clock_.ticks() >= end) return {};
      clock_.advance(base::Duration::from_ms(1));
    }
  }

  void rest(base::Duration duration) override { clock_.advance(duration); }

  // How often a worker failed at a document, whoever was blamed.
  std::uint64_t failures_at(std::uint64_t number) const {
    const auto found = failures_.find(number);
    return found == failures_.end() ? 0 : found->second;
  }
  std::uint64_t starts() const { return starts_; }

 private:
  struct Actor {
    bool is_running = false;
    bool is_ready = false;
    bool is_hung = false;
    std::optional<std::string> end;  // it ends so
    std::string inbox;
    FrameReader frames;
    std::optional<DocumentHead> document;  // that it is at
    std::uint64_t received = 0;            // bytes of it
    base::Ticks free_at;
  };

  bool happens(std::uint64_t chance) { return random_.below(10'000) < chance; }

  void act(std::size_t index, std::vector<WorkerEvent>& events) {
    Actor& actor = actors_[index];
    if (!actor.is_running) return;
    std::string out;
    if (!actor.end && !actor.is_hung && clock_.ticks() >= actor.free_at) step(actor, out);
    if (!out.empty()) {
      // Whatever way the bytes are cut.
      const std::size_t cut = random_.below(out.size() + 1);
      if (cut > 0) events.push_back({.worker = index, .bytes = out.substr(0, cut)});
      if (cut < out.size()) events.push_back({.worker = index, .bytes = out.substr(cut)});
    }
    if (!actor.end) return;
    events.push_back(
        {.worker = index, .bytes = {}, .end = WorkerEnd{*actor.end, "its last words"}});
    actor.is_running = false;
  }

  void step(Actor& actor, std::string& out) {
    if (!actor.is_ready) {
      if (happens(faults_.bad_start)) {
        actor.end = "it ended with exit status 1";
        return;
      }
      actor.is_ready = true;
      put_frame(out, FrameType::kReady, {});
    }
    if (actor.document && actor.received == actor.document->bytes) finish(actor, out);
    while (!actor.end && !actor.is_hung && clock_.ticks() >= actor.free_at && read(actor)) continue;
  }

  // The next frame. False: there is none.
  bool read(Actor& actor) {
    actor.frames.feed(std::exchange(actor.inbox, std::string()));
    const auto frame = actor.frames.next();
    CHECK(frame.has_value(), "the dispatcher sent no frame");
    if (!*frame) return false;
    switch ((*frame)->type) {
      case FrameType::kSettings: break;
      case FrameType::kDocument:
        actor.document = parse_document_head((*frame)->payload);
        actor.received = 0;
        break;
      case FrameType::kBytes: actor.received += (*frame)->payload.size(); break;
      case FrameType::kEnd:
        actor.is_hung = happens(faults_.no_end);
        if (!actor.is_hung) actor.end = "it ended with exit status 0";
        break;
      default: CHECK(false, "a frame for nobody");
    }
    if (actor.document && actor.received == actor.document->bytes) {
      const auto takes = static_cast<std::int64_t>(1 + random_.below(20));
      actor.free_at = clock_.ticks() + base::Duration::from_ms(takes);
    }
    return true;
  }

  void finish(Actor& actor, std::string& out) {
    const std::uint64_t number = actor.document->facts.number;
    const std::string result = played_result(number, actor.document->bytes);
    actor.document.reset();
    if (faults_.lost.contains(number)) {
      put_lost(out, {.number = number, .reason = "the record is damaged"});
      return;
    }
    std::string whole;
    put_result_head(whole, {.number = number, .bytes = result.size()});
    put_bytes(whole, result);
    if (!fail(actor, number, whole, out)) out += whole;
  }

  // True: something befell it.
  bool fail(Actor& actor, std::uint64_t number, const std::string& whole, std::string& out) {
    if (faults_.poison.contains(number) || happens(faults_.crash)) {
      actor.end = "it was ended by signal 11 (SIGSEGV)";
    } else if (happens(faults_.crash_within_result)) {
      out += whole.substr(0, whole.size() / 2);
      actor.end = "it was ended by signal 11 (SIGSEGV)";
    } else if (happens(faults_.hang)) {
      actor.is_hung = true;
    } else if (happens(faults_.rubbish)) {
      out += std::string(100, '\xff');
      actor.is_hung = true;
    } else if (happens(faults_.wrong_number)) {
      put_result_head(out, {.number = number + 1, .bytes = 0});
      actor.is_hung = true;
    } else if (happens(faults_.failed)) {
      put_frame(out, FrameType::kFailed, "it ended with exit status 3");
      actor.end = "it ended with exit status 1";
    } else if (happens(faults_.early_end)) {
      actor.end = "it ended with exit status 0";
    } else {
      return false;
    }
    ++failures_[number];
    return true;
  }

  const PlayedFaults faults_;
  env::VirtualClock& clock_;
  env::Random random_;
  std::vector<Actor> actors_;
  std::map<std::uint64_t, std::uint64_t> failures_;
  std::uint64_t starts_ = 0;
};

}  // namespace meguri::scan
