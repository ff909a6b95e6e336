// Hostile hosts: beside its ordinary hosts a world may have some of bad habits, one each. A habit
// has a name, a sentence that says what the host does, and the bytes it does it with. The host is
// called NAME.hostile.test and stands on an address of its own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "sim/certificates.h"
#include "sim/server_address.h"

namespace meguri::sim {

struct Answer;
struct Request;

inline constexpr std::string_view kHostileZone = ".hostile.test";
inline constexpr Address kFirstHostileAddress = 0x7fc80001;  // 127.200.0.1
static_assert(kFirstHostileAddress > kLastServerAddress);

// What becomes of a connection before anything is asked.
enum class HostileDoor : std::uint8_t {
  kOpen,
  kDeaf,              // it never comes about: nobody answers
  kResets,            // as soon as it is there
  kResetsHandshake,   // at the client's first message of TLS
  kIgnoresHandshake,  // TLS never begins
};

struct HostileHabit {
  std::string_view name = {};
  std::string_view sentence = {};
  // Fills in a 200 without fields and body. Of robots.txt it hears only if `has_robots`.
  void (*answer)(const Request& request, base::Instant now, Answer* answer) = nullptr;
  bool has_robots = false;
  HostileDoor door = HostileDoor::kOpen;
  CertificateFault certificate = CertificateFault::kNone;
  // What the `count`-th look-up of its name hears, where that is not its own address alone.
  std::vector<Address> (*addresses)(Address own, std::uint64_t count) = nullptr;
  // The addresses of IPv6 that its name has besides, as text.
  std::span<const std::string_view> addresses6 = {};
};

// All that there are, by kind. Each kind is a file of its own.
std::span<const HostileHabit> hostile_habits();
std::span<const HostileHabit> hostile_wire_habits();     // slow, endless, broken and reset
std::span<const HostileHabit> hostile_content_habits();  // answers that are HTTP, and poison
std::span<const HostileHabit> hostile_place_habits();    // names, robots.txt, redirects and traps

// Those of them that a world has. Values; const calls from any thread.
class HostileWeb {
 public:
  HostileWeb() = default;  // none
  // Names of habits, or "all". Requires check().
  explicit HostileWeb(std::span<const std::string> names);
  // kInvalid: there is no such habit.
  static base::Status check(std::span<const std::string> names);

  std::span<const HostileHabit* const> habits() const { return habits_; }

  static std::string host_of(const HostileHabit& habit);
  static Address address_of(const HostileHabit& habit);

  // Null: no hostile host of this world. Names in any case, with or without a dot behind.
  const HostileHabit* of_host(std::string_view host) const;
  const HostileHabit* at(Address address) const;

  // What a look-up of its name hears: the `count`-th one, from 0.
  static std::vector<Address> addresses_of(const HostileHabit& habit, std::uint64_t count);

  static void answer(const HostileHabit& habit, const Request& request, base::Instant now,
                     Answer* answer);

  // The rules that its robots.txt, after redirects, comes to; empty: everything is allowed.
  static std::string robots_of(const HostileHabit& habit, base::Instant now);

 private:
  std::vector<const HostileHabit*> habits_;
};

}  // namespace meguri::sim
