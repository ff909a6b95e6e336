// The tables of charset_index.h the other way round, for the encoders.
#include <algorithm>
#include <bitset>
#include <iterator>
#include <utility>

#include "base/check.h"
#include "web/charset_corrections.h"
#include "web/charset_index.h"
#include "web/utf8.h"

namespace meguri::web {
namespace {

// Pairs of code point and pointer in order, one for each code point.
using Pointers = std::vector<std::pair<char32_t, std::uint32_t>>;

IndexName index_behind(PointerUse use) {
  switch (use) {
    case PointerUse::kBig5: return IndexName::kBig5;
    case PointerUse::kEucKr: return IndexName::kEucKr;
    case PointerUse::kGb18030: return IndexName::kGb18030;
    case PointerUse::kJis0208:
    case PointerUse::kShiftJis: break;
  }
  return IndexName::kJis0208;
}

// Big5 has some box-drawing and number characters twice and writes these by their last pointer.
bool uses_last_pointer(PointerUse use, char32_t code_point) {
  constexpr std::array<char32_t, 6> kLast = {0x2550, 0x255E, 0x2561, 0x256A, 0x5341, 0x5345};
  return use == PointerUse::kBig5 && std::ranges::find(kLast, code_point) != kLast.end();
}

bool is_written(PointerUse use, std::size_t pointer) {
  // Big5 writes no character of Hong Kong's supplement, Shift_JIS none that NEC took from IBM.
  if (use == PointerUse::kBig5) return pointer >= std::size_t{0xA1 - 0x81} * 157;
  return use != PointerUse::kShiftJis || pointer < 8272 || pointer > 8835;
}

Pointers make_pointers(PointerUse use) {
  const Index& index = index_of(index_behind(use));
  Pointers pointers;
  for (std::size_t pointer = 0; pointer < index.size(); ++pointer) {
    if (index[pointer] == 0 || !is_written(use, pointer)) continue;
    pointers.emplace_back(index[pointer], static_cast<std::uint32_t>(pointer));
  }
  if (use == PointerUse::kGb18030) {
    for (const Gb18030Moved& moved : kGb18030Moved) {
      pointers.emplace_back(moved.private_code_point, gb18030_pointer(moved.bytes));
    }
  }
  std::ranges::sort(pointers, [use](const auto& a, const auto& b) {
    if (a.first != b.first) return a.first < b.first;
    return uses_last_pointer(use, a.first) ? a.second > b.second : a.second < b.second;
  });
  const auto twice = std::ranges::unique(pointers, {}, &Pointers::value_type::first);
  pointers.erase(twice.begin(), twice.end());
  pointers.shrink_to_fit();
  return pointers;
}

template <PointerUse kUse>
const Pointers& built_pointers() {
  static const Pointers pointers = make_pointers(kUse);
  return pointers;
}

const Pointers& pointers_of(PointerUse use) {
  switch (use) {
    case PointerUse::kBig5: return built_pointers<PointerUse::kBig5>();
    case PointerUse::kEucKr: return built_pointers<PointerUse::kEucKr>();
    case PointerUse::kGb18030: return built_pointers<PointerUse::kGb18030>();
    case PointerUse::kJis0208: return built_pointers<PointerUse::kJis0208>();
    case PointerUse::kShiftJis: break;
  }
  return built_pointers<PointerUse::kShiftJis>();
}

// A run of four-byte characters of the Basic Multilingual Plane.
struct Gb18030Range {
  std::uint32_t pointer = 0;
  char32_t code_point = 0;
};

constexpr std::uint32_t kGb18030BmpPointers = 39'420;
constexpr std::uint32_t kGb18030AstralPointer = 189'000;

// GB 18030 of 2000 gave the four-byte pointers, in order, to what had no two bytes then.
std::vector<Gb18030Range> make_gb18030_ranges() {
  std::bitset<0x10000> two_bytes;
  for (const auto& [code_point, pointer] : pointers_of(PointerUse::kGb18030)) {
    two_bytes.set(code_point);
  }
  for (const Gb18030Moved& moved : kGb18030Moved) two_bytes.reset(moved.code_point);
  two_bytes.reset(kGb18030SwappedNew);
  two_bytes.set(kGb18030SwappedOld);
  two_bytes.set(kGb18030Unwritable);

  std::vector<Gb18030Range> ranges;
  std::uint32_t pointer = 0;
  bool open = false;
  for (char32_t code_point = 0x80; code_point < 0x10000; ++code_point) {
    const bool four_bytes = is_scalar_value(code_point) && !two_bytes.test(code_point);
    if (four_bytes && !open) ranges.push_back({pointer, code_point});
    open = four_bytes;
    if (four_bytes) ++pointer;
  }
  CHECK(pointer == kGb18030BmpPointers, "{} four-byte characters of GB 18030", pointer);
  return ranges;
}

const std::vector<Gb18030Range>& gb18030_ranges() {
  static const std::vector<Gb18030Range> ranges = make_gb18030_ranges();
  return ranges;
}

}  // namespace

std::optional<std::uint8_t> single_byte_of(Charset charset, char32_t code_point) {
  const SingleByteIndex& index = single_byte_index(charset);
  const auto found = std::ranges::find(index, code_point);
  if (code_point == 0 || found == index.end()) return std::nullopt;
  return static_cast<std::uint8_t>(0x80 + (found - index.begin()));
}

std::optional<std::uint32_t> pointer_of(PointerUse use, char32_t code_point) {
  const Pointers& pointers = pointers_of(use);
  const auto found =
      std::ranges::lower_bound(pointers, code_point, {}, &Pointers::value_type::first);
  if (found == pointers.end() || found->first != code_point) return std::nullopt;
  return found->second;
}

std::optional<char32_t> gb18030_range_code_point(std::uint32_t pointer) {
  if (pointer == kGb18030SwappedPointer) return kGb18030SwappedOld;
  if (pointer >= kGb18030AstralPointer) {
    const char32_t code_point = 0x10000 + (pointer - kGb18030AstralPointer);
    if (code_point > 0x10FFFF) return std::nullopt;
    return code_point;
  }
  if (pointer >= kGb18030BmpPointers) return std::nullopt;
  const auto& ranges = gb18030_ranges();
  const auto next = std::ranges::upper_bound(ranges, pointer, {}, &Gb18030Range::pointer);
  const Gb18030Range& range = *std::prev(next);
  return range.code_point + (pointer - range.pointer);
}

std::uint32_t gb18030_range_pointer(char32_t code_point) {
  if (code_point == kGb18030SwappedOld) return kGb18030SwappedPointer;
  if (code_point >= 0x10000) return kGb18030AstralPointer + (code_point - 0x10000);
  const auto& ranges = gb18030_ranges();
  const auto next = std::ranges::upper_bound(ranges, code_point, {}, &Gb18030Range::code_point);
  const Gb18030Range& range = *std::prev(next);
  return range.pointer + (code_point - range.code_point);
}

}  // namespace meguri::web
