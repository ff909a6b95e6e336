#include "archive/warc_fault.h"

#include <array>

namespace meguri::archive {

namespace {

constexpr std::array<std::string_view, kWarcFaultCount> kFaultNames = {
    "truncated",       "damaged",       "short_block",    "no_length",   "bad_head",
    "too_many_fields", "skipped",       "no_blank_lines", "odd_version", "odd_head",
    "empty_member",    "shared_member", "split_member",
};

}  // namespace

std::string_view name_of(WarcFault fault) {
  return kFaultNames.at(static_cast<std::size_t>(fault));
}

std::vector<std::string_view> WarcFaults::names() const {
  std::vector<std::string_view> names;
  for (std::size_t i = 0; i < kFaultNames.size(); ++i) {
    if (has(static_cast<WarcFault>(i))) names.push_back(kFaultNames.at(i));
  }
  return names;
}

std::string WarcFaults::to_string() const {
  std::string text;
  for (const std::string_view name : names()) {
    if (!text.empty()) text += ", ";
    text += name;
  }
  return text;
}

}  // namespace meguri::archive
