// Spill<T>: the module inside a spilling edge. Graph::connect puts it between two modules.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/log.h"
#include "base/result.h"
#include "flow/codec.h"
#include "flow/module.h"
#include "flow/spill_log.h"

namespace meguri::flow {

// A queue without end, in three parts, oldest first:
//   head_   items in memory, at most `memory` and one block;
//   log_    blocks on disk that were not read yet;
//   tail_   the block being filled.
// Items that find an empty log go straight to the head and never touch the disk, unless an epoch
// needs them.
//
// Epochs: the spill sends marker n on at once, and remembers the next item it will emit, `read`.
// When marker n has come from all producers, [read, write) is the queue at epoch n; it is synced.
// Between the two, every item is written, so that none can pass through unsaved. So markers never
// wait for the backlog, and a spilling edge may close a cycle.
template <typename T>
class Spill final : public Module {
 public:
  explicit Spill(std::size_t memory) : memory_(memory) {}

  In<T> input = in<&Spill::on_item>("in");
  Out<T> output = out<T>("out");

 private:
  static constexpr std::size_t kBlockBytes = 64U << 10U;
  static constexpr std::size_t kEmitAtOnce = 256;

  bool spills() const override { return true; }
  bool idle() const override { return backlog() == 0; }
  std::size_t backlog() const override { return next_ - head_first_; }

  base::Status start() override {
    const std::string dir = state_dir() + "/spill/" + name();
    ASSIGN_OR_RETURN(log_, SpillLog::open(files(), dir, mark_));
    const SpillMark at = mark_.value_or(SpillMark{});
    head_first_ = saved_ = at.read;
    next_ = at.write;
    tail_ = SpillBlock(next_);
    return {};
  }

  base::Status restore(EpochId /*epoch*/, std::string_view state) override {
    mark_ = SpillMark::decode(state);
    if (!mark_) return base::fail(base::ErrorCode::kCorrupt, "its spill mark is damaged");
    return {};
  }

  void on_item(T&& item) {
    ++next_;
    const bool direct = tail_.empty() && log_->drained() && head_.size() < memory_ && !saving_;
    if (direct) {
      head_.push_back(std::move(item));
      tail_.renumber(next_);
      return;
    }
    encoded_.clear();
    Codec<T>::encode(item, encoded_);
    tail_.add(encoded_);
    if (tail_.bytes() >= kBlockBytes) must(write_tail());
  }

  bool produce() override {
    if (head_.empty()) must(refill());
    for (std::size_t n = 0; n < kEmitAtOnce && !head_.empty() && !output.full(); ++n) {
      ++head_first_;
      output.emit(std::move(head_.front()));
      head_.pop_front();
    }
    return backlog() > 0;
  }

  void begin_epoch(EpochId /*epoch*/) override {
    must(save_head());
    saving_ = true;
    read_ = head_first_;
  }

  base::Result<std::string> commit(EpochId /*epoch*/) override {
    RETURN_IF_ERROR(write_tail());
    RETURN_IF_ERROR(log_->sync());
    saving_ = false;
    return log_->mark(read_, next_).encode();
  }

  void on_durable(EpochId /*epoch*/) override { must(log_->release_before(read_)); }

  // Writes the items that are only in memory. They are older than any unwritten block.
  base::Status save_head() {
    SpillBlock block(std::max(saved_, head_first_));
    for (std::size_t i = block.first() - head_first_; i < head_.size(); ++i) {
      encoded_.clear();
      Codec<T>::encode(head_[i], encoded_);
      block.add(encoded_);
      if (block.bytes() < kBlockBytes && i + 1 < head_.size()) continue;
      RETURN_IF_ERROR(log_->append_read(block));
      saved_ = block.end();
      block.restart(saved_);
    }
    return {};
  }

  base::Status write_tail() {
    if (tail_.empty()) return {};
    RETURN_IF_ERROR(save_head());
    RETURN_IF_ERROR(log_->append(tail_));
    tail_.restart(next_);
    return {};
  }

  // Fills the empty head from the log or, if that is drained, from the tail.
  base::Status refill() {
    while (head_.empty() && !log_->drained()) {
      ASSIGN_OR_RETURN(const auto block, log_->read_next());
      if (block) {
        RETURN_IF_ERROR(take(*block));
        saved_ = block->end();
      }
    }
    if (!head_.empty()) return {};
    if (tail_.empty()) {
      head_first_ = next_;  // what is missing was damaged, and has been said
      return {};
    }
    SpillBlock block = std::exchange(tail_, SpillBlock(next_));
    if (saving_) {
      RETURN_IF_ERROR(log_->append_read(block));
      saved_ = block.end();
    }
    return take(block);
  }

  base::Status take(const SpillBlock& block) {
    bool whole = true;
    const std::uint64_t from = std::max(head_first_, block.first());
    block.for_each([&](std::uint64_t number, std::string_view bytes) {
      if (number < head_first_ || !whole) return;
      head_.emplace_back();
      whole = Codec<T>::decode(bytes, head_.back());
    });
    if (!whole) {
      return base::fail(base::ErrorCode::kCorrupt,
                        "spilled items of edge {} cannot be decoded: they were written by another "
                        "version",
                        name());
    }
    if (!head_.empty()) head_first_ = from;
    return {};
  }

  void must(const base::Status& status) {
    if (!status) fail(status.error());
  }

  const std::size_t memory_;
  std::unique_ptr<SpillLog> log_;
  std::optional<SpillMark> mark_;

  std::deque<T> head_;
  std::uint64_t head_first_ = 0;  // number of the next item to emit
  std::uint64_t saved_ = 0;       // items of the head before this number are in the log
  SpillBlock tail_;
  std::uint64_t next_ = 0;  // number of the next item to arrive
  std::uint64_t read_ = 0;  // of the epoch begun last
  bool saving_ = false;
  std::string encoded_;
};

}  // namespace meguri::flow
