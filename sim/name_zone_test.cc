#include "sim/name_zone.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "sim/server_address.h"

namespace meguri::sim {
namespace {

constexpr DnsClass kIn = DnsClass::kIn;

const Census& census() {
  static const Census one = [] {
    CensusOptions options;
    options.hosts = 4001;  // the last word has a www. alone
    options.pages = 5000;
    return Census(options);
  }();
  return one;
}

const NameZone& zone() {
  static const NameZone one(census(), {});
  return one;
}

std::string query_of(std::string_view name, DnsType type, DnsClass klass = kIn,
                     std::uint16_t id = 7) {
  DnsHeader header;
  header.id = id;
  header.wants_recursion = true;
  header.questions = 1;
  std::string bytes;
  append_dns_header(header, &bytes);
  append_dns_question({*dns_name_of_text(name), type, klass}, &bytes);
  return bytes;
}

// With an OPT behind it.
std::string with_edns(std::string query, std::uint16_t udp_bytes, std::uint32_t version = 0) {
  query[11] = static_cast<char>(query[11] + 1);
  append_dns_record(std::string_view("\0", 1), DnsType::kOpt, udp_bytes, version << 16U, {},
                    &query);
  return query;
}

DnsMessage ask(const NameZone& zone, const std::string& query, bool is_udp = true) {
  const auto read = read_dns_message(zone.answer(query, is_udp).bytes);
  if (read) return *read;
  ADD_FAILURE() << "no answer that can be read";
  return {};
}

std::vector<std::string> addresses_in(const DnsMessage& message) {
  std::vector<std::string> all;
  for (const DnsRecord& record : message.answers) {
    EXPECT_EQ(record.type, DnsType::kA);
    std::uint32_t address = 0;
    for (const char c : record.data) address = address << 8U | static_cast<unsigned char>(c);
    all.push_back(address_text(address));
  }
  return all;
}

std::vector<std::string> addresses_of(HostNumber host) {
  std::vector<std::string> all;
  for (const ServerNumber server : census().servers_of(host)) {
    all.push_back(address_text(address_of(server)));
  }
  return all;
}

HostNumber host_with_servers(std::size_t count) {
  for (HostNumber host = 0; host < census().hosts(); ++host) {
    if (census().servers_of(host).size() == count) return host;
  }
  ADD_FAILURE() << "no such host";
  return 0;
}

TEST(ServerAddress, NumbersAndAddressesMeet) {
  EXPECT_EQ(address_text(address_of(0)), "127.1.0.1");
  EXPECT_EQ(address_text(address_of(255)), "127.1.1.0");
  for (const ServerNumber server : {ServerNumber{0}, ServerNumber{70'000}, ServerNumber{7'999'999}})
    EXPECT_EQ(server_of(address_of(server)), server);
  EXPECT_FALSE(server_of(0x7f010000));
  EXPECT_FALSE(server_of(0x7f000001));
  EXPECT_FALSE(server_of(0x7fffffff));
}

TEST(NameZone, AllServersOfAHostAreGivenInTurn) {
  for (const std::size_t count : {1U, 2U, 3U, 4U}) {
    const HostNumber host = host_with_servers(count);
    std::set<std::string> first;
    for (std::uint16_t id = 0; id < 8; ++id) {
      const auto message = ask(zone(), query_of(census().name_of(host), DnsType::kA, kIn, id));
      EXPECT_EQ(message.header.id, id);
      EXPECT_TRUE(message.header.is_authoritative);
      EXPECT_TRUE(message.header.wants_recursion);
      EXPECT_EQ(message.header.rcode, 0);
      EXPECT_EQ(message.answers[0].ttl, 300U);
      auto addresses = addresses_in(message);
      auto expected = addresses_of(host);
      first.insert(addresses.front());
      std::ranges::sort(addresses);
      std::ranges::sort(expected);
      EXPECT_EQ(addresses, expected);
    }
    EXPECT_EQ(first.size(), count);
  }
  EXPECT_EQ(addresses_in(ask(zone(), query_of(census().name_of(5), DnsType::kAny))).size(),
            census().servers_of(5).size());
}

TEST(NameZone, AnswersKeepTheCaseOfTheQuestion) {
  const std::string name = census().name_of(0);
  std::string mixed = name;
  for (std::size_t i = 0; i < mixed.size(); i += 2) {
    if (mixed[i] >= 'a') mixed[i] = static_cast<char>(mixed[i] - 32);
  }
  const DnsMessage message = ask(zone(), query_of(mixed, DnsType::kA));
  EXPECT_EQ(dns_name_text(message.questions[0].name), mixed);
  EXPECT_EQ(dns_name_text(message.answers[0].name), mixed);
  EXPECT_EQ(addresses_in(message).size(), census().servers_of(0).size());
}

TEST(NameZone, HostileNamesMayHaveAddressesOfIpv6Alone) {
  const std::vector<std::string> names = {"private-address6"};
  const NameZone hostile(census(), {.hostile = HostileWeb(names)});
  const std::string name = "private-address6.hostile.test";
  const auto none = read_dns_message(hostile.answer(query_of(name, DnsType::kA), true).bytes);
  EXPECT_TRUE(none->answers.empty());
  const auto some = read_dns_message(hostile.answer(query_of(name, DnsType::kAaaa), true).bytes);
  ASSERT_EQ(some->answers.size(), 5U);
  EXPECT_EQ(some->answers[0].type, DnsType::kAaaa);
  EXPECT_EQ(some->answers[0].data, std::string(15, '\0') + '\1');
}

TEST(NameZone, OtherTypesOfANameThatIsThereHaveNoData) {
  for (const DnsType type : {DnsType::kAaaa, DnsType::kNs, DnsType{16}, DnsType{65}}) {
    const NameAnswer answer = zone().answer(query_of(census().name_of(0), type), true);
    EXPECT_EQ(answer.outcome, NameOutcome::kNoData);
    EXPECT_EQ(answer.type, type);
    const auto message = read_dns_message(answer.bytes);
    ASSERT_TRUE(message);
    EXPECT_EQ(message->header.rcode, 0);
    EXPECT_TRUE(message->answers.empty());
    ASSERT_EQ(message->authorities.size(), 1U);
    EXPECT_EQ(message->authorities[0].type, DnsType::kSoa);
    EXPECT_EQ(message->authorities[0].ttl, 60U);
    EXPECT_EQ(dns_name_text(message->authorities[0].name), "test");
  }
}

TEST(NameZone, UnknownNamesDoNotExist) {
  for (const std::string_view name : {"nobody.test", "a.b.c.test", "ftp.bababa.test"}) {
    const DnsMessage message = ask(zone(), query_of(name, DnsType::kA));
    EXPECT_EQ(message.header.rcode, static_cast<int>(DnsRcode::kNxDomain)) << name;
    ASSERT_EQ(message.authorities.size(), 1U);
    const DnsRecord& soa = message.authorities[0];
    EXPECT_EQ(soa.type, DnsType::kSoa);
    EXPECT_EQ(soa.data.substr(soa.data.size() - 4), std::string("\0\0\0\x3c", 4));
  }
}

TEST(NameZone, NamesAboveOthersExist) {
  const HostNumber last = census().hosts() - 1;
  const std::string www = census().name_of(last);
  ASSERT_TRUE(www.starts_with("www."));
  const DnsMessage message = ask(zone(), query_of(www.substr(4), DnsType::kA));
  EXPECT_EQ(message.header.rcode, 0);
  EXPECT_TRUE(message.answers.empty());
}

TEST(NameZone, TheZoneKnowsItself) {
  const DnsMessage soa = ask(zone(), query_of("TEST", DnsType::kSoa));
  ASSERT_EQ(soa.answers.size(), 1U);
  const std::string bytes = zone().answer(query_of("TEST", DnsType::kSoa), true).bytes;
  std::size_t at = soa.answers[0].data_at;
  EXPECT_EQ(dns_name_text(read_dns_name(bytes, &at).value_or("")), "ns.TEST");
  EXPECT_EQ(dns_name_text(read_dns_name(bytes, &at).value_or("")), "hostmaster.TEST");
  EXPECT_EQ(at + 20, soa.answers[0].data_at + soa.answers[0].data.size());

  const DnsMessage ns = ask(zone(), query_of("test", DnsType::kNs));
  ASSERT_EQ(ns.answers.size(), 1U);
  ASSERT_EQ(ns.additionals.size(), 1U);
  EXPECT_EQ(dns_name_text(ns.additionals[0].name), "ns.test");
  EXPECT_EQ(ask(zone(), query_of("test", DnsType::kAny)).answers.size(), 2U);
  EXPECT_EQ(ask(zone(), query_of("test", DnsType::kA)).authorities.size(), 1U);
  EXPECT_EQ(addresses_in(ask(zone(), query_of("ns.test", DnsType::kA))),
            std::vector<std::string>{"127.0.0.1"});
}

TEST(NameZone, WhatIsNotOursIsRefused) {
  const auto rcode = [](const std::string& query) {
    const DnsMessage message = ask(zone(), query);
    EXPECT_TRUE(message.answers.empty() && message.authorities.empty());
    return DnsRcode{message.header.rcode};
  };
  EXPECT_EQ(rcode(query_of("example.com", DnsType::kA)), DnsRcode::kRefused);
  EXPECT_EQ(rcode(query_of("", DnsType::kNs)), DnsRcode::kRefused);
  EXPECT_EQ(rcode(query_of("mytest", DnsType::kA)), DnsRcode::kRefused);
  EXPECT_EQ(rcode(query_of(census().name_of(0), DnsType::kA, DnsClass{3})), DnsRcode::kRefused);
  EXPECT_EQ(rcode(query_of("test", DnsType::kAxfr)), DnsRcode::kRefused);
}

TEST(NameZone, RubbishIsAnsweredAsSuchOrNotAtAll) {
  const std::string good = query_of(census().name_of(0), DnsType::kA);
  const auto outcome = [](const std::string& query) { return zone().answer(query, true).outcome; };
  for (std::size_t length = 0; length < good.size(); ++length) {
    const std::string cut = good.substr(0, length);
    EXPECT_EQ(outcome(cut), length < 12 ? NameOutcome::kDropped : NameOutcome::kMalformed);
  }
  std::string none = good.substr(0, 12);
  none[5] = 0;
  EXPECT_EQ(ask(zone(), none).header.rcode, 1);
  std::string two = good + good.substr(12);
  two[5] = 2;
  EXPECT_EQ(ask(zone(), two).header.rcode, 1);
  std::string notify = good;
  notify[2] = 0x20;
  EXPECT_EQ(ask(zone(), notify).header.rcode, 4);
  EXPECT_EQ(ask(zone(), notify).header.opcode, DnsOpcode{4});
  std::string response = good;
  response[2] = static_cast<char>(0x80);
  EXPECT_EQ(outcome(response), NameOutcome::kDropped);
  EXPECT_EQ(outcome(good), NameOutcome::kAddresses);
}

TEST(NameZone, EdnsIsUnderstood) {
  const std::string plain = query_of(census().name_of(0), DnsType::kA);
  EXPECT_TRUE(ask(zone(), plain).additionals.empty());
  const DnsMessage message = ask(zone(), with_edns(plain, 4096));
  ASSERT_EQ(message.additionals.size(), 1U);
  EXPECT_EQ(message.additionals[0].type, DnsType::kOpt);
  EXPECT_EQ(message.additionals[0].klass, 1232);
  EXPECT_EQ(message.additionals[0].ttl, 0U);
  EXPECT_FALSE(message.answers.empty());

  const DnsMessage newer = ask(zone(), with_edns(plain, 4096, 1));
  EXPECT_EQ(newer.header.rcode, 0);
  ASSERT_EQ(newer.additionals.size(), 1U);
  EXPECT_EQ(newer.additionals[0].ttl >> 24U, 1U);  // 16, with the header's four bits
  EXPECT_TRUE(newer.answers.empty());

  EXPECT_EQ(ask(zone(), with_edns(with_edns(plain, 4096), 4096)).header.rcode, 1);
}

TEST(NameZone, AnswersTooLongForUdpAreCut) {
  NameZoneOptions options;
  options.udp_bytes_max = 80;
  const NameZone narrow(census(), options);
  const HostNumber host = host_with_servers(4);
  const std::string query = with_edns(query_of(census().name_of(host), DnsType::kA), 4096);
  const DnsMessage cut = ask(narrow, query, true);
  EXPECT_TRUE(cut.header.is_truncated);
  EXPECT_TRUE(cut.answers.empty());
  EXPECT_EQ(cut.questions.size(), 1U);
  EXPECT_EQ(cut.additionals.size(), 1U);
  const DnsMessage whole = ask(narrow, query, false);
  EXPECT_FALSE(whole.header.is_truncated);
  EXPECT_EQ(whole.answers.size(), 4U);
}

}  // namespace
}  // namespace meguri::sim
