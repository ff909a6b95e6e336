// RegistryState: what a Registry keeps in checkpoints.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "crawl/messages.h"

namespace meguri::crawl {

inline constexpr std::size_t kVisitOutcomes = 5;

struct RegistryState {
  std::uint64_t known = 0;
  std::uint64_t done = 0;
  std::array<std::uint64_t, kVisitOutcomes> visited{};  // done, by VisitOutcome
  std::array<std::uint64_t, kRefusals> refused{};       // done, by Refusal
  std::string pages;                                    // where the PageStore stands
  std::string hosts;                                    // where HostPageCounts stand
  std::string groups;                                   // where PageGroups stand, if there are any

  std::string encode() const;
  static base::Result<RegistryState> decode(std::string_view bytes);
};

// The folders of these, in that of the Registry.
inline std::string pages_dir(const std::string& dir) { return dir + "/pages"; }
inline std::string host_counts_dir(const std::string& dir) { return dir + "/hosts"; }
inline std::string groups_dir(const std::string& dir) { return dir + "/groups"; }

}  // namespace meguri::crawl
