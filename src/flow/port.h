// In<T> and Out<T>: the typed ends of edges, members of a Module. Made by Module::in and
// Module::out; connected by Graph; filled with lanes by an engine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/hash.h"
#include "flow/lane.h"

namespace meguri::flow {

class Module;

// How the items for a module are divided among its instances.
enum class Split : std::uint8_t {
  kFree,    // to whichever instance has room
  kKey,     // by the leading bits of the item's key hash: equal keys, same instance, in order
  kSingle,  // there is only one instance
};

// What an instance knows of its own outputs. One per instance, shared by its ports; touched only by
// the instance's thread.
struct OutputState {
  std::size_t full_edges = 0;  // edges whose staged batch was refused
  std::uint64_t emitted = 0;

  bool full() const { return full_edges > 0; }
};

// The producer's end of one edge at one instance, seen without its type.
class EdgeEndBase {
 public:
  virtual ~EdgeEndBase() = default;
  virtual bool flush() = 0;                     // true when nothing is left staged
  virtual void send_marker(EpochId epoch) = 0;  // after everything staged
  virtual std::size_t staged() const = 0;
};

// The producer's end of one edge at one instance: stages items into batches and chooses the lane.
// Items are staged per lane, or, on edges to a free module, once for all, so that a batch goes to
// any instance with room. Staging exceeds `batch` only by what a single call of a handler emits.
template <typename T>
class EdgeEnd final : public EdgeEndBase {
 public:
  using Key = std::uint64_t (*)(const T&);

  EdgeEnd(OutputState& output, Split split, Key key, std::size_t batch, bool never_full)
      : output_(output), key_(key), batch_(batch), split_(split), never_full_(never_full) {}

  ~EdgeEnd() override;
  EdgeEnd(const EdgeEnd&) = delete;
  EdgeEnd& operator=(const EdgeEnd&) = delete;

  void add_lane(Lane<T>* lane);
  void send(T&& item);
  bool flush() override;
  void send_marker(EpochId epoch) override;
  std::size_t staged() const override;

 private:
  struct Stage {
    std::vector<T> items;
    bool full = false;
  };

  bool flush_slot(std::size_t slot);
  Lane<T>* lane_for(std::size_t slot) const;
  void mark_full(Stage& stage, bool full);

  OutputState& output_;
  std::vector<Lane<T>*> lanes_;
  std::vector<Stage> staged_;
  Key key_;
  std::size_t batch_;
  Split split_;
  bool never_full_;
};

template <typename T>
EdgeEnd<T>::~EdgeEnd() = default;

template <typename T>
void EdgeEnd<T>::add_lane(Lane<T>* lane) {
  lanes_.push_back(lane);
  if (split_ == Split::kKey || staged_.empty()) staged_.emplace_back();
}

template <typename T>
void EdgeEnd<T>::send(T&& item) {
  std::size_t slot = 0;
  if (split_ == Split::kKey) {
    slot = (base::partition_of(key_(item)) * lanes_.size()) >> base::kPartitionBits;
  }
  std::vector<T>& batch = staged_[slot].items;
  batch.push_back(std::move(item));
  if (batch.size() >= batch_) [[unlikely]]
    flush_slot(slot);
}

template <typename T>
bool EdgeEnd<T>::flush() {
  bool all = true;
  for (std::size_t slot = 0; slot < staged_.size(); ++slot) all &= flush_slot(slot);
  return all;
}

template <typename T>
void EdgeEnd<T>::send_marker(EpochId epoch) {
  for (std::size_t slot = 0; slot < staged_.size(); ++slot) {
    lane_for(slot)->push(staged_[slot].items, /*force=*/true);
    mark_full(staged_[slot], false);
  }
  for (Lane<T>* lane : lanes_) lane->push_marker(epoch);
}

template <typename T>
std::size_t EdgeEnd<T>::staged() const {
  std::size_t n = 0;
  for (const Stage& stage : staged_) n += stage.items.size();
  return n;
}

template <typename T>
bool EdgeEnd<T>::flush_slot(std::size_t slot) {
  Stage& stage = staged_[slot];
  bool pushed = lane_for(slot)->push(stage.items, never_full_);
  if (!pushed && split_ == Split::kFree) {
    // Ask every lane, so that each of them, once drained, wakes this instance.
    for (Lane<T>* lane : lanes_) pushed = pushed || lane->push(stage.items);
  }
  mark_full(stage, !pushed && stage.items.size() >= batch_);
  return pushed;
}

template <typename T>
Lane<T>* EdgeEnd<T>::lane_for(std::size_t slot) const {
  if (split_ != Split::kFree || lanes_.size() == 1) return lanes_[slot];
  Lane<T>* best = lanes_[0];
  for (Lane<T>* lane : lanes_) {
    if (lane->depth() < best->depth()) best = lane;
  }
  return best;
}

template <typename T>
void EdgeEnd<T>::mark_full(Stage& stage, bool full) {
  if (stage.full == full) return;
  stage.full = full;
  output_.full_edges += full ? 1 : std::size_t(-1);
}

class PortBase {
 public:
  explicit PortBase(std::string name) : name_(std::move(name)) {}
  virtual ~PortBase() = default;
  PortBase(const PortBase&) = delete;
  PortBase& operator=(const PortBase&) = delete;

  const std::string& name() const { return name_; }

 private:
  std::string name_;
};

// Where items of type T arrive. Knows the module's handler and, for modules split by key, the key.
template <typename T>
class In final : public PortBase {
 public:
  using Item = T;
  In(std::string name, void* module, typename Lane<T>::Handle handle,
     typename EdgeEnd<T>::Key key_of)
      : PortBase(std::move(name)), module_(module), handle_(handle), key_(key_of) {}

  // For the engine.
  typename EdgeEnd<T>::Key key() const { return key_; }
  void attach(Lane<T>& lane, std::size_t place, std::size_t* current_place) {
    lane.set_handler(handle_, module_, place, current_place);
  }

 private:
  void* module_;
  typename Lane<T>::Handle handle_;
  typename EdgeEnd<T>::Key key_;
};

// Credits of an output on credit edges: how many more items its instance may have in flight.
class Credits {
 public:
  std::size_t available() const { return available_; }
  void take() {
    CHECK(available_ > 0, "an item was emitted without a credit");
    --available_;
  }
  void give_back(std::size_t n) {
    available_ += n;
    CHECK(available_ <= limit_, "more credits came back than were taken");
  }
  void set_limit(std::size_t limit) { limit_ = available_ = limit; }
  std::size_t in_flight() const { return limit_ - available_; }

 private:
  std::size_t limit_ = 0;
  std::size_t available_ = 0;
};

class OutBase : public PortBase {
 public:
  using PortBase::PortBase;
  // Credits not yet given back.
  virtual std::size_t in_flight() const = 0;
};

// Where items of type T leave. Only handlers and hooks of the owning module may call it.
template <typename T>
class Out final : public OutBase {
 public:
  using Item = T;
  Out(std::string name, OutputState& output, const std::size_t* place)
      : OutBase(std::move(name)), output_(output), place_(place) {}
  ~Out() override;
  Out(const Out&) = delete;
  Out& operator=(const Out&) = delete;

  // Hands `item` on, to every successor of the place in the graph whose input is being handled.
  // Never blocks. With a switcher, to the successor it chooses. On an output nobody listens to,
  // the item is dropped.
  void emit(T item);

  // For modules that pace themselves (sources): stop emitting when this turns true.
  bool full() const { return output_.full(); }

  // On a credit edge: how many items may still be emitted, and the way to return the credit of one
  // that has come home.
  std::size_t credits() const { return credits_.available(); }
  void give_back(std::size_t n = 1) { credits_.give_back(n); }
  std::size_t in_flight() const override { return credits_.in_flight(); }

  // For the engine.
  using Switcher = std::function<std::size_t(const T&)>;
  void limit_credits(std::size_t n) {
    limited_ = true;
    credits_.set_limit(n);
  }
  void add_edge(std::size_t place, std::size_t link, const Switcher& switcher, EdgeEnd<T>* end);

 private:
  // One successor, or the several a switcher chooses from.
  struct Link {
    Switcher switcher;
    std::vector<EdgeEnd<T>*> ends;

    void send(T&& item);
  };

  static T copy_of(const T& item) {
    if constexpr (std::is_copy_constructible_v<T>) {
      return item;
    } else {
      CHECK(false, "an item that cannot be copied has several successors");
      std::abort();
    }
  }

  OutputState& output_;
  const std::size_t* place_;
  std::vector<std::vector<Link>> places_;
  Credits credits_;
  bool limited_ = false;
};

template <typename T>
Out<T>::~Out() = default;

template <typename T>
void Out<T>::emit(T item) {
  ++output_.emitted;
  if (*place_ >= places_.size()) return;
  if (limited_) credits_.take();
  std::vector<Link>& links = places_[*place_];
  if (links.empty()) return;
  for (std::size_t i = 0; i + 1 < links.size(); ++i) links[i].send(copy_of(item));
  links.back().send(std::move(item));
}

template <typename T>
void Out<T>::add_edge(std::size_t place, std::size_t link, const Switcher& switcher,
                      EdgeEnd<T>* end) {
  if (places_.size() <= place) places_.resize(place + 1);
  if (places_[place].size() <= link) places_[place].resize(link + 1);
  places_[place][link].switcher = switcher;
  places_[place][link].ends.push_back(end);
}

template <typename T>
void Out<T>::Link::send(T&& item) {
  if (!switcher) [[likely]] {
    ends.front()->send(std::move(item));
    return;
  }
  const std::size_t branch = switcher(item);
  CHECK(branch < ends.size(), "a switcher chose branch {} of {}", branch, ends.size());
  ends[branch]->send(std::move(item));
}

}  // namespace meguri::flow

// The queues of a message that many files use are compiled once: the first stands behind the
// message, outside all namespaces, the second in one source file.
#define FLOW_DECLARE_QUEUES(Message)                                                               \
  extern template class meguri::flow::TapPoint<Message>;                                           \
  extern template class meguri::flow::Lane<Message>;                                               \
  extern template class meguri::flow::EdgeEnd<Message>;                                            \
  extern template class meguri::flow::Out<Message>;
#define FLOW_DEFINE_QUEUES(Message)                                                                \
  template class meguri::flow::TapPoint<Message>;                                                  \
  template class meguri::flow::Lane<Message>;                                                      \
  template class meguri::flow::EdgeEnd<Message>;                                                   \
  template class meguri::flow::Out<Message>;
