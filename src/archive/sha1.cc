#include "archive/sha1.h"

#include <openssl/evp.h>

#include <algorithm>
#include <cstddef>

#include "base/check.h"
#include "web/ascii.h"

namespace meguri::archive {

namespace {

constexpr std::string_view kLabel = "sha1:";
constexpr std::string_view kBase32 = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
constexpr std::size_t kBase32Size = 32;  // 160 bits, 5 each
constexpr std::size_t kHexSize = 40;

int base32_value(char c) {
  const char lower = web::to_lower(c);
  if (lower >= 'a' && lower <= 'z') return lower - 'a';
  return c >= '2' && c <= '7' ? c - '2' + 26 : -1;
}

// Reads digits of `bits` bits each into exactly 20 bytes.
template <typename ValueOf>
std::optional<Digest> from_digits(std::string_view text, unsigned bits, ValueOf value_of) {
  Digest digest;
  std::uint32_t pending = 0;
  unsigned pending_bits = 0;
  std::size_t at = 0;
  for (const char c : text) {
    const int value = value_of(c);
    if (value < 0) return std::nullopt;
    pending = (pending << bits) | static_cast<std::uint32_t>(value);
    pending_bits += bits;
    if (pending_bits < 8) continue;
    pending_bits -= 8;
    digest.bytes.at(at++) = static_cast<std::uint8_t>((pending >> pending_bits) & 0xffU);
  }
  return digest;
}

}  // namespace

std::string base32_of(std::string_view bytes) {
  std::string text;
  text.reserve((bytes.size() * 8 + 4) / 5);
  std::uint32_t pending = 0;
  unsigned pending_bits = 0;
  for (const char byte : bytes) {
    pending = (pending << 8U) | static_cast<unsigned char>(byte);
    pending_bits += 8;
    while (pending_bits >= 5) {
      pending_bits -= 5;
      text += kBase32[(pending >> pending_bits) & 31U];
    }
  }
  if (pending_bits > 0) text += kBase32[(pending << (5 - pending_bits)) & 31U];
  return text;
}

std::string Digest::to_string() const {
  std::string text(kLabel);
  text += base32_of({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  return text;
}

std::optional<Digest> Digest::parse(std::string_view text) {
  if (web::starts_with_ignoring_case(text, kLabel)) text.remove_prefix(kLabel.size());
  if (text.size() == kBase32Size) return from_digits(text, 5, base32_value);
  if (text.size() == kHexSize) return from_digits(text, 4, web::hex_value);
  return std::nullopt;
}

bool Digest::is_as_written(std::string_view text) {
  const auto is_digit_of_it = [](char c) {
    return (c >= 'A' && c <= 'Z') || (c >= '2' && c <= '7');
  };
  return text.size() == kLabel.size() + kBase32Size && text.starts_with(kLabel) &&
         std::ranges::all_of(text.substr(kLabel.size()), is_digit_of_it);
}

struct Sha1::Context {
  EVP_MD* algorithm = EVP_MD_fetch(nullptr, "SHA1", nullptr);
  EVP_MD_CTX* state = EVP_MD_CTX_new();

  Context() { CHECK(algorithm != nullptr && state != nullptr, "OpenSSL has no SHA-1"); }
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;
  ~Context() {
    EVP_MD_CTX_free(state);
    EVP_MD_free(algorithm);
  }
  void start() { CHECK(EVP_DigestInit_ex(state, algorithm, nullptr) == 1); }
};

Sha1::Sha1() : context_(std::make_unique<Context>()) { context_->start(); }

Sha1::~Sha1() = default;

void Sha1::update(std::string_view bytes) {
  CHECK(EVP_DigestUpdate(context_->state, bytes.data(), bytes.size()) == 1);
}

Digest Sha1::finish() {
  Digest digest;
  CHECK(EVP_DigestFinal_ex(context_->state, digest.bytes.data(), nullptr) == 1);
  context_->start();
  return digest;
}

}  // namespace meguri::archive
