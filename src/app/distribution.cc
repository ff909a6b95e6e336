#include "app/distribution.h"

#include <algorithm>
#include <numeric>

namespace meguri::app {

std::size_t Distribution::bin_of(std::span<const double> edges, double value) {
  return static_cast<std::size_t>(std::ranges::upper_bound(edges, value) - edges.begin());
}

void Distribution::add(double value) {
  ++counts_[bin_of(edges_, value)];
  ++total_;
}

std::uint64_t Distribution::below(std::size_t edge) const {
  const auto end = counts_.begin() + static_cast<std::ptrdiff_t>(edge) + 1;
  return std::accumulate(counts_.begin(), end, std::uint64_t{0});
}

Distribution::EdgeRange Distribution::telling_edges() const {
  if (total_ == 0) return {};
  EdgeRange range{0, edges_.size() - 1};
  while (range.first < range.last && below(range.first + 1) == 0) ++range.first;
  while (range.last > range.first && below(range.last - 1) == total_) --range.last;
  return range;
}

}  // namespace meguri::app
