#include "sim/name_server.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <memory>
#include <string>
#include <vector>

namespace meguri::sim {
namespace {

// A client's socket, which waits ten seconds at most.
class Client {
 public:
  Client(int type, std::uint16_t port) : fd_(::socket(AF_INET, type | SOCK_CLOEXEC, 0)) {
    const timeval limit = {.tv_sec = 10, .tv_usec = 0};
    EXPECT_EQ(::setsockopt(fd_, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit)), 0);
    sockaddr_in place = {};
    place.sin_family = AF_INET;
    place.sin_port = htons(port);
    place.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(::connect(fd_, reinterpret_cast<const sockaddr*>(&place), sizeof(place)), 0);
  }
  ~Client() { ::close(fd_); }
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  void send(std::string_view bytes) const {
    const ssize_t sent = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    EXPECT_EQ(sent, static_cast<ssize_t>(bytes.size()));
  }
  void end() const { ::shutdown(fd_, SHUT_WR); }

  std::string datagram() const {
    std::string bytes(65'536, '\0');
    const ssize_t got = ::recv(fd_, bytes.data(), bytes.size(), 0);
    EXPECT_GE(got, 0) << "no answer";
    bytes.resize(got < 0 ? 0 : static_cast<std::size_t>(got));
    return bytes;
  }
  // Exactly `count` bytes, or what came before the end.
  std::string bytes(std::size_t count) const {
    std::string all(count, '\0');
    std::size_t have = 0;
    while (have < count) {
      const ssize_t got = ::recv(fd_, all.data() + have, count - have, 0);
      EXPECT_GE(got, 0) << "no answer";
      if (got <= 0) break;
      have += static_cast<std::size_t>(got);
    }
    all.resize(have);
    return all;
  }
  // One answer of a TCP connection; empty at its end.
  std::string answer() const {
    const std::string length = bytes(2);
    if (length.size() < 2) return "";
    return bytes(static_cast<std::size_t>(static_cast<unsigned char>(length[0])) << 8U |
                 static_cast<unsigned char>(length[1]));
  }

 private:
  int fd_;
};

std::string query_of(std::string_view name, std::uint16_t id) {
  DnsHeader header;
  header.id = id;
  header.questions = 1;
  std::string bytes;
  append_dns_header(header, &bytes);
  append_dns_question({*dns_name_of_text(name), DnsType::kA, DnsClass::kIn}, &bytes);
  return bytes;
}

std::string with_length(const std::string& query) {
  std::string bytes;
  append_u16(static_cast<std::uint16_t>(query.size()), &bytes);
  return bytes + query;
}

// Tests with ThreadSanitizer are chosen by this name.
class NameServerThreads : public testing::Test {
 protected:
  void start(NameServerOptions options = {}) {
    auto started = NameServer::start(census_, options);
    ASSERT_TRUE(started) << started.error().message();
    server_ = *std::move(started);
  }

  const Census census_{CensusOptions{}};
  const NameZone zone_{census_, {}};
  std::unique_ptr<NameServer> server_;
};

TEST_F(NameServerThreads, AnswersDatagrams) {
  start();
  const Client client(SOCK_DGRAM, server_->port());
  for (HostNumber host = 0; host < census_.hosts(); ++host) {
    const std::string query = query_of(census_.name_of(host), static_cast<std::uint16_t>(host));
    client.send(query);
    EXPECT_EQ(client.datagram(), zone_.answer(query, true).bytes);
  }
  client.send("short");
  const std::string nobody = query_of("nobody.test", 9);
  client.send(nobody);
  EXPECT_EQ(client.datagram(), zone_.answer(nobody, true).bytes);
  const NameServerCounts counts = server_->counts();
  EXPECT_EQ(counts.udp, census_.hosts() + 2);
  EXPECT_EQ(counts.of(NameOutcome::kAddresses), census_.hosts());
  EXPECT_EQ(counts.of(NameOutcome::kDropped), 1U);
  EXPECT_EQ(counts.of(NameOutcome::kUnknown), 1U);
  EXPECT_EQ(counts.tcp, 0U);
}

TEST_F(NameServerThreads, AnswersManyQueriesOfOneConnectionCutAnywhere) {
  start();
  const Client client(SOCK_STREAM, server_->port());
  std::string stream;
  std::vector<std::string> expected;
  for (HostNumber host = 0; host < 40; ++host) {
    const std::string query = query_of(census_.name_of(host), static_cast<std::uint16_t>(host));
    stream += with_length(query);
    expected.push_back(zone_.answer(query, false).bytes);
  }
  for (std::size_t at = 0, length = 1; at < stream.size(); at += length, length = length % 7 + 1) {
    client.send(std::string_view(stream).substr(at, length));
  }
  for (const std::string& answer : expected) EXPECT_EQ(client.answer(), answer);
  EXPECT_EQ(server_->counts().tcp, 40U);
  EXPECT_EQ(server_->counts().connections, 1U);
}

TEST_F(NameServerThreads, TruncatedAnswersComeWholeByTcp) {
  NameServerOptions options;
  options.udp_bytes_max = 40;
  start(options);
  const std::string query = query_of(census_.name_of(0), 3);
  const Client udp(SOCK_DGRAM, server_->port());
  udp.send(query);
  const auto cut = read_dns_message(udp.datagram());
  ASSERT_TRUE(cut);
  EXPECT_TRUE(cut->header.is_truncated);
  const Client tcp(SOCK_STREAM, server_->port());
  tcp.send(with_length(query));
  EXPECT_EQ(tcp.answer(), zone_.answer(query, false).bytes);
  EXPECT_EQ(server_->counts().truncated, 1U);
}

TEST_F(NameServerThreads, AnswersWhatAClientAskedBeforeItEnded) {
  start();
  const Client client(SOCK_STREAM, server_->port());
  const std::string query = query_of(census_.name_of(1), 1);
  client.send(with_length(query) + with_length(query));
  client.end();
  const std::string expected = zone_.answer(query, false).bytes;
  EXPECT_EQ(client.answer(), expected);
  EXPECT_EQ(client.answer(), expected);
  EXPECT_EQ(client.answer(), "");
}

TEST_F(NameServerThreads, SilentConnectionsAreClosed) {
  NameServerOptions options;
  options.idle_time_max = base::Duration::from_ms(30);
  start(options);
  const Client silent(SOCK_STREAM, server_->port());
  const Client half(SOCK_STREAM, server_->port());
  half.send("\1");
  EXPECT_EQ(silent.answer(), "");
  EXPECT_EQ(half.answer(), "");
}

TEST_F(NameServerThreads, ConnectionsBeyondTheBoundWaitForTheirTurn) {
  NameServerOptions options;
  options.connections_max = 2;
  start(options);
  const std::string query = query_of(census_.name_of(2), 1);
  const std::string expected = zone_.answer(query, false).bytes;
  auto first = std::make_unique<Client>(SOCK_STREAM, server_->port());
  const Client second(SOCK_STREAM, server_->port());
  for (const Client* client : {static_cast<const Client*>(first.get()), &second}) {
    client->send(with_length(query));
    EXPECT_EQ(client->answer(), expected);
  }
  const Client third(SOCK_STREAM, server_->port());
  third.send(with_length(query));
  const Client udp(SOCK_DGRAM, server_->port());
  udp.send(query);
  EXPECT_EQ(udp.datagram(), zone_.answer(query, true).bytes);
  EXPECT_EQ(server_->counts().connections, 2U);
  first.reset();
  EXPECT_EQ(third.answer(), expected);
  EXPECT_EQ(server_->counts().connections, 3U);
}

TEST_F(NameServerThreads, ClientsThatDoNotReadTheirAnswersDoNotStopOthers) {
  start();
  const Client greedy(SOCK_STREAM, server_->port());
  std::string many;
  for (int i = 0; i < 1000; ++i) many += with_length(query_of(census_.name_of(0), 1));
  greedy.send(many);
  const Client other(SOCK_STREAM, server_->port());
  const std::string query = query_of(census_.name_of(1), 5);
  other.send(with_length(query));
  EXPECT_EQ(other.answer(), zone_.answer(query, false).bytes);
  const std::string expected = zone_.answer(query_of(census_.name_of(0), 1), false).bytes;
  for (int i = 0; i < 1000; ++i) ASSERT_EQ(greedy.answer(), expected) << i;
}

TEST_F(NameServerThreads, APortInUseIsExplained) {
  start();
  NameServerOptions options;
  options.port = server_->port();
  const auto second = NameServer::start(census_, options);
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code(), base::ErrorCode::kBusy);
  EXPECT_EQ(second.error().message(),
            fmt::format("port {} of 127.0.0.1 is in use, so names cannot be answered there; choose "
                        "another with --dns-port",
                        options.port));
}

TEST_F(NameServerThreads, ItsPortIsFreeWhenItHasEnded) {
  start();
  NameServerOptions options;
  options.port = server_->port();
  const Client client(SOCK_STREAM, server_->port());
  client.send(with_length(query_of("test", 1)));
  EXPECT_NE(client.answer(), "");
  server_.reset();
  EXPECT_EQ(client.answer(), "");
  start(options);
  EXPECT_EQ(server_->port(), options.port);
}

TEST_F(NameServerThreads, BadOptionsAreExplained) {
  NameServerOptions options;
  options.address = "localhost";
  EXPECT_EQ(NameServer::start(census_, options).error().message(),
            "names are answered on an IPv4 address, not on \"localhost\"");
  options = {};
  options.connections_max = 0;
  EXPECT_EQ(NameServer::start(census_, options).error().code(), base::ErrorCode::kInvalid);
}

}  // namespace
}  // namespace meguri::sim
