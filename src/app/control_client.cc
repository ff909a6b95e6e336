#include "app/control_client.h"

#include <sys/socket.h>
#include <sys/time.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>

namespace meguri::app {

namespace {

constexpr time_t kAnswerSeconds = 30;
constexpr std::size_t kAnswerBytesMax = 64U << 20U;

base::Error ended_early() {
  return {base::ErrorCode::kStopped, "the crawl ended before it answered; ask again"};
}

// Of a failed call on the socket.
base::Error error_of(int number) {
  if (number == EAGAIN || number == EWOULDBLOCK) {
    return {base::ErrorCode::kFailed, "the crawl has not answered within half a minute"};
  }
  if (number == EPIPE || number == ECONNRESET) return ended_early();
  return base::Error::from_errno(number, "cannot speak with the crawl");
}

base::Status send_all(int socket, std::string_view text) {
  while (!text.empty()) {
    const ssize_t size = ::send(socket, text.data(), text.size(), MSG_NOSIGNAL);
    if (size >= 0) {
      text.remove_prefix(static_cast<std::size_t>(size));
    } else if (errno != EINTR) {
      return std::unexpected(error_of(errno));
    }
  }
  return {};
}

base::Result<std::string> receive_line(int socket) {
  std::string text;
  std::array<char, 1U << 16U> buffer{};
  while (text.size() < kAnswerBytesMax) {
    const ssize_t size = ::recv(socket, buffer.data(), buffer.size(), 0);
    if (size == 0) return std::unexpected(ended_early());
    if (size < 0) {
      if (errno == EINTR) continue;
      return std::unexpected(error_of(errno));
    }
    text.append(buffer.data(), static_cast<std::size_t>(size));
    if (text.ends_with('\n')) return text;
  }
  return base::fail(base::ErrorCode::kFailed, "the crawl's answer has no end");
}

base::ErrorCode code_of(std::string_view name) {
  for (int i = 0; i <= static_cast<int>(base::ErrorCode::kFailed); ++i) {
    const auto code = static_cast<base::ErrorCode>(i);
    if (base::name_of(code) == name) return code;
  }
  return base::ErrorCode::kFailed;
}

}  // namespace

base::Result<nlohmann::json> ask_crawl(const OwnedDescriptor& socket,
                                       const nlohmann::json& request) {
  const timeval limit{.tv_sec = kAnswerSeconds, .tv_usec = 0};
  ::setsockopt(socket.get(), SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
  ::setsockopt(socket.get(), SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
  RETURN_IF_ERROR(send_all(socket.get(), request.dump() + "\n"));
  ASSIGN_OR_RETURN(const std::string line, receive_line(socket.get()));
  nlohmann::json answer = nlohmann::json::parse(line, nullptr, /*allow_exceptions=*/false);
  if (!answer.is_object()) {
    return base::fail(base::ErrorCode::kFailed, "the crawl's answer is no JSON object");
  }
  if (answer.value("ok", false)) return answer;
  return std::unexpected(base::Error(code_of(answer.value("code", "failed")),
                                     answer.value("error", "the crawl did not say why")));
}

}  // namespace meguri::app
