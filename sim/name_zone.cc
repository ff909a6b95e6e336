#include "sim/name_zone.h"

#include <algorithm>
#include <utility>

#include "fetch/address.h"
#include "sim/server_address.h"
#include "web/ascii.h"

namespace meguri::sim {
namespace {

constexpr auto kIn = static_cast<std::uint16_t>(DnsClass::kIn);
// The zone at the end of a name on the wire: a length, four letters, the root.
constexpr std::size_t kZoneBytes = 6;
constexpr std::string_view kZone = "test";
constexpr std::string_view kNameServer = "ns.test";

constexpr std::uint32_t kSoaSerial = 1;
constexpr std::uint32_t kSoaRefresh = 3600;
constexpr std::uint32_t kSoaRetry = 600;
constexpr std::uint32_t kSoaExpire = 86'400;

std::string address_data(std::uint32_t address) {
  std::string data;
  append_u32(address, &data);
  return data;
}

// Of an address that is one.
std::string address6_data(std::string_view text) {
  const auto bytes = fetch::IpAddress::parse(text)->bytes();
  return {bytes.begin(), bytes.end()};
}

struct Edns {
  std::size_t udp_bytes = kDnsUdpBytes;
  unsigned version = 0;
};

// The client's OPT: nothing is in it if there is none. Returns false if it must not be so.
bool read_edns(const DnsMessage& query, std::optional<Edns>* edns) {
  for (const DnsRecord& record : query.additionals) {
    if (record.type != DnsType::kOpt) continue;
    if (*edns || record.name != std::string_view("\0", 1)) return false;
    *edns = Edns{std::max<std::size_t>(record.klass, kDnsUdpBytes), record.ttl >> 16U & 0xffU};
  }
  return true;
}

}  // namespace

// What is going to be written.
struct NameZone::Reply {
  DnsHeader header;
  std::optional<DnsQuestion> question = std::nullopt;
  std::optional<Edns> edns = std::nullopt;
  DnsRcode rcode = DnsRcode::kNoError;
  NameOutcome outcome = NameOutcome::kDropped;
  std::string answers = {};
  std::string authorities = {};
  std::string additionals = {};

  void set(DnsRcode code, NameOutcome what) {
    rcode = code;
    outcome = what;
  }
  void add_answer(DnsType type, std::uint32_t ttl_seconds, std::string_view data) {
    append_dns_record(dns_pointer(kDnsHeaderBytes), type, kIn, ttl_seconds, data, &answers);
    ++header.answers;
  }
  // Where "test" stands in the question. Requires a name under it.
  std::string zone_pointer() const {
    return dns_pointer(kDnsHeaderBytes + question->name.size() - kZoneBytes);
  }
};

std::vector<std::uint32_t> NameZone::addresses_for(HostNumber host, std::uint16_t id) const {
  std::vector<std::uint32_t> addresses;
  for (const ServerNumber server : census_.servers_of(host)) {
    addresses.push_back(address_of(server));
  }
  const auto first = static_cast<std::ptrdiff_t>(id % addresses.size());
  std::ranges::rotate(addresses, addresses.begin() + first);
  return addresses;
}

NameAnswer NameZone::answer(std::string_view query, bool is_udp) const {
  const auto header = read_dns_header(query);
  if (!header || header->is_response) return {};
  Reply reply;
  reply.header.id = header->id;
  reply.header.is_response = true;
  reply.header.opcode = header->opcode;
  reply.header.wants_recursion = header->wants_recursion;
  if (header->opcode != DnsOpcode::kQuery) {
    reply.set(DnsRcode::kNotImp, NameOutcome::kNotImplemented);
    return written(reply, is_udp);
  }
  const auto message = read_dns_message(query);
  if (!message || message->questions.size() != 1 || !read_edns(*message, &reply.edns)) {
    reply.edns.reset();
    reply.set(DnsRcode::kFormErr, NameOutcome::kMalformed);
    return written(reply, is_udp);
  }
  reply.question = message->questions.front();
  if (reply.edns && reply.edns->version != 0) {
    reply.set(DnsRcode::kBadVers, NameOutcome::kMalformed);
  } else {
    decide(*reply.question, &reply);
  }
  return written(reply, is_udp);
}

void NameZone::decide(const DnsQuestion& question, Reply* reply) const {
  const std::string name = web::lower_copy(dns_name_text(question.name));
  const bool is_ours = name == kZone || name.ends_with(".test");
  if (!is_ours || question.klass != DnsClass::kIn || question.type == DnsType::kAxfr ||
      question.type == DnsType::kIxfr) {
    return reply->set(DnsRcode::kRefused, NameOutcome::kRefused);
  }
  reply->header.is_authoritative = true;
  if (name == kZone) return decide_zone(question, reply);
  const bool wants_address = question.type == DnsType::kA || question.type == DnsType::kAny;
  if (name == kNameServer) {
    if (!wants_address) return set_no_data(NameOutcome::kNoData, reply);
    reply->set(DnsRcode::kNoError, NameOutcome::kZone);
    return reply->add_answer(DnsType::kA, options_.ttl_seconds,
                             address_data(options_.server_address));
  }
  if (const HostileHabit* habit = options_.hostile.of_host(name)) {
    return decide_hostile(question, *habit, reply);
  }
  if (const auto host = census_.host_of_name(name)) return decide_host(question, *host, reply);
  // A name below which there are others exists, though nobody has it (RFC 8020). Of names with the
  // same word, "www." has the smallest number.
  if (census_.host_of_name("www." + name)) return set_no_data(NameOutcome::kNoData, reply);
  set_no_data(NameOutcome::kUnknown, reply);
}

void NameZone::decide_host(const DnsQuestion& question, HostNumber host, Reply* reply) const {
  if (question.type != DnsType::kA && question.type != DnsType::kAny) {
    return set_no_data(NameOutcome::kNoData, reply);
  }
  reply->set(DnsRcode::kNoError, NameOutcome::kAddresses);
  for (const std::uint32_t address : addresses_for(host, reply->header.id)) {
    reply->add_answer(DnsType::kA, options_.ttl_seconds, address_data(address));
  }
}

void NameZone::decide_hostile(const DnsQuestion& question, const HostileHabit& habit,
                              Reply* reply) const {
  const bool wants_any = question.type == DnsType::kAny;
  if (wants_any || question.type == DnsType::kA) {
    const std::uint64_t count = habit.addresses == nullptr ? 0 : hostile_count_.fetch_add(1);
    for (const Address address : HostileWeb::addresses_of(habit, count)) {
      reply->add_answer(DnsType::kA, 0, address_data(address));
    }
  }
  if (wants_any || question.type == DnsType::kAaaa) {
    for (const std::string_view text : habit.addresses6) {
      reply->add_answer(DnsType::kAaaa, 0, address6_data(text));
    }
  }
  if (reply->header.answers == 0) return set_no_data(NameOutcome::kNoData, reply);
  reply->set(DnsRcode::kNoError, NameOutcome::kAddresses);
}

void NameZone::decide_zone(const DnsQuestion& question, Reply* reply) const {
  const bool any = question.type == DnsType::kAny;
  if (!any && question.type != DnsType::kSoa && question.type != DnsType::kNs) {
    return set_no_data(NameOutcome::kNoData, reply);
  }
  reply->set(DnsRcode::kNoError, NameOutcome::kZone);
  if (any || question.type == DnsType::kSoa) {
    add_soa(options_.ttl_seconds, &reply->answers, &reply->header.answers, *reply);
  }
  if (any || question.type == DnsType::kNs) {
    const std::string server = std::string("\2ns", 3) + reply->zone_pointer();
    reply->add_answer(DnsType::kNs, options_.ttl_seconds, server);
    append_dns_record(server, DnsType::kA, kIn, options_.ttl_seconds,
                      address_data(options_.server_address), &reply->additionals);
    ++reply->header.additionals;
  }
}

void NameZone::add_soa(std::uint32_t ttl_seconds, std::string* records, std::uint16_t* count,
                       const Reply& reply) const {
  std::string data = std::string("\2ns", 3) + reply.zone_pointer();
  data.append("\12hostmaster", 11).append(reply.zone_pointer());
  append_u32(kSoaSerial, &data);
  append_u32(kSoaRefresh, &data);
  append_u32(kSoaRetry, &data);
  append_u32(kSoaExpire, &data);
  append_u32(options_.negative_ttl_seconds, &data);
  append_dns_record(reply.zone_pointer(), DnsType::kSoa, kIn, ttl_seconds, data, records);
  ++*count;
}

void NameZone::set_no_data(NameOutcome outcome, Reply* reply) const {
  reply->set(outcome == NameOutcome::kUnknown ? DnsRcode::kNxDomain : DnsRcode::kNoError, outcome);
  add_soa(options_.negative_ttl_seconds, &reply->authorities, &reply->header.authorities, *reply);
}

NameAnswer NameZone::written(const Reply& reply, bool is_udp) const {
  DnsHeader header = reply.header;
  const auto code = static_cast<unsigned>(reply.rcode);
  header.rcode = static_cast<std::uint8_t>(code & 0xfU);
  std::string question;
  if (reply.question) {
    append_dns_question(*reply.question, &question);
    header.questions = 1;
  }
  std::string opt;
  if (reply.edns) {
    append_dns_record(std::string_view("\0", 1), DnsType::kOpt,
                      static_cast<std::uint16_t>(
                          std::clamp<std::size_t>(options_.udp_bytes_max, kDnsUdpBytes, 0xffff)),
                      static_cast<std::uint32_t>(code >> 4U) << 24U, {}, &opt);
    ++header.additionals;
  }
  const std::size_t client_bytes = reply.edns ? reply.edns->udp_bytes : kDnsUdpBytes;
  const std::size_t bytes = kDnsHeaderBytes + question.size() + reply.answers.size() +
                            reply.authorities.size() + reply.additionals.size() + opt.size();
  NameAnswer answer;
  answer.outcome = reply.outcome;
  if (reply.question) answer.type = reply.question->type;
  answer.is_truncated = is_udp && bytes > std::min(client_bytes, options_.udp_bytes_max);
  if (answer.is_truncated) {
    header.is_truncated = true;
    header.answers = 0;
    header.authorities = 0;
    header.additionals = reply.edns ? 1 : 0;
    append_dns_header(header, &answer.bytes);
    answer.bytes.append(question).append(opt);
    return answer;
  }
  append_dns_header(header, &answer.bytes);
  answer.bytes.append(question).append(reply.answers).append(reply.authorities);
  answer.bytes.append(reply.additionals).append(opt);
  return answer;
}

}  // namespace meguri::sim
