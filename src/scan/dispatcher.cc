#include "scan/dispatcher.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "scan/dispatcher_place.h"

namespace meguri::scan {

namespace {

using base::Duration;
using base::ErrorCode;
using base::Ticks;

constexpr std::size_t kBatchBytes = std::size_t{64} << 10U;  // gathered before they are sent
constexpr double kServiceWeight = 0.2;                       // of a new measure
constexpr Duration kLookEvery = Duration::from_ms(50);
constexpr Duration kRestMax = Duration::from_ms(10);
constexpr Duration kEndPatience = Duration::seconds(10);
constexpr std::uint32_t kBadStartsMax = 3;  // in a row
constexpr std::uint32_t kIdleEndsMax = 10;  // in a row

}  // namespace

Dispatcher::Dispatcher(DispatchSettings settings, Workers& workers, DocumentFeed& feed,
                       DispatchSink& sink, const env::Clock& clock, env::Spool& spool)
    : settings_(std::move(settings)),
      workers_(workers),
      feed_(feed),
      sink_(sink),
      clock_(clock),
      pending_(settings_.workers),
      is_exhausted_(settings_.workers, false),
      wanted_(settings_.workers, false) {
  for (std::size_t i = 0; i < settings_.workers; ++i) {
    places_.push_back(std::make_unique<Place>(i, spool));
  }
}

Dispatcher::~Dispatcher() = default;

base::Status Dispatcher::run(const std::function<bool()>& is_stopped) {
  for (const auto& place : places_) RETURN_IF_ERROR(start(*place));
  for (;;) {
    if (is_stopped()) return base::fail(ErrorCode::kStopped, "stopped");
    RETURN_IF_ERROR(give_all());
    if (is_over()) break;
    RETURN_IF_ERROR(wait_for_events());
    check_time();
    RETURN_IF_ERROR(sink_.look(clock_.ticks()));
  }
  return end_workers();
}

base::Status Dispatcher::start(Place& place) {
  RETURN_IF_ERROR(workers_.start(place.index));
  place.state = Place::State::kStarting;
  put_frame(place.unsent, FrameType::kSettings, settings_.worker_settings);
  return pump(place);
}

// One document for each in turn, so that few are spread over all.
base::Status Dispatcher::give_all() {
  bool is_given = true;
  while (is_given) {
    is_given = false;
    for (const auto& place : places_) {
      if (!takes_more(*place)) continue;
      ASSIGN_OR_RETURN(auto task, next_task(*place));
      if (!task) continue;
      RETURN_IF_ERROR(give(*place, *std::move(task)));
      is_given = true;
    }
  }
  for (const auto& place : places_) RETURN_IF_ERROR(pump(*place));
  return {};
}

bool Dispatcher::takes_more(const Place& place) const {
  if (place.state != Place::State::kReady || place.is_ending || !place.reason.empty()) return false;
  if (place.rest != nullptr || place.unsent.size() - place.sent >= kBatchBytes) return false;
  if (place.given.empty()) return true;
  if (settings_.mode == DispatchMode::kSync || place.given.back().is_alone) return false;
  return place.given.size() < place.window();
}

base::Result<std::optional<Dispatcher::Task>> Dispatcher::next_task(const Place& place) {
  bool must_drain = false;
  if (auto task = take_retry(place, must_drain)) return task;
  if (must_drain) return std::nullopt;
  return next_new(place);
}

// One that failed elsewhere. It is given to a worker that has no other, which is to become so.
std::optional<Dispatcher::Task> Dispatcher::take_retry(const Place& place, bool& must_drain) {
  for (auto it = retries_.begin(); it != retries_.end(); ++it) {
    const bool is_here = it->last_worker == place.index;
    const bool is_static = settings_.mode == DispatchMode::kStatic;
    if (is_static ? it->last_worker && !is_here : is_here && places_.size() > 1 && it->is_alone) {
      continue;
    }
    if (it->is_alone && !place.given.empty()) {
      must_drain = true;
      return std::nullopt;
    }
    Task task = std::move(*it);
    retries_.erase(it);
    return task;
  }
  return std::nullopt;
}

base::Result<std::optional<Dispatcher::Task>> Dispatcher::next_new(const Place& place) {
  const std::size_t part = settings_.mode == DispatchMode::kStatic ? place.index : 0;
  std::optional<DocumentPointer>& pending = pending_[part];
  if (!pending) {
    if (is_exhausted_[part]) return std::nullopt;
    ASSIGN_OR_RETURN(pending, feed_.next(part));
    if (!pending) {
      is_exhausted_[part] = true;
      return std::nullopt;
    }
  }
  if (pending->facts.number >= sink_.numbers_end()) return std::nullopt;
  return Task{.pointer = *std::exchange(pending, std::nullopt)};
}

base::Status Dispatcher::give(Place& place, Task task) {
  auto bytes = feed_.open(task.pointer);
  if (!bytes) {
    if (bytes.error().code() != ErrorCode::kCorrupt) return std::unexpected(bytes.error());
    return skip(task, bytes.error().message(), {});
  }
  // Until it is sent, the head can be taken back.
  const std::size_t start = place.unsent.size();
  const std::uint64_t size = (*bytes)->size();
  put_document_head(place.unsent, {.facts = task.pointer.facts, .bytes = size});
  place.rest = *std::move(bytes);
  place.rest_bytes = size;
  if (const auto status = fill(place); !status) {
    place.unsent.resize(start);
    place.rest = nullptr;
    if (status.error().code() != ErrorCode::kCorrupt) return status;
    return skip(task, status.error().message(), {});
  }
  if (place.given.empty()) {
    place.heard_at = clock_.ticks();
    place.served_ns = clock_.nanoseconds();
  }
  task.last_worker = place.index;
  place.given.push_back(std::move(task));
  ++place.taken;
  counts_.bytes += size;
  if (settings_.restart_after == 0 || place.taken < settings_.restart_after) return {};
  place.is_ending = true;
  if (place.rest == nullptr) put_frame(place.unsent, FrameType::kEnd, {});
  return {};
}

// Takes the next piece of a document.
base::Status Dispatcher::fill(Place& place) {
  const auto length =
      static_cast<std::size_t>(std::min<std::uint64_t>(place.rest_bytes, kFrameBytesMax));
  if (length > 0) {
    put_frame_head(place.unsent, FrameType::kBytes, length);
    RETURN_IF_ERROR(place.rest->read(length, place.unsent));
    place.rest_bytes -= length;
  }
  if (place.rest_bytes == 0) place.rest = nullptr;
  return {};
}

// Sends what the worker takes.
base::Status Dispatcher::pump(Place& place) {
  while (place.has_unsent() && place.state != Place::State::kOff) {
    if (place.sent == place.unsent.size()) {
      place.unsent.clear();
      place.sent = 0;
      if (const auto status = fill(place); !status) {
        if (status.error().code() != ErrorCode::kCorrupt) return status;
        // Half of it is there, which nobody can take back.
        place.given.back().lost = status.error().message();
        place.rest = nullptr;
        give_up_on(place, "a document could not be read to its end");
        return {};
      }
      if (place.rest == nullptr && place.is_ending) put_frame(place.unsent, FrameType::kEnd, {});
    }
    const std::size_t sent =
        workers_.send(place.index, std::string_view(place.unsent).substr(place.sent));
    if (sent == 0) return {};
    place.sent += sent;
    if (place.given.size() == 1) place.heard_at = clock_.ticks();
  }
  if (place.sent == place.unsent.size()) {
    place.unsent.clear();
    place.sent = 0;
  }
  return {};
}

// How long nobody needs anything: a quarter of what the worker with the least work has before it.
Duration Dispatcher::time_to_spare() const {
  if (settings_.mode == DispatchMode::kSync || is_ending_) return {};
  double least_ns = static_cast<double>(kRestMax.ms()) * 4e6;
  for (const auto& place : places_) {
    if (place->state != Place::State::kReady) return {};
    const auto given = static_cast<double>(place->given.size());
    least_ns = std::min(least_ns, given * place->service_ns);
  }
  return Duration::from_ms(static_cast<std::int64_t>(least_ns / 4e6));
}

base::Status Dispatcher::wait_for_events() {
  // Results are taken many at a time, so that workers have the processors for themselves.
  if (const Duration spare = time_to_spare(); spare > Duration()) workers_.rest(spare);
  for (const auto& place : places_) wanted_[place->index] = place->has_unsent();
  events_.clear();
  RETURN_IF_ERROR(workers_.wait(kLookEvery, wanted_, events_));
  for (const WorkerEvent& event : events_) {
    Place& place = *places_[event.worker];
    RETURN_IF_ERROR(event.end ? take_end(place, *event.end) : take_bytes(place, event.bytes));
  }
  return {};
}

base::Status Dispatcher::take_bytes(Place& place, std::string_view bytes) {
  place.batch = 0;
  place.frames.feed(bytes);
  for (;;) {
    const auto frame = place.frames.next();
    if (!frame) {
      give_up_on(place, "it broke the protocol of workers");
      return {};
    }
    if (!*frame) break;
    if (place.reason.empty()) RETURN_IF_ERROR(take_frame(place, **frame));
  }
  if (place.batch == 0) return {};
  const std::int64_t now = clock_.nanoseconds();
  const double took = static_cast<double>(now - place.served_ns) / static_cast<double>(place.batch);
  place.service_ns += kServiceWeight * (took - place.service_ns);
  place.served_ns = now;
  place.record.last_ns = now;
  return {};
}

base::Status Dispatcher::take_frame(Place& place, const Frame& frame) {
  switch (frame.type) {
    case FrameType::kReady:
      place.state = Place::State::kReady;
      place.bad_starts = 0;
      place.ready_ns = clock_.nanoseconds();
      return {};
    case FrameType::kResult: return begin_result(place, frame);
    case FrameType::kBytes: return append_result(place, frame.payload);
    case FrameType::kLost: return take_lost(place, frame);
    case FrameType::kUsage: take_usage(place, frame); return {};
    case FrameType::kFailed: give_up_on(place, std::string(frame.payload)); return {};
    case FrameType::kCannotStart:
      place.cannot_start = frame.payload;
      give_up_on(place, place.cannot_start);
      return {};
    default: give_up_on(place, "it broke the protocol of workers"); return {};
  }
}

base::Status Dispatcher::begin_result(Place& place, const Frame& frame) {
  const auto head = parse_result_head(frame.payload);
  if (!head || place.head || place.given.empty() ||
      place.given.front().pointer.facts.number != head->number) {
    give_up_on(place, "it broke the protocol of workers");
    return {};
  }
  place.head = head;
  place.heard_at = clock_.ticks();
  place.result.expect(head->bytes);
  return head->bytes == 0 ? end_result(place) : base::Status();
}

base::Status Dispatcher::append_result(Place& place, std::string_view bytes) {
  if (!place.head || place.result.size() + bytes.size() > place.head->bytes) {
    give_up_on(place, "it broke the protocol of workers");
    return {};
  }
  RETURN_IF_ERROR(place.result.append(bytes));
  place.heard_at = clock_.ticks();
  return place.result.size() == place.head->bytes ? end_result(place) : base::Status();
}

base::Status Dispatcher::end_result(Place& place) {
  const std::uint64_t number = place.head->number;
  place.head.reset();
  place.given.pop_front();
  ++place.batch;
  ++place.record.results;
  ++counts_.results;
  place.idle_ends = 0;
  return sink_.result(number, place.result.finish());
}

base::Status Dispatcher::take_lost(Place& place, const Frame& frame) {
  const auto lost = parse_lost(frame.payload);
  const auto task = lost ? std::ranges::find(place.given, lost->number,
                                             [](const Task& t) { return t.pointer.facts.number; })
                         : place.given.end();
  if (task == place.given.end()) {
    give_up_on(place, "it broke the protocol of workers");
    return {};
  }
  const Task skipped = std::move(*task);
  place.given.erase(task);
  place.heard_at = clock_.ticks();
  return skip(skipped, lost->reason, {});
}

void Dispatcher::take_usage(Place& place, const Frame& frame) {
  const auto usage = parse_usage(frame.payload);
  if (!usage) return;
  place.usage = *usage;
  if (on_usage_) on_usage_(place.index, records()[place.index]);
}

// It will end soon, of itself or not.
void Dispatcher::give_up_on(Place& place, std::string reason) {
  if (place.reason.empty()) place.reason = std::move(reason);
  workers_.kill(place.index);
}

base::Status Dispatcher::take_end(Place& place, const WorkerEnd& end) {
  if (!place.cannot_start.empty()) {
    return base::fail(ErrorCode::kFailed, "{}", place.cannot_start);
  }
  const bool was_starting = place.state == Place::State::kStarting;
  if (place.state == Place::State::kReady) {
    place.record.ready_ns += static_cast<std::uint64_t>(clock_.nanoseconds() - place.ready_ns);
    place.record.idle_ns += place.usage.idle_ns;
    place.record.cpu_ns += place.usage.cpu_ns;
  }
  if (was_starting && !is_ending_ && ++place.bad_starts >= kBadStartsMax) {
    return base::fail(ErrorCode::kFailed, "no worker can be started: {}{}{}", end.how,
                      end.said.empty() ? "" : "; it said: ", end.said);
  }
  if (!place.given.empty()) {
    ++counts_.failures;
    RETURN_IF_ERROR(return_documents(place, end));
  } else if (place.is_ending) {
    if (!is_ending_) ++counts_.restarts;
  } else if (!was_starting && !is_ending_ && ++place.idle_ends >= kIdleEndsMax) {
    return base::fail(ErrorCode::kFailed, "workers end without a document: {}",
                      place.reason.empty() ? end.how : place.reason);
  }
  place.reset();
  return is_ending_ ? base::Status() : start(place);
}

// The first is to blame, unless it was we who broke off a document; the others, which may have been
// near, are innocent until they are first.
base::Status Dispatcher::return_documents(Place& place, const WorkerEnd& end) {
  const std::string reason = place.reason.empty() ? end.how : place.reason;
  const bool is_broken_off = place.given.back().lost.has_value();
  if (is_broken_off) {
    RETURN_IF_ERROR(skip(place.given.back(), *place.given.back().lost, {}));
    place.given.pop_back();
  }
  const bool was_alone = place.given.size() == 1;
  while (place.given.size() > (is_broken_off ? 0 : 1)) {
    retries_.push_front(std::move(place.given.back()));
    place.given.pop_back();
  }
  if (place.given.empty()) return {};
  Task first = std::move(place.given.front());
  ++first.tries;
  if (was_alone && first.tries >= settings_.tries_max) return skip(first, reason, end.said);
  first.is_alone = true;
  retries_.push_back(std::move(first));
  return {};
}

base::Status Dispatcher::skip(const Task& task, std::string reason, std::string said) {
  ++counts_.skipped;
  const SkippedDocument document{.pointer = task.pointer,
                                 .reason = std::move(reason),
                                 .said = std::move(said),
                                 .tries = task.tries};
  RETURN_IF_ERROR(check_hope(document));
  return sink_.skipped(document);
}

base::Status Dispatcher::check_hope(const SkippedDocument& document) const {
  if (counts_.results > 0 || document.tries == 0 || counts_.skipped < settings_.hopeless_after) {
    return {};
  }
  return base::fail(
      ErrorCode::kFailed, "the analyser failed at each of the first {} documents: {}{}{}",
      counts_.skipped, document.reason, document.said.empty() ? "" : "; it said: ", document.said);
}

// Ends what is silent for too long, at a document or when it was told to end.
void Dispatcher::check_time() {
  const Ticks now = clock_.ticks();
  for (const auto& place : places_) {
    if (!place->reason.empty() || (place->given.empty() && !place->is_ending)) continue;
    const Duration limit = place->given.empty() ? kEndPatience : settings_.timeout;
    if (now - place->heard_at < limit) continue;
    give_up_on(*place, fmt::format("no result came within {}", limit.to_string()));
  }
}

bool Dispatcher::is_over() const {
  if (!retries_.empty()) return false;
  const std::size_t parts = settings_.mode == DispatchMode::kStatic ? places_.size() : 1;
  for (std::size_t i = 0; i < parts; ++i) {
    if (!is_exhausted_[i] || pending_[i]) return false;
  }
  return std::ranges::all_of(places_, [](const auto& place) { return place->given.empty(); });
}

// Lets them end by themselves, so that analysers can end what they do.
base::Status Dispatcher::end_workers() {
  is_ending_ = true;
  for (const auto& place : places_) {
    if (place->state == Place::State::kStarting) workers_.kill(place->index);
    if (place->state != Place::State::kReady || place->is_ending) continue;
    place->is_ending = true;
    put_frame(place->unsent, FrameType::kEnd, {});
    RETURN_IF_ERROR(pump(*place));
  }
  const Ticks end = clock_.ticks() + kEndPatience;
  const auto is_running = [](const auto& place) { return place->state != Place::State::kOff; };
  while (std::ranges::any_of(places_, is_running)) {
    RETURN_IF_ERROR(wait_for_events());
    for (const auto& place : places_) RETURN_IF_ERROR(pump(*place));
    if (clock_.ticks() < end) continue;
    for (const auto& place : places_) workers_.kill(place->index);
  }
  return {};
}

std::vector<WorkerRecord> Dispatcher::records() const {
  std::vector<WorkerRecord> records;
  for (const auto& place : places_) {
    WorkerRecord record = place->record;
    if (place->state == Place::State::kReady) {
      record.ready_ns += static_cast<std::uint64_t>(clock_.nanoseconds() - place->ready_ns);
      record.idle_ns += place->usage.idle_ns;
      record.cpu_ns += place->usage.cpu_ns;
    }
    records.push_back(record);
  }
  return records;
}

}  // namespace meguri::scan
