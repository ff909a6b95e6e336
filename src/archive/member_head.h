// The head of a gzip member, and what it may tell of it. Drafts of WARC had a field for lengths,
// `sl` ("skip lengths"), which wget and BUbiNG write, and so do we: whoever wants no more than the
// front of a record need not inflate the rest to find the next one. A field `rq` is ours alone:
// whoever looks for visits need not inflate requests at all.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace meguri::archive {

// With which members begin that tell nothing: no name, no time.
inline constexpr std::string_view kGzipMemberHead("\x1f\x8b\x08\0\0\0\0\0\0\xff", 10);

inline constexpr std::size_t kToldHeadBytes = 29;  // of members of ours that tell something
inline constexpr std::size_t kGzipTailBytes = 8;   // the sum, and the size of what is decoded

struct MemberFacts {
  std::uint32_t stored = 0;   // of the member, its head and tail included
  std::uint32_t decoded = 0;  // of what is in it
  bool is_request = false;    // what is in it is one record, a request

  friend bool operator==(const MemberFacts&, const MemberFacts&) = default;
};

// Appends a head with room for lengths, which tell_lengths() fills in when the member is whole.
void begin_told_member(bool is_request, std::string* out);
// `*member` is one that began so. Where a length has no room in 32 bits, both stay 0.
void tell_lengths(std::uint64_t decoded, std::string* member);

// What the member at the front of `bytes` tells; nullopt: no lengths, or none that can be. It is
// its writer's word.
std::optional<MemberFacts> told_facts(std::string_view bytes);

// Whether the member at the front of `bytes` has a head of our own writing, which tells nothing or
// what is so. `bytes` are its first kToldHeadBytes, or all of it.
bool has_own_head(std::string_view bytes, const MemberFacts& actual);

// The size of the head at the front of `bytes`; 0: it is not whole, or has more than extra fields.
std::size_t plain_head_size(std::string_view bytes);

}  // namespace meguri::archive
