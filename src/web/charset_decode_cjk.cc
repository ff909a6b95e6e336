// Decoder for Chinese and Korean: Big5, GBK and gb18030, EUC-KR.
#include <cstddef>
#include <cstdint>

#include "base/check.h"
#include "web/charset_index.h"
#include "web/charset_machine.h"

namespace meguri::web {
namespace {

bool within(std::uint8_t byte, std::uint8_t first, std::uint8_t last) {
  return byte >= first && byte <= last;
}

// Four bytes for characters that have no two.
struct Gb18030Reader {
  const Index& index = index_of(IndexName::kGb18030);
  std::uint8_t first = 0;
  std::uint8_t second = 0;
  std::uint8_t third = 0;

  bool at_rest() const { return first == 0; }

  void end(CodePointSink& sink) {
    if (first != 0) sink.put_broken();
    first = second = third = 0;
  }

  void byte(std::uint8_t byte, CodePointSink& sink) {
    if (third != 0) {
      fourth_byte(byte, sink);
    } else if (second != 0) {
      third_byte(byte, sink);
    } else if (first != 0) {
      second_byte(byte, sink);
    } else {
      first_byte(byte, sink);
    }
  }

 private:
  void first_byte(std::uint8_t byte, CodePointSink& sink) {
    if (byte < 0x80) {
      sink.put(byte);
    } else if (byte == 0x80) {
      sink.put(0x20AC);
    } else if (byte == 0xFF) {
      sink.put_broken();
    } else {
      first = byte;
    }
  }

  void second_byte(std::uint8_t byte, CodePointSink& sink) {
    if (within(byte, 0x30, 0x39)) {
      second = byte;
      return;
    }
    const std::size_t row = std::size_t{first} - 0x81;
    first = 0;
    if (within(byte, 0x40, 0x7E) || within(byte, 0x80, 0xFE)) {
      const char32_t code_point = index[row * 190 + byte - (byte < 0x7F ? 0x40U : 0x41U)];
      if (code_point != 0) return sink.put(code_point);
    }
    sink.put_broken();
    if (byte < 0x80) sink.put(byte);
  }

  // What follows the first byte of broken four is read again: digits are ASCII.
  void third_byte(std::uint8_t byte, CodePointSink& sink) {
    if (within(byte, 0x81, 0xFE)) {
      third = byte;
      return;
    }
    sink.put_broken();
    sink.put(second);
    first = second = 0;
    first_byte(byte, sink);
  }

  void fourth_byte(std::uint8_t byte, CodePointSink& sink) {
    const std::uint8_t lead = first;
    const std::uint8_t digit = second;
    const std::uint8_t next = third;
    first = second = third = 0;
    if (!within(byte, 0x30, 0x39)) {
      sink.put_broken();
      sink.put(digit);
      first = next;
      return second_byte(byte, sink);
    }
    const std::uint32_t pointer =
        ((lead - 0x81U) * 10 + digit - 0x30U) * 1260 + (next - 0x81U) * 10 + byte - 0x30U;
    sink.put(gb18030_range_code_point(pointer).value_or(kReplacementCharacter));
  }
};

struct Big5Reader {
  const Index& index = index_of(IndexName::kBig5);
  std::uint8_t lead = 0;

  bool at_rest() const { return lead == 0; }

  void end(CodePointSink& sink) {
    if (lead != 0) sink.put_broken();
    lead = 0;
  }

  void byte(std::uint8_t byte, CodePointSink& sink) {
    if (lead != 0) {
      const std::uint8_t row = lead;
      lead = 0;
      return trail(row, byte, sink);
    }
    if (byte < 0x80) {
      sink.put(byte);
    } else if (within(byte, 0x81, 0xFE)) {
      lead = byte;
    } else {
      sink.put_broken();
    }
  }

 private:
  void trail(std::uint8_t row, std::uint8_t byte, CodePointSink& sink) const {
    if (within(byte, 0x40, 0x7E) || within(byte, 0xA1, 0xFE)) {
      const std::size_t pointer =
          (std::size_t{row} - 0x81) * 157 + byte - (byte < 0x7F ? 0x40U : 0x62U);
      if (put_pair(pointer, sink)) return;
      if (index[pointer] != 0) return sink.put(index[pointer]);
    }
    sink.put_broken();
    if (byte < 0x80) sink.put(byte);
  }

  // Four pointers mean a letter with a mark that Unicode has not as one character.
  static bool put_pair(std::size_t pointer, CodePointSink& sink) {
    if (pointer != 1133 && pointer != 1135 && pointer != 1164 && pointer != 1166) return false;
    sink.put(pointer < 1140 ? 0xCA : 0xEA);
    sink.put(pointer == 1133 || pointer == 1164 ? 0x304 : 0x30C);
    return true;
  }
};

struct EucKrReader {
  const Index& index = index_of(IndexName::kEucKr);
  std::uint8_t lead = 0;

  bool at_rest() const { return lead == 0; }

  void end(CodePointSink& sink) {
    if (lead != 0) sink.put_broken();
    lead = 0;
  }

  void byte(std::uint8_t byte, CodePointSink& sink) {
    if (lead != 0) {
      const std::size_t row = std::size_t{lead} - 0x81;
      lead = 0;
      const char32_t code_point = within(byte, 0x41, 0xFE) ? index[row * 190 + byte - 0x41U] : 0;
      if (code_point != 0) return sink.put(code_point);
      sink.put_broken();
      if (byte < 0x80) sink.put(byte);
    } else if (byte < 0x80) {
      sink.put(byte);
    } else if (within(byte, 0x81, 0xFE)) {
      lead = byte;
    } else {
      sink.put_broken();
    }
  }
};

}  // namespace

std::unique_ptr<Decoder::Machine> make_chinese_machine(Charset charset) {
  if (charset == Charset::kBig5) return std::make_unique<ReaderMachine<Big5Reader>>();
  CHECK(charset == Charset::kGbk || charset == Charset::kGb18030);
  return std::make_unique<ReaderMachine<Gb18030Reader>>();
}

std::unique_ptr<Decoder::Machine> make_korean_machine() {
  return std::make_unique<ReaderMachine<EucKrReader>>();
}

}  // namespace meguri::web
