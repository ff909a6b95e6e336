#include "web/charset.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "base/check.h"
#include "web/charset_index.h"
#include "web/charset_machine.h"
#include "web/utf8.h"

namespace meguri::web {
namespace {

class Utf8Machine final : public Decoder::Machine {
 public:
  void append(std::string_view bytes, std::string* utf8) override {
    while (cut_length_ > 0 && !bytes.empty()) bytes.remove_prefix(complete(bytes, utf8));
    const std::size_t cut = cut_at_end(bytes);
    append_as_valid_utf8(bytes.substr(0, bytes.size() - cut), utf8);
    std::ranges::copy(bytes.substr(bytes.size() - cut), cut_.begin() + cut_length_);
    cut_length_ += static_cast<std::uint8_t>(cut);
  }

  void finish(std::string* utf8) override {
    if (cut_length_ > 0) utf8->append(kReplacementUtf8);
    cut_length_ = 0;
  }

 private:
  // How many bytes at the end are a sequence that the next piece may complete.
  static std::size_t cut_at_end(std::string_view bytes) {
    for (std::size_t length = 1; length <= std::min<std::size_t>(3, bytes.size()); ++length) {
      const std::string_view end = bytes.substr(bytes.size() - length);
      if ((static_cast<unsigned char>(end[0]) & 0xC0) == 0x80) continue;
      return utf8_front(end).kind == Utf8Front::Kind::kCut ? length : 0;
    }
    return 0;
  }

  // Goes on with the sequence that was cut by one byte; returns how many of `bytes` were read.
  std::size_t complete(std::string_view bytes, std::string* utf8) {
    cut_[cut_length_] = bytes[0];
    const std::string_view sequence(cut_.data(), cut_length_ + std::size_t{1});
    switch (utf8_front(sequence).kind) {
      case Utf8Front::Kind::kCut: ++cut_length_; return 1;
      case Utf8Front::Kind::kWhole:
        utf8->append(sequence);
        cut_length_ = 0;
        return 1;
      case Utf8Front::Kind::kBroken: break;
    }
    utf8->append(kReplacementUtf8);
    cut_length_ = 0;
    return 0;
  }

  std::array<char, 4> cut_{};
  std::uint8_t cut_length_ = 0;
};

class SingleByteReader {
 public:
  explicit SingleByteReader(const SingleByteIndex& index) : index_(index) {}

  void byte(std::uint8_t byte, CodePointSink& sink) const {
    const char16_t code_point = index_[byte - 0x80U];
    sink.put(code_point != 0 ? char32_t{code_point} : kReplacementCharacter);
  }
  static void end(CodePointSink& /*sink*/) {}
  static bool at_rest() { return true; }

 private:
  const SingleByteIndex& index_;
};

class XUserDefinedReader {
 public:
  static void byte(std::uint8_t byte, CodePointSink& sink) { sink.put(0xF780U + byte - 0x80U); }
  static void end(CodePointSink& /*sink*/) {}
  static bool at_rest() { return true; }
};

// Charsets that only attacks use today: the whole text becomes one U+FFFD.
class ReplacementReader {
 public:
  void byte(std::uint8_t /*byte*/, CodePointSink& sink) {
    if (!written_) sink.put_broken();
    written_ = true;
  }
  void end(CodePointSink& /*sink*/) { written_ = false; }
  static bool at_rest() { return false; }

 private:
  bool written_ = false;
};

class Utf16Reader {
 public:
  explicit Utf16Reader(bool big_endian) : big_endian_(big_endian) {}

  void byte(std::uint8_t byte, CodePointSink& sink) {
    if (!has_first_) {
      first_ = byte;
      has_first_ = true;
      return;
    }
    has_first_ = false;
    unit(big_endian_ ? first_ << 8U | byte : static_cast<char32_t>(byte) << 8U | first_, sink);
  }

  void end(CodePointSink& sink) {
    if (has_first_ || high_ != 0) sink.put_broken();
    has_first_ = false;
    high_ = 0;
  }

  static bool at_rest() { return false; }

 private:
  void unit(char32_t unit, CodePointSink& sink) {
    const bool low = unit >= 0xDC00 && unit <= 0xDFFF;
    if (high_ != 0 && low) {
      sink.put(0x10000 + ((high_ - 0xD800) << 10U) + (unit - 0xDC00));
      high_ = 0;
      return;
    }
    if (high_ != 0) sink.put_broken();
    high_ = 0;
    if (unit >= 0xD800 && unit <= 0xDBFF) {
      high_ = unit;
    } else {
      sink.put(low ? kReplacementCharacter : unit);
    }
  }

  bool big_endian_;
  bool has_first_ = false;
  char32_t first_ = 0;
  char32_t high_ = 0;  // a surrogate that waits for its other half
};

std::unique_ptr<Decoder::Machine> make_machine(Charset charset) {
  switch (charset) {
    case Charset::kUtf8: return std::make_unique<Utf8Machine>();
    case Charset::kUtf16Be: return std::make_unique<ReaderMachine<Utf16Reader>>(true);
    case Charset::kUtf16Le: return std::make_unique<ReaderMachine<Utf16Reader>>(false);
    case Charset::kReplacement: return std::make_unique<ReaderMachine<ReplacementReader>>();
    case Charset::kXUserDefined: return std::make_unique<ReaderMachine<XUserDefinedReader>>();
    case Charset::kGbk:
    case Charset::kGb18030:
    case Charset::kBig5: return make_chinese_machine(charset);
    case Charset::kEucJp:
    case Charset::kIso2022Jp:
    case Charset::kShiftJis: return make_japanese_machine(charset);
    case Charset::kEucKr: return make_korean_machine();
    default: break;
  }
  return std::make_unique<ReaderMachine<SingleByteReader>>(single_byte_index(charset));
}

bool may_have_bom(Charset charset) {
  return charset == Charset::kUtf8 || charset == Charset::kUtf16Be || charset == Charset::kUtf16Le;
}

}  // namespace

Decoder::Decoder(Charset charset, Bom bom)
    : machine_(make_machine(charset)), bom_(may_have_bom(charset) ? bom : Bom::kKeep) {}
Decoder::~Decoder() = default;
Decoder::Decoder(Decoder&&) noexcept = default;
Decoder& Decoder::operator=(Decoder&&) noexcept = default;

void Decoder::append(std::string_view bytes, std::string* utf8) {
  const std::size_t start = utf8->size();
  machine_->append(bytes, utf8);
  drop_bom(start, utf8);
}

void Decoder::finish(std::string* utf8) {
  machine_->finish(utf8);
  at_start_ = true;
}

// A byte order mark is the first character written, if it is there, and U+FEFF in any charset.
void Decoder::drop_bom(std::size_t start, std::string* utf8) {
  if (!at_start_ || utf8->size() == start) return;
  at_start_ = false;
  if (bom_ == Bom::kDrop &&
      utf8->compare(start, kByteOrderMarkUtf8.size(), kByteOrderMarkUtf8) == 0) {
    utf8->erase(start, kByteOrderMarkUtf8.size());
  }
}

void decode(std::string_view bytes, Charset charset, std::string* utf8, Bom bom) {
  Decoder decoder(charset, bom);
  decoder.append(bytes, utf8);
  decoder.finish(utf8);
}

}  // namespace meguri::web
