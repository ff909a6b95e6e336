#include "env/random.h"

#include <sys/random.h>

#include <bit>

#include "base/check.h"
#include "base/hash.h"

namespace meguri::env {

namespace {

__extension__ using Uint128 = unsigned __int128;

}  // namespace

Random::Random(std::uint64_t seed) {
  // As the authors of xoshiro advise: the state is the splitmix64 sequence that starts at the seed.
  for (std::uint64_t& word : state_) {
    word = base::mix64(seed);
    seed += 0x9e3779b97f4a7c15ULL;
  }
}

Random Random::from_system() {
  std::uint64_t seed = 0;
  CHECK(::getentropy(&seed, sizeof seed) == 0, "the system gives no random bytes");
  return Random(seed);
}

std::uint64_t Random::next() {
  const std::uint64_t result = std::rotl(state_[1] * 5, 7) * 9;
  const std::uint64_t shifted = state_[1] << 17U;
  state_[2] ^= state_[0];
  state_[3] ^= state_[1];
  state_[1] ^= state_[2];
  state_[0] ^= state_[3];
  state_[2] ^= shifted;
  state_[3] = std::rotl(state_[3], 45);
  return result;
}

std::uint64_t Random::below(std::uint64_t bound) {
  CHECK(bound > 0);
  // Lemire's method: the high half of a product is uniform once the few low halves that would
  // favour small results are refused. The division is needed in one call out of 2^64 / bound.
  Uint128 product = static_cast<Uint128>(next()) * bound;
  if (static_cast<std::uint64_t>(product) < bound) {
    const std::uint64_t refused = (0 - bound) % bound;
    while (static_cast<std::uint64_t>(product) < refused) {
      product = static_cast<Uint128>(next()) * bound;
    }
  }
  return static_cast<std::uint64_t>(product >> 64U);
}

std::uint64_t Random::between(std::uint64_t low, std::uint64_t high) {
  CHECK(low <= high);
  const std::uint64_t span = high - low;
  return span == ~0ULL ? next() : low + below(span + 1);
}

double Random::uniform() { return static_cast<double>(next() >> 11U) * 0x1.0p-53; }

double Random::exponential(double mean) {
  // Von Neumann's method. It needs only comparisons, so that it gives the same numbers on every
  // machine, which the logarithms of different processors do not. The chance that a run of falling
  // numbers from x on has odd length is e^-x.
  double whole = 0;
  for (;;) {
    const double first = uniform();
    double last = first;
    double u = uniform();
    bool is_odd = true;
    while (u < last) {
      last = u;
      u = uniform();
      is_odd = !is_odd;
    }
    if (is_odd) return (whole + first) * mean;
    ++whole;
  }
}

double Random::normal() {
  // Half a normal curve is e^-x thinned by e^(-(x-1)^2 / 2); again without logarithms.
  for (;;) {
    const double x = exponential(1.0);
    const double off = x - 1.0;
    if (exponential(2.0) >= off * off) return (next() >> 63U) == 0 ? x : -x;
  }
}

bool Random::chance(double probability) { return uniform() < probability; }

Random Random::split() { return Random(next()); }

}  // namespace meguri::env
