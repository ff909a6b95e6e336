#include "crawl/host_table.h"

#include <algorithm>
#include <limits>
#include <optional>

#include "base/check.h"
#include "base/text.h"
#include "crawl/host_key.h"
#include "flow/codec.h"

namespace meguri::crawl {

namespace {

// Keys of the store: the kind, then the host's name, or the site's port and origin.
constexpr char kHostEntry = 'h';
constexpr char kSiteEntry = 's';

}  // namespace

HostIndex HostTable::host_of(std::string_view name) {
  CHECK(name.size() <= kNameBytesMax);
  host_key(name, &key_);
  if (const auto known = names_.get(key_)) return *known;
  const auto index = static_cast<HostIndex>(hosts_.size());
  names_.put(key_, index);
  HostRecord& host = hosts_.emplace_back();
  host.name = name;
  host.hash = host_hash_of(name);
  host.policy = &rules_.of(name);
  return index;
}

const HostRecord* HostTable::find(std::string_view name) const {
  if (name.size() > kNameBytesMax) return nullptr;
  const auto known = names_.get(host_key(name));
  return known ? &hosts_[*known] : nullptr;
}

SiteIndex HostTable::site_of(const web::Url& url, std::uint16_t port) {
  const HostIndex host = host_of(url.host());
  const bool is_https = url.scheme() == "https";
  for (const SiteIndex i : hosts_[host].sites) {
    if (sites_[i].is_https == is_https && sites_[i].port == port) return i;
  }
  const auto index = static_cast<SiteIndex>(sites_.size());
  SiteRecord& site = sites_.emplace_back();
  site.host = host;
  site.is_https = is_https;
  site.port = port;
  site.origin = url.origin();
  hosts_[host].sites.push_back(index);
  return index;
}

void HostTable::update_delay(HostIndex i) {
  std::int64_t longest = 0;
  for (const SiteIndex site : hosts_[i].sites) {
    const RobotsRecord& robots = sites_[site].robots;
    const auto delay = robots.is_known ? robots.rules.crawl_delay() : std::nullopt;
    if (delay) longest = std::max(longest, delay->ms());
  }
  const std::int64_t most = std::numeric_limits<std::uint32_t>::max();
  hosts_[i].crawl_delay_ms = static_cast<std::uint32_t>(std::min(longest, most));
}

void HostTable::touch_host(HostIndex i) {
  if (hosts_[i].is_dirty) return;
  hosts_[i].is_dirty = true;
  dirty_hosts_.push_back(i);
}

void HostTable::touch_site(SiteIndex i) {
  if (sites_[i].is_dirty) return;
  sites_[i].is_dirty = true;
  dirty_sites_.push_back(i);
}

void HostTable::count_stored(std::uint32_t& stored_bytes, std::string_view key,
                             std::string_view value) {
  stored_bytes_ -= stored_bytes;
  stored_bytes = static_cast<std::uint32_t>(DurableLog::bytes_of(key, value));
  stored_bytes_ += stored_bytes;
}

void HostTable::save_host(DurableLog& store, HostIndex i) {
  HostRecord& host = hosts_[i];
  const std::string key = kHostEntry + host.name;
  std::string value;
  flow::put_fixed(value, static_cast<std::uint64_t>(host.last_access.ms()));
  flow::put_fixed(value, static_cast<std::uint64_t>(host.last_duration.ms()));
  flow::put_fixed(value, static_cast<std::uint64_t>(host.longest_duration.ms()));
  flow::put_fixed(value, static_cast<std::uint64_t>(host.mean_duration.ms()));
  flow::put_fixed(value, host.errors);
  flow::put_fixed(value, static_cast<std::uint64_t>(host.hold_until.ms()));
  store.put(key, value);
  count_stored(host.stored_bytes, key, value);
  host.is_dirty = false;
}

void HostTable::save_site(DurableLog& store, SiteIndex i, std::string_view agent) {
  SiteRecord& site = sites_[i];
  std::string key(1, kSiteEntry);
  flow::put_fixed(key, site.port);
  key += site.origin;
  const std::string value = encode_robots(site.robots, agent);
  store.put(key, value);
  count_stored(site.stored_bytes, key, value);
  site.is_dirty = false;
}

void HostTable::save_changes(DurableLog& store, std::string_view agent) {
  for (const HostIndex i : dirty_hosts_) save_host(store, i);
  for (const SiteIndex i : dirty_sites_) save_site(store, i, agent);
  dirty_hosts_.clear();
  dirty_sites_.clear();
}

void HostTable::save_all(DurableLog& store, std::string_view agent) {
  for (HostIndex i = 0; i < hosts_.size(); ++i) {
    if (hosts_[i].stored_bytes > 0) save_host(store, i);
  }
  for (SiteIndex i = 0; i < sites_.size(); ++i) {
    if (sites_[i].stored_bytes > 0) save_site(store, i, agent);
  }
}

base::Status HostTable::load(std::string_view key, std::optional<std::string_view> value,
                             std::string_view agent) {
  bool is_known = value && !key.empty();
  if (is_known && key.front() == kHostEntry) {
    is_known = load_host(key, *value);
  } else if (is_known) {
    is_known = key.front() == kSiteEntry && load_site(key, *value, agent);
  }
  if (is_known) return {};
  return base::fail(base::ErrorCode::kCorrupt, "a bad entry: {}", base::quoted(key));
}

bool HostTable::load_host(std::string_view key, std::string_view value) {
  const std::string_view name = key.substr(1);
  if (name.size() > kNameBytesMax) return false;
  HostRecord& host = hosts_[host_of(name)];
  count_stored(host.stored_bytes, key, value);
  std::uint64_t last_access = 0;
  std::uint64_t last_duration = 0;
  std::uint64_t longest_duration = 0;
  std::uint64_t mean_duration = 0;
  std::uint64_t hold_until = 0;
  if (!flow::take_fixed(value, last_access) || !flow::take_fixed(value, last_duration) ||
      !flow::take_fixed(value, longest_duration) || !flow::take_fixed(value, mean_duration) ||
      !flow::take_fixed(value, host.errors) || !flow::take_fixed(value, hold_until) ||
      !value.empty()) {
    return false;
  }
  host.last_access = base::Instant::from_ms(static_cast<std::int64_t>(last_access));
  host.last_duration = base::Duration::from_ms(static_cast<std::int64_t>(last_duration));
  host.longest_duration = base::Duration::from_ms(static_cast<std::int64_t>(longest_duration));
  host.mean_duration = base::Duration::from_ms(static_cast<std::int64_t>(mean_duration));
  host.hold_until = base::Instant::from_ms(static_cast<std::int64_t>(hold_until));
  return true;
}

bool HostTable::load_site(std::string_view key, std::string_view value, std::string_view agent) {
  std::string_view origin = key.substr(1);
  std::uint16_t port = 0;
  if (!flow::take_fixed(origin, port)) return false;
  const auto url = web::Url::parse(origin);
  if (!url || !url->is_http() || url->host().size() > kNameBytesMax) return false;
  SiteRecord& site = sites_[site_of(*url, port)];
  count_stored(site.stored_bytes, key, value);
  if (!decode_robots(value, agent, site.robots)) return false;
  update_delay(site.host);
  return true;
}

}  // namespace meguri::crawl
