// Distribution: how many values lie between edges, and how many below each.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace meguri::app {

// Edges rise. Bin i holds what is at or above edge i - 1 and below edge i: the first also all that
// is below every edge, the last all that is above. Borrows the edges. Thread-compatible.
class Distribution {
 public:
  explicit Distribution(std::span<const double> edges) : edges_(edges), counts_(edges.size() + 1) {}

  static std::size_t bin_of(std::span<const double> edges, double value);

  void add(double value);

  std::span<const double> edges() const { return edges_; }
  std::uint64_t total() const { return total_; }
  std::uint64_t in(std::size_t bin) const { return counts_[bin]; }
  std::uint64_t below(std::size_t edge) const;  // values below edges()[edge]

  // The edges that tell all there is: from the last below which there is nothing, or the first of
  // all, to the first below which there is everything, or the last of all. Empty where there are no
  // values: first > last.
  struct EdgeRange {
    std::size_t first = 1;
    std::size_t last = 0;
  };
  EdgeRange telling_edges() const;

 private:
  std::span<const double> edges_;
  std::vector<std::uint64_t> counts_;
  std::uint64_t total_ = 0;
};

}  // namespace meguri::app
