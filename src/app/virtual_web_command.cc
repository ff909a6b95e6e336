#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <thread>

#include "app/stop_signals.h"
#include "app/values.h"
#include "app/virtual_web.h"
#include "base/console.h"
#include "base/mutex.h"
#include "env/posix_file_system.h"
#include "sim/http_server.h"
#include "sim/name_server.h"
#include "sim/server_address.h"

namespace meguri::app {
namespace {

constexpr std::uint16_t kPort = 8080;
constexpr std::uint16_t kDnsPort = 5300;

// The access log as a file. Thread-safe. The first failure is kept and said at the end.
class LogFile {
 public:
  explicit LogFile(std::unique_ptr<env::WritableFile> file) : file_(std::move(file)) {}

  void write(std::span<const sim::Access> accesses) {
    std::string lines;
    for (const sim::Access& access : accesses) lines += sim::to_line(access);
    const base::MutexLock lock(mutex_);
    if (status_) status_ = file_->append(lines);
  }
  base::Status finish() {
    const base::MutexLock lock(mutex_);
    if (status_) status_ = file_->sync();
    return status_;
  }

 private:
  base::Mutex mutex_;
  std::unique_ptr<env::WritableFile> file_ GUARDED_BY(mutex_);
  base::Status status_ GUARDED_BY(mutex_);
};

class VirtualWebCommand final : public Command {
 public:
  void declare(Options options) override {
    world_.declare(options);
    speed_.declare(options);
    options.option("--port", "P", port_, "HTTP on this port; 0 for any free one (default: 8080)");
    options.option("--https-port", "P", https_port_, "HTTPS too, on this port; 0 for any free one");
    options.option("--ca", "FILE", ca_, "Write the certificate of its authority there, in PEM");
    options.option("--dns-port", "P", dns_port_,
                   "Answer names on this port of 127.0.0.1; 0 for any free one (default: 5300)");
    options.option("--threads", "N", threads_, "Threads that answer (default: 1)");
    options.option("--log", "FILE", log_, "Append every request to this file");
    options.option("--for", "DURATION", for_, "Stop after so much real time");
    options.flag("--json", json_, "Print one JSON object when ready");
    check_options_ =
        options.add_command("check", "Judge a crawler by the log, an archive by its captures",
                            "meguri virtual-web check --hosts 50 --log access.log");
    check_.declare(*check_options_);
    pages_options_ = options.add_command("pages", "List every page and its true versions",
                                         "meguri virtual-web pages --hosts 50 --until now");
    pages_.declare(*pages_options_);
    hostile_options_ = options.add_command("hostile", "List the hosts that mean harm",
                                           "meguri virtual-web hostile --json");
    hostile_.declare(*hostile_options_);
  }

  base::Status run(Output& out) override {
    if (check_options_->named()) return check_.run(out);
    if (pages_options_->named()) return pages_.run(out);
    if (hostile_options_->named()) return hostile_.run(out);
    return serve(out);
  }

 private:
  base::Result<sim::HttpServerOptions> server_options() const {
    sim::HttpServerOptions options;
    options.port = kPort;
    if (!port_.empty()) {
      ASSIGN_OR_RETURN(options.port, parse_port("--port", port_));
    }
    if (!https_port_.empty()) {
      ASSIGN_OR_RETURN(options.tls_port, parse_port("--https-port", https_port_));
    }
    if (options.tls_port.has_value() && ca_.empty()) {
      return base::fail(base::ErrorCode::kInvalid,
                        "--https-port needs --ca FILE, where clients find whom to trust");
    }
    if (!threads_.empty()) {
      ASSIGN_OR_RETURN(options.threads, parse_count("--threads", threads_));
      if (options.threads == 0 || options.threads > 256) {
        return base::fail(base::ErrorCode::kInvalid, "--threads takes 1 to 256, not {}", threads_);
      }
    }
    return options;
  }

  base::Status serve(Output& out) {
    const StopSignals signals;
    env::PosixFileSystem files;
    ASSIGN_OR_RETURN(const sim::WorldOptions options, world_.read(files));
    ASSIGN_OR_RETURN(const std::unique_ptr<env::Clock> clock, speed_.make());
    ASSIGN_OR_RETURN(sim::HttpServerOptions server_options, server_options());
    sim::NameServerOptions name_options;
    name_options.port = kDnsPort;
    if (!dns_port_.empty()) {
      ASSIGN_OR_RETURN(name_options.port, parse_port("--dns-port", dns_port_));
    }
    std::optional<base::Duration> limit;
    if (!for_.empty()) {
      ASSIGN_OR_RETURN(limit, parse_duration("--for", for_));
    }
    std::optional<LogFile> log;
    if (!log_.empty()) {
      ASSIGN_OR_RETURN(auto file, files.open_append(log_));
      log.emplace(std::move(file));
      server_options.access_log = [&](std::span<const sim::Access> accesses) {
        log->write(accesses);
      };
    }
    const sim::World world(options);
    name_options.hostile = world.hostile();
    ASSIGN_OR_RETURN(const auto server, sim::HttpServer::start(world, *clock, server_options));
    ASSIGN_OR_RETURN(const auto names, sim::NameServer::start(world.census(), name_options));
    if (!ca_.empty()) {
      RETURN_IF_ERROR(env::write_file_atomically(files, ca_, server->authority_pem()));
    }
    announce(world, *server, *names, out);
    RETURN_IF_ERROR(out.finish());
    signals.wait(limit);
    server->stop();
    base::Console::standard_error().write_line(
        fmt::format("{} requests on {} connections, {} names looked up", server->counts().requests,
                    server->counts().connections, names->counts().udp + names->counts().tcp));
    return log ? log->finish() : base::Status();
  }

  void announce(const sim::World& world, const sim::HttpServer& server,
                const sim::NameServer& names, Output& out) const {
    const sim::Census& census = world.census();
    const std::string first = census.name_of(census.host_of_rank(0));
    const std::string port = server.port() == 80 ? "" : fmt::format(":{}", server.port());
    const std::string seed = sim::Origin{"http", first, port}.text() + "/";
    if (json_) {
      nlohmann::json ready = {{"hosts", census.hosts()},
                              {"pages", census.pages()},
                              {"servers", census.servers()},
                              {"seed", census.seed()},
                              {"port", server.port()},
                              {"dns", fmt::format("127.0.0.1:{}", names.port())},
                              {"first", seed}};
      for (const sim::HostileHabit* habit : world.hostile().habits()) {
        ready["hostile"].push_back(sim::HostileWeb::host_of(*habit));
      }
      if (server.tls_port()) {
        ready["https_port"] = *server.tls_port();
        ready["ca"] = ca_;
      }
      out.print("{}\n", ready.dump());
      return;
    }
    out.print("{} hosts with {} pages on {} servers; begin at {}; HTTP on port {}", census.hosts(),
              census.pages(), census.servers(), seed, server.port());
    if (server.tls_port())
      out.print(", HTTPS on port {} (authority in {})", *server.tls_port(), ca_);
    out.print(", names from 127.0.0.1:{}\n", names.port());
    if (const std::size_t count = world.hostile().habits().size(); count > 0) {
      out.print("{} hostile hosts, such as http://{}{}/\n", count,
                sim::HostileWeb::host_of(*world.hostile().habits().front()), port);
    }
  }

  WorldArguments world_;
  SpeedArguments speed_;
  std::string port_;
  std::string https_port_;
  std::string ca_;
  std::string dns_port_;
  std::string threads_;
  std::string log_;
  std::string for_;
  bool json_ = false;
  std::optional<Options> check_options_;
  std::optional<Options> pages_options_;
  std::optional<Options> hostile_options_;
  VirtualWebCheck check_;
  VirtualWebPages pages_;
  VirtualWebHostile hostile_;
};

}  // namespace

std::unique_ptr<Command> make_virtual_web_command() {
  return std::make_unique<VirtualWebCommand>();
}

}  // namespace meguri::app
