// What tests need of the machine: a folder of their own, and processes they may kill.
#pragma once

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "base/check.h"

namespace meguri::env {

// A new empty folder, removed with all that is in it at the end.
class TempDir {
 public:
  TempDir() : path_(std::filesystem::temp_directory_path() / "meguri-test-XXXXXX") {
    CHECK(::mkdtemp(path_.data()) != nullptr, "cannot make {}", path_);
  }
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;
  ~TempDir() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  const std::string& path() const { return path_; }
  std::string path(std::string_view name) const { return fmt::format("{}/{}", path_, name); }

 private:
  std::string path_;
};

// A program inside the test program, run by ChildProcess in a process of its own:
//
//   void hold_lock(const std::string& path) { ...; say("held"); ... }
//   const ChildProgram lock_holder("hold_lock", hold_lock);  // at namespace scope
class ChildProgram {
 public:
  ChildProgram(std::string name, void (*run)(const std::string& argument))
      : name_(std::move(name)) {
    const char* const wanted = std::getenv("MEGURI_TEST_CHILD");
    if (wanted == nullptr || name_ != wanted) return;
    run(std::getenv("MEGURI_TEST_CHILD_ARGUMENT"));
    std::_Exit(0);  // as sudden as it gets without a signal: nothing is flushed or closed
  }
  const std::string& name() const { return name_; }

  // In the child: tells the test a line.
  static void say(std::string_view line) {
    const std::string bytes = fmt::format("{}\n", line);
    CHECK(::write(STDOUT_FILENO, bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size()));
  }

 private:
  std::string name_;
};

// A running ChildProgram. Killed at the end, if it still runs. Thread-compatible.
class ChildProcess {
 public:
  ChildProcess(const ChildProgram& program, const std::string& argument) {
    std::array<int, 2> ends{};
    CHECK(::pipe2(ends.data(), O_CLOEXEC) == 0);
    posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    std::vector<std::string> settings = {"MEGURI_TEST_CHILD=" + program.name(),
                                         "MEGURI_TEST_CHILD_ARGUMENT=" + argument};
    std::vector<char*> environment;
    for (char** entry = environ; *entry != nullptr; ++entry) environment.push_back(*entry);
    for (std::string& setting : settings) environment.push_back(setting.data());
    environment.push_back(nullptr);
    std::string name = "child";
    std::array<char*, 2> arguments = {name.data(), nullptr};
    const int failure = ::posix_spawn(&pid_, "/proc/self/exe", &actions, nullptr, arguments.data(),
                                      environment.data());
    CHECK(failure == 0, "cannot start a child process: {}", failure);
    ::posix_spawn_file_actions_destroy(&actions);
    ::close(ends[1]);
    output_ = ends[0];
  }
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;
  ~ChildProcess() {
    if (pid_ > 0) kill();
    ::close(output_);
  }

  pid_t pid() const { return pid_; }

  // Waits for the next line the child says; empty at its end.
  std::string read_line() {
    std::string line;
    char c = '\0';
    while (::read(output_, &c, 1) == 1 && c != '\n') line += c;
    return line;
  }

  void kill() {
    ::kill(pid_, SIGKILL);
    wait();
  }

  // Waits for its end; true if it ended by itself and well.
  bool wait() {
    int status = 0;
    CHECK(::waitpid(pid_, &status, 0) == pid_);
    pid_ = -1;
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
  }

 private:
  pid_t pid_ = -1;
  int output_ = -1;
};

}  // namespace meguri::env
