// burn: the analyser of `meguri bench scan`, which uses up as much CPU as it is to. Not in the
// help.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "scan/analyser.h"

namespace meguri::scan {

inline constexpr std::string_view kBurn = "burn";

// What a document of this number costs in CPU. Skewed: bounded Pareto (exponent 1.5), 0.3 ms on the
// mean and 50 ms at most. Neighbours are alike, as pages of one host are: each kBurnAlike of them
// share a factor between a half and two.
std::uint64_t burn_ns_of(std::uint64_t number);
inline constexpr std::uint64_t kBurnAlike = 2000;
inline constexpr std::uint64_t kBurnNsMax = 50'000'000;

// One in a hundred.
constexpr bool is_poison(std::uint64_t number) { return number % 100 == 37; }

// The arguments behind its name: "skewed" uses up burn_ns_of() for each document; "poisoned" too,
// and dies of poison; "nothing" only reads all of the content. The result is a line: the number of
// the document, and a sum over its content.
base::Result<FunctionAnalyser::Analyse> make_burn(std::span<const std::string> arguments);

}  // namespace meguri::scan
