#include "crawl/host_page_counts.h"

#include <algorithm>
#include <bit>
#include <optional>
#include <utility>

#include "flow/codec.h"

namespace meguri::crawl {

namespace {

constexpr std::size_t kValueBytes = 7 * sizeof(std::uint64_t);

// Keys are the places of hosts in their order, so that this survives: a name follows the counts.
std::string key_of(Index host) {
  std::string key;
  flow::put_fixed(key, std::uint32_t{host});
  return key;
}

bool take_double(std::string_view& bytes, double& number) {
  std::uint64_t bits = 0;
  if (!flow::take_fixed(bytes, bits)) return false;
  number = std::bit_cast<double>(bits);
  return true;
}

bool take_instant(std::string_view& bytes, base::Instant& instant) {
  std::uint64_t ms = 0;
  if (!flow::take_fixed(bytes, ms)) return false;
  instant = base::Instant::from_ms(static_cast<std::int64_t>(ms));
  return true;
}

void put_double(std::string& out, double number) {
  flow::put_fixed(out, std::bit_cast<std::uint64_t>(number));
}

void put_instant(std::string& out, base::Instant instant) {
  flow::put_fixed(out, static_cast<std::uint64_t>(instant.ms()));
}

base::Status load(std::vector<HostPageCounts::Host>& hosts, std::string_view key,
                  std::optional<std::string_view> value) {
  std::uint32_t index = 0;
  HostPageCounts::Host host;
  const bool is_one = value && flow::take_fixed(key, index) && key.empty() &&
                      flow::take_fixed(*value, host.pages) && flow::take_fixed(*value, host.done) &&
                      take_double(*value, host.load) && take_instant(*value, host.since) &&
                      take_double(*value, host.hints.right) &&
                      take_double(*value, host.hints.wrong) &&
                      take_instant(*value, host.hints.as_of);
  if (!is_one || index > hosts.size()) {
    return base::fail(base::ErrorCode::kCorrupt, "the counts of a host cannot be decoded");
  }
  host.name = *value;
  if (index == hosts.size()) {
    hosts.push_back(std::move(host));
  } else {
    hosts[index] = std::move(host);
  }
  return {};
}

std::uint64_t bytes_of(const HostPageCounts::Host& host) {
  return DurableLog::bytes_of({}, {}) + sizeof(std::uint32_t) + kValueBytes + host.name.size();
}

}  // namespace

base::Result<std::unique_ptr<HostPageCounts>> HostPageCounts::open(env::FileSystem& files,
                                                                   std::string dir,
                                                                   std::string_view state) {
  auto counts = std::make_unique<HostPageCounts>();
  std::vector<Host> hosts;
  const auto apply = [&](std::string_view key, std::optional<std::string_view> value) {
    return load(hosts, key, value);
  };
  ASSIGN_OR_RETURN(counts->log_, DurableLog::open(files, std::move(dir), state, apply));
  for (Host& host : hosts) {
    counts->live_bytes_ += bytes_of(host);
    counts->hosts_.push_back({std::move(host)});
  }
  return counts;
}

base::Result<std::vector<HostPageCounts::Host>> HostPageCounts::read(env::FileSystem& files,
                                                                     std::string dir,
                                                                     std::string_view state) {
  std::vector<Host> hosts;
  RETURN_IF_ERROR(
      DurableLog::read(files, std::move(dir), state,
                       [&](std::string_view key, std::optional<std::string_view> value) {
                         return load(hosts, key, value);
                       }));
  return hosts;
}

Index HostPageCounts::add_host(std::string_view name, base::Instant now) {
  const auto host = static_cast<Index>(hosts_.size());
  hosts_.push_back({{.name = std::string(name), .since = now}});
  live_bytes_ += bytes_of(hosts_.back().counts);
  touch(host);
  return host;
}

void HostPageCounts::count_page(Index host) {
  ++hosts_[host].counts.pages;
  touch(host);
}

void HostPageCounts::count_done(Index host) {
  ++hosts_[host].counts.done;
  touch(host);
}

// What is added and taken away again leaves a little, by rounding.
void HostPageCounts::change_load(Index host, double visits_a_day) {
  if (visits_a_day == 0) return;
  double& load = hosts_[host].counts.load;
  load = std::max(0.0, load + visits_a_day);
  touch(host);
}

void HostPageCounts::set_hints(Index host, const revisit::HintRecord& hints) {
  hosts_[host].counts.hints = hints;
  touch(host);
}

void HostPageCounts::touch(Index host) {
  if (std::exchange(hosts_[host].is_dirty, true)) return;
  dirty_.push_back(host);
}

void HostPageCounts::save(DurableLog& log, Index host) const {
  const Host& counts = hosts_[host].counts;
  std::string value;
  flow::put_fixed(value, counts.pages);
  flow::put_fixed(value, counts.done);
  put_double(value, counts.load);
  put_instant(value, counts.since);
  put_double(value, counts.hints.right);
  put_double(value, counts.hints.wrong);
  put_instant(value, counts.hints.as_of);
  log.put(key_of(host), value + counts.name);
}

// New hosts are saved in their order, because they were touched in it.
base::Result<std::string> HostPageCounts::commit(flow::EpochId epoch) {
  for (const Index host : dirty_) {
    save(*log_, host);
    hosts_[host].is_dirty = false;
  }
  dirty_.clear();
  return log_->commit(epoch, live_bytes_, [this](DurableLog& log) {
    for (Index host = 0; host < hosts_.size(); ++host) save(log, host);
  });
}

}  // namespace meguri::crawl
