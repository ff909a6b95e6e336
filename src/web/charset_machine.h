// The inside of Decoder: what reads the bytes of one charset; only for the charset_*.cc files.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "web/charset.h"
#include "web/utf8.h"

namespace meguri::web {

class Decoder::Machine {
 public:
  Machine() = default;
  virtual ~Machine() = default;
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;

  virtual void append(std::string_view bytes, std::string* utf8) = 0;
  virtual void finish(std::string* utf8) = 0;
};

// Code points on their way out, as UTF-8 in a buffer that is large enough.
class CodePointSink {
 public:
  explicit CodePointSink(char* out) : out_(out) {}

  void put(char32_t code_point) { out_ = write_utf8(code_point, out_); }
  void put_broken() { put(kReplacementCharacter); }
  void put_ascii(std::string_view text) {
    std::memcpy(out_, text.data(), text.size());
    out_ += text.size();
  }
  char* end() const { return out_; }

 private:
  char* out_;
};

// A Machine of a Reader, which takes one byte after the other:
//   void byte(std::uint8_t, CodePointSink&);
//   void end(CodePointSink&);  // back to the first state
//   bool at_rest() const;      // an ASCII byte read now means itself
// A Reader puts at most three bytes for each byte it reads, some of them later, and keeps at most
// three bytes back.
template <typename Reader>
class ReaderMachine final : public Decoder::Machine {
 public:
  template <typename... Args>
  explicit ReaderMachine(Args&&... args) : reader_(std::forward<Args>(args)...) {}

  void append(std::string_view bytes, std::string* utf8) override {
    while (!bytes.empty()) {
      append_block(bytes.substr(0, kBlock), utf8);
      bytes.remove_prefix(std::min(kBlock, bytes.size()));
    }
  }

  void finish(std::string* utf8) override {
    CodePointSink sink(buffer_.data());
    reader_.end(sink);
    utf8->append(buffer_.data(), sink.end());
  }

 private:
  static constexpr std::size_t kBlock = 2048;

  void append_block(std::string_view bytes, std::string* utf8) {
    CodePointSink sink(buffer_.data());
    for (std::size_t at = 0; at < bytes.size();) {
      const auto byte = static_cast<std::uint8_t>(bytes[at]);
      if (byte < 0x80 && reader_.at_rest()) {
        const std::size_t length = ascii_prefix(bytes.substr(at));
        sink.put_ascii(bytes.substr(at, length));
        at += length;
      } else {
        reader_.byte(byte, sink);
        ++at;
      }
    }
    utf8->append(buffer_.data(), sink.end());
  }

  Reader reader_;
  std::array<char, (kBlock + 4) * kUtf8PerByteMax> buffer_{};
};

// Each takes the charsets named, and CHECKs that it gets one of them.
std::unique_ptr<Decoder::Machine> make_chinese_machine(Charset charset);  // Big5, GBK, gb18030
std::unique_ptr<Decoder::Machine> make_japanese_machine(Charset charset);
std::unique_ptr<Decoder::Machine> make_korean_machine();

}  // namespace meguri::web
