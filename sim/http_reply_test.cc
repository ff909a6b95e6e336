#include "sim/http_reply.h"

#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <string>
#include <utility>

namespace meguri::sim {
namespace {

// What would be sent, if each write took at most `step` bytes from at most `parts` parts.
std::string sent(HttpReply& reply, std::size_t step, std::size_t parts) {
  std::string bytes;
  std::array<iovec, 8> room;
  while (!reply.is_done()) {
    const std::size_t count = reply.gather(std::span(room).first(parts));
    std::string next;
    for (std::size_t i = 0; i < count; ++i) {
      next.append(static_cast<const char*>(room[i].iov_base), room[i].iov_len);
    }
    next.resize(std::min(step, next.size()));
    reply.advance(next.size());
    bytes += next;
  }
  EXPECT_EQ(reply.sent_bytes(), bytes.size());
  return bytes;
}

Answer chunked_answer(std::size_t size) {
  Answer answer;
  answer.fields = {{"A", "b"}};
  answer.body = std::string(size, 'x');
  answer.is_chunked = true;
  return answer;
}

TEST(HttpReply, CutsMakeNoDifference) {
  HttpReply reply;
  const WireForm form{.keeps_alive = true};
  reply.prepare(chunked_answer(5'000), form);
  const std::string whole = sent(reply, 100'000, 8);
  EXPECT_EQ(whole, "HTTP/1.1 200 OK\r\nA: b\r\nTransfer-Encoding: chunked\r\n\r\n1000\r\n" +
                       std::string(4096, 'x') + "\r\n388\r\n" + std::string(904, 'x') +
                       "\r\n0\r\n\r\n");
  for (const std::size_t step : {7U, 64U, 4'096U, 4'200U}) {
    for (const std::size_t parts : {1U, 2U, 8U}) {
      reply.prepare(chunked_answer(5'000), form);
      EXPECT_EQ(sent(reply, step, parts), whole) << step << " " << parts;
    }
  }
}

TEST(HttpReply, EmptyBodiesAreFramed) {
  HttpReply reply;
  reply.prepare(chunked_answer(0), {.keeps_alive = true});
  EXPECT_EQ(sent(reply, 9, 1),
            "HTTP/1.1 200 OK\r\nA: b\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n");
  reply.prepare(chunked_answer(0), {.to_http10 = true, .keeps_alive = false});
  EXPECT_EQ(sent(reply, 9, 1),
            "HTTP/1.1 200 OK\r\nA: b\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
  EXPECT_TRUE(reply.closes());
}

TEST(HttpReply, AnswersWithoutBodyHaveNone) {
  HttpReply reply;
  Answer answer = chunked_answer(3);
  answer.status = 304;
  reply.prepare(answer, {.keeps_alive = true});
  EXPECT_EQ(sent(reply, 99, 8), "HTTP/1.1 304 Not Modified\r\nA: b\r\n\r\n");
  answer.status = 200;
  answer.is_chunked = false;
  reply.prepare(answer, {.is_head = true, .keeps_alive = true});
  EXPECT_EQ(sent(reply, 99, 8), "HTTP/1.1 200 OK\r\nA: b\r\n\r\n");
}

TEST(HttpReply, RefusalsSayWhyAndClose) {
  HttpReply reply;
  reply.prepare_refusal(431);
  EXPECT_EQ(sent(reply, 99, 8),
            "HTTP/1.1 431 Request Header Fields Too Large\r\nContent-Type: text/plain\r\n"
            "Content-Length: 36\r\nConnection: close\r\n\r\n"
            "431 Request Header Fields Too Large\n");
  EXPECT_TRUE(reply.closes());
}

TEST(HttpReply, AScriptIsSentStepByStepWithItsPauses) {
  const auto second = base::Duration::seconds(1);
  Answer answer;
  answer.script = std::make_shared<const WireScript>(WireScript{
      .steps = {{.bytes = "ab"}, {.bytes = "c", .times = 3, .pause = second}, {.pause = second}},
      .resets = true});
  HttpReply reply;
  reply.prepare(std::move(answer), {});
  EXPECT_TRUE(reply.is_script());
  EXPECT_TRUE(reply.closes());
  EXPECT_TRUE(reply.resets());
  std::string seen;  // a dot for each pause
  std::array<iovec, 2> room;
  while (!reply.is_done()) {
    if (reply.take_pause() > base::Duration()) {
      seen += '.';
      continue;
    }
    if (reply.is_done()) break;
    ASSERT_EQ(reply.gather(room), 1U);
    ASSERT_GT(room[0].iov_len, 0U);
    seen += *static_cast<const char*>(room[0].iov_base);
    reply.advance(1);
  }
  EXPECT_EQ(seen, "ab.c.c.c.");
  EXPECT_EQ(reply.sent_bytes(), 5U);
}

}  // namespace
}  // namespace meguri::sim
