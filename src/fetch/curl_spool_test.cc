// Bodies of the real client that go to disk.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "env/clock.h"
#include "env/faulty_file_system.h"
#include "env/memory_file_system.h"
#include "env/posix_file_system.h"
#include "env/spool.h"
#include "env/testing.h"
#include "fetch/curl_http_client.h"
#include "fetch/testing.h"

namespace meguri::fetch {
namespace {

using base::Duration;
using env::SpoolLimits;

const env::RealClock real_clock;

std::shared_ptr<env::Spool> open_spool(env::FileSystem& fs, const std::string& dir,
                                       const SpoolLimits& limits = {}) {
  auto spool = std::make_shared<env::Spool>(fs, dir, limits);
  EXPECT_TRUE(spool->open());
  return spool;
}

std::unique_ptr<HttpClient> make_client(std::shared_ptr<env::Spool> spool) {
  CurlOptions options;
  options.policy = *AddressPolicy::parse({"127.0.0.0/8"});
  options.spool = std::move(spool);
  auto client = make_curl_http_client(real_clock, std::move(options));
  EXPECT_TRUE(client);
  return *std::move(client);
}

FetchRequest request_to(const RawServer& server) {
  FetchRequest request;
  request.host = "www.example.test";
  request.port = server.port();
  request.address = server.endpoint();
  return request;
}

Fetched fetch(HttpClient& client, FetchRequest request) {
  client.start(std::move(request));
  return std::move(take_results(client, 1).front());
}

void expect_answer(const Fetched& fetched, std::string_view body) {
  EXPECT_EQ(name_of(fetched.outcome), "answered") << fetched.error;
  EXPECT_EQ(fetched.status, 200);
  EXPECT_TRUE(fetched.body == body);
  EXPECT_EQ(fetched.error, "");
}

std::string long_body(std::size_t size) {
  std::string body;
  while (body.size() < size) body += fmt::format("{} bytes so far\n", body.size());
  body.resize(size);
  return body;
}

TEST(CurlSpool, KeepsLargeBodiesOnDisk) {
  const env::TempDir dir;
  env::PosixFileSystem fs;
  const auto spool = open_spool(fs, dir.path("spool"));
  const std::string body = long_body(30'000'000);
  const auto client = make_client(spool);
  for (const std::string_view length : {"Content-Length: 30000000\r\n", ""}) {
    const RawServer server(once(fmt::format("HTTP/1.1 200 OK\r\n{}\r\n{}", length, body)));
    const Fetched fetched = fetch(*client, request_to(server));
    EXPECT_EQ(name_of(fetched.outcome), "answered") << fetched.error;
    EXPECT_TRUE(fetched.body.is_on_disk());
    EXPECT_TRUE(fetched.body == body);
    EXPECT_EQ(spool->memory_bytes(), 0U);
    EXPECT_EQ(spool->disk_bytes(), body.size());
  }
  EXPECT_EQ(spool->disk_bytes(), 0U);
  EXPECT_TRUE(fs.list(dir.path("spool"))->empty());
}

TEST(CurlSpool, CutsABodyOnDiskWhereItsLimitIs) {
  env::MemoryFileSystem fs;
  const auto spool = open_spool(fs, "spool");
  const std::string body = long_body(5'000'000);
  const RawServer server(once("HTTP/1.1 200 OK\r\n\r\n" + body));
  FetchRequest request = request_to(server);
  request.limits.body_bytes_max = 3'000'000;
  const Fetched fetched = fetch(*make_client(spool), request);
  EXPECT_EQ(name_of(fetched.truncation), "length");
  EXPECT_TRUE(fetched.body == body.substr(0, 3'000'000));
}

TEST(CurlSpool, AFullDiskEndsTheFetchAsOurFailureAndNoOther) {
  env::FaultyFileSystem fs;
  const auto spool = open_spool(fs, "spool");
  const RawServer large(once("HTTP/1.1 200 OK\r\n\r\n" + long_body(5'000'000)));
  const RawServer small(once("HTTP/1.1 200 OK\r\n\r\nhello"));
  const auto client = make_client(spool);
  fs.disk().set_capacity(2'000'000);
  Fetched fetched = fetch(*client, request_to(large));
  EXPECT_EQ(name_of(fetched.outcome), "local_failure");
  EXPECT_EQ(fetched.status, 0);
  EXPECT_TRUE(fetched.error.starts_with("its body cannot be kept: no space left")) << fetched.error;
  EXPECT_TRUE(fetched.body.empty());
  EXPECT_EQ(fs.disk().used(), 0U);
  expect_answer(fetch(*client, request_to(small)), "hello");

  fs.disk().set_capacity(100'000'000);
  fs.fail_change_after(3, base::ErrorCode::kIo);
  fetched = fetch(*client, request_to(large));
  EXPECT_EQ(name_of(fetched.outcome), "local_failure");
  expect_answer(fetch(*client, request_to(large)), long_body(5'000'000));
}

TEST(CurlSpool, PausesWhenBodiesTakeTooMuchOfTheDisk) {
  env::MemoryFileSystem fs;
  const auto spool = open_spool(
      fs, "spool", {.value_memory_max = 50'000, .memory_max = 100'000, .bytes_max = 250'000});
  const std::string body(200'000, 'b');
  const RawServer server(once("HTTP/1.1 200 OK\r\nContent-Length: 200000\r\n\r\n" + body));
  const auto client = make_client(spool);
  for (int i = 0; i < 20; ++i) client->start(request_to(server));
  std::size_t answered = 0;
  std::uint64_t most = 0;
  while (answered < 20) {
    client->poll(Duration::from_ms(50));
    most = std::max(most, spool->disk_bytes() + spool->memory_bytes());
    for (const Fetched& fetched : client->take()) {
      expect_answer(fetched, body);
      ++answered;
    }
  }
  EXPECT_LE(most, 2 * 250'000U + 200'000U);
}

}  // namespace
}  // namespace meguri::fetch
