#include "archive/labelled_digest.h"

#include <openssl/evp.h>

#include <algorithm>
#include <array>
#include <cstddef>

#include "archive/sha1.h"
#include "base/base64.h"
#include "base/check.h"
#include "web/ascii.h"
#include "web/http_text.h"

namespace meguri::archive {

namespace {

struct Algorithm {
  std::string_view label;
  const char* name;  // OpenSSL's
};

constexpr std::array<Algorithm, 6> kAlgorithms = {{{"sha1", "SHA1"},
                                                   {"sha256", "SHA256"},
                                                   {"sha512", "SHA512"},
                                                   {"md5", "MD5"},
                                                   {"sha384", "SHA384"},
                                                   {"sha224", "SHA224"}}};

std::string hex_of(std::string_view bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    text += kDigits[byte >> 4U];
    text += kDigits[byte & 15U];
  }
  return text;
}

std::string_view without_padding(std::string_view text) {
  return text.substr(0, text.find_last_not_of('=') + 1);
}

// Whether a value is one of the spellings of a digest.
bool spells(std::string_view value, std::string_view digest) {
  value = without_padding(value);
  if (web::equals_ignoring_case(value, hex_of(digest))) return true;
  if (web::equals_ignoring_case(value, base32_of(digest))) return true;
  std::string standard(value);
  std::ranges::replace(standard, '-', '+');
  std::ranges::replace(standard, '_', '/');
  return standard == without_padding(base::base64_of(digest));
}

}  // namespace

std::string_view name_of(DigestVerdict verdict) {
  constexpr std::array<std::string_view, 4> kNames = {"none", "right", "wrong", "unknown"};
  return kNames.at(static_cast<std::size_t>(verdict));
}

struct DigestCheck::Hash {
  EVP_MD* algorithm;
  EVP_MD_CTX* state = EVP_MD_CTX_new();

  explicit Hash(EVP_MD* md) : algorithm(md) {
    CHECK(state != nullptr && EVP_DigestInit_ex(state, algorithm, nullptr) == 1);
  }
  Hash(const Hash&) = delete;
  Hash& operator=(const Hash&) = delete;
  ~Hash() {
    EVP_MD_CTX_free(state);
    EVP_MD_free(algorithm);
  }
};

DigestCheck::DigestCheck(std::string_view said) {
  const std::size_t colon = said.find(':');
  if (colon == std::string_view::npos) {
    value_ = web::trim(said);
    return;
  }
  value_ = web::trim(said.substr(colon + 1));
  label_ = web::lower_copy(web::trim(said.substr(0, colon)));
  std::erase(label_, '-');
  const auto* const found = std::ranges::find(kAlgorithms, label_, &Algorithm::label);
  if (found == kAlgorithms.end()) return;
  // Null where this machine's OpenSSL forbids it.
  if (EVP_MD* md = EVP_MD_fetch(nullptr, found->name, nullptr)) hash_ = std::make_unique<Hash>(md);
}

DigestCheck::~DigestCheck() = default;

void DigestCheck::update(std::string_view bytes) {
  if (hash_) CHECK(EVP_DigestUpdate(hash_->state, bytes.data(), bytes.size()) == 1);
}

DigestVerdict DigestCheck::finish() {
  if (label_.empty() && value_.empty()) return DigestVerdict::kNone;
  if (!hash_) return DigestVerdict::kUnknown;
  std::array<unsigned char, EVP_MAX_MD_SIZE> bytes{};
  unsigned size = 0;
  CHECK(EVP_DigestFinal_ex(hash_->state, bytes.data(), &size) == 1);
  const std::string_view digest(reinterpret_cast<const char*>(bytes.data()), size);
  computed_ = label_ + ':' + base32_of(digest);
  return spells(value_, digest) ? DigestVerdict::kRight : DigestVerdict::kWrong;
}

}  // namespace meguri::archive
