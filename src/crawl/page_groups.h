// PageGroups: the pages of overloaded hosts by the templates of their URLs, of which some keep
// their pace for all the others.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/hash.h"
#include "base/result.h"
#include "crawl/durable_map.h"
#include "env/file_system.h"
#include "flow/lane.h"

namespace meguri::crawl {

// A page of a group.
struct GroupMember {
  std::uint64_t host = 0;  // host_hash_of its name
  base::Id id;
  std::string_view url;  // canonical
};

// How much longer the intervals of an overloaded host's pages become.
struct GroupFactors {
  double kept = 1;  // of pages that speak for their group
  double rest = 1;
};

// Those that speak for their groups ask for `kept_load` of all the `load`, which is `factor` times
// what the host bears. They keep their pace as long as that takes no more than half of what it
// bears; the others share what is left.
GroupFactors group_factors(double load, double kept_load, double factor);

// `kept` pages of each template, chosen by their ids, speak for it: all of a small one, a few of
// the thousands that one program makes. Durable by epochs, as DurableMap is. Thread-compatible.
class PageGroups {
 public:
  static constexpr std::size_t kTemplatesMax = 1000;  // of a host; what is beyond is one group

  // `generation` is for a table that begins anew.
  static base::Result<std::unique_ptr<PageGroups>> open(env::FileSystem& files, std::string dir,
                                                        std::string_view state, std::uint64_t kept,
                                                        std::uint32_t generation);

  // A page that was counted remembers it: whoever has another was not, or in another table.
  std::uint32_t generation() const { return generation_; }

  void add(const GroupMember& page, double load);
  // Of a page that was added.
  void change_load(const GroupMember& page, double change);

  // What the intervals of a page of an overloaded host are multiplied by. `load` and `factor` are
  // those of its host.
  double factor_of(const GroupMember& page, double load, double factor) const;

  base::Result<std::string> commit(flow::EpochId epoch);
  base::Status on_durable(flow::EpochId epoch) { return groups_->on_durable(epoch); }

 private:
  struct Group {
    std::uint64_t pages = 0;
    double load = 0;
  };
  struct Host {
    std::size_t templates = 0;
    double kept_load = 0;  // of the pages that speak for their groups, about
  };

  PageGroups(std::uint64_t kept, std::uint32_t generation) : kept_(kept), generation_(generation) {}

  std::string key_of(const GroupMember& page) const;
  Group find(std::string_view key) const;
  void put(std::uint64_t host, std::string_view key, const Group& before, const Group& group);
  double kept_share(const Group& group) const;

  std::uint64_t kept_;
  std::uint32_t generation_;
  std::unique_ptr<DurableMap> groups_;
  std::unordered_map<std::uint64_t, Host> hosts_;
};

}  // namespace meguri::crawl
