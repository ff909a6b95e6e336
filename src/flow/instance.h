// Instance: one copy of a module as an engine runs it: its lanes, its timers, its part in epochs,
// and the rule that one thread runs it at a time.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "env/random.h"
#include "flow/lane.h"
#include "flow/module.h"
#include "flow/port.h"

namespace meguri::flow {

// What an instance asks of the engine that runs it. Called from the instance's thread, except
// make_ready() and wake_poller(), which any thread may cause.
class Host {
 public:
  virtual ~Host() = default;
  virtual void make_ready(Instance& instance) = 0;   // it was idle and has work: run() it
  virtual void wake_poller(Instance& instance) = 0;  // a poller that never rests has work
  virtual void timer_set(Instance& instance, base::Ticks at) = 0;
  virtual void committed(Instance& instance, EpochId epoch, std::string state) = 0;
  virtual void request_epoch() = 0;
  virtual void failed(base::Error error) = 0;
  virtual bool draining() const = 0;
};

// Numbers for people; each written by one thread, read by any.
struct InstanceCounters {
  std::atomic<std::uint64_t> items_in{0};
  std::atomic<std::uint64_t> items_out{0};
  std::atomic<std::uint64_t> runs{0};
  std::atomic<std::uint64_t> runs_full{0};  // ended because an output was full
  std::atomic<std::uint64_t> backlog{0};    // items the module holds
  std::atomic<std::int64_t> busy_ns{0};
  std::atomic<std::int64_t> cpu_ns{0};  // counted where Services say so
};

class Instance {
 public:
  struct Identity {
    std::string name;  // of the module
    std::size_t node = 0;
    std::size_t index = 0;  // among the module's instances
    std::size_t count = 1;
    Kind kind = Kind::kCpu;
  };

  Instance(Identity identity, std::unique_ptr<Module> module, const Services& services,
           std::uint64_t seed, Host& host);
  ~Instance();
  Instance(const Instance&) = delete;
  Instance& operator=(const Instance&) = delete;

  // --- Assembly, before the first run.
  void add_input(LaneBase& lane);
  void add_output(EdgeEndBase& end, bool carries_epochs);
  base::Status restore(EpochId epoch, std::string_view state);
  base::Status start();
  void set_epoch(EpochId epoch) { committed_ = begun_ = told_durable_ = epoch; }

  // --- Any thread.
  // Says that there may be work. Wakes the instance if it is idle.
  void notify();
  void end_epoch(EpochId epoch);    // asks for a marker, of instances where epochs begin
  void say_durable(EpochId epoch);  // the checkpoint of `epoch` is written
  // The module said, at the end of its last run, that it holds no hidden work.
  bool module_idle() const { return module_idle_.load(std::memory_order_acquire); }
  const InstanceCounters& counters() const { return counters_; }
  const Identity& identity() const { return identity_; }
  const std::string& label() const { return label_; }  // "parser#2"

  // --- The one thread that runs it.
  // Clears the notice, does up to about `budget` items' worth of work, and returns true if there
  // is more to do now. `order` shuffles the inputs (simulation); null: round robin.
  bool run(std::size_t budget, env::Random* order);
  // After run(): true if the instance was noticed meanwhile and must run again; else it is idle.
  bool rest();
  bool noticed() const { return (state_.load(std::memory_order_acquire) & kNoticed) != 0; }
  // Pollers, between runs: waits in the module's poll() unless an output is full.
  void poll(base::Duration wait);
  void wake_poll() { module_->wake(); }
  bool output_full() const { return output().full(); }
  base::Ticks next_poll() const { return module_->next_poll(); }
  base::Ticks next_timer() const;
  std::uint64_t last_run_items() const { return last_run_items_; }

  Module& module() const { return *module_; }
  OutputState& output() const { return module_->output_; }
  std::size_t* place() const { return &module_->place_; }

 private:
  friend class Module;

  struct Timer {
    base::Ticks at;
    std::uint64_t order;  // equal times fire in the order they were set
    std::uint64_t tag;
    std::size_t place;
    bool operator>(const Timer& other) const {
      return at != other.at ? at > other.at : order > other.order;
    }
  };

  static constexpr unsigned kScheduled = 1;  // ready or running
  static constexpr unsigned kNoticed = 2;    // work may have come since the run began

  // A run that handles more than its first item ends after this long, so that no module keeps a
  // thread, or its own output, to itself. In virtual time no time passes.
  static constexpr std::int64_t kRunNs = 1'000'000;
  // Between looks at the clock and at the other inputs; a run begins with one item and doubles.
  static constexpr std::size_t kSliceMax = 256;

  template <typename Work>
  base::Status guarded(const Work& work) const;
  bool step(std::size_t budget, env::Random* order);
  bool out_of_time() const;
  void fire_timers();
  void ask_to_wake();
  void hear_durable();
  void advance_epoch();
  void deliver(std::size_t& budget, env::Random* order);
  std::size_t deliver_slice(std::size_t slice, std::size_t budget, std::size_t first);
  bool more_input() const;
  bool produce(std::size_t budget);
  void finish_epoch(EpochId epoch);
  void begin_epoch(EpochId epoch);
  void send_markers(EpochId epoch);
  void flush();
  std::int64_t cpu_now() const;
  void count_cpu(std::int64_t began);
  bool can_take() const { return !output().full() || spills_; }

  const Identity identity_;
  const std::string label_;
  const Services& services_;
  Host& host_;
  env::Random random_;
  std::unique_ptr<Module> module_;
  const bool spills_;

  std::vector<LaneBase*> inputs_;
  std::vector<EdgeEndBase*> outputs_;
  std::vector<EdgeEndBase*> marked_outputs_;  // those that carry markers
  std::size_t marked_inputs_ = 0;
  std::size_t first_input_ = 0;

  std::vector<Timer> timers_;  // a heap
  std::uint64_t timers_set_ = 0;
  base::Ticks next_wake_ = base::Ticks::never();  // what the engine was told

  // Epochs. aligned_ counts the inputs standing at the marker of committed_ + 1.
  EpochId committed_ = kNoEpoch;
  EpochId begun_ = kNoEpoch;  // spills only: the marker already sent downstream
  std::size_t aligned_ = 0;
  EpochId told_durable_ = kNoEpoch;
  std::atomic<EpochId> asked_{kNoEpoch};
  std::atomic<EpochId> durable_{kNoEpoch};

  std::atomic<unsigned> state_{0};
  std::atomic<bool> module_idle_{true};
  std::int64_t run_began_ns_ = 0;
  std::uint64_t last_run_items_ = 0;
  InstanceCounters counters_;
};

}  // namespace meguri::flow
