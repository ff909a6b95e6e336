// The bytes of a ChangeState.
//
//   version (1 byte) | flags (1) | failures (1) | gones (1) | history (8) |
//   mean and variance of the filter (4 each, IEEE 754) |
//   first_visit | last_visit - first_visit | last_visit - last_answer |
//   last_visit - first_visit - observed | observed - stable | shortest_change | last_interval |
//   interval | visits | versions | changes | dated_changes | last_visit - last_modified
//
// Flags: 1 there is a last answer, 2 a Last-Modified, 4 the last failure may pass; above them how
// much Last-Modified is trusted, plus 8. Integers without a width are varints: seven bits a byte,
// the lowest first, no byte more than is needed. Times are milliseconds; those that may be negative
// have their sign in the lowest bit.
#include <bit>
#include <cmath>

#include "base/bytes.h"
#include "revisit/change_state.h"

namespace meguri::revisit {
namespace {

using base::Duration;
using base::Instant;

constexpr std::uint8_t kVersion = 1;
constexpr std::uint8_t kHasAnswer = 1;
constexpr std::uint8_t kHasModified = 2;
constexpr std::uint8_t kMayPass = 4;
// Above the flags: the trust, from its least on.
constexpr unsigned kTrustShift = 3;
constexpr int kTrustLimit = 8;

// Sums of a few such times do not overflow: 10,000 years.
constexpr std::int64_t kMsMax = 315'360'000'000'000;

// Of the filter's mean and variance.
constexpr float kFilterMax = 100;

void put_number(std::string& out, std::uint64_t number) {
  while (number >= 0x80) {
    out += static_cast<char>(number | 0x80U);
    number >>= 7U;
  }
  out += static_cast<char>(number);
}

void put(std::string& out, Duration duration) {
  put_number(out, static_cast<std::uint64_t>(duration.ms()));
}

void put_signed(std::string& out, std::int64_t ms) {
  put_number(out, static_cast<std::uint64_t>(ms) << 1U ^ (ms < 0 ? ~std::uint64_t{0} : 0));
}

bool take_number(std::string_view& bytes, std::uint64_t& number) {
  number = 0;
  for (std::size_t i = 0; i < bytes.size() && i < 9; ++i) {
    const auto byte = static_cast<std::uint8_t>(bytes[i]);
    number |= std::uint64_t{byte & 0x7fU} << (7 * i);
    if (byte >= 0x80) continue;
    if (byte == 0 && i > 0) return false;
    bytes.remove_prefix(i + 1);
    return true;
  }
  return false;
}

bool take(std::string_view& bytes, Duration& duration) {
  std::uint64_t number = 0;
  if (!take_number(bytes, number) || number > std::uint64_t{kMsMax}) return false;
  duration = Duration::from_ms(static_cast<std::int64_t>(number));
  return true;
}

bool take_signed(std::string_view& bytes, std::int64_t& ms) {
  std::uint64_t number = 0;
  if (!take_number(bytes, number) || number >> 1U > std::uint64_t{kMsMax}) return false;
  const std::uint64_t sign = (number & 1U) != 0 ? ~std::uint64_t{0} : 0;
  ms = static_cast<std::int64_t>(number >> 1U ^ sign);
  return true;
}

bool take(std::string_view& bytes, std::uint32_t& count) {
  std::uint64_t number = 0;
  if (!take_number(bytes, number) || number > 0xffffffff) return false;
  count = static_cast<std::uint32_t>(number);
  return true;
}

bool take_filter(std::string_view& bytes, RateFilter& filter) {
  std::uint32_t mean = 0;
  std::uint32_t variance = 0;
  if (!base::take_fixed(bytes, mean) || !base::take_fixed(bytes, variance)) return false;
  filter = {.mean = std::bit_cast<float>(mean), .variance = std::bit_cast<float>(variance)};
  // Written so that what is no number is refused.
  return std::abs(filter.mean) <= kFilterMax && filter.variance >= 0 &&
         filter.variance <= kFilterMax && !std::signbit(filter.variance);
}

bool take_times(std::string_view& bytes, bool has_answer, ChangeState& state) {
  Duration lived;
  Duration since_answer;
  Duration unobserved;
  Duration changing;
  std::int64_t first_ms = 0;
  if (!take_signed(bytes, first_ms) || !take(bytes, lived)) return false;
  state.first_visit = Instant::from_ms(first_ms);
  state.last_visit = state.first_visit + lived;
  if (has_answer) {
    if (!take(bytes, since_answer) || since_answer > lived) return false;
    state.last_answer = state.last_visit - since_answer;
  }
  if (!take(bytes, unobserved) || unobserved > lived) return false;
  state.observed = lived - unobserved;
  if (!take(bytes, changing) || changing > state.observed) return false;
  state.stable = state.observed - changing;
  return take(bytes, state.shortest_change) && take(bytes, state.last_interval) &&
         take(bytes, state.interval);
}

// What visits alone could not have made.
bool is_sound(const ChangeState& state) {
  const std::uint64_t changes = std::uint64_t{state.changes} + state.dated_changes;
  const bool has_changing = state.observed > state.stable;
  return state.visits > 0 && state.versions <= state.visits && changes <= state.versions &&
         state.failures <= state.visits && state.gones <= state.failures &&
         (state.visits >= kHistoryVisits || state.history >> (2 * state.visits) == 0) &&
         has_changing == (state.changes > 0) &&
         (state.changes > 0 ? state.shortest_change > Duration() &&
                                  state.shortest_change <= state.observed - state.stable
                            : state.shortest_change == Duration()) &&
         state.modified_trust <= kTrustLimit;
}

}  // namespace

void encode(const ChangeState& state, std::string& out) {
  const auto trust = static_cast<unsigned>(state.modified_trust + kTrustLimit);
  const auto flags = static_cast<std::uint8_t>(
      trust << kTrustShift | (state.last_answer ? kHasAnswer : 0U) |
      (state.last_modified ? kHasModified : 0U) | (state.last_may_pass ? kMayPass : 0U));
  base::put_fixed(out, kVersion);
  base::put_fixed(out, flags);
  base::put_fixed(out, state.failures);
  base::put_fixed(out, state.gones);
  base::put_fixed(out, state.history);
  base::put_fixed(out, std::bit_cast<std::uint32_t>(state.filter.mean));
  base::put_fixed(out, std::bit_cast<std::uint32_t>(state.filter.variance));
  put_signed(out, state.first_visit.ms());
  put(out, state.last_visit - state.first_visit);
  if (state.last_answer) put(out, state.last_visit - *state.last_answer);
  put(out, state.last_visit - state.first_visit - state.observed);
  put(out, state.observed - state.stable);
  put(out, state.shortest_change);
  put(out, state.last_interval);
  put(out, state.interval);
  put_number(out, state.visits);
  put_number(out, state.versions);
  put_number(out, state.changes);
  put_number(out, state.dated_changes);
  if (state.last_modified) put_signed(out, (state.last_visit - *state.last_modified).ms());
}

bool decode(std::string_view bytes, ChangeState& state) {
  ChangeState read;
  std::uint8_t version = 0;
  std::uint8_t flags = 0;
  if (!base::take_fixed(bytes, version) || version != kVersion) return false;
  if (!base::take_fixed(bytes, flags) || !base::take_fixed(bytes, read.failures) ||
      !base::take_fixed(bytes, read.gones) || !base::take_fixed(bytes, read.history) ||
      !take_filter(bytes, read.filter) || !take_times(bytes, (flags & kHasAnswer) != 0, read) ||
      !take(bytes, read.visits) || !take(bytes, read.versions) || !take(bytes, read.changes) ||
      !take(bytes, read.dated_changes)) {
    return false;
  }
  if ((flags & kHasModified) != 0) {
    std::int64_t ago_ms = 0;
    if (!take_signed(bytes, ago_ms)) return false;
    read.last_modified = read.last_visit - Duration::from_ms(ago_ms);
  }
  read.last_may_pass = (flags & kMayPass) != 0;
  read.modified_trust = static_cast<std::int8_t>((flags >> kTrustShift) - kTrustLimit);
  if (!bytes.empty() || !is_sound(read)) return false;
  state = read;
  return true;
}

}  // namespace meguri::revisit
