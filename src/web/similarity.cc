#include "web/similarity.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numbers>
#include <span>
#include <string>
#include <utility>

#include "base/hash.h"
#include "base/text.h"
#include "web/ascii.h"
#include "web/scripts.h"

namespace meguri::web {
namespace {

constexpr std::uint32_t kShortTextWords = 50;
constexpr std::size_t kShingleWords = 3;
constexpr double kShareStep = 0.001;  // the least share that is told from none

constexpr auto kDateWords = std::to_array<std::string_view>(
    {"jan",    "january",   "feb",      "february", "mar",     "march",    "apr",       "april",
     "may",    "jun",       "june",     "jul",      "july",    "aug",      "august",    "sep",
     "sept",   "september", "oct",      "october",  "nov",     "november", "dec",       "december",
     "mon",    "monday",    "tue",      "tues",     "tuesday", "wed",      "wednesday", "thu",
     "thur",   "thurs",     "thursday", "fri",      "friday",  "sat",      "saturday",  "sun",
     "sunday", "am",        "pm",       "utc",      "gmt",     "st",       "nd",        "rd",
     "th",     "年",        "月",       "日",       "時",      "分",       "秒",        "时"});

bool is_date_word(std::uint64_t hash) {
  static const auto date_hashes = [] {
    std::array<std::uint64_t, kDateWords.size()> hashes{};
    std::ranges::transform(kDateWords, hashes.begin(),
                           [](std::string_view word) { return base::hash64(word); });
    std::ranges::sort(hashes);
    return hashes;
  }();
  return std::ranges::binary_search(date_hashes, hash);
}

// Splits a text into words, and tells which have digits.
class Words {
 public:
  explicit Words(std::string_view text) : rest_(text) {}

  // False at the end. `word` is lower-case in ASCII and dies at the next call.
  bool next(std::string_view* word, bool* has_digit) {
    word_.clear();
    *has_digit = false;
    while (!rest_.empty()) {
      const char c = rest_.front();
      if (static_cast<unsigned char>(c) < 0x80) {
        take_ascii(has_digit);
        if (!word_.empty() && (rest_.empty() || static_cast<unsigned char>(rest_.front()) < 0x80)) {
          break;
        }
        if (!rest_.empty() && is_ascii_separator(rest_.front())) rest_.remove_prefix(1);
        continue;
      }
      const base::CodePoint code = base::first_code_point(rest_);
      const bool alone = is_unspaced(code.value);
      const bool separates = alone || !code.valid || is_separator(code.value);
      if (separates && !word_.empty()) break;
      const std::string_view bytes = rest_.substr(0, code.length);
      rest_.remove_prefix(code.length);
      if (separates && !alone) continue;
      word_.append(bytes);
      *has_digit = *has_digit || (code.value >= 0xFF10 && code.value <= 0xFF19);
      if (alone) break;
    }
    *word = word_;
    return !word_.empty();
  }

 private:
  static bool is_ascii_separator(char c) {
    return static_cast<unsigned char>(c) < 0x80 && !is_alnum(c);
  }

  // Takes letters and digits from the front.
  void take_ascii(bool* has_digit) {
    std::size_t size = 0;
    while (size < rest_.size() && is_alnum(rest_[size])) {
      *has_digit = *has_digit || is_digit(rest_[size]);
      word_.push_back(to_lower(rest_[size++]));
    }
    rest_.remove_prefix(size);
  }

  // Punctuation and spaces outside ASCII.
  static bool is_separator(std::uint32_t c) {
    return (c >= 0x80 && c < 0xC0) || c == 0xD7 || c == 0xF7 || (c >= 0x2000 && c < 0x2070) ||
           (c >= 0x3000 && c < 0x3040) || (c >= 0xFF00 && c < 0xFF10) ||
           (c >= 0xFF1A && c < 0xFF21) || c == 0xFEFF || c == 0xFFFD;
  }

  std::string_view rest_;
  std::string word_;
};

// Calls `add` with the hash of every word that counts.
template <typename Add>
void for_each_word(std::string_view text, Add add) {
  Words words(text);
  std::string_view word;
  bool has_digit = false;
  // The name of a month waits for its neighbour: beside a number it is part of a date.
  std::uint64_t waiting = 0;
  bool is_waiting = false;
  bool after_digit = false;
  while (words.next(&word, &has_digit)) {
    if (has_digit) {
      is_waiting = false;
      after_digit = true;
      continue;
    }
    if (is_waiting) add(waiting);
    is_waiting = false;
    const std::uint64_t hash = base::hash64(word);
    if (is_date_word(hash)) {
      if (after_digit) continue;  // and so may the next be
      is_waiting = true;
      waiting = hash;
      continue;
    }
    after_digit = false;
    add(hash);
  }
  if (is_waiting) add(waiting);
}

// Turns words into features, each once, in the order of the text.
class Shingles {
 public:
  void add(std::uint64_t word) {
    last_[0] = last_[1];
    last_[1] = last_[2];
    last_[2] = word;
    if (++words_ >= kShingleWords) push();
  }

  std::vector<std::uint64_t> finish() {
    if (words_ > 0 && words_ < kShingleWords) push();
    return std::move(features_);
  }

 private:
  void push() {
    if (features_.size() >= kFeaturesMax) return;
    const std::uint64_t feature =
        base::mix64(base::mix64(base::mix64(last_[0]) ^ last_[1]) ^ last_[2]) | 1U;
    if (2 * (features_.size() + 1) > seen_.size()) grow();
    if (insert(feature)) features_.push_back(feature);
  }

  // False: it is there already. Features are odd, so that 0 marks a free place.
  bool insert(std::uint64_t feature) {
    const std::size_t mask = seen_.size() - 1;
    std::size_t place = (feature >> 20U) & mask;
    while (seen_[place] != 0) {
      if (seen_[place] == feature) return false;
      place = (place + 1) & mask;
    }
    seen_[place] = feature;
    return true;
  }

  void grow() {
    seen_.assign(std::max<std::size_t>(1024, 2 * seen_.size()), 0);
    for (const std::uint64_t feature : features_) insert(feature);
  }

  std::vector<std::uint64_t> features_;
  std::vector<std::uint64_t> seen_;  // a hash table of them
  std::array<std::uint64_t, kShingleWords> last_ = {};
  std::size_t words_ = 0;
};

// The bits of a byte as eight bytes of 0 or 1.
constexpr auto kSpread = [] {
  std::array<std::uint64_t, 256> table{};
  for (std::size_t byte = 0; byte < 256; ++byte) {
    for (std::size_t bit = 0; bit < 8; ++bit) {
      table[byte] |= static_cast<std::uint64_t>((byte >> bit) & 1U) << (8 * bit);
    }
  }
  return table;
}();

// For each bit, whether more than half of the features have it. Counts eight bits at once in the
// bytes of a word, which hold up to 255.
std::uint64_t simhash_of(std::span<const std::uint64_t> features) {
  std::array<std::uint32_t, 64> ones{};
  for (std::size_t begin = 0; begin < features.size(); begin += 255) {
    std::array<std::uint64_t, 8> counts{};
    for (const std::uint64_t feature :
         features.subspan(begin, std::min<std::size_t>(255, features.size() - begin))) {
      for (std::size_t i = 0; i < 8; ++i) counts[i] += kSpread[(feature >> (8 * i)) & 0xFFU];
    }
    for (std::size_t bit = 0; bit < 64; ++bit) {
      ones[bit] += static_cast<std::uint32_t>((counts[bit / 8] >> (8 * (bit % 8))) & 0xFFU);
    }
  }
  std::uint64_t simhash = 0;
  for (std::size_t bit = 0; bit < 64; ++bit) {
    if (2ULL * ones[bit] > features.size()) simhash |= 1ULL << bit;
  }
  return simhash;
}

// One permutation of the features, cut into bins; of each, one bit of its least feature. An empty
// bin takes the next one's, mixed with how far that is.
std::array<std::uint64_t, TextSketch::kBins / 64> bins_of(std::span<const std::uint64_t> features) {
  constexpr std::uint64_t kNone = ~0ULL;
  std::array<std::uint64_t, TextSketch::kBins / 64> bins{};
  if (features.empty()) return bins;
  std::array<std::uint64_t, TextSketch::kBins> least{};
  least.fill(kNone);
  for (const std::uint64_t feature : features) {
    const std::uint64_t place = base::mix64(feature);
    std::uint64_t& bin = least[place % TextSketch::kBins];
    bin = std::min(bin, place / TextSketch::kBins);
  }
  for (std::size_t i = 0; i < TextSketch::kBins; ++i) {
    std::size_t steps = 0;
    while (least[(i + steps) % TextSketch::kBins] == kNone) ++steps;
    const std::uint64_t value = least[(i + steps) % TextSketch::kBins];
    const std::uint64_t bit = base::mix64(value + steps * 0x9e3779b97f4a7c15ULL) & 1U;
    bins[i / 64] |= bit << (i % 64);
  }
  return bins;
}

// The logarithm of how likely it is that `hits` of `bits` differ, each with this chance; without
// the part that does not depend on the chance.
double log_likelihood(int hits, int bits, double chance) {
  return hits * std::log(chance) + (bits - hits) * std::log1p(-chance);
}

}  // namespace

std::vector<std::uint64_t> features_of(std::string_view text) {
  Shingles shingles;
  for_each_word(text, [&](std::uint64_t word) { shingles.add(word); });
  std::vector<std::uint64_t> features = shingles.finish();
  std::ranges::sort(features);
  return features;
}

TextSketch sketch_of(std::string_view text) {
  TextSketch sketch;
  Shingles shingles;
  for_each_word(text, [&](std::uint64_t word) {
    sketch.hash = base::mix64(sketch.hash ^ word);
    ++sketch.words;
    shingles.add(word);
  });
  const auto features = shingles.finish();
  sketch.features = static_cast<std::uint32_t>(features.size());
  sketch.simhash = simhash_of(features);
  sketch.bins = bins_of(features);
  return sketch;
}

double difference(const TextSketch& a, const TextSketch& b) {
  if (a.hash == b.hash && a.words == b.words) return 0;
  if (a.features == 0 || b.features == 0) return 1;
  const int simhash_hits = std::popcount(a.simhash ^ b.simhash);
  int bin_hits = 0;
  for (std::size_t i = 0; i < a.bins.size(); ++i) bin_hits += std::popcount(a.bins[i] ^ b.bins[i]);

  // Of n and m features, x are common; the share that differs is 1 - x / (n + m - x), and at least
  // what the sizes differ by.
  const double n = a.features;
  const double m = b.features;
  const double share_min = 1 - std::min(n, m) / std::max(n, m);
  double best = 1;
  double best_likelihood = -std::numeric_limits<double>::infinity();
  for (double share = std::max(share_min, kShareStep); share < 1; share *= 1 + kShareStep * 50) {
    const double common = (1 - share) * (n + m) / (2 - share);
    const double cosine = std::min(common / std::sqrt(n * m), 1.0);
    const double angle = std::max(std::acos(cosine) / std::numbers::pi, 1e-4);
    const double likelihood =
        log_likelihood(simhash_hits, 64, std::min(angle, 0.5)) +
        log_likelihood(bin_hits, static_cast<int>(TextSketch::kBins), share / 2);
    if (likelihood > best_likelihood) {
      best_likelihood = likelihood;
      best = share;
    }
  }
  return best;
}

bool change_counts(const TextSketch& before, const TextSketch& after, double threshold) {
  if (before.hash == after.hash && before.words == after.words) return false;
  if (std::min(before.words, after.words) < kShortTextWords) return true;
  return difference(before, after) >= threshold;
}

}  // namespace meguri::web
