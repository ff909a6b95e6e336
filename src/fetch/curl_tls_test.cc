#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "env/clock.h"
#include "fetch/curl_http_client.h"
#include "fetch/testing.h"

namespace meguri::fetch {
namespace {

constexpr std::string_view kAnswer = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";

class CurlTls : public testing::Test {
 protected:
  CurlTls() {
    CurlOptions options;
    options.policy = *AddressPolicy::parse({"127.0.0.0/8"});
    options.extra_ca_pem = authority_.pem();
    auto made = make_curl_http_client(clock_, options);
    EXPECT_TRUE(made);
    client_ = *std::move(made);
  }

  TlsIdentity identity(const std::string& name, long days_from_now = 1) {
    return make_identity({.name = name, .issuer = &authority_, .days_from_now = days_from_now});
  }

  Fetched fetch(const RawServer& server, bool keeps_alive = true) {
    FetchRequest request;
    request.is_https = true;
    request.host = "www.example.test";
    request.port = server.port();
    request.address = server.endpoint();
    request.keeps_alive = keeps_alive;
    client_->start(request);
    return std::move(take_results(*client_, 1).front());
  }

  env::RealClock clock_;
  TlsIdentity authority_ =
      make_identity({.name = "Test Authority", .is_authority = true, .days_from_now = 2});
  std::unique_ptr<HttpClient> client_;
};

TEST_F(CurlTls, TrustsTheExtraAuthority) {
  const TlsIdentity good = identity("www.example.test");
  const RawServer server(always(std::string(kAnswer)), &good);
  const Fetched fetched = fetch(server);
  EXPECT_EQ(name_of(fetched.outcome), "answered") << fetched.error;
  EXPECT_EQ(fetched.body, "hello");
  EXPECT_EQ(fetched.tls_version, "TLSv1.3");
  EXPECT_FALSE(fetched.is_tls_resumed);
}

TEST_F(CurlTls, SaysWhatIsWrongWithACertificate) {
  const auto error_of = [this](const TlsIdentity& identity) {
    const RawServer server(always(std::string(kAnswer)), &identity);
    const Fetched fetched = fetch(server);
    EXPECT_EQ(name_of(fetched.outcome), "certificate") << fetched.error;
    EXPECT_EQ(fetched.response_head, "");
    EXPECT_TRUE(fetched.connected);
    return fetched.error;
  };
  EXPECT_NE(error_of(identity("other.example.test")).find("www.example.test"), std::string::npos);
  EXPECT_NE(error_of(identity("www.example.test", -1)).find("expired"), std::string::npos);
  EXPECT_NE(error_of(make_identity({.name = "www.example.test"})).find("self-signed"),
            std::string::npos);
  const TlsIdentity stranger = make_identity({.name = "Stranger", .is_authority = true});
  EXPECT_NE(error_of(make_identity({.name = "www.example.test", .issuer = &stranger}))
                .find("unable to get local issuer certificate"),
            std::string::npos);
}

TEST_F(CurlTls, ResumesSessions) {
  const TlsIdentity good = identity("www.example.test");
  const RawServer server(always(std::string(kAnswer)), &good);
  EXPECT_FALSE(fetch(server, false).is_tls_resumed);
  const Fetched fetched = fetch(server, false);
  EXPECT_EQ(fetched.body, "hello");
  EXPECT_TRUE(fetched.is_tls_resumed);
  EXPECT_FALSE(fetched.is_reused);
  EXPECT_EQ(server.connections(), 2);
}

TEST_F(CurlTls, ResumesSessionsOfMoreServersThanLibcurlRemembers) {
  const TlsIdentity good = identity("www.example.test");
  std::vector<std::unique_ptr<RawServer>> servers;
  for (int i = 0; i < 12; ++i) {
    servers.push_back(std::make_unique<RawServer>(always(std::string(kAnswer)), &good));
  }
  for (const auto& server : servers) EXPECT_FALSE(fetch(*server, false).is_tls_resumed);
  for (const auto& server : servers) EXPECT_TRUE(fetch(*server, false).is_tls_resumed);
}

TEST_F(CurlTls, UsesAConnectionAgain) {
  const TlsIdentity good = identity("www.example.test");
  const RawServer server(always(std::string(kAnswer)), &good);
  EXPECT_FALSE(fetch(server).is_reused);
  EXPECT_TRUE(fetch(server).is_reused);
  EXPECT_EQ(server.connections(), 1);
}

TEST_F(CurlTls, NamesAServerWithoutTls) {
  const RawServer server([](RawConnection& connection) {
    connection.send("HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n");
  });
  EXPECT_EQ(name_of(fetch(server).outcome), "tls_failure");
}

TEST(CurlTlsOptions, RefusesWhatIsNoCertificate) {
  const env::RealClock clock;
  CurlOptions options;
  options.extra_ca_pem = "-----BEGIN CERTIFICATE-----\nnot\n-----END CERTIFICATE-----\n";
  EXPECT_FALSE(make_curl_http_client(clock, options));
}

}  // namespace
}  // namespace meguri::fetch
