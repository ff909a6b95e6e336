#include "archive/snapshot_diff.h"

#include "base/check.h"

namespace meguri::archive {

namespace {

SnapshotQuery query_at(base::Instant time, const PageScope& scope) {
  SnapshotQuery query = SnapshotQuery::at(time);
  query.has_gone = true;  // so that it is known when a page went
  query.scope = scope;
  return query;
}

PageVersion version_of(const SnapshotItem& item) {
  const EntryView& entry = item.entry;
  const EntryView* content = item.content;
  PageVersion version;
  version.date = entry.date();
  version.status = entry.status();
  version.mime = entry.mime();
  version.digest = entry.digest_bytes();
  version.is_sha1 = entry.has_sha1();
  version.visit = entry.place();
  version.is_gone = entry.kind() == EntryKind::kGone;
  version.is_confirmed = entry.kind() == EntryKind::kUnchanged;
  // A 304 says nothing of where the page leads.
  if (!version.is_confirmed || entry.target() != 0) version.target = entry.target();
  if (content == nullptr) return version;
  if (entry.is_not_modified() || version.status == 0) version.status = content->status();
  if (!version.target) version.target = content->target();
  if (version.mime.empty()) version.mime = content->mime();
  if (version.digest.empty()) {
    version.digest = content->digest_bytes();
    version.is_sha1 = content->has_sha1();
  }
  version.place = content->place();
  return version;
}

bool is_there(const PageVersion* version) { return version != nullptr && !version->is_gone; }

}  // namespace

std::string_view name_of(DifferenceKind kind) {
  switch (kind) {
    case DifferenceKind::kAdded: return "added";
    case DifferenceKind::kGone: return "gone";
    case DifferenceKind::kChanged: return "changed";
    case DifferenceKind::kUnchanged: return "unchanged";
  }
  return "?";
}

bool is_same_content(const PageVersion& before, const PageVersion& after) {
  if (before.visit == after.visit) return true;
  // Digests of two algorithms tell nothing.
  const bool can_tell =
      !before.digest.empty() && !after.digest.empty() && before.is_sha1 == after.is_sha1;
  if (can_tell) {
    const bool is_same_target = !before.target || !after.target || *before.target == *after.target;
    return before.digest == after.digest && is_same_target;
  }
  if (before.place && after.place) return *before.place == *after.place;
  return after.is_confirmed && !after.place && after.digest.empty();
}

SnapshotDiff::SnapshotDiff(const TemporalIndex& index, const DiffQuery& query)
    : query_(query),
      from_(query_at(query.from, query.scope)),
      to_(query_at(query.to, query.scope)),
      before_(index, from_),
      after_(index, to_) {
  CHECK(query.from <= query.to, "time goes on");
}

bool SnapshotDiff::passes(const SnapshotItem& item) const {
  return item.entry.kind() != EntryKind::kGone && query_.filter.holds(item.entry, item.content);
}

base::Status SnapshotDiff::walk(const KeyRange& range, const Take& take) {
  held_.clear();
  bytes_.clear();
  next_ = 0;
  RETURN_IF_ERROR(before_.walk(range, [this](const SnapshotItem& item) -> base::Status {
    hold(item);
    return {};
  }));
  RETURN_IF_ERROR(
      after_.walk(range, [&](const SnapshotItem& item) { return take_after(item, take); }));
  for (; next_ < held_.size(); ++next_) {
    RETURN_IF_ERROR(take_before(held_[next_], nullptr, false, take));
  }
  return {};
}

void SnapshotDiff::hold(const SnapshotItem& item) {
  Held held;
  held.version = version_of(item);
  held.begin = bytes_.size();
  const std::string url = item.entry.url();
  held.page_size = static_cast<std::uint32_t>(item.entry.page().size());
  held.url_size = static_cast<std::uint32_t>(url.size());
  held.mime_size = static_cast<std::uint32_t>(held.version.mime.size());
  held.digest_size = static_cast<std::uint32_t>(held.version.digest.size());
  held.passes = passes(item);
  bytes_.append(item.entry.page()).append(url);
  bytes_.append(held.version.mime).append(held.version.digest);
  held_.push_back(held);
}

std::string_view SnapshotDiff::page_of(const Held& held) const {
  return std::string_view(bytes_).substr(held.begin, held.page_size);
}

// Compares a page of the first moment with what it is at the second.
base::Status SnapshotDiff::take_before(Held& held, const PageVersion* after, bool after_passes,
                                       const Take& take) {
  std::string_view rest = std::string_view(bytes_).substr(held.begin + held.page_size);
  const std::string_view url = rest.substr(0, held.url_size);
  rest.remove_prefix(held.url_size);
  held.version.mime = rest.substr(0, held.mime_size);
  held.version.digest = rest.substr(held.mime_size, held.digest_size);
  const bool was_there = is_there(&held.version);
  if ((!was_there && !is_there(after)) || !(held.passes || after_passes)) return {};
  PageDifference difference{.url = url, .before = &held.version, .after = after};
  if (!was_there) {
    difference.kind = DifferenceKind::kAdded;
  } else if (!is_there(after)) {
    difference.kind = DifferenceKind::kGone;
  } else {
    difference.kind = is_same_content(held.version, *after) ? DifferenceKind::kUnchanged
                                                            : DifferenceKind::kChanged;
  }
  return take(difference);
}

base::Status SnapshotDiff::take_after(const SnapshotItem& item, const Take& take) {
  for (; next_ < held_.size() && page_of(held_[next_]) < item.entry.page(); ++next_) {
    RETURN_IF_ERROR(take_before(held_[next_], nullptr, false, take));
  }
  const PageVersion after = version_of(item);
  if (next_ < held_.size() && page_of(held_[next_]) == item.entry.page()) {
    return take_before(held_[next_++], &after, passes(item), take);
  }
  if (after.is_gone || !passes(item)) return {};
  const std::string url = item.entry.url();
  return take({.kind = DifferenceKind::kAdded, .url = url, .before = nullptr, .after = &after});
}

}  // namespace meguri::archive
