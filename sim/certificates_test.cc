#include "sim/certificates.h"

#include <gtest/gtest.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include <string>
#include <thread>
#include <vector>

#include "sim/http_testing.h"

namespace meguri::sim {
namespace {

std::unique_ptr<CertificateAuthority> new_authority() {
  auto made = CertificateAuthority::make();
  EXPECT_TRUE(made.has_value());
  return *std::move(made);
}

// Whether `certificate` is good for `host` at a time, for whom trusts the authority of that PEM.
bool is_valid(const std::string& pem, X509* certificate, const char* host, std::int64_t time) {
  const auto client = client_context(pem);
  X509_STORE_CTX* context = X509_STORE_CTX_new();
  X509_STORE_CTX_init(context, SSL_CTX_get_cert_store(client.get()), certificate, nullptr);
  X509_VERIFY_PARAM* parameters = X509_STORE_CTX_get0_param(context);
  X509_VERIFY_PARAM_set1_host(parameters, host, 0);
  X509_VERIFY_PARAM_set_time(parameters, time);
  X509_VERIFY_PARAM_set_flags(parameters, X509_V_FLAG_X509_STRICT);
  X509_VERIFY_PARAM_set_purpose(parameters, X509_PURPOSE_SSL_SERVER);
  const bool valid = X509_verify_cert(context) == 1;
  X509_STORE_CTX_free(context);
  return valid;
}

constexpr std::int64_t k1991 = 662'688'000;
constexpr std::int64_t k2026 = 1'767'225'600;
constexpr std::int64_t k2099 = 4'070'908'800;

TEST(CertificateAuthority, SignsForTheNameAskedForAndNoOther) {
  const auto authority = new_authority();
  const auto certificate = authority->certificate_of("www.kotamira.test");
  ASSERT_NE(certificate, nullptr);
  EXPECT_TRUE(is_valid(authority->pem(), certificate.get(), "www.kotamira.test", k2026));
  EXPECT_FALSE(is_valid(authority->pem(), certificate.get(), "kotamira.test", k2026));
  EXPECT_FALSE(is_valid(new_authority()->pem(), certificate.get(), "www.kotamira.test", k2026));
}

TEST(CertificateAuthority, SignsForAllTimesAWorldMayHave) {
  const auto authority = new_authority();
  const auto certificate = authority->certificate_of("a.test");
  EXPECT_TRUE(is_valid(authority->pem(), certificate.get(), "a.test", k1991));
  EXPECT_TRUE(is_valid(authority->pem(), certificate.get(), "a.test", k2099));
}

TEST(CertificateAuthority, FaultsAreWhatTheySay) {
  const auto authority = new_authority();
  const auto is_good = [&](CertificateFault fault, const char* host, std::int64_t time) {
    // A name keeps its certificate, so that each has its own.
    const std::string name = "host" + std::to_string(static_cast<int>(fault)) + ".test";
    const auto certificate = authority->certificate_of(name, fault);
    return is_valid(authority->pem(), certificate.get(), host == nullptr ? name.c_str() : host,
                    time);
  };
  EXPECT_TRUE(is_good(CertificateFault::kNone, nullptr, k2026));
  EXPECT_FALSE(is_good(CertificateFault::kExpired, nullptr, k2026));
  EXPECT_TRUE(is_good(CertificateFault::kExpired, nullptr, k1991));
  EXPECT_FALSE(is_good(CertificateFault::kWrongName, nullptr, k2026));
  EXPECT_TRUE(is_good(CertificateFault::kWrongName, "somebody-else.test", k2026));
  EXPECT_FALSE(is_good(CertificateFault::kSelfSigned, nullptr, k2026));
}

TEST(CertificateAuthority, TakesNamesInAnyCaseAndOfFullLength) {
  const auto authority = new_authority();
  const auto certificate = authority->certificate_of("WWW.A.test");
  EXPECT_TRUE(is_valid(authority->pem(), certificate.get(), "www.a.test", k2026));
  EXPECT_EQ(certificate, authority->certificate_of("www.a.test"));
  std::string name;
  while (name.size() < 240) name += "abcdefghij.";
  name += "test";
  const auto long_one = authority->certificate_of(name);
  ASSERT_NE(long_one, nullptr);
  EXPECT_TRUE(is_valid(authority->pem(), long_one.get(), name.c_str(), k2026));
}

TEST(CertificateAuthority, RefusesWhatIsNoName) {
  const auto authority = new_authority();
  EXPECT_EQ(authority->certificate_of(""), nullptr);
  EXPECT_EQ(authority->certificate_of("a,DNS:b"), nullptr);
  EXPECT_EQ(authority->certificate_of(std::string_view("a\0b", 3)), nullptr);
  EXPECT_EQ(authority->certificate_of("a\xff"), nullptr);
  EXPECT_EQ(authority->certificate_of(std::string(254, 'a')), nullptr);
}

TEST(CertificateAuthorityThreads, IssueOneCertificateForOneName) {
  const auto authority = new_authority();
  std::vector<std::vector<OpenSslPtr<X509>>> made(4);
  std::vector<std::thread> threads;
  for (auto& mine : made) {
    threads.emplace_back([&] {
      for (int i = 0; i < 20; ++i) {
        mine.push_back(authority->certificate_of(fmt::format("h{}.test", i)));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const auto& mine : made) EXPECT_EQ(mine, made.front());
}

}  // namespace
}  // namespace meguri::sim
