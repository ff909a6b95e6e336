#include "sat/bloom_filter.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "base/bytes.h"
#include "base/check.h"

namespace meguri::sat {

namespace {

constexpr double kLineBits = 512;

}  // namespace

BloomFilter::BloomFilter(std::uint64_t ids, double bits_per_id)
    : lines_(static_cast<std::size_t>(
          std::max(1.0, std::ceil(static_cast<double>(ids) * bits_per_id / kLineBits)))),
      // A little below the optimum: lines that got more ids than others fill up otherwise.
      probes_(static_cast<std::uint8_t>(
          std::clamp<long>(std::lround(bits_per_id * std::numbers::ln2 * 0.9), 1, kProbesMax))) {}

void BloomFilter::add(const FilterKey& key) {
  Line& line = lines_[line_of(key)];
  std::uint64_t bits = key.bits;
  for (std::uint32_t i = 0; i < probes_; ++i, bits >>= 9U) {
    line.words[bits >> 6U & 7U] |= std::uint64_t{1} << (bits & 63U);
  }
}

bool BloomFilter::may_contain(const FilterKey& key) const {
  if (lines_.empty()) return false;
  const Line& line = lines_[line_of(key)];
  std::uint64_t bits = key.bits;
  for (std::uint32_t i = 0; i < probes_; ++i, bits >>= 9U) {
    if ((line.words[bits >> 6U & 7U] >> (bits & 63U) & 1U) == 0) return false;
  }
  return true;
}

void BloomFilter::clear() { std::ranges::fill(lines_, Line()); }

void BloomFilter::append_lines(std::size_t begin, std::size_t end, std::string& out) const {
  for (std::size_t at = begin; at < end; ++at) {
    for (const std::uint64_t word : lines_[at].words) base::put_fixed(out, word);
  }
}

void BloomFilter::load_lines(std::size_t begin, std::string_view bytes) {
  CHECK(bytes.size() % kLineBytes == 0 && begin + bytes.size() / kLineBytes <= lines_.size());
  for (std::size_t at = begin; !bytes.empty(); ++at) {
    for (std::uint64_t& word : lines_[at].words) base::take_fixed(bytes, word);
  }
}

}  // namespace meguri::sat
