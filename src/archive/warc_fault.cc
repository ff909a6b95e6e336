#include "archive/warc_fault.h"

#include <array>

namespace meguri::archive {

namespace {

constexpr std::array<std::string_view, kWarcFaultCount> kFaultNames = {
    "truncated",       "damaged",       "short_block",    "no_length",   "bad_head",
    "too_many_fields", "skipped",       "no_blank_lines", "odd_version", "odd_head",
    "empty_member",    "shared_member", "split_member",
};

constexpr std::array<std::string_view, kWarcFaultCount> kSentences = {
    "the file ends inside it",
    "its bytes or those before it cannot be decompressed, or fail their checksum",
    "the next record begins before its Content-Length is reached",
    "its Content-Length is missing or no number",
    "its head has no end, or is too long",
    "it has more fields than are read",
    "bytes before it were passed over",
    "it does not end with exactly the empty lines it should",
    "its version is none that is known",
    "its head has folded lines, lines that end with LF alone, or lines that are no fields",
    "an empty gzip member or zstd frame lies before it",
    "it does not begin a gzip member or zstd frame, so that it cannot be read alone",
    "it goes on in another gzip member or zstd frame",
};

}  // namespace

std::string_view sentence_of(WarcFault fault) {
  return kSentences.at(static_cast<std::size_t>(fault));
}

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
