#include "sim/tls_context.h"

#include <openssl/err.h>
#include <openssl/ssl.h>

#include <string_view>
#include <utility>

namespace meguri::sim {
namespace {

constexpr long kSessionSeconds = 3'600;  // of real time, in which a session can be taken up again
constexpr std::string_view kNameWithoutSni = "localhost";
constexpr std::string_view kSessionContext = "virtual web";

// Chooses the certificate by the name in the client's first message (SNI).
int choose_certificate(SSL* ssl, int* alert, void* context_pointer) {
  const auto* context = static_cast<const TlsContext*>(context_pointer);
  const char* name = SSL_get_servername(ssl, TLSEXT_NAMETYPE_host_name);
  const auto certificate = context->certificate_of(name == nullptr ? kNameWithoutSni : name);
  if (certificate == nullptr) {
    *alert = SSL_AD_UNRECOGNIZED_NAME;
    return SSL_TLSEXT_ERR_ALERT_FATAL;
  }
  if (SSL_use_certificate(ssl, certificate.get()) != 1 ||
      SSL_use_PrivateKey(ssl, context->authority().leaf_key()) != 1) {
    *alert = SSL_AD_INTERNAL_ERROR;
    return SSL_TLSEXT_ERR_ALERT_FATAL;
  }
  return SSL_TLSEXT_ERR_OK;
}

int choose_protocol(SSL* /*ssl*/, const unsigned char** out, unsigned char* out_size,
                    const unsigned char* offered, unsigned int offered_size, void* /*unused*/) {
  static constexpr unsigned char kOurs[] = "\x08http/1.1";
  unsigned char* chosen = nullptr;
  const int result =
      SSL_select_next_proto(&chosen, out_size, kOurs, sizeof(kOurs) - 1, offered, offered_size);
  *out = chosen;
  return result == OPENSSL_NPN_NEGOTIATED ? SSL_TLSEXT_ERR_OK : SSL_TLSEXT_ERR_ALERT_FATAL;
}

}  // namespace

base::Result<std::unique_ptr<TlsContext>> TlsContext::make(FaultOf fault_of) {
  std::unique_ptr<TlsContext> made(new TlsContext);
  made->fault_of_ = std::move(fault_of);
  ASSIGN_OR_RETURN(made->authority_, CertificateAuthority::make());
  made->context_.reset(SSL_CTX_new(TLS_server_method()));
  SSL_CTX* context = made->context_.get();
  if (context == nullptr) return base::fail(base::ErrorCode::kFailed, "OpenSSL cannot start");
  SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
  SSL_CTX_set_mode(context, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
                                SSL_MODE_RELEASE_BUFFERS);
  SSL_CTX_set_options(context, SSL_OP_IGNORE_UNEXPECTED_EOF | SSL_OP_NO_RENEGOTIATION);
  // Tickets are kept by the clients, so the server need not remember anything.
  SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
  SSL_CTX_set_session_id_context(context,
                                 reinterpret_cast<const unsigned char*>(kSessionContext.data()),
                                 kSessionContext.size());
  SSL_CTX_set_timeout(context, kSessionSeconds);
  SSL_CTX_set_num_tickets(context, 1);
  SSL_CTX_set_tlsext_servername_callback(context, choose_certificate);
  SSL_CTX_set_tlsext_servername_arg(context, made.get());
  SSL_CTX_set_alpn_select_cb(context, choose_protocol, nullptr);
  return made;
}

OpenSslPtr<X509> TlsContext::certificate_of(std::string_view name) const {
  return authority_->certificate_of(name, fault_of_ ? fault_of_(name) : CertificateFault::kNone);
}

OpenSslPtr<SSL> TlsContext::accept(int socket) const {
  OpenSslPtr<SSL> ssl(SSL_new(context_.get()));
  if (ssl == nullptr || SSL_set_fd(ssl.get(), socket) != 1) return nullptr;
  SSL_set_accept_state(ssl.get());
  return ssl;
}

}  // namespace meguri::sim
