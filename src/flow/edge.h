// Edge: what kind of queue joins two modules.
#pragma once

#include <cstddef>
#include <cstdint>

namespace meguri::flow {

// | kind      | when it is full            | epoch markers         | a cycle may close over it |
// | bounded   | its producer waits         | pass, aligned         | no                        |
// | spilling  | moves to disk, in order    | its files are durable | yes                       |
// | credit    | cannot be: at most n items | do not pass           | yes                       |
class Edge {
 public:
  enum class Type : std::uint8_t { kBounded, kSpilling, kCredit };

  static constexpr std::size_t kCapacity = 1024;  // items
  static constexpr std::size_t kBatch = 256;

  // At most `capacity` items from each producing to each consuming instance.
  static Edge bounded(std::size_t capacity = kCapacity) { return {Type::kBounded, capacity}; }

  // Holds up to `memory` items in memory and the rest in files. Needs a Codec for the item and a
  // state folder.
  static Edge spilling(std::size_t memory = 16 * kCapacity) { return {Type::kSpilling, memory}; }

  // Each producing instance has at most `limit` items in flight: emitting takes a credit, and the
  // module gives it back when the item, or its answer, has come home. What is in flight in a crash
  // is lost, and the producer hands it out again.
  static Edge credit(std::size_t limit) {
    Edge edge(Type::kCredit, kCapacity);
    edge.credits_ = limit;
    return edge;
  }

  // Carries on what was emitted under a credit further up: never full, because those credits bound
  // it, and no markers, because it is in flight.
  static Edge under_credit() { return {Type::kCredit, kCapacity}; }

  // A bounded edge whose items need not survive a crash, because a module further up hands them out
  // again.
  Edge in_flight() const {
    Edge edge = *this;
    edge.epochs_ = false;
    return edge;
  }

  // Items are handed over in batches of up to `items`, sooner when the producer pauses.
  Edge batched(std::size_t items) const {
    Edge edge = *this;
    edge.batch_ = items;
    return edge;
  }

  Type type() const { return type_; }
  std::size_t capacity() const { return capacity_; }
  std::size_t batch() const {
    return type_ == Type::kBounded && capacity_ < batch_ ? capacity_ : batch_;
  }
  std::size_t credits() const { return credits_; }
  bool carries_epochs() const { return epochs_ && type_ != Type::kCredit; }
  bool can_fill() const { return type_ == Type::kBounded; }

 private:
  Edge(Type type, std::size_t capacity) : capacity_(capacity), type_(type) {}

  std::size_t capacity_;
  std::size_t batch_ = kBatch;
  std::size_t credits_ = 0;  // 0: under somebody else's
  Type type_;
  bool epochs_ = true;
};

}  // namespace meguri::flow
