#include "scan/builtin_burn.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <csignal>

#include "base/hash.h"
#include "env/cpu_time.h"

namespace meguri::scan {

namespace {

constexpr double kExponent = 1.5;
constexpr double kLeastNs = 105'000;  // so that the mean is 0.3 ms
constexpr double kFactorMean = 1.082;

// Uniform in [0, 1), the same for the same number.
double draw(std::uint64_t number) {
  constexpr double kScale = 1.0 / 9007199254740992.0;  // 2^-53
  return static_cast<double>(base::mix64(number) >> 11U) * kScale;
}

// Of a byte in each line of the processor's cache.
std::uint64_t sum_of(std::string_view bytes, std::uint64_t sum) {
  constexpr std::size_t kLine = 64;
  for (std::size_t i = 0; i < bytes.size(); i += kLine) sum += static_cast<unsigned char>(bytes[i]);
  return sum;
}

void use_cpu(std::uint64_t ns) {
  const std::int64_t end = env::thread_cpu_nanoseconds() + static_cast<std::int64_t>(ns);
  while (env::thread_cpu_nanoseconds() < end) continue;
}

}  // namespace

std::uint64_t burn_ns_of(std::uint64_t number) {
  constexpr double kMost = kBurnNsMax;
  const double share = 1 - std::pow(kLeastNs / kMost, kExponent);
  const double own = kLeastNs * std::pow(1 - draw(2 * number) * share, -1 / kExponent);
  const double factor = std::exp2(2 * draw(2 * (number / kBurnAlike) + 1) - 1) / kFactorMean;
  return static_cast<std::uint64_t>(std::min(own * factor, kMost));
}

base::Result<FunctionAnalyser::Analyse> make_burn(std::span<const std::string> arguments) {
  const std::string what = arguments.size() == 1 ? arguments.front() : std::string();
  if (what != "skewed" && what != "poisoned" && what != "nothing") {
    return base::fail(base::ErrorCode::kInvalid,
                      "burn takes one argument, skewed, poisoned or nothing");
  }
  const bool is_poisoned = what == "poisoned";
  const bool is_skewed = is_poisoned || what == "skewed";
  return [is_skewed, is_poisoned](const Document& document) -> base::Result<env::SpooledBytes> {
    const std::uint64_t number = document.facts.number;
    if (is_poisoned && is_poison(number)) std::raise(SIGKILL);
    std::uint64_t sum = 0;
    RETURN_IF_ERROR(document.content.for_each_piece([&](std::string_view piece) -> base::Status {
      sum = sum_of(piece, sum);
      return {};
    }));
    if (is_skewed) use_cpu(burn_ns_of(number));
    return env::SpooledBytes(fmt::format("{} {}\n", number, sum));
  };
}

}  // namespace meguri::scan
