// CertificateAuthority: makes up the certificates of the virtual web, so that HTTPS can be spoken
// by any of its hosts and verified against one authority.
#pragma once

#include <openssl/types.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/mutex.h"
#include "base/result.h"

namespace meguri::sim {

struct FreeOpenSsl {
  void operator()(EVP_PKEY* key) const;
  void operator()(X509* certificate) const;
  void operator()(SSL_CTX* context) const;
  void operator()(SSL* connection) const;
};
template <typename T>
using OpenSslPtr = std::unique_ptr<T, FreeOpenSsl>;

// What is wrong with a certificate.
enum class CertificateFault : std::uint8_t {
  kNone,
  kExpired,     // in 1999
  kWrongName,   // it is for another host
  kSelfSigned,  // not by the authority
};

// An authority of its own with an EC key on P-256, and one more such key that all its leaf
// certificates share. The keys are random, new in every run, and never leave the process: nothing
// signed by it is worth anything elsewhere.
// Certificates are valid from 1990 to 2100, so that they hold at the real time as well as at any
// time a world may have.
// Thread-safe. Holds at most kCertificatesMax certificates, about 2 KB each.
class CertificateAuthority {
 public:
  static constexpr std::size_t kCertificatesMax = 10'000;
  static constexpr std::size_t kNameBytesMax = 253;

  static base::Result<std::unique_ptr<CertificateAuthority>> make();

  // Its own certificate, for the clients that shall trust it.
  const std::string& pem() const { return pem_; }

  // The certificate of a host, in any case; made when it is first asked for. nullptr if `name` is
  // none: empty, too long, or of other characters than letters, digits, '-', '_' and '.'.
  OpenSslPtr<X509> certificate_of(std::string_view name,
                                  CertificateFault fault = CertificateFault::kNone) const;
  EVP_PKEY* leaf_key() const { return leaf_key_.get(); }

 private:
  CertificateAuthority() = default;

  OpenSslPtr<X509> issue(const std::string& name, std::uint64_t serial,
                         CertificateFault fault) const;

  OpenSslPtr<EVP_PKEY> key_;
  OpenSslPtr<EVP_PKEY> leaf_key_;
  OpenSslPtr<X509> own_;
  std::string pem_;
  mutable base::Mutex mutex_;
  mutable std::unordered_map<std::string, OpenSslPtr<X509>> issued_ GUARDED_BY(mutex_);
  mutable std::deque<std::string> ages_ GUARDED_BY(mutex_);  // names, the oldest first
  mutable std::uint64_t serial_ GUARDED_BY(mutex_) = 1;      // the authority's own is 1
};

}  // namespace meguri::sim
