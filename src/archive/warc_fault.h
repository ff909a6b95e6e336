// WarcFault: what can be wrong with a record of a WARC file, and sets of such faults.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace meguri::archive {

// What is wrong with a record or with what lies before it. The first group means that something is
// missing; the second only that the file was made badly.
enum class WarcFault : std::uint8_t {
  kTruncated,      // the file ends inside
  kDamaged,        // gzip or zstd fails, or its checksum does
  kShortBlock,     // the next record begins before Content-Length is reached
  kNoLength,       // Content-Length is missing or no number; the block is taken as empty
  kBadHead,        // no empty line, or too long
  kTooManyFields,  // more than are read
  kSkipped,        // bytes before it belong to no record

  kNoBlankLines,  // not exactly two CRLF behind the block; in ARC files one LF
  kOddVersion,    // not 0.17 to 1.1
  kOddHead,       // lines that are folded, end with LF alone, or are no fields
  kEmptyMember,   // a member without content before it
  kSharedMember,  // it does not begin a member, so that it cannot be read alone
  kSplitMember,   // it goes on in another member
};

inline constexpr std::size_t kWarcFaultCount =
    static_cast<std::size_t>(WarcFault::kSplitMember) + 1;

std::string_view name_of(WarcFault fault);  // "short_block"
// What is wrong with a record that has it, without a full stop: "the file ends inside it".
std::string_view sentence_of(WarcFault fault);

// A set of faults.
class WarcFaults {
 public:
  constexpr void add(WarcFault fault) { bits_ |= bit_of(fault); }
  constexpr bool has(WarcFault fault) const { return (bits_ & bit_of(fault)) != 0; }
  constexpr WarcFaults without(WarcFault fault) const {
    WarcFaults others = *this;
    others.bits_ &= ~bit_of(fault);
    return others;
  }
  constexpr bool empty() const { return bits_ == 0; }
  // Nothing is missing.
  constexpr bool is_whole() const { return (bits_ & (bit_of(WarcFault::kNoBlankLines) - 1)) == 0; }
  std::vector<std::string_view> names() const;
  std::string to_string() const;  // "damaged, skipped"

  friend constexpr bool operator==(WarcFaults, WarcFaults) = default;

 private:
  static constexpr std::uint32_t bit_of(WarcFault fault) {
    return 1U << static_cast<unsigned>(fault);
  }
  std::uint32_t bits_ = 0;
};

}  // namespace meguri::archive
