// Census: which hosts a virtual web has, what they are called, how large they are, and on which
// servers they stand.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "sim/dice.h"

namespace meguri::sim {

using HostNumber = std::uint64_t;    // 0 .. hosts - 1, in no order of size
using ServerNumber = std::uint64_t;  // 0 .. servers - 1

// What sitemaps and feeds are like.
enum class ListHabit : std::uint8_t {
  kMixed,  // as on the web: each host has its own
  kTrue,   // every host has a sitemap and a feed, with validators and true dates
  kLying,  // every host has a sitemap that says that each of its pages has changed just now
};

struct CensusOptions {
  static constexpr std::uint64_t kHostsMax = 10'000'000;
  static constexpr std::uint64_t kPagesMax = 10'000'000'000;
  static constexpr std::uint64_t kHostPagesMax = 4'000'000'000;
  static constexpr std::uint64_t kServersMax = 8'000'000;  // as many as 127.0.0.0/8 has, about

  std::uint64_t seed = 1;
  std::uint64_t hosts = 100;
  std::uint64_t pages = 10'000;  // on all hosts together, at least one each
  std::uint64_t servers = 0;     // 0: a third of the hosts
  double size_exponent = 0.9;    // of the power law of host sizes
  bool has_copies = true;        // some hosts are aliases and mirrors of others
  bool is_exact = false;         // `pages` to the last one; else as many as rounding leaves
  ListHabit lists = ListHabit::kMixed;

  base::Status check() const;  // kInvalid, in one sentence
};

// Values; const calls from any thread. Keeps four bytes for each host.
class Census {
 public:
  explicit Census(const CensusOptions& options);  // requires options.check()

  std::uint64_t seed() const { return options_.seed; }
  ListHabit lists() const { return options_.lists; }
  std::uint64_t hosts() const { return sizes_.size(); }
  std::uint64_t pages() const { return pages_; }  // as given, but for rounding if it is not exact
  std::uint64_t servers() const { return servers_; }

  // "www.kotamira.test", "blog.kotamira.test" or "kotamira.test": lower-case, under .test.
  std::string name_of(HostNumber host) const;
  std::optional<HostNumber> host_of_name(std::string_view name) const;  // any case, a dot behind

  std::uint64_t pages_of(HostNumber host) const { return sizes_[rank_of(host)]; }
  // 0 is the largest host.
  std::uint64_t rank_of(HostNumber host) const { return ranks_.inverse(host); }
  HostNumber host_of_rank(std::uint64_t rank) const { return ranks_(rank); }

  // The host whose pages this one serves as its own: itself for most. An alias is the bare name of
  // a "www." host, a mirror any other host.
  HostNumber content_of(HostNumber host) const;

  // Where it stands: one to four different servers, the first being the usual one. Large shared
  // servers have hundreds of hosts.
  std::vector<ServerNumber> servers_of(HostNumber host) const;

 private:
  void choose_sizes();

  CensusOptions options_;
  std::uint64_t servers_;
  std::uint64_t pages_ = 0;
  std::vector<std::uint32_t> sizes_;  // by rank
  Shuffle ranks_;                     // from rank to host
};

}  // namespace meguri::sim
