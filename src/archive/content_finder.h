// ContentFinder: the entry whose record holds the content that another entry only refers to.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "archive/index_entry.h"
#include "archive/temporal_index.h"
#include "base/result.h"

namespace meguri::archive {

// An entry of one's own, that lives longer than the cursor stands at it.
class HeldEntry {
 public:
  HeldEntry() = default;
  // Bytes of an entry.
  HeldEntry(std::string_view key, std::string_view value) { hold(key, value); }
  HeldEntry(const HeldEntry& other) { hold(other.key_, other.value_); }
  HeldEntry& operator=(const HeldEntry& other) {
    if (this != &other) hold(other.key_, other.value_);
    return *this;
  }
  ~HeldEntry() = default;

  void hold(std::string_view key, std::string_view value);
  const EntryView& view() const { return *view_; }
  const std::string& key() const { return key_; }
  bool is_empty() const { return !view_; }
  void clear() { view_.reset(); }

 private:
  std::string key_;
  std::string value_;
  std::optional<EntryView> view_;
};

// Whether two entries have the same content as far as their digests tell: false if one is not
// known, or they are of different kinds.
bool have_same_digest(const EntryView& a, const EntryView& b);

// Thread-compatible. Borrows the index.
class ContentFinder {
 public:
  explicit ContentFinder(const TemporalIndex& index) : index_(index) {}

  // Forgets what it found in the last page.
  void begin_page();

  // The content of an unchanged entry, which the cursor stands at; it stands further back in the
  // same page afterwards, and `moved` says by how many entries. Null: the archive does not have it.
  // The view lives until the next call.
  base::Result<const EntryView*> find_before(const EntryView& entry, env::StoreCursor& cursor,
                                             std::size_t& moved);
  // The content of an entry that refers to another page.
  base::Result<const EntryView*> find_original(const EntryView& entry);

 private:
  // What was found for entries of one digest. As the page is walked from new to old, it holds for
  // older ones too.
  struct Found {
    std::string digest;      // bytes
    HeldEntry content = {};  // empty: there is none
  };

  const Found* known(const EntryView& entry) const;
  base::Result<bool> look_back(const EntryView& entry, env::StoreCursor& cursor, std::size_t& moved,
                               HeldEntry& content);
  base::Status look_in_page(const EntryOriginal& original, const EntryView& entry,
                            HeldEntry& content);

  const TemporalIndex& index_;
  std::unique_ptr<env::StoreCursor> side_;  // for other pages
  std::vector<Found> found_;
  HeldEntry original_;
};

}  // namespace meguri::archive
