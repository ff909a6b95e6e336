#include "sim/census.h"

#include <algorithm>
#include <array>

#include "base/check.h"
#include "web/ascii.h"

namespace meguri::sim {
namespace {

// What the dice are for.
enum Purpose : std::uint64_t { kRanks = 100, kKinship, kPlace };

constexpr std::string_view kZone = ".test";
constexpr std::array<std::string_view, 4> kPrefixes = {"www.", "", "blog.", "shop."};
constexpr std::uint64_t kWww = 0;
constexpr std::uint64_t kBare = 1;

constexpr std::string_view kConsonants = "bdfghjklmnprstwz";
constexpr std::string_view kVowels = "aeiou";
constexpr std::uint64_t kSyllables = kConsonants.size() * kVowels.size();
constexpr std::size_t kSyllablesMin = 3;

constexpr double kAliasChance = 0.6;
constexpr double kMirrorChance = 0.02;
constexpr double kManyAddressesChance = 0.1;

// A number as a word that can be said; different numbers give different words.
std::string word_of(std::uint64_t number) {
  std::string word;
  for (std::size_t i = 0; i < kSyllablesMin || number > 0; ++i) {
    const std::uint64_t syllable = number % kSyllables;
    word.push_back(kConsonants[syllable / kVowels.size()]);
    word.push_back(kVowels[syllable % kVowels.size()]);
    number /= kSyllables;
  }
  return word;
}

std::optional<std::uint64_t> number_of(std::string_view word) {
  if (word.size() % 2 != 0 || word.size() < 2 * kSyllablesMin || word.size() > 16) return {};
  std::uint64_t number = 0;
  for (std::size_t i = word.size(); i > 0; i -= 2) {
    const std::size_t consonant = kConsonants.find(word[i - 2]);
    const std::size_t vowel = kVowels.find(word[i - 1]);
    if (consonant == std::string_view::npos || vowel == std::string_view::npos) return {};
    number = number * kSyllables + consonant * kVowels.size() + vowel;
  }
  if (word_of(number) != word) return {};  // a leading zero, so to speak
  return number;
}

std::uint64_t servers_for(const CensusOptions& options) {
  return options.servers != 0 ? options.servers : std::max<std::uint64_t>(1, options.hosts / 3);
}

}  // namespace

base::Status CensusOptions::check() const {
  using base::ErrorCode;
  using base::fail;
  if (hosts == 0 || hosts > kHostsMax) {
    return fail(ErrorCode::kInvalid, "a web has 1 to {} hosts, not {}", kHostsMax, hosts);
  }
  if (pages < hosts || pages > kPagesMax) {
    return fail(ErrorCode::kInvalid,
                "{} hosts have at least that many pages and at most {}, not {}", hosts, kPagesMax,
                pages);
  }
  if (servers > kServersMax) {
    return fail(ErrorCode::kInvalid, "there can be at most {} servers, not {}", kServersMax,
                servers);
  }
  if (is_exact && pages > kHostPagesMax) {
    return fail(ErrorCode::kInvalid, "an exact web has at most {} pages, not {}", kHostPagesMax,
                pages);
  }
  if (!(size_exponent >= 0 && size_exponent <= 2)) {
    return fail(ErrorCode::kInvalid, "the exponent of host sizes is 0 to 2, not {}", size_exponent);
  }
  return {};
}

Census::Census(const CensusOptions& options)
    : options_(options),
      servers_(servers_for(options)),
      sizes_(options.hosts),
      ranks_(Dice{kRanks, options.seed}.bits(), options.hosts) {
  CHECK(options.check().has_value());
  choose_sizes();
}

// The host of rank r has c / (r + 1)^a pages, at least one; c is sought so that all together have
// as many as asked for.
void Census::choose_sizes() {
  std::vector<double> weights(options_.hosts);
  for (std::size_t r = 0; r < weights.size(); ++r) {
    weights[r] = power_of(static_cast<double>(r + 1), -options_.size_exponent);
  }
  const auto size_of = [](double weight, double c) {
    return std::clamp<double>(weight * c, 1, CensusOptions::kHostPagesMax);
  };
  double low = 0;
  double high = CensusOptions::kHostPagesMax;
  for (int i = 0; i < 60; ++i) {
    const double c = (low + high) / 2;
    double sum = 0;
    for (const double weight : weights) sum += size_of(weight, c);
    (sum < static_cast<double>(options_.pages) ? low : high) = c;
  }
  for (std::size_t r = 0; r < weights.size(); ++r) {
    sizes_[r] = static_cast<std::uint32_t>(size_of(weights[r], high));
    pages_ += sizes_[r];
  }
  if (!options_.is_exact) return;
  // Rounding took less than a page from each host, and hardly ever gave a few too many: the largest
  // hosts make up for it.
  for (std::size_t r = 0; pages_ < options_.pages; r = (r + 1) % sizes_.size(), ++pages_) {
    ++sizes_[r];
  }
  for (std::size_t r = 0; pages_ > options_.pages; r = (r + 1) % sizes_.size()) {
    if (sizes_[r] == 1) continue;
    --sizes_[r];
    --pages_;
  }
}

std::string Census::name_of(HostNumber host) const {
  std::string name(kPrefixes[host % kPrefixes.size()]);
  return name.append(word_of(host / kPrefixes.size())).append(kZone);
}

std::optional<HostNumber> Census::host_of_name(std::string_view name) const {
  if (name.ends_with('.')) name.remove_suffix(1);
  const std::string lower = web::lower_copy(name);
  name = lower;
  if (!name.ends_with(kZone)) return std::nullopt;
  name.remove_suffix(kZone.size());
  for (std::size_t prefix = 0; prefix < kPrefixes.size(); ++prefix) {
    if (prefix == kBare || !name.starts_with(kPrefixes[prefix])) continue;
    name.remove_prefix(kPrefixes[prefix].size());
    const auto number = number_of(name);
    if (!number) return std::nullopt;
    const HostNumber host = *number * kPrefixes.size() + prefix;
    return host < hosts() ? std::optional(host) : std::nullopt;
  }
  const auto number = number_of(name);
  if (!number) return std::nullopt;
  const HostNumber host = *number * kPrefixes.size() + kBare;
  return host < hosts() ? std::optional(host) : std::nullopt;
}

HostNumber Census::content_of(HostNumber host) const {
  if (!options_.has_copies) return host;
  Dice dice{kKinship, options_.seed, host};
  if (host % kPrefixes.size() == kBare && dice.chance(kAliasChance)) {
    return host - kBare + kWww;
  }
  // Mirrors are shops, and mirror what is no shop: so there are no chains of them.
  if (host % kPrefixes.size() == 3 && dice.chance(4 * kMirrorChance)) {
    return dice.below((hosts() + 3) / 4) * 4 + kWww;
  }
  return host;
}

std::vector<ServerNumber> Census::servers_of(HostNumber host) const {
  Dice dice{kPlace, options_.seed, host};
  // The square crowds small numbers: shared hosting.
  const double place = dice.uniform();
  const auto first =
      static_cast<ServerNumber>(place * place * static_cast<double>(servers_)) % servers_;
  std::uint64_t count = 1;
  if (dice.chance(kManyAddressesChance)) count += 1 + dice.below(3);
  count = std::min(count, servers_);
  std::vector<ServerNumber> all;
  for (std::uint64_t i = 0; i < count; ++i) all.push_back((first + i) % servers_);
  return all;
}

}  // namespace meguri::sim
