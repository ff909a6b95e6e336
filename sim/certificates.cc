#include "sim/certificates.h"

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include <algorithm>
#include <utility>

#include "web/ascii.h"

namespace meguri::sim {
namespace {

constexpr const char* kValidFrom = "19900101000000Z";
constexpr const char* kValidTo = "21000101000000Z";
constexpr const char* kExpiredAt = "19990101000000Z";
constexpr const char* kOtherName = "somebody-else.test";

std::string lower(std::string_view name) {
  std::string out(name);
  std::ranges::transform(out, out.begin(), web::to_lower);
  return out;
}

bool is_host_name(std::string_view name) {
  return !name.empty() && name.size() <= CertificateAuthority::kNameBytesMax &&
         std::ranges::all_of(name, [](char c) {
           return web::is_digit(c) || web::is_alpha(c) || c == '-' || c == '_' || c == '.';
         });
}

bool set_name(X509_NAME* name, const char* text) {
  return X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_UTF8,
                                    reinterpret_cast<const unsigned char*>(text), -1, -1, 0) == 1;
}

// An extension in OpenSSL's own notation. `value` is ours: a name from outside could bring commas.
bool add_extension(X509* certificate, X509* issuer, int nid, const char* value) {
  X509V3_CTX context;
  X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
  X509_EXTENSION* extension = X509V3_EXT_conf_nid(nullptr, &context, nid, value);
  if (extension == nullptr) return false;
  const bool added = X509_add_ext(certificate, extension, -1) == 1;
  X509_EXTENSION_free(extension);
  return added;
}

bool add_dns_name(X509* certificate, const std::string& host) {
  GENERAL_NAMES* names = GENERAL_NAMES_new();
  GENERAL_NAME* name = GENERAL_NAME_new();
  ASN1_IA5STRING* text = ASN1_IA5STRING_new();
  ASN1_STRING_set(text, host.data(), static_cast<int>(host.size()));
  GENERAL_NAME_set0_value(name, GEN_DNS, text);
  sk_GENERAL_NAME_push(names, name);
  const bool added =
      X509_add1_ext_i2d(certificate, NID_subject_alt_name, names, 0, X509V3_ADD_DEFAULT) == 1;
  GENERAL_NAMES_free(names);
  return added;
}

// A certificate of version 3 without extensions and signature; nullptr: OpenSSL failed.
OpenSslPtr<X509> new_certificate(const char* name, std::uint64_t serial, EVP_PKEY* key) {
  OpenSslPtr<X509> made(X509_new());
  const bool is_good =
      made != nullptr && X509_set_version(made.get(), X509_VERSION_3) == 1 &&
      ASN1_INTEGER_set_uint64(X509_get_serialNumber(made.get()), serial) == 1 &&
      ASN1_TIME_set_string_X509(X509_getm_notBefore(made.get()), kValidFrom) == 1 &&
      ASN1_TIME_set_string_X509(X509_getm_notAfter(made.get()), kValidTo) == 1 &&
      set_name(X509_get_subject_name(made.get()), name) && X509_set_pubkey(made.get(), key) == 1;
  return is_good ? std::move(made) : nullptr;
}

OpenSslPtr<X509> new_authority(EVP_PKEY* key) {
  OpenSslPtr<X509> own = new_certificate("Authority of a virtual web", 1, key);
  const bool is_good =
      own != nullptr && X509_set_issuer_name(own.get(), X509_get_subject_name(own.get())) == 1 &&
      add_extension(own.get(), own.get(), NID_basic_constraints, "critical,CA:TRUE,pathlen:0") &&
      add_extension(own.get(), own.get(), NID_key_usage, "critical,keyCertSign,cRLSign") &&
      add_extension(own.get(), own.get(), NID_subject_key_identifier, "hash") &&
      X509_sign(own.get(), key, EVP_sha256()) > 0;
  return is_good ? std::move(own) : nullptr;
}

std::string pem_of(X509* certificate) {
  BIO* bio = BIO_new(BIO_s_mem());
  PEM_write_bio_X509(bio, certificate);
  char* bytes = nullptr;
  const long size = BIO_get_mem_data(bio, &bytes);
  std::string pem(bytes, static_cast<std::size_t>(size));
  BIO_free(bio);
  return pem;
}

}  // namespace

void FreeOpenSsl::operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
void FreeOpenSsl::operator()(X509* certificate) const { X509_free(certificate); }
void FreeOpenSsl::operator()(SSL_CTX* context) const { SSL_CTX_free(context); }
void FreeOpenSsl::operator()(SSL* connection) const { SSL_free(connection); }

base::Result<std::unique_ptr<CertificateAuthority>> CertificateAuthority::make() {
  std::unique_ptr<CertificateAuthority> made(new CertificateAuthority);
  made->key_.reset(EVP_PKEY_Q_keygen(nullptr, nullptr, "EC", "P-256"));
  made->leaf_key_.reset(EVP_PKEY_Q_keygen(nullptr, nullptr, "EC", "P-256"));
  if (made->key_ != nullptr) made->own_ = new_authority(made->key_.get());
  if (made->own_ == nullptr || made->leaf_key_ == nullptr) {
    const char* reason = ERR_reason_error_string(ERR_get_error());
    return base::fail(base::ErrorCode::kFailed, "cannot make a certificate authority: {}",
                      reason == nullptr ? "OpenSSL gave no reason" : reason);
  }
  made->pem_ = pem_of(made->own_.get());
  return made;
}

OpenSslPtr<X509> CertificateAuthority::issue(const std::string& name, std::uint64_t serial,
                                             CertificateFault fault) const {
  OpenSslPtr<X509> made = new_certificate("Host of a virtual web", serial, leaf_key_.get());
  if (made == nullptr) return nullptr;
  const bool is_own = fault == CertificateFault::kSelfSigned;
  X509* const issuer = is_own ? made.get() : own_.get();
  EVP_PKEY* const signer = is_own ? leaf_key_.get() : key_.get();
  const bool is_expired = fault == CertificateFault::kExpired;
  const std::string host = fault == CertificateFault::kWrongName ? kOtherName : name;
  const bool is_good =
      (!is_expired || ASN1_TIME_set_string_X509(X509_getm_notAfter(made.get()), kExpiredAt) == 1) &&
      X509_set_issuer_name(made.get(), X509_get_subject_name(issuer)) == 1 &&
      add_extension(made.get(), issuer, NID_basic_constraints, "critical,CA:FALSE") &&
      add_extension(made.get(), issuer, NID_key_usage, "critical,digitalSignature") &&
      add_extension(made.get(), issuer, NID_ext_key_usage, "serverAuth") &&
      (is_own || add_extension(made.get(), issuer, NID_authority_key_identifier, "keyid")) &&
      add_dns_name(made.get(), host) && X509_sign(made.get(), signer, EVP_sha256()) > 0;
  return is_good ? std::move(made) : nullptr;
}

OpenSslPtr<X509> CertificateAuthority::certificate_of(std::string_view name,
                                                      CertificateFault fault) const {
  if (!is_host_name(name)) return nullptr;
  std::string key = lower(name);
  // Signing under the lock costs others some 50 µs, and only once for each name.
  const base::MutexLock lock(mutex_);
  auto found = issued_.find(key);
  if (found == issued_.end()) {
    auto made = issue(key, ++serial_, fault);
    if (made == nullptr) return nullptr;
    if (issued_.size() >= kCertificatesMax) {
      issued_.erase(ages_.front());
      ages_.pop_front();
    }
    ages_.push_back(key);
    found = issued_.emplace(std::move(key), std::move(made)).first;
  }
  X509_up_ref(found->second.get());
  return OpenSslPtr<X509>(found->second.get());
}

}  // namespace meguri::sim
