// The wire format of DNS (RFC 1035, EDNS0 of RFC 6891): messages read and written. Pure functions
// of bytes; what they read may be anything, and costs no more than a message is long.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace meguri::sim {

inline constexpr std::size_t kDnsHeaderBytes = 12;
inline constexpr std::size_t kDnsMessageBytesMax = 65'535;
inline constexpr std::size_t kDnsUdpBytes = 512;      // what every UDP client takes
inline constexpr std::size_t kDnsNameBytesMax = 255;  // with its lengths and the root
inline constexpr std::size_t kDnsLabelBytesMax = 63;

// Types, classes, operations and outcomes that are spoken of here; others are numbers without name.
enum class DnsType : std::uint16_t {
  kA = 1,
  kNs = 2,
  kSoa = 6,
  kAaaa = 28,
  kOpt = 41,
  kIxfr = 251,
  kAxfr = 252,
  kAny = 255,
};
enum class DnsClass : std::uint16_t { kIn = 1 };
enum class DnsOpcode : std::uint8_t { kQuery = 0 };
enum class DnsRcode : std::uint16_t {
  kNoError = 0,
  kFormErr = 1,
  kServFail = 2,
  kNxDomain = 3,
  kNotImp = 4,
  kRefused = 5,
  kBadVers = 16,  // its upper bits stand in the OPT record
};

struct DnsHeader {
  std::uint16_t id = 0;
  bool is_response = false;
  DnsOpcode opcode = DnsOpcode::kQuery;
  bool is_authoritative = false;
  bool is_truncated = false;
  bool wants_recursion = false;
  std::uint8_t rcode = 0;  // its lower four bits
  std::uint16_t questions = 0;
  std::uint16_t answers = 0;
  std::uint16_t authorities = 0;
  std::uint16_t additionals = 0;
};

// Names are as on the wire but for compression: lengths and labels, ended by the root's zero, in
// the case in which they came.
struct DnsQuestion {
  std::string name;
  DnsType type = DnsType::kA;
  DnsClass klass = DnsClass::kIn;
};

struct DnsRecord {
  std::string name;
  DnsType type = DnsType::kA;
  std::uint16_t klass = 0;  // the UDP size in an OPT
  std::uint32_t ttl = 0;    // seconds; upper bits of the outcome, version and flags in an OPT
  std::string data;         // as on the wire
  std::size_t data_at = 0;  // where the data stand in the message, for the names in them
};

struct DnsMessage {
  DnsHeader header;
  std::vector<DnsQuestion> questions;
  std::vector<DnsRecord> answers;
  std::vector<DnsRecord> authorities;
  std::vector<DnsRecord> additionals;
};

// nullopt: there is no whole header.
std::optional<DnsHeader> read_dns_header(std::string_view message);

// nullopt: not the header's numbers of questions and records, or one of them is malformed. Bytes
// behind the last record are malformed too.
std::optional<DnsMessage> read_dns_message(std::string_view message);

// The name at `*at`, which moves behind it; nullopt if it is malformed. A pointer must lead to
// before where its name began and there can be 127 at most, so that every name ends.
std::optional<std::string> read_dns_name(std::string_view message, std::size_t* at);

// "www.kotamira.test": without the root's dot, in the case it has. Dots, backslashes and bytes
// that cannot be printed are written \ddd, so that different names have different texts.
std::string dns_name_text(std::string_view wire_name);

// The wire form of a text without escapes; nullopt for an empty label or one that is too long. A
// dot at the end is allowed.
std::optional<std::string> dns_name_of_text(std::string_view text);

// Appends in network byte order.
void append_u16(std::uint16_t value, std::string* out);
void append_u32(std::uint32_t value, std::string* out);

void append_dns_header(const DnsHeader& header, std::string* out);
void append_dns_question(const DnsQuestion& question, std::string* out);
// `name` is a wire name or a pointer.
void append_dns_record(std::string_view name, DnsType type, std::uint16_t klass, std::uint32_t ttl,
                       std::string_view data, std::string* out);
// A pointer to a name at `offset`. Requires offset < 2^14.
std::string dns_pointer(std::size_t offset);

}  // namespace meguri::sim
