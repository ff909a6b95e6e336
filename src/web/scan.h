// Finding bytes quickly: 16 at a time where the processor can (SSE2, which every x86-64 has; NEON
// on 64-bit ARM would go here), else one by one. Inline, because most finds are a few bytes away
// and a call would cost more than the search.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

namespace meguri::web {

// The first byte in [begin, end) that is one of kBytes; end if none.
template <char... kBytes>
inline const char* find_any(const char* begin, const char* end) {
#ifdef __SSE2__
  while (end - begin >= 16) {
    const __m128i block = _mm_loadu_si128(reinterpret_cast<const __m128i*>(begin));
    const auto hits = static_cast<std::uint32_t>(
        _mm_movemask_epi8((_mm_cmpeq_epi8(block, _mm_set1_epi8(kBytes)) | ...)));
    if (hits != 0) return begin + std::countr_zero(hits);
    begin += 16;
  }
#endif
  while (begin != end && ((*begin != kBytes) && ...)) ++begin;
  return begin;
}

// The same for a byte that is known only at run time.
inline const char* find_byte(const char* begin, const char* end, char byte) {
#ifdef __SSE2__
  const __m128i wanted = _mm_set1_epi8(byte);
  while (end - begin >= 16) {
    const __m128i block = _mm_loadu_si128(reinterpret_cast<const __m128i*>(begin));
    const auto hits = static_cast<std::uint32_t>(_mm_movemask_epi8(_mm_cmpeq_epi8(block, wanted)));
    if (hits != 0) return begin + std::countr_zero(hits);
    begin += 16;
  }
#endif
  while (begin != end && *begin != byte) ++begin;
  return begin;
}

}  // namespace meguri::web
