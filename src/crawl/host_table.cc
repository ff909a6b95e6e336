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

base::Status bad_entry(std::string_view key) {
  return base::fail(base::ErrorCode::kCorrupt, "a bad entry: {}", base::quoted(key));
}

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

void HostTable::save_host(HostStore& store, HostIndex i) {
  HostRecord& host = hosts_[i];
  std::string value;
  flow::put_fixed(value, static_cast<std::uint64_t>(host.last_access.ms()));
  flow::put_fixed(value, static_cast<std::uint64_t>(host.last_duration.ms()));
  flow::put_fixed(value, host.errors);
  flow::put_fixed(value, static_cast<std::uint64_t>(host.hold_until.ms()));
  store.put(kHostEntry + host.name, value);
  host.is_dirty = false;
}

void HostTable::save_site(HostStore& store, SiteIndex i, std::string_view agent) {
  SiteRecord& site = sites_[i];
  std::string key(1, kSiteEntry);
  flow::put_fixed(key, site.port);
  store.put(key + site.origin, encode_robots(site.robots, agent));
  site.is_dirty = false;
}

void HostTable::save_changes(HostStore& store, std::string_view agent) {
  for (const HostIndex i : dirty_hosts_) save_host(store, i);
  for (const SiteIndex i : dirty_sites_) save_site(store, i, agent);
  dirty_hosts_.clear();
  dirty_sites_.clear();
}

void HostTable::save_all(HostStore& store, std::string_view agent) {
  for (HostIndex i = 0; i < hosts_.size(); ++i) save_host(store, i);
  for (SiteIndex i = 0; i < sites_.size(); ++i) save_site(store, i, agent);
  dirty_hosts_.clear();
  dirty_sites_.clear();
}

base::Status HostTable::load(std::string_view key, std::string_view value, std::string_view agent) {
  std::string_view name = key;
  std::uint8_t kind = 0;
  if (!flow::take_fixed(name, kind)) return bad_entry(key);
  if (kind == kHostEntry) {
    std::uint64_t last_access = 0;
    if (name.size() > kNameBytesMax) return bad_entry(key);
    HostRecord& host = hosts_[host_of(name)];
    std::uint64_t last_duration = 0;
    std::uint64_t hold_until = 0;
    if (!flow::take_fixed(value, last_access) || !flow::take_fixed(value, last_duration) ||
        !flow::take_fixed(value, host.errors) || !flow::take_fixed(value, hold_until) ||
        !value.empty()) {
      return bad_entry(key);
    }
    host.last_duration = base::Duration::from_ms(static_cast<std::int64_t>(last_duration));
    host.last_access = base::Instant::from_ms(static_cast<std::int64_t>(last_access));
    host.hold_until = base::Instant::from_ms(static_cast<std::int64_t>(hold_until));
    return {};
  }
  std::uint16_t port = 0;
  if (kind != kSiteEntry || !flow::take_fixed(name, port)) return bad_entry(key);
  const auto url = web::Url::parse(name);
  if (!url || !url->is_http() || url->host().size() > kNameBytesMax) return bad_entry(key);
  SiteRecord& site = sites_[site_of(*url, port)];
  if (!decode_robots(value, agent, site.robots)) return bad_entry(key);
  update_delay(site.host);
  return {};
}

}  // namespace meguri::crawl
