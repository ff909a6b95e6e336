// How much two versions of a page differ, from 56 bytes kept of each: a simhash and a sketch of its
// shingles (one-bit minwise hashing), which are two measures of one thing.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace meguri::web {

// What is kept of a text. Features are runs of three words (characters, in scripts without
// spaces), lower-case; words with digits, and the names of months and weekdays beside them, do not
// count, so that dates and counters change nothing.
struct TextSketch {
  static constexpr std::size_t kBins = 256;

  std::uint64_t hash = 0;                           // of all words that count, in order
  std::uint64_t simhash = 0;                        // of the features
  std::uint32_t words = 0;                          // that count
  std::uint32_t features = 0;                       // each counted once
  std::array<std::uint64_t, kBins / 64> bins = {};  // a bit of the least feature of each bin

  friend bool operator==(const TextSketch&, const TextSketch&) = default;
};

TextSketch sketch_of(std::string_view text);

// The features themselves, as hashes: sorted, each once, at most kFeaturesMax (the first ones of
// the text).
inline constexpr std::size_t kFeaturesMax = 1U << 20U;
std::vector<std::uint64_t> features_of(std::string_view text);

// The share of features that only one of the two has, of those that any has (1 - Jaccard), as far
// as the sketches tell: the likeliest share, given how many bits of the simhash and of the bins
// differ, and the sizes of both. 0 only if all words that count are the same. At a share of 0.02
// some 5 bits are expected to differ, so small shares are rough estimates.
double difference(const TextSketch& a, const TextSketch& b);

// Changes below this share do not count: a reader would call them the same page.
inline constexpr double kDifferenceThreshold = 0.02;

// Whether the change from one version to the other counts for the schedule. In texts of fewer than
// 50 words every change does.
bool change_counts(const TextSketch& before, const TextSketch& after,
                   double threshold = kDifferenceThreshold);

}  // namespace meguri::web
