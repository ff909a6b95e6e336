#include "web/utf8.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

namespace meguri::web {
namespace {

constexpr std::size_t kBlock = 64;
constexpr std::uint64_t kHighBits = 0x8080808080808080;

// The states of checking UTF-8, each as the place of its six bits in a row of kRows.
enum State : std::uint8_t {
  kStart = 0,
  kBroken = 6,
  kOneMore = 12,
  kTwoMore = 18,
  kThreeMore = 24,
  kAfterE0 = 30,
  kAfterEd = 36,
  kAfterF0 = 42,
  kAfterF4 = 48,
};
constexpr std::array kStates = {kStart,   kBroken,  kOneMore, kTwoMore, kThreeMore,
                                kAfterE0, kAfterEd, kAfterF0, kAfterF4};

constexpr State state_after_lead(unsigned byte) {
  if (byte < 0x80) return kStart;
  if (byte < 0xC2) return kBroken;
  if (byte < 0xE0) return kOneMore;
  if (byte == 0xE0) return kAfterE0;
  if (byte == 0xED) return kAfterEd;
  if (byte < 0xF0) return kTwoMore;
  if (byte == 0xF0) return kAfterF0;
  if (byte < 0xF4) return kThreeMore;
  return byte == 0xF4 ? kAfterF4 : kBroken;
}

constexpr State state_after(State state, unsigned byte) {
  const auto within = [byte](unsigned first, unsigned last, State next) {
    return byte >= first && byte <= last ? next : kBroken;
  };
  switch (state) {
    case kStart: return state_after_lead(byte);
    case kBroken: return kBroken;
    case kOneMore: return within(0x80, 0xBF, kStart);
    case kTwoMore: return within(0x80, 0xBF, kOneMore);
    case kThreeMore: return within(0x80, 0xBF, kTwoMore);
    case kAfterE0: return within(0xA0, 0xBF, kOneMore);
    case kAfterEd: return within(0x80, 0x9F, kOneMore);
    case kAfterF0: return within(0x90, 0xBF, kTwoMore);
    case kAfterF4: return within(0x80, 0x8F, kTwoMore);
  }
  return kBroken;
}

// For each byte, the next state of every state, packed into one word: a step is one shift, and the
// load does not wait for the step before.
constexpr std::array<std::uint64_t, 256> make_rows() {
  std::array<std::uint64_t, 256> rows{};
  for (unsigned byte = 0; byte < rows.size(); ++byte) {
    for (const State state : kStates) {
      rows[byte] |= static_cast<std::uint64_t>(state_after(state, byte)) << state;
    }
  }
  return rows;
}
constexpr auto kRows = make_rows();

std::uint64_t word_at(const char* bytes) {
  std::uint64_t word = 0;
  std::memcpy(&word, bytes, sizeof word);
  return word;
}

bool is_ascii_block(const char* bytes) {
  std::uint64_t all = 0;
  for (std::size_t i = 0; i < kBlock; i += sizeof all) all |= word_at(bytes + i);
  return (all & kHighBits) == 0;
}

std::uint64_t step(std::uint64_t state, char byte) {
  return kRows[static_cast<unsigned char>(byte)] >> (state & 63);
}

bool is_continuation(char byte) { return (static_cast<unsigned char>(byte) & 0xC0) == 0x80; }

// Where the first broken or cut sequence starts, given that nothing breaks before `at` and that
// something does before long.
std::size_t first_break_near(std::string_view text, std::size_t at) {
  while (at > 0 && is_continuation(text[at - 1])) --at;
  if (at > 0) --at;
  while (at < text.size()) {
    const Utf8Front front = utf8_front(text.substr(at));
    if (front.kind != Utf8Front::Kind::kWhole) return at;
    at += front.length;
  }
  return text.size();
}

}  // namespace

std::size_t ascii_prefix(std::string_view text) {
  std::size_t at = 0;
  while (text.size() - at >= kBlock && is_ascii_block(text.data() + at)) at += kBlock;
  while (text.size() - at >= sizeof(std::uint64_t)) {
    const std::uint64_t high = word_at(text.data() + at) & kHighBits;
    if (high != 0) {
      if constexpr (std::endian::native == std::endian::little) {
        return at + static_cast<std::size_t>(std::countr_zero(high)) / 8;
      }
      break;
    }
    at += sizeof high;
  }
  while (at < text.size() && static_cast<unsigned char>(text[at]) < 0x80) ++at;
  return at;
}

std::size_t valid_utf8_prefix(std::string_view text) {
  std::uint64_t state = kStart;
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t length = std::min(kBlock, text.size() - at);
    if ((state & 63) == kStart && length == kBlock && is_ascii_block(text.data() + at)) {
      at += kBlock;
      continue;
    }
    for (std::size_t i = 0; i < length; ++i) state = step(state, text[at + i]);
    if ((state & 63) == kBroken) return first_break_near(text, at);
    at += length;
  }
  return (state & 63) == kStart ? text.size() : first_break_near(text, at);
}

bool is_valid_utf8(std::string_view text) { return valid_utf8_prefix(text) == text.size(); }

Utf8Front utf8_front(std::string_view text) {
  using Kind = Utf8Front::Kind;
  std::uint64_t state = kStart;
  for (std::size_t i = 0; i < text.size(); ++i) {
    state = step(state, text[i]);
    if ((state & 63) == kStart) return {Kind::kWhole, i + 1};
    // The byte that breaks a sequence starts the next one, unless it is the first.
    if ((state & 63) == kBroken) return {Kind::kBroken, std::max<std::size_t>(i, 1)};
  }
  return {Kind::kCut, text.size()};
}

void append_utf8(char32_t code_point, std::string* out) {
  std::array<char, 4> bytes{};
  const char32_t written = is_scalar_value(code_point) ? code_point : kReplacementCharacter;
  out->append(bytes.data(), write_utf8(written, bytes.data()));
}

void append_as_valid_utf8(std::string_view text, std::string* out) {
  while (!text.empty()) {
    const std::size_t valid = valid_utf8_prefix(text);
    out->append(text.substr(0, valid));
    text.remove_prefix(valid);
    // One break is seldom alone, and looking for the next valid run has a fixed cost: a block is
    // read sequence by sequence first.
    for (std::size_t done = 0; done < kBlock && !text.empty();) {
      const Utf8Front front = utf8_front(text);
      const bool whole = front.kind == Utf8Front::Kind::kWhole;
      out->append(whole ? text.substr(0, front.length) : kReplacementUtf8);
      text.remove_prefix(front.length);
      done += front.length;
    }
  }
}

}  // namespace meguri::web
