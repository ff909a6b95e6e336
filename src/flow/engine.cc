#include "flow/engine.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace meguri::flow {

using base::ErrorCode;
using base::fail;
using base::MutexLock;
using base::Status;

Engine::Engine(Graph graph, EngineOptions options)
    : graph_(std::move(graph)), options_(std::move(options)) {
  CHECK(options_.clock != nullptr);
  services_ = {options_.clock, options_.files, options_.state_dir, options_.counts_cpu};
}

Engine::~Engine() = default;

Status Engine::start() {
  RETURN_IF_ERROR(graph_.validate());
  RETURN_IF_ERROR(assemble());
  RETURN_IF_ERROR(restore());
  Status started;
  for_each_instance([&](Instance& instance) {
    if (started) started = instance.start();
  });
  RETURN_IF_ERROR(started);
  last_epoch_ms_ = clock().ticks().ms();
  launch();
  return {};
}

Status Engine::assemble() {
  const auto& nodes = graph_.nodes();
  Host& host = *this;
  nodes_.resize(nodes.size());
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (nodes[i].spills && options_.files == nullptr) {
      return fail(ErrorCode::kInvalid, "the spilling edge {} needs a state folder", nodes[i].name);
    }
    const std::size_t count = nodes[i].options.instances;
    for (std::size_t k = 0; k < count; ++k) {
      nodes_[i].push_back(std::make_unique<Instance>(
          Instance::Identity{nodes[i].name, i, k, count, nodes[i].options.kind}, nodes[i].make(),
          services_, base::mix64(options_.seed ^ base::mix64((i << 16U) + k)), host));
      ++instance_count_;
    }
  }
  lanes_.resize(graph_.edges().size());
  for (std::size_t i = 0; i < graph_.edges().size(); ++i) RETURN_IF_ERROR(build_edge(i));
  return {};
}

Status Engine::build_edge(std::size_t index) {
  const EdgeSpec& spec = graph_.edges()[index];
  const NodeSpec& to = graph_.nodes()[spec.to];
  const Module& consumer = nodes_[spec.to].front()->module();
  if (to.options.split == Split::kKey && !spec.has_key(consumer)) {
    return fail(ErrorCode::kInvalid,
                "module '{}' is split by key, but the input from '{}' has none", to.name,
                graph_.nodes()[spec.from].name);
  }
  edge_labels_.push_back(spec.label(nodes_[spec.from].front()->module(), consumer));
  taps_.push_back(spec.make_taps());
  // With one instance every split is the same, and the cheapest is the one without a choice.
  const Split split = nodes_[spec.to].size() == 1 ? Split::kSingle : to.options.split;
  for (const auto& from : nodes_[spec.from]) {
    auto built = spec.build(spec, index, *from, nodes_[spec.to], split, *taps_.back());
    from->add_output(*built.end, spec.edge.carries_epochs());
    ends_.push_back(std::move(built.end));
    for (auto& lane : built.lanes) {
      lane->consumer().add_input(*lane);
      lanes_[index].push_back(std::move(lane));
    }
  }
  return {};
}

Instance* Engine::find(const std::string& label) const {
  Instance* found = nullptr;
  for_each_instance([&](Instance& instance) {
    if (instance.label() == label) found = &instance;
  });
  return found;
}

Status Engine::restore() {
  if (options_.files == nullptr) return {};
  RETURN_IF_ERROR(options_.files->make_dirs(options_.state_dir));
  ASSIGN_OR_RETURN(const Checkpoint checkpoint,
                   Checkpoint::load(*options_.files, options_.state_dir));
  // Whoever wrote it may have ended before its name was safe, and what only an earlier one needs is
  // about to be removed.
  RETURN_IF_ERROR(options_.files->sync_dir(options_.state_dir));
  durable_epoch_ = last_begun_ = checkpoint.epoch;
  for_each_instance([&](Instance& instance) { instance.set_epoch(checkpoint.epoch); });
  for (const auto& [label, state] : checkpoint.states) {
    Instance* instance = find(label);
    if (instance == nullptr) {
      return fail(ErrorCode::kInvalid,
                  "the checkpoint of epoch {} has state for '{}', which this graph does not have",
                  checkpoint.epoch, label);
    }
    RETURN_IF_ERROR(instance->restore(checkpoint.epoch, state));
  }
  return {};
}

// --- Ends.

Status Engine::drain() {
  draining_ = true;
  for_each_instance([](Instance& instance) { instance.notify(); });
  RETURN_IF_ERROR(run_until_quiet());
  RETURN_IF_ERROR(end_epoch());
  RETURN_IF_ERROR(run_until_quiet());
  return stop();
}

Status Engine::stop() {
  halt();
  return status();
}

void Engine::failed(base::Error error) {
  {
    const MutexLock lock(mutex_);
    if (status_) status_ = std::unexpected(std::move(error));
    failed_ = true;
  }
  on_change();
}

Status Engine::status() const {
  const MutexLock lock(mutex_);
  return status_;
}

// --- Epochs.

void Engine::request_epoch() {
  epoch_requested_ = true;
  on_change();
}

bool Engine::epoch_wanted() const {
  return !epoch_begun() && (epoch_requested_ || clock().ticks() >= epoch_due());
}

base::Ticks Engine::epoch_due() const {
  if (options_.epoch_every <= base::Duration()) return base::Ticks::never();
  return base::Ticks::from_ms(last_epoch_ms_) + options_.epoch_every;
}

void Engine::begin_epoch() {
  const EpochId epoch = durable_epoch() + 1;
  epoch_requested_ = false;
  epoch_began_ns_ = clock().nanoseconds();
  {
    const MutexLock lock(mutex_);
    next_ = {epoch, {}};
    uncommitted_ = instance_count_;
  }
  epoch_begun_ = true;
  last_begun_ = epoch;
  for_each_instance([epoch](Instance& instance) { instance.end_epoch(epoch); });
}

void Engine::committed(Instance& instance, EpochId epoch, std::string state) {
  bool all = false;
  {
    const MutexLock lock(mutex_);
    CHECK(epoch == next_.epoch && uncommitted_ > 0, "{} committed epoch {} out of turn",
          instance.label(), epoch);
    if (!state.empty()) next_.states[instance.label()] = std::move(state);
    all = --uncommitted_ == 0;
  }
  if (all) on_change();
}

bool Engine::all_committed() const {
  const MutexLock lock(mutex_);
  return epoch_begun_ && uncommitted_ == 0;
}

void Engine::conclude_epoch() {
  Checkpoint checkpoint;
  {
    const MutexLock lock(mutex_);
    checkpoint = std::move(next_);
  }
  if (options_.files != nullptr) {
    if (auto saved = checkpoint.save(*options_.files, options_.state_dir); !saved) {
      failed(saved.error().with_context("cannot write the checkpoint"));
      return;
    }
  }
  last_epoch_ms_ = clock().ticks().ms();
  epochs_ns_ += clock().nanoseconds() - epoch_began_ns_;
  ++epochs_;
  durable_epoch_ = checkpoint.epoch;
  for_each_instance([&](Instance& instance) { instance.say_durable(checkpoint.epoch); });
  epoch_begun_ = false;
  on_change();
}

// --- Looking in.

bool Engine::nothing_queued() const {
  return std::ranges::all_of(lanes_, [](const auto& lanes) {
    return std::ranges::all_of(lanes, [](const auto& lane) { return lane->depth() == 0; });
  });
}

bool Engine::modules_idle() const {
  bool idle = true;
  for_each_instance([&](const Instance& instance) { idle = idle && instance.module_idle(); });
  return idle;
}

base::Error Engine::stuck() const {
  std::string queued;
  for (std::size_t i = 0; i < lanes_.size(); ++i) {
    std::size_t depth = 0;
    for (const auto& lane : lanes_[i]) depth += lane->depth();
    if (depth == 0) continue;
    const EdgeSpec& edge = graph_.edges()[i];
    queued += fmt::format(" {} from {} to {};", depth, graph_.nodes()[edge.from].name,
                          graph_.nodes()[edge.to].name);
  }
  for_each_instance([&](const Instance& instance) {
    if (!instance.module_idle()) queued += fmt::format(" {} is not idle;", instance.label());
  });
  if (!queued.empty()) queued.pop_back();
  return {ErrorCode::kFailed, "the graph has come to a stand:" + queued};
}

Metrics Engine::metrics() const {
  Metrics metrics;
  metrics.durable_epoch = durable_epoch();
  metrics.epochs = epochs_;
  metrics.epoch_seconds = static_cast<double>(epochs_ns_) / 1e9;
  for_each_instance([&](const Instance& instance) {
    const InstanceCounters& c = instance.counters();
    metrics.instances.push_back({instance.label(), c.items_in, c.items_out, c.runs, c.runs_full,
                                 c.backlog, static_cast<double>(c.busy_ns) / 1e9,
                                 static_cast<double>(c.cpu_ns) / 1e9});
  });
  for (std::size_t i = 0; i < lanes_.size(); ++i) {
    const EdgeSpec& spec = graph_.edges()[i];
    EdgeMetrics edge{
        graph_.nodes()[spec.from].name, graph_.nodes()[spec.to].name, edge_labels_[i], 0, 0, 0};
    for (const auto& lane : lanes_[i]) {
      edge.items += lane->pushed();
      edge.depth += lane->depth();
      edge.waits += lane->waits();
    }
    metrics.edges.push_back(std::move(edge));
  }
  return metrics;
}

}  // namespace meguri::flow
