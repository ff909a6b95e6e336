// The real Dns, on c-ares: thousands of questions in flight on one thread, by UDP, and by TCP where
// an answer does not fit.
//
//  * Only DNS is asked: neither /etc/hosts nor the search domains of the machine count, since they
//    tell of our network, not of the web.
//  * Answers tell how long they hold, within the bounds of the options. c-ares does not say how
//  long
//    a "no" holds, so that is an option.
//  * A scaled clock shortens waits for servers, though not below `real_wait_min`.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "env/clock.h"
#include "fetch/dns.h"

namespace meguri::fetch {

struct AresOptions {
  // "192.0.2.53", "192.0.2.53:5353", "[2001:db8::53]:53"; empty: those of the system's
  // resolv.conf. Where one of several fails, the next one is asked, and when all have failed, all
  // of them but silence is kServerFailure.
  std::vector<std::string> servers;
  bool wants_v6 = true;  // false: only IPv4 addresses are asked for
  // Each is two questions. Those that do not fit into the server's buffer are asked again after
  // `wait`.
  std::size_t in_flight_max = 1'000;
  base::Duration wait = base::Duration::seconds(2);  // for one server; longer at later tries
  int tries = 3;                                     // of each server
  base::Duration real_wait_min = base::Duration::from_ms(500);
  base::Duration ttl_min = base::Duration::seconds(30);
  base::Duration ttl_max = base::Duration::days(1);
  base::Duration no_such_name_ttl = base::Duration::hours(1);
  base::Duration failure_ttl = base::Duration::minutes(5);
};

// The clock is borrowed and must live as long as what is made. kInvalid names a wrong server.
base::Result<std::unique_ptr<Dns>> make_ares_dns(const env::Clock& clock, AresOptions options);

}  // namespace meguri::fetch
