// BloomFilter: a few bits for each id of a set, which tell of most other ids that they are not in
// it. All bits of an id lie in one line of the processor's cache, so that asking costs one miss.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/hash.h"
#include "base/huge_pages.h"
#include "base/prefetch.h"

namespace meguri::sat {

// Where the bits of an id are, in filters of any size. Made once for all that are asked.
struct FilterKey {
  std::uint64_t line = 0;
  std::uint64_t bits = 0;

  // Whatever the ids have in common, such as their leading bits, lines are used evenly.
  static FilterKey of(const base::Id& id) {
    const std::uint64_t line = base::mix64(id.high ^ (id.low << 32U | id.low >> 32U));
    return {line, base::mix64(line + id.low)};
  }
};

// Thread-compatible.
class BloomFilter {
 public:
  BloomFilter() = default;  // of nothing: contains nothing
  // For so many ids; more may be added, at the price of more errors.
  BloomFilter(std::uint64_t ids, double bits_per_id);

  void add(const FilterKey& key);
  // False: it was not added. True: it was, or chance has set the same bits.
  bool may_contain(const FilterKey& key) const;
  // Lets the processor fetch what add() or may_contain() will need.
  void prefetch(const FilterKey& key) const { base::prefetch(lines_.data() + line_of(key)); }
  void clear();

  // As it is on disk: its shape, and its lines in pieces of any size, so that it never needs twice
  // its memory.
  struct Shape {
    std::uint64_t lines = 0;
    std::uint8_t probes = 0;  // bits that an id sets

    friend bool operator==(const Shape&, const Shape&) = default;
  };
  static constexpr std::size_t kLineBytes = 64;
  Shape shape() const { return {lines_.size(), probes_}; }
  void append_lines(std::size_t begin, std::size_t end, std::string& out) const;
  static bool is_shape(const Shape& shape) {
    return shape.probes > 0 && shape.probes <= kProbesMax;
  }
  explicit BloomFilter(const Shape& shape) : lines_(shape.lines), probes_(shape.probes) {}
  // Requires whole lines that fit in behind `begin`.
  void load_lines(std::size_t begin, std::string_view bytes);

  std::size_t memory_bytes() const { return lines_.capacity() * sizeof(Line); }

 private:
  static constexpr std::size_t kWords = 8;
  static constexpr std::uint8_t kProbesMax = 7;  // of 9 bits each, out of 64
  struct alignas(kLineBytes) Line {
    std::array<std::uint64_t, kWords> words{};
  };

  std::size_t line_of(const FilterKey& key) const {
    return (key.line >> 32U) * lines_.size() >> 32U;  // of less than 2^32 lines
  }

  std::vector<Line, base::HugePageAllocator<Line>> lines_;
  std::uint8_t probes_ = 0;
};

}  // namespace meguri::sat
