#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "app/archive_door.h"
#include "app/archive_state.h"
#include "app/command.h"
#include "app/crawl_answers.h"
#include "app/values.h"
#include "base/text.h"
#include "base/time.h"
#include "crawl/options.h"
#include "env/posix_file_system.h"

namespace meguri::app {
namespace {

constexpr std::size_t kColumns = 12;
using Row = std::array<std::string, kColumns>;

// "12 of 14": so many were right.
std::string hints_of(const nlohmann::json& host) {
  const auto hints = host.find("hints");
  if (hints == host.end() || !hints->is_object()) return "-";
  const double right = hints->value("right", 0.0);
  const double all = right + hints->value("wrong", 0.0);
  return all < 0.5 ? "-" : fmt::format("{:.0f} of {:.0f}", right, all);
}

Row row_of(const nlohmann::json& host) {
  const auto text = [&host](const char* name) {
    const auto found = host.find(name);
    return found != host.end() && found->is_string() ? printable(found->get<std::string>())
                                                     : std::string("-");
  };
  const auto number = [&host](const char* name) { return host.value(name, std::uint64_t{0}); };
  const auto delay_ms = static_cast<std::int64_t>(number("crawl_delay_ms"));
  const std::string address = text("address");
  return {text("host"),
          std::to_string(number("pages")),
          std::to_string(number("waiting") + number("in_flight")),
          std::to_string(number("done")),
          address.empty() ? "-" : address,
          delay_ms == 0 ? "-" : base::Duration::from_ms(delay_ms).to_string(),
          text("load"),
          hints_of(host),
          text("last_access"),
          text("robots"),
          std::to_string(number("errors")),
          text("waits_for")};
}

void print_table(const std::vector<Row>& rows, Output& out) {
  std::array<std::size_t, kColumns> widths{};
  for (const Row& row : rows) {
    for (std::size_t i = 0; i < kColumns; ++i) {
      widths[i] = std::max(widths[i], base::display_columns(row[i]));
    }
  }
  for (const Row& row : rows) {
    std::string line;
    for (std::size_t i = 0; i < kColumns; ++i) {
      line += row[i];
      if (i + 1 == kColumns) break;
      line.append(widths[i] - base::display_columns(row[i]) + 2, ' ');
    }
    out.print("{}\n", line);
  }
}

class HostsCommand final : public Command {
 public:
  void declare(Options options) override {
    options.argument("DIR", archive_, "The archive");
    options.any_arguments("HOST", hosts_, "Only these hosts");
    options.option("--limit", "N", limit_, "Show so many hosts at most (default: 20)");
    options.option("--sort", "ORDER", order_,
                   "Those first that have the most waiting, errors, pages or delay");
    options.flag("--json", json_, "Print one JSON object");
  }

  base::Status run(Output& out) override;

 private:
  base::Result<crawl::AskHosts> ask() const;

  std::string archive_;
  std::vector<std::string> hosts_;
  std::string limit_;
  std::string order_;
  bool json_ = false;
};

base::Result<crawl::AskHosts> HostsCommand::ask() const {
  crawl::AskHosts ask;
  ASSIGN_OR_RETURN(ask.hosts, host_names_of(hosts_));
  if (!limit_.empty()) {
    ASSIGN_OR_RETURN(const std::uint64_t limit, parse_count("--limit", limit_));
    ask.limit = std::min<std::uint64_t>(limit, crawl::kHostRowsMax);
  }
  if (!order_.empty()) {
    const auto order = crawl::host_order_of(order_);
    if (!order) {
      return base::fail(base::ErrorCode::kInvalid,
                        "--sort takes waiting, errors, pages or delay, not {}",
                        base::quoted(order_));
    }
    ask.order = *order;
  }
  return ask;
}

base::Status HostsCommand::run(Output& out) {
  env::PosixFileSystem files;
  ASSIGN_OR_RETURN(const crawl::AskHosts asked, ask());
  const nlohmann::json request = {{"command", "hosts"},
                                  {"hosts", asked.hosts},
                                  {"order", crawl::name_of(asked.order)},
                                  {"limit", asked.limit}};
  const auto offline = [&](const ArchiveDoor& door) -> base::Result<nlohmann::json> {
    ASSIGN_OR_RETURN(const ArchiveState state,
                     ArchiveState::load(files, door.state_dir(), crawl::CrawlOptions().agent));
    return to_json(state.hosts(asked));
  };
  ASSIGN_OR_RETURN(nlohmann::json answer, ask_archive(files, archive_, request, offline));
  if (json_) {
    answer.erase("ok");
    out.print("{}\n", answer.dump());
    return {};
  }
  std::vector<Row> rows = {{"HOST", "PAGES", "WAITING", "DONE", "ADDRESS", "DELAY", "LOAD",
                            "HINTS RIGHT", "LAST ACCESS", "ROBOTS", "ERRORS", "WAITS FOR"}};
  const nlohmann::json hosts = answer.value("hosts", nlohmann::json::array());
  for (const nlohmann::json& host : hosts) rows.push_back(row_of(host));
  if (rows.size() == 1) {
    out.print("no such host\n");
  } else {
    print_table(rows, out);
  }
  return {};
}

}  // namespace

std::unique_ptr<Command> make_hosts_command() { return std::make_unique<HostsCommand>(); }

}  // namespace meguri::app
