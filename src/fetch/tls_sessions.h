// TlsSessions: the last TLS session of each host, so that the next connection to it need not prove
// everything again. It spares us and the server the most costly part of a handshake; libcurl by
// itself remembers eight servers, and a polite crawler comes back to one after thousands of others.
#pragma once

#include <cstddef>
#include <list>
#include <memory>
#include <string>
#include <unordered_map>

struct ssl_ctx_st;
struct ssl_st;
struct ssl_session_st;

namespace meguri::fetch {

// Keeps the sessions used last. A session is only offered under the key it was made under, so that
// the host's name and its certificate were checked when it was made. Thread-compatible: one
// client's thread. Must outlive the contexts that use it.
class TlsSessions {
 public:
  explicit TlsSessions(std::size_t sessions_max) : sessions_max_(sessions_max) {}
  TlsSessions(const TlsSessions&) = delete;
  TlsSessions& operator=(const TlsSessions&) = delete;

  // Connections of `context` resume what is kept under `key`, and keep their own session there.
  void use(ssl_ctx_st* context, std::string key);

  std::size_t size() const { return by_key_.size(); }

 private:
  struct SessionDeleter {
    void operator()(ssl_session_st* session) const;
  };
  struct Entry {
    std::string key;
    std::unique_ptr<ssl_session_st, SessionDeleter> session;
  };
  struct Use;

  static int context_slot();
  static Use* use_of(const ssl_st* connection);
  static int on_new_session(ssl_st* connection, ssl_session_st* session);
  static void on_state(const ssl_st* connection, int where, int value);

  void keep(const std::string& key, ssl_session_st* session);  // takes the reference
  ssl_session_st* find(const std::string& key);                // null: none

  const std::size_t sessions_max_;
  std::list<Entry> entries_;  // the one used last comes first
  std::unordered_map<std::string, std::list<Entry>::iterator> by_key_;
};

}  // namespace meguri::fetch
