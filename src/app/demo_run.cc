#include "app/demo_run.h"

#include <fmt/format.h>

#include <csignal>
#include <nlohmann/json.hpp>
#include <utility>

#include "app/output.h"

namespace meguri::app {
namespace {

using base::Duration;

constexpr Duration kLookEvery = Duration::from_ms(100);
constexpr Duration kWebPatience = Duration::seconds(30);
constexpr Duration kCrawlPatience = Duration::minutes(15);

void append(std::vector<std::string>& list, const std::vector<std::string>& more) {
  list.insert(list.end(), more.begin(), more.end());
}

}  // namespace

DemoRun::DemoRun(const StopSignals& signals, std::string folder, std::uint64_t pages)
    : signals_(signals),
      folder_(std::move(folder)),
      begin_(clock_.ticks()),
      web_(pages, clock_.utc()),
      tail_(files_, path("access.log")) {}

std::string DemoRun::path(std::string_view name) const {
  return fmt::format("{}/{}", folder_, name);
}

base::Status DemoRun::rest() const {
  if (!signals_.wait(kLookEvery)) return {};
  return base::fail(base::ErrorCode::kStopped, "stopped before the end");
}

// The last line that a child said on stderr, as its reason.
std::string DemoRun::last_words(const std::string& name) {
  std::string text = env::read_file(files_, path(name)).value_or("");
  while (text.ends_with('\n') || text.ends_with('.')) text.pop_back();
  const std::size_t begin = text.rfind('\n');
  if (begin != text.npos) text.erase(0, begin + 1);
  return text.empty() ? "it said nothing" : printable(text);
}

base::Status DemoRun::start_web() {
  std::vector<std::string> arguments = {"virtual-web", "--port", "0",     "--dns-port",
                                        "0",           "--json", "--log", path("access.log")};
  append(arguments, web_.world_arguments());
  append(arguments, web_.clock_arguments());
  ASSIGN_OR_RETURN(ChildProgram process,
                   ChildProgram::start(arguments, path("web.json"), path("web.err")));
  web_process_.emplace(std::move(process));
  const base::Ticks start = clock_.ticks();
  for (;;) {
    ASSIGN_OR_RETURN(const std::string line, env::read_file(files_, path("web.json")));
    if (line.ends_with('\n')) {
      const auto ready = nlohmann::json::parse(line);
      seed_ = ready.at("first");
      dns_ = ready.at("dns");
      port_ = fmt::format(":{}", ready.at("port").get<int>());
      return {};
    }
    if (web_process_->exit_code() || clock_.ticks() - start > kWebPatience) {
      return base::fail(base::ErrorCode::kFailed, "the virtual web did not start: {}",
                        last_words("web.err"));
    }
    RETURN_IF_ERROR(rest());
  }
}

base::Result<std::string> DemoRun::ask(const std::vector<std::string>& arguments) {
  ASSIGN_OR_RETURN(ChildProgram process,
                   ChildProgram::start(arguments, path("answer.txt"), path("answer.err")));
  while (!process.exit_code()) RETURN_IF_ERROR(rest());
  if (process.wait() != 0) {
    return base::fail(base::ErrorCode::kFailed, "'meguri {}' failed: {}", arguments.front(),
                      last_words("answer.err"));
  }
  ASSIGN_OR_RETURN(std::string answer, env::read_file(files_, path("answer.txt")));
  RETURN_IF_ERROR(files_.remove(path("answer.txt")));
  RETURN_IF_ERROR(files_.remove(path("answer.err")));
  return answer;
}

base::Result<std::vector<sim::Access>> DemoRun::stop_web() {
  web_process_->send(SIGTERM);
  if (web_process_->wait() != 0) {
    return base::fail(base::ErrorCode::kFailed, "the virtual web failed: {}",
                      last_words("web.err"));
  }
  ASSIGN_OR_RETURN(const std::string text, env::read_file(files_, path("access.log")));
  return sim::parse_access_log(text);
}

base::Status DemoRun::start_crawl() {
  std::vector<std::string> arguments = {
      "crawl",  seed_,   "--archive", path("archive"),   "--once",     "--scope", "any",
      "--json", "--dns", dns_,        "--allow-network", "127.0.0.0/8"};
  append(arguments, web_.clock_arguments());
  ASSIGN_OR_RETURN(ChildProgram process,
                   ChildProgram::start(arguments, path("crawl.json"), path("crawl.err")));
  crawl_process_.emplace(std::move(process));
  return {};
}

base::Result<bool> DemoRun::watch_crawl(std::optional<std::size_t> addresses,
                                        const Watcher& watcher) {
  const base::Ticks start = clock_.ticks();
  const std::uint64_t requests_before = tail_.requests();
  for (;;) {
    RETURN_IF_ERROR(rest());
    const std::optional<int> exit_code = crawl_process_->exit_code();
    RETURN_IF_ERROR(tail_.read());
    const base::Ticks now = clock_.ticks();
    const double time = (now - start).in_seconds();
    watcher(
        {.now = now,
         .addresses = tail_.addresses(),
         .hosts = tail_.hosts(),
         .requests_per_second = static_cast<double>(tail_.requests() - requests_before) / time});
    const bool is_enough = addresses && tail_.addresses() >= *addresses;
    if (exit_code || is_enough) {
      crawl_seconds_ += time;
      if (exit_code.value_or(0) == 0) return exit_code.has_value();
      return base::fail(base::ErrorCode::kFailed, "the crawl failed: {}", last_words("crawl.err"));
    }
    if (now - start > kCrawlPatience) {
      return base::fail(base::ErrorCode::kFailed, "the crawl has not ended after {}",
                        kCrawlPatience.to_string());
    }
  }
}

base::Status DemoRun::kill_crawl() {
  crawl_process_->send(SIGKILL);
  crawl_process_->wait();
  return tail_.read();
}

}  // namespace meguri::app
