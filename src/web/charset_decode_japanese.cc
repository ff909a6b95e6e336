// Decoder for Japanese: EUC-JP, ISO-2022-JP, Shift_JIS.
#include <cstddef>
#include <cstdint>
#include <optional>

#include "base/check.h"
#include "web/charset_index.h"
#include "web/charset_machine.h"

namespace meguri::web {
namespace {

constexpr char32_t kFirstHalfwidth = 0xFF61;  // of the half-width katakana

bool within(std::uint8_t byte, std::uint8_t first, std::uint8_t last) {
  return byte >= first && byte <= last;
}

struct EucJpReader {
  const Index& jis0208 = index_of(IndexName::kJis0208);
  const Index& jis0212 = index_of(IndexName::kJis0212);
  std::uint8_t lead = 0;
  bool three_bytes = false;

  bool at_rest() const { return lead == 0; }

  void end(CodePointSink& sink) {
    if (lead != 0) sink.put_broken();
    lead = 0;
    three_bytes = false;
  }

  void byte(std::uint8_t byte, CodePointSink& sink) {
    if (lead != 0) return trail(byte, sink);
    if (byte < 0x80) {
      sink.put(byte);
    } else if (byte == 0x8E || byte == 0x8F || within(byte, 0xA1, 0xFE)) {
      lead = byte;
    } else {
      sink.put_broken();
    }
  }

 private:
  void trail(std::uint8_t byte, CodePointSink& sink) {
    if (lead == 0x8F && within(byte, 0xA1, 0xFE)) {
      three_bytes = true;
      lead = byte;
      return;
    }
    const std::uint8_t first = lead;
    const Index& index = three_bytes ? jis0212 : jis0208;
    lead = 0;
    three_bytes = false;
    if (first == 0x8E && within(byte, 0xA1, 0xDF)) return sink.put(kFirstHalfwidth + byte - 0xA1U);
    if (within(first, 0xA1, 0xFE) && within(byte, 0xA1, 0xFE)) {
      const char32_t code_point = index[(first - 0xA1U) * std::size_t{94} + byte - 0xA1U];
      if (code_point != 0) return sink.put(code_point);
    }
    sink.put_broken();
    if (byte < 0x80) sink.put(byte);
  }
};

struct ShiftJisReader {
  const Index& jis0208 = index_of(IndexName::kJis0208);
  std::uint8_t lead = 0;

  bool at_rest() const { return lead == 0; }

  void end(CodePointSink& sink) {
    if (lead != 0) sink.put_broken();
    lead = 0;
  }

  void byte(std::uint8_t byte, CodePointSink& sink) {
    if (lead != 0) {
      const std::uint8_t first = lead;
      lead = 0;
      return trail(first, byte, sink);
    }
    if (byte <= 0x80) {
      sink.put(byte);
    } else if (within(byte, 0xA1, 0xDF)) {
      sink.put(kFirstHalfwidth + byte - 0xA1U);
    } else if (byte == 0xA0 || byte > 0xFC) {
      sink.put_broken();
    } else {
      lead = byte;
    }
  }

 private:
  void trail(std::uint8_t first, std::uint8_t byte, CodePointSink& sink) const {
    if (within(byte, 0x40, 0x7E) || within(byte, 0x80, 0xFC)) {
      const std::size_t row = first - (first < 0xA0 ? std::size_t{0x81} : std::size_t{0xC1});
      const std::size_t pointer = row * 188 + byte - (byte < 0x7F ? 0x40U : 0x41U);
      // The rows for users' own characters, F0 to F9, are the start of the private use area.
      if (pointer >= 8836 && pointer <= 10715) {
        return sink.put(static_cast<char32_t>(0xE000 + pointer - 8836));
      }
      if (jis0208[pointer] != 0) return sink.put(jis0208[pointer]);
    }
    sink.put_broken();
    if (byte < 0x80) sink.put(byte);
  }
};

class Iso2022JpReader {
 public:
  // ESC, SO and SI never mean themselves, so that no ASCII may pass unread.
  static bool at_rest() { return false; }

  void byte(std::uint8_t byte, CodePointSink& sink) {
    switch (escape_) {
      case Escape::kNone: return plain(byte, sink);
      case Escape::kStarted: return escape_kind(byte, sink);
      case Escape::kDollar:
      case Escape::kBracket: return escape_end(byte, sink);
    }
  }

  void end(CodePointSink& sink) {
    if (escape_ != Escape::kNone) {
      const Escape was = escape_;
      sink.put_broken();
      escape_ = Escape::kNone;
      if (was != Escape::kStarted) plain(was == Escape::kDollar ? '$' : '(', sink);
    }
    if (lead_ != 0) sink.put_broken();
    *this = {};
  }

 private:
  enum class Set : std::uint8_t { kAscii, kRoman, kKatakana, kJis0208 };
  enum class Escape : std::uint8_t { kNone, kStarted, kDollar, kBracket };

  void plain(std::uint8_t byte, CodePointSink& sink) {
    if (lead_ != 0) return trail(byte, sink);
    if (byte == 0x1B) {
      escape_ = Escape::kStarted;
      return;
    }
    just_switched_ = false;
    if (set_ == Set::kJis0208 && within(byte, 0x21, 0x7E)) {
      lead_ = byte;
    } else if (set_ == Set::kKatakana && within(byte, 0x21, 0x5F)) {
      sink.put(kFirstHalfwidth + byte - 0x21U);
    } else if (set_ <= Set::kRoman && byte < 0x80 && byte != 0x0E && byte != 0x0F) {
      sink.put(set_ == Set::kRoman && byte == 0x5C   ? 0xA5
               : set_ == Set::kRoman && byte == 0x7E ? 0x203E
                                                     : char32_t{byte});
    } else {
      sink.put_broken();
    }
  }

  void trail(std::uint8_t byte, CodePointSink& sink) {
    const std::uint8_t first = lead_;
    lead_ = 0;
    if (byte == 0x1B) {
      escape_ = Escape::kStarted;
      return sink.put_broken();
    }
    const char32_t code_point = within(byte, 0x21, 0x7E)
                                    ? jis0208_->at((first - 0x21U) * std::size_t{94} + byte - 0x21U)
                                    : 0;
    sink.put(code_point != 0 ? code_point : kReplacementCharacter);
  }

  void escape_kind(std::uint8_t byte, CodePointSink& sink) {
    if (byte == '$' || byte == '(') {
      escape_ = byte == '$' ? Escape::kDollar : Escape::kBracket;
      return;
    }
    escape_ = Escape::kNone;
    just_switched_ = false;
    sink.put_broken();
    plain(byte, sink);
  }

  void escape_end(std::uint8_t byte, CodePointSink& sink) {
    const Escape was = escape_;
    escape_ = Escape::kNone;
    if (const std::optional<Set> set = set_of(was, byte)) {
      set_ = *set;
      // A switch that nothing follows but another one could hide text from a filter.
      if (just_switched_) sink.put_broken();
      just_switched_ = true;
      return;
    }
    just_switched_ = false;
    sink.put_broken();
    plain(was == Escape::kDollar ? '$' : '(', sink);
    plain(byte, sink);
  }

  static std::optional<Set> set_of(Escape escape, std::uint8_t byte) {
    if (escape == Escape::kDollar) {
      return byte == '@' || byte == 'B' ? std::optional(Set::kJis0208) : std::nullopt;
    }
    if (byte == 'B') return Set::kAscii;
    if (byte == 'J') return Set::kRoman;
    if (byte == 'I') return Set::kKatakana;
    return std::nullopt;
  }

  const Index* jis0208_ = &index_of(IndexName::kJis0208);
  Set set_ = Set::kAscii;
  Escape escape_ = Escape::kNone;
  bool just_switched_ = false;
  std::uint8_t lead_ = 0;
};

}  // namespace

std::unique_ptr<Decoder::Machine> make_japanese_machine(Charset charset) {
  if (charset == Charset::kEucJp) return std::make_unique<ReaderMachine<EucJpReader>>();
  if (charset == Charset::kShiftJis) return std::make_unique<ReaderMachine<ShiftJisReader>>();
  CHECK(charset == Charset::kIso2022Jp);
  return std::make_unique<ReaderMachine<Iso2022JpReader>>();
}

}  // namespace meguri::web
