#include "app/control_server.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "app/control_client.h"
#include "base/check.h"

namespace meguri::app {
namespace {

// A folder for one test.
class Folder {
 public:
  Folder() {
    std::string name = ::testing::TempDir() + "meguri-control-XXXXXX";
    CHECK(::mkdtemp(name.data()) != nullptr);
    path_ = name;
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() {
    ::unlink((path_ + "/control.sock").c_str());
    ::rmdir(path_.c_str());
  }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

// Says back what it was told.
void echo(const std::string& line, const ControlServer::Reply& reply) {
  reply(nlohmann::json{{"ok", true}, {"line", line}}.dump(
      -1, ' ', false, nlohmann::json::error_handler_t::replace));
}

void send_text(const OwnedDescriptor& socket, std::string_view text) {
  ::send(socket.get(), text.data(), text.size(), MSG_NOSIGNAL);
}

// All that comes until the other side closes.
std::string rest_of(const OwnedDescriptor& socket) {
  std::string text;
  std::array<char, 4096> buffer{};
  for (;;) {
    const ssize_t size = ::recv(socket.get(), buffer.data(), buffer.size(), 0);
    if (size <= 0) return text;
    text.append(buffer.data(), static_cast<std::size_t>(size));
  }
}

TEST(ControlServerThreads, AnswersLinesOneAfterAnother) {
  const Folder folder;
  const auto server = ControlServer::start(folder.path(), echo);
  ASSERT_TRUE(server) << server.error().message();
  const auto socket = connect_to(folder.path());
  ASSERT_TRUE(socket) << socket.error().message();
  for (int i = 0; i < 3; ++i) {
    const auto answer = ask_crawl(*socket, {{"n", i}});
    ASSERT_TRUE(answer) << answer.error().message();
    EXPECT_EQ(answer->at("line"), nlohmann::json({{"n", i}}).dump());
  }
  send_text(*socket, "a\nb\nc");
  ::shutdown(socket->get(), SHUT_WR);
  EXPECT_EQ(rest_of(*socket), "{\"line\":\"a\",\"ok\":true}\n{\"line\":\"b\",\"ok\":true}\n");
}

TEST(ControlServerThreads, IsForItsOwnerAlone) {
  const Folder folder;
  const auto server = ControlServer::start(folder.path(), echo);
  ASSERT_TRUE(server);
  struct stat status{};
  ASSERT_EQ(::stat((folder.path() + "/control.sock").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777U, 0600U);
}

TEST(ControlServerThreads, SurvivesRubbishSlowAndVanishingClients) {
  const Folder folder;
  const auto server = ControlServer::start(folder.path(), echo, {.line_bytes_max = 10'000});
  ASSERT_TRUE(server);
  const auto slow = connect_to(folder.path());
  send_text(*slow, "half a li");
  const auto loud = connect_to(folder.path());
  send_text(*loud, std::string(20'000, 'x'));
  EXPECT_EQ(rest_of(*loud), "") << "too long";
  for (int i = 0; i < 100; ++i) {
    const auto gone = connect_to(folder.path());
    ASSERT_TRUE(gone);
    send_text(*gone, i % 2 == 0 ? "asked and gone\n" : "\0\xff\xfe\n");
  }
  const auto polite = connect_to(folder.path());
  EXPECT_TRUE(ask_crawl(*polite, {{"n", 1}}));
  send_text(*slow, "ne\n");
  ::shutdown(slow->get(), SHUT_WR);
  EXPECT_EQ(rest_of(*slow), "{\"line\":\"half a line\",\"ok\":true}\n");
}

TEST(ControlServerThreads, SilentClientsAreSentAwayAndMakeRoom) {
  const Folder folder;
  const auto server = ControlServer::start(
      folder.path(), echo, {.clients_max = 2, .silence_max = base::Duration::from_ms(50)});
  ASSERT_TRUE(server);
  std::vector<OwnedDescriptor> silent;
  for (int i = 0; i < 5; ++i) silent.push_back(*connect_to(folder.path()));
  const auto socket = connect_to(folder.path());
  EXPECT_TRUE(ask_crawl(*socket, {{"n", 1}}));
}

TEST(ControlServerThreads, AnswersMayComeFromElsewhereAndLate) {
  const Folder folder;
  std::vector<ControlServer::Reply> late;
  {
    std::vector<std::jthread> threads;
    const auto server =
        ControlServer::start(folder.path(), [&](const std::string& line, auto reply) {
          if (line.find("never") != std::string::npos) {
            late.push_back(reply);
          } else {
            threads.emplace_back([line, reply] { echo(line, reply); });
          }
        });
    ASSERT_TRUE(server);
    const auto waiting = connect_to(folder.path());
    send_text(*waiting, "never\n");
    std::atomic<int> answered = 0;
    {
      std::vector<std::jthread> clients;
      for (int i = 0; i < 20; ++i) {
        clients.emplace_back([&] {
          const auto socket = connect_to(folder.path());
          if (socket && ask_crawl(*socket, {{"n", 1}})) ++answered;
        });
      }
    }
    EXPECT_EQ(answered, 20);
  }
  for (const auto& reply : late) reply("nobody is there");
}

TEST(ControlServerThreads, WhoAsksHearsThatItHasEnded) {
  const Folder folder;
  auto server = ControlServer::start(folder.path(), [](const auto&, const auto&) {});
  ASSERT_TRUE(server);
  const auto socket = connect_to(folder.path());
  ASSERT_TRUE(socket);
  std::jthread end([&server] {
    ::usleep(20'000);
    server->reset();
  });
  const auto answer = ask_crawl(*socket, {{"n", 1}});
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code(), base::ErrorCode::kStopped);
  end.join();
  EXPECT_EQ(connect_to(folder.path()).error().code(), base::ErrorCode::kNotFound) << "stale";
  EXPECT_TRUE(ControlServer::start(folder.path(), echo)) << "is replaced";
}

}  // namespace
}  // namespace meguri::app
