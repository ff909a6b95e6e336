// The real HttpClient, on libcurl's multi interface with epoll: thousands of connections on one
// thread.
//
//  * Names: none are resolved. The request's address is connected to, with the host's name in SNI,
//    in the certificate check and in the Host line.
//  * Addresses: every socket is opened by one function, which asks the AddressPolicy first.
//  * Proxies: their own addresses are trusted, because whoever configured them named them, and
//  their
//    names are the only ones that libcurl resolves. What they connect to is theirs to judge. The
//    environment's proxies are ignored.
//  * Time: limits are of the given clock. A scaled clock shortens them, though not below
//    `real_limit_min`, since the machine does not become faster with it.
//  * Connections are kept for later requests to the same host and address: as many and as long as
//    the options say. libcurl tries a second connection where a kept one turns out to be dead.
//  * TLS: certificates are checked against libcurl's built-in bundle file, which Debian sets to its
//    own (ca-certificates), read once a day. The folder of single certificates beside it is not
//    used: reading it takes 40 ms a connection. Sessions are resumed (fetch/tls_sessions.h),
//    of as many hosts as the options say.
//  * Memory: bodies go into a spool as they come, and so to disk where they are large. When all of
//    its values together exceed its `bytes_max`, all transfers but one pause; and all, while those
//    that are finished and wait elsewhere do so alone. So the bound is twice that and one body. A
//    body that cannot be kept, because the disk is full or fails, ends its fetch as kLocalFailure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/time.h"
#include "env/clock.h"
#include "env/spool.h"
#include "fetch/address_policy.h"
#include "fetch/http_client.h"

namespace meguri::fetch {

struct CurlOptions {
  AddressPolicy policy;
  std::size_t in_flight_max = 5'000;
  // Shared with others who keep bodies. Null: the client has its own, and all is in memory, up to
  // `bodies_bytes_max`.
  std::shared_ptr<env::Spool> spool = {};
  std::uint64_t bodies_bytes_max = std::uint64_t{1} << 30;
  std::size_t kept_connections_max = 4096;
  std::size_t tls_sessions_max = 2'048;  // the last of as many hosts; each takes some kilobytes
  base::Duration kept_connection_idle_max = base::Duration::seconds(30);
  base::Duration real_limit_min = base::Duration::seconds(1);
  std::string ca_file;       // PEM; empty: libcurl's own bundle
  std::string extra_ca_pem;  // certificates trusted besides, as text; for the virtual web
};

// The clock is borrowed and must live as long as the client. The first client makes the process
// ignore SIGPIPE.
base::Result<std::unique_ptr<HttpClient>> make_curl_http_client(const env::Clock& clock,
                                                                CurlOptions options);

// Why this is no proxy that can be asked; empty: it is one. Plain "socks5" is none: names would be
// resolved here, by somebody other than our Dns.
std::string_view fault_of_proxy(std::string_view url);

}  // namespace meguri::fetch
