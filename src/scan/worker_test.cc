#include "scan/worker.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "env/posix_file_system.h"
#include "env/testing.h"
#include "scan/analyser.h"
#include "scan/frames.h"

namespace meguri::scan {
namespace {

std::string record_of(std::string_view url, std::string_view body) {
  const std::string block =
      fmt::format("HTTP/1.1 200 So\r\nContent-Type: text/plain\r\n\r\n{}", body);
  return fmt::format(
      "WARC/1.0\r\nWARC-Type: response\r\nWARC-Record-ID: <urn:x:1>\r\nWARC-Date: "
      "2026-01-01T00:00:00Z\r\nWARC-Target-URI: {}\r\nContent-Type: application/http; "
      "msgtype=response\r\nContent-Length: {}\r\n\r\n{}\r\n\r\n",
      url, block.size(), block);
}

// What a worker said, frame by frame, with bytes behind their result.
struct Said {
  std::vector<std::pair<std::uint64_t, std::string>> results;
  std::vector<std::pair<std::uint64_t, std::string>> lost;
  bool is_ready = false;
  std::string failed;
  std::string cannot_start;
  WorkerUsage usage;
};

// A worker on a thread of its own, and our end of its socket.
class WorkerThread {
 public:
  WorkerThread() {
    std::array<int, 2> ends{};
    CHECK(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends.data()) == 0, "no sockets");
    ours_ = ends[0];
    thread_ = std::thread([this, end = ends[1]] { status_ = run_worker(end, files_, clock_); });
  }
  WorkerThread(const WorkerThread&) = delete;
  WorkerThread& operator=(const WorkerThread&) = delete;
  ~WorkerThread() {
    if (ours_ >= 0) ::close(ours_);
    if (thread_.joinable()) thread_.join();
  }

  void send(std::string_view bytes) const {
    EXPECT_EQ(::send(ours_, bytes.data(), bytes.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(bytes.size()));
  }
  void close() { ::close(std::exchange(ours_, -1)); }
  base::Status join() {
    thread_.join();
    return status_;
  }

  // All until it closes its end.
  Said hear() const {
    Said said;
    FrameReader frames;
    std::string buffer(65536, '\0');
    for (;;) {
      const ssize_t got = ::recv(ours_, buffer.data(), buffer.size(), 0);
      if (got <= 0) return said;
      frames.feed(std::string_view(buffer).substr(0, static_cast<std::size_t>(got)));
      while (const auto frame = frames.next().value()) take(*frame, said);
    }
  }

 private:
  static void take(const Frame& frame, Said& said) {
    switch (frame.type) {
      case FrameType::kReady: said.is_ready = true; break;
      case FrameType::kResult:
        said.results.emplace_back(parse_result_head(frame.payload)->number, "");
        break;
      case FrameType::kBytes: said.results.back().second += frame.payload; break;
      case FrameType::kLost: {
        const LostHead lost = parse_lost(frame.payload).value();
        said.lost.emplace_back(lost.number, lost.reason);
        break;
      }
      case FrameType::kUsage: said.usage = parse_usage(frame.payload).value(); break;
      case FrameType::kFailed: said.failed = frame.payload; break;
      case FrameType::kCannotStart: said.cannot_start = frame.payload; break;
      default: FAIL() << "a frame of type " << static_cast<int>(frame.type);
    }
  }

  int ours_ = -1;
  env::PosixFileSystem files_;
  env::RealClock clock_;
  base::Status status_;
  std::thread thread_;
};

class WorkerThreads : public testing::Test {
 protected:
  std::string settings(AnalyserKind kind, std::vector<std::string> arguments) const {
    AnalyserSettings settings;
    settings.kind = kind;
    settings.arguments = std::move(arguments);
    settings.scratch = dir_.path();
    std::string bytes;
    put_frame(bytes, FrameType::kSettings, settings.to_json());
    return bytes;
  }
  static std::string document(std::uint64_t number, std::string_view record) {
    DocumentHead head;
    head.facts.number = number;
    head.bytes = record.size();
    std::string bytes;
    put_document_head(bytes, head);
    put_bytes(bytes, record);
    return bytes;
  }
  static std::string end() {
    std::string bytes;
    put_frame(bytes, FrameType::kEnd, {});
    return bytes;
  }

  const env::TempDir dir_;
};

TEST_F(WorkerThreads, MakesAResultOfEachDocument) {
  WorkerThread worker;
  worker.send(settings(AnalyserKind::kBuiltIn, {"count-by", "host", "mime"}));
  worker.send(document(3, record_of("http://a.example/", "one")));
  worker.send(document(4, record_of("http://b.example/", std::string(70'000, 'x'))));
  worker.send(end());
  const Said said = worker.hear();
  EXPECT_TRUE(said.is_ready);
  ASSERT_EQ(said.results.size(), 2U);
  EXPECT_EQ(said.results[0], std::pair(std::uint64_t{3}, std::string("a.example\ttext/plain\n")));
  EXPECT_EQ(said.results[1], std::pair(std::uint64_t{4}, std::string("b.example\ttext/plain\n")));
  EXPECT_GT(said.usage.cpu_ns, 0U);
  EXPECT_TRUE(worker.join());
}

TEST_F(WorkerThreads, TellsOfADocumentThatCannotBeRead) {
  WorkerThread worker;
  worker.send(settings(AnalyserKind::kBuiltIn, {"count-by", "host"}));
  worker.send(document(0, "this is no record"));
  worker.send(document(1, record_of("http://a.example/", "one")));
  worker.send(end());
  const Said said = worker.hear();
  ASSERT_EQ(said.lost.size(), 1U);
  EXPECT_EQ(said.lost[0].first, 0U);
  EXPECT_EQ(said.results.size(), 1U);
}

TEST_F(WorkerThreads, SaysWhyItCannotStart) {
  WorkerThread worker;
  worker.send(settings(AnalyserKind::kProgram, {"/nowhere/program"}));
  const Said said = worker.hear();
  EXPECT_FALSE(said.is_ready);
  EXPECT_NE(said.cannot_start.find("/nowhere/program"), std::string::npos) << said.cannot_start;
  EXPECT_FALSE(worker.join());
}

TEST_F(WorkerThreads, SaysHowItsAnalyserFailed) {
  WorkerThread worker;
  worker.send(settings(AnalyserKind::kProgram, {"/bin/sh", "-c", "read line; exit 3"}));
  worker.send(document(0, record_of("http://a.example/", "one")));
  const Said said = worker.hear();
  EXPECT_TRUE(said.is_ready);
  EXPECT_EQ(said.failed, "it ended with exit status 3");
  EXPECT_TRUE(said.results.empty());
}

TEST_F(WorkerThreads, EndsWhenNobodyIsThere) {
  WorkerThread worker;
  worker.send(settings(AnalyserKind::kBuiltIn, {"links"}));
  worker.close();
  const base::Status status = worker.join();
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code(), base::ErrorCode::kStopped);
}

}  // namespace
}  // namespace meguri::scan
