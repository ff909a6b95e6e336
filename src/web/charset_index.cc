#include "web/charset_index.h"

#include <unicode/ucnv.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "base/check.h"
#include "web/charset_corrections.h"

namespace meguri::web {
namespace {

constexpr auto kFirstSingleByte = static_cast<std::size_t>(Charset::kIbm866);
constexpr auto kLastSingleByte = static_cast<std::size_t>(Charset::kXMacCyrillic);

bool is_private_use(char32_t code_point) { return code_point >= 0xE000 && code_point <= 0xF8FF; }

// An ICU converter that refuses what it cannot read instead of replacing it.
class Converter {
 public:
  explicit Converter(const char* name) {
    UErrorCode error = U_ZERO_ERROR;
    converter_ = ucnv_open(name, &error);
    CHECK(U_SUCCESS(error), "ICU has no converter {}", name);
    ucnv_setToUCallBack(converter_, UCNV_TO_U_CALLBACK_STOP, nullptr, nullptr, nullptr, &error);
    CHECK(U_SUCCESS(error), "the callback of ICU's {}", name);
  }
  ~Converter() { ucnv_close(converter_); }
  Converter(const Converter&) = delete;
  Converter& operator=(const Converter&) = delete;

  // The one code point that `bytes` mean; 0 if they mean none, or several.
  char32_t read(std::string_view bytes) {
    std::array<UChar, 8> units{};
    UErrorCode error = U_ZERO_ERROR;
    ucnv_reset(converter_);
    const auto count = ucnv_toUChars(converter_, units.data(), units.size(), bytes.data(),
                                     static_cast<std::int32_t>(bytes.size()), &error);
    if (U_FAILURE(error)) return 0;
    if (count == 1) return units[0];
    if (count == 2 && U16_IS_LEAD(units[0])) {
      return 0x10000 + ((units[0] - 0xD800U) << 10) + (units[1] - 0xDC00U);
    }
    return 0;
  }

 private:
  UConverter* converter_ = nullptr;
};

// The converters of the charsets from kIbm866 to kXMacCyrillic. ICU has none for ISO-8859-16.
constexpr std::array<const char*, kLastSingleByte - kFirstSingleByte + 1> kSingleByteConverters = {
    "ibm-866_P100-1995",  "ibm-912_P100-1995",  "ibm-913_P100-2000",  "ibm-914_P100-1995",
    "ibm-915_P100-1995",  "ibm-1089_P100-1995", "ibm-9005_X110-2007", "ibm-5012_P100-1999",
    "ibm-5012_P100-1999", "iso-8859_10-1998",   "ibm-921_P100-1995",  "iso-8859_14-1998",
    "ibm-923_P100-1998",  "ISO-8859-1",         "ibm-878_P100-1996",  "ibm-1168_P100-2002",
    "macos-0_2-10.2",     "windows-874-2000",   "ibm-5346_P100-1998", "ibm-5347_P100-1998",
    "ibm-5348_P100-1997", "ibm-5349_P100-1998", "ibm-5350_P100-1998", "ibm-9447_P100-2002",
    "ibm-9448_X100-2005", "ibm-9449_P100-2002", "ibm-5354_P100-1998", "macos-7_3-10.2",
};

SingleByteIndex make_single_byte_index(Charset charset) {
  Converter converter(
      kSingleByteConverters.at(static_cast<std::size_t>(charset) - kFirstSingleByte));
  SingleByteIndex index{};
  for (std::size_t i = 0; i < index.size(); ++i) {
    const char byte = static_cast<char>(0x80 + i);
    const char32_t code_point = converter.read({&byte, 1});
    // ICU gives private characters to the bytes that windows-874 leaves free.
    const bool none = charset == Charset::kWindows874 && is_private_use(code_point);
    index[i] = none ? u'\0' : static_cast<char16_t>(code_point);
  }
  for (const SingleByteCorrection& correction : kSingleByteCorrections) {
    if (correction.charset == charset) index.at(correction.byte - 0x80U) = correction.code_point;
  }
  return index;
}

using SingleByteIndexes = std::array<SingleByteIndex, kSingleByteConverters.size()>;

SingleByteIndexes make_single_byte_indexes() {
  SingleByteIndexes indexes;
  for (std::size_t i = 0; i < indexes.size(); ++i) {
    indexes.at(i) = make_single_byte_index(static_cast<Charset>(kFirstSingleByte + i));
  }
  return indexes;
}

std::string two_bytes(std::size_t lead, std::size_t trail) {
  return {static_cast<char>(lead), static_cast<char>(trail)};
}

// The bytes of a pointer in the charset that its index is read from.
std::string bytes_of(IndexName name, std::size_t pointer) {
  switch (name) {
    case IndexName::kBig5: {
      const std::size_t trail = pointer % 157;
      return two_bytes(pointer / 157 + 0x81, trail + (trail < 0x3F ? 0x40 : 0x62));
    }
    case IndexName::kEucKr: return two_bytes(pointer / 190 + 0x81, pointer % 190 + 0x41);
    case IndexName::kGb18030: {
      const std::size_t trail = pointer % 190;
      return two_bytes(pointer / 190 + 0x81, trail + (trail < 0x3F ? 0x40 : 0x41));
    }
    case IndexName::kJis0208: {  // as in Shift_JIS, which has all its rows
      const std::size_t lead = pointer / 188;
      const std::size_t trail = pointer % 188;
      return two_bytes(lead + (lead < 0x1F ? 0x81 : 0xC1), trail + (trail < 0x3F ? 0x40 : 0x41));
    }
    case IndexName::kJis0212: return "\x8F" + two_bytes(pointer / 94 + 0xA1, pointer % 94 + 0xA1);
  }
  return {};
}

struct IndexSource {
  const char* converter;
  std::size_t size;
  bool private_use;  // whether the standard's index has private characters
};

IndexSource source_of(IndexName name) {
  switch (name) {
    case IndexName::kBig5: return {"ibm-1375_P100-2008", std::size_t{126} * 157, false};
    case IndexName::kEucKr: return {"windows-949-2000", std::size_t{126} * 190, false};
    case IndexName::kGb18030: return {"gb18030", std::size_t{126} * 190, true};
    case IndexName::kJis0208: return {"ibm-943_P15A-2003", std::size_t{60} * 188, false};
    case IndexName::kJis0212: return {"euc-jp-2007", std::size_t{94} * 94, false};
  }
  return {};
}

void correct_index(IndexName name, Index* index) {
  if (name == IndexName::kJis0212) {
    // IBM's additions, from 8F F3 A1 on, are no part of the standard's table.
    std::fill(index->begin() + kJis0212End, index->end(), U'\0');
  }
  if (name == IndexName::kGb18030) {
    index->at(kGb18030WideSpacePointer) = 0x3000;
    for (const Gb18030Moved& moved : kGb18030Moved) {
      index->at(gb18030_pointer(moved.bytes)) = moved.code_point;
    }
  }
  if (name == IndexName::kBig5) {
    for (const Big5Correction& correction : kBig5Corrections) {
      for (std::uint32_t i = 0; i < correction.count; ++i) {
        index->at(big5_pointer(correction.bytes) + i) = correction.code_point + i;
      }
    }
  }
}

Index make_index(IndexName name) {
  const IndexSource source = source_of(name);
  Converter converter(source.converter);
  Index index(source.size);
  for (std::size_t pointer = 0; pointer < index.size(); ++pointer) {
    const char32_t code_point = converter.read(bytes_of(name, pointer));
    if (source.private_use || !is_private_use(code_point)) index[pointer] = code_point;
  }
  correct_index(name, &index);
  return index;
}

template <IndexName kName>
const Index& built_index() {
  static const Index index = make_index(kName);
  return index;
}

}  // namespace

bool is_single_byte(Charset charset) {
  const auto number = static_cast<std::size_t>(charset);
  return number >= kFirstSingleByte && number <= kLastSingleByte;
}

const SingleByteIndex& single_byte_index(Charset charset) {
  CHECK(is_single_byte(charset));
  static const SingleByteIndexes indexes = make_single_byte_indexes();
  return indexes.at(static_cast<std::size_t>(charset) - kFirstSingleByte);
}

const Index& index_of(IndexName name) {
  switch (name) {
    case IndexName::kBig5: return built_index<IndexName::kBig5>();
    case IndexName::kEucKr: return built_index<IndexName::kEucKr>();
    case IndexName::kGb18030: return built_index<IndexName::kGb18030>();
    case IndexName::kJis0208: return built_index<IndexName::kJis0208>();
    case IndexName::kJis0212: break;
  }
  return built_index<IndexName::kJis0212>();
}

}  // namespace meguri::web
