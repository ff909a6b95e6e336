// Module: what users of flow write. It takes items from its inputs, keeps state of its own, and
// emits items; see docs/flow.md for a worked example.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "env/clock.h"
#include "env/file_system.h"
#include "env/random.h"
#include "flow/port.h"

namespace meguri::flow {

class Instance;

enum class Kind : std::uint8_t {
  kCpu,       // shares a pool of threads; must not wait
  kPoller,    // a thread of its own that waits in poll(), for sockets and wake-ups
  kBlocking,  // a thread of its own; may sync files
};

// What an engine lends to every instance.
struct Services {
  const env::Clock* clock = nullptr;
  env::FileSystem* files = nullptr;  // null where the graph keeps nothing on disk
  std::string state_dir;             // the folder for spill files and the checkpoint
  bool counts_cpu = false;           // of each instance, for the metrics
};

// Wakes an instance from any thread: it is run soon and its produce() called. May outlive nothing:
// the engine must live while a Waker is used.
class Waker {
 public:
  explicit Waker(Instance& instance) : instance_(&instance) {}
  void operator()() const;

 private:
  Instance* instance_;
};

// One instance is run by one thread at a time, owns its state alone and talks only through its
// ports. Handlers and hooks run only while the outputs have room, and emitting never blocks.
// An exception from any of them stops the whole graph, naming the module.
class Module {
 public:
  Module();
  virtual ~Module();
  Module(const Module&) = delete;
  Module& operator=(const Module&) = delete;

 protected:
  // --- Ports: `In<Word> words = in<&Count::on_word>("words");`
  //            `Out<Tally> tallies = out<Tally>("tallies");`
  // The handler is `void on_word(Word&&)`. A module split by key names its key function too:
  // `in<&Count::on_word, &Count::key>("words")`, `static std::uint64_t key(const Word&)`, which
  // returns a hash whose leading bits are good.
  template <auto Handler, auto KeyOf = nullptr>
  [[gnu::always_inline]] inline auto in(std::string name);
  template <typename T>
  Out<T> out(std::string name) {
    return Out<T>(std::move(name), output_, &place_);
  }

  // --- Hooks, all optional.
  // Before the first item, after restore().
  virtual base::Status start() { return {}; }
  // Called while the outputs have room, after inputs: emit a little of what the module has by
  // itself; true: there is more now. Sources live by it.
  virtual bool produce() { return false; }
  virtual void on_timer(std::uint64_t /*tag*/) {}
  // False while the module holds work that no queue shows (an open connection, a waiting job).
  virtual bool idle() const { return true; }
  // How many items the module holds, for the metrics.
  virtual std::size_t backlog() const { return 0; }

  // --- Epochs.
  // All items before marker `epoch` have been handled. Make their effects durable and return what
  // restore() needs to find them again (positions, file names; kept in the checkpoint). What is
  // emitted here still belongs to the epoch. An error stops the process.
  virtual base::Result<std::string> commit(EpochId /*epoch*/) { return std::string(); }
  // The checkpoint of `epoch` is written: what only older epochs needed can go.
  virtual void on_durable(EpochId /*epoch*/) {}
  // At start after a stop or a crash: `state` is what commit(epoch) returned. Only called when that
  // was not empty.
  virtual base::Status restore(EpochId /*epoch*/, std::string_view /*state*/) { return {}; }

  // --- Pollers only.
  // Waits for events up to `wait` (zero: only looks) and handles them. wake(), called by any
  // thread, ends a wait early.
  virtual void poll(base::Duration /*wait*/) {}
  virtual void wake() {}
  // When poll() next has something to do by the clock; lets virtual time jump there.
  virtual base::Ticks next_poll() const { return base::Ticks::never(); }

  // --- Services.
  const env::Clock& clock() const;
  env::Random& random();  // the instance's own, seeded from the engine's seed
  env::FileSystem& files() const;
  const std::string& state_dir() const;
  const std::string& name() const;  // "extractor" or, with several instances, "extractor#2"
  std::size_t instance_index() const;
  std::size_t instance_count() const;
  void set_timer(base::Ticks at, std::uint64_t tag);
  void set_timer_after(base::Duration wait, std::uint64_t tag) {
    set_timer(clock().ticks() + wait, tag);
  }
  bool draining() const;         // the graph is asked to finish: start nothing new
  void request_epoch();          // end the epoch soon, for example because a buffer is full
  void fail(base::Error error);  // our machine failed: stops the whole graph
  Waker waker() const;

  // The place in the graph (0 unless it is a virtual module) whose item is being handled. A module
  // that emits later, for example from poll(), stores it and sets it again before emitting.
  std::size_t place() const { return place_; }
  void set_place(std::size_t place) { place_ = place; }

 private:
  friend class Instance;
  friend class Graph;
  template <typename>
  friend class Spill;

  // True for modules that take items even while their outputs are full, and that begin an epoch
  // downstream before it has ended upstream: the spill of a spilling edge, and nothing else.
  virtual bool spills() const { return false; }
  virtual void begin_epoch(EpochId /*epoch*/) {}

  template <typename Class, typename T, auto Handler>
  static std::size_t deliver(void* module, T* items, std::size_t n);

  OutputState output_;
  std::size_t place_ = 0;
  Instance* instance_ = nullptr;
};

namespace internal {

template <typename>
struct HandlerTraits;
template <typename C, typename T>
struct HandlerTraits<void (C::*)(T&&)> {
  using Class = C;
  using Item = T;
};

}  // namespace internal

// The loop is made per handler, so that the handler can be inlined into it. The class is a
// parameter too: by a handler alone GCC 12 takes classes of equal names in anonymous namespaces
// for one. in() has no such parameter, and so must not become a function of its own.
template <typename Class, typename T, auto Handler>
std::size_t Module::deliver(void* module, T* items, std::size_t n) {
  auto* self = static_cast<Class*>(module);
  const OutputState& output = static_cast<Module*>(self)->output_;
  const bool always = static_cast<Module*>(self)->spills();
  std::size_t i = 0;
  while (i < n && (always || !output.full())) (self->*Handler)(std::move(items[i++]));
  return i;
}

template <auto Handler, auto KeyOf>
inline auto Module::in(std::string name) {
  using Traits = internal::HandlerTraits<decltype(Handler)>;
  using Class = typename Traits::Class;
  using T = typename Traits::Item;
  typename EdgeEnd<T>::Key key = nullptr;
  if constexpr (!std::is_null_pointer_v<decltype(KeyOf)>) key = KeyOf;
  return In<T>(std::move(name), static_cast<Class*>(this), &deliver<Class, T, Handler>, key);
}

}  // namespace meguri::flow
