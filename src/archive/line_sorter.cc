#include "archive/line_sorter.h"

#include <algorithm>
#include <queue>

#include "base/bytes.h"

namespace meguri::archive {

base::Status LineSorter::add(std::string_view line) {
  const std::size_t held = bytes_.size() + (places_.size() + 1) * sizeof(Place);
  if (!places_.empty() && held + line.size() > bytes_max_) RETURN_IF_ERROR(spill());
  places_.push_back({.offset = bytes_.size(), .length = line.size()});
  bytes_ += line;
  ++size_;
  return {};
}

void LineSorter::sort() {
  std::ranges::sort(places_, {}, [this](const Place& place) { return line_at(place); });
}

base::Status LineSorter::spill() {
  if (file_ == nullptr) {
    ASSIGN_OR_RETURN(file_, fs_.open_temporary(dir_));
  }
  sort();
  constexpr std::size_t kWriteBytes = std::size_t{256} << 10U;
  Run run = {.offset = file_bytes_, .end = file_bytes_, .bytes = {}, .used = 0, .line = {}};
  std::string out;
  for (const Place& place : places_) {
    base::put_short_text(out, line_at(place));
    if (out.size() < kWriteBytes) continue;
    RETURN_IF_ERROR(file_->append(out));
    run.end += out.size();
    out.clear();
  }
  RETURN_IF_ERROR(file_->append(out));
  run.end += out.size();
  file_bytes_ = run.end;
  runs_.push_back(std::move(run));
  bytes_.clear();
  places_.clear();
  return {};
}

base::Result<bool> LineSorter::pull(Run& run) const {
  // What was read and what is read now are both there for a moment.
  std::size_t wanted = std::clamp(bytes_max_ / (2 * runs_.size()), kReadBytesMin, kReadBytesMax);
  while (true) {
    std::string_view rest = std::string_view(run.bytes).substr(run.used);
    if (std::string_view line; base::take_short_text(rest, line)) {
      run.line = line;
      run.used = run.bytes.size() - rest.size();
      return true;
    }
    if (run.offset == run.end) return false;
    // A line that is longer than what was wanted is read in steps that double.
    std::string more;
    const auto length =
        static_cast<std::size_t>(std::min<std::uint64_t>(run.end - run.offset, wanted));
    RETURN_IF_ERROR(file_->read_at(run.offset, length, &more));
    if (more.size() != length) {
      return base::fail(base::ErrorCode::kCorrupt, "a temporary file in {} ends too early", dir_);
    }
    run.offset += length;
    run.bytes = std::string(run.bytes, run.used) + more;
    run.used = 0;
    wanted *= 2;
  }
}

base::Status LineSorter::take_all(const std::function<base::Status(std::string_view line)>& take) {
  if (runs_.empty()) {
    sort();
    for (const Place& place : places_) RETURN_IF_ERROR(take(line_at(place)));
    return {};
  }
  if (!places_.empty()) RETURN_IF_ERROR(spill());
  bytes_ = {};
  places_ = {};
  const auto is_behind = [](const Run* a, const Run* b) { return a->line > b->line; };
  std::priority_queue<Run*, std::vector<Run*>, decltype(is_behind)> heads(is_behind);
  const auto advance = [&](Run& run) -> base::Status {
    ASSIGN_OR_RETURN(const bool has_line, pull(run));
    if (has_line) {
      heads.push(&run);
    } else {
      run = {};
    }
    return {};
  };
  for (Run& run : runs_) RETURN_IF_ERROR(advance(run));
  while (!heads.empty()) {
    Run& run = *heads.top();
    heads.pop();
    RETURN_IF_ERROR(take(run.line));
    RETURN_IF_ERROR(advance(run));
  }
  return {};
}

}  // namespace meguri::archive
