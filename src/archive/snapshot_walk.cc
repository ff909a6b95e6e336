#include "archive/snapshot_walk.h"

#include <utility>

#include "base/check.h"

namespace meguri::archive {

namespace {

using base::ErrorCode;
using base::Instant;

// Seeking costs about as much as this many steps.
constexpr std::size_t kStepsOfASeek = 12;

}  // namespace

SnapshotWalk::SnapshotWalk(const TemporalIndex& index, const SnapshotQuery& query)
    : index_(index),
      query_(query),
      has_past_(query.relations.has(Relation::kBefore) || query.relations.has(Relation::kMeets)),
      has_future_(query.relations.has(Relation::kAfter) || query.relations.has(Relation::kMetBy)),
      finder_(index) {
  CHECK(!query.period.empty(), "a snapshot is of some time");
}

base::Status SnapshotWalk::walk(const KeyRange& range, const Take& take) {
  if (!cursor_) cursor_ = index_.cursor();
  end_ = range.end;
  page_.clear();
  cursor_->seek(range.begin);
  while (!is_over()) {
    const auto entry = EntryView::parse(cursor_->key(), cursor_->value());
    if (!entry) {
      return base::fail(ErrorCode::kCorrupt,
                        "the index holds an entry that is none; 'meguri repair' makes it anew");
    }
    if (entry->page() != page_) {
      // The page before ends here, and with it what was still open of it.
      if (run_.is_open) {
        const HeldEntry held(cursor_->key(), cursor_->value());
        RETURN_IF_ERROR(end_run(take));
        RETURN_IF_ERROR(return_to(held.key()));
        page_.clear();
        continue;
      }
      RETURN_IF_ERROR(begin_page(*entry));
    }
    ++counts_.entries;
    ASSIGN_OR_RETURN(const Next next, look_at(*entry, take));
    if (next == Next::kPage) RETURN_IF_ERROR(skip_page());
  }
  if (run_.is_open) RETURN_IF_ERROR(end_run(take));
  return cursor_->status();
}

bool SnapshotWalk::is_over() const { return !cursor_->valid() || cursor_->key() >= end_; }

base::Status SnapshotWalk::begin_page(const EntryView& entry) {
  page_ = entry.page();
  is_in_scope_ = query_.scope.holds(entry);
  if (is_in_scope_) ++counts_.pages;
  newer_ = Instant::max();
  newer_any_ = Instant::max();
  too_new_ = 0;
  finder_.begin_page();
  return {};
}

// Leaves the cursor at the entry after the one it was given, or behind the page.
base::Result<SnapshotWalk::Next> SnapshotWalk::look_at(const EntryView& entry, const Take& take) {
  if (!is_in_scope_) return Next::kPage;
  // All that is left of the page ended before the period.
  if (!has_past_ && newer_ <= query_.period.begin && !run_.is_open) return Next::kPage;
  return query_.view == SnapshotView::kVisits ? look_at_visit(entry, take)
                                              : look_at_version(entry, take);
}

base::Result<SnapshotWalk::Next> SnapshotWalk::look_at_visit(const EntryView& entry,
                                                             const Take& take) {
  const bool is_error = entry.kind() == EntryKind::kError;
  const TimeSpan valid{entry.date(), is_error ? newer_any_ : newer_};
  newer_any_ = entry.date();
  if (!is_error) newer_ = entry.date();
  if (!has_future_ && entry.date() >= query_.period.end) {
    if (++too_new_ < kStepsOfASeek) {
      cursor_->next();
    } else {
      RETURN_IF_ERROR(skip_newer());
    }
    return Next::kEntry;
  }
  if (!is_asked_for(entry.kind()) || !query_.relations.holds(valid, query_.period)) {
    cursor_->next();
    return Next::kEntry;
  }
  return offer(entry, valid, take);
}

// Hands on an entry that lies right in time, if the filter takes it, with its content.
base::Result<SnapshotWalk::Next> SnapshotWalk::offer(const EntryView& entry, const TimeSpan& valid,
                                                     const Take& take) {
  if (query_.filter.is_told_by(entry) && !query_.filter.holds(entry, nullptr)) {
    cursor_->next();
    return Next::kEntry;
  }
  if (!needs_content(entry)) {
    const bool has_content = entry.kind() == EntryKind::kChanged && !entry.has_original();
    const SnapshotItem item{entry, valid, has_content ? &entry : nullptr};
    if (!query_.filter.holds(entry, item.content)) {
      cursor_->next();
      return Next::kEntry;
    }
    ASSIGN_OR_RETURN(const Next next, hand_on(item, take));
    if (next == Next::kEntry) cursor_->next();
    return next;
  }
  const HeldEntry held(cursor_->key(), cursor_->value());
  std::size_t moved = 0;
  const EntryView* content = nullptr;
  if (entry.kind() == EntryKind::kUnchanged) {
    ASSIGN_OR_RETURN(content, finder_.find_before(held.view(), *cursor_, moved));
  } else {
    ASSIGN_OR_RETURN(content, finder_.find_original(held.view()));
  }
  Next next = Next::kEntry;
  if (query_.filter.holds(held.view(), content)) {
    ASSIGN_OR_RETURN(next, hand_on({held.view(), valid, content}, take));
  }
  if (next == Next::kPage) return next;
  // The content may stand right behind it; then the cursor stands there already.
  if (moved == 0) {
    cursor_->next();
  } else if (moved > 1) {
    RETURN_IF_ERROR(return_to(held.key()));
    cursor_->next();
  }
  return next;
}

base::Result<SnapshotWalk::Next> SnapshotWalk::hand_on(const SnapshotItem& item, const Take& take) {
  ++counts_.items;
  RETURN_IF_ERROR(take(item));
  return query_.has_all ? Next::kEntry : Next::kPage;
}

bool SnapshotWalk::is_asked_for(EntryKind kind) const {
  switch (kind) {
    case EntryKind::kChanged:
    case EntryKind::kUnchanged: return true;
    case EntryKind::kGone: return query_.has_gone;
    case EntryKind::kError: return query_.has_errors;
  }
  return false;
}

bool SnapshotWalk::needs_content(const EntryView& entry) const {
  const bool is_elsewhere = entry.kind() == EntryKind::kUnchanged ||
                            (entry.kind() == EntryKind::kChanged && entry.has_original());
  return is_elsewhere && (query_.has_content || !query_.filter.is_told_by(entry));
}

// Whether an entry, older than all of the run, found the same.
bool SnapshotWalk::continues(const Run& run, const EntryView& older) {
  const EntryView& first = run.first.view();
  const bool is_gone = first.kind() == EntryKind::kGone;
  if (is_gone || older.kind() == EntryKind::kGone) {
    return is_gone && older.kind() == EntryKind::kGone;
  }
  if (first.kind() == EntryKind::kUnchanged &&
      (first.digest_bytes().empty() || older.digest_bytes().empty())) {
    return true;
  }
  // A 304 says nothing of where the page leads.
  if (first.kind() == EntryKind::kUnchanged || older.kind() == EntryKind::kUnchanged) {
    return first.digest_bytes() == older.digest_bytes() && !first.digest_bytes().empty();
  }
  return have_same_digest(first, older);
}

base::Result<SnapshotWalk::Next> SnapshotWalk::look_at_version(const EntryView& entry,
                                                               const Take& take) {
  if (entry.kind() == EntryKind::kError) {
    cursor_->next();
    return Next::kEntry;
  }
  if (run_.is_open && !continues(run_, entry)) {
    const HeldEntry held(cursor_->key(), cursor_->value());
    ASSIGN_OR_RETURN(const Next next, end_run(take));
    if (next == Next::kPage) return next;
    RETURN_IF_ERROR(return_to(held.key()));
    --counts_.entries;
    return Next::kEntry;  // it is looked at again, as the newest of the next run
  }
  if (!run_.is_open) {
    run_.is_open = true;
    run_.end = newer_;
    run_.content.clear();
  }
  run_.first.hold(cursor_->key(), cursor_->value());
  const EntryView& first = run_.first.view();
  if (first.kind() == EntryKind::kChanged && (run_.content.is_empty() || !first.has_original())) {
    run_.content = run_.first;
  }
  newer_ = entry.date();
  cursor_->next();
  return Next::kEntry;
}

// The cursor may stand anywhere afterwards.
base::Result<SnapshotWalk::Next> SnapshotWalk::end_run(const Take& take) {
  run_.is_open = false;
  const EntryView& first = run_.first.view();
  const TimeSpan valid{first.date(), run_.end};
  if (!is_asked_for(first.kind()) || !query_.relations.holds(valid, query_.period)) {
    return Next::kEntry;
  }
  const EntryView* content = run_.content.is_empty() ? nullptr : &run_.content.view();
  if (content != nullptr && content->has_original()) {
    ASSIGN_OR_RETURN(content, finder_.find_original(*content));
  } else if (content == nullptr && first.kind() == EntryKind::kUnchanged) {
    std::size_t moved = 0;
    RETURN_IF_ERROR(return_to(run_.first.key()));
    ASSIGN_OR_RETURN(content, finder_.find_before(first, *cursor_, moved));
  }
  if (!query_.filter.holds(first, content)) return Next::kEntry;
  return hand_on({first, valid, content}, take);
}

base::Status SnapshotWalk::return_to(const std::string& key) {
  cursor_->seek(key);
  return cursor_->valid() ? base::Status() : cursor_->status();
}

// To the first entry of the next page.
base::Status SnapshotWalk::skip_page() {
  run_.is_open = false;
  for (std::size_t i = 0; i < kStepsOfASeek && !is_over(); ++i) {
    if (!cursor_->key().starts_with(page_)) return {};
    cursor_->next();
  }
  if (!is_over() && cursor_->key().starts_with(page_)) cursor_->seek(range_of_front(page_).end);
  return cursor_->valid() ? base::Status() : cursor_->status();
}

// From an entry behind the period to the newest one that is not, or behind the page; and back to
// find out until when that one is valid.
base::Status SnapshotWalk::skip_newer() {
  const HeldEntry held(cursor_->key(), cursor_->value());
  cursor_->seek(date_key_of(page_, query_.period.end - base::Duration::from_ms(1)));
  if (!cursor_->valid()) {
    RETURN_IF_ERROR(cursor_->status());
    cursor_->seek_last();
  } else {
    cursor_->prev();
  }
  std::string nearest(cursor_->key());
  bool is_nearest = true;
  for (; cursor_->valid() && cursor_->key() > held.key(); cursor_->prev()) {
    const auto entry = EntryView::parse(cursor_->key(), cursor_->value());
    if (!entry) break;
    if (std::exchange(is_nearest, false)) newer_any_ = entry->date();
    if (entry->kind() == EntryKind::kError) continue;
    newer_ = entry->date();
    break;
  }
  RETURN_IF_ERROR(return_to(nearest));
  cursor_->next();
  too_new_ = 0;
  return {};
}

}  // namespace meguri::archive
