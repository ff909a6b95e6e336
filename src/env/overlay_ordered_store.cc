#include "env/overlay_ordered_store.h"

#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "base/check.h"

namespace meguri::env {

namespace {

using Changes = std::map<std::string, std::optional<std::string>, std::less<>>;

// Both are kept at the first key at or beyond the place the cursor moves to, in the direction it
// moves in. Of a key that both have, the change counts.
class OverlayCursor final : public StoreCursor {
 public:
  OverlayCursor(std::unique_ptr<StoreCursor> below, std::shared_ptr<const Changes> changes)
      : below_(std::move(below)), changes_(std::move(changes)), at_(changes_->end()) {}

  void seek(std::string_view key) override {
    is_forward_ = true;
    below_->seek(key);
    at_ = changes_->lower_bound(key);
    settle();
  }
  void seek_last() override {
    is_forward_ = false;
    below_->seek_last();
    at_ = changes_->end();
    step_back();
    settle();
  }
  void seek_for_prev(std::string_view key) override {
    is_forward_ = false;
    below_->seek_for_prev(key);
    at_ = changes_->upper_bound(key);
    step_back();
    settle();
  }
  void next() override {
    CHECK(valid());
    if (!is_forward_) {
      const std::string here(key());
      is_forward_ = true;
      below_->seek(here);
      at_ = changes_->lower_bound(here);
    }
    pass();
    settle();
  }
  void prev() override {
    CHECK(valid());
    if (is_forward_) {
      const std::string here(key());
      is_forward_ = false;
      below_->seek_for_prev(here);
      at_ = changes_->upper_bound(here);
      step_back();
    }
    pass();
    settle();
  }
  bool valid() const override { return where_ != Where::kNowhere; }
  std::string_view key() const override {
    CHECK(valid());
    return where_ == Where::kBelow ? below_->key() : std::string_view(at_->first);
  }
  std::string_view value() const override {
    CHECK(valid());
    return where_ == Where::kBelow ? below_->value() : std::string_view(*at_->second);
  }
  base::Status status() const override { return below_->status(); }

 private:
  enum class Where : std::uint8_t { kNowhere, kBelow, kChange };

  void step_back() { at_ = at_ == changes_->begin() ? changes_->end() : std::prev(at_); }
  void move_below() { is_forward_ ? below_->next() : below_->prev(); }
  void move_change() {
    if (is_forward_) {
      ++at_;
    } else {
      step_back();
    }
  }

  // Leaves the key that both are at, or the one that comes first.
  void pass() {
    const bool has_change = at_ != changes_->end();
    const std::string here(key());
    if (below_->valid() && below_->key() == here) move_below();
    if (has_change && at_->first == here) move_change();
  }

  // Finds which of the two comes first, and leaves out what was removed.
  void settle() {
    for (;;) {
      const bool has_change = at_ != changes_->end();
      if (!has_change) {
        where_ = below_->valid() ? Where::kBelow : Where::kNowhere;
        return;
      }
      const bool is_below_first = below_->valid() && (is_forward_ ? below_->key() < at_->first
                                                                  : below_->key() > at_->first);
      if (is_below_first) {
        where_ = Where::kBelow;
        return;
      }
      if (at_->second) {
        where_ = Where::kChange;
        return;
      }
      if (below_->valid() && below_->key() == at_->first) move_below();
      move_change();
    }
  }

  const std::unique_ptr<StoreCursor> below_;
  const std::shared_ptr<const Changes> changes_;
  Changes::const_iterator at_;
  bool is_forward_ = true;
  Where where_ = Where::kNowhere;
};

class OverlayStore final : public OrderedStore {
 public:
  explicit OverlayStore(std::unique_ptr<OrderedStore> below)
      : below_(std::move(below)), changes_(std::make_shared<Changes>()) {}

  base::Status write(const StoreBatch& batch) override {
    // Cursors keep what they were made of.
    if (changes_.use_count() > 1) changes_ = std::make_shared<Changes>(*changes_);
    for (const StoreBatch::Change& change : batch.changes()) (*changes_)[change.key] = change.value;
    return {};
  }
  base::Result<std::optional<std::string>> get(std::string_view key) const override {
    const auto change = changes_->find(key);
    if (change != changes_->end()) return change->second;
    return below_->get(key);
  }
  std::unique_ptr<StoreCursor> cursor() const override {
    if (changes_->empty()) return below_->cursor();
    return std::make_unique<OverlayCursor>(below_->cursor(), changes_);
  }
  base::Status flush() override { return {}; }
  std::uint64_t approximate_bytes(std::string_view begin, std::string_view end) const override {
    return below_->approximate_bytes(begin, end);
  }
  base::Status check() const override { return below_->check(); }

 private:
  const std::unique_ptr<OrderedStore> below_;
  std::shared_ptr<Changes> changes_;  // shared with cursors
};

}  // namespace

std::unique_ptr<OrderedStore> make_overlay_store(std::unique_ptr<OrderedStore> below) {
  return std::make_unique<OverlayStore>(std::move(below));
}

}  // namespace meguri::env
