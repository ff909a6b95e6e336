#include "sat/id_merge.h"

#include <utility>

namespace meguri::sat {

base::Result<std::unique_ptr<IdMerge>> IdMerge::begin(std::vector<const IdRun*> runs,
                                                      bool has_oldest,
                                                      std::unique_ptr<IdRunWriter> writer) {
  std::unique_ptr<IdMerge> merge(new IdMerge(has_oldest, std::move(writer)));
  for (std::size_t i = runs.size(); i > 0; --i) {
    merge->cursors_.emplace_back(*runs[i - 1]);
    RETURN_IF_ERROR(merge->advance(merge->cursors_.size() - 1));
  }
  return merge;
}

base::Result<bool> IdMerge::advance(std::size_t cursor) {
  ASSIGN_OR_RETURN(const bool more, cursors_[cursor].next());
  if (!more) cursors_.erase(cursors_.begin() + static_cast<std::ptrdiff_t>(cursor));
  return more;
}

base::Result<bool> IdMerge::step(std::uint64_t ids) {
  for (; ids > 0 && !cursors_.empty(); --ids) {
    // There are few runs, so that going through all of them is the fastest.
    std::size_t least = 0;
    for (std::size_t i = 1; i < cursors_.size(); ++i) {
      if (cursors_[i].now().id < cursors_[least].now().id) least = i;
    }
    const KnownId known = cursors_[least].now();
    if (known.seq != kRemovedSeq || !has_oldest_) RETURN_IF_ERROR(writer_->add(known));
    for (std::size_t i = cursors_.size(); i > least; --i) {
      if (cursors_[i - 1].now().id == known.id) RETURN_IF_ERROR(advance(i - 1));
    }
  }
  return cursors_.empty();
}

std::size_t IdMerge::memory_bytes() const {
  std::size_t bytes = writer_->memory_bytes();
  for (const IdRunCursor& cursor : cursors_) bytes += cursor.memory_bytes();
  return bytes;
}

}  // namespace meguri::sat
