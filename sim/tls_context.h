// TlsContext: the server's side of TLS for all hosts of a virtual web: TLS 1.2 and 1.3, http/1.1 by
// ALPN, resumption by tickets, and a certificate for whatever name a client asks for.
#pragma once

#include <functional>
#include <memory>
#include <string_view>

#include "base/result.h"
#include "sim/certificates.h"

namespace meguri::sim {

// Thread-safe.
class TlsContext {
 public:
  // What is wrong with the certificate of a host, always the same; called by any thread.
  using FaultOf = std::function<CertificateFault(std::string_view host)>;

  // An empty function: nothing is.
  static base::Result<std::unique_ptr<TlsContext>> make(FaultOf fault_of = {});

  const CertificateAuthority& authority() const { return *authority_; }
  // Null: `name` is no host's.
  OpenSslPtr<X509> certificate_of(std::string_view name) const;

  // The server's end of a connection on a non-blocking socket, which it borrows. nullptr: no
  // memory is left.
  OpenSslPtr<SSL> accept(int socket) const;

 private:
  TlsContext() = default;

  FaultOf fault_of_;
  std::unique_ptr<CertificateAuthority> authority_;
  OpenSslPtr<SSL_CTX> context_;
};

}  // namespace meguri::sim
