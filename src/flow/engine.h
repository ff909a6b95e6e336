// Engine: runs a graph. What is common to all engines: assembly, epochs, quiescence, metrics.
// ThreadEngine and SimulationEngine add when and on which thread an instance runs. Modules know
// nothing of it.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "base/result.h"
#include "base/time.h"
#include "flow/checkpoint.h"
#include "flow/graph.h"
#include "flow/instance.h"
#include "flow/tap.h"

namespace meguri::flow {

struct EngineOptions {
  const env::Clock* clock = nullptr;  // required; a SimulationEngine brings its own
  env::FileSystem* files = nullptr;   // with state_dir: where spill files and checkpoints are kept
  std::string state_dir = {};
  base::Duration epoch_every{};  // zero: an epoch ends only when it is asked for
  std::uint64_t seed = 1;
  bool counts_cpu = false;  // fills InstanceMetrics::cpu_seconds, at two system calls a run
};

struct InstanceMetrics {
  std::string name;
  std::uint64_t items_in = 0;
  std::uint64_t items_out = 0;
  std::uint64_t runs = 0;
  std::uint64_t runs_full = 0;  // runs that ended because an output was full
  std::uint64_t backlog = 0;    // items the module holds
  double busy_seconds = 0;
  double cpu_seconds = 0;  // where the engine counts them, with a poller's poll()
};

struct EdgeMetrics {
  std::string from;
  std::string to;
  std::string ports;
  std::uint64_t items = 0;
  std::uint64_t depth = 0;
  std::uint64_t waits = 0;  // times a producer found it full
};

struct Metrics {
  std::vector<InstanceMetrics> instances;
  std::vector<EdgeMetrics> edges;
  EpochId durable_epoch = kNoEpoch;
  // Since the start.
  std::uint64_t epochs = 0;
  double epoch_seconds = 0;  // from their begin to their checkpoint
};

// Life: start(); then run_until_quiet(), run_for() and end_epoch() as often as wanted; then
// drain() or stop(). After an error everything stands still and every call returns that error.
// All public calls by one thread, except metrics(), tap(), request_epoch() and stop_soon().
class Engine : protected Host {
 public:
  ~Engine() override;
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  // Checks and assembles the graph, restores the last checkpoint and starts all modules.
  base::Status start();

  // Returns when nothing is queued, running or held by a module. An error if nothing can move
  // although items are queued.
  virtual base::Status run_until_quiet() = 0;
  virtual base::Status run_for(base::Duration time) = 0;
  // Ends an epoch now and returns when it is durable.
  virtual base::Status end_epoch() = 0;

  // Tells the modules to begin nothing new, waits until all is quiet, ends a last epoch, stops.
  base::Status drain();
  // Stops now: calls in progress end, queued items are dropped. What the last durable epoch holds
  // remains on disk.
  base::Status stop();

  // Ends the epoch soon. Any thread.
  void request_epoch() override;
  EpochId durable_epoch() const { return durable_epoch_.load(std::memory_order_acquire); }

  Metrics metrics() const;

  // A reader of an edge, holding up to `capacity` items it has not taken yet.
  template <typename T>
  std::shared_ptr<Tap<T>> tap(EdgeRef<T> edge, std::size_t capacity = 1024) {
    return static_cast<TapPoint<T>&>(*taps_[edge.index]).add(capacity);
  }

  // The module itself, for tests and for results. Only while nothing runs.
  template <typename M>
  M& module(Node<M> node, std::size_t index = 0) {
    return static_cast<M&>(nodes_[node.index][index]->module());
  }

 protected:
  Engine(Graph graph, EngineOptions options);

  // --- For the engines.
  virtual void launch() = 0;  // all instances are assembled and notified
  virtual void halt() = 0;    // no instance runs when it returns; may be called twice

  const EngineOptions& options() const { return options_; }
  const env::Clock& clock() const { return *options_.clock; }
  std::vector<std::unique_ptr<Instance>>& instances_of(std::size_t node) { return nodes_[node]; }
  template <typename Use>
  void for_each_instance(Use use) const {
    for (const auto& node : nodes_) {
      for (const auto& instance : node) use(*instance);
    }
  }
  // Nothing is queued and no module holds hidden work. Meaningful while no instance is running.
  bool nothing_queued() const;
  bool modules_idle() const;
  base::Error stuck() const;  // names what is queued

  // Epochs: wanted → begun → all committed → concluded.
  bool epoch_wanted() const;  // asked for, or its time has come
  base::Ticks epoch_due() const;
  void begin_epoch();
  // The first epoch that will hold all that has happened up to now.
  EpochId next_epoch() const { return last_begun_.load(std::memory_order_acquire) + 1; }
  bool epoch_begun() const { return epoch_begun_.load(std::memory_order_acquire); }
  bool all_committed() const;
  void conclude_epoch();  // writes the checkpoint and says so

  base::Status status() const;
  bool has_failed() const { return failed_.load(std::memory_order_acquire); }
  virtual void on_change() = 0;  // an epoch, a failure: waiting calls look again

  // --- Host.
  void committed(Instance& instance, EpochId epoch, std::string state) override;
  void failed(base::Error error) override;
  bool draining() const override { return draining_.load(std::memory_order_acquire); }

 private:
  base::Status assemble();
  base::Status build_edge(std::size_t index);
  base::Status restore();
  Instance* find(const std::string& label) const;

  Graph graph_;
  EngineOptions options_;
  Services services_;

  std::vector<std::vector<std::unique_ptr<Instance>>> nodes_;
  std::vector<std::unique_ptr<TapPointBase>> taps_;
  std::vector<std::vector<std::unique_ptr<LaneBase>>> lanes_;  // by edge
  std::vector<std::unique_ptr<EdgeEndBase>> ends_;
  std::vector<std::string> edge_labels_;
  std::size_t instance_count_ = 0;

  std::atomic<bool> draining_{false};
  std::atomic<bool> failed_{false};
  std::atomic<bool> epoch_requested_{false};
  std::atomic<bool> epoch_begun_{false};
  std::atomic<EpochId> last_begun_{kNoEpoch};
  std::atomic<EpochId> durable_epoch_{kNoEpoch};
  std::atomic<std::int64_t> last_epoch_ms_{0};  // by the monotonic clock
  std::atomic<std::int64_t> epoch_began_ns_{0};
  std::atomic<std::int64_t> epochs_ns_{0};  // what all of this process took
  std::atomic<std::uint64_t> epochs_{0};

  mutable base::Mutex mutex_;
  base::Status status_ GUARDED_BY(mutex_);
  Checkpoint next_ GUARDED_BY(mutex_);
  std::size_t uncommitted_ GUARDED_BY(mutex_) = 0;
};

}  // namespace meguri::flow
