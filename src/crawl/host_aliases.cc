#include "crawl/host_aliases.h"

#include <algorithm>
#include <utility>

#include "base/hash.h"
#include "fetch/address.h"

namespace meguri::crawl {

namespace {

constexpr std::string_view kPrefix = "www.";
// When all places are taken, who is idle is looked for this often.
constexpr base::Duration kSweepEvery = base::Duration::hours(1);
// A host with so many times the pages of the other is the one to keep.
constexpr std::uint64_t kManyTimes = 2;

// Scheme, port, path and query: all but the host.
std::uint64_t path_of(const web::Url& url) { return base::hash64(url_on("", url)); }

std::string key_of(std::string_view a, std::string_view b) {
  const auto [first, second] = std::minmax(a, b);
  return HostAliases::kEntry + std::string(first) + ' ' + std::string(second);
}

// The name that differs by the prefix alone.
std::string namesake_of(std::string_view host) {
  return host.starts_with(kPrefix) ? std::string(host.substr(kPrefix.size()))
                                   : std::string(kPrefix).append(host);
}

bool is_address(std::string_view host) {
  return host.starts_with('[') || fetch::IpAddress::parse(host).has_value();
}

}  // namespace

std::string url_on(std::string_view host, const web::Url& url) {
  const std::string_view all = url.without_fragment();
  const auto at = static_cast<std::size_t>(url.host().data() - url.href().data());
  return std::string(all.substr(0, at)).append(host).append(all.substr(at + url.host().size()));
}

void HostAliases::add_seed(std::string_view host) {
  if (options_.is_on) seeds_.emplace(host);
}

std::string_view HostAliases::kept_of(std::string_view host) const {
  if (aliases_.empty()) return {};
  const auto found = aliases_.find(std::string(host));
  return found == aliases_.end() ? std::string_view() : std::string_view(found->second);
}

bool HostAliases::may_visit(const web::Url& url, bool is_embed, base::Instant now) {
  const std::string_view kept = kept_of(url.host());
  if (kept.empty()) return true;
  if (is_embed) return false;
  const std::string key = key_of(url.host(), kept);
  Entry& entry = entries_.at(key);
  if (!entry.pair.may_check(path_of(url), now, options_.check_every)) return false;
  touch(key, entry);
  return true;
}

HostAliases::Outcome HostAliases::take(const web::Url& url, const PageSample& sample,
                                       const Look& look, base::Instant now) {
  Outcome outcome;
  if (!options_.is_on || is_address(url.host())) return outcome;
  const Sight sight{url, sample, look, now, path_of(url)};
  const std::string namesake = namesake_of(url.host());
  if (look(namesake)) entry_of(url.host(), namesake, now);
  if (!sample.twin.empty()) take_twin(sight);
  const auto found = keys_.find(std::string(url.host()));
  if (found == keys_.end()) return outcome;
  for (const std::string& key : std::vector<std::string>(found->second)) {
    Entry& entry = entries_.at(key);
    take_side(entry, sight, outcome);
    judge(entry, sight, outcome);
    if (entry.pair.lessons() != entry.saved_lessons) touch(key, entry);
  }
  count_pairs();
  return outcome;
}

// Another host had the same body at the same path: both sides are known at once.
void HostAliases::take_twin(const Sight& sight) {
  const auto twin = web::Url::parse(sight.sample.twin);
  const std::string_view host = sight.url.host();
  if (!twin || !twin->is_http() || twin->host() == host || path_of(*twin) != sight.path) return;
  if (is_address(twin->host())) return;
  const auto here = sight.look(host);
  const auto there = sight.look(twin->host());
  if (!here || !there) return;
  const bool are_near = here->server != 0 && here->server == there->server;
  if (!are_near && namesake_of(host) != twin->host()) return;
  Entry* entry = entry_of(host, twin->host(), sight.now);
  if (entry == nullptr) return;
  entry->pair.take_same(sight.path, sight.sample.digest, sight.now);
}

void HostAliases::take_side(Entry& entry, const Sight& sight, Outcome& outcome) {
  HostPair& pair = entry.pair;
  const std::size_t side = pair.side_of(sight.url.host());
  if (!pair.take(side, sight.path, sight.sample, sight.now)) return;
  outcome.offers.push_back({.url = url_on(pair.name(1 - side), sight.url),
                            .via = sight.url.href(),
                            .depth = sight.sample.depth,
                            .hops = 0,
                            .offer = Offer::kLink});
}

void HostAliases::judge(Entry& entry, const Sight& sight, Outcome& outcome) {
  HostPair& pair = entry.pair;
  if (pair.differs()) {
    if (pair.state() == HostPair::State::kMerged) {
      outcome.changes.push_back({.host = pair.alias(), .kept = ""});
      aliases_.erase(pair.alias());
      ++counts_.parted;
    }
    pair.part(sight.now + options_.apart);
    return;
  }
  if (!pair.agrees(needed_for(pair, sight.look), sight.now)) return;
  const auto kept = choose_kept(pair, sight.look);
  if (!kept) return;
  pair.merge(*kept, sight.now + options_.check_every);
  aliases_[pair.alias()] = pair.kept();
  outcome.changes.push_back({.host = pair.alias(), .kept = pair.kept()});
}

std::vector<AliasChange> HostAliases::part_all(base::Instant now) {
  std::vector<AliasChange> changes;
  for (auto& [key, entry] : entries_) {
    if (entry.pair.state() != HostPair::State::kMerged) continue;
    changes.push_back({.host = entry.pair.alias(), .kept = ""});
    entry.pair.part(now);
    touch(key, entry);
  }
  aliases_.clear();
  count_pairs();
  return changes;
}

// Half of the pages of small hosts: they may all be known, and some are no documents.
std::size_t HostAliases::needed_for(const HostPair& pair, const Look& look) const {
  std::uint64_t pages = 0;
  for (const std::size_t side : {0U, 1U}) {
    if (const auto host = look(pair.name(side))) pages = std::max(pages, host->pages);
  }
  const std::size_t most = std::max<std::size_t>(1, options_.pages_min);
  if (pages == 0) return most;
  return std::clamp<std::size_t>(pages / 2, std::min(kSmallPagesMin, most), most);
}

// Nullopt: they cannot be merged.
std::optional<std::size_t> HostAliases::choose_kept(const HostPair& pair, const Look& look) const {
  if (!kept_of(pair.name(0)).empty() || !kept_of(pair.name(1)).empty()) return std::nullopt;
  const auto pages_of = [&](std::size_t side) {
    const auto host = look(pair.name(side));
    return host ? host->pages : 0;
  };
  std::size_t kept = pair.name(0).size() <= pair.name(1).size() ? 0 : 1;
  if (pages_of(1 - kept) >= kManyTimes * std::max<std::uint64_t>(1, pages_of(kept))) {
    kept = 1 - kept;
  }
  const bool is_seed = seeds_.contains(pair.name(0));
  if (is_seed != seeds_.contains(pair.name(1))) kept = is_seed ? 0 : 1;
  if (is_kept_for_others(pair.name(1 - kept))) return std::nullopt;
  return kept;
}

bool HostAliases::is_kept_for_others(std::string_view host) const {
  const auto found = keys_.find(std::string(host));
  if (found == keys_.end()) return false;
  return std::ranges::any_of(found->second, [&](const std::string& key) {
    const HostPair& pair = entries_.at(key).pair;
    return pair.state() == HostPair::State::kMerged && pair.kept() == host;
  });
}

// --- The pairs.

// Null: there is no room for another.
HostAliases::Entry* HostAliases::entry_of(std::string_view a, std::string_view b,
                                          base::Instant now) {
  const std::string key = key_of(a, b);
  if (const auto found = entries_.find(key); found != entries_.end()) return &found->second;
  const auto is_full = [this](std::string_view host) {
    const auto keys = keys_.find(std::string(host));
    return keys != keys_.end() && keys->second.size() >= kPartnersMax;
  };
  if (is_full(a) || is_full(b) || !make_room(now)) return nullptr;
  const auto [first, second] = std::minmax(a, b);
  return &add(key, HostPair(first, second));
}

HostAliases::Entry& HostAliases::add(const std::string& key, HostPair&& pair) {
  Entry& entry = entries_[key];
  entry.pair = std::move(pair);
  for (const std::size_t side : {0U, 1U}) keys_[entry.pair.name(side)].push_back(key);
  return entry;
}

bool HostAliases::make_room(base::Instant now) {
  if (entries_.size() < kPairsMax) return true;
  if (now < swept_ + kSweepEvery) return false;
  swept_ = now;
  std::erase_if(entries_, [&](const auto& item) {
    const auto& [key, entry] = item;
    if (!entry.pair.is_idle(now)) return false;
    for (const std::size_t side : {0U, 1U}) {
      const auto keys = keys_.find(entry.pair.name(side));
      std::erase(keys->second, key);
      if (keys->second.empty()) keys_.erase(keys);
    }
    stored_bytes_ -= entry.stored_bytes;
    if (entry.stored_bytes > 0) dirty_.push_back(key);
    return true;
  });
  return entries_.size() < kPairsMax;
}

void HostAliases::count_pairs() {
  counts_.aliases = aliases_.size();
  counts_.compared = entries_.size();
}

void HostAliases::touch(const std::string& key, Entry& entry) {
  if (std::exchange(entry.is_dirty, true)) return;
  dirty_.push_back(key);
}

// --- The log.

void HostAliases::save(DurableLog& store, const std::string& key, Entry& entry) {
  const std::string value = entry.pair.encode();
  store.put(key, value);
  stored_bytes_ -= entry.stored_bytes;
  entry.stored_bytes = static_cast<std::uint32_t>(DurableLog::bytes_of(key, value));
  stored_bytes_ += entry.stored_bytes;
  entry.is_dirty = false;
  entry.saved_lessons = entry.pair.lessons();
}

void HostAliases::save_changes(DurableLog& store) {
  for (const std::string& key : std::exchange(dirty_, {})) {
    if (const auto found = entries_.find(key); found != entries_.end()) {
      save(store, key, found->second);
    } else {
      store.erase(key);
    }
  }
}

void HostAliases::save_all(DurableLog& store) {
  for (auto& [key, entry] : entries_) {
    if (entry.stored_bytes > 0) save(store, key, entry);
  }
}

bool HostAliases::load(std::string_view key, std::optional<std::string_view> value) {
  const std::size_t space = key.find(' ');
  if (key.empty() || key.front() != kEntry || space == key.npos) return false;
  const std::string name(key);
  if (const auto known = entries_.find(name); known != entries_.end()) {
    Entry& entry = known->second;
    stored_bytes_ -= entry.stored_bytes;
    if (entry.pair.state() == HostPair::State::kMerged) aliases_.erase(entry.pair.alias());
    for (const std::size_t side : {0U, 1U}) std::erase(keys_[entry.pair.name(side)], name);
    entries_.erase(known);
  }
  if (value) {
    HostPair pair(key.substr(1, space - 1), key.substr(space + 1));
    if (!pair.decode(*value)) return false;
    Entry& entry = add(name, std::move(pair));
    entry.stored_bytes = static_cast<std::uint32_t>(DurableLog::bytes_of(key, *value));
    stored_bytes_ += entry.stored_bytes;
    if (entry.pair.state() == HostPair::State::kMerged) {
      aliases_[entry.pair.alias()] = entry.pair.kept();
    }
  }
  count_pairs();
  return true;
}

}  // namespace meguri::crawl
