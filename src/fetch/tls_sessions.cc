#include "fetch/tls_sessions.h"

#include <openssl/ssl.h>

#include <utility>

#include "base/check.h"

namespace meguri::fetch {

// What a context knows of us; the context frees it.
struct TlsSessions::Use {
  TlsSessions* sessions;
  std::string key;
};

void TlsSessions::SessionDeleter::operator()(ssl_session_st* session) const {
  ::SSL_SESSION_free(session);
}

int TlsSessions::context_slot() {
  static const int slot = [] {
    const int made = ::SSL_CTX_get_ex_new_index(
        0, nullptr, nullptr, nullptr,
        [](void* /*context*/, void* data, CRYPTO_EX_DATA* /*all*/, int /*index*/, long /*argument*/,
           void* /*pointer*/) { delete static_cast<Use*>(data); });
    CHECK(made >= 0, "OpenSSL gives out no more slots");
    return made;
  }();
  return slot;
}

TlsSessions::Use* TlsSessions::use_of(const ssl_st* connection) {
  return static_cast<Use*>(::SSL_CTX_get_ex_data(::SSL_get_SSL_CTX(connection), context_slot()));
}

void TlsSessions::use(ssl_ctx_st* context, std::string key) {
  if (sessions_max_ == 0) return;
  auto use = std::make_unique<Use>(Use{this, std::move(key)});
  const int status = ::SSL_CTX_set_ex_data(context, context_slot(), use.get());
  CHECK(status == 1, "OpenSSL: out of memory");
  [[maybe_unused]] const Use* const given = use.release();
  // Nothing inside the context, which lives for one connection.
  ::SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL);
  ::SSL_CTX_sess_set_new_cb(context, &TlsSessions::on_new_session);
  // The connection itself is made by libcurl behind our back; its first step is where we meet it.
  ::SSL_CTX_set_info_callback(context, &TlsSessions::on_state);
}

int TlsSessions::on_new_session(ssl_st* connection, ssl_session_st* session) {
  const Use* const use = use_of(connection);
  if (use == nullptr) return 0;
  use->sessions->keep(use->key, session);
  return 1;  // the reference is ours now
}

void TlsSessions::on_state(const ssl_st* connection, int where, int /*value*/) {
  if (where != SSL_CB_HANDSHAKE_START || ::SSL_get_session(connection) != nullptr) return;
  const Use* const use = use_of(connection);
  ssl_session_st* const session = use == nullptr ? nullptr : use->sessions->find(use->key);
  if (session != nullptr) ::SSL_set_session(const_cast<ssl_st*>(connection), session);
}

void TlsSessions::keep(const std::string& key, ssl_session_st* session) {
  const auto known = by_key_.find(key);
  if (known != by_key_.end()) {
    known->second->session.reset(session);
    entries_.splice(entries_.begin(), entries_, known->second);
    return;
  }
  if (entries_.size() >= sessions_max_) {
    by_key_.erase(entries_.back().key);
    entries_.pop_back();
  }
  Entry& entry = entries_.emplace_front();
  entry.key = key;
  entry.session.reset(session);
  by_key_.emplace(key, entries_.begin());
}

ssl_session_st* TlsSessions::find(const std::string& key) {
  const auto known = by_key_.find(key);
  if (known == by_key_.end()) return nullptr;
  entries_.splice(entries_.begin(), entries_, known->second);
  return known->second->session.get();
}

}  // namespace meguri::fetch
