#include "archive/content_finder.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/time.h"

namespace meguri::archive {

namespace {

using base::Duration;
using base::ErrorCode;
using base::Instant;

// So that a page of contradictions costs no more than its length times this.
constexpr std::size_t kOthersMax = 1000;  // entries of other content that are passed over
constexpr std::size_t kFoundMax = 16;     // digests that are remembered

bool holds_content(const EntryView& entry) {
  return entry.kind() == EntryKind::kChanged && !entry.has_original();
}

// Whether `older` may be what an unchanged entry confirms.
bool may_be_content(const EntryView& entry, const EntryView& older) {
  if (!holds_content(older)) return false;
  const bool can_tell = !entry.digest_bytes().empty() && !older.digest_bytes().empty();
  return !can_tell || have_same_digest(entry, older);
}

base::Result<EntryView> parse_at(const env::StoreCursor& cursor) {
  const auto entry = EntryView::parse(cursor.key(), cursor.value());
  if (!entry) {
    return base::fail(ErrorCode::kCorrupt,
                      "the index holds an entry that is none; 'meguri repair' makes it anew");
  }
  return *entry;
}

}  // namespace

void HeldEntry::hold(std::string_view key, std::string_view value) {
  key_ = key;
  value_ = value;
  view_ = EntryView::parse(key_, value_);
}

bool have_same_digest(const EntryView& a, const EntryView& b) {
  return !a.digest_bytes().empty() && a.digest_bytes() == b.digest_bytes() &&
         a.target() == b.target();
}

void ContentFinder::begin_page() { found_.clear(); }

const ContentFinder::Found* ContentFinder::known(const EntryView& entry) const {
  const auto found = std::ranges::find(found_, entry.digest_bytes(), &Found::digest);
  if (found == found_.end()) return nullptr;
  // An entry is confirmed by what came before it.
  if (!found->content.is_empty() && found->content.view().page() == entry.page() &&
      found->content.view().date() > entry.date()) {
    return nullptr;
  }
  return &*found;
}

base::Result<const EntryView*> ContentFinder::find_before(const EntryView& entry,
                                                          env::StoreCursor& cursor,
                                                          std::size_t& moved) {
  moved = 0;
  if (const Found* found = known(entry)) {
    return found->content.is_empty() ? nullptr : &found->content.view();
  }
  const HeldEntry held(cursor.key(), cursor.value());  // it dies when the cursor moves
  Found found{.digest = std::string(held.view().digest_bytes())};
  ASSIGN_OR_RETURN(const bool is_found, look_back(held.view(), cursor, moved, found.content));
  if (!is_found && held.view().has_original()) {
    RETURN_IF_ERROR(look_in_page(*held.view().original(), held.view(), found.content));
  }
  std::erase_if(found_, [&](const Found& each) { return each.digest == found.digest; });
  if (found_.size() == kFoundMax) found_.erase(found_.begin());
  found_.push_back(std::move(found));
  const HeldEntry& content = found_.back().content;
  return content.is_empty() ? nullptr : &content.view();
}

base::Result<bool> ContentFinder::look_back(const EntryView& entry, env::StoreCursor& cursor,
                                            std::size_t& moved, HeldEntry& content) {
  std::size_t others = 0;
  while (others < kOthersMax) {
    cursor.next();
    ++moved;
    if (!cursor.valid()) break;
    if (!cursor.key().starts_with(entry.page())) return false;
    ASSIGN_OR_RETURN(const EntryView older, parse_at(cursor));
    if (older.page() != entry.page()) return false;
    if (may_be_content(entry, older)) {
      content.hold(cursor.key(), cursor.value());
      return true;
    }
    if (older.kind() == EntryKind::kChanged && older.has_original() &&
        (entry.digest_bytes().empty() || have_same_digest(entry, older))) {
      RETURN_IF_ERROR(look_in_page(*older.original(), older, content));
      return !content.is_empty();
    }
    const bool is_same = older.digest_bytes() == entry.digest_bytes();
    if (!is_same) ++others;
  }
  RETURN_IF_ERROR(cursor.status());
  return false;
}

base::Result<const EntryView*> ContentFinder::find_original(const EntryView& entry) {
  original_.clear();
  if (const auto original = entry.original()) {
    RETURN_IF_ERROR(look_in_page(*original, entry, original_));
  }
  return original_.is_empty() ? nullptr : &original_.view();
}

// Records name their originals to the second, or to less than we know.
base::Status ContentFinder::look_in_page(const EntryOriginal& original, const EntryView& entry,
                                         HeldEntry& content) {
  if (!side_) side_ = index_.cursor();
  const std::string page = page_key_of(original.url);
  const std::int64_t ms = original.date.ms();
  const Instant second = Instant::from_ms(ms - (ms % 1000 + 1000) % 1000);
  side_->seek(page_key_of(original.url, second + Duration::from_ms(999)));
  for (std::size_t i = 0; i < kOthersMax && side_->valid(); ++i, side_->next()) {
    if (!side_->key().starts_with(page)) return {};
    ASSIGN_OR_RETURN(const EntryView older, parse_at(*side_));
    if (older.page() != page) return {};
    if (!holds_content(older)) continue;
    const bool is_named = older.date() >= second;
    if (have_same_digest(entry, older) || (is_named && entry.digest_bytes().empty())) {
      content.hold(side_->key(), side_->value());
      return {};
    }
  }
  return side_->status();
}

}  // namespace meguri::archive
