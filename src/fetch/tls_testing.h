// Certificates for tests, made on the spot.
#pragma once

#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <memory>
#include <string>

#include "base/check.h"

namespace meguri::fetch {

struct TlsDeleter {
  void operator()(X509* x) const { ::X509_free(x); }
  void operator()(EVP_PKEY* x) const { ::EVP_PKEY_free(x); }
  void operator()(SSL_CTX* x) const { ::SSL_CTX_free(x); }
};
using TlsContext = std::unique_ptr<SSL_CTX, TlsDeleter>;

// A certificate and its key.
struct TlsIdentity {
  std::unique_ptr<X509, TlsDeleter> certificate;
  std::unique_ptr<EVP_PKEY, TlsDeleter> key;

  std::string pem() const {
    BIO* const out = ::BIO_new(::BIO_s_mem());
    ::PEM_write_bio_X509(out, certificate.get());
    char* data = nullptr;
    const long size = ::BIO_get_mem_data(out, &data);
    std::string text(data, static_cast<std::size_t>(size));
    ::BIO_free(out);
    return text;
  }
};

struct IdentityOptions {
  std::string name;                     // of the host, or of the authority
  const TlsIdentity* issuer = nullptr;  // null: it signs itself
  bool is_authority = false;
  long days_from_now = 1;  // negative: expired
};

inline TlsIdentity make_identity(const IdentityOptions& options) {
  TlsIdentity identity;
  std::string curve = "P-256";
  identity.key.reset(::EVP_PKEY_Q_keygen(nullptr, nullptr, "EC", curve.data()));
  identity.certificate.reset(::X509_new());
  X509* const x = identity.certificate.get();
  ::X509_set_version(x, 2);
  static long serial = 1;
  ::ASN1_INTEGER_set(::X509_get_serialNumber(x), ++serial);
  constexpr long kDay = 86'400;
  ::X509_gmtime_adj(::X509_getm_notBefore(x), -10 * kDay);
  ::X509_gmtime_adj(::X509_getm_notAfter(x), options.days_from_now * kDay);
  ::X509_set_pubkey(x, identity.key.get());
  X509_NAME* const name = ::X509_get_subject_name(x);
  ::X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC,
                               reinterpret_cast<const unsigned char*>(options.name.c_str()), -1, -1,
                               0);
  const X509* const issuer = options.issuer != nullptr ? options.issuer->certificate.get() : x;
  ::X509_set_issuer_name(x, ::X509_get_subject_name(issuer));
  const auto add = [x](int kind, const std::string& value) {
    X509_EXTENSION* const extension = ::X509V3_EXT_conf_nid(nullptr, nullptr, kind, value.c_str());
    CHECK(extension != nullptr);
    ::X509_add_ext(x, extension, -1);
    ::X509_EXTENSION_free(extension);
  };
  add(NID_basic_constraints, options.is_authority ? "critical,CA:TRUE" : "CA:FALSE");
  if (!options.is_authority) add(NID_subject_alt_name, "DNS:" + options.name);
  EVP_PKEY* const signer =
      options.issuer != nullptr ? options.issuer->key.get() : identity.key.get();
  CHECK(::X509_sign(x, signer, ::EVP_sha256()) > 0);
  return identity;
}

// Takes HTTP/1.1 where protocols are offered.
inline TlsContext make_server_context(const TlsIdentity& identity) {
  TlsContext context(::SSL_CTX_new(::TLS_server_method()));
  CHECK(::SSL_CTX_use_certificate(context.get(), identity.certificate.get()) == 1);
  CHECK(::SSL_CTX_use_PrivateKey(context.get(), identity.key.get()) == 1);
  constexpr unsigned char kSessionContext[] = "test";
  ::SSL_CTX_set_session_id_context(context.get(), kSessionContext, sizeof(kSessionContext));
  return context;
}

}  // namespace meguri::fetch
