// How fast the virtual web answers, so that it is not what a crawl benchmark measures: in process,
// and over sockets with wrk as the client, beside a server that does nothing but send bytes.
#include <fcntl.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/check.h"
#include "bench/benches.h"
#include "bench/timing.h"
#include "sim/world.h"

namespace meguri::bench {
namespace {

constexpr std::uint64_t kHosts = 1'000'000;
constexpr std::uint64_t kPages = 100'000'000;
constexpr std::size_t kTargets = 2'000;  // that the client asks for in turn
constexpr int kConnections = 64;
constexpr double kRequestsGoal = 15'000;
constexpr double kMemoryGoalMb = 300;

struct Target {
  std::string host;
  std::string path;
};

sim::World big_world() {
  sim::WorldOptions options;
  options.census.hosts = kHosts;
  options.census.pages = kPages;
  options.start = base::Instant::from_ms(1'767'225'600'000);
  options.delay_mean = {};
  return sim::World(options);
}

// Pages that answer with 200 now, on hosts that keep connections, of about 20 KB on the mean.
std::vector<Target> choose_targets(const sim::World& world, base::Instant now) {
  std::vector<Target> targets;
  sim::Dice dice{20'000};
  while (targets.size() < kTargets) {
    const sim::HostNumber host = dice.below(kHosts);
    const sim::Site site(world.census(), host);
    const sim::PageNumber page = dice.below(site.pages());
    if (site.closes() || site.is_http10() || world.status_of(site, page, now) != 200) continue;
    targets.push_back({world.census().name_of(host), site.address_of(page)});
  }
  return targets;
}

void measure_in_process(const sim::World& world, const std::vector<Target>& targets,
                        base::Instant now, Report& report) {
  double bytes = 0;
  const double rate = best_rate(static_cast<double>(targets.size()), [&] {
    bytes = 0;
    return seconds_of([&] {
      for (const Target& target : targets) {
        sim::Request request;
        request.origin.host = target.host;
        request.target = target.path;
        bytes += static_cast<double>(world.answer(request, now).body.size());
      }
    });
  });
  report.add("answers in process, one core", rate, "answers/s");
  report.add("mean page", bytes / static_cast<double>(targets.size()) / 1000, "KB");
}

// A child of ours on one core; stopped by the destructor.
class Child {
 public:
  // `run` is what the child does; it never returns.
  template <typename Run>
  explicit Child(int core, Run run) : pid_(::fork()) {
    CHECK(pid_ >= 0, "cannot fork");
    if (pid_ > 0) return;
    ::signal(SIGTERM, SIG_DFL);  // ours removes the scratch folder
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(static_cast<std::size_t>(core), &set);
    ::sched_setaffinity(0, sizeof(set), &set);
    run();
    ::_exit(127);
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child() {
    ::kill(pid_, SIGTERM);
    ::waitpid(pid_, nullptr, 0);
  }

  // Seconds of CPU used, in user mode and in the kernel.
  double cpu_seconds() const {
    std::ifstream file(fmt::format("/proc/{}/stat", pid_));
    std::string text((std::istreambuf_iterator<char>(file)), {});
    double user = 0;
    double kernel = 0;
    const std::size_t name_end = text.rfind(')');
    if (name_end == std::string::npos) return 0;
    std::sscanf(text.c_str() + name_end + 1, " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lf %lf",
                &user, &kernel);
    return (user + kernel) / static_cast<double>(::sysconf(_SC_CLK_TCK));
  }

  double peak_mb() const {
    std::ifstream file(fmt::format("/proc/{}/status", pid_));
    for (std::string line; std::getline(file, line);) {
      if (line.starts_with("VmHWM:")) return std::strtod(line.c_str() + 6, nullptr) * 1024 / 1e6;
    }
    return 0;
  }

 private:
  pid_t pid_;
};

std::string program_beside_this() {
  std::array<char, PATH_MAX> buffer{};
  const ssize_t length = ::readlink("/proc/self/exe", buffer.data(), buffer.size());
  CHECK(length > 0);
  const std::string path(buffer.data(), static_cast<std::size_t>(length));
  return path.substr(0, path.rfind('/')) + "/meguri";
}

// What wrk measured.
struct WrkResult {
  double requests_per_second = 0;
  double errors = 0;
};

// The number behind `label` in a text; 0 if it is not there.
double number_after(const std::string& text, const std::string& label) {
  const std::size_t at = text.find(label);
  return at == std::string::npos ? 0 : std::strtod(text.c_str() + at + label.size(), nullptr);
}

base::Result<WrkResult> run_wrk(const Options& options, int core, int port) {
  const std::string command =
      fmt::format("taskset -c {} wrk -t1 -c{} -d{}s -s '{}/ask.lua' http://127.0.0.1:{}/ 2>&1",
                  core, kConnections, options.quick ? 3 : 10, options.dir, port);
  std::FILE* pipe = ::popen(command.c_str(), "r");
  if (pipe == nullptr) return base::fail(base::ErrorCode::kFailed, "cannot start wrk");
  std::string text;
  std::array<char, 4096> buffer{};
  while (std::fgets(buffer.data(), buffer.size(), pipe) != nullptr) text += buffer.data();
  ::pclose(pipe);
  const double rate = number_after(text, "Requests/sec:");
  if (rate == 0) {
    return base::fail(base::ErrorCode::kFailed,
                      "wrk measured nothing; is it installed? It said: {}", text);
  }
  const double errors = number_after(text, "Non-2xx or 3xx responses:") +
                        (text.find("Socket errors") == std::string::npos ? 0 : 1);
  return WrkResult{rate, errors};
}

void write_script(const Options& options, const std::vector<Target>& targets) {
  std::ofstream list(options.dir + "/targets");
  for (const Target& target : targets) list << target.host << '\t' << target.path << '\n';
  std::ofstream script(options.dir + "/ask.lua");
  script << "local requests = {}\nlocal i = 0\n"
            "function init(args)\n"
            "  for line in io.lines('"
         << options.dir
         << "/targets') do\n"
            "    local host, path = line:match('([^\\t]*)\\t(.*)')\n"
            "    requests[#requests + 1] = wrk.format('GET', path, {Host = host})\n"
            "  end\nend\n"
            "function request()\n  i = i % #requests + 1\n  return requests[i]\nend\n";
}

// Sends the same 20 KB to whoever sends a head: what sockets alone cost.
[[noreturn]] void serve_bytes(int listener) {
  const std::string body(20'000, 'x');
  const std::string answer =
      fmt::format("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{}", body.size(), body);
  const int poll = ::epoll_create1(0);
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.fd = listener;
  ::epoll_ctl(poll, EPOLL_CTL_ADD, listener, &event);
  std::array<epoll_event, 64> events{};
  std::array<char, 4096> buffer{};
  for (;;) {
    const int count = ::epoll_wait(poll, events.data(), events.size(), -1);
    for (int i = 0; i < count; ++i) {
      const int fd = events[static_cast<std::size_t>(i)].data.fd;
      if (fd == listener) {
        const int accepted = ::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC);
        const int yes = 1;
        ::setsockopt(accepted, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes));
        event.data.fd = accepted;
        ::epoll_ctl(poll, EPOLL_CTL_ADD, accepted, &event);
      } else if (::recv(fd, buffer.data(), buffer.size(), 0) > 0) {
        // One request at a time from each connection, and a head always fits.
        ::send(fd, answer.data(), answer.size(), MSG_NOSIGNAL);
      } else {
        ::close(fd);
      }
    }
  }
}

base::Status measure_limit(const Options& options, int client_core, Report& report, double* limit) {
  const int listener = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof(address);
  auto* generic = reinterpret_cast<sockaddr*>(&address);
  if (::bind(listener, generic, length) != 0 || ::listen(listener, 128) != 0 ||
      ::getsockname(listener, generic, &length) != 0) {
    return base::fail(base::ErrorCode::kFailed, "cannot listen on any port");
  }
  const Child server(0, [listener] { serve_bytes(listener); });
  ::close(listener);
  const double before = server.cpu_seconds();
  ASSIGN_OR_RETURN(const WrkResult result, run_wrk(options, client_core, ntohs(address.sin_port)));
  const double seconds = options.quick ? 3 : 10;
  report.add("a loop that sends 20 KB, one core", result.requests_per_second, "requests/s");
  *limit = (server.cpu_seconds() - before) / (result.requests_per_second * seconds) * 1e6;
  report.add("its CPU per request", *limit, "µs");
  return {};
}

// Starts the product itself and waits until it is ready.
base::Status measure_sockets(const Options& options, int client_core, double limit,
                             Report& report) {
  std::array<int, 2> ends{};
  CHECK(::pipe(ends.data()) == 0);
  const std::string program = program_beside_this();
  const Child server(0, [&] {
    ::dup2(ends[1], STDOUT_FILENO);
    const int null = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
    ::dup2(null, STDERR_FILENO);
    ::execl(program.c_str(), program.c_str(), "virtual-web", "--hosts", "1M", "--pages", "100M",
            "--port", "0", "--dns-port", "0", "--delay", "0", "--json", nullptr);
  });
  ::close(ends[1]);
  std::string line;
  for (char c = 0; ::read(ends[0], &c, 1) == 1 && c != '\n';) line.push_back(c);
  ::close(ends[0]);
  const auto ready = nlohmann::json::parse(line, nullptr, false);
  if (ready.is_discarded()) {
    return base::fail(base::ErrorCode::kFailed, "{} virtual-web did not start", program);
  }
  const double before = server.cpu_seconds();
  ASSIGN_OR_RETURN(const WrkResult result, run_wrk(options, client_core, ready["port"].get<int>()));
  const double seconds = options.quick ? 3 : 10;
  report.add("requests over kept-alive connections, one core", result.requests_per_second,
             "requests/s", Goal::at_least(kRequestsGoal));
  const double cpu = (server.cpu_seconds() - before) / (result.requests_per_second * seconds) * 1e6;
  report.add("its CPU per request", cpu, "µs");
  report.add("its CPU against the loop's", cpu / limit, "ratio");
  report.add("answers that were no page", result.errors, "answers", Goal::at_most(0));
  report.add("memory of a web of 1 M hosts", server.peak_mb(), "MB", Goal::at_most(kMemoryGoalMb));
  return {};
}

}  // namespace

base::Status run_virtual_web(const Options& options, Report& report) {
  const int client_core = ::sysconf(_SC_NPROCESSORS_ONLN) > 1 ? 1 : 0;
  const base::Instant now = env::RealClock().utc();
  {
    const sim::World world = big_world();
    const std::vector<Target> targets = choose_targets(world, now);
    measure_in_process(world, targets, now, report);
    write_script(options, targets);
  }
  double limit = 0;
  RETURN_IF_ERROR(measure_limit(options, client_core, report, &limit));
  return measure_sockets(options, client_core, limit, report);
}

}  // namespace meguri::bench
