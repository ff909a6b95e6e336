// TlsContext: the server's side of TLS for all hosts of a virtual web: TLS 1.2 and 1.3, http/1.1 by
// ALPN, resumption by tickets, and a certificate for whatever name a client asks for.
#pragma once

#include <memory>

#include "base/result.h"
#include "sim/certificates.h"

namespace meguri::sim {

// Thread-safe.
class TlsContext {
 public:
  static base::Result<std::unique_ptr<TlsContext>> make();

  const CertificateAuthority& authority() const { return *authority_; }

  // The server's end of a connection on a non-blocking socket, which it borrows. nullptr: no
  // memory is left.
  OpenSslPtr<SSL> accept(int socket) const;

 private:
  TlsContext() = default;

  std::unique_ptr<CertificateAuthority> authority_;
  OpenSslPtr<SSL_CTX> context_;
};

}  // namespace meguri::sim
