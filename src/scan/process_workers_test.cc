#include "scan/process_workers.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "base/time.h"

namespace meguri::scan {
namespace {

// Workers that are scripts of the shell.
ProcessWorkersOptions shell(std::string script, std::size_t workers = 1) {
  return {.program = "/bin/sh", .arguments = {"-c", std::move(script)}, .workers = workers};
}

// What came of a worker until its end.
struct Heard {
  std::string bytes;
  WorkerEnd end;
};

Heard hear(ProcessWorkers& workers, std::size_t worker, std::string to_send = {}) {
  Heard heard;
  for (;;) {
    to_send.erase(0, workers.send(worker, to_send));
    const std::vector<bool> wanted(2, !to_send.empty());
    std::vector<WorkerEvent> events;
    EXPECT_TRUE(workers.wait(base::Duration::seconds(10), wanted, events));
    for (const WorkerEvent& event : events) {
      heard.bytes += event.bytes;
      if (!event.end) continue;
      heard.end = *event.end;
      return heard;
    }
  }
}

TEST(ProcessWorkers, SpeakByTheirSocket) {
  ProcessWorkers workers(shell("head -c 5 <&3 >&3"));
  ASSERT_TRUE(workers.start(0));
  const Heard heard = hear(workers, 0, "hello");
  EXPECT_EQ(heard.bytes, "hello");
  EXPECT_EQ(heard.end.how, "it ended with exit status 0");
  EXPECT_EQ(heard.end.said, "");
  EXPECT_EQ(workers.send(0, "more"), 0U);
}

TEST(ProcessWorkers, MuchGoesThroughBothWays) {
  ProcessWorkers workers(shell("head -c 5000000 <&3 >&3"));
  ASSERT_TRUE(workers.start(0));
  std::string bytes(5'000'000, 'x');
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<char>('a' + i % 23);
  EXPECT_EQ(hear(workers, 0, bytes).bytes, bytes);
}

TEST(ProcessWorkers, TellHowTheyEndAndWhatTheySaid) {
  ProcessWorkers workers(shell("echo said on output; echo and on error >&2; exit 3"));
  ASSERT_TRUE(workers.start(0));
  const Heard heard = hear(workers, 0);
  EXPECT_EQ(heard.end.how, "it ended with exit status 3");
  EXPECT_EQ(heard.end.said, "said on output\nand on error\n");
}

TEST(ProcessWorkers, OfWhatTheySaidTheEndIsKept) {
  ProcessWorkers workers(shell("head -c 100000 /dev/zero | tr '\\0' a >&2; echo end >&2"));
  ASSERT_TRUE(workers.start(0));
  const Heard heard = hear(workers, 0);
  EXPECT_EQ(heard.end.said.size(), ProcessWorkers::kSaidBytesMax);
  EXPECT_TRUE(heard.end.said.ends_with("aaaend\n"));
}

TEST(ProcessWorkers, ASignalIsNamed) {
  ProcessWorkers workers(shell("kill -SEGV $$"));
  ASSERT_TRUE(workers.start(0));
  EXPECT_EQ(hear(workers, 0).end.how, "it was ended by signal 11 (SIGSEGV)");
}

TEST(ProcessWorkers, AreKilledWithAllTheyStarted) {
  // The sleeping one holds the socket, and would hold it for long.
  ProcessWorkers workers(shell("sleep 1000 & echo here >&3; wait"));
  ASSERT_TRUE(workers.start(0));
  std::vector<WorkerEvent> events;
  const std::vector<bool> wanted = {false};
  while (events.empty()) {
    ASSERT_TRUE(workers.wait(base::Duration::seconds(10), wanted, events));
  }
  EXPECT_EQ(events.front().bytes, "here\n");
  workers.kill(0);
  EXPECT_EQ(hear(workers, 0).end.how, "it was ended by signal 9 (SIGKILL)");
}

TEST(ProcessWorkers, AnEndIsSeenThoughAChildHoldsTheSocket) {
  ProcessWorkers workers(shell("sleep 1000 & echo last >&3; exit 4"));
  ASSERT_TRUE(workers.start(0));
  const Heard heard = hear(workers, 0);
  EXPECT_EQ(heard.bytes, "last\n");
  EXPECT_EQ(heard.end.how, "it ended with exit status 4");
}

TEST(ProcessWorkers, AreStartedAgain) {
  ProcessWorkers workers(shell("head -c 1 <&3 >&3", 2));
  for (int i = 0; i < 20; ++i) {
    for (const std::size_t worker : {0U, 1U}) {
      ASSERT_TRUE(workers.start(worker));
      EXPECT_EQ(hear(workers, worker, "x").bytes, "x");
    }
  }
}

TEST(ProcessWorkers, AProgramThatIsNotThere) {
  ProcessWorkers workers({.program = "/nowhere/meguri", .arguments = {}, .workers = 1});
  const auto status = workers.start(0);
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code(), base::ErrorCode::kNotFound);
}

}  // namespace
}  // namespace meguri::scan
