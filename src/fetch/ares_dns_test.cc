#include "fetch/ares_dns.h"

#include <gtest/gtest.h>

#include <array>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <thread>

#include "env/clock.h"
#include "fetch/testing.h"

namespace meguri::fetch {
namespace {

using base::Duration;

constexpr std::uint16_t kA = 1;
constexpr std::uint16_t kAaaa = 28;

std::string u16(unsigned value) {
  return {static_cast<char>(value >> 8 & 0xff), static_cast<char>(value & 0xff)};
}

// What a name server says of one name.
struct Record {
  int rcode = 0;
  std::vector<std::string> v4 = {};
  std::vector<std::string> v6 = {};
  std::uint32_t ttl = 300;
  bool is_silent = false;
  bool is_cut_by_udp = false;
};

// A name server on UDP and TCP at one port of 127.0.0.1.
class NameServer {
 public:
  explicit NameServer(std::map<std::string, Record> records) : records_(std::move(records)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    auto* const generic = reinterpret_cast<sockaddr*>(&address);
    socklen_t size = sizeof(address);
    // The port that UDP got may be taken for TCP.
    for (int i = 0; i < 100; ++i) {
      address.sin_port = 0;
      udp_ = ::socket(AF_INET, SOCK_DGRAM, 0);
      tcp_ = ::socket(AF_INET, SOCK_STREAM, 0);
      CHECK(::bind(udp_, generic, size) == 0 && ::getsockname(udp_, generic, &size) == 0);
      if (::bind(tcp_, generic, size) == 0 && ::listen(tcp_, 10) == 0) break;
      ::close(udp_);
      ::close(tcp_);
    }
    port_ = ntohs(address.sin_port);
    udp_thread_ = std::thread([this] { serve_udp(); });
    tcp_thread_ = std::thread([this] { serve_tcp(); });
  }
  NameServer(const NameServer&) = delete;
  NameServer& operator=(const NameServer&) = delete;
  ~NameServer() {
    has_ended_ = true;
    ::shutdown(tcp_, SHUT_RDWR);
    tcp_thread_.join();
    udp_thread_.join();
    ::close(udp_);
    ::close(tcp_);
  }

  std::string text() const { return "127.0.0.1:" + std::to_string(port_); }
  int tcp_questions() const { return tcp_questions_.load(); }
  int questions() const { return questions_.load(); }

 private:
  void serve_udp() {
    std::array<char, 2048> buffer{};
    while (!has_ended_) {
      pollfd waiting{.fd = udp_, .events = POLLIN, .revents = 0};
      if (::poll(&waiting, 1, 20) != 1) continue;
      sockaddr_storage from{};
      socklen_t size = sizeof(from);
      auto* const generic = reinterpret_cast<sockaddr*>(&from);
      const ssize_t count = ::recvfrom(udp_, buffer.data(), buffer.size(), 0, generic, &size);
      if (count < 12) continue;
      ++questions_;
      const auto answer = answer_to({buffer.data(), static_cast<std::size_t>(count)}, false);
      if (answer) ::sendto(udp_, answer->data(), answer->size(), 0, generic, size);
    }
  }

  void serve_tcp() {
    while (true) {
      const int handle = ::accept(tcp_, nullptr, nullptr);
      if (handle < 0) return;
      std::array<char, 2> length{};
      while (::recv(handle, length.data(), 2, MSG_WAITALL) == 2) {
        std::string question(
            static_cast<unsigned char>(length[0]) * 256U + static_cast<unsigned char>(length[1]),
            '\0');
        if (::recv(handle, question.data(), question.size(), MSG_WAITALL) <= 0) break;
        ++tcp_questions_;
        const auto answer = answer_to(question, true);
        if (!answer) break;
        const std::string bytes = u16(static_cast<unsigned>(answer->size())) + *answer;
        ::send(handle, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      }
      ::close(handle);
    }
  }

  std::optional<std::string> answer_to(std::string_view question, bool is_tcp) const {
    std::string name;
    std::size_t at = 12;
    while (at < question.size() && question[at] != 0) {
      const auto label = std::size_t{static_cast<unsigned char>(question[at])};
      name += (name.empty() ? "" : ".") + std::string(question.substr(at + 1, label));
      at += label + 1;
    }
    const auto type = static_cast<unsigned char>(question[at + 2]);
    const std::string_view asked = question.substr(12, at + 5 - 12);
    const auto found = records_.find(name);
    const Record record = found == records_.end() ? Record{.rcode = 3} : found->second;
    if (record.is_silent) return std::nullopt;
    const bool is_cut = record.is_cut_by_udp && !is_tcp;
    std::string records;
    unsigned count = 0;
    for (const std::string& text : type == kA ? record.v4 : type == kAaaa ? record.v6 : none_) {
      if (is_cut) break;
      const IpAddress address = *IpAddress::parse(text);
      const std::size_t size = address.is_v6() ? 16 : 4;
      records += "\xc0\x0c" + u16(type) + u16(1) + u16(record.ttl >> 16) +
                 u16(record.ttl & 0xffff) + u16(static_cast<unsigned>(size)) +
                 std::string(reinterpret_cast<const char*>(address.bytes().data()), size);
      ++count;
    }
    const unsigned flags = 0x8180U | (is_cut ? 0x200U : 0U) | static_cast<unsigned>(record.rcode);
    return std::string(question.substr(0, 2)) + u16(flags) + u16(1) + u16(count) + u16(0) + u16(0) +
           std::string(asked) + records;
  }

  const std::map<std::string, Record> records_;
  const std::vector<std::string> none_;
  int udp_ = -1;
  int tcp_ = -1;
  std::uint16_t port_ = 0;
  std::atomic<bool> has_ended_ = false;
  std::atomic<int> questions_ = 0;
  std::atomic<int> tcp_questions_ = 0;
  std::thread udp_thread_;
  std::thread tcp_thread_;
};

const env::RealClock real_clock;

std::unique_ptr<Dns> make_dns(AresOptions options) {
  auto dns = make_ares_dns(real_clock, std::move(options));
  EXPECT_TRUE(dns) << dns.error().message();
  return *std::move(dns);
}

AresOptions options_for(const NameServer& server) {
  AresOptions options;
  options.servers = {server.text()};
  return options;
}

Resolved resolve(Dns& dns, std::string_view name) {
  dns.start(name, 5);
  return std::move(take_results(dns, 1).front());
}

std::vector<IpAddress> addresses(std::initializer_list<const char*> texts) {
  std::vector<IpAddress> list;
  for (const char* text : texts) list.push_back(*IpAddress::parse(text));
  return list;
}

TEST(AresDns, FindsAddressesAndHowLongTheyHold) {
  const NameServer server(
      {{"www.example.test",
        {.v4 = {"192.0.2.9", "192.0.2.1", "192.0.2.9"}, .v6 = {"2001:db8::1"}, .ttl = 1234}},
       {"short.example.test", {.v4 = {"192.0.2.2"}, .ttl = 1}},
       {"long.example.test", {.v4 = {"192.0.2.3"}, .ttl = 10'000'000}}});
  const auto dns = make_dns(options_for(server));
  const Resolved found = resolve(*dns, "www.example.test");
  EXPECT_EQ(name_of(found.outcome), "found") << found.error;
  EXPECT_EQ(found.tag, 5U);
  EXPECT_EQ(found.name, "www.example.test");
  EXPECT_EQ(found.addresses, addresses({"192.0.2.9", "192.0.2.1", "2001:db8::1"}));
  EXPECT_EQ(found.ttl, Duration::seconds(1234));
  EXPECT_EQ(found.error, "");
  EXPECT_EQ(resolve(*dns, "short.example.test").ttl, Duration::seconds(30));
  EXPECT_EQ(resolve(*dns, "long.example.test").ttl, Duration::days(1));
}

TEST(AresDns, AsksOnlyForIpv4IfWanted) {
  const NameServer server({{"www.example.test", {.v4 = {"192.0.2.1"}, .v6 = {"2001:db8::1"}}}});
  AresOptions options = options_for(server);
  options.wants_v6 = false;
  const auto dns = make_dns(options);
  EXPECT_EQ(resolve(*dns, "www.example.test").addresses, addresses({"192.0.2.1"}));
  EXPECT_EQ(server.questions(), 1);
}

TEST(AresDns, NamesEveryFailure) {
  const NameServer server({{"empty.example.test", {}},
                           {"broken.example.test", {.rcode = 2}},
                           {"refused.example.test", {.rcode = 5}}});
  const auto dns = make_dns(options_for(server));
  const Resolved missing = resolve(*dns, "missing.example.test");
  EXPECT_EQ(name_of(missing.outcome), "no_such_name");
  EXPECT_EQ(missing.ttl, Duration::hours(1));
  EXPECT_NE(missing.error, "");
  EXPECT_EQ(name_of(resolve(*dns, "empty.example.test").outcome), "no_address");
  const Resolved broken = resolve(*dns, "broken.example.test");
  EXPECT_EQ(name_of(broken.outcome), "server_failure");
  EXPECT_EQ(broken.ttl, Duration::minutes(5));
  EXPECT_EQ(name_of(resolve(*dns, "refused.example.test").outcome), "refused");
}

TEST(AresDns, FailsWhenAllServersHaveFailed) {
  const NameServer first({{"broken.example.test", {.rcode = 2}}});
  const NameServer second({{"broken.example.test", {.rcode = 5}}});
  AresOptions options;
  options.servers = {first.text(), second.text()};
  const auto dns = make_dns(options);
  const DnsOutcome outcome = resolve(*dns, "broken.example.test").outcome;
  EXPECT_TRUE(outcome == DnsOutcome::kServerFailure || outcome == DnsOutcome::kRefused);
  EXPECT_GE(first.questions(), 1);
  EXPECT_GE(second.questions(), 1);
}

TEST(AresDns, GivesUpOnSilentServers) {
  const NameServer server({{"silent.example.test", {.is_silent = true}}});
  AresOptions options = options_for(server);
  options.wait = Duration::from_ms(50);
  options.tries = 2;
  const auto dns = make_dns(options);
  const Resolved resolved = resolve(*dns, "silent.example.test");
  EXPECT_EQ(name_of(resolved.outcome), "timeout") << resolved.error;
  EXPECT_GE(server.questions(), 2);
}

TEST(AresDns, AsksByTcpWhereTheAnswerDoesNotFit) {
  const NameServer server(
      {{"large.example.test", {.v4 = {"192.0.2.1", "192.0.2.2"}, .is_cut_by_udp = true}}});
  const auto dns = make_dns(options_for(server));
  const Resolved resolved = resolve(*dns, "large.example.test");
  EXPECT_EQ(resolved.addresses, addresses({"192.0.2.1", "192.0.2.2"})) << resolved.error;
  EXPECT_GE(server.tcp_questions(), 1);
}

TEST(AresDns, AsksTheNextServerWhenOneIsDead) {
  const NameServer dead({{"www.example.test", {.is_silent = true}}});
  const NameServer alive({{"www.example.test", {.v4 = {"192.0.2.1"}}}});
  AresOptions options;
  options.servers = {dead.text(), alive.text()};
  options.wait = Duration::from_ms(100);
  const auto dns = make_dns(options);
  const Resolved resolved = resolve(*dns, "www.example.test");
  EXPECT_EQ(resolved.addresses, addresses({"192.0.2.1"})) << resolved.error;
  EXPECT_GE(dead.questions(), 1);
}

TEST(AresDns, AnswersItselfWhatNeedsNoServer) {
  const NameServer server({{"localhost", {.v4 = {"127.0.0.1"}}}});
  const auto dns = make_dns(options_for(server));
  EXPECT_EQ(resolve(*dns, "192.0.2.7").addresses, addresses({"192.0.2.7"}));
  EXPECT_EQ(resolve(*dns, "[2001:db8::7]").addresses, addresses({"2001:db8::7"}));
  for (const std::string& name :
       {std::string(), std::string("a..b"), std::string(".a"), std::string(64, 'a') + ".test",
        std::string("localhost"), std::string("A.LOCALHOST."), std::string("a b.test"),
        std::string("a\0b.test", 8)}) {
    EXPECT_EQ(name_of(resolve(*dns, name).outcome), "no_such_name") << name;
  }
  std::string long_name;
  while (long_name.size() < 254) long_name += "label.";
  EXPECT_EQ(name_of(resolve(*dns, long_name + "test").outcome), "no_such_name");
  EXPECT_EQ(server.questions(), 0);
}

TEST(AresDns, CancelsEverything) {
  const NameServer server({{"silent.example.test", {.is_silent = true}}});
  const auto dns = make_dns(options_for(server));
  for (int i = 0; i < 10; ++i) dns->start("silent.example.test", 1);
  EXPECT_EQ(dns->in_flight(), 10U);
  dns->cancel_all("the crawl ends");
  const auto results = dns->take();
  ASSERT_EQ(results.size(), 10U);
  for (const Resolved& resolved : results) {
    EXPECT_EQ(name_of(resolved.outcome), "cancelled");
    EXPECT_EQ(resolved.error, "the crawl ends");
  }
  dns->start("silent.example.test", 1);  // may end with one in flight
}

TEST(AresDns, RefusesServersThatAreNone) {
  for (const char* server : {"", "name.example.test", "127.0.0.1:x", "127.0.0.1,127.0.0.2"}) {
    AresOptions options;
    options.servers = {server};
    const auto dns = make_ares_dns(real_clock, options);
    ASSERT_FALSE(dns) << server;
    EXPECT_EQ(dns.error().code(), base::ErrorCode::kInvalid);
  }
}

TEST(AresDnsThreads, AnswersHundredsAtOnce) {
  std::map<std::string, Record> records;
  for (int i = 0; i < 500; ++i) {
    records["host" + std::to_string(i) + ".example.test"] = {
        .v4 = {"192.0.2." + std::to_string(i % 250)}};
  }
  const NameServer server(records);
  AresOptions options = options_for(server);
  const auto dns = make_dns(options);
  // More at once than this would not fit into the buffer of the server's socket.
  constexpr std::uint64_t kAtOnce = 100;
  std::set<std::uint64_t> tags;
  for (std::uint64_t i = 0; i < 500; ++i) {
    dns->start("host" + std::to_string(i) + ".example.test", i);
    if (i % kAtOnce != kAtOnce - 1) continue;
    for (const Resolved& resolved : take_results(*dns, kAtOnce)) {
      EXPECT_EQ(resolved.addresses,
                addresses({("192.0.2." + std::to_string(resolved.tag % 250)).c_str()}))
          << resolved.error;
      tags.insert(resolved.tag);
    }
  }
  EXPECT_EQ(tags.size(), 500U);
}

TEST(AresDnsThreads, AnotherThreadEndsAWait) {
  const NameServer server({});
  const auto dns = make_dns(options_for(server));
  std::thread other([&] { dns->wake(); });
  dns->poll(Duration::hours(1));  // would make the test time out
  other.join();
}

}  // namespace
}  // namespace meguri::fetch
