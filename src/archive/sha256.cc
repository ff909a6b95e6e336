#include "archive/sha256.h"

#include <openssl/evp.h>

#include <array>

#include "base/check.h"

namespace meguri::archive {

struct Sha256::Context {
  EVP_MD* algorithm = EVP_MD_fetch(nullptr, "SHA256", nullptr);
  EVP_MD_CTX* state = EVP_MD_CTX_new();

  Context() { CHECK(algorithm != nullptr && state != nullptr, "OpenSSL has no SHA-256"); }
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;
  ~Context() {
    EVP_MD_CTX_free(state);
    EVP_MD_free(algorithm);
  }
  void start() { CHECK(EVP_DigestInit_ex(state, algorithm, nullptr) == 1); }
};

Sha256::Sha256() : context_(std::make_unique<Context>()) { context_->start(); }

Sha256::~Sha256() = default;

void Sha256::update(std::string_view bytes) {
  CHECK(EVP_DigestUpdate(context_->state, bytes.data(), bytes.size()) == 1);
}

std::string Sha256::finish() {
  std::array<unsigned char, 32> digest;
  CHECK(EVP_DigestFinal_ex(context_->state, digest.data(), nullptr) == 1);
  context_->start();
  std::string text = "sha256:";
  for (const unsigned byte : digest) {
    text += "0123456789abcdef"[byte >> 4U];
    text += "0123456789abcdef"[byte & 15U];
  }
  return text;
}

}  // namespace meguri::archive
